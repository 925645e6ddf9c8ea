// Unboxed code -> machine code, one instruction after the other.
#include "runtime/engines/tagged/x86/unboxed.h"

namespace df::tagged {

NativeUnboxedMaker::NativeUnboxedMaker(Program& p, const ScopeCode& scope, NativeProgram& native)
    : NativeArithmetic(native.assembler), p_(p), scope_(scope), native_(native), unboxed_(*scope.unboxed),
      code_(llvm::ArrayRef(p.scheduled.code).slice(unboxed_.begin, unboxed_.end - unboxed_.begin)),
      first_(unboxed_.begin) {
  size_t slots = scope.frame_bytes / sizeof(uint64_t);
  double_.resize(slots);
  reads_.resize(slots);
  written_.resize(slots);
  joins_.resize(code_.size());
}

void NativeUnboxedMaker::Run() {
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
void NativeUnboxedMaker::EmitFrom(uint32_t at) {
  while (at < code_.size()) {
    at_ = at;
    pinned_ = 0;
    if (ways_[at] > 1 || loops_[at]) {
      if (joins_[at].made) return Meet(at, held_);
      MakeJoin(at);
    }
    const ScheduledInstr& in = code_[at];
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
          case Scheduled::Load: SetConstant(in.d, in.imm); break;
          case Scheduled::LoadJump:
            SetConstant(in.d, int64_t{static_cast<int32_t>(in.y)});
            at = TargetOf(at, in.x);
            continue;
          case Scheduled::MoveJump:
            Copy(in.d, in.a);
            at = TargetOf(at, in.x);
            continue;
          case Scheduled::Jump: at = TargetOf(at, in.x); continue;
          case Scheduled::MoveTwo:
          case Scheduled::MoveTwoZero: EmitMoves(in); break;
          case Scheduled::Branch: at = EmitBranch(at, op); continue;
          case Scheduled::Tick: case Scheduled::TickOwn: case Scheduled::MoveTick: case Scheduled::MoveTwoTick: at = EmitTick(at); continue;
          case Scheduled::Count:
          case Scheduled::CountCall: EmitCount(in); break;
          case Scheduled::Return:
          case Scheduled::ReturnConstant: return EmitReturn(at);
          case Scheduled::Call0: case Scheduled::Call1: case Scheduled::Call2: case Scheduled::Call3: case Scheduled::Call4:
          case Scheduled::CallMany: at = EmitCall(at); continue;
          default:  // unboxed code has no other
            as_.jmp(ExitTo(at));
            return;
        }
    }
    ++at;
  }
}

// One after the other.
void NativeUnboxedMaker::EmitMoves(const ScheduledInstr& in) {
  Copy(in.d, in.a);
  pinned_ = 0;
  Copy(in.y, in.x);
  pinned_ = 0;
  if (in.op == Scheduled::MoveTwoZero) SetConstant(in.b, 0);
}

}  // namespace df::tagged
