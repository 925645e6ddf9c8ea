// runtime/engines/tagged/exec/frameless_ahead.h
//
// What an attempt at a delayed body (code/frameless.h) makes: cells and data, of the operands that its slots hold.
#pragma once

#include "runtime/engines/tagged/code/frameless.h"
#include "runtime/engines/tagged/exec/frameless_path.h"

namespace df::tagged {

constexpr uint32_t kMostAhead = 8;  // a cell's body is followed by at most so many others: a power of two

// What an attempt may do beyond its own body.
struct Ahead {
  Worker& worker;
  const SiteCode* chain;  // the delayed call that was forced
  uint32_t level;         // DelayCell::ahead() of its cell
  uint32_t fuel;          // bodies that may still follow, though nobody has asked for them
  uint32_t* others;       // and that may be run because those force their cells
  uint32_t depth;         // attempts within attempts that may still be made
  uint32_t cells = 0;     // that it has made

  [[gnu::noinline]] bool Fill(DelayCell* cell, bool demanded);
  // Runs the body of a delayed call for which nobody has asked, and gives its value.
  [[gnu::noinline]] bool TryUnasked(const SiteCode& site, const uint32_t* operands, const frameless::Slots& slots, frameless::Path& path,
                                    Value* value);
  // Makes its cell; takes over what those slots own that it captures.
  frameless::Made MakeCell(const SiteCode& site, const uint32_t* list, const frameless::Slots& slots, frameless::Path& path, uint64_t owned);
};

namespace frameless {

// An operand of a list at `to`, where there is no value yet; what is left of `owned`.
inline uint64_t PutOperand(const Value* constants, const Slots& slots, uint32_t operand, Value* to, uint64_t owned) {
  if (operand & kConstant) {
    ::new (to) Value(constants[operand & ~kConstant]);
    return owned;
  }
  uint32_t slot = operand & (kMostFramelessSlots - 1);
  uint64_t bits = slots.bits[slot];
  auto kind = operand & kPlainOperand ? ValueKind::Word : static_cast<ValueKind>(slots.states[slot] & 7);
  if (kind != ValueKind::Word) {
    if (!(owned & BitOf(slot))) ObjectAt(bits)->refs.Retain();
    owned &= ~BitOf(slot);
  }
  ::new (to) Value(Value::Adopt(kind, ObjectAt(bits)));
  return owned;
}

// Of the operands in a list, a constructor's fields.
Made Construct(const Value* constants, const uint32_t* list, uint32_t fields, uint32_t constructor, const Slots& slots, uint64_t owned);
// The same, but for the last field, which is to come.
Made ConstructAllButLast(const Value* constants, const uint32_t* list, uint32_t fields, uint32_t constructor, const Slots& slots,
                         uint64_t owned);

}  // namespace frameless

}  // namespace df::tagged
