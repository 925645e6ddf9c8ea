// runtime/engines/tagged/make/unboxed_maker.h
//
// The unboxed code of one scope, from its scheduled code. Private to make/unboxed_maker.cpp and make/unboxed_make.cpp.
//
// The code of a scope is copied, instruction by instruction, with the slots of each inlined activation put behind those of its
// caller. An argument that the callee does not change stays where the caller has it. A result goes straight into the slot that
// the caller's Got names, and the caller goes on there.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "runtime/engines/tagged/code/code.h"
#include "runtime/engines/tagged/make/unboxed_facts.h"

namespace df::tagged {

inline constexpr int kLeaves = -1;

// What is asked of scheduled code again and again.
struct Facts {
  std::vector<uint8_t> ways;    // by instruction to which one jumps: how many lead there; 2 may be more
  std::vector<bool> is_leaf;    // by scope
  std::vector<std::shared_ptr<const SlotsOnWords>> slots;  // by scope
  bool clean = true;            // Options::clean_words
};

// A test that has been done on all ways to a place, and what came out.
struct KnownTest {
  ScheduledInstr test;  // with the slots of the frame
  bool result = false;
  uint32_t pc = kNone;  // in scheduled code; kNone: no test
};

class UnboxedMaker {
 public:
  // `unrolled`: how many calls of a scope within itself are inlined; kLeaves: only calls of leaves are. `tests`: where a call is
  // not inlined, that may be done at least with the test at the callee's beginning.
  UnboxedMaker(Program& p, ScopeCode& scope, const Facts& facts, int unrolled, bool tests)
      : p_(p), scope_(scope), facts_(facts), unrolled_(unrolled), tests_(tests) {}
  // False if it is too long.
  bool Run();
  // Puts the code behind that of the program.
  void Finish();

 private:
  struct Place {
    const ScopeCode* scope;
    uint32_t first_free;      // slot behind those of the activation
    // Of an activation that has done no more yet than the test at its beginning, with the arguments where the caller has them:
    // where it goes on if that was not all.
    uint32_t full = kNone;    // the same activation with its values in slots of its own
    uint32_t caller = kNone;  // or its caller, which makes the call
    uint32_t call_pc = 0;     // of that
  };
  struct Patch {
    uint32_t at;
    bool second;  // y, not x
    uint32_t activation, pc;
  };

  void Emit(uint32_t activation, uint32_t pc);
  void EmitReal(uint32_t activation, const CallOfWords& call);
  void EmitNext(uint32_t activation, const ScheduledInstr& next);
  void EmitJump(uint32_t activation, uint32_t pc);
  bool MayInline(uint32_t activation, const ScopeCode& callee) const;
  uint32_t Inline(uint32_t activation, const CallOfWords& call, bool moves);
  uint32_t InlineTest(uint32_t activation, const CallOfWords& call);
  uint32_t TestOfReal(uint32_t activation, uint32_t pc, const CallOfWords& call);
  void GoOnInFull(uint32_t activation);
  void AddMove(uint32_t to, uint32_t from);
  bool EndsAtOnce(uint32_t pc) const;
  bool BeginsWithTest(const ScopeCode& scope) const;
  uint32_t PassJumps(uint32_t pc) const {
    while (p_.scheduled.code[pc].op == Scheduled::Jump) pc = p_.scheduled.code[pc].x;
    return pc;
  }
  ScheduledInstr At(uint32_t pc) const { return OnWords(p_, pc); }
  void Forget(uint32_t slot);
  ScheduledInstr TestAt(uint32_t activation, uint32_t pc) const;
  const KnownTest* Find(const ScheduledInstr& test) const;
  const SlotsOnWords& SlotsOf(const ScopeCode& scope) const { return *facts_.slots[scope.id.index]; }
  static void Bind(const SlotsOnWords& of, std::vector<uint16_t>& slots) {
    for (size_t slot = 0; slot < slots.size(); ++slot) slots[slot] = slots[of.source[slot]];
  }
  bool Redirect(uint32_t from, uint32_t to, uint32_t owner, const std::vector<std::pair<uint32_t, uint32_t>>& moves);

  uint16_t Slot(uint32_t activation, uint32_t slot) const { return unboxed_.activations[activation].slots[slot]; }
  uint16_t Reserve(uint32_t slot) {
    num_slots_ = std::max(num_slots_, slot + 1);
    return static_cast<uint16_t>(slot);
  }
  ScheduledInstr& Add(Scheduled op, uint32_t d = 0, uint32_t a = 0, uint32_t b = 0) {
    if (KindOf(op) != WordKind::Branch && KindOf(op) != WordKind::Branch1 && KindOf(op) != WordKind::Branch2) Forget(d);
    code_.push_back(InstrOf(op, d, a, b));
    unboxed_.points.push_back(point_);
    owners_.push_back(point_.activation);
    return code_.back();
  }

  Program& p_;
  ScopeCode& scope_;
  const Facts& facts_;
  const int unrolled_;
  const bool tests_;
  UnboxedCode unboxed_;
  std::vector<Place> places_;   // by activation
  std::vector<ScheduledInstr> code_;
  std::vector<uint32_t> owners_;  // by instruction: the activation whose slot it writes
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> start_;  // by activation and instruction of scheduled code
  std::vector<Patch> patches_;
  struct Todo {
    uint32_t activation, pc;
    std::vector<KnownTest> known;
  };
  std::vector<Todo> todo_;
  std::vector<KnownTest> known_;  // of the code that is emitted
  UnboxedPoint point_{};
  uint32_t run_ = 0;            // since this instruction nothing jumps into the code
  uint32_t num_slots_ = 0;
};

}  // namespace df::tagged
