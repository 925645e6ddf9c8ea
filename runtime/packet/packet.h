// runtime/packet/packet.h
//
// What values become to leave the process: a string of bytes, and large tensors beside it. docs/wire.md has the layout.
#pragma once

#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/memory.h"
#include "runtime/value/value.h"

namespace df {

// Bytes that grow at their end, counted as values are (runtime/base/memory.h). They begin at a multiple of 64.
class PacketBytes {
 public:
  PacketBytes() = default;
  PacketBytes(PacketBytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)), capacity_(std::exchange(other.capacity_, 0)) {}
  PacketBytes& operator=(PacketBytes other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~PacketBytes() {
    if (data_) memory::FreeLines(data_, capacity_);
  }

  size_t size() const { return size_; }
  std::string_view view() const { return {data_, size_}; }
  // Where the next bytes go: there is room for so many. Throws std::bad_alloc beyond the memory limit.
  char* Room(size_t bytes) {
    if (capacity_ - size_ < bytes) Grow(bytes);
    return data_ + size_;
  }
  // Where the room ends.
  char* RoomEnd() { return data_ + capacity_; }
  char* begin() { return data_; }
  // They go up to there.
  void Wrote(const char* end) { size_ = static_cast<size_t>(end - data_); }
  void Append(const void* bytes, size_t count) {
    char* to = Room(count);
    if (count) std::memcpy(to, bytes, count);
    size_ += count;
  }
  // Zeros up to a multiple of that.
  void AlignTo(size_t alignment) {
    const size_t zeros = -size_ % alignment;
    std::memset(Room(zeros), 0, zeros);
    size_ += zeros;
  }

 private:
  void Grow(size_t bytes);
  char* data_ = nullptr;
  size_t size_ = 0, capacity_ = 0;
};

// Elements that are sent as they stand: nobody writes them as long as the part holds its tensor. Where counts of holders are not atomic
// a part goes back to the thread of its run before it goes.
struct PacketPart {
  Value owner;
  std::string_view bytes;
};

struct Packet {
  PacketBytes bytes;
  std::vector<PacketPart> parts;
  size_t size() const {
    size_t all = bytes.size();
    for (const PacketPart& part : parts) all += part.bytes.size();
    return all;
  }
};

}  // namespace df
