// Scheduled code of delayed bodies -> frameless code (code/frameless.h).
//
// Frameless code has the instructions of scheduled code, and a few of its own. Its slots borrow their values, so no instruction says
// which use is the last. A short body that makes no delayed call stands where its Delay stood, with slots of its own: Try, the
// body, Tried, and behind these the MakeCell of an attempt that came to nothing. Where a body ends by a constructor with a
// delayed call in it, that is one instruction, Chain, which goes on with the call's body.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "runtime/engines/tagged/code/frameless.h"
#include "runtime/engines/tagged/code/scheduled_data.h"

namespace df::tagged {

namespace {

constexpr uint32_t kMostInstructions = 48;  // of a body, all its sides together
constexpr uint32_t kMostMade = 8;           // constructors and delayed calls of a body

// What an instruction may do next: nothing that an attempt can be (None), the next one, or the targets in `to`.
enum class PathStep { None, Next, End, Both, Jump, Choose, Construct, Delay };

PathStep StepOf(Scheduled op) {
  switch (op) {
#define DF_SCHEDULED_BINARY(name, type, condition, expression) \
  case Scheduled::name##RR: case Scheduled::name##RK: case Scheduled::name##KR: return PathStep::Next;
#define DF_SCHEDULED_COMPARE(name, expression)                                                     \
  case Scheduled::name##RR: case Scheduled::name##RK: case Scheduled::name##KR: return PathStep::Next; \
  case Scheduled::Branch##name##RR: case Scheduled::Branch##name##RK: return PathStep::Both;
#define DF_SCHEDULED_UNARY(name, type, condition, expression) case Scheduled::name: return PathStep::Next;
#define DF_SCHEDULED_INTEGER(name, expression) \
  case Scheduled::name##ZRR: case Scheduled::name##ZRK: case Scheduled::name##ZKR: return PathStep::Next;
#define DF_SCHEDULED_INTEGER_COMPARE(name, expression) \
  DF_SCHEDULED_INTEGER(name, expression)               \
  case Scheduled::Branch##name##ZRR: case Scheduled::Branch##name##ZRK: return PathStep::Both;
#define DF_SCHEDULED(name, operands)
#include "runtime/engines/tagged/code/scheduled_ops.def"
    case Scheduled::Load: case Scheduled::LoadOpen: case Scheduled::Nullary: case Scheduled::MoveOpen: case Scheduled::Widen:
    case Scheduled::Narrow: case Scheduled::Drop: case Scheduled::Match: case Scheduled::Field: case Scheduled::FieldPlain:
    case Scheduled::TwoFields: case Scheduled::Fields:
    case Scheduled::Force: case Scheduled::ForcePlain: case Scheduled::Count: return PathStep::Next;
    case Scheduled::Construct: return PathStep::Construct;
    case Scheduled::Delay: return PathStep::Delay;
    case Scheduled::Branch: case Scheduled::BranchMatch: return PathStep::Both;
    case Scheduled::Choose: case Scheduled::ChooseMatch: return PathStep::Choose;
    case Scheduled::Jump: return PathStep::Jump;
    case Scheduled::Return: case Scheduled::ReturnConstant: case Scheduled::ReturnOpen: return PathStep::End;
    default: return PathStep::None;
  }
}

// Calls `visit` with each instruction that may come after the one at `at`.
template <typename Visit>
void ForEachNext(const ScheduledCode& scheduled, uint32_t at, Visit visit) {
  const ScheduledInstr& in = scheduled.code[at];
  switch (StepOf(in.op)) {
    case PathStep::None: case PathStep::End: break;
    case PathStep::Next: case PathStep::Construct: case PathStep::Delay: visit(at + 1); break;
    case PathStep::Both: visit(in.x); visit(in.y); break;
    case PathStep::Jump: visit(in.x); break;
    case PathStep::Choose:
      for (uint32_t i = 0; i < in.b; ++i) visit(scheduled.operands[in.x + i]);
  }
}

// Calls `visit` with each slot of an instruction that an attempt can be, to read it or change it.
template <typename Visit>
void ForEachSlot(ScheduledInstr& in, std::vector<uint32_t>& list, Visit visit) {
  auto in_list = [&](uint32_t slots) {
    for (uint32_t& entry : list) {
      if (entry & kConstant) continue;
      uint16_t slot = static_cast<uint16_t>(entry & slots);
      visit(slot);
      entry = (entry & ~slots) | slot;
    }
  };
  // Of the two, with a mark in the highest bit.
  auto marked = [&](uint16_t& operand) {
    uint16_t slot = operand & (kFieldPlain - 1);
    visit(slot);
    operand = static_cast<uint16_t>((operand & kFieldPlain) | slot);
  };
  switch (in.op) {
#define DF_SCHEDULED_BINARY(name, type, condition, expression)                                   \
  case Scheduled::name##RR: visit(in.b); [[fallthrough]];                                        \
  case Scheduled::name##RK: case Scheduled::name##KR: visit(in.d); visit(in.a); break;
#define DF_SCHEDULED_COMPARE(name, expression)                                                   \
  DF_SCHEDULED_BINARY(name, type, condition, expression)                                         \
  case Scheduled::Branch##name##RR: visit(in.b); [[fallthrough]];                                \
  case Scheduled::Branch##name##RK: visit(in.a); break;
#define DF_SCHEDULED_UNARY(name, type, condition, expression) case Scheduled::name: visit(in.d); visit(in.a); break;
#define DF_SCHEDULED_INTEGER(name, expression)                                                   \
  case Scheduled::name##ZRR: marked(in.b); [[fallthrough]];                                      \
  case Scheduled::name##ZRK: case Scheduled::name##ZKR: visit(in.d); marked(in.a); break;
#define DF_SCHEDULED_INTEGER_COMPARE(name, expression)                                           \
  DF_SCHEDULED_INTEGER(name, expression)                                                         \
  case Scheduled::Branch##name##ZRR: visit(in.b); [[fallthrough]];                               \
  case Scheduled::Branch##name##ZRK: visit(in.a); break;
#define DF_SCHEDULED(name, operands)
#include "runtime/engines/tagged/code/scheduled_ops.def"
    case Scheduled::Load: case Scheduled::LoadOpen: case Scheduled::Nullary: visit(in.d); break;
    case Scheduled::MoveOpen: case Scheduled::Widen: case Scheduled::Narrow: case Scheduled::Match: case Scheduled::Force:
    case Scheduled::ForcePlain: case Scheduled::Field: case Scheduled::FieldPlain: visit(in.d); marked(in.a); break;
    case Scheduled::TwoFields: marked(in.d); marked(in.a); marked(in.b); break;
    case Scheduled::Fields: marked(in.a); in_list(kFieldPlain - 1); break;
    case Scheduled::Construct: case Scheduled::Delay: visit(in.d); in_list(kOperandIndex); break;
    case Scheduled::Branch: case Scheduled::BranchMatch: case Scheduled::Choose: case Scheduled::ChooseMatch: case Scheduled::Drop:
    case Scheduled::Return: case Scheduled::ReturnOpen: marked(in.a); break;
    default: break;
  }
}

// The entries of an instruction's list, if it has one.
std::vector<uint32_t> ListOf(const ScheduledCode& scheduled, const ScheduledInstr& in) {
  if (in.op != Scheduled::Fields && in.op != Scheduled::Construct && in.op != Scheduled::Delay) return {};
  auto first = scheduled.operands.begin() + in.x;
  return {first, first + in.b};
}

bool Mentions(const ScheduledCode& scheduled, ScheduledInstr in, uint32_t slot) {
  bool found = false;
  std::vector<uint32_t> list = ListOf(scheduled, in);
  ForEachSlot(in, list, [&](uint16_t at) { found |= at == slot; });
  return found;
}

// Whether the code from `start` on is short, ends, and can be attempted. `delays`: it makes delayed calls.
bool CanTry(const ScheduledCode& scheduled, uint32_t start, bool* delays) {
  std::vector<uint32_t> seen, todo{start};
  uint32_t made = 0;
  while (!todo.empty()) {
    uint32_t at = todo.back();
    todo.pop_back();
    if (std::find(seen.begin(), seen.end(), at) != seen.end()) continue;
    seen.push_back(at);
    if (seen.size() > kMostInstructions) return false;
    const ScheduledInstr& in = scheduled.code[at];
    PathStep step = StepOf(in.op);
    if (step == PathStep::None) return false;
    *delays |= step == PathStep::Delay;
    if ((step == PathStep::Delay || step == PathStep::Construct) && ++made > kMostMade) return false;
    ForEachNext(scheduled, at, [&](uint32_t next) { todo.push_back(next); });
  }
  return true;
}

class FramelessMaker {
 public:
  FramelessMaker(Program& program, const ScopeCode& scope)
      : p_(program), scheduled_(program.scheduled), out_(program.frameless), slots_(scope.num_slots) {}

