// runtime/device/batch_region.h
//
// A region of ops on tensors, as batching and devices see it (docs/batching.md): straight-line code on values, first the
// operands, then one value per op. The graph has it once: it is the key of a batch.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "runtime/ops/kernels.h"
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
  // x + y of two operands of the region that nothing else here uses: where both are known by a few rows (TensorRows) so is the result, as where
  // gradients of a table that chunks of a batch gave are joined.
  struct RowSum {
    uint32_t x, y;    // operands
    uint32_t value;   // of the Add
    uint32_t result;  // in `results`: that value
  };
  // A result that is made element by element of an operand, among others, which nothing here uses after that: of a batch of one row the host may
  // write over an operand that nobody else holds. Such are a SetElement, and what an optimiser makes of its moments. A result may have several.
  struct Overwrite {
    uint32_t x;       // the operand
    uint32_t result;  // in `results`
  };
  // A row of a table, both operands of the region: no copy is needed on the host.
  struct TableRow {
    uint32_t table, index;
    uint32_t result;  // in `results`
  };
  // A result that is a slice of a value which is seen as its slices, and perhaps itself: on the host a place in that, and no copy.
  struct Part {
    uint32_t result;  // in `results`
    uint32_t whole;   // in `wholes`
    size_t before;    // bytes
    bool alone = true;  // no other part has any of its elements
  };
  // In which order the host computes the ops: one op for all rows, or a chain of them, whose values go through strips of rows, or of elements of
  // a row where rows are long (runtime/device/batch_plan.h).
  struct Stage {
    enum class Kind : uint8_t { Op, Rows, Elements };
    Kind kind = Kind::Op;
    std::vector<uint32_t> ops;
    std::vector<uint32_t> inputs;  // of a chain: what it takes from outside
    size_t bytes = 0;              // of a chain: of a row, or an element, of all that a strip holds for itself
    uint32_t slots = 0;            // in which that is
  };
  // Where a chain's value is while the chain goes on.
  struct Home {
    enum class Kind : uint8_t { Whole, Strip, Part } kind = Kind::Whole;  // seen outside: as without a chain
    uint32_t slot = 0;   // of the strip; of a Part: the value, of a Concat, whose part it is
    size_t before = 0;   // bytes of a row, or an element, in the slots before; of a Part: in the Concat before it
  };
  uint32_t index = 0;  // in its table
  uint32_t device = 0;  // of the batcher's
  bool placed = false;  // the program has put it on a device with memory of its own: nothing else computes it
  uint32_t num_operands = 0;
  std::vector<ValueType> values;
  std::vector<Item> ops;
  std::vector<uint32_t> results;  // values that are seen outside; tensors
  std::vector<Check> checks;      // were made before: an index is in its range
  std::vector<uint32_t> weights;  // operands that are matrices of products: a batch shares them if it can
  std::vector<TableRow> table_rows;
  std::vector<uint32_t> wholes;   // values whose slices are results
  std::vector<Part> parts;
  std::vector<Overwrite> overwrites;
  // Large tensors are written over in a step, or go through strips, or a weight is turned: a batch of one is better than its ops one by one.
  bool large = false;
  // Each activation by itself, on the host: its one op may give a tensor that could not be computed.
  bool one_by_one = false;
  std::vector<RowSum> row_sums;
  // Nothing but sums and the like, large ones: of one activation they may be written over an operand, or stay rows, which of several is worth more
  // than a batch.
  bool alone = false;
  std::vector<Step> steps;
  std::vector<bool> in_step;      // by op; empty if there are no steps
  std::vector<Stage> stages;      // but for the steps; empty: the ops as they stand
  std::vector<Home> homes;        // by op

  // The operand that a product of a row, or with a column, has to turn, if it is a matrix for which that takes longer than the product.
  std::optional<uint32_t> Turned(const Item& item) const {
    constexpr size_t kMatrix = 4096;  // elements
    const bool by_column = item.op == ir::Op::MatMul && values[item.in[1]].tensor->dims.size() == 1;
    if (item.op != ir::Op::Gemm && !by_column) return std::nullopt;
    const uint32_t matrix = item.in[by_column ? 0 : 1];
    if (matrix >= num_operands || values[matrix].tensor->dims.size() != 2 || values[matrix].count < kMatrix) return std::nullopt;
    return matrix;
  }
};

}  // namespace df
