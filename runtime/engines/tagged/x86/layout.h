// runtime/engines/tagged/x86/layout.h
//
// Where values, constructors and delayed calls have what native code reads and writes. Private to this room.
#pragma once

#include <cstddef>

#include "runtime/engines/tagged/exec/worker.h"

// A DelayCell derives from Object, and is laid out as if it did not.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace df::tagged {

// Of a Value (MakeNative looks whether they are as said here), and from a constructor to its fields.
inline constexpr int kKind = 0, kBits = 8;
inline int FieldAt(uint32_t field) { return static_cast<int>(sizeof(Data) + field * sizeof(Value)); }
static_assert(sizeof(Value) == 16 && sizeof(Object) == 8 && offsetof(Object, refs) == 0 && offsetof(Object, few_fields) == 5 &&
              offsetof(Object, constructor) == 6);
inline constexpr int kObjectKind = 4;  // in its lower 6 bits

// Of a DelayCell.
inline constexpr int kCellState = offsetof(DelayCell, state), kCellLocked = offsetof(DelayCell, locked), kCellWaiterPc = offsetof(DelayCell, waiter_pc),
                     kCellSite = offsetof(DelayCell, site), kCellTag = offsetof(DelayCell, tag), kCellBody = offsetof(DelayCell, body),
                     kCellWaiter = offsetof(DelayCell, waiter), kCellAhead = offsetof(DelayCell, few_fields), kCellValue = sizeof(DelayCell);
// The upper half of the 16 bits before `waiter_pc`: `missing` takes 14 bits.
inline constexpr int kCellFlags = kCellWaiterPc - 1;
inline constexpr uint32_t kMoreWaiters = 0x40, kStartsScheduled = 0x80;

#if defined(DFC_VERIFY) || defined(DFC_SANITIZED)
inline constexpr bool kCountsAlive = true;  // every block is made and freed by functions
#else
inline constexpr bool kCountsAlive = false;
#endif

}  // namespace df::tagged

#pragma GCC diagnostic pop
