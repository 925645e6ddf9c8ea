// runtime/engines/tagged/code/cell.h
//
// Delayed calls: what a reference refers to. Private to the tagged engine.
#pragma once

#include <algorithm>
#include <mutex>
#include <thread>

#include "runtime/engines/tagged/code/code.h"
#include "runtime/engines/tagged/code/frame.h"

namespace df {

// Gives back a delayed call that nobody refers to any more.
void FreeDelay(Object* object, DeadObjects& dead);

}  // namespace df

namespace df::tagged {

// A delayed call under one tag: what its reference refers to. The values follow the struct in memory: one place for the
// value of a full cell, which is also that of the first operand, unless operands may come after it; then the operands.
// ahead() is the power of two of how many bodies may follow its own, unasked (exec/frameless_interpreter.cpp).
struct DelayCell : Object {
  enum class State : uint8_t { Kept, Released, Running, Full, Free };
  State state = State::Kept;
  uint8_t locked = 0;         // see CellLock
  uint16_t missing : 14 = 0;  // operands that have not come; while there are any, the frame of the Delay has a ref for this
  uint16_t more_waiters : 1 = 0;   // in Worker::waiters or Team::waiters_
  uint16_t starts_scheduled : 1 = 0;  // its body has scheduled code, its operands are all there, and none has failed
  uint32_t waiter_pc = 0;     // of `waiter`
  const SiteCode* site;
  union {
    TagNode* tag;             // Kept, Released: the tag of the Delay, counted; or its frame, one pin, if the site
    Frame* home;              // keeps that
    Frame* body;              // Running, Full; null when it is finished
  };
  Frame* waiter = nullptr;    // a Force that waits, of the worker that runs the body

  // Without values and tag.
  explicit DelayCell(const SiteCode* s) : Object(ObjectKind::Delay), site(s) {}
  void DropChildren(DeadObjects& dead);

  // What other workers may look at and change at the same time.
  State Now() const { return static_cast<State>(__atomic_load_n(reinterpret_cast<const uint8_t*>(&state), __ATOMIC_ACQUIRE)); }
  void Become(State next) { __atomic_store_n(reinterpret_cast<uint8_t*>(&state), static_cast<uint8_t>(next), __ATOMIC_RELEASE); }
  bool IsFull() const { return Now() == State::Full; }
  // For a frame in scheduled code, under a CellLock.
  bool CanEnter() const { return Now() == State::Kept && starts_scheduled; }  // `locked` may change meanwhile

  Value& value() { return *reinterpret_cast<Value*>(this + 1); }
  const Value& value() const { return *reinterpret_cast<const Value*>(this + 1); }
  // A Dead one has not come.
  Value* operands() { return &value() + site->late_operands; }
  const Value* operands() const { return &value() + site->late_operands; }
  uint32_t num_operands() const { return static_cast<uint32_t>(site->together.size()); }
  uint32_t num_values() const { return site->cell_values; }
  uint32_t Bytes() const { return site->cell_bytes; }
  // Kept where an Object has the number of its fields, which a cell takes from its site.
  uint32_t ahead() const { return few_fields; }
  void set_ahead(uint32_t power) { few_fields = static_cast<uint8_t>(power); }
  bool IsLive() const { return state != State::Free; }
  // What the cells of a site take.
  static void Measure(SiteCode& site) {
    site.cell_values = std::max(static_cast<uint32_t>(site.together.size()) + site.late_operands, 1u);
    site.cell_bytes = static_cast<uint32_t>(sizeof(DelayCell) + site.cell_values * sizeof(Value));
    site.own_place = site.late_operands || site.together.empty();
  }
};
static_assert(sizeof(DelayCell) == 40);

// While it lives no other worker changes the cell's state, operands or waiters.
class CellLock {
 public:
  explicit CellLock(DelayCell* cell) : cell_(Sharing() ? cell : nullptr) {
    while (cell_ && __atomic_test_and_set(&cell_->locked, __ATOMIC_ACQUIRE)) std::this_thread::yield();
  }
  // Without waiting: look at Failed().
  CellLock(DelayCell* cell, std::try_to_lock_t) : cell_(Sharing() ? cell : nullptr) {
    failed_ = cell_ && __atomic_test_and_set(&cell_->locked, __ATOMIC_ACQUIRE);
    if (failed_) cell_ = nullptr;
  }
  ~CellLock() { Unlock(); }
  bool Failed() const { return failed_; }
  bool IsHeld() const { return cell_; }
  void Unlock() {
    if (cell_) __atomic_clear(&cell_->locked, __ATOMIC_RELEASE);
    cell_ = nullptr;
  }
  CellLock(const CellLock&) = delete;
  CellLock& operator=(const CellLock&) = delete;

 private:
  DelayCell* cell_;
  bool failed_ = false;
};

inline Object* ObjectIn(Frame* frame, uint32_t slot) { return reinterpret_cast<Object*>(frame->slots()[slot]); }
inline DelayCell* CellIn(Frame* frame, uint32_t slot) {
  return static_cast<DelayCell*>(ObjectIn(frame, slot));
}
inline DelayCell* CellOf(const Value& reference) {
  return static_cast<DelayCell*>(reference.object());
}

}  // namespace df::tagged
