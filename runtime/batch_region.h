// runtime/batch_region.h
//
// A region of ops on tensors, as batching and devices see it (docs/batching.md): straight-line code on values, first the
// operands, then one value per op. The graph has it once: it is the key of a batch.
#pragma once

#include <cstdint>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "runtime/kernels.h"
#include "tagged_ir/tensor_type.h"

namespace df {

struct BatchRegion {
  struct Item {
    ir::Op op;
    uint32_t attr;
    KernelTypes types;
    llvm::SmallVector<uint32_t, 3> in;  // values
  };
  // What a value is: a tensor of this type in the graph, or, if null, a word of this kind.
  struct ValueType {
    const ir::Type* tensor = nullptr;
    ir::TypeKind word = ir::TypeKind::Unit;
    size_t count = tensor ? static_cast<size_t>(ir::ElementCount(tensor->dims)) : 0;  // of its elements: each activation asks for it
  };
  // A word operand that has to be from 0 to `most`, or an op would fail.
  struct Check {
    uint32_t operand;
    int64_t most;
  };
  // x - g * k, a step of gradient descent: the ops Sub, Mul and Expand on operands of the region, of which nothing else here uses any.
  // The host may do all three at once, and write over an x that nobody else holds; g may be a few rows (TensorRows).
  struct Step {
    uint32_t x, g, k;  // operands; k is a number
    uint32_t value;    // of the Sub
    uint32_t result;   // in `results`: that value
  };
  // A row of a table, both operands of the region: no copy is needed on the host.
  struct TableRow {
    uint32_t table, index;
    uint32_t result;  // in `results`
  };
  uint32_t index = 0;  // in its table
  uint32_t num_operands = 0;
  std::vector<ValueType> values;
  std::vector<Item> ops;
  std::vector<uint32_t> results;  // values that are seen outside; tensors
  std::vector<Check> checks;      // were made before: an index is in its range
  std::vector<uint32_t> weights;  // operands that are matrices of products: a batch shares them if it can
  std::vector<TableRow> table_rows;
  std::vector<Step> steps;
  std::vector<bool> in_step;      // by op; empty if there are no steps
};

}  // namespace df
