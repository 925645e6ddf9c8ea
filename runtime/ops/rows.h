// runtime/ops/rows.h
//
// Rows of a batch, and sums over them, in the memory of whoever computes them: the host or a device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "tagged_ir/graph.h"

namespace df {

// A place in a device's memory. Numbers may be added to it; only the device may look there.
using DeviceAddress = char*;

// Where the rows of a value are: a row for each activation of a batch, or one that all share.
struct Rows {
  DeviceAddress base = nullptr;
  size_t stride = 0;                  // bytes from row to row
  const DeviceAddress* at = nullptr;  // or each row's place: an array of the host's
  size_t offset = 0;                  // to be added to either
  const int64_t* words = nullptr;     // of a scalar, instead: one per row, an array of the host's
  bool shared = false;                // there is one row
  DeviceAddress Row(size_t i) const { return (at ? at[i] : base + i * stride) + offset; }
};

// A sum that begins with 0, of terms of three kinds (runtime/ops/accumulate.h), to be added in the order given: the gradient of a weight.
struct DeviceSum {
  enum class Kind : uint8_t {
    Tensors,      // row by row, each as large as the result
    RowsOfTable,  // row i goes to row targets[i] of the result; several may go to one
    Products,     // row i of x, transposed, times row i of y: an element of the result is one chain of fused additions
  };
  // Terms of one kind that follow each other.
  struct Part {
    Kind kind;
    size_t rows;
    const DeviceAddress* x;    // where each row is: an array of the host's
    const DeviceAddress* y;    // of Products
    const int64_t* targets;    // of RowsOfTable: within the result
  };
  ir::TypeKind element;         // Float or Double
  size_t rows, columns;         // of the result; of Products [rows of x, rows of y]
  llvm::ArrayRef<Part> parts;
  DeviceAddress result;
};

}  // namespace df