  void Make(uint32_t start) {
    size_t first = out_.code.size();
    Body({0, kNone, kNone, {}}, start);
    for (size_t at = first; at < out_.code.size(); ++at) TakeCons(at);
  }

 private:
  // Where the slots of a body begin; of one that stands in another, where its value goes, and what comes then.
  struct Place {
    uint32_t base;
    uint32_t to;
    uint32_t site;
    std::map<uint32_t, uint32_t> taken;  // parameters that are slots of the body around it
  };
  // Of an instruction that is made: its target `which` (0: x, 1: y; of a Choose, the number) is what stands at `to` in scheduled code.
  struct Target {
    size_t at;
    uint32_t which;
    uint32_t to;
  };
  // A body while it is made.
  struct Made {
    Place place;
    std::map<uint32_t, uint32_t> at;  // where instructions of scheduled code are
    std::vector<Target> targets;
    std::vector<size_t> ends;         // that go on behind it
    std::vector<uint32_t> todo;       // in scheduled code
  };

  void Body(Place place, uint32_t start) {
    Made made{std::move(place), {}, {}, {}, {start}};
    while (!made.todo.empty()) {
      uint32_t at = made.todo.back();
      made.todo.pop_back();
      if (made.at.count(at)) continue;
      for (bool more = true; more;) {
        if (auto it = made.at.find(at); it != made.at.end()) {
          Add(InstrOf(Scheduled::Jump, 0, 0, 0)).x = it->second;
          break;
        }
        made.at[at] = static_cast<uint32_t>(out_.code.size());
        more = One(made, &at);
      }
    }
    for (const Target& target : made.targets) SetTarget(target, made.at.at(target.to));
    // Over the MakeCell that follows.
    for (size_t end : made.ends) out_.code[end].x = static_cast<uint32_t>(out_.code.size() + 1);
  }

