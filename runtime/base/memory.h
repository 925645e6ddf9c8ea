// runtime/base/memory.h
//
// What a run has allocated, counted: values, big integers, frames and waiting tokens. Each thread counts for
// itself; the threads of one run share its limit through a Budget. Beyond the limit `Allocate` throws std::bad_alloc, which
// engines report as Stop::MemoryLimit; GMP, which cannot be interrupted, is asked only after an estimate (kernels.h).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include "lang/sanitizers.h"

namespace df::memory {

class Budget;

struct Counters {
  int64_t current = 0;          // bytes; may fall below 0 where values made by another thread are freed
  int64_t peak = 0;
  int64_t limit = INT64_MAX;    // of `current`
  Budget* budget = nullptr;     // of a run on several threads, which may raise the limit
  uint32_t share = 0;           // of this thread, there
};
extern thread_local constinit Counters counters;

// The limit of a run on several threads. Each may take a part of what is left before it asks again, so that all together go
// beyond the limit by little, and not long; what one allocates and another frees is made up for.
class Budget {
 public:
  Budget(uint64_t bytes, uint32_t threads);
  // The calling thread takes part, with what it has allocated beyond `base`.
  void Join(uint32_t share, int64_t base);
  // Other threads see what the calling one has now, and it may take a part of what is left.
  void Publish();
  // Whether the calling thread may take so much more. If so its limit is raised.
  bool Raise(size_t bytes);
  // What all together may still take.
  uint64_t Available() { return static_cast<uint64_t>(std::max<int64_t>(0, Left())); }
  // The most that all had together, as far as it was published.
  int64_t peak() const { return peak_.load(std::memory_order_relaxed); }

