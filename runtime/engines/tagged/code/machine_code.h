// runtime/engines/tagged/code/machine_code.h
//
// Native code (docs/tagged-engine/machine-code.md): scheduled, frameless and unboxed code as machine code of x86-64. It does what an instruction does when
// nothing is in its way; where something is (no frame left, limits to be looked at, a failure), it stops before the instruction has
// done anything, and the interpreters of scheduled code and unboxed code do that one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "runtime/base/memory.h"
#include "runtime/engines/tagged/code/scheduled.h"

namespace df {
class Value;
}

namespace df::tagged {

struct DelayCell;
struct FramelessRun;
struct Frame;
struct Options;
struct Program;
struct Worker;

// What a worker and native code hand each other.
struct NativeRun {
  Worker* worker = nullptr;
  Frame** free_lists = nullptr;      // of the worker's pool
  uint64_t* slots = nullptr;         // of the frame that runs
  const ScheduledInstr* at = nullptr;   // afterwards: what is to be done next; null: the worker has nothing more to do here
  uint64_t budget = 0;               // Worker::budget
  int64_t frames = 0;                // afterwards: frames made less frames given back
  memory::Counters* counters = nullptr;  // of this thread
  memory::SmallBlocks* blocks = nullptr;
  uint8_t* unboxed_rest = nullptr;     // Worker::unboxed_rest
  void** cell_lists = nullptr;       // of free delayed calls
  const DelayCell* goal = nullptr;   // Worker::goal
  const Value* constants = nullptr;  // of the run
  // These change only where native code has called something else.
  uint32_t sharing = 0;              // Sharing()
  uint32_t unpins = 0;               // whether Worker::unpins has any
  uint32_t poll = 0;                 // Worker::poll_due
  // Of NativeCode.
  const uint32_t* entries = nullptr;
  const ScheduledInstr* first = nullptr;
  const uint8_t* base = nullptr;
  // Added to: by delayed calls,
  uint64_t delays = 0, cells_gone = 0, released = 0, calls = 0, max_depth = 0;
  // and with Options::count also by others.
  uint64_t regions = 0, firings = 0, loops = 0;
};

class NativeCode {
 public:
  // Machine code for the instruction, if one can enter there: most of scheduled code, but not between a Call and its Enter; of unboxed code
  // the beginning, a loop's iteration, what stands behind a call. Or null.
  const void* EntryAt(const ScheduledInstr* at) const {
    uint32_t offset = entries_[static_cast<size_t>(at - first_)];
    return offset ? base_ + offset : nullptr;
  }
  // Where a function that native code has called sends it to be left.
  const void* Left() const { return base_ + left_; }
  // UBSan would look for the type of a function in front of its code, where there is nothing.
#ifdef __clang__
  [[clang::no_sanitize("function")]]
#endif
  void Run(NativeRun& run, const void* entry) const {
    run.entries = entries_.data();
    run.first = first_;
    run.base = base_;
    enter_(&run, entry);
  }
  // The same of frameless code: any instruction of a body.
  const void* FramelessEntryAt(const ScheduledInstr* at) const {
    uint32_t offset = frameless_entries_[static_cast<size_t>(at - first_frameless_)];
    return offset ? base_ + offset : nullptr;
  }
#ifdef __clang__
  [[clang::no_sanitize("function")]]
#endif
  void RunFrameless(FramelessRun& run, const void* entry) const { enter_frameless_(&run, entry); }

 private:
  friend void MakeNative(Program& program, uint32_t most, llvm::function_ref<void()> pause);
  std::shared_ptr<void> owner_;         // of the memory
  const uint8_t* base_ = nullptr;
  void (*enter_)(NativeRun* run, const void* entry) = nullptr;
  const ScheduledInstr* first_ = nullptr;  // of all code
  std::vector<uint32_t> entries_;       // by instruction: offset from `base_`, or 0
  uint32_t left_ = 0;                   // NativeProgram::left
  void (*enter_frameless_)(FramelessRun* run, const void* entry) = nullptr;
  const ScheduledInstr* first_frameless_ = nullptr;
  std::vector<uint32_t> frameless_entries_;  // by instruction of frameless code
};

// Makes native code of all unboxed code, of the scheduled code of as many scopes as have `most` instructions together, those with most
// ScopeCode::steps first, and of as much frameless code; all code stands where it will stay. Without any where the system refuses memory
// that can be executed. Throws std::bad_alloc, and what `pause` throws, which is called now and then.
// Null where there is none for this kind of processor.
inline void (*make_native)(Program& program, uint32_t most, llvm::function_ref<void()> pause) = nullptr;

}  // namespace df::tagged
