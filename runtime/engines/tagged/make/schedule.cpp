// See make/schedule.h.
#include "runtime/engines/tagged/make/schedule.h"

#include <algorithm>
#include <array>
#include <map>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringMap.h"

namespace df::tagged {

namespace {

constexpr size_t kMostRegions = 1000;
constexpr size_t kMostSteps = 16000;
constexpr size_t kLongestCopied = 12;  // steps
constexpr uint32_t kGiven = kNone - 1;

struct State {
  std::vector<uint8_t> masks;
  std::vector<uint8_t> ready;     // by region
  std::vector<uint32_t> tails;    // pending
  std::vector<uint32_t> results;  // operands; kNone while not there, kGiven once the caller has it
  std::vector<uint32_t> open;     // sites whose callees wait for late arguments, in order
  Stage stage = Stage::First;
  std::map<uint32_t, int64_t> known;  // predicates to come whose value this path knows, by slot
};

class Scheduler {
 public:
  Scheduler(const Program& program, const ScopeCode& scope, bool probing, Schedule& out)
      : p_(program), scope_(scope), probing_(probing), out_(out) {}
  bool Run();

 private:
  struct Todo {
    uint32_t block;
    State state;
    uint32_t pc;  // in the middle of a region, or kNone
  };

  uint32_t BlockFor(State state, uint32_t pc);
  bool Follow(uint32_t block, State state, uint32_t pc);
  bool FollowRegion(uint32_t block, State& state, uint32_t pc, bool* ended);
  bool FollowTail(uint32_t block, State& state, bool* ended);
  bool FollowTailAt(uint32_t block, State& state, size_t at, bool* ended);
  bool CanGoOn(const State& state, uint32_t pc) const;
  void FollowCall(uint32_t block, State& state, uint32_t pc, uint32_t before);
  void FollowResume(uint32_t block, State& state, uint32_t site);
  bool HasEarlyResults(const State& state) const;
  bool MayReturnWith(const State& state) const;
  void Yield(uint32_t block, State state);
  bool AddDelay(uint32_t block, const State& state, uint32_t pc);
  bool Finish(uint32_t block, State state);
  void FindPredicates();
  bool Decided(State& state, const Instr& branch, uint32_t* side) const;
  void SpliceBlocks();
  void PassMerged(Block& block);
  void Fire(State& state, uint32_t event) const;
  uint32_t Stand(const State& state, uint32_t pc);
  Step& Add(uint32_t block, StepKind kind, uint32_t pc) {
    ++steps_;
    out_.blocks[block].steps.push_back({kind, pc, kNone, kNone, {}, {}});
    return out_.blocks[block].steps.back();
  }

  const Program& p_;
  const ScopeCode& scope_;
  const bool probing_;
  Schedule& out_;
  llvm::StringMap<uint32_t> block_of_;  // by the bytes of the state
  std::vector<Todo> todo_;
  llvm::DenseSet<uint32_t> captures_;  // DelayArgs that come after their Delay
  std::vector<bool> predicate_;  // by slot: a branch looks at it, perhaps through merges
  size_t steps_ = 0;
};

void Scheduler::Fire(State& state, uint32_t event) const {
  const Event& e = scope_.events[event];
  for (uint32_t i = 0; i < e.num_targets; ++i) {
    const Target& target = scope_.targets[e.first_target + i];
    if (target.mask != kNone && (state.masks[target.mask] &= static_cast<uint8_t>(~target.bit)) != 0) continue;
    state.ready[target.region] = 1;
  }
}

uint32_t Scheduler::Stand(const State& state, uint32_t pc) {
  Standing standing{pc, state.masks, {}, state.tails, state.stage, {}, {}};
  for (uint32_t r = 0; r < state.ready.size(); ++r)
    if (state.ready[r]) standing.ready.push_back(r);
  for (uint32_t site : state.open) standing.children.push_back(p_.sites[site].child_slot);
  for (uint32_t r = 0; r < state.results.size(); ++r)
    if (state.results[r] != kNone && state.results[r] != kGiven) standing.held.emplace_back(r, state.results[r]);
  out_.standings.push_back(std::move(standing));
  return static_cast<uint32_t>(out_.standings.size() - 1);
}

// The block that goes on from a state: paths that have come to the same state share it.
uint32_t Scheduler::BlockFor(State state, uint32_t pc) {
  llvm::SmallString<256> key;
  auto add = [&](const auto& values) {
    key.append(llvm::StringRef(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])));
  };
  add(llvm::ArrayRef(pc));
  add(state.masks);
  add(state.ready);
  add(state.results);
  for (auto [slot, value] : state.known) add(std::array{slot, static_cast<uint32_t>(value)});
  add(std::array{static_cast<uint32_t>(state.stage), static_cast<uint32_t>(state.open.size())});
  add(state.open);
  add(state.tails);
  auto [it, is_new] = block_of_.try_emplace(key, static_cast<uint32_t>(out_.blocks.size()));
  if (is_new) {
    out_.blocks.emplace_back();
    todo_.push_back({it->second, std::move(state), pc});
  }
  return it->second;
}

