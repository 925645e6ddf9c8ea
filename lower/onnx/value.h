// lower/onnx/value.h
//
// What a value of the program is while its graph is written: tensors, in the structure that is known. Data has a constructor that is known, or
// an Int that tells which; there are the fields of each that it may have. What may have failed has a Bool that says so: a failure is a value
// until somebody needs what failed, and ONNX has none.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "lower/graph/function_graph.h"
#include "lower/onnx/writer.h"

namespace df::to_onnx {

struct Rep;
// Null: there is none, on a side of a branch that is not taken.
using Value = std::shared_ptr<const Rep>;
struct Activation;

enum class RepKind : uint8_t { Unit, Plain, Data, Delayed };

struct Rep {
  RepKind kind = RepKind::Unit;
  ir::TypeId type;
  Tensor failed;    // Bool; not valid: it has not
  bool none = false;  // it has failed for sure: there is nothing but `failed`
  Tensor tensor;    // Plain: the value, Int, Integer, Char and Alt as int64; Data of which the constructor is not known: its index
  int constructor = -1;  // Data, of Alt too: the one that is known
  std::vector<std::vector<Value>> fields;  // Data: of each constructor
  std::vector<bool> possible;              // Data, and Alt of such: of each constructor
  // Delayed: the body, and what it is applied to
  fg::FunctionId callee;
  std::function<Value()> force;
  bool may_loop = false;
};

// One value of what stands on several sides; null sides do not matter. `leaf` gives one tensor for those of the sides, of which some are
// not valid: these do not matter either. `wanted`: elements and dimensions. Delayed values are not there any more.
using JoinLeaf = std::function<Tensor(llvm::ArrayRef<Tensor> sides, const Tensor& wanted)>;
Value Join(Writer& writer, llvm::ArrayRef<Value> sides, const JoinLeaf& leaf);

// The same structure with other tensors.
Value MapLeaves(const Value& shape, const std::function<Tensor(const Tensor&)>& leaf);
// The tensors of a value that has this structure, in the order in which MapLeaves takes them. What is not there is 0.
void Flatten(Writer& writer, const Value& shape, const Value& value, std::vector<Tensor>& leaves);
// Whether two are of one structure.
bool SameStructure(const Value& a, const Value& b);
// How deep constructors are in each other.
uint32_t DepthOf(const Value& value);

// The value, failed also where this is true.
Value FailedToo(Writer& writer, const Value& value, const Tensor& failed);
Tensor Or(Writer& writer, const Tensor& a, const Tensor& b);

}  // namespace df::to_onnx
