// The counters, and GMP's memory counted with everything else.
#include "runtime/memory.h"

#include <cstdio>

#include <gmp.h>

#include "runtime/long_operation.h"

namespace df::memory {

thread_local constinit Counters counters;
thread_local constinit SmallBlocks small_blocks;

void* CarveSmall(size_t units) {
  constexpr size_t kChunk = 64 * 1024;
  size_t bytes = units * 8;
  SmallBlocks& small = small_blocks;
  if (static_cast<size_t>(small.end - small.next) < bytes) {
    // What is left of the last chunk serves smaller blocks.
    if (size_t left = static_cast<size_t>(small.end - small.next) / 8) {
      *reinterpret_cast<void**>(small.next) = small.free[left];
      small.free[left] = small.next;
    }
    small.next = small.end = nullptr;
    auto* chunk = static_cast<char*>(std::malloc(kChunk));
    if (!chunk) return nullptr;
    small.next = chunk;
    small.end = chunk + kChunk;
  }
  void* block = small.next;
  small.next += bytes;
  return block;
}

namespace {

// GMP offers no way back from a failed allocation, so these count without refusing; what could be large was
// estimated before (see kernels.h). Only when the machine itself has no memory left is there nothing to do
// but end.
[[noreturn]] void NoMemory() {
  std::fputs("error: out of memory\n", stderr);
  std::_Exit(3);
}

void CountWithoutLimit(size_t bytes) {
  Counters& c = counters;
  c.current += static_cast<int64_t>(bytes);
  if (c.current > c.peak) c.peak = c.current;
}

void* GmpAllocate(size_t bytes) {
  long_operation::Shield shield;
  void* block = std::malloc(bytes);
  if (!block) NoMemory();
  CountWithoutLimit(bytes);
  long_operation::Took(block, bytes);
  return block;
}

void* GmpReallocate(void* block, size_t old_bytes, size_t bytes) {
  long_operation::Shield shield;
  long_operation::Gave(block);
  void* moved = std::realloc(block, bytes);
  if (!moved) NoMemory();
  Discharge(old_bytes);
  CountWithoutLimit(bytes);
  long_operation::Took(moved, bytes);
  return moved;
}

void GmpFree(void* block, size_t bytes) {
  long_operation::Shield shield;
  long_operation::Gave(block);
  Discharge(bytes);
  std::free(block);
}

// Before main, so that no number is made with the one and freed with the other pair of functions.
[[maybe_unused]] const bool installed = [] {
  mp_set_memory_functions(GmpAllocate, GmpReallocate, GmpFree);
  return true;
}();

}  // namespace
}  // namespace df::memory
