// runtime/engines/tagged/make/scheduled_emit.h
//
// What turns a schedule into scheduled code: private to make/scheduled_maker.cpp (steps that compute, branches, blocks) and
// make/scheduled_calls.cpp (calls, returns, iterations).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/engines/tagged/code/frame.h"
#include "runtime/engines/tagged/make/scheduled_flow.h"
#include "runtime/engines/tagged/make/scheduled_maker.h"

namespace df::tagged {

// One scope.
class ScheduledMaker {
 public:
  ScheduledMaker(Program& p, ScopeCode& scope, const Schedule& schedule, const std::vector<Slots>& plain,
              const std::vector<bool>& is_scheduled, bool pass_merges)
      : pass_merges_(pass_merges), p_(p), g_(*p.graph), scope_(scope), schedule_(schedule), plain_of_(plain), plain_(plain[scope.id.index]),
        is_scheduled_(is_scheduled), flow_(p, scope, schedule, plain_) {}
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
  bool EmitCheck(const Step& step);
  void EmitBranch(uint32_t block, const Step& step);
  bool EmitCall(const Step& step, const Slots& live_after);
  bool EmitArguments(const std::vector<Delivery>& arguments, const Slots& there);
  uint32_t StateWhileCalleeWorks(const Step& step, const Slots& live_after);
  bool EmitResume(const Step& step, const Slots& live_after);
  void EmitYield(const Step& step, const Slots& live_after);
  uint32_t ListResults(const Step& step, uint32_t* count);
  bool EmitNext(const Step& step);
  void EmitMoves(ScheduledInstr next);
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
  ScheduledInstr& Add(Scheduled op, uint32_t d = 0, uint32_t a = 0, uint32_t b = 0) {
    out().code.push_back(InstrOf(op, d, a, b));
    out().pc_of.push_back(pc_);
    out().state_of.push_back(state_);
    return out().code.back();
  }
  uint32_t Here() { return static_cast<uint32_t>(out().code.size()); }
  ScheduledCode& out() { return p_.scheduled; }
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
  const std::vector<bool>& is_scheduled_;
  ScheduledFlow flow_;
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

}  // namespace df::tagged
