// Word code -> machine code, one instruction after the other.
#include "runtime/engines/tagged/x86/maker.h"

namespace df::tagged {

NativeMaker::NativeMaker(Program& p, const ScopeCode& scope, NativeProgram& native)
    : NativeArithmetic(native.assembler), p_(p), scope_(scope), native_(native), words_(*scope.words),
      code_(llvm::ArrayRef(p.direct.code).slice(words_.begin, words_.end - words_.begin)),
      first_(words_.begin) {
  size_t slots = scope.frame_bytes / sizeof(uint64_t);
  double_.resize(slots);
  reads_.resize(slots);
  written_.resize(slots);
  joins_.resize(code_.size());
}

void NativeMaker::Run() {
  FindWays();
  FindClasses();
  FindLive();
  native_.entries[first_ + 1] = static_cast<uint32_t>(as_.getSize());
  as_.L(native_.begins[scope_.id.index]);
  EmitFrom(1);
  while (!todo_.empty()) {
    Todo next = std::move(todo_.back());
    todo_.pop_back();
    as_.L(next.label);
    held_ = next.held;
    EmitFrom(next.at);
  }
  EmitExits();
  EmitEntries();
}

// From an instruction on, with `held_`, until the way ends or others go on with it.
void NativeMaker::EmitFrom(uint32_t at) {
  while (at < code_.size()) {
    at_ = at;
    pinned_ = 0;
    if (ways_[at] > 1 || loops_[at]) {
      if (joins_[at].made) return Meet(at, held_);
      MakeJoin(at);
    }
    const DirectInstr& in = code_[at];
    Decoded op = Decode(in.op);
    switch (op.form) {
      case NativeForm::BranchSlotSlot:
      case NativeForm::BranchSlotConstant: at = EmitBranch(at, op); continue;
      case NativeForm::SlotSlot:
      case NativeForm::SlotConstant:
      case NativeForm::ConstantSlot: EmitArithmetic(in, at, op); break;
      case NativeForm::Unary: EmitUnary(in, op.op); break;
      case NativeForm::Other:
        switch (in.op) {
          case Direct::Load: SetConstant(in.d, in.imm); break;
          case Direct::LoadJump:
            SetConstant(in.d, int64_t{static_cast<int32_t>(in.y)});
            at = TargetOf(at, in.x);
            continue;
          case Direct::MoveJump:
            Copy(in.d, in.a);
            at = TargetOf(at, in.x);
            continue;
          case Direct::Jump: at = TargetOf(at, in.x); continue;
          case Direct::MoveTwo:
          case Direct::MoveTwoZero: EmitMoves(in); break;
          case Direct::Branch: at = EmitBranch(at, op); continue;
          case Direct::Tick: case Direct::TickOwn: case Direct::MoveTick: case Direct::MoveTwoTick: at = EmitTick(at); continue;
          case Direct::Count:
          case Direct::CountCall: EmitCount(in); break;
          case Direct::Return:
          case Direct::ReturnConstant: return EmitReturn(at);
          case Direct::Call0: case Direct::Call1: case Direct::Call2: case Direct::Call3: case Direct::Call4:
          case Direct::CallMany: at = EmitCall(at); continue;
          default:  // word code has no other
            as_.jmp(ExitTo(at));
            return;
        }
    }
    ++at;
  }
}

// One after the other.
void NativeMaker::EmitMoves(const DirectInstr& in) {
  Copy(in.d, in.a);
  pinned_ = 0;
  Copy(in.y, in.x);
  pinned_ = 0;
  if (in.op == Direct::MoveTwoZero) SetConstant(in.b, 0);
}

}  // namespace df::tagged
