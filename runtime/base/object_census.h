// runtime/base/object_census.h
//
// Objects that are alive, counted by kind. After a run none may be left but those that were there before: builds that verify
// (DFC_VERIFY) prove that at the end of each run (driver/evaluate.cpp). Other builds count nothing.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace df::alive {

// As ObjectKind (runtime/value/value.h); tags; and what batching makes (runtime/batch/batch.h).
enum class Kind : uint8_t { BigInteger, Data, Text, Tensor, Error, Delay, Cell, Host, Activation, Store, Tag, Deferred, TensorBlock };
inline constexpr size_t kKinds = 13;
using Counts = std::array<int64_t, kKinds>;

#ifdef DFC_VERIFY
inline constexpr bool kCounted = true;
extern constinit std::array<std::atomic<int64_t>, kKinds> counts;  // of all threads
inline void Made(Kind kind) { counts[static_cast<size_t>(kind)].fetch_add(1, std::memory_order_relaxed); }
inline void Gone(Kind kind) { counts[static_cast<size_t>(kind)].fetch_sub(1, std::memory_order_relaxed); }
#else
inline constexpr bool kCounted = false;
inline void Made(Kind) {}
inline void Gone(Kind) {}
#endif

// What is alive; nothing if it is not counted.
Counts Now();
// What is alive in `after` and was not in `before`: "2 constructors, 1 delayed call"; empty if nothing is.
std::string Left(const Counts& before, const Counts& after);

}  // namespace df::alive
