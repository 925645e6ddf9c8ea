// runtime/base/interruptible_loops.h
//
// Loops over large tensors, in pieces: one op may take seconds, in which no limit is looked at. Between two pieces, of a few milliseconds
// at most, a thread looks whether it was asked to give up (AbortLongOperation in runtime/base/long_operation.h). Nothing is left by a jump
// here, as it is in operations on huge numbers: the loops are ours, and may own what has a destructor.
//
// The loops of backends/cpu include this, and stand below the runtime: so what looks is set from there (long_operation.cpp). Where
// nothing is set, as in a test of the loops alone, nobody asks.
#pragma once

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstring>

namespace df {

// Throws OperationAborted if the calling thread, or the one that it works for, was asked to give up.
inline void (*look_between_pieces)() = nullptr;
inline void GiveUpIfAsked() {
  if (look_between_pieces) look_between_pieces();
}

// While it lives the calling thread looks at what another one was asked.
using Asked = const volatile std::sig_atomic_t*;
Asked WhatIAmAsked();
class WorkFor {
 public:
  explicit WorkFor(Asked other);
  ~WorkFor();
  WorkFor(const WorkFor&) = delete;
  WorkFor& operator=(const WorkFor&) = delete;

 private:
  Asked before_;
};

// work(first, count) for pieces of `size` elements, and what is left; of no elements once.
inline constexpr size_t kPiece = size_t{1} << 17;  // elements, each through one function
template <typename Work>
void InPieces(size_t all, size_t size, Work work) {
  size_t first = 0;
  for (; first + size < all; first += size) {
    work(first, size);
    GiveUpIfAsked();
  }
  work(first, all - first);
}

// A copy of any number of bytes, which do not overlap.
inline void CopyInPieces(char* to, const char* from, size_t bytes) {
  constexpr size_t kBytes = size_t{8} << 20;
  if (bytes > 0) InPieces(bytes, kBytes, [&](size_t first, size_t count) { std::memcpy(to + first, from + first, count); });
}

}  // namespace df
