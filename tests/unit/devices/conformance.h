// tests/unit/devices/conformance.h
//
// What every device has to do (docs/devices.md), as tests that a device joins by one function; and small regions, of each op that may be
// batched.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/device.h"

namespace df::test {

// The device that this program tests, with at most so many bytes of memory; null: this machine has none.
std::unique_ptr<Device> MakeDeviceToTest(uint64_t max_bytes);

// One op, on operands of these types, which the verifier would let through and batching too.
struct OpCase {
  ir::Op op;
  uint32_t attr = 0;
  std::vector<ir::Type> operands;  // tensors, or words
  ir::Type result;
  int64_t largest = 0;             // of an operand that is an index
  std::string Name() const;
};

// Of each op whose fact `batch` lets it into a batch: shapes and elements as its row and its rule of shapes have them.
std::vector<OpCase> BatchedOps();

}  // namespace df::test
