#include "runtime/packet/packet.h"

#include <algorithm>

namespace df {

void PacketBytes::Grow(size_t bytes) {
  constexpr size_t kFirst = 192;
  PacketBytes larger;
  larger.capacity_ = std::max({kFirst, size_ + bytes, size_ + size_ / 2});
  larger.data_ = memory::AllocateLines(larger.capacity_);
  if (size_) std::memcpy(larger.data_, data_, size_);
  larger.size_ = size_;
  *this = std::move(larger);
}

}  // namespace df
