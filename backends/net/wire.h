// backends/net/wire.h
//
// Bytes of the wire, little endian: writing fields, reading them within bounds, and the head of a batch (docs/wire.md).
//
// A reader checks each size against what is left before anything is allocated. Once something was wrong it gives zeros and empty texts, and
// ok() is false: who reads asks once, at the end.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/net/part.h"

namespace df::net {

// Of the batches and messages of this build. Peers of another version are refused by name.
inline constexpr uint16_t kWireVersion = 3;
inline constexpr uint32_t kMagic = 0x4e434644;  // "DFCN"

// A name of 128 bits: a process (its incarnation), or what the program names by its place. Zero is nobody.
struct Name128 {
  uint64_t high = 0, low = 0;
  friend constexpr auto operator<=>(const Name128&, const Name128&) = default;
  explicit constexpr operator bool() const { return high != 0 || low != 0; }
};

using Digest = std::array<uint8_t, 32>;  // SHA-256; zeros: not fixed yet

// 32 hexadecimal digits; of a digest the first 16.
std::string Hex(const Name128& name);
std::string Hex(const Digest& digest);

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  bool ok() const { return ok_; }
  bool AtEnd() const { return rest_.empty(); }
  size_t left() const { return rest_.size(); }

  // An integer of its size, and one of 7 bits a byte, at most 10 bytes and in the shortest form.
  template <typename T>
  T Fixed() {
    std::string_view bytes = Take(sizeof(T));
    T number = 0;
    for (size_t i = bytes.size(); i-- > 0;) number = static_cast<T>(number << 8 | static_cast<uint8_t>(bytes[i]));
    return number;
  }
  uint64_t Varint() {
    if (rest_.empty() || static_cast<uint8_t>(rest_[0]) >= 128) return LongVarint();
    const uint8_t byte = static_cast<uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    return byte;
  }
  // `size` bytes; empty, and not ok, if there are fewer.
  std::string_view Take(uint64_t size) {
    if (size > rest_.size()) {
      Fail();
      return {};
    }
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  // A size and as many bytes, at most `most`.
  std::string_view Sized(uint64_t most = UINT64_MAX);
  // How many entries follow, of which each has at least `least` bytes.
  size_t Entries(size_t least);
  void Fail() { ok_ = false, rest_ = {}; }

 private:
  uint64_t LongVarint();

  std::string_view rest_;
  bool ok_ = true;
};

template <typename T>
void PutFixed(std::string& out, T number) {
  char bytes[sizeof(T)];
  for (size_t i = 0; i < sizeof(T); ++i) bytes[i] = static_cast<char>(static_cast<uint64_t>(number) >> (8 * i));
  out.append(bytes, sizeof(T));
}
void PutLongVarint(std::string& out, uint64_t number);
inline void PutVarint(std::string& out, uint64_t number) {
  if (number < 128) out += static_cast<char>(number);
  else PutLongVarint(out, number);
}
void PutSized(std::string& out, std::string_view bytes);

// What a transport carries at once: the head with its messages, and frames of larger bytes.
struct Datagram {
  Part head;
  std::vector<Part> frames;

  size_t size() const {
    size_t bytes = head.bytes.size();
    for (const Part& frame : frames) bytes += frame.bytes.size();
    return bytes;
  }
};

// The head of a batch. Its size and its first fields, up to `to`, are the same in every version.
struct Head {
  static constexpr size_t kSize = 82;
  static constexpr uint16_t kGreeting = 1;  // of `flags`: between processes that have no link yet; one message, sequence 0

  uint16_t version = kWireVersion;
  uint16_t flags = 0;
  Name128 from, to;           // incarnations; to: nobody, as long as the sender does not know whom it greets
  uint64_t stamp = 0;         // number of the datagram, which grows, also when a batch is sent again
  uint64_t seen = 0;          // the last stamp that came from the other side
  uint64_t sequence = 0;      // number of the batch; 0: it has none and no messages
  uint64_t acknowledged = 0;  // all batches up to this one have come
  uint64_t credit = 0;        // how many bytes the other side may have sent since the link began
  uint16_t count = 0;         // messages that follow

  bool greeting() const { return flags & kGreeting; }
};

void PutHead(std::string& out, const Head& head);
// Into the first Head::kSize bytes of what has room for them.
void SetHead(std::string& bytes, const Head& head);
// False if it is none: too short, another magic, flags that are not known. The version may be any.
bool ReadHead(Reader& in, Head& head);

}  // namespace df::net
