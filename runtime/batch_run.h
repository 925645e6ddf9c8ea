// runtime/batch_run.h
//
// One batch on the host's processor: a region's ops, one after another, each over the rows of all activations.
#pragma once

#include <utility>
#include <vector>

#include "runtime/device.h"
#include "runtime/tensor.h"

namespace df {

// Weights that are multiplied by columns, W dy, are turned first, so that the columns of a batch are rows. A step of training goes
// through its waves with the same weights, so they are kept.
class TurnedMatrices {
 public:
  // Of the host.
  explicit TurnedMatrices(Device& device) : device_(device) {}
  // The elements of the matrix turned; stays until the next call.
  char* Of(const Value& matrix, size_t rows, size_t columns);
  void Clear() { entries_.clear(); }

 private:
  static constexpr size_t kMost = 8;
  struct Entry {
    Entry(Value m, TensorBlock* b) : matrix(std::move(m)), block(b) {}
    Entry(Entry&& other) noexcept : matrix(std::move(other.matrix)), block(std::exchange(other.block, nullptr)) {}
    Entry& operator=(Entry&& other) noexcept {
      std::swap(matrix, other.matrix);
      std::swap(block, other.block);
      return *this;
    }
    ~Entry() {
      if (block) block->Release();
    }
    Value matrix;
    TensorBlock* block;
  };
  Device& device_;
  std::vector<Entry> entries_;
};

// Computes the batch, whose addresses are pointers. Throws std::bad_alloc beyond the memory limit.
void RunBatch(const DeviceBatch& batch, TurnedMatrices& turned);

}  // namespace df
