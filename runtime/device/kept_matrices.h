// runtime/device/kept_matrices.h
//
// Weights in the form in which the host's products go over them, kept from one batch to the next.
#pragma once

#include <memory>
#include <vector>

#include "runtime/device/device.h"
#include "runtime/value/tensor.h"

namespace df {

// A step of training goes through its waves with the same weights. Those that are multiplied by columns, W dy, are turned, so that the columns
// of a batch are rows. And all that many rows are multiplied with are put into panels (cpu::PutIntoPanels): of batches of a few dozen rows
// nearly all time is the way of the weights through the caches.
class KeptMatrices {
 public:
  enum class As : bool { Given, Turned };
  // Of the host.
  explicit KeptMatrices(Device& device) : device_(device) {}
  // Puts those that the batch asks for into panels, if it is worth it. What was kept before may go.
  void Prepare(const DeviceBatch& batch);
  // The panels of a matrix; null if it has none.
  const char* Find(const TensorObject& matrix, As as) const;
  void Clear() { entries_.clear(); }

 private:
  static constexpr size_t kMost = 16;
  // Turning is asked for by products that would do it themselves. As it was given a matrix is used a while first: so many rows take longer than to
  // put it into panels.
  static constexpr size_t kRowsBefore = 64;
  struct Release {
    void operator()(TensorBlock* block) const { block->Release(); }
  };
  using Block = std::unique_ptr<TensorBlock, Release>;
  struct Entry {
    Value matrix;
    As as;
    size_t rows = 0;  // that were multiplied with it, before it had panels
    Block panels;     // if it has any
  };
  void PrepareOne(const DeviceBatch& batch);
  void Use(TensorObject& matrix, As as, size_t rows);
  Block PanelsOf(TensorObject& matrix, As as);
  void MakeRoom();

  Device& device_;
  std::vector<Entry> entries_;  // the oldest use is first
};

}  // namespace df
