// tagged_ir/op.h
//
// The ops of tagged_ir/op.def as an enumeration, and what the table says of each; its facts are in op_facts.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace df::ir {

enum class Op : uint8_t {
#define DF_OP(name, cls, signature, facts, meaning) name,
#include "tagged_ir/op.def"
};

enum class OpClass : uint8_t { Ordinary, Control };

struct OpInfo {
  std::string_view name;  // "Add": in dumps and files
  OpClass cls;
  std::string_view signature;  // as op.def describes
  std::string_view meaning;
};

const OpInfo& InfoOf(Op op);
uint32_t OpCount();
std::optional<Op> OpNamed(std::string_view name);
// The op that means on tensors what ONNX's op of that name does.
std::optional<Op> OpOfOnnx(std::string_view name);

// The attribute of Fail.
inline constexpr uint32_t kFailedMatch = 1, kThrown = 2, kIoFailure = 3, kLastFailure = kIoFailure;

// The ops on tables of activations, which the compiler alone writes.
inline bool IsTableOp(Op op) { return op >= Op::NewTable && op <= Op::TableGet; }
// The ops that take or give a state token (docs/references.md): done once each, in the order of their tokens.
inline bool IsStateOp(Op op) { return op >= Op::NewState && op <= Op::WriteStore; }
// Those that look at an array for one: the token goes on behind their result (After).
inline bool IsLookOfState(Op op) { return op >= Op::Freeze && op <= Op::ReadStore; }
// Of mutable and frozen arrays: their attribute says what an element is.
inline bool HasElementNumber(Op op) { return op >= Op::NewStore && op <= Op::ReadFrozen; }

}  // namespace df::ir
