// The counters, and GMP's memory counted with everything else.
#include "runtime/memory.h"

#include <cstdio>

#include <gmp.h>

#include "runtime/long_operation.h"

namespace df::memory {

thread_local constinit Counters counters;

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
  Free(block, bytes);
}

// Before main, so that no number is made with the one and freed with the other pair of functions.
[[maybe_unused]] const bool installed = [] {
  mp_set_memory_functions(GmpAllocate, GmpReallocate, GmpFree);
  return true;
}();

}  // namespace
}  // namespace df::memory
