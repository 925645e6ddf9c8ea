// The schedule of one scope -> its direct code: which values are used last, and one instruction per step.
#include <algorithm>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "runtime/tagged_direct_data.h"
#include "runtime/tagged_direct_flow.h"
#include "runtime/tagged_direct_maker.h"
#include "runtime/tagged_frame.h"

namespace df::tagged {

using ir::NodeId;
using ir::Op;
using ir::TypeKind;

namespace {

// What the tables of states may take, in bytes a scope.
constexpr size_t kMostStateBytes = 8 << 20;

// One scope.
class DirectMaker {
 public:
  DirectMaker(Program& p, ScopeCode& scope, const Schedule& schedule, const std::vector<Slots>& plain,
              const std::vector<bool>& is_direct, bool pass_merges)
      : pass_merges_(pass_merges), p_(p), g_(*p.graph), scope_(scope), schedule_(schedule), plain_of_(plain), plain_(plain[scope.id.index]),
        is_direct_(is_direct), flow_(p, scope, schedule, plain_) {}
  bool Run(const std::vector<uint32_t>& parameters);

 private:
  struct Patch {
    uint32_t at;
    int which;  // 0: x, 1: y, 2: operands[at]
    uint32_t block;
    uint32_t from;  // the block whose branch this is, or kNone
  };

  void EmitBlock(uint32_t block);
  bool EmitStep(uint32_t block, size_t step, const Slots& live_before);
  bool EmitOp(const Step& step);
  bool JoinField(uint32_t d, uint16_t a, uint32_t attr);
  void EmitMove(uint32_t d, uint32_t from);
  void EmitBranch(uint32_t block, const Step& step);
  bool EmitCall(const Step& step, const Slots& live_after);
  bool EmitArguments(const std::vector<Delivery>& arguments, const Slots& there);
  uint32_t StateWhileCalleeWorks(const Step& step, const Slots& live_after);
  bool EmitResume(const Step& step, const Slots& live_after);
  void EmitYield(const Step& step, const Slots& live_after);
  uint32_t ListResults(const Step& step, uint32_t* count);
  bool EmitNext(const Step& step);
  void EmitMoves(DirectInstr next);
  bool EmitReturn(const Step& step);
  void DropDead(const Slots& before, const Slots& after);

  // Where the value of an operand stands: a merge of words moves nothing as long as the path on which it was reached says
  // what it gives.
  uint32_t At(uint32_t operand) const {
    return IsConstant(operand) || alias_[operand] == kNone ? operand : alias_[operand];
  }
  void Settle(uint32_t operand);
  void SettleFor(uint32_t block);

  uint16_t Operand(uint32_t slot) {  // of an instruction
    bool last = !IsConstant(slot) && !plain_[slot] && IsLast(slot);
    return static_cast<uint16_t>(slot | (last ? kLastUse : 0));
  }
  uint32_t Listed(uint32_t operand) {
    operand = At(operand);
    if (IsConstant(operand)) return operand;
    if (plain_[operand]) return operand | kPlainOperand;
    return operand | (IsLast(operand) ? kLastOperand : 0);
  }
  // Whether this is the last of the uses in this step of an open slot that is not used after it.
  bool IsLast(uint32_t slot) {
    if (--uses_[slot] > 0) return false;
    return !live_after_[slot];
  }
  DirectInstr& Add(Direct op, uint32_t d = 0, uint32_t a = 0, uint32_t b = 0) {
    out().code.push_back(InstrOf(op, d, a, b));
    out().pc_of.push_back(pc_);
    out().state_of.push_back(state_);
    return out().code.back();
  }
  uint32_t Here() { return static_cast<uint32_t>(out().code.size()); }
  DirectCode& out() { return p_.direct; }
  uint32_t MakeState(uint32_t standing, const Slots& live, const Slots& known);
  bool IsPlainOperand(uint32_t operand) const {
    return IsConstant(operand) ? p_.constants[operand & ~kConstant].is_word() : plain_[operand];
  }
  int64_t Constant(uint32_t operand) const { return p_.constants[operand & ~kConstant].word(); }

