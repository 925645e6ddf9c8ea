// See make/scheduled_flow.h.
#include "runtime/engines/tagged/make/scheduled_flow.h"

#include <utility>

namespace df::tagged {

using ir::NodeId;
using ir::Op;
using ir::TypeKind;

// ---------------------------------------------------------------- comparisons that are part of a branch

std::optional<Scheduled> CompareOf(Op op) {
  switch (op) {
#define DF_SCHEDULED_BINARY(name, type, condition, expression)
#define DF_SCHEDULED_UNARY(name, type, condition, expression)
#define DF_SCHEDULED_INTEGER(name, expression)
#define DF_SCHEDULED_INTEGER_COMPARE(name, expression)
#define DF_SCHEDULED(name, operands)
#define DF_SCHEDULED_COMPARE(name, expression) case Op::name: return Scheduled::name##RR;
#include "runtime/engines/tagged/code/scheduled_ops.def"
    default: return std::nullopt;
  }
}

std::optional<Scheduled> IntegerCompareOf(Op op) {
  switch (op) {
#define DF_SCHEDULED_BINARY(name, type, condition, expression)
#define DF_SCHEDULED_UNARY(name, type, condition, expression)
#define DF_SCHEDULED_COMPARE(name, expression)
#define DF_SCHEDULED_INTEGER(name, expression)
#define DF_SCHEDULED(name, operands)
#define DF_SCHEDULED_INTEGER_COMPARE(name, expression) case Op::name: return Scheduled::name##ZRR;
#include "runtime/engines/tagged/code/scheduled_ops.def"
    default: return std::nullopt;
  }
}

// Behind the comparison's forms RR, RK and KR stand the branches RR and RK.
std::optional<Scheduled> CompareAndBranchOf(Op op, TypeKind operand, bool rr) {
  std::optional<Scheduled> compare;
  if (IsIntLike(operand)) compare = CompareOf(op);
  if (operand == TypeKind::Integer) compare = IntegerCompareOf(op);
  if (!compare) return std::nullopt;
  return static_cast<Scheduled>(static_cast<uint16_t>(*compare) + (rr ? 3 : 4));
}
static_assert(static_cast<uint16_t>(Scheduled::BranchLtRR) == static_cast<uint16_t>(Scheduled::LtRR) + 3);
static_assert(static_cast<uint16_t>(Scheduled::BranchLtZRK) == static_cast<uint16_t>(Scheduled::LtZRR) + 4);

bool IsIntLike(TypeKind kind) { return kind == TypeKind::Int || kind == TypeKind::Bool || kind == TypeKind::Char; }

// Whether only the branch asks for the predicate at `pc`, and both fit into one instruction.
bool ScheduledFlow::IsFusable(uint32_t pc, uint32_t branch_pc) const {
  const Instr& in = p_.code[pc];
  const Branch& branch = scope_.branches[p_.code[branch_pc].b];
  if (in.a != p_.code[branch_pc].a || branch.watched) return false;
  NodeId node = p_.node_of[pc];
  for (ir::Edge use : p_.UsersOf(p_.RowOf({node, 0}))) {
    Op op = g_.nodes[use.node].op;
    if (!((op == Op::Switch || op == Op::BranchMerge || op == Op::Exit) && use.port == 0)) return false;
  }
  if (IsConstant(in.b)) return false;
  if (g_.nodes[node].op == Op::Match)
    return g_.types[g_.TypeOf(g_.InputsOf(node)[0]).type].constructors.size() == branch.sides.size();
  if (!branch.is_bool || branch.sides.size() != 2) return false;
  if (!CompareAndBranchOf(g_.nodes[node].op, p_.types[node.index].operand, true)) return false;
  if (!IsConstant(in.c)) return true;
  const Value& constant = p_.constants[in.c & ~kConstant];
  return constant.is_word() && constant.word() == static_cast<int16_t>(constant.word());
}

void ScheduledFlow::FindFused(uint32_t index) {
  const Block& block = schedule_.blocks[index];
  const Step& branch = block.steps.back();
  if (branch.kind != StepKind::Branch) return;
  for (uint32_t i = 0; i + 1 < block.steps.size(); ++i)
    if (block.steps[i].kind == StepKind::Op && IsFusable(block.steps[i].pc, branch.pc)) flow_[index].fused = i;
}

// ---------------------------------------------------------------- liveness

// From what is in use after a step to what is in use before it.
void ScheduledFlow::StepBack(uint32_t index, size_t i, Slots& live) const {
  const BlockFlow& flow = flow_[index];
  const std::vector<Step>& steps = schedule_.blocks[index].steps;
  if (i == flow.fused || flow.idle[i]) return;  // the fused one is read by the branch
  ForEachDefinition(steps[i], [&](uint32_t slot) { live[slot] = false; });
  auto use = [&](uint32_t slot) {
    if (!plain_[slot]) live[slot] = true;
  };
  ForEachUse(steps[i], use);
  if (i + 1 == steps.size() && flow.fused != kNone) ForEachUse(steps[flow.fused], use);
}

std::vector<Slots> ScheduledFlow::Live(uint32_t block) const {
  std::vector<Slots> live(schedule_.blocks[block].steps.size() + 1);
  live.back() = flow_[block].live_out;
  for (size_t i = live.size() - 1; i-- > 0;) {
    live[i] = live[i + 1];
    StepBack(block, i, live[i]);
  }
  return live;
}

void ScheduledFlow::FindLive() {
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t b = static_cast<uint32_t>(flow_.size()); b-- > 0;) {
      BlockFlow& flow = flow_[b];
      const std::vector<Step>& steps = schedule_.blocks[b].steps;
      for (uint32_t next : steps.back().targets)
        for (uint32_t s = 0; s < flow.live_out.size(); ++s)
          if (flow_[next].live_in[s]) flow.live_out[s] = true;
      Slots live = flow.live_out;
      for (size_t i = steps.size(); i-- > 0;) StepBack(b, i, live);
      if (live == flow.live_in) continue;
      flow.live_in = std::move(live);
      changed = true;
    }
  }
}