  // The instruction at `*at`; whether the one that `*at` is then comes next.
  bool One(Made& made, uint32_t* at) {
    const Place& place = made.place;
    ScheduledInstr in = scheduled_.code[*at];
    std::vector<uint32_t> list = ListOf(scheduled_, in);
    ForEachSlot(in, list, [&](uint16_t& slot) {
      auto it = place.taken.find(slot);
      slot = static_cast<uint16_t>(it == place.taken.end() ? slot + place.base : it->second);
    });
    Unmark(in, list);
    auto go = [&](size_t from, uint32_t which, uint32_t to) {
      made.targets.push_back({from, which, to});
      made.todo.push_back(to);
    };
    size_t here = out_.code.size();
    switch (StepOf(in.op)) {
      case PathStep::None: break;
      case PathStep::Next:
        if (in.op == Scheduled::Fields) in.x = List(list);
        if (in.op != Scheduled::Drop && in.op != Scheduled::Count) Add(in);
        break;
      case PathStep::Construct:
        in.x = List(list);
        Add(in);
        break;
      case PathStep::Delay: {
        std::vector<uint32_t> ends = place.to == kNone ? ChainOf(*at) : std::vector<uint32_t>();
        if (!ends.empty() && std::none_of(ends.begin(), ends.end(), [&](uint32_t end) { return made.at.count(end); })) {
          for (uint32_t end : ends) sunk_[end] = *at;
          break;
        }
        Delay(in, list);
        break;
      }
      case PathStep::Both:
        Add(in);
        go(here, 1, in.y);
        go(here, 0, in.x);
        return false;
      case PathStep::Choose: {
        uint32_t first = in.x;
        in.x = List(std::vector<uint32_t>(in.b, 0));
        Add(in);
        for (uint32_t i = in.b; i-- > 0;) go(here, i, scheduled_.operands[first + i]);
        return false;
      }
      case PathStep::Jump: *at = in.x; return true;
      case PathStep::End: End(place, in, made.ends); return false;
    }
    if (auto it = sunk_.find(*at); it != sunk_.end() && in.op == Scheduled::Construct) {
      out_.code.pop_back();
      Chain(in, list, it->second);
      return false;
    }
    ++*at;
    return true;
  }

