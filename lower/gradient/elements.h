// lower/gradient/elements.h
//
// Which tensors are read element by element in a recursion, as by a loop over `v ! i`. The cotangent of one element is a whole tensor, zeros but for
// that element, so that a gradient of n reads would add n tensors of n elements. So the cotangent of such a parameter, or field of data, is a
// sum as that of a weight is (gradient/types.h), of terms that are an index and a number. Internal to the gradient passes.
#pragma once

#include <set>

#include "lower/graph/function_graph.h"

namespace df::fg {

// A field of a data type's constructor.
struct TensorField {
  uint32_t type, con, field;
  friend auto operator<=>(const TensorField&, const TensorField&) = default;
};

// Sets Param::elements, and gives the fields.
std::set<TensorField> FindElementReads(Program& program);

}  // namespace df::fg
