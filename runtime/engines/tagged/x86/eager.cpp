// Eager code -> machine code: one instruction after the other, and what computes and branches.
#include "runtime/engines/tagged/x86/eager.h"

#include <algorithm>

#include "runtime/engines/tagged/code/direct_data.h"
#include "runtime/engines/tagged/x86/direct.h"

namespace df::tagged {

using Xbyak::Reg64;
using Xbyak::Xmm;
using namespace Xbyak::util;

NativeEagerMaker::NativeEagerMaker(const Program& p, NativeProgram& native)
    : NativeSlots(native.assembler, p.eager.code, p.eager.lists), p_(p), native_(native) {
  made_.resize(code_.size());
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
  Link();
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
  if (EmitCommon(at)) return;
  switch (in.op) {
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
    case Direct::Narrow:
      as_.cmp(State(in.a), kWord);
      as_.jne(FailureAt(at));
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
    case Direct::Return:
    case Direct::ReturnConstant:
    case Direct::ReturnOpen: return EmitReturn(at);
    default: as_.jmp(FailureAt(at)); return;  // Delay and MakeCell
  }
}

// ---------------------------------------------------------------- ways

const Xbyak::Label& NativeEagerMaker::FailureAt(uint32_t at) {
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

}  // namespace df::tagged