// A Delay captures what is there when it is made. What is made later in its region, or refers to it (`xs = x : xs`), it captures then;
// nobody may look at the reference before that.
bool Scheduler::AddDelay(uint32_t block, const State& state, uint32_t pc) {
  const Instr& in = p_.code[pc];
  size_t count = p_.sites[in.b].together.size();
  if (p_.sites[in.b].keeps_home) return false;
  Step& step = Add(block, StepKind::Delay, pc);
  step.before = Stand(state, pc);
  step.operands.assign(count, kNone);
  size_t found = 0;
  std::vector<uint32_t> written;  // after the Delay, in this region
  for (uint32_t at = pc + 1; found < count && p_.code[at].code != Code::End && !IsTail(p_.code[at].code); ++at) {
    const Instr& other = p_.code[at];
    if (other.code == Code::DelayArg && other.a == in.a) {
      if (std::find(written.begin(), written.end(), other.b) != written.end() || other.b == in.a) captures_.insert(at);
      else step.operands[other.c] = other.b;
      ++found;
    }
    if (other.code == Code::Op || other.code == Code::OpMany || other.code == Code::Construct || other.code == Code::Delay ||
        other.code == Code::DelayAll || other.code == Code::Merge)
      written.push_back(other.a);
  }
  return found == count;
}

// The local part of a region from `pc` on.
bool Scheduler::FollowRegion(uint32_t block, State& state, uint32_t pc, bool* ended) {
  for (;; ++pc) {
    const Instr& in = p_.code[pc];
    if (in.code == Code::End) return true;
    if (IsTail(in.code)) {
      state.tails.push_back(pc);
      return true;
    }
    if (steps_ > kMostSteps) return false;
    switch (in.code) {
      case Code::Op:
      case Code::OpMany: Add(block, StepKind::Op, pc).before = Stand(state, pc); continue;
      case Code::Check: Add(block, StepKind::Check, pc).before = Stand(state, pc); continue;
      case Code::Defer:
        if (in.b == kNone) continue;
        Add(block, StepKind::Defer, pc).before = Stand(state, pc);
        pc += in.c;
        continue;
      case Code::Construct: Add(block, StepKind::Construct, pc).before = Stand(state, pc); continue;
      case Code::Delay:
        if (!AddDelay(block, state, pc)) return false;
        continue;
      case Code::DelayAll: {
        if (p_.sites[in.b].keeps_home) return false;
        Step& step = Add(block, StepKind::Delay, pc);
        step.before = Stand(state, pc);
        for (size_t i = 0; i < p_.sites[in.b].together.size(); ++i)
          step.operands.push_back(ListOperand(p_.lists[in.c + i]));
        continue;
      }
      case Code::DelayArg:
        if (captures_.contains(pc)) Add(block, StepKind::Capture, pc).before = Stand(state, pc);
        continue;
      case Code::Force: continue;  // at its Wait
      case Code::Merge:
        if (in.a == kNone) continue;
        if (predicate_[in.a] && IsConstant(in.b)) state.known[in.a] = p_.constants[in.b & ~kConstant].word();
        else if (auto it = state.known.find(in.b); it != state.known.end()) state.known[in.a] = it->second;
        Add(block, in.aux & kTrigger ? StepKind::Mark : StepKind::Merge, pc).before = Stand(state, pc);
        continue;
      case Code::Fire: Fire(state, in.c); continue;
      case Code::Return:
      case Code::Exit: state.results[in.a] = in.b; continue;
      case Code::Branch: {
        const Branch& branch = scope_.branches[in.b];
        if (uint32_t side = 0; Decided(state, in, &side)) {
          if (side >= branch.sides.size() || branch.sides[side] == kNone) return false;
          Fire(state, branch.sides[side]);
          continue;
        }
        Step step{StepKind::Branch, pc, Stand(state, pc), kNone, {}, {}};
        for (uint32_t event : branch.sides) {
          State side = state;
          if (event == kNone) return false;
          Fire(side, event);
          step.targets.push_back(BlockFor(std::move(side), pc + 1));
        }
        ++steps_;
        out_.blocks[block].steps.push_back(std::move(step));
        *ended = true;
        return !branch.sides.empty();
      }
      default: return false;
    }
  }
}