  const bool pass_merges_;  // Options::pass_merges
  Program& p_;
  const ir::Graph& g_;
  ScopeCode& scope_;
  const Schedule& schedule_;
  const std::vector<Slots>& plain_of_;
  const Slots& plain_;
  const std::vector<bool>& is_direct_;
  DirectFlow flow_;
  std::vector<uint32_t> start_;  // by block: its first instruction
  std::vector<Patch> patches_;
  std::vector<uint32_t> nexts_;  // the instructions
  std::vector<uint32_t> todo_;
  std::vector<uint32_t> uses_;  // of the step, by slot
  Slots live_after_;
  Slots known_;
  std::vector<uint32_t> alias_;  // by slot of a word: the operand whose value it has, though nothing was moved; or kNone
  std::vector<std::vector<uint32_t>> alias_in_;  // by block with one way to it: that at its end
  uint32_t block_ = 0;  // that is emitted
  uint32_t pc_ = kNone, state_ = kNone;
  uint32_t fused_ = kNone;  // the predicate of the block's branch, once its step has been passed
  size_t state_bytes_ = 0;
  bool good_ = true;
};

uint32_t DirectMaker::MakeState(uint32_t standing, const Slots& live, const Slots& known) {
  if (standing == kNone) return kNone;
  const Standing& from = schedule_.standings[standing];
  DirectState state{from.pc, fused_, from.ready, from.tails, from.masks, {}, {}, from.stage, from.children, from.held};
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

void DirectMaker::EmitMove(uint32_t d, uint32_t from) {
  if (plain_[d]) {
    good_ &= IsPlainOperand(from);
    alias_[d] = At(from);
    if (!pass_merges_) Settle(d);
  } else if (from = At(from); IsConstant(from)) {
    Add(Direct::LoadOpen, d).x = from & ~kConstant;
  } else {
    uint16_t a = Operand(from);
    Add(plain_[from] ? Direct::Widen : Direct::MoveOpen, d, a);
  }
}

// Moves what a slot stands for into it.
void DirectMaker::Settle(uint32_t operand) {
  if (operand == kNone || IsConstant(operand) || alias_[operand] == kNone) return;
  uint32_t from = std::exchange(alias_[operand], kNone);
  if (IsConstant(from)) Add(Direct::Load, operand).imm = Constant(from);
  else Add(Direct::Move, operand, from);
}

// At the end of a block, before `block`. Where several ways meet each has its own words.
void DirectMaker::SettleFor(uint32_t block) {
  if (flow_[block].uses == 1) return;
  for (uint32_t s = 0; s < alias_.size(); ++s)
    if (flow_[block].known_in[s]) Settle(s);
}

// Reads the field together with those that the instruction before reads of the same constructor. False if that reads none.
bool DirectMaker::JoinField(uint32_t d, uint16_t a, uint32_t attr) {
  if (Here() == start_[block_]) return false;
  DirectInstr& last = out().code.back();
  auto with_kind = [&](uint32_t slot) { return slot | (plain_[slot] ? kFieldPlain : 0); };
  uint32_t constructor = attr >> 16, field = attr & 0xffff;
  if (last.a != (a & ~kLastUse)) return false;
  switch (last.op) {
    case Direct::Field:
    case Direct::FieldPlain:
      if (last.x != constructor || last.b == field || last.d == last.a) return false;
      last.op = Direct::TwoFields;
      last.y = static_cast<uint32_t>(last.b) << 16 | field;
      last.d = static_cast<uint16_t>(with_kind(last.d));
      last.b = static_cast<uint16_t>(with_kind(d));
      break;
    case Direct::TwoFields: {
      if (last.x != constructor || last.y >> 16 == field || (last.y & 0xffff) == field) return false;
      std::vector<uint32_t>& list = out().operands;
      uint32_t first = static_cast<uint32_t>(list.size());
      list.insert(list.end(), {(last.y & 0xffff0000) | last.d, last.y << 16 | last.b, field << 16 | with_kind(d)});
      last.op = Direct::Fields;
      last.d = 0;
      last.b = 3;
      last.x = first;
      last.y = constructor;
      break;
    }
    case Direct::Fields: {
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
bool DirectMaker::EmitOp(const Step& step) {
  if (const Instr& many = p_.code[step.pc]; many.code == Code::OpMany) {
    DirectInstr& to = Add(Direct::ApplyMany, many.a, 0, many.c);
    to.x = static_cast<uint32_t>(out().operands.size());
    for (uint32_t k = 0; k < many.c; ++k) out().operands.push_back(Listed(tagged::ListOperand(p_.lists[many.b + k])));
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
  auto form = [](Direct rr, int i) { return static_cast<Direct>(static_cast<uint16_t>(rr) + i); };  // RR, RK, KR
  auto binary = [&](Direct rr) {
    if (x_constant && y_constant) return false;
    if (y_constant) Add(form(rr, 1), in.a, Operand(in.b)).imm = Constant(in.c);
    else if (x_constant) Add(form(rr, 2), in.a, Operand(in.c)).imm = Constant(in.b);
    else {
      uint16_t a = Operand(in.b), b = Operand(in.c);
      Add(rr, in.a, a, b);
    }
    return true;
  };
  auto unary = [&](Direct op) {
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
        case Op::Add: return binary(Direct::AddZRR);
        case Op::Sub: return binary(Direct::SubZRR);
        case Op::Mul: return binary(Direct::MulZRR);
        case Op::Quot: return binary(Direct::QuotZRR);
        case Op::Rem: return binary(Direct::RemZRR);
        case Op::Div: return binary(Direct::DivZRR);
        case Op::Mod: return binary(Direct::ModZRR);
        case Op::Convert: return types.result == TypeKind::Int && unary(Direct::Narrow);
        default: break;
      }
      if (std::optional<Direct> compare = IntegerCompareOf(node.op)) return binary(*compare);
      return false;
    }
    if (node.op == Op::Convert && types.operand == TypeKind::Int && types.result == TypeKind::Integer)
      return unary(Direct::Widen);
    if (node.op == Op::Seq) {
      EmitMove(in.a, in.c);
      if (!x_constant && !plain_[in.b] && IsLast(in.b)) Add(Direct::Drop, 0, in.b);
      return true;
    }
    if (node.op == Op::Match) return !x_constant && !plain_[in.b] && unary(Direct::Match);
    if (node.op == Op::Field) {
      if (x_constant || plain_[in.b]) return false;
      // A tensor of a lazy field: the kernel sees to it that no reference is let through. A word's kind is looked at below.
      const ir::Constructor& row = g_.types[g_.TypeOf(g_.InputsOf(id)[0]).type].constructors[node.attr >> 16];
      if (row.fields[node.attr & 0xffff].type.lazy && !types.lazy && types.result == TypeKind::Tensor) return false;
      uint16_t a = Operand(in.b);
      if (JoinField(in.a, a, node.attr)) return true;
      Add(plain_[in.a] ? Direct::FieldPlain : Direct::Field, in.a, a, node.attr & 0xffff).x = node.attr >> 16;
      return true;
    }
    if (!plain) return false;
    if (types.operand == TypeKind::Double) {
      switch (node.op) {
        case Op::Add: return binary(Direct::AddDRR);
        case Op::Sub: return binary(Direct::SubDRR);
        case Op::Mul: return binary(Direct::MulDRR);
        case Op::FDiv: return binary(Direct::DivDRR);
        case Op::Eq: return binary(Direct::EqDRR);
        case Op::Ne: return binary(Direct::NeDRR);
        case Op::Lt: return binary(Direct::LtDRR);
        case Op::Le: return binary(Direct::LeDRR);
        case Op::Gt: return binary(Direct::GtDRR);
        case Op::Ge: return binary(Direct::GeDRR);
        case Op::Neg: return unary(Direct::NegD);
        case Op::Sqrt: return unary(Direct::SqrtD);
        default: return false;
      }
    }
    if (IsIntLike(types.operand))
      if (std::optional<Direct> compare = CompareOf(node.op)) return binary(*compare);
    if (types.operand == TypeKind::Bool)
      return node.op == Op::Not ? unary(Direct::Not) : node.op == Op::BoolToInt && unary(Direct::Move);
    if (types.operand == TypeKind::Char) return node.op == Op::Ord && unary(Direct::Move);
    if (types.operand != TypeKind::Int) return false;
    switch (node.op) {
      case Op::Add: return binary(Direct::AddRR);
      case Op::Sub: return binary(Direct::SubRR);
      case Op::Mul: return binary(Direct::MulRR);
      case Op::Quot: return binary(Direct::QuotRR);
      case Op::Rem: return binary(Direct::RemRR);
      case Op::Div: return binary(Direct::DivRR);
      case Op::Mod: return binary(Direct::ModRR);
      case Op::BitAnd: return binary(Direct::BitAndRR);
      case Op::BitOr: return binary(Direct::BitOrRR);
      case Op::BitXor: return binary(Direct::BitXorRR);
      case Op::Neg: return unary(Direct::Neg);
      case Op::Abs: return unary(Direct::Abs);
      case Op::Convert: return types.result == TypeKind::Double && unary(Direct::ToDouble);
      default: return false;
    }
  };
  if (known()) return true;
  // The kernel finds its operands where the general code has them.
  Settle(stands.b);
  if (two) Settle(stands.c);
  uint16_t a = IsConstant(stands.b) ? 0 : Operand(stands.b);
  uint16_t b = !two || IsConstant(stands.c) ? 0 : Operand(stands.c);
  Add(plain_[in.a] ? Direct::Apply : Direct::ApplyOpen, in.a, a, b);
  return true;
}

bool DirectMaker::EmitCall(const Step& step, const Slots& live_after) {
  const SiteCode& site = p_.sites[p_.code[step.pc].b];
  uint32_t site_index = p_.code[step.pc].b;
  const ScopeCode& callee = *site.callee;
  const Slots& there = plain_of_[callee.id.index];
  bool direct = is_direct_[callee.id.index];
  uint32_t waiting = StateWhileCalleeWorks(step, live_after);
  if (direct) {
    auto count = [&] {
      if (!p_.count) return;
      DirectInstr& in = Add(Direct::CountCall, 1);
      (site.type == SiteType::Loop ? in.y : in.x) = 1;
    };
    uint32_t states = static_cast<uint32_t>(sizeof(uint64_t) * callee.num_slots);
    const Delivery* only = site.together.size() == 1 && site.late.empty() ? &site.together[0] : nullptr;
    if (only && callee.iteration_slot == kNone && !IsConstant(At(only->from)) && plain_[only->from] && there[only->to]) {
      count();
      DirectInstr& in = Add(Direct::CallWord, 0, At(only->from), only->to);
      in.x = site_index;
      in.y = states;
    } else {
      DirectInstr& in = Add(Direct::Call);
      in.x = site_index;
      in.y = states;
      if (!site.late.empty()) Add(Direct::KeepCallee, site.child_slot).x = site_index;
      if (!EmitArguments(site.together, there)) return false;
      if (callee.iteration_slot != kNone) Add(Direct::ArgConstant, callee.iteration_slot).imm = 0;
      count();
      Add(Direct::Enter);
    }
  } else {
    if (site.returns.size() != 1) return false;
    DirectInstr& in = Add(Direct::CallOut, 0, 0, static_cast<uint32_t>(site.together.size()));
    in.x = static_cast<uint32_t>(out().operands.size());
    in.y = site_index;
    for (const Delivery& d : site.together) out().operands.push_back(Listed(d.from));
  }
  state_ = waiting;
  uint32_t result = site.returns[0].slot;
  bool one = site.returns.size() == 1 && site.late.empty();
  // A result that is plain there is plain here, or is widened; the other way round cannot be.
  for (uint32_t r = 0; r < site.returns.size() && direct; ++r)
    if (uint32_t row = callee.results.empty() ? kNone : callee.results[r]; row != kNone && site.returns[r].slot != kNone) {
      uint32_t from = p_.slot_of[row];
      if (plain_[site.returns[r].slot] && from != kNone && !IsConstant(from) && !there[from]) return false;
    }
  Add(!one ? Direct::GotMany : plain_[result] ? Direct::Got : Direct::GotOpen, result).x =
      static_cast<uint32_t>(sizeof(uint64_t) * scope_.num_slots);
  return true;
}

bool DirectMaker::EmitArguments(const std::vector<Delivery>& arguments, const Slots& there) {
  for (const Delivery& d : arguments) {
    uint32_t from = At(d.from);
    if (there[d.to]) {
      if (IsConstant(from)) Add(Direct::ArgConstant, d.to).imm = Constant(from);
      else Add(Direct::Arg, d.to, from);
      if (!IsPlainOperand(from)) return false;
    } else if (IsConstant(from)) {
      Add(Direct::ArgOpenConstant, d.to).x = from & ~kConstant;
    } else {
      uint16_t a = Operand(from);
      Add(plain_[from] ? Direct::ArgWiden : Direct::ArgOpen, d.to, a);
    }
  }
  return true;
}

// The arguments are gone and the results are not there.
uint32_t DirectMaker::StateWhileCalleeWorks(const Step& step, const Slots& live_after) {
  const SiteCode& site = p_.sites[p_.code[step.pc].b];
  Slots live = live_after, known = known_;
  flow_.ForEachDefinition(step, [&](uint32_t slot) { live[slot] = false; });
  if (site.child_slot != kNone) known[site.child_slot] = true;
  return MakeState(step.after, live, known);
}

// Late arguments, to a callee that waits for them.
bool DirectMaker::EmitResume(const Step& step, const Slots& live_after) {
  const SiteCode& site = p_.sites[p_.code[step.pc].b];
  uint32_t waiting = StateWhileCalleeWorks(step, live_after);
  Add(Direct::Resume, site.child_slot).y = static_cast<uint32_t>(sizeof(uint64_t) * site.callee->num_slots);
  if (!EmitArguments(site.late, plain_of_[site.callee->id.index])) return false;
  Add(Direct::EnterLate);
  state_ = waiting;
  Add(Direct::GotMany).x = static_cast<uint32_t>(sizeof(uint64_t) * scope_.num_slots);
  return true;
}

// What a step gives of the results: operand and result, one after the other.
uint32_t DirectMaker::ListResults(const Step& step, uint32_t* count) {
  uint32_t first = static_cast<uint32_t>(out().operands.size());
  for (uint32_t r = 0; r < step.operands.size(); ++r) {
    if (step.operands[r] == kNone) continue;
    out().operands.push_back(Listed(step.operands[r]));
    out().operands.push_back(r);
    ++*count;
  }
  return first;
}

// The frame stands at Await until its late parameters have come, and goes on at the next instruction.
void DirectMaker::EmitYield(const Step& step, const Slots& live_after) {
  Slots live = live_after, known = known_;
  for (const LateParameter& parameter : scope_.late) live[parameter.slot] = false;
  uint32_t waiting = MakeState(step.after, live, known);
  for (const LateParameter& parameter : scope_.late) live[parameter.slot] = known[parameter.slot] = true;
  uint32_t resumed = MakeState(step.before, live, known);
  uint32_t count = 0, first = ListResults(step, &count);
  state_ = kNone;
  Add(Direct::Yield, 0, 0, count).x = first;
  state_ = waiting;
  Add(Direct::Await);
  state_ = resumed;
  Add(Direct::Awaited);
}

bool DirectMaker::EmitNext(const Step& step) {
  const SiteCode& site = p_.sites[p_.code[step.pc].b];
  // What stays where it is must not be given up by another use.
  for (size_t i = 0; i < step.operands.size(); ++i)
    if (step.operands[i] == site.next_together[i].to) live_after_[step.operands[i]] = true;
  if (p_.count) Add(Direct::CountCall).y = 1;
  DirectInstr& in = Add(Direct::Next, scope_.iteration_slot);
  in.x = static_cast<uint32_t>(out().operands.size());
  uint32_t at = Here() - 1;
  uint16_t count = 0;
  for (size_t i = 0; i < step.operands.size(); ++i) {
    uint32_t from = step.operands[i], to = site.next_together[i].to;
    if (At(from) == to) continue;
    if (plain_[to] && !IsPlainOperand(from)) return false;
    out().operands.push_back(Listed(from));
    out().operands.push_back(to | (plain_[to] ? kPlainOperand : 0));
    ++count;
  }
  out().code[at].b = count;
  uint32_t stays = static_cast<uint32_t>(out().operands.size());
  out().operands.push_back(0);
  for (size_t i = 0; i < step.operands.size(); ++i) {
    if (At(step.operands[i]) != site.next_together[i].to) continue;
    out().operands.push_back(site.next_together[i].to);
    ++out().operands[stays];
  }
  nexts_.push_back(at);
  return count <= kMostNext;
}

// The moves of a Next, one by one in an order in which none overwrites what another one reads; or all at once.
void DirectMaker::EmitMoves(DirectInstr next) {
  struct Move {
    uint32_t from, to;
  };
  std::vector<Move> left, ordered;
  for (uint32_t i = 0; i < next.b; ++i) left.push_back({out().operands[next.x + 2 * i], out().operands[next.x + 2 * i + 1]});
  auto reads = [](const Move& move, uint32_t slot) { return !(move.from & kConstant) && (move.from & kOperandIndex) == slot; };
  while (!left.empty()) {
    auto free = llvm::find_if(left, [&](const Move& move) {
      return llvm::none_of(left, [&](const Move& other) { return &other != &move && reads(other, move.to & kOperandIndex); });
    });
    // A value that several want is given up by one of them only when all have it.
    bool shared = free != left.end() && !(free->from & (kConstant | kPlainOperand)) &&
                  llvm::count_if(left, [&](const Move& move) { return reads(move, free->from & kOperandIndex); }) > 1;
    if (free == left.end() || shared) {
      Add(Direct::MoveMany, 0, 0, next.b).x = next.x;
      return;
    }
    ordered.push_back(*free);
    left.erase(free);
  }
  for (auto [from, to] : ordered) {
    uint32_t slot = to & kOperandIndex, source = from & kOperandIndex;
    bool plain = to & kPlainOperand;
    if (from & kConstant) {
      const Value& constant = p_.constants[from & ~kConstant];
      if (plain) Add(Direct::Load, slot).imm = constant.word();
      else if (constant.is_word()) Add(Direct::Nullary, slot).imm = constant.word();
      else Add(Direct::LoadOpen, slot).x = from & ~kConstant;
    } else if (from & kPlainOperand) {
      Add(plain ? Direct::Move : Direct::Widen, slot, source);
    } else {
      Add(Direct::MoveOpen, slot, source | (from & kLastOperand ? kLastUse : 0));
    }
  }
}

bool DirectMaker::EmitReturn(const Step& step) {
  uint32_t free_list = FramePool::ListOf(scope_.frame_bytes);
  auto head = static_cast<int64_t>(HeadOf(kLive | kDirect | kDirectCaller, scope_.num_slots));
  if (step.operands.size() == 1 && scope_.late.empty() && free_list <= UINT16_MAX) {
    uint32_t from = At(step.operands[0]);
    if (IsConstant(from)) {
      const Value& constant = p_.constants[from & ~kConstant];
      if (constant.is_word() && constant.word() == static_cast<int16_t>(constant.word())) {
        Add(Direct::ReturnConstant, static_cast<uint16_t>(constant.word()), 0, free_list).imm = head;
        return true;
      }
    } else {
      uint16_t a = Operand(from);
      Add(plain_[from] ? Direct::Return : Direct::ReturnOpen, 0, a & ~kLastUse, free_list).imm = head;
      return true;
    }
  }
  uint32_t count = 0, first = ListResults(step, &count);
  DirectInstr& in = Add(Direct::ReturnMany, 0, 0, count);
  in.x = first;
  in.y = free_list;
  return true;
}

void DirectMaker::EmitBranch(uint32_t index, const Step& step) {
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
    if (step.targets.size() == 2) {
      Add(Direct::BranchMatch, 0, compare.b);
      return targets(Here() - 1, step.targets[0], step.targets[1]);
    }
  } else if (branch.is_bool && step.targets.size() == 2 && !IsConstant(in.a)) {
    Add(Direct::Branch, 0, in.a);
    return targets(Here() - 1, step.targets[0], step.targets[1]);
  }
  good_ &= fused != kNone || (!branch.is_bool && !IsConstant(in.a) && plain_[in.a]);
  uint32_t a = fused != kNone ? p_.code[schedule_.blocks[index].steps[fused].pc].b : in.a;
  Add(fused != kNone ? Direct::ChooseMatch : Direct::Choose, 0, a, static_cast<uint32_t>(step.targets.size())).x =
      static_cast<uint32_t>(out().operands.size());
  for (uint32_t target : step.targets) {
    patches_.push_back({static_cast<uint32_t>(out().operands.size()), 2, target, index});
    out().operands.push_back(kNone);
  }
}

bool DirectMaker::EmitStep(uint32_t index, size_t i, const Slots& live_before) {
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
    case StepKind::Defer: {
      const TensorGroup& group = p_.tensor_groups[in->b];
      DirectInstr& to = Add(Direct::Defer, 0, 0, static_cast<uint32_t>(group.operands.size()));
      to.x = static_cast<uint32_t>(out().operands.size());
      to.y = in->b;
      for (uint32_t operand : group.operands) out().operands.push_back(Listed(operand));
      for (uint32_t slot : group.results) good &= !plain_[slot];
      break;
    }
    case StepKind::Construct:
      if (in->c == 0) {
        Add(Direct::Nullary, in->a).imm = g_.nodes[p_.node_of[step.pc]].attr;
        good = !plain_[in->a];
        break;
      } else {
        DirectInstr& to = Add(Direct::Construct, in->a, 0, in->c);
        to.x = static_cast<uint32_t>(out().operands.size());
        to.y = g_.nodes[p_.node_of[step.pc]].attr;
        for (uint32_t k = 0; k < in->c; ++k) out().operands.push_back(Listed(tagged::ListOperand(p_.lists[in->b + k])));
        good = in->c < 65536;
      }
      break;
    case StepKind::Delay: {
      DirectInstr& to = Add(Direct::Delay, in->a, 0, static_cast<uint32_t>(step.operands.size()));
      to.x = static_cast<uint32_t>(out().operands.size());
      to.y = in->b;
      for (uint32_t operand : step.operands) out().operands.push_back(Listed(operand));
      break;
    }
    case StepKind::Merge: EmitMove(in->a, in->b); break;
    case StepKind::Mark: break;
    case StepKind::Force:
      if (IsConstant(in->b) || plain_[in->b]) {
        EmitMove(in->a, in->b);
      } else {
        uint16_t a = Operand(in->b);
        Add(plain_[in->a] ? Direct::ForcePlain : Direct::Force, in->a, a);
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
void DirectMaker::DropDead(const Slots& before, const Slots& after) {
  for (uint32_t s = 0; s < before.size(); ++s)
    if (before[s] && !after[s]) Add(Direct::Drop, 0, s);
}

void DirectMaker::EmitBlock(uint32_t index) {
  for (;;) {
    const DirectFlow::BlockFlow& flow = flow_[index];
    const Block& block = schedule_.blocks[index];
    start_[index] = Here();
    block_ = index;
    pc_ = state_ = fused_ = kNone;
    if (p_.count) Add(Direct::Count).x = static_cast<uint32_t>(block.steps.size());
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
          if (!plain_[slot] && !live[i + 1][slot]) Add(Direct::Drop, 0, slot);
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
      Add(Direct::Jump);
      patches_.push_back({Here() - 1, 0, next, kNone});
      return;
    }
    index = next;
  }
}

bool DirectMaker::Run(const std::vector<uint32_t>& parameters) {
  uint32_t slots = scope_.num_slots;
  if (slots >= kMostDirectSlots) return false;
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
    Add(Direct::NoneLate, 0, 0, static_cast<uint32_t>(scope_.late.size())).x = static_cast<uint32_t>(out().operands.size());
    for (const LateParameter& parameter : scope_.late) out().operands.push_back(parameter.slot);
  }
  DropDead(given, flow_[0].live_in);
  EmitBlock(0);
  // A frame that has not begun stands there, and may have to go on by the general code, or be given up.
  fused_ = kNone;
  alias_.assign(slots, kNone);
  if (out().state_of[entry] == kNone) out().state_of[entry] = MakeState(schedule_.entry, given, flow_[0].known_in);
  if (!scope_.late.empty()) out().state_of[entry + 1] = out().state_of[entry];  // where a call from the general code begins
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
    Add(Direct::Jump).x = start_[to];
    return start;
  };
  for (const Patch& patch : patches_) {
    uint32_t to = patch.from == kNone ? start_[patch.block] : resolve(patch.from, patch.block);
    if (patch.which == 2) out().operands[patch.at] = to;
    else (patch.which ? out().code[patch.at].y : out().code[patch.at].x) = to;
  }
  scope_.direct = scope_.plain = entry;
  scope_.plain_end = Here();
  // Behind the end: whoever reads the code takes a Next for all that it does.
  pc_ = state_ = kNone;
  for (uint32_t next : nexts_) {
    out().code[next].y = Here();
    EmitMoves(out().code[next]);
    Add(Direct::Again, scope_.iteration_slot);
  }
  return true;
}

}  // namespace

bool MakeDirectOf(Program& program, ScopeCode& scope, const Schedule& schedule, const std::vector<Slots>& plain,
                  const std::vector<bool>& is_direct, const std::vector<uint32_t>& parameters, bool pass_merges) {
  return DirectMaker(program, scope, schedule, plain, is_direct, pass_merges).Run(parameters);
}

}  // namespace df::tagged
