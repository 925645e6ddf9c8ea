// The counters, and GMP's memory counted with everything else.
#include "runtime/base/memory.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gmp.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/base/long_operation.h"
#include "runtime/base/raise_to.h"

namespace df::memory {

thread_local constinit Counters counters;
thread_local constinit SmallBlocks small_blocks{};

namespace {

void Keep(FreeBlocks& free, void* block) {
  if (free.count == FreeBlocks::kMost) PutAside(free);
  free.blocks[free.count++] = block;
}

// Chunks that are never given back. Who has filled many gets whole pages.
void* TakeChunk(size_t* bytes) {
  constexpr size_t kSmallChunk = 64 * 1024, kMany = 16 << 20;
  static thread_local size_t taken = 0;
  *bytes = taken < kMany ? kSmallChunk : kLargePage;
  void* chunk = taken < kMany ? std::malloc(*bytes) : TakePages(*bytes);
  if (chunk) taken += *bytes;
  return chunk;
}

void* CarveSmall(size_t units) {
  size_t bytes = units * 8;
  SmallBlocks& small = small_blocks;
  if (static_cast<size_t>(small.end - small.next) < bytes) {
    // What is left of the last chunk serves smaller blocks.
    if (size_t left = static_cast<size_t>(small.end - small.next) / 8) Keep(small.free[left], small.next);
    small.next = small.end = nullptr;
    size_t size = 0;
    auto* chunk = static_cast<char*>(TakeChunk(&size));
    if (!chunk) return nullptr;
    small.next = chunk;
    small.end = chunk + size;
  }
  void* block = small.next;
  small.next += bytes;
  return block;
}

}  // namespace

void* TakePages(size_t bytes) {
#ifdef DFC_SANITIZED
  return std::malloc(bytes);
#else
  // As many more as it takes to begin at a large page.
  void* mapped = mmap(nullptr, bytes + kLargePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* begin = static_cast<char*>(mapped);
  const size_t before = -reinterpret_cast<uintptr_t>(begin) % kLargePage;
  if (before) munmap(begin, before);
  munmap(begin + before + bytes, kLargePage - before);
#ifdef MADV_HUGEPAGE
  madvise(begin + before, bytes, MADV_HUGEPAGE);  // where the system has none, these are pages as all
#endif
  return begin + before;
#endif
}

void GivePages(void* pages, [[maybe_unused]] size_t bytes) noexcept {
#ifdef DFC_SANITIZED
  std::free(pages);
#else
  munmap(pages, bytes);
#endif
}

uint64_t Resident() {
  static const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  char text[128];
  ssize_t size = file < 0 ? -1 : ::pread(file, text, sizeof text - 1, 0);
  if (size <= 0) return 0;
  text[size] = 0;
  char* rest = nullptr;
  std::strtoull(text, &rest, 10);  // addresses
  return std::strtoull(rest, nullptr, 10) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

void UseOneHeap() {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 1);
#endif
}

void KeepLargeBlocks() {
#ifdef __GLIBC__
  // 32 MiB is as high as the library lets the first go. Who sets one of them has switched off that both adapt.
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
#endif
}

void GiveBackFreed() {
#if defined(__GLIBC__) && !defined(DFC_SANITIZED)
  constexpr size_t kMuch = size_t{64} << 20;
  if (mallinfo2().fordblks > kMuch) malloc_trim(0);
#endif
}

namespace {

constexpr uint32_t kOfShelf = std::size(Shelf{}.blocks);
constexpr size_t kSizes = kLargestSmall / 8 + 1;

// What one thread makes another one may free, all along: a list whose cells one computes and the other goes through. So a thread keeps no
// more than some free blocks of each size; further shelves are there for all.
constexpr size_t kKeptBytes = size_t{1} << 20;
thread_local constinit uint32_t shelves_kept[kSizes] = {};  // by size, of small_blocks
std::atomic<bool> several_threads{false};
std::mutex shared_mutex;
Shelf* shared_full[kSizes] = {};
Shelf* shared_empty = nullptr;

bool KeepsEnough(size_t units) {
  return several_threads.load(std::memory_order_relaxed) && size_t{shelves_kept[units]} * kOfShelf * units * 8 >= kKeptBytes;
}

// With an empty one in exchange, if the thread has none and there is one.
void GiveToAll(Shelf* shelf, size_t units) {
  std::lock_guard lock(shared_mutex);
  shelf->next = shared_full[units];
  shared_full[units] = shelf;
  if (small_blocks.empty || !shared_empty) return;
  small_blocks.empty = std::exchange(shared_empty, shared_empty->next);
  small_blocks.empty->next = nullptr;
}

// Puts the blocks of a shelf of all into the array, which is empty. False if there is none.
bool TakeFromAll(FreeBlocks& free, size_t units) {
  if (!several_threads.load(std::memory_order_relaxed)) return false;
  std::lock_guard lock(shared_mutex);
  Shelf* shelf = shared_full[units];
  if (!shelf) return false;
  shared_full[units] = shelf->next;
  std::copy_n(shelf->blocks, kOfShelf, free.blocks);
  free.count = kOfShelf;
  shelf->next = shared_empty;
  shared_empty = shelf;
  return true;
}

}  // namespace

void PutAside(FreeBlocks& free) {
  const auto units = static_cast<size_t>(&free - small_blocks.free);
  Shelf* shelf = small_blocks.empty;
  if (shelf) small_blocks.empty = shelf->next;
  else shelf = static_cast<Shelf*>(std::malloc(sizeof(Shelf)));
  if (shelf) {  // where the system has not even that, the blocks are lost
    std::copy_n(free.blocks, kOfShelf, shelf->blocks);
    if (KeepsEnough(units)) {
      GiveToAll(shelf, units);
    } else {
      shelf->next = free.more;
      free.more = shelf;
      ++shelves_kept[units];
    }
  }
  free.count = FreeBlocks::kMost - kOfShelf;
  std::copy_n(free.blocks + kOfShelf, free.count, free.blocks);
}

void* TakeSmall(FreeBlocks& free, size_t units) {
  Shelf* shelf = free.more;
  if (!shelf) return TakeFromAll(free, units) ? free.blocks[--free.count] : CarveSmall(units);
  free.more = shelf->next;
  --shelves_kept[units];
  __builtin_prefetch(free.more);
  shelf->next = small_blocks.empty;
  small_blocks.empty = shelf;
  std::copy_n(shelf->blocks, kOfShelf, free.blocks);
  for (uint32_t i = kOfShelf; i-- > 0;)
    for (size_t at = 0; at < units * 8; at += kLine) __builtin_prefetch(static_cast<char*>(free.blocks[i]) + at, 1);
  free.count = kOfShelf - 1;
  return free.blocks[free.count];
}

namespace {

struct HandedOver {
  SmallBlocks blocks;
  uint32_t shelves[kSizes];
};
std::mutex handed_over_mutex;
std::vector<HandedOver> handed_over;

}  // namespace

void HandOverSmallBlocks() {
  std::lock_guard lock(handed_over_mutex);
  HandedOver& mine = handed_over.emplace_back();
  mine.blocks = small_blocks;
  std::copy_n(shelves_kept, kSizes, mine.shelves);
  small_blocks = {};
  std::fill_n(shelves_kept, kSizes, 0u);
}

void TakeOverSmallBlocks() {
  several_threads.store(true, std::memory_order_relaxed);
  std::lock_guard lock(handed_over_mutex);
  if (handed_over.empty()) return;
  small_blocks = handed_over.back().blocks;
  std::copy_n(handed_over.back().shelves, kSizes, shelves_kept);
  handed_over.pop_back();
}

// ---------------------------------------------------------------- for tests

#ifdef DFC_VERIFY
namespace {

std::atomic<uint64_t> allocations{0};
std::atomic<uint64_t> failing_allocation{0};

}  // namespace

void FailAllocation(uint64_t number) {
  allocations.store(0);
  failing_allocation.store(number);
}
uint64_t CountedAllocations() { return allocations.load(); }
void CountAllocation() {
  bool runs = counters.limit != INT64_MAX;  // see LimitScope and Budget
  if (runs && allocations.fetch_add(1) + 1 == failing_allocation.load()) throw std::bad_alloc();
}
#else
void FailAllocation(uint64_t) {}
uint64_t CountedAllocations() { return 0; }
#endif

// ---------------------------------------------------------------- what the system refuses

namespace {

std::atomic<uint64_t> at_refusal{0};

}  // namespace

void NoteRefusal() noexcept { at_refusal.store(std::max<uint64_t>(Resident(), 1), std::memory_order_relaxed); }
void RefusedBySystem() {
  NoteRefusal();
  throw std::bad_alloc();
}
uint64_t MemoryAtRefusal() { return at_refusal.load(std::memory_order_relaxed); }
// Each call of a graph asks for it, on any thread: most often there is nothing to write.
void ForgetRefusal() {
  if (at_refusal.load(std::memory_order_relaxed)) at_refusal.store(0, std::memory_order_relaxed);
}

// ---------------------------------------------------------------- several threads

Budget::Budget(uint64_t bytes, uint32_t threads)
    : bytes_(static_cast<int64_t>(std::min<uint64_t>(bytes, INT64_MAX))), threads_(threads), shares_(new Share[threads]) {}

void Budget::Join(uint32_t share, int64_t base) {
  counters.budget = this;
  counters.share = share;
  shares_[share].base = base;
  Publish();
}

// What is left, after the calling thread's part was published.
int64_t Budget::Left() {
  Share& mine = shares_[counters.share];
  mine.used.store(counters.current - mine.base, std::memory_order_relaxed);
  int64_t used = 0;
  for (uint32_t i = 0; i < threads_; ++i) used += shares_[i].used.load(std::memory_order_relaxed);
  RaiseTo(peak_, used, std::memory_order_relaxed);
  return bytes_ - used;
}

void Budget::Publish() { counters.limit = counters.current + std::max<int64_t>(0, Left()) / (2 * int64_t{threads_}); }

bool Budget::Raise(size_t bytes) {
  int64_t left = Left();
  if (left < 0 || static_cast<uint64_t>(left) < bytes) return false;
  counters.limit = counters.current + std::max<int64_t>(static_cast<int64_t>(bytes), left / (2 * int64_t{threads_}));
  return true;
}

bool RaiseLimit(size_t bytes) { return counters.budget && counters.budget->Raise(bytes); }

namespace {

// GMP offers no way back from a failed allocation, so these count without refusing; what could be large was
// estimated before (see kernels.h). Only when the machine itself has no memory left is there nothing to do
// but end.
[[noreturn]] void NoMemory() {
  std::fprintf(stderr, "error: the system gives no more memory: the process has %llu MiB\n",
               static_cast<unsigned long long>(Resident() >> 20));
  std::_Exit(3);
}

// With what the C library has beside a block of its own: of numbers of some hundred digits it is a twentieth.
size_t Counted(size_t bytes) {
  constexpr size_t kHeader = 16;
  return bytes > kLargestSmall ? bytes + kHeader : bytes;
}

void CountWithoutLimit(size_t bytes) {
  Counters& c = counters;
  c.current += static_cast<int64_t>(bytes);
  if (c.current > c.peak) c.peak = c.current;
}

void* GmpAllocate(size_t bytes) {
  long_operation::Shield shield;
  void* block = TakeBlock(bytes);
  if (!block) NoMemory();
  CountWithoutLimit(Counted(bytes));
  long_operation::Took(block, Counted(bytes));
  return block;
}

void* GmpReallocate(void* block, size_t old_bytes, size_t bytes) {
  long_operation::Shield shield;
  long_operation::Gave(block);
  void* moved;
  if (std::min(old_bytes, bytes) > kLargestSmall) {
    moved = std::realloc(block, bytes);
    if (!moved) NoMemory();
  } else {
    moved = TakeBlock(bytes);
    if (!moved) NoMemory();
    std::memcpy(moved, block, std::min(old_bytes, bytes));
    GiveBlock(block, old_bytes);
  }
  Discharge(Counted(old_bytes));
  CountWithoutLimit(Counted(bytes));
  long_operation::Took(moved, Counted(bytes));
  return moved;
}

void GmpFree(void* block, size_t bytes) {
  long_operation::Shield shield;
  long_operation::Gave(block);
  Discharge(Counted(bytes));
  GiveBlock(block, bytes);
}

// Before main, so that no number is made with the one and freed with the other pair of functions.
[[maybe_unused]] const bool installed = [] {
  mp_set_memory_functions(GmpAllocate, GmpReallocate, GmpFree);
  return true;
}();

}  // namespace
}  // namespace df::memory
