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
  // Turns those that the batch asks for. What was kept before may go.
  void Prepare(const DeviceBatch& batch);
  // The elements of the matrix turned; null if it was not prepared.
  char* Find(const TensorObject& matrix) const;
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
  void Add(TensorObject& matrix, size_t rows, size_t columns);

  Device& device_;
  std::vector<Entry> entries_;  // the oldest use is first
};

// Computes the batch, whose addresses are pointers. Throws std::bad_alloc beyond the memory limit. Parts of a batch may be computed on
// several threads at once.
void RunBatch(const DeviceBatch& batch, const TurnedMatrices& turned);

}  // namespace df
