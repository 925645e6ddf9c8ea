// Scheduled code -> machine code: one instruction after the other, and what computes and branches.
#include "runtime/engines/tagged/x86/scheduled.h"

#include <algorithm>

#include "runtime/engines/tagged/code/scheduled_data.h"

namespace df::tagged {

using Xbyak::Reg64;
using Xbyak::Xmm;
using namespace Xbyak::util;

NativeScheduledMaker::NativeScheduledMaker(Program& p, NativeProgram& native)
    : NativeSlots(native.assembler, p.scheduled.code, p.scheduled.operands), p_(p), native_(native) {
  begin_.resize(p.scopes.size());
  made_.resize(p.scopes.size());
}

void NativeScheduledMaker::Run(uint32_t most, llvm::function_ref<void()> pause) {
  EmitStubs();
  EmitMemoryStubs();
  EmitGiveTagStub();
  EmitDropTagStub();
  EmitForceStubs();
  uint32_t leave_result = EmitLeaveResult();
  std::vector<Part> parts = Parts();
  ChooseParts(parts, most);
  for (const Part& part : parts) {
    if (made_[part.scope->id.index]) {
      EmitScope(*part.scope, part.begin, part.end);
    } else {
      EmitLeaveScope(*part.scope);
      for (uint32_t at = part.begin; at < part.end; ++at)
        if (Scheduled op = code_[at].op; op == Scheduled::Got || op == Scheduled::GotOpen || op == Scheduled::GotMany)
          native_.results.emplace_back(at, leave_result);
    }
    pause();
  }
  for (uint32_t i = 0; i < p_.sites.size(); ++i) EmitBody(i);
  Link();
  for (auto [at, scope] : begin_jumps_) as_.rewrite(at, begin_[scope] - (at + 4), 4);
}

// The scheduled code of each scope, but for the way into its unboxed code, in its order.
std::vector<NativeScheduledMaker::Part> NativeScheduledMaker::Parts() const {
  std::vector<Part> parts;
  for (const ScopeCode& scope : p_.scopes) {
    if (scope.scheduled == kNone) continue;
    uint32_t begin = scope.unboxed ? code_[scope.scheduled].y : scope.scheduled;
    parts.push_back({begin, 0, &scope});
  }
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.begin < b.begin; });
  for (size_t i = 0; i < parts.size(); ++i) parts[i].end = i + 1 < parts.size() ? parts[i + 1].begin : p_.scheduled.first_unboxed;
  return parts;
}

// Those that are to be machine code, `most` instructions at most: first those that the run has been in most often so far.
void NativeScheduledMaker::ChooseParts(std::vector<Part> parts, uint32_t most) {
  if (p_.scheduled.first_unboxed > most)
    std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.scope->steps > b.scope->steps; });
  for (const Part& part : parts) {
    uint32_t length = part.end - part.begin;
    if (length > most) continue;
    most -= length;
    made_[part.scope->id.index] = true;
  }
}

// A result that goes to code for the interpreter: rax, with its state in dl, to the frame whose slots are in rbx, which waits at a Got.
// As EmitGot, the way in for words is `kWordResultBytes` before that for all.
uint32_t NativeScheduledMaker::EmitLeaveResult() {
  auto offset = static_cast<uint32_t>(as_.getSize());
  as_.mov(edx, kWord);
  as_.mov(rcx, ptr[rbx + frame_at::kResume]);
  as_.movzx(esi, word[rcx + offsetof(ScheduledInstr, d)]);
  as_.mov(ptr[rbx + rsi * 8], rax);
  as_.mov(edi, dword[rbx + frame_at::kFlags]);
  as_.shr(edi, kFlagBits);
  as_.lea(rdi, ptr[rbx + rdi * 8]);
  as_.mov(byte[rdi + rsi], dl);  // that of a plain slot may be anything
  as_.lea(rax, ptr[rcx + sizeof(ScheduledInstr)]);
  as_.jmp(native_.leave);
  return offset;
}

void NativeScheduledMaker::EmitLeaveScope(const ScopeCode& scope) {
  begin_[scope.id.index] = static_cast<uint32_t>(as_.getSize());
  as_.mov(rax, reinterpret_cast<uint64_t>(&code_[scope.scheduled]));
  as_.jmp(native_.leave);
}