// The first of the tails that wait, in program order, that can go on.
bool Scheduler::FollowTail(uint32_t block, State& state, bool* ended) {
  std::stable_sort(state.tails.begin(), state.tails.end(),
                   [&](uint32_t a, uint32_t b) { return p_.OrderOf(a) < p_.OrderOf(b); });
  for (size_t at = 0; at < state.tails.size(); ++at)
    if (CanGoOn(state, state.tails[at])) return FollowTailAt(block, state, at, ended);
  return false;
}

// Late arguments go together, to a callee that waits for them.
bool Scheduler::CanGoOn(const State& state, uint32_t pc) const {
  const Instr& in = p_.code[pc];
  if (in.code != Code::CallLate) return true;
  if (!std::binary_search(state.open.begin(), state.open.end(), in.b)) return false;
  size_t there = 0;
  for (uint32_t tail : state.tails)
    for (; p_.code[tail].code == Code::CallLate && p_.code[tail].b == in.b; ++tail) ++there;
  return there == p_.sites[in.b].late.size();
}

bool Scheduler::FollowTailAt(uint32_t block, State& state, size_t at, bool* ended) {
  uint32_t pc = state.tails[at];
  const Instr& in = p_.code[pc];
  if (in.code == Code::CallLate) {
    FollowResume(block, state, pc);
    return true;
  }
  uint32_t before = Stand(state, kNone);
  state.tails.erase(state.tails.begin() + static_cast<ptrdiff_t>(at));
  if (p_.code[pc + 1].code != Code::End) state.tails.push_back(pc + 1);
  switch (in.code) {
    case Code::Wait:
      Add(block, StepKind::Force, pc).before = before;
      Fire(state, in.c);
      return true;
    case Code::Offer:  // nobody took it
      state.known[in.a] = 0;
      Add(block, StepKind::Merge, pc).before = before;
      Fire(state, in.c);
      return true;
    case Code::Call: {
      const SiteCode& site = p_.sites[in.b];
      if (site.type == SiteType::Delay || site.needs_outer || !site.next_late.empty()) return false;
      bool many = site.returns.size() > 1;
      for (const ReturnTo& to : site.returns)
        if (to.slot == kNone && !many) return false;
      FollowCall(block, state, pc, before);
      return true;
    }
    case Code::Next: {
      const SiteCode& site = p_.sites[in.b];
      if (!state.tails.empty() || !state.open.empty() || !site.late.empty() || !site.next_late.empty()) return false;
      Step& step = Add(block, StepKind::Next, pc);
      step.before = before;
      for (const Delivery& d : site.next_together) step.operands.push_back(d.from);
      *ended = true;
      return true;
    }
    default: return false;
  }
}

// A callee with late parameters gives its early results, and is open until these come.
void Scheduler::FollowCall(uint32_t block, State& state, uint32_t pc, uint32_t before) {
  uint32_t index = p_.code[pc].b;
  const SiteCode& site = p_.sites[index];
  bool late = !site.late.empty();
  uint32_t after = Stand(state, kNone);
  Step& step = Add(block, StepKind::Call, pc);
  step.before = before;
  step.after = after;
  if (late) state.open.insert(std::upper_bound(state.open.begin(), state.open.end(), index), index);
  for (uint32_t r = 0; r < site.returns.size(); ++r)
    if (site.returns[r].slot != kNone && (!late || site.callee->early[r])) Fire(state, site.returns[r].event);
}