  // A Force of a list whose cell is taken apart next, by one instruction.
  void TakeCons(size_t at) {
    ScheduledInstr& force = out_.code[at];
    if (force.op != Scheduled::Force || at + 1 >= out_.code.size()) return;
    const ScheduledInstr& match = out_.code[at + 1];
    if (match.op != Scheduled::BranchMatch || match.a != force.d) return;
    const ScheduledInstr& fields = out_.code[match.y];
    constexpr uint32_t kFirstAndSecond = 1;  // of TwoFields::y
    if (fields.op == Scheduled::TwoFields && fields.a == force.d && fields.y == kFirstAndSecond && !(fields.b & kFieldPlain))
      force.op = Scheduled::ForceCons;
  }

  // Values are borrowed: no use is special because it is the last.
  static void Unmark(ScheduledInstr& in, std::vector<uint32_t>& list) {
    bool number = false;  // in b
    switch (StepOf(in.op)) {
      case PathStep::Both: case PathStep::Choose: number = true; break;
      default: number = in.op == Scheduled::TwoFields || in.op == Scheduled::Field || in.op == Scheduled::FieldPlain;
    }
    in.a &= static_cast<uint16_t>(~kLastUse);
    if (!number) in.b &= static_cast<uint16_t>(~kLastUse);
    if (in.op == Scheduled::Construct || in.op == Scheduled::Delay)
      for (uint32_t& entry : list)
        if (!(entry & kConstant)) entry &= ~kLastOperand;
  }

  // The instructions with which a Delay can be done: on each way from it on, a Construct that has what it makes as its last field,
  // and is what the body gives. Empty: there are none, or some way uses it otherwise.
  std::vector<uint32_t> ChainOf(uint32_t delay) const {
    const SiteCode& site = p_.sites[scheduled_.code[delay].y];
    if (!site.ahead || site.frameless) return {};
    uint32_t cell = scheduled_.code[delay].d;
    std::vector<uint32_t> found, seen, todo{delay + 1};
    while (!todo.empty()) {
      uint32_t at = todo.back();
      todo.pop_back();
      if (std::find(seen.begin(), seen.end(), at) != seen.end()) continue;
      seen.push_back(at);
      const ScheduledInstr& in = scheduled_.code[at];
      if (in.op != Scheduled::Drop && Mentions(scheduled_, in, cell)) {
        if (!EndsWith(at, cell)) return {};
        found.push_back(at);
        continue;
      }
      ForEachNext(scheduled_, at, [&](uint32_t next) { todo.push_back(next); });
    }
    return found;
  }

  // Whether the instruction is a Construct with `cell` as its last field, and no other, that the body gives.
  bool EndsWith(uint32_t at, uint32_t cell) const {
    const ScheduledInstr& construct = scheduled_.code[at];
    if (construct.op != Scheduled::Construct) return false;
    std::vector<uint32_t> list = ListOf(scheduled_, construct);
    auto is_cell = [&](uint32_t entry) { return !(entry & kConstant) && (entry & kOperandIndex) == cell; };
    if (!is_cell(list.back()) || std::count_if(list.begin(), list.end(), is_cell) != 1) return false;
    uint32_t end = at + 1;
    while (scheduled_.code[end].op == Scheduled::Drop || scheduled_.code[end].op == Scheduled::Count) ++end;
    return scheduled_.code[end].op == Scheduled::ReturnOpen && (scheduled_.code[end].a & ~kLastUse) == construct.d;
  }

