// The schedule of one scope -> its scheduled code: which values are used last, and one instruction per step.
#include <algorithm>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "runtime/engines/tagged/code/scheduled_data.h"
#include "runtime/engines/tagged/make/scheduled_emit.h"
#include "runtime/value/store.h"

namespace df::tagged {

using ir::NodeId;
using ir::Op;
using ir::TypeKind;

namespace {

// What the tables of states may take, in bytes a scope.
constexpr size_t kMostStateBytes = 8 << 20;

}  // namespace

uint32_t ScheduledMaker::MakeState(uint32_t standing, const Slots& live, const Slots& known) {
  if (standing == kNone) return kNone;
  const Standing& from = schedule_.standings[standing];
  ScheduledState state{from.pc, fused_, from.ready, from.tails, from.masks, {}, {}, from.stage, from.children, from.held};
  std::sort(state.tails.begin(), state.tails.end(),
            [&](uint32_t a, uint32_t b) { return p_.OrderOf(a) > p_.OrderOf(b); });
  state.states.resize(scope_.num_slots);
  for (uint32_t s = 0; s < scope_.num_slots; ++s)
    state.states[s] = !plain_[s] && live[s] ? kKept : known[s] ? 0x80 : 0;
  if (from.stage != Stage::Last)
    for (const LateParameter& parameter : scope_.late) state.states[parameter.slot] = kKept;
  for (uint32_t s = 0; s < scope_.num_slots; ++s)
    if (alias_[s] != kNone && known[s]) state.words.push_back({s, alias_[s]});
  state_bytes_ += scope_.num_slots + state.words.size() * sizeof(state.words[0]);
  out().states.push_back(std::move(state));
  return static_cast<uint32_t>(out().states.size() - 1);
}

// ---------------------------------------------------------------- steps

void ScheduledMaker::EmitMove(uint32_t d, uint32_t from) {
  if (plain_[d]) {
    good_ &= IsPlainOperand(from);
    alias_[d] = At(from);
    if (!pass_merges_) Settle(d);
  } else if (from = At(from); IsConstant(from)) {
    Add(Scheduled::LoadOpen, d).x = from & ~kConstant;
  } else {
    uint16_t a = Operand(from);
    Add(plain_[from] ? Scheduled::Widen : Scheduled::MoveOpen, d, a);
  }
}

// Moves what a slot stands for into it.
void ScheduledMaker::Settle(uint32_t operand) {
  if (operand == kNone || IsConstant(operand) || alias_[operand] == kNone) return;
  uint32_t from = std::exchange(alias_[operand], kNone);
  if (IsConstant(from)) Add(Scheduled::Load, operand).imm = Constant(from);
  else Add(Scheduled::Move, operand, from);
}

// At the end of a block, before `block`. Where several ways meet each has its own words.
void ScheduledMaker::SettleFor(uint32_t block) {
  if (flow_[block].uses == 1) return;
  for (uint32_t s = 0; s < alias_.size(); ++s)
    if (flow_[block].known_in[s]) Settle(s);
}

// Reads the field together with those that the instruction before reads of the same constructor. False if that reads none.
bool ScheduledMaker::JoinField(uint32_t d, uint16_t a, uint32_t attr) {
  if (Here() == start_[block_]) return false;
  ScheduledInstr& last = out().code.back();
  auto with_kind = [&](uint32_t slot) { return slot | (plain_[slot] ? kFieldPlain : 0); };
  uint32_t constructor = attr >> 16, field = attr & 0xffff;
  if (last.a != (a & ~kLastUse)) return false;
  switch (last.op) {
    case Scheduled::Field:
    case Scheduled::FieldPlain:
      if (last.x != constructor || last.b == field || last.d == last.a) return false;
      last.op = Scheduled::TwoFields;
      last.y = static_cast<uint32_t>(last.b) << 16 | field;
      last.d = static_cast<uint16_t>(with_kind(last.d));
      last.b = static_cast<uint16_t>(with_kind(d));
      break;
    case Scheduled::TwoFields: {
      if (last.x != constructor || last.y >> 16 == field || (last.y & 0xffff) == field) return false;
      std::vector<uint32_t>& list = out().operands;
      uint32_t first = static_cast<uint32_t>(list.size());
      list.insert(list.end(), {(last.y & 0xffff0000) | last.d, last.y << 16 | last.b, field << 16 | with_kind(d)});
      last.op = Scheduled::Fields;
      last.d = 0;
      last.b = 3;
      last.x = first;
      last.y = constructor;
      break;
    }
    case Scheduled::Fields: {
      std::vector<uint32_t>& list = out().operands;
      if (last.y != constructor || last.b == kMostFieldsTogether) return false;
      for (uint32_t i = 0; i < last.b; ++i)
        if (list[last.x + i] >> 16 == field) return false;
      list.push_back(field << 16 | with_kind(d));
      ++last.b;
      break;
    }
    default: return false;
  }
  last.a = a;
  return true;
}

// An ordinary op.
bool ScheduledMaker::EmitOp(const Step& step) {
  if (const Instr& many = p_.code[step.pc]; many.code == Code::OpMany) {
    ScheduledInstr& to = Add(Scheduled::ApplyMany, many.a, 0, many.c);
    to.x = static_cast<uint32_t>(out().operands.size());
    for (uint32_t k = 0; k < many.c; ++k) out().operands.push_back(Listed(tagged::ListOperand(p_.lists[many.b + k])));
    const ir::Node& node = g_.nodes[p_.node_of[step.pc]];
    if ((node.op == Op::ReadStore || node.op == Op::WriteStore) && WidthOf(node.attr) != StoreWidth::Value) {
      const uint32_t* list = out().operands.data() + to.x;
      auto is_word = [](uint32_t operand) { return (operand & (kConstant | kPlainOperand)) != 0; };
      const bool writes = node.op == Op::WriteStore;
      if (!(list[1] & kConstant) && is_word(list[2]) && (!writes || is_word(list[3]))) to.y = (node.attr + 1) | (writes ? kChangesWord : 0);
    }
    return true;
  }
  NodeId id = p_.node_of[step.pc];
  const ir::Node& node = g_.nodes[id];
  KernelTypes types = p_.types[id.index];
  bool two = node.num_inputs > 1;
  const Instr& stands = p_.code[step.pc];
  Instr in = stands;
  in.b = At(in.b);
  if (two) in.c = At(in.c);
  bool x_constant = IsConstant(in.b), y_constant = two && IsConstant(in.c);
  bool plain = IsPlainOperand(in.b) && (!two || IsPlainOperand(in.c)) && plain_[in.a];
  auto form = [](Scheduled rr, int i) { return static_cast<Scheduled>(static_cast<uint16_t>(rr) + i); };  // RR, RK, KR
  auto binary = [&](Scheduled rr) {
    if (x_constant && y_constant) return false;
    if (y_constant) Add(form(rr, 1), in.a, Operand(in.b)).imm = Constant(in.c);
    else if (x_constant) Add(form(rr, 2), in.a, Operand(in.c)).imm = Constant(in.b);
    else {
      uint16_t a = Operand(in.b), b = Operand(in.c);
      Add(rr, in.a, a, b);
    }
    return true;
  };
  auto unary = [&](Scheduled op) {
    if (x_constant) return false;
    Add(op, in.a, Operand(in.b));
    return true;
  };
  auto known = [&]() -> bool {
    if (types.operand == TypeKind::Integer) {
      // Constants that are not small are left to Apply.
      if ((x_constant && !p_.constants[in.b & ~kConstant].is_word()) ||
          (y_constant && !p_.constants[in.c & ~kConstant].is_word()))
        return false;
      switch (node.op) {
        case Op::Add: return binary(Scheduled::AddZRR);
        case Op::Sub: return binary(Scheduled::SubZRR);
        case Op::Mul: return binary(Scheduled::MulZRR);
        case Op::Quot: return binary(Scheduled::QuotZRR);
        case Op::Rem: return binary(Scheduled::RemZRR);
        case Op::Div: return binary(Scheduled::DivZRR);
        case Op::Mod: return binary(Scheduled::ModZRR);
        case Op::Convert: return types.result == TypeKind::Int && unary(Scheduled::Narrow);
        default: break;
      }
      if (std::optional<Scheduled> compare = IntegerCompareOf(node.op)) return binary(*compare);
      return false;
    }
    if (node.op == Op::Convert && types.operand == TypeKind::Int && types.result == TypeKind::Integer)
      return unary(Scheduled::Widen);
    if (node.op == Op::Seq || node.op == Op::After) {
      EmitMove(in.a, in.c);
      if (!x_constant && !plain_[in.b] && IsLast(in.b)) Add(Scheduled::Drop, 0, in.b);
      return true;
    }
    if (node.op == Op::Match && plain_[in.a] && IsPlainOperand(in.b)) {  // a constructor without fields is its number
      EmitMove(in.a, in.b);
      return true;
    }
    if (node.op == Op::Match) return !x_constant && unary(Scheduled::Match);
    if (node.op == Op::Field) {
      if (x_constant || plain_[in.b]) return false;
      // A tensor of a lazy field: the kernel sees to it that no reference is let through. A word's kind is looked at below.
      const ir::Constructor& row = g_.types[g_.TypeOf(g_.InputsOf(id)[0]).type].constructors[node.attr >> 16];
      if (row.fields[node.attr & 0xffff].type.lazy && !types.lazy && types.result == TypeKind::Tensor) return false;
      uint16_t a = Operand(in.b);
      if (JoinField(in.a, a, node.attr)) return true;
      Add(plain_[in.a] ? Scheduled::FieldPlain : Scheduled::Field, in.a, a, node.attr & 0xffff).x = node.attr >> 16;
      return true;
    }
    if (!plain) return false;
    if (types.operand == TypeKind::Double) {
      switch (node.op) {
        case Op::Add: return binary(Scheduled::AddDRR);
        case Op::Sub: return binary(Scheduled::SubDRR);
        case Op::Mul: return binary(Scheduled::MulDRR);
        case Op::FDiv: return binary(Scheduled::DivDRR);
        case Op::StrongMul: return binary(Scheduled::StrongMulDRR);
        case Op::StrongDiv: return binary(Scheduled::StrongDivDRR);
        case Op::Eq: return binary(Scheduled::EqDRR);
        case Op::Ne: return binary(Scheduled::NeDRR);
        case Op::Lt: return binary(Scheduled::LtDRR);
        case Op::Le: return binary(Scheduled::LeDRR);
        case Op::Gt: return binary(Scheduled::GtDRR);
        case Op::Ge: return binary(Scheduled::GeDRR);
        case Op::Neg: return unary(Scheduled::NegD);
        case Op::Sqrt: return unary(Scheduled::SqrtD);
        default: return false;
      }
    }
    if (IsIntLike(types.operand))
      if (std::optional<Scheduled> compare = CompareOf(node.op)) return binary(*compare);
    if (types.operand == TypeKind::Bool)
      return node.op == Op::Not ? unary(Scheduled::Not) : node.op == Op::BoolToInt && unary(Scheduled::Move);
    if (types.operand == TypeKind::Char) return node.op == Op::Ord && unary(Scheduled::Move);
    if (types.operand == TypeKind::Alt) return node.op == Op::AltToInt && unary(Scheduled::Move);
    if (types.operand != TypeKind::Int) return false;
    switch (node.op) {
      case Op::Add: return binary(Scheduled::AddRR);
      case Op::Sub: return binary(Scheduled::SubRR);
      case Op::Mul: return binary(Scheduled::MulRR);
      case Op::Quot: return binary(Scheduled::QuotRR);
      case Op::Rem: return binary(Scheduled::RemRR);
      case Op::Div: return binary(Scheduled::DivRR);
      case Op::Mod: return binary(Scheduled::ModRR);
      case Op::BitAnd: return binary(Scheduled::BitAndRR);
      case Op::BitOr: return binary(Scheduled::BitOrRR);
      case Op::BitXor: return binary(Scheduled::BitXorRR);
      case Op::Neg: return unary(Scheduled::Neg);
      case Op::Abs: return unary(Scheduled::Abs);
      case Op::Convert: return types.result == TypeKind::Double && unary(Scheduled::ToDouble);
      default: return false;
    }
  };
  if (known()) return true;
  // The kernel finds its operands where event code has them.
  Settle(stands.b);
  if (two) Settle(stands.c);
  uint16_t a = IsConstant(stands.b) ? 0 : Operand(stands.b);
  uint16_t b = !two || IsConstant(stands.c) ? 0 : Operand(stands.c);
  ScheduledInstr& apply = Add(plain_[in.a] ? Scheduled::Apply : Scheduled::ApplyOpen, in.a, a, b);
  const bool element = node.op == Op::ReadFrozen && WidthOf(node.attr) != StoreWidth::Value && node.attr < 1u << 23;
  if ((IsReading(node.op) || element) && plain_[in.a] && !IsConstant(stands.b) && !(a & kLastUse) && (!two || IsPlainOperand(stands.c))) {
    apply.x = (element ? node.attr << 8 | static_cast<uint32_t>(node.op) : static_cast<uint32_t>(node.op)) + 1;
    apply.y = two ? stands.c : 0;
  }
  return true;
}

// The index of an element that a later region sets.
bool ScheduledMaker::EmitCheck(const Step& step) {
  uint32_t index = tagged::ListOperand(p_.lists[p_.code[step.pc].b + 1]);
  if (!IsPlainOperand(index)) return false;
  if (IsConstant(At(index))) Settle(index);
  index = At(index);
  Add(Scheduled::InRange, 0, Operand(index)).imm = ElementsOfFirst(g_, p_.node_of[step.pc]);
  return true;
}

void ScheduledMaker::EmitBranch(uint32_t index, const Step& step) {
  Instr in = p_.code[step.pc];
  const Branch& branch = scope_.branches[in.b];
  uint32_t fused = flow_[index].fused;
  if (fused == kNone) {
    if (IsConstant(At(in.a))) Settle(in.a);
    in.a = At(in.a);
  }
  auto targets = [&](uint32_t at, uint32_t x, uint32_t y) {
    patches_.push_back({at, 0, x, index});
    patches_.push_back({at, 1, y, index});
  };
  if (fused != kNone) {
    const Step& predicate = schedule_.blocks[index].steps[fused];
    Instr compare = p_.code[predicate.pc];
    Op op = g_.nodes[p_.node_of[predicate.pc]].op;
    if (op != Op::Match) {
      for (uint32_t* operand : {&compare.b, &compare.c}) {
        if (IsConstant(*operand)) continue;
        if (IsConstant(At(*operand))) Settle(*operand);
        *operand = At(*operand);
      }
      bool rr = !IsConstant(compare.c);
      Add(*CompareAndBranchOf(op, p_.types[p_.node_of[predicate.pc].index].operand, rr), 0, compare.b,
          rr ? compare.c : static_cast<uint16_t>(Constant(compare.c)));
      return targets(Here() - 1, step.targets[0], step.targets[1]);
    }
    if (plain_[compare.b]) {  // the number itself
      if (IsConstant(At(compare.b))) Settle(compare.b);
      in.a = At(compare.b);
    } else if (step.targets.size() == 2) {
      Add(Scheduled::BranchMatch, 0, compare.b);
      return targets(Here() - 1, step.targets[0], step.targets[1]);
    } else {
      in.a = compare.b;
    }
  } else if (branch.is_bool && step.targets.size() == 2 && !IsConstant(in.a)) {
    Add(Scheduled::Branch, 0, in.a);
    return targets(Here() - 1, step.targets[0], step.targets[1]);
  }
  good_ &= fused != kNone || (!branch.is_bool && !IsConstant(in.a) && plain_[in.a]);
  bool number = !IsConstant(in.a) && plain_[in.a];
  if (number && step.targets.size() == 2) {
    Add(Scheduled::Branch, 0, in.a);
    return targets(Here() - 1, step.targets[1], step.targets[0]);
  }
  Add(number ? Scheduled::Choose : Scheduled::ChooseMatch, 0, in.a, static_cast<uint32_t>(step.targets.size())).x =
      static_cast<uint32_t>(out().operands.size());
  for (uint32_t target : step.targets) {
    patches_.push_back({static_cast<uint32_t>(out().operands.size()), 2, target, index});
    out().operands.push_back(kNone);
  }
}

bool ScheduledMaker::EmitStep(uint32_t index, size_t i, const Slots& live_before) {
  const Block& block = schedule_.blocks[index];
  const Step& step = block.steps[i];
  if (i == flow_[index].fused || flow_[index].idle[i]) return true;
  flow_.ForEachUse(step, [&](uint32_t slot) { ++uses_[slot]; });
  pc_ = step.pc;
  state_ = step.kind == StepKind::Yield ? kNone : MakeState(step.before, live_before, known_);
  bool good = true;
  const Instr* in = step.pc == kNone ? nullptr : &p_.code[step.pc];
  switch (step.kind) {
    case StepKind::Op: good = EmitOp(step); break;
    case StepKind::Check: good = EmitCheck(step); break;
    case StepKind::Defer: {
      const TensorGroup& group = p_.tensor_groups[in->b];
      ScheduledInstr& to = Add(Scheduled::Defer, 0, 0, static_cast<uint32_t>(group.operands.size()));
      to.x = static_cast<uint32_t>(out().operands.size());
      to.y = in->b;
      for (uint32_t operand : group.operands) out().operands.push_back(Listed(operand));
      for (uint32_t slot : group.results) good &= !plain_[slot];
      break;
    }
    case StepKind::Construct:
      if (in->c == 0) {
        Add(plain_[in->a] ? Scheduled::Load : Scheduled::Nullary, in->a).imm = g_.nodes[p_.node_of[step.pc]].attr;
        break;
      } else {
        ScheduledInstr& to = Add(Scheduled::Construct, in->a, 0, in->c);
        to.x = static_cast<uint32_t>(out().operands.size());
        to.y = g_.nodes[p_.node_of[step.pc]].attr;
        for (uint32_t k = 0; k < in->c; ++k) out().operands.push_back(Listed(tagged::ListOperand(p_.lists[in->b + k])));
        good = in->c < 65536;
      }
      break;
    case StepKind::Delay: {
      ScheduledInstr& to = Add(Scheduled::Delay, in->a, 0, static_cast<uint32_t>(step.operands.size()));
      to.x = static_cast<uint32_t>(out().operands.size());
      to.y = in->b;
      to.a = llvm::is_contained(step.operands, kNone);
      for (uint32_t operand : step.operands) out().operands.push_back(operand == kNone ? kNone : Listed(operand));
      break;
    }
    case StepKind::Capture: {
      const uint32_t operand = Listed(in->b);
      Add(Scheduled::Capture, 0, Operand(in->a), in->c).x = static_cast<uint32_t>(out().operands.size());
      out().operands.push_back(operand);
      good = !plain_[in->a];
      break;
    }
    case StepKind::Merge: EmitMove(in->a, in->b); break;
    case StepKind::Mark: break;
    case StepKind::Force:
      if (IsConstant(in->b) || plain_[in->b]) {
        EmitMove(in->a, in->b);
      } else {
        uint16_t a = Operand(in->b);
        Add(plain_[in->a] ? Scheduled::ForcePlain : Scheduled::Force, in->a, a);
      }
      break;
    case StepKind::Call: good = EmitCall(step, live_after_); break;
    case StepKind::Resume: good = EmitResume(step, live_after_); break;
    case StepKind::Yield: EmitYield(step, live_after_); break;
    case StepKind::Next: good = EmitNext(step); break;
    case StepKind::Return: good = EmitReturn(step); break;
    case StepKind::Branch: EmitBranch(index, step); break;
    case StepKind::Jump: break;
  }
  flow_.ForEachUse(step, [&](uint32_t slot) { uses_[slot] = 0; });
  return good && good_;
}

// Gives up the open slots of `before` that are not in `after`.
void ScheduledMaker::DropDead(const Slots& before, const Slots& after) {
  for (uint32_t s = 0; s < before.size(); ++s)
    if (before[s] && !after[s]) Add(Scheduled::Drop, 0, s);
}

void ScheduledMaker::EmitBlock(uint32_t index) {
  for (;;) {
    const ScheduledFlow::BlockFlow& flow = flow_[index];
    const Block& block = schedule_.blocks[index];
    start_[index] = Here();
    block_ = index;
    pc_ = state_ = fused_ = kNone;
    if (p_.count) Add(Scheduled::Count).x = static_cast<uint32_t>(block.steps.size());
    if (flow.uses == 1 && flow.only != kNone) DropDead(flow_.LiveAfterBranch(flow.only), flow.live_in);
    known_ = flow.known_in;
    alias_.assign(scope_.num_slots, kNone);
    if (!alias_in_[index].empty()) alias_ = std::exchange(alias_in_[index], {});
    // After the last step only what successors use; what a branch reads is given up on its edges.
    std::vector<Slots> live = flow_.Live(index);
    for (size_t i = 0; i < block.steps.size(); ++i) {
      const Step& step = block.steps[i];
      live_after_ = live[i + 1];
      if (i + 1 == block.steps.size()) {
        for (uint32_t target : step.targets) SettleFor(target);
        for (uint32_t target : step.targets)
          if (flow_[target].uses == 1) alias_in_[target] = alias_;
      }
      if (!EmitStep(index, i, live[i])) {
        good_ = false;
        return;
      }
      state_ = kNone;
      if (i == flow.fused) fused_ = step.pc;
      if (i != flow.fused && !flow.idle[i])
        flow_.ForEachDefinition(step, [&](uint32_t slot) {
          known_[slot] = true;
          if (!plain_[slot] && !live[i + 1][slot]) Add(Scheduled::Drop, 0, slot);
        });
    }
    const Step& last = block.steps.back();
    if (last.targets.empty()) return;
    if (last.kind == StepKind::Branch) {
      for (uint32_t target : last.targets) todo_.push_back(target);
      return;
    }
    uint32_t next = last.targets[0];
    DropDead(flow.live_out, flow_[next].live_in);
    if (start_[next] != kNone) {
      Add(Scheduled::Jump);
      patches_.push_back({Here() - 1, 0, next, kNone});
      return;
    }
    index = next;
  }
}

bool ScheduledMaker::Run(const std::vector<uint32_t>& parameters) {
  uint32_t slots = scope_.num_slots;
  if (slots >= kMostScheduledSlots) return false;
  if (!flow_.Run(parameters)) return false;
  start_.assign(schedule_.blocks.size(), kNone);
  uses_.assign(slots, 0);
  alias_.assign(slots, kNone);
  alias_in_.resize(schedule_.blocks.size());

  uint32_t entry = Here();
  pc_ = state_ = kNone;
  Slots given(slots, false);
  for (uint32_t slot : parameters) given[slot] = !plain_[slot];
  if (!scope_.late.empty()) {
    Add(Scheduled::NoneLate, 0, 0, static_cast<uint32_t>(scope_.late.size())).x = static_cast<uint32_t>(out().operands.size());
    for (const LateParameter& parameter : scope_.late) out().operands.push_back(parameter.slot);
  }
  DropDead(given, flow_[0].live_in);
  EmitBlock(0);
  // A frame that has not begun stands there, and may have to go on by event code, or be given up.
  fused_ = kNone;
  alias_.assign(slots, kNone);
  if (out().state_of[entry] == kNone) out().state_of[entry] = MakeState(schedule_.entry, given, flow_[0].known_in);
  if (!scope_.late.empty()) out().state_of[entry + 1] = out().state_of[entry];  // where a call from event code begins
  while (good_ && !todo_.empty()) {
    uint32_t block = todo_.back();
    todo_.pop_back();
    if (start_[block] == kNone) EmitBlock(block);
    good_ &= state_bytes_ <= kMostStateBytes;
  }
  if (!good_) return false;
  // An edge of a branch on which values are given up goes through a block of its own.
  auto resolve = [&](uint32_t from, uint32_t to) {
    if (flow_[to].uses == 1) return start_[to];
    Slots live = flow_.LiveAfterBranch(from);
    bool any = false;
    for (uint32_t s = 0; s < slots; ++s) any |= live[s] && !flow_[to].live_in[s];
    if (!any) return start_[to];
    uint32_t start = Here();
    pc_ = state_ = kNone;
    DropDead(live, flow_[to].live_in);
    Add(Scheduled::Jump).x = start_[to];
    return start;
  };
  for (const Patch& patch : patches_) {
    uint32_t to = patch.from == kNone ? start_[patch.block] : resolve(patch.from, patch.block);
    if (patch.which == 2) out().operands[patch.at] = to;
    else (patch.which ? out().code[patch.at].y : out().code[patch.at].x) = to;
  }
  scope_.scheduled = scope_.plain = entry;
  scope_.plain_end = Here();
  // Behind the end: whoever reads the code takes a Next for all that it does.
  pc_ = state_ = kNone;
  for (uint32_t next : nexts_) {
    out().code[next].y = Here();
    EmitMoves(out().code[next]);
    Add(Scheduled::Again, scope_.iteration_slot);
  }
  return true;
}

bool MakeScheduledOf(Program& program, ScopeCode& scope, const Schedule& schedule, const std::vector<Slots>& plain,
                  const std::vector<bool>& is_scheduled, const std::vector<uint32_t>& parameters, bool pass_merges) {
  return ScheduledMaker(program, scope, schedule, plain, is_scheduled, pass_merges).Run(parameters);
}

}  // namespace df::tagged
