// Frameless code -> machine code: one instruction after the other, and what computes and branches.
#include "runtime/engines/tagged/x86/frameless.h"

#include <algorithm>

#include "runtime/engines/tagged/code/scheduled_data.h"
#include "runtime/engines/tagged/x86/scheduled.h"

namespace df::tagged {

using Xbyak::Reg64;
using Xbyak::Xmm;
using namespace Xbyak::util;

NativeFramelessMaker::NativeFramelessMaker(const Program& p, NativeProgram& native)
    : NativeSlots(native.assembler, p.frameless.code, p.frameless.lists), p_(p), native_(native) {
  made_.resize(code_.size());
}

void NativeFramelessMaker::Run(uint32_t most, llvm::function_ref<void()> pause) {
  native_.frameless_entries.resize(code_.size());
  std::vector<uint32_t> begins;
  for (const ScopeCode& scope : p_.scopes)
    if (scope.frameless != kNone) begins.push_back(scope.frameless);
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
  Link();
}

// Called from C++ with the FramelessRun and an entry.
void NativeFramelessMaker::EmitFrame() {
  as_.align(16);
  native_.enter_frameless = static_cast<uint32_t>(as_.getSize());
  as_.push(rbx);
  as_.mov(rax, rsi);
  as_.mov(kSlots, ptr[kRun + offsetof(FramelessRun, slots)]);
  as_.mov(kOwned, ptr[kRun + offsetof(FramelessRun, owned)]);
  as_.mov(kHole, ptr[kRun + offsetof(FramelessRun, hole)]);
  as_.jmp(rax);
  as_.L(leave_);
  as_.mov(ptr[kRun + offsetof(FramelessRun, at)], rax);
  as_.mov(ptr[kRun + offsetof(FramelessRun, slots)], kSlots);
  as_.mov(ptr[kRun + offsetof(FramelessRun, owned)], kOwned);
  as_.mov(ptr[kRun + offsetof(FramelessRun, hole)], kHole);
  as_.pop(rbx);
  as_.ret();
}

void NativeFramelessMaker::EmitBody(uint32_t begin, uint32_t end) {
  as_.align(16);
  for (uint32_t at = begin; at < end; ++at) {
    if (at == attempt_end_) attempt_ = kNone;
    offset_[at] = static_cast<uint32_t>(as_.getSize());
    native_.frameless_entries[at] = offset_[at];
    Emit(at);
  }
  attempt_ = kNone;
  EmitExits();
}

void NativeFramelessMaker::Emit(uint32_t at) {
  const ScheduledInstr& in = code_[at];
  if (EmitCommon(at)) return;
  switch (in.op) {
    case Scheduled::LoadOpen:
      LoadConstant(rax, in.x, p_.constants[in.x]);
      as_.mov(Slot(in.d), rax);
      as_.mov(State(in.d), StateOf(p_.constants[in.x]));
      return;
    case Scheduled::MoveOpen:
      as_.movzx(ecx, State(in.a));
      as_.mov(rax, Slot(in.a));
      as_.mov(State(in.d), cl);
      as_.mov(Slot(in.d), rax);
      return;
    case Scheduled::Narrow:
      as_.cmp(State(in.a), kWord);
      as_.jne(FailureAt(at));
      Copy(in.d, in.a);
      return;
    case Scheduled::Match:
      ReadConstructor(in.a);
      as_.mov(Slot(in.d), rax);
      return;
    case Scheduled::Field:
    case Scheduled::FieldPlain:
    case Scheduled::Fields: return EmitFields(at);
    case Scheduled::ForceCons: return EmitForceCons(at);
    case Scheduled::TwoFields: return EmitTwoFields(at, false);
    case Scheduled::Force:
    case Scheduled::ForcePlain: return EmitForce(at);
    case Scheduled::Construct: return EmitConstruct(at);
    case Scheduled::Try: return EmitTry(at);
    case Scheduled::Tried:
    case Scheduled::TriedOpen: return EmitTried(at);
    case Scheduled::Chain: return EmitChain(at);
    case Scheduled::Return:
    case Scheduled::ReturnConstant:
    case Scheduled::ReturnOpen: return EmitReturn(at);
    default: as_.jmp(FailureAt(at)); return;  // Delay and MakeCell
  }
}

// ---------------------------------------------------------------- ways

const Xbyak::Label& NativeFramelessMaker::FailureAt(uint32_t at) {
  if (exits_.empty() || exits_.back().at != at) exits_.push_back({Xbyak::Label(), at, attempt_});
  return exits_.back().label;
}

void NativeFramelessMaker::EmitExits() {
  for (; !exits_.empty(); exits_.pop_front()) {
    Exit& one = exits_.front();
    as_.L(one.label);
    Constant(rax, one.attempt == kNone ? 0 : reinterpret_cast<int64_t>(&code_[one.attempt]));
    as_.mov(ptr[kRun + offsetof(FramelessRun, attempt)], rax);
    as_.mov(rax, reinterpret_cast<uint64_t>(&code_[one.at]));
    as_.jmp(leave_);
  }
}

}  // namespace df::tagged
