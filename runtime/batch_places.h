// runtime/batch_places.h
//
// Where the operands of a batch are on the device that computes it, and room there for its results.
#pragma once

#include <vector>

#include "runtime/device.h"
#include "runtime/tensor.h"

namespace df {

class BatchPlaces {
 public:
  explicit BatchPlaces(Device& device) : device_(device) {}

  // Has the device compute the region for all `rows`, whose operands are there, and gives the tensors that somebody still holds
  // their place: of each result, one block for all rows. Throws std::bad_alloc beyond the memory limit, having changed nothing.
  void Run(const BatchRegion& region, llvm::ArrayRef<Deferred*> rows, BatchTimes* times);

 private:
  Rows Find(const BatchRegion& region, llvm::ArrayRef<Deferred*> rows, uint32_t operand);

  Device& device_;
  // Of the batch; kept for their memory.
  std::vector<Rows> operands_;
  std::vector<const Value*> shared_;
  std::vector<std::vector<DeviceAddress>> addresses_;  // by operand
  std::vector<std::vector<int64_t>> words_;
  std::vector<DeviceAddress> results_;
};

}  // namespace df
