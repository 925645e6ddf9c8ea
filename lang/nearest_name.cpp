// lang/nearest_name.cpp
//
// Which name may have been meant: the optimal string alignment distance, bounded by what a misspelling looks
// like.
#include <algorithm>

#include "lang/render.h"

namespace df {
namespace {

constexpr size_t kMaxLength = 100;

// Edit distance with swaps of neighbours; `limit + 1` as soon as it is known to exceed `limit`.
size_t Distance(std::string_view a, std::string_view b, size_t limit) {
  size_t longer = std::max(a.size(), b.size()), shorter = std::min(a.size(), b.size());
  if (longer - shorter > limit) return limit + 1;
  size_t rows[3][kMaxLength + 1];
  size_t *before = rows[0], *above = rows[1], *row = rows[2];
  for (size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    size_t best = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t same = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + same});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
      best = std::min(best, row[j]);
    }
    if (best > limit) return limit + 1;
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  return lower;
}

}  // namespace

std::string_view NearestName(std::string_view name, const std::vector<std::string_view>& candidates) {
  if (name.empty() || name.size() > kMaxLength) return {};
  // One slip in a short name, one in three characters of a long one; a name is never all slips.
  size_t limit = std::min(std::max<size_t>(1, name.size() / 3), name.size() - 1);
  std::string lower = Lower(name);
  std::string_view nearest;
  size_t nearest_distance = limit + 1;
  bool nearest_case = false;  // it differs only in case
  for (std::string_view candidate : candidates) {
    if (candidate.empty() || candidate.size() > kMaxLength || candidate == name) continue;
    bool only_case = candidate.size() == name.size() && Lower(candidate) == lower;
    if (only_case && !nearest_case) {
      nearest = candidate;
      nearest_case = true;
      nearest_distance = 0;
      continue;
    }
    if (nearest_distance == 0) continue;
    size_t distance = Distance(name, candidate, nearest_distance - 1);
    if (distance < nearest_distance && distance < candidate.size()) {
      nearest = candidate;
      nearest_distance = distance;
    }
  }
  return nearest;
}

}  // namespace df
