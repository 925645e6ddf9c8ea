// backends/simulated/simulated_device.h
//
// A device that is none, for tests: everything about devices but their speed can be tried on a machine that has no other.
//
// It has an address space of its own. Its addresses are no addresses of the host's (on x86-64 no program can have them): the host
// cannot look there, and a pointer of the host's is no place on the device. Room is never given twice, so that what is freed stays
// known as such. Commands are checked when they are given, in the order in which they have their effects: room that was freed or that
// nobody allocated, rows beyond their room, bytes that nobody has written, results over operands. They are carried out late, when
// somebody waits for a mark behind them; until then memory holds a pattern that is no sensible number, and so does what is to be downloaded.
//
// The kernels are those of the host, on the device's memory; the bits are the same.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>

#include "llvm/ADT/BitVector.h"
#include "runtime/device/device.h"

namespace df {

class SimulatedDevice final : public Device {
 public:
  // With room for so many bytes.
  explicit SimulatedDevice(uint64_t max_bytes);

  std::string_view name() const override { return "simulated"; }
  DeviceAddress Allocate(size_t bytes) override;
  void Free(DeviceAddress address, size_t bytes) noexcept override;
  void Upload(DeviceAddress to, const void* from, size_t bytes) override;
  void Download(void* to, DeviceAddress from, size_t bytes) override;
  void Run(const DeviceBatch& batch) override;
  void Sum(const DeviceSum& sum) override;
  uint64_t Mark() override;
  void Wait(uint64_t mark) override;
  std::string Left() const override;

 private:
  struct Buffer {
    size_t bytes;
    bool freed = false;            // by a command that was given
    llvm::BitVector set;           // bytes that commands that were given write
    std::unique_ptr<char[]> memory;  // until the command that frees it is carried out
  };
  using Place = std::pair<Buffer*, size_t>;  // and how far within it

  // The buffer of `bytes` bytes that begin there, all within it, and written if they are to be read. Throws DeviceFault.
  Place Find(DeviceAddress address, size_t bytes, const char* what, bool reads);
  char* At(DeviceAddress address);  // while a command is carried out
  void Give(std::function<void()> command) { queue_.push_back(std::move(command)); }
  struct Batch;
  void CarryOut(Batch& batch);

  const uint64_t max_bytes_;
  uint64_t bytes_ = 0;      // allocated, after the commands that were given
  uint64_t next_;           // address
  std::map<uint64_t, Buffer> buffers_;  // by address; those that were freed too
  std::deque<std::function<void()>> queue_;
  uint64_t carried_out_ = 0;  // commands
  std::string fault_;         // of a command that could not throw
};

}  // namespace df
