// runtime/ops/accumulate.h
//
// The op Accumulate: the tensor that a sum of tensors, outer products, rows and elements stands for (tagged_ir/tensor_rules.h says how
// such a sum is built). The gradient of a weight is one: a term for each use, multiplied here, once, instead of at each use.
#pragma once

#include <optional>

#include "runtime/ops/rows.h"
#include "runtime/value/tensor.h"
#include "runtime/value/value.h"
#include "tagged_ir/graph.h"

namespace df {

// `sum` has the type `of`, which ir::AccumulateFault allows. The order of additions is that of the sum, from left to right, of products as they fill a block:
// an element is one chain of fused additions over all outer products (backends/cpu/product.h), and the same sum gives the
// same bits anywhere. `may_stay_rows`: a sum of few rows may be a tensor that is known by them (TensorRows); such a tensor is for one thread.
Value Accumulate(const ir::Type& result, const ir::TypeTable& types, ir::TypeId of, const Value& sum, bool may_stay_rows);

// One term: a tensor; the two of an outer product, or of rows, or an element, and where they are.
using SumTerm = llvm::ArrayRef<Value>;

// Rows of outer products that wait to be multiplied together: enough for a product's inner loops, few enough for the caches. What is
// no product is added at once, so the bits of a sum that has both depend on it.
constexpr size_t kRowsOfProduct = 128;

// Asks for the tensors of a term that is some terms behind the one at hand, and for a term behind that: terms lie all over the memory.
inline void PrefetchTensors(llvm::ArrayRef<SumTerm> terms, size_t at) {
  constexpr size_t kAhead = 20, kTerms = 32;
  if (at + kTerms < terms.size()) __builtin_prefetch(terms[at + kTerms].data());
  if (at + kAhead >= terms.size()) return;
  for (const Value& field : terms[at + kAhead])
    if (field.kind() == ValueKind::Object) __builtin_prefetch(field.object());
}

// The indices of a term that is rows of the result; none if it is another. A single one is put into `one`.
std::optional<llvm::ArrayRef<int64_t>> IndicesOf(SumTerm term, int64_t* one);

// Whether the term is one element of the result: a number, or a tensor without dimensions.
inline bool IsElement(SumTerm term) {
  if (term.size() != 2 || !term[0].is_word()) return false;
  const TensorObject* tensor = TensorIn(term[1]);
  return !tensor || tensor->dims().empty();
}

// Calls what the term is for: into.Add(tensor), as large as the result; into.AddElement(at, number); into.AddRow(at, tensor, k) for each row k of
// a tensor; or into.AddProduct(x, y, rows), x transposed times y.
template <typename Into>
void AddTerm(SumTerm term, Into& into) {
  if (IsElement(term)) return into.AddElement(term[0].word(), term[1]);
  TensorObject& last = *TensorIn(term.back());
  if (term.size() == 1) return into.Add(last);
  int64_t one;
  if (std::optional<llvm::ArrayRef<int64_t>> at = IndicesOf(term, &one)) {
    for (size_t k = 0; k < at->size(); ++k) into.AddRow((*at)[k], last, k);
    return;
  }
  TensorObject& first = *TensorIn(term[0]);
  // A vector is a row.
  into.AddProduct(first, last, first.dims().size() == 1 ? 1 : static_cast<size_t>(first.dims()[0]));
}

// The sum on the device on which the first terms are, if they are on one (runtime/device/accumulate_device.h); null where there are no devices.
inline std::optional<Value> (*accumulate_on_device)(const ir::Type& result, llvm::ArrayRef<SumTerm> terms) = nullptr;

// What a device is told, with the host's loops: its addresses are pointers.
void ComputeSum(const DeviceSum& sum);

}  // namespace df
