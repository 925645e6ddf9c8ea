// Scheduled code and frameless code -> machine code: what computes on words, and what branches.
#include "runtime/engines/tagged/x86/slots.h"

#include <algorithm>

#include "runtime/engines/tagged/code/scheduled_data.h"
#include "runtime/engines/tagged/x86/layout.h"

namespace df::tagged {

using Xbyak::CodeGenerator;
using Xbyak::Reg64;
using Xbyak::Xmm;
using namespace Xbyak::util;

void NativeSlots::LoadConstant(const Reg64& to, uint32_t index, const Value& constant) {
  if (!constant.counted()) return Constant(to, constant.word());
  as_.mov(to, Constants());
  as_.mov(to, ptr[to + static_cast<int>(index * sizeof(Value)) + kBits]);
}

bool NativeSlots::EmitCommon(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  switch (in.op) {
    case Scheduled::Load:
      Constant(rax, in.imm);
      as_.mov(Slot(in.d), rax);
      return true;
    case Scheduled::Nullary:
      Constant(rax, in.imm);
      as_.mov(Slot(in.d), rax);
      as_.mov(State(in.d), kWord);
      return true;
    case Scheduled::Widen:
      Copy(in.d, in.a);
      as_.mov(State(in.d), kWord);
      return true;
    case Scheduled::Branch:
      as_.cmp(Slot(in.a), 0);
      EmitSides(at, kNotEqual);
      return true;
    case Scheduled::BranchMatch:
      ReadConstructor(in.a);
      as_.test(eax, eax);
      EmitSides(at, kEqual);
      return true;
    case Scheduled::Choose:
    case Scheduled::ChooseMatch: EmitChoose(at); return true;
    case Scheduled::Jump:
      if (in.x != at + 1) GoTo(in.x);
      return true;
    default: return EmitComputed(at);
  }
}

// ---------------------------------------------------------------- words

Reg64 NativeSlots::Word(uint32_t slot, const Reg64& aside) {
  as_.mov(aside, Slot(slot));
  return aside;
}

Xmm NativeSlots::Double(uint32_t slot, const Xmm& aside) {
  as_.movsd(aside, Slot(slot));
  return aside;
}

void NativeSlots::SetWord(uint32_t slot, llvm::function_ref<void(const Reg64& to)> make) {
  make(r8);
  as_.mov(Slot(slot), r8);
}

void NativeSlots::SetDouble(uint32_t slot, llvm::function_ref<void(const Xmm& to)> make) {
  make(xmm2);
  as_.movsd(Slot(slot), xmm2);
}

void NativeSlots::Copy(uint32_t to, uint32_t from) {
  as_.mov(rax, Slot(from));
  as_.mov(Slot(to), rax);
}

// What has instructions of its own in code/scheduled_ops.def. False: it is something else.
bool NativeSlots::EmitComputed(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  Decoded op = Decode(in.op);
  switch (op.form) {
    case NativeForm::Other: return false;
    case NativeForm::BranchSlotSlot:
    case NativeForm::BranchSlotConstant: EmitBranch(at, op); return true;
    case NativeForm::Unary: EmitUnary(in, op.op); return true;
    default: break;
  }
  if (op.integer) EmitIntegers(at, op);
  else EmitArithmetic(in, at, op);
  return true;
}

void NativeSlots::EmitIntegers(uint32_t at, const Decoded& op) {
  ScheduledInstr in = code_[at];
  in.a &= static_cast<uint16_t>(~kLastUse);
  if (op.form == NativeForm::SlotSlot) in.b &= static_cast<uint16_t>(~kLastUse);
  as_.cmp(State(in.a), kWord);
  as_.jne(LargeAt(at));
  if (op.form == NativeForm::SlotSlot) {
    as_.cmp(State(in.b), kWord);
    as_.jne(LargeAt(at));
  }
  large_ = true;
  EmitArithmetic(in, at, op);
  large_ = false;
  if (!IsComparison(op.op)) as_.mov(State(in.d), kWord);
}

void NativeSlots::EmitBranch(uint32_t at, const Decoded& op) {
  const ScheduledInstr& in = code_[at];
  bool slots = op.form == NativeForm::BranchSlotSlot;
  if (op.integer) {
    const Xbyak::Label& large = LargeBranchAt(at);
    as_.cmp(State(in.a), kWord);
    as_.jne(large);
    if (slots) {
      as_.cmp(State(in.b), kWord);
      as_.jne(large);
    }
  }
  if (slots) {
    as_.mov(rax, Slot(in.a));
    as_.cmp(rax, Slot(in.b));
  } else {
    as_.cmp(Slot(in.a), static_cast<uint32_t>(int32_t{static_cast<int16_t>(in.b)}));
  }
  EmitSides(at, ConditionOf(op.op));
}

// Flags are set: to x on the condition, else to y.
void NativeSlots::EmitSides(uint32_t at, uint8_t condition) {
  const ScheduledInstr& in = code_[at];
  if (in.x == at + 1) return GoToIf(condition ^ 1, in.y);
  GoToIf(condition, in.x);
  if (in.y != at + 1) GoTo(in.y);
}

void NativeSlots::EmitChoose(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  if (in.op == Scheduled::Choose) as_.mov(rax, Slot(in.a));
  else ReadConstructor(in.a);
  as_.cmp(rax, static_cast<uint32_t>(in.b));
  as_.jae(FailureAt(at));
  const uint32_t* targets = lists_.data() + in.x;
  // Halves of halves; no target has several jumps one behind the other.
  auto choose = [&](auto&& self, uint32_t begin, uint32_t end) -> void {
    if (std::all_of(targets + begin, targets + end, [&](uint32_t target) { return target == targets[begin]; })) return GoTo(targets[begin]);
    uint32_t middle = begin + (end - begin) / 2;
    as_.cmp(eax, middle);
    Xbyak::Label upper;
    as_.jae(upper);
    self(self, begin, middle);
    as_.L(upper);
    self(self, middle, end);
  };
  choose(choose, 0, in.b);
}

void NativeSlots::ReadConstructor(uint32_t slot) {
  Xbyak::Label word_is;
  as_.mov(rax, Slot(slot));
  as_.cmp(State(slot), kWord);
  as_.je(word_is, CodeGenerator::T_SHORT);
  as_.movzx(eax, word[rax + offsetof(Object, constructor)]);
  as_.L(word_is);
}

// ---------------------------------------------------------------- ways

void NativeSlots::GoTo(uint32_t target) {
  as_.db(0xe9);
  jumps_.emplace_back(static_cast<uint32_t>(as_.getSize()), target);
  as_.dd(0);
}

void NativeSlots::GoToIf(uint8_t condition, uint32_t target) {
  as_.db(0x0f);
  as_.db(0x80 | condition);
  jumps_.emplace_back(static_cast<uint32_t>(as_.getSize()), target);
  as_.dd(0);
}

void NativeSlots::Link() {
  for (auto [at, target] : jumps_) as_.rewrite(at, offset_[target] - (at + 4), 4);
}

void NativeSlots::CallAt(uint32_t offset) {
  as_.db(0xe8);
  as_.dd(offset - static_cast<uint32_t>(as_.getSize()) - 4);
}

void NativeSlots::JumpAt(uint32_t offset) {
  as_.db(0xe9);
  as_.dd(offset - static_cast<uint32_t>(as_.getSize()) - 4);
}

void NativeSlots::JumpAtIf(uint8_t condition, uint32_t offset) {
  as_.db(0x0f);
  as_.db(0x80 | condition);
  as_.dd(offset - static_cast<uint32_t>(as_.getSize()) - 4);
}

}  // namespace df::tagged
