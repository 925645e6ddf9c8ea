#include "backends/net/wire.h"

namespace df::net {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

Name128 ReadName(Reader& in) {
  Name128 name;
  name.high = in.Fixed<uint64_t>();
  name.low = in.Fixed<uint64_t>();
  return name;
}

void PutName(std::string& out, const Name128& name) {
  PutFixed(out, name.high);
  PutFixed(out, name.low);
}

}  // namespace

std::string Hex(const Name128& name) {
  std::string text;
  for (uint64_t half : {name.high, name.low})
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[half >> shift & 15];
  return text;
}

std::string Hex(const Digest& digest) {
  std::string text;
  for (size_t i = 0; i < 8; ++i) (text += kDigits[digest[i] >> 4]) += kDigits[digest[i] & 15];
  return text;
}

uint64_t Reader::LongVarint() {
  uint64_t number = 0;
  for (size_t i = 0; i < rest_.size() && i < 10; ++i) {
    const uint8_t byte = static_cast<uint8_t>(rest_[i]);
    if (i == 9 && byte > 1) break;            // more than 64 bits
    if (i > 0 && byte == 0) break;            // longer than it need be
    number |= uint64_t{byte & 127u} << (7 * i);
    if (byte < 128) {
      rest_.remove_prefix(i + 1);
      return number;
    }
  }
  Fail();
  return 0;
}

std::string_view Reader::Sized(uint64_t most) {
  const uint64_t size = Varint();
  if (size > most) {
    Fail();
    return {};
  }
  return Take(size);
}

size_t Reader::Entries(size_t least) {
  const uint64_t count = Varint();
  if (count > rest_.size() / least) {
    Fail();
    return 0;
  }
  return count;
}

void PutLongVarint(std::string& out, uint64_t number) {
  for (; number >= 128; number >>= 7) out += static_cast<char>(number | 128);
  out += static_cast<char>(number);
}

void PutSized(std::string& out, std::string_view bytes) {
  PutVarint(out, bytes.size());
  out += bytes;
}

void PutHead(std::string& out, const Head& head) {
  PutFixed(out, kMagic);
  PutFixed(out, head.version);
  PutFixed(out, head.flags);
  PutName(out, head.from);
  PutName(out, head.to);
  for (uint64_t number : {head.stamp, head.seen, head.sequence, head.acknowledged, head.credit}) PutFixed(out, number);
  PutFixed(out, head.count);
}

void SetHead(std::string& bytes, const Head& head) {
  std::string written;
  written.reserve(Head::kSize);
  PutHead(written, head);
  bytes.replace(0, Head::kSize, written);
}

bool ReadHead(Reader& in, Head& head) {
  if (in.Fixed<uint32_t>() != kMagic) return false;
  head.version = in.Fixed<uint16_t>();
  head.flags = in.Fixed<uint16_t>();
  head.from = ReadName(in);
  head.to = ReadName(in);
  for (uint64_t* number : {&head.stamp, &head.seen, &head.sequence, &head.acknowledged, &head.credit}) *number = in.Fixed<uint64_t>();
  head.count = in.Fixed<uint16_t>();
  return in.ok() && (head.flags & ~Head::kGreeting) == 0 && head.from;
}

}  // namespace df::net
