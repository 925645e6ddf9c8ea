// runtime/packet/layout.h
//
// The bytes of a packet, for who writes and who reads them: docs/wire.md. Private to this room.
//
// A value is a head and what follows it. A head is one byte, the low three bits what it is and the high five a number; 31 says that the
// rest of the number follows as a varint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "runtime/packet/packet.h"

namespace df::packet {

enum class What : uint8_t {
  Value,    // the number is part of the value: a word's size, a constructor, how a tensor stands there
  Shared,   // the same of an object that is met again: it gets the next number
  Back,     // object `number`
  Delayed,  // a delayed call; 1: it gets the next number
  Error,    // likewise
  Known,    // an object that the receiver has already: its name follows, which the sender gave it; 1: which the receiver gave it
};
inline constexpr uint8_t kWhatBits = 3;
inline constexpr uint64_t kMoreFollows = 31;

// Numbers and characters. Up to 8 the number of a head is how many bytes follow, little-endian, with the sign at the top; from there on
// the word itself.
inline constexpr uint8_t kFirstSmall = 9;
inline constexpr uint64_t kMostSmall = 31 - kFirstSmall;
inline constexpr uint8_t kBigInteger = 0;  // of an Integer: its limbs follow

// How a tensor's elements stand there. Failed: they could not be computed, and the error follows.
enum class Elements : uint8_t { Inline, Part, Rows, Failed };
// Elements of so many bytes begin at a multiple of 64, as their parts do; of fewer they follow at once.
inline constexpr size_t kLeastAligned = 512;
inline constexpr size_t kAlignment = 64;

inline constexpr int kMostVarint = 10;  // bytes
inline char* PutVarint(char* to, uint64_t number) {
  while (number >= 0x80) {
    *to++ = static_cast<char>(number | 0x80);
    number >>= 7;
  }
  *to++ = static_cast<char>(number);
  return to;
}
inline void PutVarint(PacketBytes& bytes, uint64_t number) { bytes.Wrote(PutVarint(bytes.Room(kMostVarint), number)); }
inline char* PutHead(char* to, What what, uint64_t number) {
  if (number < kMoreFollows) {
    *to++ = static_cast<char>(static_cast<uint64_t>(what) | number << kWhatBits);
    return to;
  }
  *to++ = static_cast<char>(static_cast<uint64_t>(what) | kMoreFollows << kWhatBits);
  return PutVarint(to, number - kMoreFollows);
}

// Bytes that nobody vouches for. No function reads behind the end.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()) {}
  size_t offset() const { return static_cast<size_t>(at_ - begin_); }
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  bool Byte(uint8_t* byte) {
    if (at_ == end_) return false;
    *byte = static_cast<uint8_t>(*at_++);
    return true;
  }
  bool Varint(uint64_t* number) {
    *number = 0;
    for (int shift = 0; shift < 64 && at_ != end_; shift += 7) {
      const auto byte = static_cast<uint8_t>(*at_++);
      if (shift == 63 && byte > 1) return false;
      *number |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  // A head's number, of which the first byte has been read.
  bool NumberOf(uint8_t head, uint64_t* number) {
    *number = head >> kWhatBits;
    if (*number < kMoreFollows) return true;
    uint64_t more;
    if (!Varint(&more) || more > UINT64_MAX - kMoreFollows) return false;
    *number = more + kMoreFollows;
    return true;
  }
  // `bytes` of them, at most eight, with the sign of the last one.
  bool Word(unsigned bytes, int64_t* word) {
    if (bytes == 0 || bytes > left()) return false;
    uint64_t raw = 0;
    if (left() >= 8) std::memcpy(&raw, at_, 8);
    else std::memcpy(&raw, at_, bytes);
    at_ += bytes;
    const unsigned above = 64 - 8 * bytes;
    *word = static_cast<int64_t>(raw << above) >> above;
    return true;
  }
  bool Raw(void* to, size_t bytes) {
    if (bytes > left()) return false;
    std::memcpy(to, at_, bytes);
    at_ += bytes;
    return true;
  }
  // As many as there have to be: null if there are fewer.
  const char* Take(uint64_t bytes) {
    if (bytes > left()) return nullptr;
    const char* from = at_;
    at_ += bytes;
    return from;
  }
  bool AlignTo(size_t alignment) { return Take(-offset() % alignment) != nullptr; }

  // As they are: for who keeps them in local variables meanwhile.
  const char* at() const { return at_; }
  const char* end() const { return end_; }
  void MoveTo(const char* at) { at_ = at; }

 private:
  const char *begin_, *at_, *end_;
};

}  // namespace df::packet
