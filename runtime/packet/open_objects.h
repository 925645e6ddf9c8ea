// runtime/packet/open_objects.h
//
// Objects that were met and not been gone through to their end: one that is met again meanwhile holds itself. Who writes a packet and who
// reads it go the same way, with as many values put off, and agree about it. Private to this room.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/base/memory.h"

namespace df::packet {

class OpenObjects {
 public:
  // The fields of object `number` come next; there are `depth` constructors that were put off.
  void Enter(uint32_t number, size_t depth) { open_.push_back({number, depth}); }
  // There are so many still.
  void Leave(size_t depth) {
    while (!open_.empty() && open_.back().depth > depth) open_.pop_back();
  }
  void LeaveAll() { open_.clear(); }
  bool IsOpen(uint32_t number) const {
    auto at = std::lower_bound(open_.begin(), open_.end(), number, [](const Open& open, uint32_t n) { return open.number < n; });
    return at != open_.end() && at->number == number;
  }

 private:
  struct Open {
    uint32_t number;
    size_t depth;
  };
  std::vector<Open, memory::Allocator<Open>> open_;  // by number
};

}  // namespace df::packet
