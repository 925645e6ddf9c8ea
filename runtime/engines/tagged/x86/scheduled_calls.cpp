// Scheduled code -> machine code: calls, results, and the next iteration.
#include "runtime/engines/tagged/code/scheduled_data.h"
#include "runtime/engines/tagged/x86/scheduled.h"

namespace df::tagged {

using namespace Xbyak::util;

namespace {

// What stands in front of the code behind a call that a result comes to with its state in dl: the code for a word.
constexpr int kWordResultBytes = 5;

}  // namespace

// As MAKE_CHILD in exec/scheduled_interpreter.cpp. The arguments follow, or the only one is here.
void NativeScheduledMaker::EmitCall(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  const SiteCode& site = p_.sites[in.x];
  callee_ = site.callee;
  int list = static_cast<int>(FramePool::ListOf(callee_->frame_bytes) * sizeof(Frame*));
  as_.mov(rax, ptr[r14 + list]);
  as_.test(rax, rax);
  as_.jz(FailureAt(at));
  as_.sub(r13d, 1);
  as_.jz(FullExit(at));
  EmitCallee(as_, site, 1);
  as_.lea(rbp, ptr[rax + sizeof(Frame)]);
  if (in.op == Scheduled::Call) return;
  as_.mov(rcx, Slot(in.a));
  as_.mov(There(in.b), rcx);
  EmitEnter(at);
}

void NativeScheduledMaker::EmitArgument(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  uint32_t a = in.a & ~kLastUse;
  switch (in.op) {
    case Scheduled::ArgConstant:
      Constant(rcx, in.imm);
      as_.mov(There(in.d), rcx);
      return;
    case Scheduled::ArgOpen:
      if (!(in.a & kLastUse)) RetainIn(a);
      as_.movzx(ecx, State(a));
      as_.mov(rax, Slot(a));
      as_.mov(StateThere(in.d), cl);
      as_.mov(There(in.d), rax);
      return;
    case Scheduled::ArgOpenConstant: {
      const Value& constant = p_.constants[in.x];
      LoadConstant(rax, in.x, constant);
      if (constant.counted()) Retain(rax);
      as_.mov(There(in.d), rax);
      as_.mov(StateThere(in.d), StateOf(constant));
      return;
    }
    case Scheduled::KeepCallee:
      as_.lea(rax, ptr[rbp + frame_at::kStart]);
      as_.mov(Slot(in.d), rax);
      return;
    default:
      as_.mov(rcx, Slot(in.a));
      as_.mov(There(in.d), rcx);
      if (in.op == Scheduled::ArgWiden) as_.mov(StateThere(in.d), kWord);
      return;
  }
}

void NativeScheduledMaker::EmitEnter(uint32_t at) {
  SetResume(at + 1);
  as_.mov(rbx, rbp);
  GoToScope(*callee_);
  callee_ = nullptr;
}

// Where a call's result comes: in rax, with its state in dl; or, if it is known to be a word, at the very beginning.
void NativeScheduledMaker::EmitGot(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  native_.results.emplace_back(at, static_cast<uint32_t>(as_.getSize()));
  as_.mov(edx, kWord);
  if (in.op != Scheduled::Got) as_.mov(State(in.d), dl);
  as_.mov(Slot(in.d), rax);
  // One who enters here has been given the result.
  native_.entries[at] = offset_[at] = static_cast<uint32_t>(as_.getSize());
}

void NativeScheduledMaker::EmitReturn(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  bool open = in.op == Scheduled::ReturnOpen;
  // To scheduled code that waits for nothing else?
  Xbyak::Label scheduled, tagged, other;
  as_.mov(rcx, static_cast<uint64_t>(in.imm));
  as_.mov(rax, ptr[rbx + frame_at::kHead]);
  as_.cmp(rax, rcx);
  as_.jne(tagged);
  as_.L(scheduled);
  as_.mov(rdx, ptr[rbx + frame_at::kParent]);
  as_.mov(rcx, ptr[rdx + offsetof(Frame, resume)]);
  if (open) {
    as_.cmp(word[rcx + offsetof(ScheduledInstr, op)], static_cast<uint32_t>(Scheduled::GotWord));  // has room for words alone
    as_.je(FailureAt(at));
    as_.movzx(edi, State(in.a));
    as_.mov(rax, Slot(in.a));
  } else if (in.op == Scheduled::Return) {
    as_.mov(rax, Slot(in.a));
  } else {
    Constant(rax, int64_t{static_cast<int16_t>(in.d)});
  }
  EmitFreeFrame(as_, in.b);
  as_.lea(rbx, ptr[rdx + sizeof(Frame)]);
  if (open) {
    as_.mov(edx, edi);
    as_.mov(rcx, ptr[rcx + offsetof(ScheduledInstr, imm)]);
    as_.add(rcx, kWordResultBytes);
    as_.jmp(rcx);
  } else {
    as_.jmp(ptr[rcx + offsetof(ScheduledInstr, imm)]);
  }
  // Nothing is in the way but a tag, which goes.
  as_.L(tagged);
  as_.xor_(rax, rcx);
  as_.mov(rcx, uint64_t{kHasTag} << 32);
  as_.cmp(rax, rcx);
  as_.jne(other);
  EmitForgetTag();
  as_.jmp(scheduled);
  as_.L(other);
  EmitReturnBody(at);
}

// As Worker::ForgetTag, of a frame that has one.
void NativeScheduledMaker::EmitForgetTag() {
  as_.and_(dword[rbx + frame_at::kFlags], ~static_cast<uint32_t>(kHasTag));
  as_.mov(r9, ptr[rbx + frame_at::kTag]);
  CallAt(OffsetOf(Stub::DropTag));
}

void NativeScheduledMaker::EmitNext(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  const Xbyak::Label& other = OnBy(Stub::Next, at);
  as_.cmp(r13d, 1);
  as_.jbe(other);
  as_.cmp(dword[rbx + frame_at::kHead], 1);
  as_.ja(other);
  as_.cmp(dword[r12 + RunAt(offsetof(NativeRun, unpins))], 0);
  as_.jne(other);
  as_.dec(r13d);
  as_.test(dword[rbx + frame_at::kFlags], static_cast<uint32_t>(kHasTag));
  Xbyak::Label none;
  as_.jz(none);
  EmitForgetTag();
  as_.L(none);
  if (in.y != at + 1) GoTo(in.y);
}

// All values are taken before the first is put down. Below the stack nothing else is kept.
void NativeScheduledMaker::EmitMoveMany(uint32_t at) {
  constexpr uint32_t kMost = 7;
  const ScheduledInstr& in = code_[at];
  if (in.b > kMost) return CallStub(Stub::MoveMany, at);
  const uint32_t* list = p_.scheduled.operands.data() + in.x;
  auto bits = [](uint32_t i) { return qword[rsp - 8 * (static_cast<int>(i) + 1)]; };
  auto state = [](uint32_t i) { return byte[rsp - 64 - (static_cast<int>(i) + 1)]; };
  for (uint32_t i = 0; i < in.b; ++i) {
    uint32_t from = list[2 * i], slot = from & kOperandIndex;
    bool open = !(list[2 * i + 1] & kPlainOperand);
    if (IsConstant(from)) {
      const Value& constant = p_.constants[from & ~kConstant];
      LoadConstant(rax, from & ~kConstant, constant);
      if (constant.counted()) Retain(rax);
      if (open) as_.mov(state(i), StateOf(constant));
    } else if (from & kPlainOperand) {
      as_.mov(rax, Slot(slot));
      if (open) as_.mov(state(i), kWord);
    } else {
      if (!(from & kLastOperand)) RetainIn(slot);
      as_.mov(rax, Slot(slot));
      as_.movzx(ecx, State(slot));
      if (open) as_.mov(state(i), cl);
    }
    as_.mov(bits(i), rax);
  }
  for (uint32_t i = 0; i < in.b; ++i) {
    uint32_t to = list[2 * i + 1], slot = to & kOperandIndex;
    as_.mov(rax, bits(i));
    as_.mov(Slot(slot), rax);
    if (to & kPlainOperand) continue;
    as_.movzx(ecx, state(i));
    as_.mov(State(slot), cl);
  }
}

}  // namespace df::tagged
