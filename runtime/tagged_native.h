// runtime/tagged_native.h
//
// Native code (docs/tagged-engine.md): word code as machine code of x86-64. It does what an instruction of word code does when
// nothing is in its way; where something is (no frame left, limits to be looked at, a number that is too large, a caller in
// other code), it stops before the instruction has done anything, and RunWords does that one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "runtime/tagged_direct.h"

namespace df::tagged {

struct Frame;
struct Options;
struct Program;

// What a worker and native code hand each other.
struct NativeRun {
  Frame** free_lists = nullptr;      // of the worker's pool
  uint64_t* slots = nullptr;         // of the frame that runs
  const DirectInstr* at = nullptr;   // afterwards: what is to be done next
  uint64_t budget = 0;               // Worker::budget_
  int64_t frames = 0;                // afterwards: frames made less frames given back
  // Added to; only with Options::count.
  uint64_t regions = 0, firings = 0, calls = 0, loops = 0, max_depth = 0;
};

class NativeCode {
 public:
  // Machine code for the instruction, if one can enter there: the beginning of a scope's word code, a loop's iteration, what stands
  // behind a call. Or null.
  const void* EntryAt(const DirectInstr* at) const {
    uint32_t offset = entries_[static_cast<size_t>(at - first_)];
    return offset ? base_ + offset : nullptr;
  }
  // UBSan would look for the type of a function in front of its code, where there is nothing.
#ifdef __clang__
  [[clang::no_sanitize("function")]]
#endif
  void Run(NativeRun& run, const void* entry) const {
    enter_(&run, entry);
  }

 private:
  friend void MakeNative(Program& program, llvm::function_ref<void()> pause);
  std::shared_ptr<void> owner_;         // of the memory
  const uint8_t* base_ = nullptr;
  void (*enter_)(NativeRun* run, const void* entry) = nullptr;
  const DirectInstr* first_ = nullptr;  // word code's
  std::vector<uint32_t> entries_;       // by instruction of word code: offset from `base_`, or 0
};

#ifdef DFC_NATIVE
// Makes native code of all word code, which stands where it will stay. Without any where the system refuses memory that can be
// executed. Throws std::bad_alloc, and what `pause` throws, which is called now and then.
void MakeNative(Program& program, llvm::function_ref<void()> pause);
#else
inline void MakeNative(Program&, llvm::function_ref<void()>) {}  // another kind of processor
#endif

}  // namespace df::tagged
