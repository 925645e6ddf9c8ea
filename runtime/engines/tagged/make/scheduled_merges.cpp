// Merges that only move a value on its way to where it is returned or matched. Two branches, one within the other, leave
//
//     7 MoveOpen s16 = s12        and  1 Nullary s20 = GT        of which remain  7 ReturnOpen s12  and  1 Jump 9
//     8 MoveOpen s18 = s16             2 MoveOpen s21 = s20
//     9 ReturnOpen s18                 3 ChooseMatch s21 -> .., 8
//                                      8 Drop s21
//
// The frame stands before the merges then, which is all the same: nothing between there and the end can fail or wait, and what is
// given up holds nothing. Where the slots are plain, as of a type all of whose constructors are numbers, nothing is given up: nobody
// else may read them.
#include "runtime/engines/tagged/code/scheduled.h"
#include "runtime/engines/tagged/make/scheduled_maker.h"

namespace df::tagged {

namespace {

constexpr uint32_t kMostMoves = 16;  // that are followed

struct Place {
  uint32_t slot, at;
};

// Where `slot` is when what runs from `at` on does more than move it, and what does. With `once` no move is followed to other slots.
Place BehindMoves(const std::vector<ScheduledInstr>& code, uint32_t slot, uint32_t at, const std::vector<bool>* once = nullptr) {
  for (uint32_t steps = 0; steps < kMostMoves; ++steps) {
    const ScheduledInstr& in = code[at];
    if (in.op == Scheduled::Jump) {
      at = in.x;
    } else if ((in.op == Scheduled::MoveOpen && in.a == (slot | kLastUse)) || (in.op == Scheduled::Move && in.a == slot && (!once || (*once)[in.d]))) {
      slot = in.d;
      ++at;
    } else {
      break;
    }
  }
  return {slot, at};
}

// Where a match of the constructor `which` in `slot` leads, if the value is given up there at once; else kNone.
uint32_t BehindMatch(ScheduledCode& scheduled, const ScheduledInstr& match, uint32_t slot, int64_t which) {
  std::vector<ScheduledInstr>& code = scheduled.code;
  uint32_t to = kNone;
  if (match.op == Scheduled::BranchMatch && match.a == slot) to = which == 0 ? match.x : match.y;
  if (match.op == Scheduled::ChooseMatch && match.a == slot && which < match.b)
    to = scheduled.operands[match.x + static_cast<uint32_t>(which)];
  if (to == kNone) return kNone;
  for (uint32_t at = to; code[at].op == Scheduled::Drop; ++at) {
    if (code[at].a != slot) continue;
    std::swap(code[to], code[at]);  // in which order is all the same
    return to + 1;
  }
  return kNone;
}

// Where a choice by the word `which` in a plain `slot` leads; else kNone.
uint32_t BehindChoice(const ScheduledCode& scheduled, const ScheduledInstr& choice, uint32_t slot, int64_t which) {
  if (choice.a != slot) return kNone;
  if (choice.op == Scheduled::Branch) return which ? choice.x : choice.y;
  if (choice.op == Scheduled::Choose && which >= 0 && which < choice.b) return scheduled.operands[choice.x + static_cast<uint32_t>(which)];
  return kNone;
}

}  // namespace

void PassMerges(ScheduledCode& scheduled, uint32_t begin, uint32_t end_of_code, const std::vector<bool>& once) {
  std::vector<ScheduledInstr>& code = scheduled.code;
  auto returns = [&](const Place& place) {
    const ScheduledInstr& in = code[place.at];
    return (in.op == Scheduled::Return || in.op == Scheduled::ReturnOpen) && in.a == place.slot;
  };
  auto become = [&](uint32_t at, Scheduled op, uint32_t from, const Place& end) {
    code[at] = code[end.at];
    code[at].op = op;
    code[at].a = static_cast<uint16_t>(from);
  };
  for (uint32_t at = begin; at < end_of_code; ++at) {
    ScheduledInstr& in = code[at];
    switch (in.op) {
      case Scheduled::Jump: {
        uint32_t end = in.x;
        if (Scheduled op = code[end].op; op != Scheduled::Return && op != Scheduled::ReturnOpen && op != Scheduled::ReturnConstant) break;
        in = code[end];
        scheduled.pc_of[at] = scheduled.pc_of[end];
        scheduled.state_of[at] = scheduled.state_of[end];
        break;
      }
      case Scheduled::MoveOpen:
        if (!(in.a & kLastUse)) break;
        if (Place end = BehindMoves(code, in.d, at + 1); returns(end)) become(at, Scheduled::ReturnOpen, in.a & ~kLastUse, end);
        break;
      case Scheduled::Move:
      case Scheduled::Widen:
        if (Place end = BehindMoves(code, in.d, at + 1); returns(end)) become(at, Scheduled::Return, in.a, end);
        break;
      case Scheduled::Load: {
        if (!once[in.d]) break;
        Place end = BehindMoves(code, in.d, at + 1, &once);
        if (uint32_t to = BehindChoice(scheduled, code[end.at], end.slot, in.imm); to != kNone) {
          in = InstrOf(Scheduled::Jump, 0, 0, 0);
          in.x = to;
        }
        break;
      }
      case Scheduled::Nullary: {
        Place end = BehindMoves(code, in.d, at + 1);
        int64_t which = in.imm;
        if (which != static_cast<int16_t>(which)) break;
        if (returns(end)) {
          become(at, Scheduled::ReturnConstant, 0, end);
          in.d = static_cast<uint16_t>(which);
        } else if (uint32_t to = BehindMatch(scheduled, code[end.at], end.slot, which); to != kNone) {
          in = InstrOf(Scheduled::Jump, 0, 0, 0);
          in.x = to;
        }
        break;
      }
      default: break;
    }
  }
}

}  // namespace df::tagged