// The late arguments of a callee that waits for them, and the rest of its results. `pc`: of one of them.
void Scheduler::FollowResume(uint32_t block, State& state, uint32_t pc) {
  uint32_t index = p_.code[pc].b;
  const SiteCode& site = p_.sites[index];
  uint32_t before = Stand(state, kNone);
  std::vector<uint32_t> tails;
  for (uint32_t tail : state.tails) {
    while (p_.code[tail].code == Code::CallLate && p_.code[tail].b == index) ++tail;
    if (p_.code[tail].code != Code::End) tails.push_back(tail);
  }
  state.tails = std::move(tails);
  state.open.erase(std::find(state.open.begin(), state.open.end(), index));
  uint32_t after = Stand(state, kNone);
  Step& step = Add(block, StepKind::Resume, pc);
  step.before = before;
  step.after = after;
  for (uint32_t r = 0; r < site.returns.size(); ++r)
    if (site.returns[r].slot != kNone && !site.callee->early[r]) Fire(state, site.returns[r].event);
}

// All results are there that are given before the late arguments come: the caller goes on with them first, whatever is left to do.
bool Scheduler::HasEarlyResults(const State& state) const {
  if (probing_ || state.stage != Stage::First || !llvm::is_contained(scope_.early, true)) return false;
  for (uint32_t r = 0; r < state.results.size(); ++r)
    if (scope_.early[r] && state.results[r] == kNone) return false;
  return true;
}

// The rest is done when the late arguments have come.
void Scheduler::Yield(uint32_t block, State state) {
  Step step{StepKind::Yield, kNone, kNone, kNone, {}, {}};
  for (uint32_t r = 0; r < state.results.size(); ++r) {
    bool there = state.results[r] != kNone;
    if (!there) out_.early[r] = false;
    bool given = there && scope_.early[r];
    step.operands.push_back(given ? state.results[r] : kNone);
    if (given) state.results[r] = kGiven;
  }
  state.stage = Stage::Waits;
  step.after = Stand(state, kNone);
  state.stage = Stage::Last;
  for (const LateParameter& parameter : scope_.late) Fire(state, parameter.event);
  step.before = Stand(state, kNone);
  ++steps_;
  out_.blocks[block].steps.push_back(std::move(step));
  uint32_t next = BlockFor(std::move(state), kNone);
  Add(block, StepKind::Jump, kNone).targets.push_back(next);
}

// Nothing of the frame is left to do: it must have all its results, for the caller goes on only then.
bool Scheduler::Finish(uint32_t block, State state) {
  if (!scope_.late.empty() && state.stage == Stage::First) {
    Yield(block, std::move(state));
    return true;
  }
  if (!state.open.empty() || state.results.empty() || llvm::is_contained(state.results, kNone)) return false;
  for (uint32_t& result : state.results)
    if (result == kGiven) result = kNone;
  Add(block, StepKind::Return, kNone).operands = std::move(state.results);
  return true;
}

// Whether results that are there may wait for what tails are left. A caller goes on with its results before more of the callee is
// done; but what is left to do for late arguments does what the first stage has done again, backwards, and will end as that has.
bool Scheduler::MayReturnWith(const State& state) const {
  if (state.stage == Stage::Last || p_.graph->demanded) return true;
  for (uint32_t r = 0; r < state.results.size(); ++r)
    if (state.results[r] != kNone && (scope_.late.empty() || (scope_.early[r] && !probing_))) return false;
  return true;
}

bool Scheduler::Follow(uint32_t block, State state, uint32_t pc) {
  bool ended = false;
  if (pc == kNone) {
    auto ready = std::find(state.ready.begin(), state.ready.end(), 1);
    if (ready != state.ready.end()) {
      pc = scope_.regions[static_cast<size_t>(ready - state.ready.begin())].pc;
      *ready = 0;
    } else {
      if (state.tails.empty()) return Finish(block, std::move(state));
      if (HasEarlyResults(state)) {
        Yield(block, std::move(state));
        return true;
      }
      if (!MayReturnWith(state) || !FollowTail(block, state, &ended)) return false;
    }
  }
  if (pc != kNone && !FollowRegion(block, state, pc, &ended)) return false;
  if (!ended) {
    uint32_t next = BlockFor(std::move(state), kNone);
    Add(block, StepKind::Jump, kNone).targets.push_back(next);
  }
  return true;
}