// A merge of a value that only a loop's other end would have: nobody looks at it on this path.
bool ScheduledFlow::IsIdle(const Step& step, const Slots& known) const {
  if (step.kind != StepKind::Merge) return false;
  uint32_t from = p_.code[step.pc].b;
  return !IsConstant(from) && !known[from];
}

void ScheduledFlow::Define(const Step& step, Slots& known) const {
  if (!IsIdle(step, known)) ForEachDefinition(step, [&](uint32_t slot) { known[slot] = true; });
}

bool ScheduledFlow::FindIdle() {
  bool good = true;
  for (size_t b = 0; b < flow_.size(); ++b) {
    BlockFlow& flow = flow_[b];
    const Block& block = schedule_.blocks[b];
    flow.idle.assign(block.steps.size(), false);
    Slots known = flow.known_in;
    for (size_t i = 0; i < block.steps.size(); ++i) {
      const Step& step = block.steps[i];
      flow.idle[i] = IsIdle(step, known);
      bool reads = !flow.idle[i] && i != flow.fused && !(i + 1 == block.steps.size() && flow.fused != kNone);
      if (reads) ForEachUse(step, [&](uint32_t slot) { good &= known[slot]; });
      if (i != flow.fused) Define(step, known);
    }
  }
  return good;
}

void ScheduledFlow::FindKnown(const std::vector<uint32_t>& parameters) {
  std::vector<uint32_t> todo{0};
  Slots& entry = flow_[0].known_in;
  for (uint32_t slot : parameters) entry[slot] = true;
  if (scope_.iteration_slot != kNone) entry[scope_.iteration_slot] = true;
  flow_[0].reached = true;
  while (!todo.empty()) {
    uint32_t index = todo.back();
    todo.pop_back();
    Slots known = flow_[index].known_in;
    const Block& block = schedule_.blocks[index];
    for (size_t i = 0; i < block.steps.size(); ++i)
      if (i != flow_[index].fused) Define(block.steps[i], known);
    for (uint32_t next : block.steps.back().targets) {
      BlockFlow& to = flow_[next];
      bool changed = !to.reached;
      if (!to.reached) {
        to.known_in = known;
        to.reached = true;
      } else {
        for (uint32_t s = 0; s < known.size(); ++s)
          if (to.known_in[s] && !known[s]) {
            to.known_in[s] = false;
            changed = true;
          }
      }
      if (changed) todo.push_back(next);
    }
  }
}

Slots ScheduledFlow::LiveAfterBranch(uint32_t block) const {
  const BlockFlow& flow = flow_[block];
  Slots live = flow.live_out;
  if (flow.fused != kNone)
    ForEachUse(schedule_.blocks[block].steps[flow.fused], [&](uint32_t slot) { live[slot] = !plain_[slot]; });
  return live;
}

bool ScheduledFlow::Run(const std::vector<uint32_t>& parameters) {
  uint32_t slots = scope_.num_slots;
  flow_.resize(schedule_.blocks.size());
  for (BlockFlow& flow : flow_) flow.live_in = flow.live_out = flow.known_in = Slots(slots, false);
  for (uint32_t b = 0; b < flow_.size(); ++b) {
    FindFused(b);
    const Step& last = schedule_.blocks[b].steps.back();
    for (uint32_t next : last.targets) {
      ++flow_[next].uses;
      if (last.kind == StepKind::Branch) flow_[next].only = b;
    }
  }
  ++flow_[0].uses;
  FindKnown(parameters);
  if (!FindIdle()) return false;
  FindLive();
  return true;
}

}  // namespace df::tagged
