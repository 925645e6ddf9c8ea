// runtime/engines/tagged/make/scheduled_flow.h
//
// What is known of a schedule's slots at each of its steps: which hold a value for certain, which open ones are still in use,
// and which comparisons are part of a branch. Private to the making of scheduled code.
#pragma once

#include <optional>
#include <vector>

#include "runtime/engines/tagged/code/scheduled.h"
#include "runtime/engines/tagged/make/schedule.h"

namespace df::tagged {

using Slots = std::vector<bool>;

// The comparison of words, and of Integers, that `op` is, on two slots.
std::optional<Scheduled> CompareOf(ir::Op op);
std::optional<Scheduled> IntegerCompareOf(ir::Op op);
// The same as a part of a branch; not `rr`: of a slot with a constant.
std::optional<Scheduled> CompareAndBranchOf(ir::Op op, ir::TypeKind operand, bool rr);
// Int, Bool or Char: words that compare alike.
bool IsIntLike(ir::TypeKind kind);

class ScheduledFlow {
 public:
  struct BlockFlow {
    Slots live_in, live_out;     // open slots
    Slots known_in;              // slots that have certainly been computed
    bool reached = false;
    uint32_t only = kNone;       // the block that branches here, if there is just one
    uint32_t uses = 0;           // branches and jumps to it, and the entry
    uint32_t fused = kNone;      // step whose comparison or match is part of the branch
    std::vector<bool> idle;      // by step: see IsIdle
  };

  // `plain`: the slots of the scope that hold words by their types.
  ScheduledFlow(const Program& program, const ScopeCode& scope, const Schedule& schedule, const Slots& plain)
      : p_(program), g_(*program.graph), scope_(scope), schedule_(schedule), plain_(plain) {}
  // False if a step uses what is not certainly there: then its order was not known after all.
  bool Run(const std::vector<uint32_t>& parameters);

  const BlockFlow& operator[](uint32_t block) const { return flow_[block]; }
  // The open slots in use before each step of a block, and after the last one.
  std::vector<Slots> Live(uint32_t block) const;
  // What is in use when a branch has been taken, before its side is known.
  Slots LiveAfterBranch(uint32_t block) const;

  // The slots that a step reads, and those that it writes.
  template <typename Visit>
  void ForEachUse(const Step& step, Visit visit) const;
  template <typename Visit>
  void ForEachDefinition(const Step& step, Visit visit) const;

 private:
  bool IsFusable(uint32_t pc, uint32_t branch_pc) const;
  void FindFused(uint32_t block);
  bool IsIdle(const Step& step, const Slots& known) const;
  void Define(const Step& step, Slots& known) const;
  void FindKnown(const std::vector<uint32_t>& parameters);
  bool FindIdle();
  void StepBack(uint32_t block, size_t step, Slots& live) const;
  void FindLive();
  int64_t Constant(uint32_t operand) const { return p_.constants[operand & ~kConstant].word(); }

  const Program& p_;
  const ir::Graph& g_;
  const ScopeCode& scope_;
  const Schedule& schedule_;
  const Slots& plain_;
  std::vector<BlockFlow> flow_;
};

template <typename Visit>
void ScheduledFlow::ForEachUse(const Step& step, Visit visit) const {
  auto use = [&](uint32_t operand) {
    if (operand != kNone && !IsConstant(operand)) visit(operand);
  };
  switch (step.kind) {
    case StepKind::Op: {
      const Instr& in = p_.code[step.pc];
      if (in.code == Code::OpMany) {
        for (uint32_t k = 0; k < in.c; ++k) use(ListOperand(p_.lists[in.b + k]));
        return;
      }
      use(in.b);
      if (g_.nodes[p_.node_of[step.pc]].num_inputs > 1) use(in.c);
      return;
    }
    case StepKind::Check: use(ListOperand(p_.lists[p_.code[step.pc].b + 1])); return;
    case StepKind::Defer:
      for (uint32_t operand : p_.tensor_groups[p_.code[step.pc].b].operands) use(operand);
      return;
    case StepKind::Construct: {
      const Instr& in = p_.code[step.pc];
      for (uint32_t k = 0; k < in.c; ++k) use(ListOperand(p_.lists[in.b + k]));
      return;
    }
    case StepKind::Delay:
    case StepKind::Next:
    case StepKind::Yield:
    case StepKind::Return:
      for (uint32_t operand : step.operands) use(operand);
      return;
    case StepKind::Capture:
      use(p_.code[step.pc].a);
      use(p_.code[step.pc].b);
      return;
    case StepKind::Merge:
    case StepKind::Force: use(p_.code[step.pc].b); return;
    case StepKind::Call:
      for (const Delivery& d : p_.sites[p_.code[step.pc].b].together) use(d.from);
      return;
    case StepKind::Resume:
      for (const Delivery& d : p_.sites[p_.code[step.pc].b].late) use(d.from);
      return;
    case StepKind::Branch: use(p_.code[step.pc].a); return;
    case StepKind::Mark:
    case StepKind::Jump: return;
  }
}

template <typename Visit>
void ScheduledFlow::ForEachDefinition(const Step& step, Visit visit) const {
  switch (step.kind) {
    case StepKind::Defer:
      for (uint32_t slot : p_.tensor_groups[p_.code[step.pc].b].results) visit(slot);
      return;
    case StepKind::Op:
    case StepKind::Construct:
    case StepKind::Delay:
    case StepKind::Merge:
    case StepKind::Mark:
    case StepKind::Force: visit(p_.code[step.pc].a); return;
    case StepKind::Call:
    case StepKind::Resume: {
      const SiteCode& site = p_.sites[p_.code[step.pc].b];
      bool last = step.kind == StepKind::Resume || site.late.empty();
      for (uint32_t r = 0; r < site.returns.size(); ++r)
        if (site.returns[r].slot != kNone && site.callee->IsLastStage(r) == last) visit(site.returns[r].slot);
      if (!last) visit(site.child_slot);
      return;
    }
    case StepKind::Yield:
      for (const LateParameter& parameter : scope_.late) visit(parameter.slot);
      return;
    default: return;
  }
}

}  // namespace df::tagged
