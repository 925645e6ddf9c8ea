// Scheduled code of what leaves a scope's code, or begins it anew: calls, results, returns and the next iteration.
#include "runtime/engines/tagged/make/scheduled_emit.h"

namespace df::tagged {

bool ScheduledMaker::EmitCall(const Step& step, const Slots& live_after) {
  const SiteCode& site = p_.sites[p_.code[step.pc].b];
  uint32_t site_index = p_.code[step.pc].b;
  const ScopeCode& callee = *site.callee;
  const Slots& there = plain_of_[callee.id.index];
  bool scheduled = is_scheduled_[callee.id.index];
  uint32_t waiting = StateWhileCalleeWorks(step, live_after);
  if (scheduled) {
    auto count = [&] {
      if (!p_.count) return;
      ScheduledInstr& in = Add(Scheduled::CountCall, 1);
      (site.type == SiteType::Loop ? in.y : in.x) = 1;
    };
    uint32_t states = static_cast<uint32_t>(sizeof(uint64_t) * callee.num_slots);
    const Delivery* only = site.together.size() == 1 && site.late.empty() ? &site.together[0] : nullptr;
    if (only && callee.iteration_slot == kNone && !IsConstant(At(only->from)) && plain_[only->from] && there[only->to]) {
      count();
      ScheduledInstr& in = Add(Scheduled::CallWord, 0, At(only->from), only->to);
      in.x = site_index;
      in.y = states;
    } else {
      ScheduledInstr& in = Add(Scheduled::Call);
      in.x = site_index;
      in.y = states;
      if (!site.late.empty()) Add(Scheduled::KeepCallee, site.child_slot).x = site_index;
      if (!EmitArguments(site.together, there)) return false;
      if (callee.iteration_slot != kNone) Add(Scheduled::ArgConstant, callee.iteration_slot).imm = 0;
      count();
      Add(Scheduled::Enter);
    }
  } else {
    if (site.returns.size() != 1) return false;
    ScheduledInstr& in = Add(Scheduled::CallOut, 0, 0, static_cast<uint32_t>(site.together.size()));
    in.x = static_cast<uint32_t>(out().operands.size());
    in.y = site_index;
    for (const Delivery& d : site.together) out().operands.push_back(Listed(d.from));
  }
  state_ = waiting;
  uint32_t result = site.returns[0].slot;
  bool one = site.returns.size() == 1 && site.late.empty();
  // A result that is plain there is plain here, or is widened; the other way round cannot be.
  for (uint32_t r = 0; r < site.returns.size() && scheduled; ++r)
    if (uint32_t row = callee.results.empty() ? kNone : callee.results[r]; row != kNone && site.returns[r].slot != kNone) {
      uint32_t from = p_.slot_of[row];
      if (plain_[site.returns[r].slot] && from != kNone && !IsConstant(from) && !there[from]) return false;
    }
  Add(!one ? Scheduled::GotMany : plain_[result] ? Scheduled::Got : Scheduled::GotOpen, result, scope_.num_slots);
  return true;
}

bool ScheduledMaker::EmitArguments(const std::vector<Delivery>& arguments, const Slots& there) {
  for (const Delivery& d : arguments) {
    uint32_t from = At(d.from);
    if (there[d.to]) {
      if (IsConstant(from)) Add(Scheduled::ArgConstant, d.to).imm = Constant(from);
      else Add(Scheduled::Arg, d.to, from);
      if (!IsPlainOperand(from)) return false;
    } else if (IsConstant(from)) {
      Add(Scheduled::ArgOpenConstant, d.to).x = from & ~kConstant;
    } else {
      uint16_t a = Operand(from);
      Add(plain_[from] ? Scheduled::ArgWiden : Scheduled::ArgOpen, d.to, a);
    }
  }
  return true;
}

// The arguments are gone and the results are not there.
uint32_t ScheduledMaker::StateWhileCalleeWorks(const Step& step, const Slots& live_after) {
  const SiteCode& site = p_.sites[p_.code[step.pc].b];
  Slots live = live_after, known = known_;
  flow_.ForEachDefinition(step, [&](uint32_t slot) { live[slot] = false; });
  if (site.child_slot != kNone) known[site.child_slot] = true;
  return MakeState(step.after, live, known);
}

// Late arguments, to a callee that waits for them.
bool ScheduledMaker::EmitResume(const Step& step, const Slots& live_after) {
  const SiteCode& site = p_.sites[p_.code[step.pc].b];
  uint32_t waiting = StateWhileCalleeWorks(step, live_after);
  Add(Scheduled::Resume, site.child_slot).y = static_cast<uint32_t>(sizeof(uint64_t) * site.callee->num_slots);
  if (!EmitArguments(site.late, plain_of_[site.callee->id.index])) return false;
  Add(Scheduled::EnterLate);
  state_ = waiting;
  Add(Scheduled::GotMany, 0, scope_.num_slots);
  return true;
}

// What a step gives of the results: operand and result, one after the other.
uint32_t ScheduledMaker::ListResults(const Step& step, uint32_t* count) {
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
void ScheduledMaker::EmitYield(const Step& step, const Slots& live_after) {
  Slots live = live_after, known = known_;
  for (const LateParameter& parameter : scope_.late) live[parameter.slot] = false;
  uint32_t waiting = MakeState(step.after, live, known);
  for (const LateParameter& parameter : scope_.late) live[parameter.slot] = known[parameter.slot] = true;
  uint32_t resumed = MakeState(step.before, live, known);
  uint32_t count = 0, first = ListResults(step, &count);
  state_ = kNone;
  Add(Scheduled::Yield, 0, 0, count).x = first;
  state_ = waiting;
  Add(Scheduled::Await);
  state_ = resumed;
  Add(Scheduled::Awaited);
}

bool ScheduledMaker::EmitNext(const Step& step) {
  const SiteCode& site = p_.sites[p_.code[step.pc].b];
  // What stays where it is must not be given up by another use.
  for (size_t i = 0; i < step.operands.size(); ++i)
    if (step.operands[i] == site.next_together[i].to) live_after_[step.operands[i]] = true;
  if (p_.count) Add(Scheduled::CountCall).y = 1;
  ScheduledInstr& in = Add(Scheduled::Next, scope_.iteration_slot);
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
void ScheduledMaker::EmitMoves(ScheduledInstr next) {
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
      Add(Scheduled::MoveMany, 0, 0, next.b).x = next.x;
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
      if (plain) Add(Scheduled::Load, slot).imm = constant.word();
      else if (constant.is_word()) Add(Scheduled::Nullary, slot).imm = constant.word();
      else Add(Scheduled::LoadOpen, slot).x = from & ~kConstant;
    } else if (from & kPlainOperand) {
      Add(plain ? Scheduled::Move : Scheduled::Widen, slot, source);
    } else {
      Add(Scheduled::MoveOpen, slot, source | (from & kLastOperand ? kLastUse : 0));
    }
  }
}

bool ScheduledMaker::EmitReturn(const Step& step) {
  uint32_t free_list = FramePool::ListOf(scope_.frame_bytes);
  auto head = static_cast<int64_t>(HeadOf(kLive | kScheduled | kScheduledCaller, scope_.num_slots));
  if (step.operands.size() == 1 && scope_.late.empty() && free_list <= UINT16_MAX) {
    uint32_t from = At(step.operands[0]);
    if (IsConstant(from)) {
      const Value& constant = p_.constants[from & ~kConstant];
      if (constant.is_word() && constant.word() == static_cast<int16_t>(constant.word())) {
        Add(Scheduled::ReturnConstant, static_cast<uint16_t>(constant.word()), 0, free_list).imm = head;
        return true;
      }
    } else {
      uint16_t a = Operand(from);
      Add(plain_[from] ? Scheduled::Return : Scheduled::ReturnOpen, 0, a & ~kLastUse, free_list).imm = head;
      return true;
    }
  }
  uint32_t count = 0, first = ListResults(step, &count);
  ScheduledInstr& in = Add(Scheduled::ReturnMany, 0, 0, count);
  in.x = first;
  in.y = free_list;
  return true;
}

}  // namespace df::tagged