// A stub is called or jumped to with the instruction in rsi. The stack is such that it may call a function.
void NativeScheduledMaker::EmitStubs() {
  auto call = [&](const void* function) {
    as_.mov(ptr[r12 + RunAt(offsetof(NativeRun, budget))], r13);
    as_.mov(ptr[r12 + RunAt(offsetof(NativeRun, frames))], r15);
    as_.mov(rdi, r12);
    as_.mov(rdx, rbx);
    as_.mov(rax, reinterpret_cast<uint64_t>(function));
    as_.call(rax);
    as_.mov(r13, ptr[r12 + RunAt(offsetof(NativeRun, budget))]);
    as_.mov(r15, ptr[r12 + RunAt(offsetof(NativeRun, frames))]);  // 0 if the worker has counted them
  };
  auto does = [&](Stub stub, RuntimeCalls::Does function) {
    BeginStub(stub);
    call(reinterpret_cast<const void*>(function));
    as_.test(eax, eax);
    as_.ret();
  };
  auto goes = [&](Stub stub, RuntimeCalls::Goes function) {
    BeginStub(stub);
    as_.sub(rsp, 8);
    call(reinterpret_cast<const void*>(function));
    as_.add(rsp, 8);
    as_.mov(rbx, ptr[r12 + RunAt(offsetof(NativeRun, slots))]);
    as_.jmp(rax);
  };
  does(Stub::Apply, RuntimeCalls::Apply);
  does(Stub::ApplyMany, RuntimeCalls::ApplyMany);
  does(Stub::Defer, RuntimeCalls::Defer);
  does(Stub::Fields, RuntimeCalls::Fields);
  does(Stub::Construct, RuntimeCalls::Construct);
  does(Stub::Delay, RuntimeCalls::Delay);
  does(Stub::Capture, RuntimeCalls::Capture);
  does(Stub::MoveMany, RuntimeCalls::MoveMany);
  does(Stub::GiveAnyTag, RuntimeCalls::GiveTag);
  does(Stub::Order, RuntimeCalls::Order);
  goes(Stub::Force, RuntimeCalls::Force);
  goes(Stub::Return, RuntimeCalls::Return);
  goes(Stub::ReturnMany, RuntimeCalls::ReturnMany);
  goes(Stub::Next, RuntimeCalls::Next);
}

void NativeScheduledMaker::EmitScope(const ScopeCode& scope, uint32_t begin, uint32_t end) {
  scope_ = &scope;
  as_.align(16);
  begin_[scope.id.index] = static_cast<uint32_t>(as_.getSize());
  if (scope.unboxed) EmitUnboxedEntry(scope);
  for (uint32_t at = begin; at < end; ++at) {
    offset_[at] = static_cast<uint32_t>(as_.getSize());
    if (!callee_) native_.entries[at] = offset_[at];
    Emit(at);
  }
  EmitOutOfLine();
}

// Scheduled::Unboxed: to unboxed code, if all is as that needs it.
void NativeScheduledMaker::EmitUnboxedEntry(const ScopeCode& scope) {
  const ScheduledInstr& in = code_[scope.scheduled];
  native_.entries[scope.scheduled] = begin_[scope.id.index];
  for (uint32_t i = 0; i < in.b; ++i) {
    as_.cmp(State(p_.scheduled.operands[in.x + i]), kWord);
    GoToIf(kNotEqual, in.y);
  }
  if (in.a) {
    as_.mov(rax, ptr[r12 + RunAt(offsetof(NativeRun, unboxed_rest))]);
    Xbyak::Address rest = byte[rax + static_cast<int>(scope.id.index)];
    as_.cmp(rest, 0);
    as_.je(native_.begins[scope.id.index]);
    as_.dec(rest);
    GoToIf(kNotEqual, in.y);
  }
  as_.jmp(native_.begins[scope.id.index]);
}

