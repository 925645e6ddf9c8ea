// Jumping out of GMP, and the memory it had taken.
#include "runtime/base/long_operation.h"

#include <vector>

#include "runtime/base/interruptible_loops.h"
#include "runtime/base/memory.h"

namespace df {

namespace long_operation {

thread_local constinit State state;

namespace {

struct Block {
  void* at;
  size_t bytes;
};
thread_local std::vector<Block> blocks;  // allocated by the operation; no handler looks at them

// 0 is no Stop to end with: Stop::Done.
Stop Wanted() { return static_cast<Stop>(state.wanted); }

}  // namespace

Shield::~Shield() {
  state.shielded = 0;
  if (state.running && state.wanted) siglongjmp(state.context, 1);
}

void Took(void* at, size_t bytes) {
  if (state.running) blocks.push_back({at, bytes});
}

void Gave(void* at) {
  if (!state.running) return;
  // Mostly the last one.
  for (size_t i = blocks.size(); i-- > 0;) {
    if (blocks[i].at != at) continue;
    blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
}

void Enter() {
  if (state.wanted) throw OperationAborted{Wanted()};
  blocks.clear();
  state.running = 1;
}

void Leave() noexcept { state.running = 0; }

void Abandon() {
  state.running = 0;
  state.shielded = 0;
  for (const Block& block : blocks) memory::Free(block.at, block.bytes);
  blocks.clear();
  throw OperationAborted{Wanted()};
}

}  // namespace long_operation

void AbortLongOperation(Stop stop) noexcept {
  long_operation::State& state = long_operation::state;
  __atomic_store_n(&state.wanted, static_cast<std::sig_atomic_t>(stop), __ATOMIC_RELAXED);  // others may look at it: WorkFor
  if (state.running && !state.shielded) siglongjmp(state.context, 1);
}

void ClearAbort() noexcept { __atomic_store_n(&long_operation::state.wanted, 0, __ATOMIC_RELAXED); }

// ---------------------------------------------------------------- in pieces

namespace {

thread_local constinit Asked other_asked = nullptr;

void Look() {
  if (auto wanted = __atomic_load_n(WhatIAmAsked(), __ATOMIC_RELAXED)) throw OperationAborted{static_cast<Stop>(wanted)};
}
[[maybe_unused]] const bool looks = (look_between_pieces = &Look) != nullptr;

}  // namespace

Asked WhatIAmAsked() { return other_asked ? other_asked : &long_operation::state.wanted; }

WorkFor::WorkFor(Asked other) : before_(other_asked) { other_asked = other; }
WorkFor::~WorkFor() { other_asked = before_; }

}  // namespace df
