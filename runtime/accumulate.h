// runtime/accumulate.h
//
// The op Accumulate: the tensor that a sum of tensors, outer products and rows stands for (tagged_ir/tensor_rules.h says how
// such a sum is built). The gradient of a weight is one: a term for each use, multiplied here, once, instead of at each use.
#pragma once

#include "runtime/value.h"
#include "tagged_ir/graph.h"

namespace df {

// `sum` has a type that ir::AccumulateFault allows. The order of additions is that of the sum, from left to right, of products as they fill a block:
// an element is one chain of fused additions over all outer products (backends/cpu/product.h), and the same sum gives the
// same bits anywhere.
Value Accumulate(const ir::Type& result, const Value& sum);

}  // namespace df
