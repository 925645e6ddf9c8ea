// runtime/ops/add_rows.h
//
// The sum of two tensors that are known by a few rows (TensorRows), known by rows again: gradients of a table, of which chunks of a batch gave
// some rows each.
#pragma once

#include "runtime/value/tensor.h"

namespace df {

// Rows that x or y has, first those of x. Each element is what the sum of the whole tensors has there, bit for bit: where one lacks the row its
// elements are 0. (So an x of -0 becomes 0.) Of real elements. Throws std::bad_alloc beyond the memory limit.
TensorRows* AddRows(TensorRows& x, TensorRows& y, ir::TypeKind element);

}  // namespace df
