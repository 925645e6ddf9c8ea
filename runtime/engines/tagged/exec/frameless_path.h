// runtime/engines/tagged/exec/frameless_path.h
//
// What an attempt at a delayed body works on: its slots, with borrowed values, and its place among the tags. Private to
// exec/frameless_interpreter.cpp and exec/frameless_ahead.cpp.
#pragma once

#include <bit>
#include <exception>
#include <utility>

#include "runtime/engines/tagged/code/frameless.h"
#include "runtime/engines/tagged/code/scheduled_data.h"

namespace df::tagged::frameless {

constexpr uint32_t kMostKept = 32;  // objects that bodies make and that are no part of what comes of them
constexpr uint32_t kMostRuns = 4;   // of labels, of the bodies of a chain

// What a reference that has been evaluated stands for, or the value itself.
inline void Resolve(uint64_t& bits, uint8_t& state) {
  while (state == kReference) {
    Object* object = ObjectAt(bits);
    if (object->kind != ObjectKind::Delay || !CellAt(bits)->IsFull()) return;
    const Value& held = CellAt(bits)->value();
    bits = BitsOf(held);
    state = StateOf(held);
  }
}
inline uint32_t ConstructorAt(uint64_t bits, uint8_t state) {
  return state == kWord ? static_cast<uint32_t>(bits) : DataAt(bits)->constructor;
}

// The slots of a body, with borrowed values. As in a frame, nobody looks at the state of a plain one.
struct Slots {
  uint64_t bits[kMostFramelessSlots];
  uint8_t states[kMostFramelessSlots];
};

// What an attempt works on: the slots of the body that runs and of the one before it in a chain, and what has to live as long.
struct Space {
  Slots slots[2];
  Object* kept[kMostKept];
  uint32_t num_kept = 0;
};


// Objects that a body has made belong to it: a bit per slot. When one becomes a part of a constructor, it belongs to that.
inline uint64_t BitOf(uint32_t slot) { return uint64_t{1} << slot; }

[[gnu::noinline]] inline void Release(const Slots& slots, uint64_t owned, Space& space) {
  for (; owned; owned &= owned - 1) Value::Adopt(ValueKind::Object, ObjectAt(slots.bits[std::countr_zero(owned)]));
  for (; space.num_kept; --space.num_kept) Value::Adopt(ValueKind::Object, space.kept[space.num_kept - 1]);
}

// Puts the captured values where the body expects them. The operands are those of a Delay in scheduled code.
inline void Capture(const std::vector<Value>& constants, const SiteCode& site, const uint32_t* operands, const uint64_t* s, const uint8_t* k,
                    Slots& to) {
  for (const Delivery& d : site.together) {
    uint32_t operand = *operands++;
    if (d.to == kNone) continue;
    if (operand & kConstant) {
      const Value& constant = constants[operand & ~kConstant];
      to.bits[d.to] = BitsOf(constant);
      to.states[d.to] = StateOf(constant);
      continue;
    }
    to.bits[d.to] = s[operand & kOperandIndex];
    to.states[d.to] = operand & kPlainOperand ? kWord : kPresent | (k[operand & kOperandIndex] & 7);
  }
}
inline void Capture(const DelayCell& cell, Slots& to) {
  const Value* operand = cell.operands();
  for (const Delivery& d : cell.site->together) {
    if (d.to != kNone) {
      to.bits[d.to] = BitsOf(*operand);
      to.states[d.to] = StateOf(*operand);
    }
    ++operand;
  }
}

// What is made, and the slots that still own an object.
struct Made {
  Object* object;
  uint64_t owned;
};

// The tag of the body that is attempted, which has a node once a cell needs it. The bodies of a chain are most often all of the
// same site: what is kept is each site and how often it follows itself.
class Path {
 public:
  Path(const SiteCode& site, TagNode* outer) : outer_(outer) { runs_[0] = {&site, 1}; }
  Path(const SiteCode& site, Path* around) : around_(around) { runs_[0] = {&site, 1}; }
  ~Path() { DropTag(own_); }
  Path(const Path&) = delete;
  Path& operator=(const Path&) = delete;
  // The next body of a chain. False: it is one too many.
  bool Enter(const SiteCode& site) {
    Run* last = runs_ + last_;
    if (last->site == &site) {
      ++last->count;
      return true;
    }
    if (last_ + 1 == kMostRuns) return false;
    ++last_;
    last[1] = {&site, 1};
    return true;
  }
  // The same where the site is that of the body before, so many times.
  void Again(uint32_t times) { runs_[last_].count += times; }
  // Back to the body before.
  void Leave() {
    if (--runs_[last_].count == 0) --last_;
    if (!own_) return;
    DropTag(std::exchange(own_, nullptr));
    made_ = 0;
    made_of_run_ = 0;
  }
  TagNode* Tag() {
    for (;;) {
      const Run& run = runs_[made_];
      if (made_of_run_ != run.count) {
        TagNode* rest = own_ ? own_ : around_ ? around_->Tag() : outer_;
        TagNode* next = NewTags({run.site->label, false, 0}, run.count - made_of_run_, rest);
        DropTag(std::exchange(own_, next));
        made_of_run_ = run.count;
      }
      if (made_ == last_) return own_;
      ++made_;
      made_of_run_ = 0;
    }
  }

 private:
  struct Run {
    const SiteCode* site;
    uint32_t count;
  };
  TagNode* outer_ = nullptr;  // of its Delay
  Path* around_ = nullptr;    // or the body in which that stands
  TagNode* own_ = nullptr;    // with the labels of the runs before `made_`, and of so many of that
  uint32_t last_ = 0, made_ = 0, made_of_run_ = 0;
  Run runs_[kMostRuns];       // outermost first
};

}  // namespace df::tagged::frameless

namespace df::tagged {

// What the interpreter of frameless code and native code hand each other.
struct FramelessRun {
  const ScheduledInstr* at = nullptr;       // afterwards: what is to be done next; null: the body has given its value
  frameless::Slots* slots = nullptr;         // of the body that runs
  uint64_t owned = 0;                    // a bit for each of them that owns an object
  Value* hole = nullptr;                 // where the value goes
  const FramelessChain* step = nullptr;      // by which the body that runs was begun, if by any
  const ScheduledInstr* attempt = nullptr;  // afterwards: the Try of the instruction `at`
  uint32_t again = 0;                    // added to: how often `step` followed itself
  bool first = false;                    // afterwards: `step` was begun with, as there was none
  bool demanded = false;
  uint32_t sharing = 0;                  // Sharing()
  uint64_t both = 0;                     // the sum of the addresses of both sets of slots
  frameless::Space* space = nullptr;
  uint32_t* fuel = nullptr;              // Ahead::fuel
  memory::Counters* counters = nullptr;  // of this thread
  memory::SmallBlocks* blocks = nullptr;
  const Value* constants = nullptr;      // of the run
  std::exception_ptr failure;            // why there was no memory: native code has no tables for exceptions
};

}  // namespace df::tagged
