// parser/unicode.cpp
//
// Character classes by binary search in the table parser/unicode.def.
#include "parser/unicode.h"

#include <algorithm>
#include <iterator>

namespace df {
namespace {

enum class RangeClass : uint8_t { Upper, Lower, Continue, Symbol, Space, UpperLower };
struct Range {
  uint32_t first;
  uint32_t last;
  RangeClass cls;
};
constexpr Range kRanges[] = {
#define DF_RANGE(first, last, cls) {first, last, RangeClass::cls},
#include "parser/unicode.def"
};

}  // namespace

CharClass ClassOf(char32_t c) {
  auto it = std::lower_bound(std::begin(kRanges), std::end(kRanges), static_cast<uint32_t>(c),
                             [](const Range& range, uint32_t code) { return range.last < code; });
  if (it == std::end(kRanges) || c < it->first) return CharClass::Other;
  switch (it->cls) {
    case RangeClass::Upper: return CharClass::Upper;
    case RangeClass::Lower: return CharClass::Lower;
    case RangeClass::Continue: return CharClass::Continue;
    case RangeClass::Symbol: return CharClass::Symbol;
    case RangeClass::Space: return CharClass::Space;
    case RangeClass::UpperLower: return (c - it->first) % 2 == 0 ? CharClass::Upper : CharClass::Lower;
  }
  return CharClass::Other;
}

Decoded DecodeUtf8(std::string_view text, size_t at) {
  auto byte = [&](size_t i) -> uint32_t {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0;
  };
  auto continues = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  uint32_t first = byte(0);
  if (first < 0x80) return {first, at < text.size() ? 1u : 0u};
  if (first >= 0xC2 && first < 0xE0 && continues(1)) return {(first & 0x1F) << 6 | (byte(1) & 0x3F), 2};
  if (first >= 0xE0 && first < 0xF0 && continues(1) && continues(2)) {
    char32_t code = (first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    if (code >= 0x800 && (code < 0xD800 || code > 0xDFFF)) return {code, 3};
  }
  if (first >= 0xF0 && first < 0xF5 && continues(1) && continues(2) && continues(3)) {
    char32_t code = (first & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
    if (code >= 0x10000 && code <= 0x10FFFF) return {code, 4};
  }
  return {};
}

void AppendUtf8(std::string& to, char32_t code) {
  auto put = [&](uint32_t byte) { to.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

}  // namespace df
