// See base/object_census.h.
#include "runtime/base/object_census.h"

#include <fmt/format.h>

namespace df::alive {

#ifdef DFC_VERIFY
constinit std::array<std::atomic<int64_t>, kKinds> counts{};
#endif

Counts Now() {
  Counts now{};
#ifdef DFC_VERIFY
  for (size_t kind = 0; kind < kKinds; ++kind) now[kind] = counts[kind].load(std::memory_order_relaxed);
#endif
  return now;
}

std::string Left(const Counts& before, const Counts& after) {
  static constexpr std::array<const char*, kKinds> kNames = {
      "big integer", "constructor", "text", "tensor", "error", "delayed call", "reference or tag of an error", "host reference",
      "place in a table of activations", "array that changes", "tag",
      "deferred region", "block of tensors"};
  std::string left;
  for (size_t kind = 0; kind < kKinds; ++kind) {
    int64_t more = after[kind] - before[kind];
    if (more == 0) continue;
    left += fmt::format("{}{} {}{}", left.empty() ? "" : ", ", more, kNames[kind], more == 1 ? "" : "s");
  }
  return left;
}

}  // namespace df::alive
