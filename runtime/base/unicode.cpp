// Look-ups in the tables of characters: binary searches over runs; ASCII at once.
#include "runtime/base/unicode.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace df::unicode {
namespace {

struct CaseRange {
  uint32_t first, last, step;
  int32_t distance;
};

#include "runtime/base/unicode_table.inc"

template <size_t n>
uint32_t Map(const CaseRange (&ranges)[n], uint32_t c) {
  const CaseRange* range = std::upper_bound(std::begin(ranges), std::end(ranges), c,
                                            [](uint32_t x, const CaseRange& r) { return x < r.first; });
  if (range == std::begin(ranges)) return c;
  --range;
  if (c > range->last || (c - range->first) % range->step != 0) return c;
  return static_cast<uint32_t>(static_cast<int64_t>(c) + range->distance);
}

uint32_t Search(uint32_t c) { return std::upper_bound(std::begin(kCategories), std::end(kCategories), c * 32 + 31)[-1] & 31; }

}  // namespace

uint32_t GeneralCategory(uint32_t c) {
  constexpr uint32_t kNotAssigned = 29;
  static const std::array<uint8_t, 128> kAscii = [] {
    std::array<uint8_t, 128> table;
    for (uint32_t i = 0; i < 128; ++i) table[i] = static_cast<uint8_t>(Search(i));
    return table;
  }();
  if (c < kAscii.size()) return kAscii[c];
  return c > kMaxChar ? kNotAssigned : Search(c);
}

uint32_t ToUpper(uint32_t c) { return c < 128 ? c - (c >= 'a' && c <= 'z' ? 32 : 0) : Map(kToUpper, c); }
uint32_t ToLower(uint32_t c) { return c < 128 ? c + (c >= 'A' && c <= 'Z' ? 32 : 0) : Map(kToLower, c); }

}  // namespace df::unicode
