// runtime/batch/batch_places.h
//
// Where the operands of a batch are on the device that computes it, and room there for its results.
//
// On the host an operand is where it is. For a device with memory of its own it may be there already, as a row of what a batch before
// has computed. A tensor that the host has goes over: as a copy that is kept, if all rows share it or it is large; else together with
// the others, for this batch alone.
#pragma once

#include <vector>

#include "runtime/device/device_copies.h"

namespace df {

class BatchPlaces {
 public:
  // Bytes of a tensor that goes over by itself.
  static constexpr size_t kLarge = 4096;
  static constexpr uint32_t kNone = UINT32_MAX;
  explicit BatchPlaces(Device& device) : device_(device), copies_(device) {}

  // Has the device compute the region for all `rows`, whose operands are there, and gives the tensors that somebody still holds
  // their place: of each result, one block for all rows. Throws std::bad_alloc beyond the memory limit, having changed nothing.
  void Run(const BatchRegion& region, llvm::ArrayRef<Deferred*> rows, BatchTimes* times);
  // Makes room on the device, of what it can be given again: copies of tensors that the host has, or the older half of what it has
  // computed, which comes to the host. False if there is nothing. The latter throws std::bad_alloc beyond the memory limit.
  bool DropCopies() { return copies_.FreeAll(); }
  bool Spill() { return TensorBlock::Spill(device_); }

 private:
  Rows Find(const BatchRegion& region, llvm::ArrayRef<Deferred*> rows, uint32_t operand);
  // Whether operand k of a batch of one row is known by its rows and may stay so: all that is done with it is a step, or a sum with another such.
  bool MayStayRows(const BatchRegion& region, Deferred& row, uint32_t k) const;
  // Of one row, on the host: operand x's elements, if `result`, which takes their place, is wanted and nobody else holds them. Else null.
  DeviceAddress Overwritable(uint32_t x, uint32_t result, Deferred& row) const;
  // Whether the results are places in the table: on the host, where the table is not much larger than they are, as it stays while one of them does.
  bool StayInTable(const BatchRegion& region, const BatchRegion::TableRow& row, size_t count) const;
  void FindAddresses(const BatchRegion& region, llvm::ArrayRef<Deferred*> rows, uint32_t operand);

  Device& device_;
  DeviceCopies copies_;
  std::vector<std::pair<DeviceAddress, size_t>> passing_;  // what goes over for the batch at hand alone, and its size
  std::vector<char> packed_;
  // Of the batch; kept for their memory.
  std::vector<Rows> operands_;
  std::vector<TensorObject*> shared_;
  std::vector<std::vector<DeviceAddress>> addresses_;  // by operand
  std::vector<std::vector<int64_t>> words_;
  std::vector<DeviceAddress> results_, wholes_;
  std::vector<uint32_t> overwritten_;  // by result: the operand whose place it takes, or kNone
};

}  // namespace df
