// lower/gradient/types.h
//
// The types that derivatives are computed in, and the functions between them. Of a type T of the program:
//
//   Cotangent T   what reverse mode accumulates. Of a real number or a vector its own type, and 0 is zero. Of a tensor of two
//                 and more dimensions a *sum*: a data type of terms, so that the gradient of a weight holds, for each use,
//                 the two vectors whose outer product it is (or a row and its index), and is computed once, by the op
//                 Accumulate. Inside a block a cotangent may be the tensor itself. A data type that holds such tensors holds
//                 weights, and its vectors, biases among them, have sums too; of a *record* of weights, one constructor with nothing
//                 else in it, what is given to several weights is one object (tagged_ir/sum_parts.h). Of other data a type with one
//                 more constructor, `zero#`, a symbolic zero that has no shape; the other constructors hold the
//                 cotangents of those fields that hold real numbers. Of a number or a vector that may never be evaluated,
//                 because it stands behind a lazy port, a *symbolic* cotangent, `zero# | value# T`: whether there is
//                 anything to differentiate shows without a look at the numbers.
//   Dual T        what forward mode computes with. Of a real number or a tensor a pair of it and its tangent; of data the same
//                 constructors on duals of the fields.
//   Tangent T     what programs see (typecheck/declare/tangent.cpp): T's constructors, and shapes.
//
// A type that holds no real number is inactive: it has no cotangent, and is its own dual.
#pragma once

#include <set>

#include "llvm/ADT/DenseMap.h"
#include "lower/gradient/elements.h"
#include "lower/gradient/writer.h"

namespace df::fg {

class GradientTypes {
 public:
  explicit GradientTypes(Program& program) : p_(program) {}

  bool Active(ir::TypeId type);
  // A real number, or a tensor of them.
  bool IsReal(ir::TypeId type) const;
  // That, or a sum: a type that is its own tangent.
  bool IsVector(ir::TypeId type) const { return IsReal(type) || IsSum(type); }

  // ---- cotangents
  ir::TypeId Cotangent(ir::TypeId type);     // of an evaluated value
  ir::TypeId Cotangent(PortType port);
  // The fields of a cotangent: by field of the constructor, its number, or -1 if the field is inactive.
  llvm::SmallVector<int, 4> ActiveFields(ir::TypeId type, uint32_t con);
  Value Zero(Writer& w, PortType port) { return ZeroOf(w, Cotangent(port)); }
  Value ZeroOf(Writer& w, ir::TypeId cotangent);
  // Of the cotangents of a value of this type. Each is a Cotangent, a tensor, or of another kind that AsCotangent takes.
  Value Sum(Writer& w, PortType port, Value a, Value b);
  Value Sum(Writer& w, PortType port, Value a, Value b, Value c);
  // Of data, by the cotangents of a constructor's fields; what is not given is zero. By themselves, and added to a cotangent,
  // or to the sum of two.
  Value OfFields(Writer& w, ir::TypeId type, uint32_t con, llvm::ArrayRef<std::optional<Value>> fields);
  Value AddFields(Writer& w, PortType port, llvm::ArrayRef<Value> cotangents, uint32_t con, llvm::ArrayRef<std::optional<Value>> fields);
  // Whether a cotangent is more than a symbolic zero: whether it comes from where the value was used.
  Value IsNotZero(Writer& w, Value cotangent);
  // A Branch on that; of several, on whether any is.
  NodeId BranchOnUse(Writer& w, llvm::ArrayRef<Value> cotangents, llvm::ArrayRef<PortType> results, llvm::function_ref<Values(bool)> side);
  // A cotangent as a Tangent that fits `wanted`, where `primal` shows the shape; none: zero.
  Value Materialise(Writer& w, PortType wanted, Value primal, std::optional<Value> cotangent);
  // A Tangent as a cotangent of what has the type `port`; none if that is inactive.
  std::optional<Value> Embed(Writer& w, PortType port, Value tangent);
  bool IsSymbolic(ir::TypeId type) const { return reals_.count(type.index) > 0; }

  // ---- sums (gradient/sum.cpp)
  bool HasSum(ir::TypeId type) const;                                          // its cotangent is one
  bool IsSum(ir::TypeId type) const { return tensors_.count(type.index) > 0; }
  ir::TypeId SumOf(ir::TypeId tensor);
  // Whether the cotangent of a tensor that is this field of a constructor is one.
  bool FieldHasSum(ir::TypeId data, uint32_t con, uint32_t field);
  std::set<TensorField> element_fields;  // fields that are read element by element (gradient/elements.h)
  ir::TypeId TensorOf(ir::TypeId type) const;                                  // what a sum is of; else the type
  // The term of these fields: a constructor is made where there is none for their types.
  Value Term(Writer& w, ir::TypeId sum, llvm::ArrayRef<Value> fields);
  Value Whole(Writer& w, Value cotangent);      // of a number or a tensor, as such
  std::optional<Value> SumHere(Writer& w, Value sum, uint32_t* terms);  // counts what it looks at
  // The cotangent of a call's result as the call is given it. A matrix that the function computes needs it as a tensor: where the sum is made
  // of few terms here it is one of a single tensor, which Accumulate need not look into. A weight that it hands on keeps the terms.
  Value ForResult(Writer& w, FunctionId function, uint32_t result, Value cotangent);
  // A tensor or a number, a sum, or a symbolic cotangent as that of these that is wanted.
  Value AsCotangent(Writer& w, ir::TypeId wanted, Value value);
  Value AddVectors(Writer& w, Value a, Value b);
  Value AddSums(Writer& w, Value a, Value b, Value c);
  Value ZeroVector(Writer& w, ir::TypeId type);
  // Forward mode of a Construct of a sum, by the tangents of its fields; reverse mode.
  Value TangentOfTerm(Writer& w, ir::TypeId sum, uint32_t con, llvm::ArrayRef<Value> fields,
                      llvm::ArrayRef<std::optional<Value>> tangents);
  void TransposeTerm(Writer& w, uint32_t con, llvm::ArrayRef<Value> fields, Value cotangent,
                     llvm::function_ref<void(Value, Value)> contribute);

