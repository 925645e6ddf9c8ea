// runtime/engines/tagged/x86/runtime_calls.h
//
// What native code calls where an instruction of scheduled code is more than a few machine instructions. Native code has no tables
// for exceptions: what one of these would throw is kept (Worker::native_failure), and thrown again once native code has been left.
#pragma once

#include <cstdint>

#include "runtime/engines/tagged/code/machine_code.h"

namespace df {

struct Object;
struct TagNode;

namespace tagged {

struct RuntimeCalls {
  // Does the instruction `at` of the frame with these slots. 0: it did nothing, and native code has to be left.
  using Does = uint64_t (*)(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept;
  static uint64_t Apply(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept;      // Apply, ApplyOpen, and what Apply does for others
  static uint64_t ApplyMany(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept;
  static uint64_t Defer(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept;
  static uint64_t Fields(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept;     // Field, TwoFields, Fields
  static uint64_t Construct(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept;
  static uint64_t Delay(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept;
  static uint64_t Capture(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept;
  static uint64_t MoveMany(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept;
  static uint64_t GiveTag(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept;    // to the frame
  // Of the two Integers of a branch, not both words: below, at or above 0.
  static uint64_t Order(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept;

  // Does it, and says where native code goes on, with NativeRun::slots.
  using Goes = const void* (*)(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept;
  static const void* Force(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept;
  static const void* Return(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept;  // Return, ReturnConstant, ReturnOpen
  static const void* ReturnMany(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept;
  static const void* Next(NativeRun* run, const ScheduledInstr* at, uint64_t* slots) noexcept;

  static void Release(NativeRun* run, Object* object) noexcept;  // gives one count back
  static void DropTag(NativeRun* run, TagNode* tag) noexcept;
  static void FreeCell(NativeRun* run, DelayCell* cell) noexcept;  // whose body is done, and that nobody refers to
  static void* Allocate(NativeRun* run, uint64_t bytes) noexcept;  // for Data; null, and a failure, if there is no memory
  static void Free(NativeRun* run, void* block, uint64_t bytes) noexcept;  // of Data

 private:
  template <typename Act>
  static uint64_t Do(NativeRun* run, const ScheduledInstr* at, uint64_t* slots, Act act) noexcept;
  template <typename Act>
  static const void* Go(NativeRun* run, const ScheduledInstr* at, uint64_t* slots, Act act) noexcept;
  static void Begin(NativeRun* run, const ScheduledInstr* at, uint64_t* slots);
  static void End(NativeRun* run);
};

}  // namespace tagged
}  // namespace df
