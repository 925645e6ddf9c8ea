// See alive.h.
#include "runtime/alive.h"

#include <fmt/format.h>

#include "runtime/value.h"

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

static_assert(Object::CountedAs(ObjectKind::Data) == Kind::Data && Object::CountedAs(ObjectKind::Tensor) == Kind::Tensor &&
              Object::CountedAs(ObjectKind::Activation) == Kind::Activation && static_cast<size_t>(Kind::TensorBlock) + 1 == kKinds);

std::string Left(const Counts& before, const Counts& after) {
  static constexpr std::array<const char*, kKinds> kNames = {
      "big integer", "constructor", "text", "tensor", "error", "delayed call", "reference or tag of an error", "host reference",
      "place in a table of activations", "tag",
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