  // ---- records of weights (gradient/records.cpp)
  // None are made where gradients are differentiated again.
  bool flat_records = true;
  bool IsRecord(ir::TypeId type);
  // The sum of such records and of fields of one.
  Value AddRecords(Writer& w, ir::TypeId type, llvm::ArrayRef<Value> records, llvm::ArrayRef<std::optional<Value>> fields);
  // What a record's cotangent has for an active field.
  Value FieldOfRecord(Writer& w, ir::TypeId type, Value record, uint32_t field);

  // ---- duals
  ir::TypeId Dual(ir::TypeId type);
  PortType Dual(PortType type) { return {Dual(type.type), type.lazy}; }
  Value Join(Writer& w, PortType wanted, Value primal, Value tangent);    // to Dual
  Value Primal(Writer& w, PortType wanted, Value dual);                    // from Dual T to T
  Value TangentOf(Writer& w, PortType wanted, ir::TypeId type, Value dual);  // from Dual T to Tangent T

  // A name that no function has.
  std::string FreshName(const std::string& base);

 private:
  enum class Helper : uint8_t { Sum, SumOfThree, SumOfFields, SumOfTwoAndFields, SymbolicSum, Materialise, MaterialiseZero, Embed, Join, Primal, Tangent };
  struct Key {
    Helper helper;
    uint32_t type, other;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  // The function for these types; `body` writes it when it is first asked for and gives the result.
  FunctionId Function(Key key, const std::string& name, llvm::ArrayRef<PortType> params, ir::TypeId result,
                      llvm::function_ref<Value(Writer&, llvm::ArrayRef<Value>)> body);
  Value Call(Writer& w, PortType wanted, FunctionId callee, llvm::ArrayRef<Value> operands);
  PortType Lazy(ir::TypeId type) const { return {type, true}; }
  PortType Strict(ir::TypeId type) const { return {type, false}; }
  ir::TypeId NewData(const std::string& name);
  ir::TypeId SymbolicOf(ir::TypeId real);
  ir::TypeId FieldCotangent(ir::TypeId data, uint32_t con, uint32_t field);

  // What is given to some weights of a record.
  struct RecordPart {
    uint32_t weights;  // of a record; 0: it is a sum, or a term
    uint32_t weight;   // the first
    Values fields;     // a record or a sum; or of a term
  };
  bool HoldsSums(ir::TypeId data);
  uint32_t WeightsIn(ir::TypeId type) const;
  uint32_t FirstWeight(ir::TypeId type, uint32_t field) const;
  std::vector<ir::Constructor> RowsOfRecord(ir::TypeId type);
  uint32_t RowNamed(ir::TypeId cotangent, std::string name, llvm::ArrayRef<ir::TypeId> fields);
  void ListParts(const Writer& w, Value value, uint32_t weight, std::vector<RecordPart>& parts) const;
  Value Record(Writer& w, ir::TypeId type, llvm::ArrayRef<RecordPart> parts);

  FunctionId SumFunction(ir::TypeId type);
  FunctionId SumOfThreeFunction(ir::TypeId type);
  FunctionId SumOfFieldsFunction(ir::TypeId type, bool two, uint32_t con, uint32_t given);
  // Whether a sum is written out in this function, and is no zero.
  static bool IsWritten(const Writer& w, Value sum);
  // The fields of a cotangent of data that is written out in this function, without those that are zero; none if it is not.
  std::optional<llvm::SmallVector<std::optional<Value>, 4>> WrittenFields(const Writer& w, Value cotangent) const;
  FunctionId SymbolicSumFunction(ir::TypeId cotangent);
  Value IfUsed(Writer& w, Value cotangent, ir::TypeId result, llvm::function_ref<Value(bool)> side);
  FunctionId MaterialiseFunction(ir::TypeId type, ir::TypeId tangent, bool zero);
  FunctionId EmbedFunction(ir::TypeId type, ir::TypeId tangent);
  FunctionId JoinFunction(ir::TypeId type, ir::TypeId tangent);
  FunctionId PrimalFunction(ir::TypeId type);
  FunctionId TangentFunction(ir::TypeId type, ir::TypeId tangent);

  Program& p_;
  llvm::DenseMap<uint32_t, bool> active_, holds_sum_;
  llvm::DenseMap<uint32_t, ir::TypeId> cotangents_, duals_;
  llvm::DenseMap<uint32_t, ir::TypeId> tensors_;  // of sums
  llvm::DenseMap<uint32_t, ir::TypeId> symbolic_;  // by number or tensor
  llvm::DenseMap<uint32_t, ir::TypeId> reals_;     // of symbolic cotangents
  llvm::DenseMap<uint32_t, uint32_t> weights_;      // of records, how many they have; 0: it is none
  llvm::DenseMap<uint32_t, ir::TypeId> record_of_;  // by the cotangent of one
  std::map<Key, FunctionId> functions_;
  std::map<std::string, uint32_t> names_;
};

}  // namespace df::fg
