// Unboxed code -> machine code: branches, loops, calls and results, and the ways in and out.
#include <cstddef>

#include "runtime/engines/tagged/code/frame.h"
#include "runtime/engines/tagged/x86/unboxed.h"

namespace df::tagged {

using Xbyak::Reg64;
using namespace Xbyak::util;

uint32_t NativeUnboxedMaker::EmitBranch(uint32_t at, const Decoded& op) {
  const ScheduledInstr& in = code_[at];
  Reg64 x = Word(in.a, rcx);
  bool nonzero = in.op == Scheduled::Branch;
  if (op.form == NativeForm::BranchSlotSlot) as_.cmp(x, Word(in.b, rdx));
  else if (auto constant = static_cast<int16_t>(in.b); nonzero || constant == 0) as_.test(x, x);
  else as_.cmp(x, static_cast<uint32_t>(int32_t{constant}));
  return EmitSides(at, [&](const Xbyak::Label& to, bool taken) {
    switch (nonzero ? NativeOp::Ne : op.op) {
      case NativeOp::Eq: return taken ? as_.je(to) : as_.jne(to);
      case NativeOp::Ne: return taken ? as_.jne(to) : as_.je(to);
      case NativeOp::Lt: return taken ? as_.jl(to) : as_.jge(to);
      case NativeOp::Le: return taken ? as_.jle(to) : as_.jg(to);
      case NativeOp::Gt: return taken ? as_.jg(to) : as_.jle(to);
      default: return taken ? as_.jge(to) : as_.jl(to);
    }
  });
}

// Flags are set. The side with which the code goes on; the other one is done later.
uint32_t NativeUnboxedMaker::EmitSides(uint32_t at, llvm::function_ref<void(const Xbyak::Label& to, bool taken)> jump) {
  uint32_t taken = TargetOf(at, code_[at].x), other = TargetOf(at, code_[at].y);
  if (taken == other) return taken;
  bool swaps = joins_[other].made && !joins_[taken].made;
  todo_.push_back({Xbyak::Label(), swaps ? other : taken, held_});
  jump(todo_.back().label, !swaps);
  return swaps ? taken : other;
}

uint32_t NativeUnboxedMaker::EmitTick(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  if (in.op == Scheduled::TickOwn) {
    as_.test(dword[rbx + frame_at::kFlags], static_cast<uint32_t>(kHasTag));
    as_.jnz(ExitTo(at));
  }
  as_.sub(r13d, 1);
  as_.jz(ExitTo(at, true));
  if (in.op == Scheduled::MoveTick || in.op == Scheduled::MoveTwoTick) Copy(in.b, in.a);
  pinned_ = 0;
  if (in.op == Scheduled::MoveTwoTick) Copy(in.y >> 16, in.y & 0xffff);
  pinned_ = 0;
  Increment(in.d);
  return TargetOf(at, in.x);
}

// As MAKE_CALLEE in exec/unboxed_interpreter.cpp. Where the code goes on when the result is there.
uint32_t NativeUnboxedMaker::EmitCall(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  const SiteCode& site = p_.sites[in.x];
  const ScopeCode& callee = *site.callee;
  uint32_t count = in.op == Scheduled::CallMany ? in.b : static_cast<uint32_t>(in.op) - static_cast<uint32_t>(Scheduled::Call0);
  uint32_t got = at + 1 + (count == 1 ? 0 : (count + 1) / 2);
  int list = static_cast<int>(FramePool::ListOf(callee.frame_bytes) * sizeof(Frame*));

  as_.mov(rax, ptr[r14 + list]);
  as_.test(rax, rax);
  as_.jz(ExitTo(at));
  as_.sub(r13d, 1);
  as_.jz(ExitTo(at, true));
  StoreDirty(held_);
  held_.dirty = 0;
  auto pass = [&](uint32_t from, uint32_t to) {
    int offset = static_cast<int>(sizeof(Frame)) + SlotAt(to);
    uint32_t r = held_.Find(from);
    if (r == kNoRegister) {
      as_.mov(rcx, Memory(from));
      as_.mov(ptr[rax + offset], rcx);
    } else if (r < kWordRegisters) {
      as_.mov(ptr[rax + offset], WordAt(r));
    } else {
      as_.movsd(ptr[rax + offset], DoubleAt(r));
    }
  };
  if (count == 1) {
    pass(in.a, in.y);
  } else {
    for (uint32_t i = 0; i < count; i += 2) {
      const ScheduledInstr& pair = code_[at + 1 + i / 2];
      pass(pair.a, pair.b);
      if (i + 1 < count) pass(pair.x, pair.y);
    }
  }
  EmitCallee(as_, site, in.d);
  as_.mov(rcx, reinterpret_cast<uint64_t>(&code_[got]));
  as_.mov(ptr[rbx + frame_at::kResume], rcx);
  as_.lea(rbx, ptr[rax + sizeof(Frame)]);
  as_.jmp(native_.begins[callee.id.index]);

  behind_calls_.emplace_back(got, Xbyak::Label());
  native_.results.emplace_back(first_ + got, static_cast<uint32_t>(as_.getSize()));
  as_.L(behind_calls_.back().second);
  held_ = Held();
  at_ = got;
  pinned_ = 0;
  SetWord(code_[got].d, [&](const Reg64& to) { as_.mov(to, rax); });
  return got + 1;
}

// As GIVE there.
void NativeUnboxedMaker::EmitReturn(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  as_.mov(rcx, static_cast<uint64_t>(in.imm));
  as_.cmp(ptr[rbx + frame_at::kHead], rcx);
  as_.jne(ExitTo(at));
  as_.mov(rdx, ptr[rbx + frame_at::kParent]);
  as_.mov(rcx, ptr[rdx + offsetof(Frame, resume)]);
  if (in.op == Scheduled::ReturnConstant) Constant(rax, int64_t{static_cast<int16_t>(in.d)});
  else as_.mov(rax, Word(in.a, rax));
  // Nobody asks for what is in registers any more.
  EmitFreeFrame(as_, in.b);
  as_.lea(rbx, ptr[rdx + sizeof(Frame)]);
  as_.jmp(ptr[rcx + offsetof(ScheduledInstr, imm)]);
}

void NativeUnboxedMaker::EmitExits() {
  for (Exit& exit : exits_) {
    as_.L(exit.label);
    StoreDirty(exit.held);
    if (exit.full) as_.mov(r13d, 1);
    as_.mov(rax, reinterpret_cast<uint64_t>(&code_[exit.at]));
    as_.jmp(native_.leave);
  }
}

// Where all values are in slots.
void NativeUnboxedMaker::EmitEntries() {
  for (uint32_t at = 0; at < code_.size(); ++at) {
    if (!loops_[at] || !joins_[at].made || native_.entries[first_ + at]) continue;
    native_.entries[first_ + at] = static_cast<uint32_t>(as_.getSize());
    Meet(at, Held());
  }
  for (auto& [got, label] : behind_calls_) {
    if (native_.entries[first_ + got + 1]) continue;
    native_.entries[first_ + got + 1] = static_cast<uint32_t>(as_.getSize());
    as_.mov(rax, Memory(code_[got].d));
    as_.jmp(label);
  }
}

}  // namespace df::tagged
