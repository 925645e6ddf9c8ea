// runtime/device/device.h
//
// What the tagged engine's batching asks of a device: memory of its own, copies to and fro, one region's ops over the rows of a
// batch, and a point to wait for. The host's processor is a device too (runtime/device/host_device.h). docs/devices.md walks through a
// run and says in which order calls come.
//
// A device is a queue: commands have their effects one after another in the order in which they were given, but perhaps long after the
// call that gave them has returned. One thread gives them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "llvm/ADT/ArrayRef.h"
#include "runtime/device/batch_region.h"
#include "runtime/ops/rows.h"
#include "runtime/run/device_errors.h"
#include "runtime/value/value.h"

namespace df {

class TensorBlock;

class TensorObject;  // runtime/value/tensor.h

// Where the time of batches went, in seconds: in the loops of products and of other ops, in collecting rows.
struct BatchTimes {
  double products = 0, others = 0, gathers = 0;
};

// A region, to be computed for so many activations.
struct DeviceBatch {
  const BatchRegion* region;  // outlives the device's use of it
  size_t rows;
  llvm::ArrayRef<Rows> operands;           // of the region, in its order
  llvm::ArrayRef<TensorObject*> tensors;   // of operands that all rows share, the tensor; else null. For what the host keeps of weights
  llvm::ArrayRef<DeviceAddress> results;   // of each result, room for all rows, one behind the other; null: nobody wants it
  BatchTimes* times = nullptr;             // to be added to, by a device that knows them
  llvm::ArrayRef<DeviceAddress> wholes = {};  // on the host: of each of the region's wholes, the same. Their parts among the results are null
};

// What went over, and how much was in use.
struct DeviceStats {
  uint64_t uploads = 0, uploaded = 0;      // copies to the device, their bytes
  uint64_t downloads = 0, downloaded = 0;  // and back
  uint64_t peak_bytes = 0;                 // allocated at once
};

class Device {
 public:
  static constexpr size_t kAlignment = 64;  // of what Allocate gives, at least

  virtual ~Device() = default;
  // For people: "simulated".
  virtual std::string_view name() const = 0;
  // Whether its addresses are the host's pointers, and all commands have had their effects when the calls return. Then Upload and
  // Download are never called.
  virtual bool is_host() const { return false; }

  // Room for so many bytes, not set; of 0 bytes too it is an address of its own. Throws DeviceFull. It may be the room of what
  // was freed before, though commands that use that have not had their effects yet.
  virtual DeviceAddress Allocate(size_t bytes) = 0;
  // What Allocate gave for so many bytes. Commands that were given before may still use it.
  virtual void Free(DeviceAddress address, size_t bytes) noexcept = 0;
  // Reads the host's memory before it returns.
  virtual void Upload(DeviceAddress to, const void* from, size_t bytes) = 0;
  // Writes the host's memory at some time before a Wait for a later mark has returned.
  virtual void Download(void* to, DeviceAddress from, size_t bytes) = 0;
  // Computes the batch. The arrays that it points to are the caller's again when this returns; the results have the bits that the loops of
  // backends/cpu give. Throws std::bad_alloc, having changed nothing, if there is no room for what is computed on the way.
  virtual void Run(const DeviceBatch& batch) = 0;
  // Computes the sum; what is said of Run holds here too.
  virtual void Sum(const DeviceSum& sum) = 0;
  // Behind the commands that were given until now. Marks grow.
  virtual uint64_t Mark() = 0;
  // Until all before the mark have had their effects. Throws DeviceFault for what went wrong there.
  virtual void Wait(uint64_t mark) = 0;
  // Nothing waits to be computed now: what is kept between batches may go (of the tensors of DeviceBatch it has to).
  virtual void Idle() {}
  // What was allocated and not freed, for people; empty if nothing was, or the device does not count.
  virtual std::string Left() const { return {}; }
  void Synchronise() { Wait(Mark()); }

  const DeviceStats& stats() const { return stats_; }

 protected:
  DeviceStats stats_;

 private:
  friend class TensorBlock;  // runtime/value/tensor.h: those that have room here, by age
  TensorBlock* oldest_ = nullptr;
  TensorBlock* newest_ = nullptr;
  size_t blocks_ = 0;
};

}  // namespace df