// What merges into a predicate is one too.
void Scheduler::FindPredicates() {
  predicate_.assign(scope_.num_slots, false);
  auto each = [&](auto visit) {
    for (const Region& region : scope_.regions)
      for (uint32_t pc = region.pc; p_.code[pc].code != Code::End; ++pc) visit(p_.code[pc]);
  };
  each([&](const Instr& in) {
    if (in.code == Code::Branch && !IsConstant(in.a)) predicate_[in.a] = true;
  });
  for (bool changed = true; changed;) {
    changed = false;
    each([&](const Instr& in) {
      if (in.code != Code::Merge || (in.aux & kTrigger) || in.a == kNone || !predicate_[in.a]) return;
      if (IsConstant(in.b) || predicate_[in.b]) return;
      predicate_[in.b] = changed = true;
    });
  }
}

// Whether this path knows which side a branch takes, as that at the end of a loop's body often does.
bool Scheduler::Decided(State& state, const Instr& in, uint32_t* side) const {
  auto it = state.known.find(in.a);
  if (it == state.known.end()) return false;
  *side = scope_.branches[in.b].is_bool ? it->second == 0 : static_cast<uint32_t>(it->second);
  state.known.erase(it);
  return true;
}

// A block that only one other jumps to becomes the end of that; a short one that ends the activation or iteration, the end
// of each.
void Scheduler::SpliceBlocks() {
  std::vector<uint32_t> uses(out_.blocks.size(), 0);
  uses[0] = 1;
  for (const Block& block : out_.blocks)
    for (uint32_t target : block.steps.back().targets) ++uses[target];
  std::vector<bool> gone(out_.blocks.size(), false);
  for (uint32_t i = static_cast<uint32_t>(out_.blocks.size()); i-- > 0;) {
    if (gone[i]) continue;
    std::vector<Step>& steps = out_.blocks[i].steps;
    while (steps.back().kind == StepKind::Jump) {
      uint32_t next = steps.back().targets[0];
      const std::vector<Step>& end = out_.blocks[next].steps;
      if (uses[next] > 1 && end.size() <= kLongestCopied && end.back().targets.empty()) {
        --uses[next];
        steps.pop_back();
        steps.insert(steps.end(), end.begin(), end.end());
        break;
      }
      if (uses[next] != 1 || next == i) break;
      steps.pop_back();
      std::vector<Step>& rest = out_.blocks[next].steps;
      steps.insert(steps.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
      rest.clear();
      gone[next] = true;
    }
  }
  std::vector<uint32_t> number(out_.blocks.size(), 0);
  uint32_t count = 0;
  for (uint32_t i = 0; i < out_.blocks.size(); ++i) {
    if (gone[i]) continue;
    number[i] = count;
    if (count != i) out_.blocks[count] = std::move(out_.blocks[i]);
    ++count;
  }
  out_.blocks.resize(count);
  for (Block& block : out_.blocks)
    for (uint32_t& target : block.steps.back().targets) target = number[target];
}

// Merges just before a Return or Next are not made: it takes what they would merge.
void Scheduler::PassMerged(Block& block) {
  Step& last = block.steps.back();
  if (last.kind != StepKind::Return && last.kind != StepKind::Next) return;
  while (block.steps.size() > 1) {
    const Step& step = block.steps[block.steps.size() - 2];
    if (step.kind != StepKind::Merge && step.kind != StepKind::Mark) return;
    const Instr& in = p_.code[step.pc];
    if (step.kind == StepKind::Merge)
      for (uint32_t& operand : block.steps.back().operands)
        if (operand == in.a) operand = in.b;
    block.steps.erase(block.steps.end() - 2);
  }
}

bool Scheduler::Run() {
  if (scope_.kind == ir::ScopeKind::Root || scope_.read_by_outers || scope_.needs_outer || scope_.stays_in_events) return false;
  if (scope_.regions.size() > kMostRegions) return false;
  FindPredicates();
  State start;
  start.masks = scope_.masks;
  start.ready.assign(scope_.regions.size(), 0);
  start.results.assign(scope_.num_results, kNone);
  out_.early.assign(scope_.num_results, true);
  Fire(start, scope_.activation);
  out_.entry = Stand(start, kNone);
  BlockFor(std::move(start), kNone);
  while (!todo_.empty()) {
    Todo todo = std::move(todo_.back());
    todo_.pop_back();
    if (!Follow(todo.block, std::move(todo.state), todo.pc)) return false;
  }
  SpliceBlocks();
  for (Block& block : out_.blocks) PassMerged(block);
  return true;
}

}  // namespace

bool MakeSchedule(const Program& program, const ScopeCode& scope, bool probing, Schedule* schedule) {
  return Scheduler(program, scope, probing, *schedule).Run();
}

}  // namespace df::tagged