 private:
  struct alignas(64) Share {
    std::atomic<int64_t> used{0};
    int64_t base = 0;
  };
  int64_t Left();
  const int64_t bytes_;
  const uint32_t threads_;
  std::unique_ptr<Share[]> shares_;
  std::atomic<int64_t> peak_{0};
};
bool RaiseLimit(size_t bytes);

// An allocation that the system itself refuses, and not a limit: throws std::bad_alloc, and notes that it was so.
[[noreturn]] void RefusedBySystem();
void NoteRefusal() noexcept;
// What the process had when the system last refused something; 0: it has not, since ForgetRefusal.
uint64_t MemoryAtRefusal();
void ForgetRefusal();

// For tests, in builds that verify: of the allocations that threads make while they run a graph the `number`-th from now on fails;
// 0: none does.
void FailAllocation(uint64_t number);
// How many there were since then.
uint64_t CountedAllocations();
// Where something is to be allocated: throws std::bad_alloc if this is the one.
#ifdef DFC_VERIFY
void CountAllocation();
#else
inline void CountAllocation() {}
#endif

// Before threads begin. The C library gives other threads than the first heaps of 64 MiB, which go back to the system as soon as they are empty: where
// tensors of some megabytes come and go, their pages were made and cleared again and again.
void UseOneHeap();

// From now on the C library keeps what large blocks leave, up to a quarter of a gigabyte, for the next ones. A step of training
// frees tensors of hundreds of kilobytes and asks for the same sizes again: fresh pages for them each time are up to a quarter of a
// small step (docs/performance/training.md).
void KeepLargeBlocks();
// What was freed goes back to the system, if it is many megabytes: after a phase that has left holes everywhere, before one that asks
// for large blocks.
void GiveBackFreed();

// Adds `bytes` to the count; throws std::bad_alloc, counting nothing, if that goes beyond the limit.
inline void Charge(size_t bytes) {
  CountAllocation();
  Counters& c = counters;
  int64_t next = c.current + static_cast<int64_t>(bytes);
  if (next > c.limit && !RaiseLimit(bytes)) throw std::bad_alloc();
  c.current = next;
  if (next > c.peak) c.peak = next;
}
inline void Discharge(size_t bytes) noexcept { counters.current -= static_cast<int64_t>(bytes); }

// Small blocks come from free lists by size, without malloc's headers and its work. The chunks that they are cut from are
// used again and never given back. A sanitizer is to see each block by itself.
#ifdef DFC_SANITIZED
inline constexpr size_t kLargestSmall = 0;
#else
inline constexpr size_t kLargestSmall = 256;
#endif
// Free blocks of one size. A block that was freed long ago is in no cache, and a list through the blocks themselves would wait for each
// of them when the next is taken. So their addresses are in an array, and those of the older ones on shelves of half an array each: when a
// shelf's turn comes all its blocks are asked for at once.
struct Shelf;
struct FreeBlocks {
  static constexpr uint32_t kMost = 64;
  uint32_t count = 0;
  Shelf* more = nullptr;
  void* blocks[kMost];
};
struct Shelf {
  Shelf* next;
  void* blocks[FreeBlocks::kMost / 2];
};
struct SmallBlocks {
  FreeBlocks free[kLargestSmall / 8 + 1];  // by size in units of 8 bytes
  char* next;
  char* end;
  Shelf* empty;
};
extern thread_local constinit SmallBlocks small_blocks;
void PutAside(FreeBlocks& free);                  // the older half of a full array
void* TakeSmall(FreeBlocks& free, size_t units);  // where the array is empty; null if there is no memory
// The free blocks of a thread that ends are kept for one that begins.
void HandOverSmallBlocks();
void TakeOverSmallBlocks();

// Bytes of memory that the process has now, of whatever kind; 0 if the system does not tell.
uint64_t Resident();

// Whole large pages, which are not counted; null if there are none. A large page is one fault, where 4 KiB each are 512, and the process that
// has them ends that much sooner.
inline constexpr size_t kLargePage = size_t{2} << 20;
void* TakePages(size_t bytes);  // a multiple of that
void GivePages(void* pages, size_t bytes) noexcept;

// Memory that is not counted; null if there is none left.
inline void* TakeBlock(size_t bytes) {
  if (bytes - 1 >= kLargestSmall) return std::malloc(bytes);
  size_t units = (bytes + 7) / 8;
  FreeBlocks& free = small_blocks.free[units];
  if (free.count > 0) [[likely]] return free.blocks[--free.count];
  return TakeSmall(free, units);
}
inline void GiveBlock(void* block, size_t bytes) noexcept {
  if (bytes - 1 >= kLargestSmall) return std::free(block);
  FreeBlocks& free = small_blocks.free[(bytes + 7) / 8];
  if (free.count == FreeBlocks::kMost) [[unlikely]] PutAside(free);
  free.blocks[free.count++] = block;
}

// Counted memory; throws std::bad_alloc beyond the limit or if there is none left.
inline void* Allocate(size_t bytes) {
  Charge(bytes);
  if (void* block = TakeBlock(bytes)) [[likely]] return block;
  Discharge(bytes);
  RefusedBySystem();
}
inline void Free(void* block, size_t bytes) noexcept {
  Discharge(bytes);
  GiveBlock(block, bytes);
}

// Counted memory for elements: whole lines of the caches, at least one. It is a part of a block with room for one more: what the C library
// aligns itself it cuts out of a larger block, and the gap that it leaves when it is freed is too small for the next of its size. In front of
// the lines, in the last byte of that room, is how far they are from the block's beginning.
inline constexpr size_t kLine = 64;
inline size_t BytesOfLines(size_t bytes) { return std::max((bytes + kLine - 1) / kLine, size_t{1}) * kLine + kLine; }
inline char* AllocateLines(size_t bytes) {
  auto* block = static_cast<char*>(Allocate(BytesOfLines(bytes)));
  const size_t before = kLine - reinterpret_cast<uintptr_t>(block) % kLine;
  block[before - 1] = static_cast<char>(before);
  return block + before;
}
inline void FreeLines(char* lines, size_t bytes) noexcept { Free(lines - lines[-1], BytesOfLines(bytes)); }

// Bytes that the C++ library has allocated, counted while this lives: those of a file that is read.
class CountedBytes {
 public:
  CountedBytes() = default;
  CountedBytes(CountedBytes&& other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
  CountedBytes& operator=(CountedBytes&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~CountedBytes() { Discharge(bytes_); }
  // Throws std::bad_alloc beyond the limit.
  void Add(size_t bytes) {
    Charge(bytes);
    bytes_ += bytes;
  }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_ = 0;
};

// Bytes that may still be allocated under the limit.
inline uint64_t Available() {
  if (counters.budget) return counters.budget->Available();
  int64_t left;  // `current` may be below 0
  if (__builtin_sub_overflow(counters.limit, counters.current, &left)) return INT64_MAX;
  return left > 0 ? static_cast<uint64_t>(left) : 0;
}

// While it lives, this thread may hold `bytes` more than `base`, the count when the run began.
class LimitScope {
 public:
  LimitScope(int64_t base, uint64_t bytes, Budget* budget = nullptr, uint32_t share = 0) : saved_(counters) {
    counters.budget = budget;
    counters.share = share;
    counters.limit = bytes > static_cast<uint64_t>(INT64_MAX - (base > 0 ? base : 0))
                         ? INT64_MAX
                         : base + static_cast<int64_t>(bytes);
  }
  ~LimitScope() {
    counters.limit = saved_.limit;
    counters.budget = saved_.budget;
    counters.share = saved_.share;
  }
  LimitScope(const LimitScope&) = delete;
  LimitScope& operator=(const LimitScope&) = delete;

 private:
  Counters saved_;
};

// For the standard containers that hold tokens and frames.
template <typename T>
struct Allocator {
  using value_type = T;
  Allocator() = default;
  template <typename U>
  Allocator(const Allocator<U>&) {}
  T* allocate(size_t n) {
    if (n > SIZE_MAX / sizeof(T)) throw std::bad_alloc();
    return static_cast<T*>(Allocate(n * sizeof(T)));
  }
  void deallocate(T* p, size_t n) noexcept { Free(p, n * sizeof(T)); }
  friend bool operator==(const Allocator&, const Allocator&) { return true; }
};

}  // namespace df::memory
