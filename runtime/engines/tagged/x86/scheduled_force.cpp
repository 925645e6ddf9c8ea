// Scheduled code -> machine code: references. A delayed call whose body runs scheduled code is entered here and now, and its body comes back
// to the Force, as RuntimeCalls::Force and EnterBody and ReturnBody do it; what is not as usual is left to these.
#include "runtime/engines/tagged/code/scheduled_data.h"
#include "runtime/engines/tagged/x86/layout.h"
#include "runtime/engines/tagged/x86/scheduled.h"

namespace df::tagged {

using Xbyak::CodeGenerator;
using namespace Xbyak::util;

// A reference with a value gives that here; others are for the stub, or RuntimeCalls.
void NativeScheduledMaker::EmitForce(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  uint32_t a = in.a & ~kLastUse;
  bool plain = in.op == Scheduled::ForcePlain, last = in.a & kLastUse;
  const Xbyak::Label& other = OnBy(Stub::Force, at);
  const Xbyak::Label& enter = OnBy(Stub::Enter, at);
  Xbyak::Label value, done;
  as_.movzx(ecx, State(a));
  as_.mov(rax, Slot(a));
  as_.cmp(ecx, plain ? kWord : kReference);
  if (plain) as_.je(value);
  else as_.jne(value);
  if (plain) {
    as_.cmp(ecx, kReference);
    as_.jne(other);
  }
  JumpUnlessFull(rax, rsi, enter);
  as_.mov(rdi, rax);
  as_.movzx(ecx, byte[rax + kCellValue + kKind]);
  as_.mov(rax, qword[rax + kCellValue + kBits]);
  as_.cmp(ecx, static_cast<uint32_t>(plain ? ValueKind::Word : ValueKind::Object));
  as_.ja(other);
  if (!plain) {
    Xbyak::Label uncounted;
    as_.test(ecx, ecx);
    as_.jz(uncounted, CodeGenerator::T_SHORT);
    Retain(rax);
    as_.L(uncounted);
    as_.or_(ecx, kPresent);
    as_.mov(State(in.d), cl);
  }
  as_.mov(Slot(in.d), rax);
  if (last) CallAt(OffsetOf(Stub::Drop));
  as_.jmp(done);
  as_.L(value);
  if (!plain) {
    if (!last) {
      Xbyak::Label uncounted;
      as_.cmp(ecx, kWord);
      as_.je(uncounted, CodeGenerator::T_SHORT);
      Retain(rax);
      as_.L(uncounted);
    }
    as_.mov(State(in.d), cl);
  }
  as_.mov(Slot(in.d), rax);
  as_.L(done);
}

// rax: the object of the Force in rsi, which has no value.
void NativeScheduledMaker::EmitEnterStub() {
  BeginStub(Stub::Enter);
  uint32_t other = OffsetOf(Stub::Force);
  as_.movzx(ecx, byte[rax + kObjectKind]);
  as_.and_(ecx, 0x3f);
  as_.cmp(ecx, static_cast<uint32_t>(ObjectKind::Delay));
  JumpAtIf(kNotEqual, other);
  as_.cmp(byte[rax + kCellState], static_cast<uint32_t>(DelayCell::State::Kept));
  JumpAtIf(kNotEqual, other);
  as_.test(byte[rax + kCellFlags], kStartsScheduled);
  JumpAtIf(kEqual, other);
  as_.cmp(r13d, 1);
  JumpAtIf(kBelowEqual, other);
  as_.cmp(dword[r12 + RunAt(offsetof(NativeRun, poll))], 0);
  JumpAtIf(kNotEqual, other);
  as_.mov(rdx, ptr[rax + kCellSite]);
  as_.mov(rcx, ptr[rdx + static_cast<int>(offsetof(SiteCode, native_body))]);
  as_.test(rcx, rcx);
  JumpAtIf(kEqual, other);
  // What RunAhead would try is left to it, as long as that is worth it (SiteCode::Chance::Take), or its cell follows others.
  constexpr int kForced = offsetof(SiteCode, forced);
  Xbyak::Label go, shared, late;
  as_.cmp(byte[rdx + static_cast<int>(offsetof(SiteCode, ahead))], 0);
  as_.je(go);
  as_.cmp(byte[rdx + kForced + static_cast<int>(offsetof(SiteCode::Chance, left))], 0);
  JumpAtIf(kNotEqual, other);
  as_.cmp(byte[rax + kCellAhead], 0);
  JumpAtIf(kNotEqual, other);
  as_.cmp(rax, ptr[r12 + RunAt(offsetof(NativeRun, goal))]);
  JumpAtIf(kEqual, other);
  as_.movzx(edi, byte[rdx + kForced + static_cast<int>(offsetof(SiteCode::Chance, passed))]);
  as_.inc(edi);
  as_.test(edi, SiteCode::Chance::kOften - 1);
  JumpAtIf(kEqual, other);
  as_.mov(byte[rdx + kForced + static_cast<int>(offsetof(SiteCode::Chance, passed))], dil);
  as_.L(go);
  as_.cmp(dword[r12 + RunAt(offsetof(NativeRun, sharing))], 0);
  as_.jne(shared, CodeGenerator::T_SHORT);
  as_.jmp(rcx);
  // Under the cell's lock, which the body takes off; others may have been here before.
  as_.L(shared);
  JumpIfLocked(rax, rdi, other);
  as_.cmp(byte[rax + kCellState], static_cast<uint32_t>(DelayCell::State::Kept));
  as_.jne(late, CodeGenerator::T_SHORT);
  as_.test(byte[rax + kCellFlags], kStartsScheduled);
  as_.jz(late, CodeGenerator::T_SHORT);
  as_.jmp(rcx);
  as_.L(late);
  as_.mov(byte[rax + kCellLocked], 0);
  JumpAt(other);
}

// Takes the lock of the cell, which is not waited for. `aside` is changed.
void NativeScheduledMaker::JumpIfLocked(const Xbyak::Reg64& cell, const Xbyak::Reg64& aside, uint32_t to) {
  as_.mov(aside.cvt32(), 1);
  as_.xchg(byte[cell + kCellLocked], aside.cvt8());
  as_.test(aside.cvt8(), aside.cvt8());
  JumpAtIf(kNotEqual, to);
}

// SiteCode::native_body: as EnterBody. rax: the cell, under its lock while threads share values; rdx: its site; rsi: the Force.
void NativeScheduledMaker::EmitBody(uint32_t index) {
  const SiteCode& site = p_.sites[index];
  if (site.type != SiteType::Delay || !site.callee || site.callee->scheduled == kNone || !made_[site.callee->id.index]) return;
  const ScopeCode& scope = *site.callee;
  native_.bodies.emplace_back(index, static_cast<uint32_t>(as_.getSize()));
  int list = static_cast<int>(FramePool::ListOf(scope.frame_bytes) * sizeof(Frame*));
  Xbyak::Label has_frame;
  as_.mov(rdi, ptr[r14 + list]);
  as_.test(rdi, rdi);
  as_.jnz(has_frame, CodeGenerator::T_SHORT);
  as_.mov(byte[rax + kCellLocked], 0);
  JumpAt(OffsetOf(Stub::Force));
  as_.L(has_frame);
  as_.dec(r13d);
  as_.mov(rcx, ptr[rdi]);
  as_.mov(ptr[r14 + list], rcx);
  as_.mov(ptr[rdi + offsetof(Frame, site)], rdx);
  as_.mov(rcx, HeadOf(kLive | kScheduled | kTagParent, scope.num_slots));
  as_.mov(ptr[rdi + offsetof(Frame, refs)], rcx);
  // The tag, and its count, become the body's.
  Xbyak::Label empty, less;
  as_.mov(rcx, ptr[rax + kCellTag]);
  as_.mov(ptr[rdi + offsetof(Frame, parent)], rcx);
  as_.xor_(edx, edx);
  as_.test(rcx, rcx);
  as_.jz(empty, CodeGenerator::T_SHORT);
  as_.mov(edx, dword[rcx + static_cast<int>(offsetof(TagNode, depth))]);
  as_.L(empty);
  as_.inc(edx);
  as_.mov(dword[rdi + static_cast<int>(offsetof(Frame, depth))], edx);
  as_.cmp(rdx, ptr[r12 + RunAt(offsetof(NativeRun, max_depth))]);
  as_.jbe(less, CodeGenerator::T_SHORT);
  as_.mov(ptr[r12 + RunAt(offsetof(NativeRun, max_depth))], rdx);
  as_.L(less);
  as_.inc(r15);
  as_.inc(qword[r12 + RunAt(offsetof(NativeRun, calls))]);
  as_.inc(qword[r12 + RunAt(offsetof(NativeRun, released))]);
  // The Force waits for the cell.
  as_.mov(byte[rax + kCellState], static_cast<uint32_t>(DelayCell::State::Running));
  as_.mov(ptr[rax + kCellBody], rdi);
  as_.lea(rcx, ptr[rbx + frame_at::kStart]);
  as_.mov(ptr[rax + kCellWaiter], rcx);
  as_.mov(dword[rax + kCellWaiterPc], kNone);
  as_.inc(dword[rbx + frame_at::kHead]);
  Retain(rax);
  as_.mov(ptr[rbx + frame_at::kResume], rsi);
  as_.lea(rbx, ptr[rdi + sizeof(Frame)]);
  scope_ = &scope;
  as_.mov(Slot(scope.cell_slot), rax);
  for (uint32_t i = 0; i < site.together.size(); ++i) {
    uint32_t to = site.together[i].to;
    if (to == kNone) continue;
    int at = kCellValue + static_cast<int>((i + site.late_operands) * sizeof(Value));
    as_.movzx(ecx, byte[rax + at + kKind]);
    as_.mov(rdx, qword[rax + at + kBits]);
    as_.mov(byte[rax + at + kKind], static_cast<uint32_t>(ValueKind::Word));
    as_.or_(ecx, kPresent);
    as_.mov(Slot(to), rdx);
    as_.mov(State(to), cl);
  }
  as_.mov(byte[rax + kCellLocked], 0);
  GoToScope(scope);
}

// As DelayScheduled where no body is tried.
void NativeScheduledMaker::EmitDelay(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  const SiteCode& site = p_.sites[in.y];
  if (kCountsAlive || site.frameless || in.a) return CallStub(Stub::Delay, at);
  const Xbyak::Label& other = By(Stub::Delay, at);
  Xbyak::Label tagged, empty;
  as_.cmp(dword[r12 + RunAt(offsetof(NativeRun, unpins))], 0);
  as_.jne(other);
  as_.test(dword[rbx + frame_at::kFlags], static_cast<uint32_t>(kHasTag));
  as_.jnz(tagged, CodeGenerator::T_SHORT);
  CallStub(Stub::GiveTag, at);
  as_.L(tagged);
  int list = static_cast<int>(site.cell_bytes / Pool<DelayCell>::kUnit * sizeof(void*));
  as_.mov(rdx, ptr[r12 + RunAt(offsetof(NativeRun, cell_lists))]);
  as_.mov(rax, ptr[rdx + list]);
  as_.test(rax, rax);
  as_.jz(other);
  as_.mov(rcx, ptr[rax]);
  as_.mov(ptr[rdx + list], rcx);
  // One holder, and nothing else in the words before the site.
  as_.mov(rcx, 1 | uint64_t{static_cast<uint8_t>(ObjectKind::Delay)} << 8 * kObjectKind);
  as_.mov(ptr[rax], rcx);
  static_assert(kCellState == 8 && kCellFlags == 11 && kCellSite == 16);
  as_.mov(rcx, uint64_t{site.callee->scheduled != kNone ? kStartsScheduled : 0} << 8 * (kCellFlags - kCellState));
  as_.mov(ptr[rax + kCellState], rcx);
  as_.mov(rcx, reinterpret_cast<uint64_t>(&site));
  as_.mov(ptr[rax + kCellSite], rcx);
  as_.xor_(ecx, ecx);
  as_.test(dword[rbx + frame_at::kFlags], static_cast<uint32_t>(kHasTag));
  as_.jz(empty, CodeGenerator::T_SHORT);  // the root's
  as_.mov(rcx, ptr[rbx + frame_at::kTag]);
  as_.test(rcx, rcx);
  as_.jz(empty, CodeGenerator::T_SHORT);
  Retain(rcx);
  as_.L(empty);
  as_.mov(ptr[rax + kCellTag], rcx);
  as_.mov(qword[rax + kCellWaiter], 0);
  as_.inc(qword[r12 + RunAt(offsetof(NativeRun, delays))]);
  if (site.own_place) {
    as_.mov(byte[rax + kCellValue + kKind], static_cast<uint32_t>(ValueKind::Word));
    as_.mov(qword[rax + kCellValue + kBits], 0);
  }
  for (uint32_t i = 0; i < in.b; ++i) EmitOperand(p_.scheduled.operands[in.x + i], kCellValue + static_cast<int>((i + site.late_operands) * sizeof(Value)));
  as_.mov(Slot(in.d), rax);
  as_.mov(State(in.d), kReference);
}

// A Return of what may be a delayed body. rax: the head of the frame, xor that of one that scheduled code has called.
void NativeScheduledMaker::EmitReturnBody(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  if (scope_->cell_slot == kNone) return as_.jmp(OnBy(Stub::Return, at));
  as_.mov(rdx, ~(uint64_t{kHasTag} << 32));
  as_.and_(rax, rdx);
  as_.mov(rcx, uint64_t{kScheduledCaller ^ kTagParent} << 32);
  as_.cmp(rax, rcx);
  as_.jne(OnBy(Stub::Return, at));
  as_.mov(rdi, Slot(scope_->cell_slot));
  if (in.op == Scheduled::ReturnConstant) Constant(rax, int64_t{static_cast<int16_t>(in.d)});
  else as_.mov(rax, Slot(in.a));
  if (in.op == Scheduled::ReturnOpen) as_.movzx(edx, State(in.a));
  else as_.mov(edx, kWord);
  as_.mov(ecx, static_cast<uint32_t>(in.b * sizeof(Frame*)));
  as_.mov(rsi, reinterpret_cast<uint64_t>(&in));
  JumpAt(OffsetOf(Stub::ReturnBody));
}

// As ReturnBody. rax: the value; edx: its state; rdi: the cell; ecx: bytes to the list of free frames; rsi: the Return.
void NativeScheduledMaker::EmitReturnBodyStub() {
  BeginStub(Stub::ReturnBody);
  uint32_t other = OffsetOf(Stub::Return);
  Xbyak::Label alone, usual, not_usual, untagged, kept, give;
  as_.cmp(rdi, ptr[r12 + RunAt(offsetof(NativeRun, goal))]);
  JumpAtIf(kEqual, other);
  as_.cmp(dword[r12 + RunAt(offsetof(NativeRun, sharing))], 0);
  as_.je(alone);
  JumpIfLocked(rdi, r9, other);
  as_.L(alone);
  as_.mov(r8, ptr[rdi + kCellWaiter]);
  as_.test(r8, r8);
  as_.jz(not_usual);
  as_.test(dword[r8 + offsetof(Frame, flags_and_words)], static_cast<uint32_t>(kScheduled));
  as_.jz(not_usual);
  as_.cmp(dword[rdi + kCellWaiterPc], kNone);
  as_.jne(not_usual);
  as_.test(byte[rdi + kCellFlags], kMoreWaiters);
  as_.jnz(not_usual);
  as_.cmp(byte[rdi + kCellValue + kKind], static_cast<uint32_t>(ValueKind::Word));  // an operand that nobody wanted
  as_.je(usual);
  as_.L(not_usual);
  as_.mov(byte[rdi + kCellLocked], 0);
  JumpAt(other);
  // The frame goes, and its tags.
  as_.L(usual);
  as_.test(dword[rbx + frame_at::kFlags], static_cast<uint32_t>(kHasTag));
  as_.jz(untagged);
  as_.mov(r9, ptr[rbx + frame_at::kTag]);
  CallAt(OffsetOf(Stub::DropTag));
  as_.L(untagged);
  as_.mov(r9, ptr[rbx + frame_at::kParent]);
  CallAt(OffsetOf(Stub::DropTag));
  as_.mov(r10, ptr[r14 + rcx]);
  as_.mov(dword[rbx + frame_at::kFlags], 0);
  as_.mov(ptr[rbx + frame_at::kParent], r10);
  as_.lea(r10, ptr[rbx + frame_at::kStart]);
  as_.mov(ptr[r14 + rcx], r10);
  as_.dec(r15);
  // The cell is full.
  as_.dec(dword[r8 + offsetof(Frame, refs)]);
  as_.mov(r10, ptr[r8 + offsetof(Frame, resume)]);  // the Force
  as_.mov(qword[rdi + kCellBody], 0);
  as_.mov(qword[rdi + kCellWaiter], 0);
  Drop(rdi);  // the body's hold; the frame that waits has another one
  as_.lea(rbx, ptr[r8 + sizeof(Frame)]);
  as_.test(word[r10 + offsetof(ScheduledInstr, a)], kLastUse);
  as_.jz(kept);
  as_.cmp(dword[rdi], 1);
  as_.jne(kept);
  as_.mov(byte[rdi + kCellState], static_cast<uint32_t>(DelayCell::State::Full));
  CallAt(OffsetOf(Stub::FreeCell));  // nobody else asks for the value
  as_.jmp(give);
  as_.L(kept);
  Xbyak::Label uncounted;
  as_.cmp(edx, kWord);
  as_.je(uncounted, CodeGenerator::T_SHORT);
  Retain(rax);
  as_.L(uncounted);
  as_.mov(ecx, edx);
  as_.and_(ecx, 7);
  as_.mov(byte[rdi + kCellValue + kKind], cl);
  as_.mov(qword[rdi + kCellValue + kBits], rax);
  // Others may look at the value from here on, and give their holds back.
  as_.mov(byte[rdi + kCellState], static_cast<uint32_t>(DelayCell::State::Full));
  as_.mov(byte[rdi + kCellLocked], 0);
  as_.test(word[r10 + offsetof(ScheduledInstr, a)], kLastUse);
  as_.jz(give);
  Drop(rdi);
  as_.jnz(give);
  as_.mov(dword[rdi], 1);
  as_.push(rdx);
  as_.push(r10);
  CallAt(OffsetOf(Stub::Drop));
  as_.pop(r10);
  as_.pop(rdx);
  // And the Force has its value: the state of a plain slot may be anything.
  as_.L(give);
  as_.movzx(ecx, word[r10 + offsetof(ScheduledInstr, d)]);
  as_.mov(ptr[rbx + rcx * 8], rax);
  as_.mov(r9d, dword[rbx + frame_at::kFlags]);
  as_.shr(r9d, kFlagBits);
  as_.lea(r9, ptr[rbx + r9 * 8]);
  as_.mov(byte[r9 + rcx], dl);
  static_assert(sizeof(ScheduledInstr) == 16);
  as_.lea(rax, ptr[r10 + sizeof(ScheduledInstr)]);
  as_.mov(rcx, rax);
  as_.sub(rcx, ptr[r12 + RunAt(offsetof(NativeRun, first))]);
  as_.shr(rcx, 4);
  as_.mov(rdx, ptr[r12 + RunAt(offsetof(NativeRun, entries))]);
  as_.mov(ecx, dword[rdx + rcx * 4]);
  as_.test(ecx, ecx);
  as_.jz(native_.leave);
  as_.add(rcx, ptr[r12 + RunAt(offsetof(NativeRun, base))]);
  as_.jmp(rcx);
}

void NativeScheduledMaker::EmitForceStubs() {
  EmitEnterStub();
  EmitReturnBodyStub();
}

}  // namespace df::tagged