void NativeScheduledMaker::Emit(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  if (EmitCommon(at)) return;
  uint32_t a = in.a & ~kLastUse;
  switch (in.op) {
    case Scheduled::LoadOpen: {
      const Value& constant = p_.constants[in.x];
      LoadConstant(rax, in.x, constant);
      if (constant.counted()) Retain(rax);
      as_.mov(Slot(in.d), rax);
      as_.mov(State(in.d), StateOf(constant));
      return;
    }
    case Scheduled::MoveOpen:
      if (!(in.a & kLastUse)) RetainIn(a);
      as_.movzx(ecx, State(a));
      as_.mov(rax, Slot(a));
      as_.mov(State(in.d), cl);
      as_.mov(Slot(in.d), rax);
      return;
    case Scheduled::Narrow:
      as_.cmp(State(a), kWord);
      as_.jne(By(Stub::Apply, at));
      Copy(in.d, a);
      return;
    case Scheduled::Drop: return ReleaseIn(in.a);
    case Scheduled::Apply:
    case Scheduled::ApplyOpen: return CallStub(Stub::Apply, at);
    case Scheduled::ApplyMany: return CallStub(Stub::ApplyMany, at);
    case Scheduled::InRange:
      as_.mov(rax, Slot(in.a));
      Constant(rcx, in.imm);
      as_.cmp(rax, rcx);
      as_.jae(FailureAt(at));
      return;
    case Scheduled::Defer: return CallStub(Stub::Defer, at);
    case Scheduled::Delay: return EmitDelay(at);
    case Scheduled::Capture: return CallStub(Stub::Capture, at);
    case Scheduled::Match: return EmitMatch(at);
    case Scheduled::Field:
    case Scheduled::TwoFields:
    case Scheduled::Fields: return EmitFields(at);
    case Scheduled::FieldPlain: return EmitFieldPlain(at);
    case Scheduled::Construct: return EmitConstruct(at);
    case Scheduled::Force:
    case Scheduled::ForcePlain: return EmitForce(at);
    case Scheduled::Count:
    case Scheduled::CountCall: return EmitCount(in);
    case Scheduled::Call:
    case Scheduled::CallWord: return EmitCall(at);
    case Scheduled::Arg: case Scheduled::ArgConstant: case Scheduled::ArgWiden: case Scheduled::ArgOpen: case Scheduled::ArgOpenConstant:
    case Scheduled::KeepCallee: return EmitArgument(at);
    case Scheduled::Enter: return EmitEnter(at);
    case Scheduled::Got:
    case Scheduled::GotOpen:
    case Scheduled::GotMany: return EmitGot(at);
    case Scheduled::Return:
    case Scheduled::ReturnConstant:
    case Scheduled::ReturnOpen: return EmitReturn(at);
    case Scheduled::ReturnMany: return as_.jmp(OnBy(Stub::ReturnMany, at));
    case Scheduled::NoneLate:
      for (uint32_t i = 0; i < in.b; ++i) as_.mov(State(p_.scheduled.operands[in.x + i]), 0);
      return;
    case Scheduled::Awaited: return;
    case Scheduled::Next: return EmitNext(at);
    case Scheduled::MoveMany: return EmitMoveMany(at);
    case Scheduled::Again:
      as_.inc(Slot(in.d));
      return GoToScope(*scope_);
    case Scheduled::Resume:  // what stands between this and its EnterLate is left to the interpreter too
      callee_ = scope_;
      return Exit(at, false);
    case Scheduled::EnterLate: callee_ = nullptr; return;
    default: return Exit(at, false);
  }
}

// ---------------------------------------------------------------- ways

const Xbyak::Label& NativeScheduledMaker::Behind(OutOfLine::Kind kind, Stub stub, uint32_t at) {
  if (out_of_line_.empty() || out_of_line_.back().at != at || out_of_line_.back().kind != kind || out_of_line_.back().stub != stub)
    out_of_line_.push_back({Xbyak::Label(), kind, stub, at});
  return out_of_line_.back().label;
}

void NativeScheduledMaker::CallStub(Stub stub, uint32_t at) {
  as_.mov(rsi, reinterpret_cast<uint64_t>(&code_[at]));
  CallAt(OffsetOf(stub));
  as_.jz(FailureAt(at));
}

void NativeScheduledMaker::Exit(uint32_t at, bool full) {
  if (full) as_.mov(r13d, 1);
  as_.mov(rax, reinterpret_cast<uint64_t>(&code_[at]));
  as_.jmp(native_.leave);
}

void NativeScheduledMaker::EmitOutOfLine() {
  while (!out_of_line_.empty()) {
    OutOfLine& one = out_of_line_.front();
    as_.L(one.label);
    switch (one.kind) {
      case OutOfLine::Kind::Exit:
      case OutOfLine::Kind::FullExit: Exit(one.at, one.kind == OutOfLine::Kind::FullExit); break;
      case OutOfLine::Kind::By:
        as_.mov(rsi, reinterpret_cast<uint64_t>(&code_[one.at]));
        CallAt(OffsetOf(one.stub));
        GoToIf(kNotEqual, one.at + 1);
        Exit(one.at, false);
        break;
      case OutOfLine::Kind::Order:
        as_.mov(rsi, reinterpret_cast<uint64_t>(&code_[one.at]));
        CallAt(OffsetOf(Stub::Order));
        as_.cmp(rax, 0);
        GoToIf(ConditionOf(Decode(code_[one.at].op).op), code_[one.at].x);
        GoTo(code_[one.at].y);
        break;
      case OutOfLine::Kind::OnBy:
        as_.mov(rsi, reinterpret_cast<uint64_t>(&code_[one.at]));
        JumpAt(OffsetOf(one.stub));
        break;
    }
    out_of_line_.pop_front();
  }
}

void NativeScheduledMaker::GoToScope(const ScopeCode& scope) {
  as_.db(0xe9);
  begin_jumps_.emplace_back(static_cast<uint32_t>(as_.getSize()), scope.id.index);
  as_.dd(0);
}

void NativeScheduledMaker::SetResume(uint32_t at) {
  as_.mov(rcx, reinterpret_cast<uint64_t>(&code_[at]));
  as_.mov(ptr[rbx + frame_at::kResume], rcx);
}

}  // namespace df::tagged
