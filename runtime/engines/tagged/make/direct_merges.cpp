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
#include "runtime/engines/tagged/code/direct.h"
#include "runtime/engines/tagged/make/direct_maker.h"

namespace df::tagged {

namespace {

constexpr uint32_t kMostMoves = 16;  // that are followed

struct Place {
  uint32_t slot, at;
};

// Where `slot` is when what runs from `at` on does more than move it, and what does. With `once` no move is followed to other slots.
Place BehindMoves(const std::vector<DirectInstr>& code, uint32_t slot, uint32_t at, const std::vector<bool>* once = nullptr) {
  for (uint32_t steps = 0; steps < kMostMoves; ++steps) {
    const DirectInstr& in = code[at];
    if (in.op == Direct::Jump) {
      at = in.x;
    } else if ((in.op == Direct::MoveOpen && in.a == (slot | kLastUse)) || (in.op == Direct::Move && in.a == slot && (!once || (*once)[in.d]))) {
      slot = in.d;
      ++at;
    } else {
      break;
    }
  }
  return {slot, at};
}

// Where a match of the constructor `which` in `slot` leads, if the value is given up there at once; else kNone.
uint32_t BehindMatch(DirectCode& direct, const DirectInstr& match, uint32_t slot, int64_t which) {
  std::vector<DirectInstr>& code = direct.code;
  uint32_t to = kNone;
  if (match.op == Direct::BranchMatch && match.a == slot) to = which == 0 ? match.x : match.y;
  if (match.op == Direct::ChooseMatch && match.a == slot && which < match.b)
    to = direct.operands[match.x + static_cast<uint32_t>(which)];
  if (to == kNone) return kNone;
  for (uint32_t at = to; code[at].op == Direct::Drop; ++at) {
    if (code[at].a != slot) continue;
    std::swap(code[to], code[at]);  // in which order is all the same
    return to + 1;
  }
  return kNone;
}

// Where a choice by the word `which` in a plain `slot` leads; else kNone.
uint32_t BehindChoice(const DirectCode& direct, const DirectInstr& choice, uint32_t slot, int64_t which) {
  if (choice.a != slot) return kNone;
  if (choice.op == Direct::Branch) return which ? choice.x : choice.y;
  if (choice.op == Direct::Choose && which >= 0 && which < choice.b) return direct.operands[choice.x + static_cast<uint32_t>(which)];
  return kNone;
}

}  // namespace

void PassMerges(DirectCode& direct, uint32_t begin, uint32_t end_of_code, const std::vector<bool>& once) {
  std::vector<DirectInstr>& code = direct.code;
  auto returns = [&](const Place& place) {
    const DirectInstr& in = code[place.at];
    return (in.op == Direct::Return || in.op == Direct::ReturnOpen) && in.a == place.slot;
  };
  auto become = [&](uint32_t at, Direct op, uint32_t from, const Place& end) {
    code[at] = code[end.at];
    code[at].op = op;
    code[at].a = static_cast<uint16_t>(from);
  };
  for (uint32_t at = begin; at < end_of_code; ++at) {
    DirectInstr& in = code[at];
    switch (in.op) {
      case Direct::Jump: {
        uint32_t end = in.x;
        if (Direct op = code[end].op; op != Direct::Return && op != Direct::ReturnOpen && op != Direct::ReturnConstant) break;
        in = code[end];
        direct.pc_of[at] = direct.pc_of[end];
        direct.state_of[at] = direct.state_of[end];
        break;
      }
      case Direct::MoveOpen:
        if (!(in.a & kLastUse)) break;
        if (Place end = BehindMoves(code, in.d, at + 1); returns(end)) become(at, Direct::ReturnOpen, in.a & ~kLastUse, end);
        break;
      case Direct::Move:
      case Direct::Widen:
        if (Place end = BehindMoves(code, in.d, at + 1); returns(end)) become(at, Direct::Return, in.a, end);
        break;
      case Direct::Load: {
        if (!once[in.d]) break;
        Place end = BehindMoves(code, in.d, at + 1, &once);
        if (uint32_t to = BehindChoice(direct, code[end.at], end.slot, in.imm); to != kNone) {
          in = InstrOf(Direct::Jump, 0, 0, 0);
          in.x = to;
        }
        break;
      }
      case Direct::Nullary: {
        Place end = BehindMoves(code, in.d, at + 1);
        int64_t which = in.imm;
        if (which != static_cast<int16_t>(which)) break;
        if (returns(end)) {
          become(at, Direct::ReturnConstant, 0, end);
          in.d = static_cast<uint16_t>(which);
        } else if (uint32_t to = BehindMatch(direct, code[end.at], end.slot, which); to != kNone) {
          in = InstrOf(Direct::Jump, 0, 0, 0);
          in.x = to;
        }
        break;
      }
      default: break;
    }
  }
}

}  // namespace df::tagged
