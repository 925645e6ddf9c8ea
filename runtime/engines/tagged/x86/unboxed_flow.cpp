// What is known of a scope's unboxed code before machine code is made of it: where ways meet, which slots are live, which hold doubles.
#include <algorithm>

#include "runtime/engines/tagged/x86/unboxed.h"

namespace df::tagged {

Decoded Decode(Scheduled op) {
  switch (op) {
#define DF_SCHEDULED_BINARY(name, type, condition, expression)                        \
  case Scheduled::name##RR: return {NativeForm::SlotSlot, NativeOp::name, false};     \
  case Scheduled::name##RK: return {NativeForm::SlotConstant, NativeOp::name, false}; \
  case Scheduled::name##KR: return {NativeForm::ConstantSlot, NativeOp::name, false};
#define DF_SCHEDULED_COMPARE(name, expression)                                                  \
  DF_SCHEDULED_BINARY(name, int64_t, true, expression)                                          \
  case Scheduled::Branch##name##RR: return {NativeForm::BranchSlotSlot, NativeOp::name, false}; \
  case Scheduled::Branch##name##RK: return {NativeForm::BranchSlotConstant, NativeOp::name, false};
#define DF_SCHEDULED_UNARY(name, type, condition, expression) \
  case Scheduled::name: return {NativeForm::Unary, NativeOp::name, false};
#define DF_SCHEDULED_INTEGER(name, expression)                                        \
  case Scheduled::name##ZRR: return {NativeForm::SlotSlot, NativeOp::name, true};     \
  case Scheduled::name##ZRK: return {NativeForm::SlotConstant, NativeOp::name, true}; \
  case Scheduled::name##ZKR: return {NativeForm::ConstantSlot, NativeOp::name, true};
#define DF_SCHEDULED_INTEGER_COMPARE(name, expression)                                          \
  case Scheduled::name##ZRR: return {NativeForm::SlotSlot, NativeOp::name, true};               \
  case Scheduled::name##ZRK: return {NativeForm::SlotConstant, NativeOp::name, true};           \
  case Scheduled::name##ZKR: return {NativeForm::ConstantSlot, NativeOp::name, true};           \
  case Scheduled::Branch##name##ZRR: return {NativeForm::BranchSlotSlot, NativeOp::name, true}; \
  case Scheduled::Branch##name##ZRK: return {NativeForm::BranchSlotConstant, NativeOp::name, true};
#define DF_SCHEDULED(name, operands)
#include "runtime/engines/tagged/code/scheduled_ops.def"
    default: return {};
  }
}

namespace {

// The next iteration of a loop begins.
bool IsTick(Scheduled op) {
  return op == Scheduled::Tick || op == Scheduled::TickOwn || op == Scheduled::MoveTick || op == Scheduled::MoveTwoTick;
}

}  // namespace

void NativeUnboxedMaker::ForEachTarget(uint32_t at, llvm::function_ref<void(uint32_t target)> each) const {
  const ScheduledInstr& in = code_[at];
  switch (in.op) {
    case Scheduled::Jump: case Scheduled::MoveJump: case Scheduled::LoadJump:
    case Scheduled::Tick: case Scheduled::TickOwn: case Scheduled::MoveTick: case Scheduled::MoveTwoTick: return each(TargetOf(at, in.x));
    case Scheduled::Branch: break;
    default:
      if (NativeForm form = Decode(in.op).form; form != NativeForm::BranchSlotSlot && form != NativeForm::BranchSlotConstant) return;
  }
  each(TargetOf(at, in.x));
  each(TargetOf(at, in.y));
}

void NativeUnboxedMaker::ForEachRead(const ScheduledInstr& in, llvm::function_ref<void(uint32_t slot)> each) {
  switch (Decode(in.op).form) {
    case NativeForm::SlotSlot:
    case NativeForm::BranchSlotSlot: each(in.a); return each(in.b);
    case NativeForm::SlotConstant: case NativeForm::ConstantSlot: case NativeForm::BranchSlotConstant:
    case NativeForm::Unary: return each(in.a);
    case NativeForm::Other: break;
  }
  switch (in.op) {
    case Scheduled::MoveTwo:
    case Scheduled::MoveTwoZero:
    case Scheduled::Arguments: each(in.a); return each(in.x);
    case Scheduled::MoveJump: case Scheduled::Branch: case Scheduled::Return: case Scheduled::Call1: return each(in.a);
    case Scheduled::Tick: case Scheduled::TickOwn: return each(in.d);
    case Scheduled::MoveTick: each(in.a); return each(in.d);
    case Scheduled::MoveTwoTick: each(in.a); each(in.y & 0xffff); return each(in.d);
    default: return;
  }
}

void NativeUnboxedMaker::ForEachWrite(const ScheduledInstr& in, llvm::function_ref<void(uint32_t slot)> each) {
  switch (Decode(in.op).form) {
    case NativeForm::SlotSlot: case NativeForm::SlotConstant: case NativeForm::ConstantSlot:
    case NativeForm::Unary: return each(in.d);
    case NativeForm::BranchSlotSlot: case NativeForm::BranchSlotConstant: return;
    case NativeForm::Other: break;
  }
  switch (in.op) {
    case Scheduled::MoveTwoZero: each(in.b); [[fallthrough]];
    case Scheduled::MoveTwo: each(in.y); return each(in.d);
    case Scheduled::Load: case Scheduled::MoveJump: case Scheduled::LoadJump: case Scheduled::Tick: case Scheduled::TickOwn:
    case Scheduled::GotWord: return each(in.d);
    case Scheduled::MoveTick: each(in.b); return each(in.d);
    case Scheduled::MoveTwoTick: each(in.b); each(in.y >> 16); return each(in.d);
    default: return;
  }
}

// Whether the next instruction follows.
bool NativeUnboxedMaker::GoesOn(uint32_t at) const {
  bool leads = false;
  ForEachTarget(at, [&](uint32_t) { leads = true; });
  return !leads && code_[at].op != Scheduled::Return && code_[at].op != Scheduled::ReturnConstant;
}

void NativeUnboxedMaker::FindWays() {
  ways_.assign(code_.size(), 0);
  loops_.assign(code_.size(), false);
  auto add = [&](uint32_t at) { ways_[at] = static_cast<uint8_t>(std::min(ways_[at] + 1, 2)); };
  for (uint32_t at = 0; at < code_.size(); ++at) {
    if (GoesOn(at)) add(at + 1);  // of Words, too: the beginning
    ForEachTarget(at, [&](uint32_t target) {
      add(target);
      if (IsTick(code_[at].op)) loops_[target] = true;
    });
  }
}

// A slot is kept in registers for doubles if that is what computes with it. Moves, results and constants are of either kind.
void NativeUnboxedMaker::FindClasses() {
  std::vector<bool> word(double_.size());
  std::vector<std::pair<uint32_t, uint32_t>> moves;
  for (const ScheduledInstr& in : code_) {
    if (in.op == Scheduled::Move || in.op == Scheduled::MoveJump || in.op == Scheduled::MoveTwo || in.op == Scheduled::MoveTwoZero)
      moves.emplace_back(in.d, in.a);
    if (in.op == Scheduled::MoveTwo || in.op == Scheduled::MoveTwoZero) moves.emplace_back(in.y, in.x);
    if (in.op == Scheduled::MoveTick || in.op == Scheduled::MoveTwoTick) moves.emplace_back(in.b, in.a);
    if (in.op == Scheduled::MoveTwoTick) moves.emplace_back(in.y >> 16, in.y & 0xffff);
    Decoded op = Decode(in.op);
    if (op.form == NativeForm::Other) {
      if (in.op == Scheduled::Branch) word[in.a] = true;
      continue;
    }
    bool reads = false, writes = false;  // doubles
    switch (op.op) {
      case NativeOp::Move: continue;
      case NativeOp::AddD: case NativeOp::SubD: case NativeOp::MulD: case NativeOp::DivD: case NativeOp::StrongMulD: case NativeOp::StrongDivD:
      case NativeOp::NegD: case NativeOp::SqrtD: reads = writes = true; break;
      case NativeOp::EqD: case NativeOp::NeD: case NativeOp::LtD: case NativeOp::LeD: case NativeOp::GtD:
      case NativeOp::GeD: reads = true; break;
      case NativeOp::ToDouble: writes = true; break;
      default: break;
    }
    ForEachRead(in, [&](uint32_t slot) { (reads ? double_ : word)[slot] = true; });
    ForEachWrite(in, [&](uint32_t slot) { (writes ? double_ : word)[slot] = true; });
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [to, from] : moves)
      for (auto [one, other] : {std::pair(to, from), std::pair(from, to)})
        if (double_[one] && !word[one] && !double_[other] && !word[other]) changed = double_[other] = true;
  }
  for (size_t slot = 0; slot < double_.size(); ++slot)
    if (word[slot]) double_[slot] = false;
}

void NativeUnboxedMaker::FindLive() {
  live_.assign(code_.size(), {});
  for (const ScheduledInstr& in : code_) {
    ForEachRead(in, [&](uint32_t slot) { ++reads_[slot]; });
    ForEachWrite(in, [&](uint32_t slot) { written_[slot] = true; });
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t at = static_cast<uint32_t>(code_.size()); at-- > 0;) {
      Slots live;
      if (GoesOn(at)) live = live_[at + 1];
      ForEachTarget(at, [&](uint32_t target) { live |= live_[target]; });
      ForEachWrite(code_[at], [&](uint32_t slot) { live.reset(slot); });
      ForEachRead(code_[at], [&](uint32_t slot) { live.set(slot); });
      changed |= live != live_[at];
      live_[at] = live;
    }
  }
}

}  // namespace df::tagged
