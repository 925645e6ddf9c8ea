// Look-ups in the tables of characters: binary searches over runs.
#include "runtime/unicode.h"

#include <algorithm>
#include <iterator>

namespace df::unicode {
namespace {

struct CaseRange {
  uint32_t first, last, step;
  int32_t distance;
};

#include "runtime/unicode_table.inc"

template <size_t n>
uint32_t Map(const CaseRange (&ranges)[n], uint32_t c) {
  const CaseRange* range = std::upper_bound(std::begin(ranges), std::end(ranges), c,
                                            [](uint32_t x, const CaseRange& r) { return x < r.first; });
  if (range == std::begin(ranges)) return c;
  --range;
  if (c > range->last || (c - range->first) % range->step != 0) return c;
  return static_cast<uint32_t>(static_cast<int64_t>(c) + range->distance);
}

}  // namespace

uint32_t GeneralCategory(uint32_t c) {
  constexpr uint32_t kNotAssigned = 29;
  if (c > kMaxChar) return kNotAssigned;
  return std::upper_bound(std::begin(kCategories), std::end(kCategories), c * 32 + 31)[-1] & 31;
}

uint32_t ToUpper(uint32_t c) { return Map(kToUpper, c); }
uint32_t ToLower(uint32_t c) { return Map(kToLower, c); }

}  // namespace df::unicode
