// lower/onnx/ops.h
//
// What each op of function graphs is in standard ops of ONNX: its result, and where it may fail a Bool that says whether it has. Operands
// that would make a runtime fail, a divisor 0 or an index out of range, are replaced by others first.
#pragma once

#include "lower/onnx/refusal.h"
#include "lower/onnx/value.h"

namespace df::to_onnx {

struct Checked {
  Tensor value;
  Tensor failed;  // not valid: it never does
};

// The elements of scalars and tensors; Char, Alt and Integer are Int. nullopt: it has no tensors in ONNX.
std::optional<Element> ElementOf(const ir::Type& type);
Dims DimsOf(const ir::Type& type);

class Ops {
 public:
  Ops(Writer& writer, const ir::TypeTable& types) : w_(writer), types_(types) {}

  // An ordinary op on scalars and tensors. Throws a Refusal, without a place, of ops that ONNX does not have.
  Checked Apply(ir::Op op, uint32_t attr, llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<ir::TypeId> types, ir::TypeId result);
  // The tensor that a sum of a gradient stands for (ir::Op::Accumulate); not valid: 0.
  Tensor Sum(const Value& sum, uint32_t weight, const Tensor& wanted, Tensor* failed);

  Tensor Not(const Tensor& x) { return w_.Node("Not", x, Element::Bool, x.dims); }
  Tensor And(const Tensor& x, const Tensor& y) { return w_.Node("And", {x, y}, Element::Bool, x.dims); }
  Tensor Equal(const Tensor& x, const Tensor& y) { return w_.Node("Equal", {x, y}, Element::Bool, x.dims); }
  Tensor Where(const Tensor& condition, const Tensor& x, const Tensor& y);
  Tensor Cast(const Tensor& x, Element element);

 private:
  // scalar_ops.cpp
  std::optional<Checked> ApplyWhole(ir::Op op, bool integer, llvm::ArrayRef<Tensor> in);
  std::optional<Tensor> ApplyReal(ir::Op op, llvm::ArrayRef<Tensor> in);
  std::optional<Tensor> ApplyBits(ir::Op op, llvm::ArrayRef<Tensor> in, Tensor* failed);
  Checked WithoutOverflow(ir::Op op, const Tensor& x, const Tensor& y);
  Checked Quotient(ir::Op op, bool integer, const Tensor& x, const Tensor& y);
  Tensor Gcd(const Tensor& x, const Tensor& y);
  Tensor ShiftRight(const Tensor& x, const Tensor& bits);
  Checked Convert(ir::Op op, const Tensor& x, const ir::Type& from, const ir::Type& to);
  Checked WholeToInt(const Tensor& x, bool integer);
  Tensor Compare(ir::Op op, Tensor x, Tensor y);
  // tensor_ops.cpp
  std::optional<Checked> ApplyTensor(ir::Op op, uint32_t attr, llvm::ArrayRef<Tensor> in, Element element, llvm::ArrayRef<int64_t> dims);
  std::optional<Tensor> ApplyShape(ir::Op op, uint32_t attr, llvm::ArrayRef<Tensor> in, Element element, llvm::ArrayRef<int64_t> dims);
  Tensor Reduce(ir::Op op, uint32_t attr, const Tensor& x, Element element, llvm::ArrayRef<int64_t> dims);
  Tensor Product(const Tensor& x, const Tensor& y, llvm::ArrayRef<int64_t> dims);
  Checked Indexed(ir::Op op, llvm::ArrayRef<Tensor> in, Element element, llvm::ArrayRef<int64_t> dims);
  // An index from 0 to `last`; others become 0, and have failed.
  Checked Index(const Tensor& index, const Tensor& last);
  Tensor LastIndex(ir::Op op, const Dims& x, llvm::ArrayRef<int64_t> dims);
  Tensor Flat(const Tensor& x);
  Tensor Reshape(const Tensor& x, llvm::ArrayRef<int64_t> dims);
  Tensor Transposed(const Tensor& x);
  std::optional<Tensor> Term(llvm::ArrayRef<Value> fields, const Tensor& wanted, Tensor* failed);

  Tensor Same(const char* op, llvm::ArrayRef<Tensor> in, llvm::ArrayRef<Attribute> attributes = {}) {
    return w_.Node(op, in, in[0].element, in[0].dims, attributes);
  }
  Tensor Less(const Tensor& x, const Tensor& y) { return w_.Node("Less", {x, y}, Element::Bool, x.dims); }
  Tensor Xor(const Tensor& x, const Tensor& y) { return w_.Node("Xor", {x, y}, Element::Bool, x.dims); }
  // A number of x's elements; it is repeated where it meets x.
  Tensor Number(const Tensor& x, double value) {
    return x.element == Element::Int ? w_.Int(static_cast<int64_t>(value)) : w_.Real(x.element, value);
  }

  Writer& w_;
  const ir::TypeTable& types_;
};

}  // namespace df::to_onnx
