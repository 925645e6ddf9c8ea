// runtime/ops/kernels.h
//
// The meaning of every Ordinary op on evaluated operands; the one definition that all engines use.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "runtime/base/scalar.h"
#include "runtime/value/value.h"
#include "tagged_ir/graph.h"

namespace df {

// What an op fails with; the engine adds place and tag.
struct KernelError {
  ErrorCode code;
  std::string message;
  Value thrown = {};  // the value, if one is thrown
};

// The result of `node`, an Ordinary op with one result, on operands that are evaluated and not errors. On
// failure returns an unspecified value and fills `error`. Memory for big integers is estimated first: beyond
// `max_bytes` it fails with std::bad_alloc, which engines report as a memory limit.
Value Apply(const ir::Graph& graph, ir::NodeId node, llvm::ArrayRef<Value> operands, KernelError* error, bool* failed,
            uint64_t max_bytes);

// The same with the types looked up before: `operand` is the type of the first operand (any, if there is
// none), `result` of the result. Const is not among these ops: see Materialize.
struct KernelTypes {
  ir::TypeKind operand;
  ir::TypeKind result;
  const ir::Type* result_type = nullptr;  // in the graph, as ops on tensors ask for a shape
  bool lazy = false;                      // the result may be a reference
  ir::PosId pos = {};                     // of the node: what a tensor that cannot be computed fails with
  // Of Accumulate: the type of its operand.
  const ir::TypeTable* types = nullptr;
  ir::TypeId sum = {};
  ir::NodeId node = {};
};
KernelTypes TypesOf(const ir::Graph& graph, ir::NodeId node);
Value ApplyTyped(ir::Op op, KernelTypes types, uint32_t attr, llvm::ArrayRef<Value> operands, KernelError* error,
                 bool* failed, uint64_t max_bytes);

// Of Int, what a machine does in one instruction; of a unary op `y` is any. False: another op, see ApplyTyped.
inline bool ApplyToWords(ir::Op op, int64_t x, int64_t y, int64_t* z) {
  switch (op) {
    case ir::Op::Add: *z = scalar::Add(x, y); return true;
    case ir::Op::Sub: *z = scalar::Sub(x, y); return true;
    case ir::Op::Mul: *z = scalar::Mul(x, y); return true;
    case ir::Op::Eq: *z = x == y; return true;
    case ir::Op::Ne: *z = x != y; return true;
    case ir::Op::Lt: *z = x < y; return true;
    case ir::Op::Le: *z = x <= y; return true;
    case ir::Op::Gt: *z = x > y; return true;
    case ir::Op::Ge: *z = x >= y; return true;
    default: return false;
  }
}

// What a division reports, for engines that divide by themselves (runtime/base/scalar.h).
KernelError DivideByZeroError();
KernelError OverflowError();

// A constant of the graph as a value.
Value Materialize(const ir::Graph& graph, ir::ConstId constant);

}  // namespace df
