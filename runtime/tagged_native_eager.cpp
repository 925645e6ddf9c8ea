// Eager code -> machine code: one instruction after the other, and what computes and branches.
#include "runtime/tagged_native_eager.h"

#include <algorithm>

#include "runtime/tagged_direct_data.h"
#include "runtime/tagged_native_direct.h"

namespace df::tagged {

using Xbyak::Reg64;
using Xbyak::Xmm;
using namespace Xbyak::util;

NativeEagerMaker::NativeEagerMaker(const Program& p, NativeProgram& native)
    : NativeArithmetic(native.assembler), p_(p), native_(native), code_(p.eager.code) {
  made_.resize(code_.size());
  offset_.resize(code_.size());
}

void NativeEagerMaker::Run(uint32_t most, llvm::function_ref<void()> pause) {
  native_.eager_entries.resize(code_.size());
  std::vector<uint32_t> begins;
  for (const ScopeCode& scope : p_.scopes)
    if (scope.eager != kNone) begins.push_back(scope.eager);
  std::sort(begins.begin(), begins.end());
  begins.push_back(static_cast<uint32_t>(code_.size()));
  EmitFrame();
  for (uint32_t fields = 1; fields <= kFewFields; ++fields) EmitAllocate(fields);
  auto is_made = [&, rest = most](size_t i) mutable {
    uint32_t length = begins[i + 1] - begins[i];
    if (length > rest) return false;
    rest -= length;
    return true;
  };
  for (size_t i = 0; i + 1 < begins.size(); ++i)
    if (is_made(i)) std::fill(made_.begin() + begins[i], made_.begin() + begins[i + 1], true);
  for (size_t i = 0; i + 1 < begins.size(); ++i) {
    if (made_[begins[i]]) EmitBody(begins[i], begins[i + 1]);
    pause();
  }
  for (auto [at, target] : jumps_) as_.rewrite(at, offset_[target] - (at + 4), 4);
}

// Called from C++ with the EagerRun and an entry.
void NativeEagerMaker::EmitFrame() {
  as_.align(16);
  native_.enter_eager = static_cast<uint32_t>(as_.getSize());
  as_.push(rbx);
  as_.mov(rax, rsi);
  as_.mov(kSlots, ptr[kRun + offsetof(EagerRun, slots)]);
  as_.mov(kOwned, ptr[kRun + offsetof(EagerRun, owned)]);
  as_.mov(kHole, ptr[kRun + offsetof(EagerRun, hole)]);
  as_.jmp(rax);
  as_.L(leave_);
  as_.mov(ptr[kRun + offsetof(EagerRun, at)], rax);
  as_.mov(ptr[kRun + offsetof(EagerRun, slots)], kSlots);
  as_.mov(ptr[kRun + offsetof(EagerRun, owned)], kOwned);
  as_.mov(ptr[kRun + offsetof(EagerRun, hole)], kHole);
  as_.pop(rbx);
  as_.ret();
}

void NativeEagerMaker::EmitBody(uint32_t begin, uint32_t end) {
  as_.align(16);
  for (uint32_t at = begin; at < end; ++at) {
    if (at == attempt_end_) attempt_ = kNone;
    offset_[at] = static_cast<uint32_t>(as_.getSize());
    native_.eager_entries[at] = offset_[at];
    Emit(at);
  }
  attempt_ = kNone;
  EmitExits();
}

void NativeEagerMaker::Emit(uint32_t at) {
  const DirectInstr& in = code_[at];
  if (EmitComputed(at)) return;
  switch (in.op) {
    case Direct::Load:
      Constant(rax, in.imm);
      as_.mov(Slot(in.d), rax);
      return;
    case Direct::Nullary:
      Constant(rax, in.imm);
      as_.mov(Slot(in.d), rax);
      as_.mov(State(in.d), kWord);
      return;
    case Direct::LoadOpen:
      Constant(rax, p_.constants[in.x].word());
      as_.mov(Slot(in.d), rax);
      as_.mov(State(in.d), StateOf(p_.constants[in.x]));
      return;
    case Direct::MoveOpen:
      as_.movzx(ecx, State(in.a));
      as_.mov(rax, Slot(in.a));
      as_.mov(State(in.d), cl);
      as_.mov(Slot(in.d), rax);
      return;
    case Direct::Widen:
      Copy(in.d, in.a);
      as_.mov(State(in.d), kWord);
      return;
    case Direct::Narrow:
      as_.cmp(State(in.a), kWord);
      as_.jne(ExitTo(at));
      Copy(in.d, in.a);
      return;
    case Direct::Match:
      ReadConstructor(in.a);
      as_.mov(Slot(in.d), rax);
      return;
    case Direct::Field:
    case Direct::FieldPlain:
    case Direct::Fields: return EmitFields(at);
    case Direct::ForceCons: return EmitForceCons(at);
    case Direct::TwoFields: return EmitTwoFields(at, false);
    case Direct::Force:
    case Direct::ForcePlain: return EmitForce(at);
    case Direct::Construct: return EmitConstruct(at);
    case Direct::Try: return EmitTry(at);
    case Direct::Tried:
    case Direct::TriedOpen: return EmitTried(at);
    case Direct::Chain: return EmitChain(at);
    case Direct::Branch:
      as_.cmp(Slot(in.a), 0);
      return EmitSides(at, kNotEqual);
    case Direct::BranchMatch:
      ReadConstructor(in.a);
      as_.test(eax, eax);
      return EmitSides(at, kEqual);
    case Direct::Choose:
    case Direct::ChooseMatch: return EmitChoose(at);
    case Direct::Jump:
      if (in.x != at + 1) GoTo(in.x);
      return;
    case Direct::Return:
    case Direct::ReturnConstant:
    case Direct::ReturnOpen: return EmitReturn(at);
    default: as_.jmp(ExitTo(at)); return;  // Delay and MakeCell
  }
}

// ---------------------------------------------------------------- words

Reg64 NativeEagerMaker::Word(uint32_t slot, const Reg64& aside) {
  as_.mov(aside, Slot(slot));
  return aside;
}

Xmm NativeEagerMaker::Double(uint32_t slot, const Xmm& aside) {
  as_.movsd(aside, Slot(slot));
  return aside;
}

void NativeEagerMaker::SetWord(uint32_t slot, llvm::function_ref<void(const Reg64& to)> make) {
  make(r8);
  as_.mov(Slot(slot), r8);
}

void NativeEagerMaker::SetDouble(uint32_t slot, llvm::function_ref<void(const Xmm& to)> make) {
  make(xmm2);
  as_.movsd(Slot(slot), xmm2);
}

void NativeEagerMaker::Copy(uint32_t to, uint32_t from) {
  as_.mov(rax, Slot(from));
  as_.mov(Slot(to), rax);
}

// What has instructions of its own in tagged_direct_ops.def. False: it is something else.
bool NativeEagerMaker::EmitComputed(uint32_t at) {
  const DirectInstr& in = code_[at];
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

// Words on both sides; else the attempt has failed, which the interpreter finds out once more.
void NativeEagerMaker::EmitIntegers(uint32_t at, const Decoded& op) {
  const DirectInstr& in = code_[at];
  as_.cmp(State(in.a), kWord);
  as_.jne(ExitTo(at));
  if (op.form == NativeForm::SlotSlot) {
    as_.cmp(State(in.b), kWord);
    as_.jne(ExitTo(at));
  }
  EmitArithmetic(in, at, op);
  if (!IsComparison(op.op)) as_.mov(State(in.d), kWord);
}

void NativeEagerMaker::EmitBranch(uint32_t at, const Decoded& op) {
  const DirectInstr& in = code_[at];
  bool slots = op.form == NativeForm::BranchSlotSlot;
  if (op.integer) {
    as_.cmp(State(in.a), kWord);
    as_.jne(ExitTo(at));
    if (slots) {
      as_.cmp(State(in.b), kWord);
      as_.jne(ExitTo(at));
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
void NativeEagerMaker::EmitSides(uint32_t at, uint8_t condition) {
  const DirectInstr& in = code_[at];
  if (in.x == at + 1) return GoToIf(condition ^ 1, in.y);
  GoToIf(condition, in.x);
  if (in.y != at + 1) GoTo(in.y);
}

void NativeEagerMaker::EmitChoose(uint32_t at) {
  const DirectInstr& in = code_[at];
  if (in.op == Direct::Choose) as_.mov(rax, Slot(in.a));
  else ReadConstructor(in.a);
  as_.cmp(rax, static_cast<uint32_t>(in.b));
  as_.jae(ExitTo(at));
  const uint32_t* targets = p_.eager.lists.data() + in.x;
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

// ---------------------------------------------------------------- ways

const Xbyak::Label& NativeEagerMaker::ExitTo(uint32_t at) {
  if (exits_.empty() || exits_.back().at != at) exits_.push_back({Xbyak::Label(), at, attempt_});
  return exits_.back().label;
}

void NativeEagerMaker::EmitExits() {
  for (; !exits_.empty(); exits_.pop_front()) {
    Exit& one = exits_.front();
    as_.L(one.label);
    Constant(rax, one.attempt == kNone ? 0 : reinterpret_cast<int64_t>(&code_[one.attempt]));
    as_.mov(ptr[kRun + offsetof(EagerRun, attempt)], rax);
    as_.mov(rax, reinterpret_cast<uint64_t>(&code_[one.at]));
    as_.jmp(leave_);
  }
}

void NativeEagerMaker::GoTo(uint32_t target) {
  as_.db(0xe9);
  jumps_.emplace_back(static_cast<uint32_t>(as_.getSize()), target);
  as_.dd(0);
}

void NativeEagerMaker::GoToIf(uint8_t condition, uint32_t target) {
  as_.db(0x0f);
  as_.db(0x80 | condition);
  jumps_.emplace_back(static_cast<uint32_t>(as_.getSize()), target);
  as_.dd(0);
}

void NativeEagerMaker::CallAt(uint32_t offset) {
  as_.db(0xe8);
  as_.dd(offset - static_cast<uint32_t>(as_.getSize()) - 4);
}

}  // namespace df::tagged