  void Delay(ScheduledInstr in, const std::vector<uint32_t>& list) {
    const SiteCode& site = p_.sites[in.y];
    const ScopeCode* callee = site.callee;
    in.x = List(list);
    bool inlined = site.frameless && slots_ + callee->num_slots <= kMostFramelessSlots;
    if (!inlined) {
      if (!site.ahead) in.op = Scheduled::MakeCell;
      Add(in);
      return;
    }
    uint32_t base = slots_;
    slots_ += callee->num_slots;
    size_t attempt = out_.code.size();
    Add(InstrOf(Scheduled::Try, 0, 0, 0)).y = in.y;
    Place place{base, in.d, in.y, {}};
    for (size_t i = 0; i < list.size(); ++i) {
      uint32_t to = site.together[i].to;
      if (to == kNone) continue;
      if (list[i] & kConstant) {
        Add(InstrOf(Scheduled::LoadOpen, base + to, 0, 0)).x = list[i] & ~kConstant;
      } else if (list[i] & kPlainOperand) {
        Add(InstrOf(Scheduled::Widen, base + to, list[i] & kOperandIndex, 0));
      } else {
        place.taken[to] = list[i] & kOperandIndex;
      }
    }
    Body(std::move(place), callee->plain);
    out_.code[attempt].x = static_cast<uint32_t>(out_.code.size());
    in.op = Scheduled::MakeCell;
    Add(in);
  }

  void Chain(const ScheduledInstr& construct, const std::vector<uint32_t>& list, uint32_t delay) {
    ScheduledInstr in = scheduled_.code[delay];
    std::vector<uint32_t> captured = ListOf(scheduled_, in);
    Unmark(in, captured);
    const SiteCode& site = p_.sites[in.y];
    FramelessChain chain;
    chain.site = in.y;
    chain.constructor = construct.y;
    chain.fields = construct.b;
    chain.list = List(list);
    chain.captured = List(captured);
    std::vector<uint32_t> moves;
    for (size_t i = 0; i < captured.size(); ++i)
      if (site.together[i].to != kNone) moves.insert(moves.end(), {captured[i], site.together[i].to});
    chain.num_moves = static_cast<uint32_t>(moves.size() / 2);
    chain.moves = List(moves);
    Add(InstrOf(Scheduled::Chain, 0, 0, 0)).x = static_cast<uint32_t>(out_.chains.size());
    out_.chains.push_back(chain);
  }

  void End(const Place& place, ScheduledInstr in, std::vector<size_t>& ends) {
    if (place.to == kNone) {
      Add(in);
      return;
    }
    ScheduledInstr to = InstrOf(in.op == Scheduled::ReturnOpen ? Scheduled::TriedOpen : Scheduled::Tried, place.to, in.a, 0);
    if (in.op == Scheduled::ReturnConstant) {
      // By way of the one slot that surely owns nothing yet.
      to.a = static_cast<uint16_t>(place.to);
      ScheduledInstr load = InstrOf(Scheduled::Load, place.to, 0, 0);
      load.imm = static_cast<int16_t>(in.d);
      Add(load);
    }
    to.y = place.site;
    ends.push_back(out_.code.size());
    Add(to);
  }

  ScheduledInstr& Add(ScheduledInstr in) {
    out_.code.push_back(in);
    return out_.code.back();
  }
  uint32_t List(const std::vector<uint32_t>& list) {
    out_.lists.insert(out_.lists.end(), list.begin(), list.end());
    return static_cast<uint32_t>(out_.lists.size() - list.size());
  }
  void SetTarget(const Target& target, uint32_t to) {
    ScheduledInstr& in = out_.code[target.at];
    if (StepOf(in.op) == PathStep::Choose) out_.lists[in.x + target.which] = to;
    else (target.which ? in.y : in.x) = to;
  }

  Program& p_;
  const ScheduledCode& scheduled_;
  FramelessCode& out_;
  uint32_t slots_;  // that are in use
  std::map<uint32_t, uint32_t> sunk_;  // Construct -> the Delay that is done with it
};

}  // namespace

void MakeFrameless(Program& program) {
  for (SiteCode& site : program.sites) {
    bool delays = false;
    site.ahead = site.type == SiteType::Delay && site.callee && site.callee->scheduled != kNone && !site.late_operands &&
                 !site.needs_outer && site.callee->num_slots <= kMostFramelessSlots &&
                 CanTry(program.scheduled, site.callee->plain, &delays);
    site.frameless = site.ahead && !delays;
  }
  for (SiteCode& site : program.sites) {
    if (!site.ahead) continue;
    ScopeCode& callee = program.scopes[site.callee->id.index];
    if (callee.frameless != kNone) continue;
    callee.frameless = static_cast<uint32_t>(program.frameless.code.size());
    FramelessMaker(program, callee).Make(callee.plain);
  }
}

}  // namespace df::tagged
