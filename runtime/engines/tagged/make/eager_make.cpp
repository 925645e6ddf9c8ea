// Direct code of delayed bodies -> eager code (code/eager.h).
//
// Eager code has the instructions of direct code, and a few of its own. Its slots borrow their values, so no instruction says
// which use is the last. A short body that makes no delayed call stands where its Delay stood, with slots of its own: Try, the
// body, Tried, and behind these the MakeCell of an attempt that came to nothing. Where a body ends by a constructor with a
// delayed call in it, that is one instruction, Chain, which goes on with the call's body.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "runtime/engines/tagged/code/direct_data.h"
#include "runtime/engines/tagged/code/eager.h"

namespace df::tagged {

namespace {

constexpr uint32_t kMostInstructions = 48;  // of a body, all its sides together
constexpr uint32_t kMostMade = 8;           // constructors and delayed calls of a body

// What an instruction may do next: nothing that an attempt can be (None), the next one, or the targets in `to`.
enum class Step { None, Next, End, Both, Jump, Choose, Construct, Delay };

Step StepOf(Direct op) {
  switch (op) {
#define DF_DIRECT_BINARY(name, type, condition, expression) \
  case Direct::name##RR: case Direct::name##RK: case Direct::name##KR: return Step::Next;
#define DF_DIRECT_COMPARE(name, expression)                                                 \
  case Direct::name##RR: case Direct::name##RK: case Direct::name##KR: return Step::Next; \
  case Direct::Branch##name##RR: case Direct::Branch##name##RK: return Step::Both;
#define DF_DIRECT_UNARY(name, type, condition, expression) case Direct::name: return Step::Next;
#define DF_DIRECT_INTEGER(name, expression) \
  case Direct::name##ZRR: case Direct::name##ZRK: case Direct::name##ZKR: return Step::Next;
#define DF_DIRECT_INTEGER_COMPARE(name, expression) \
  DF_DIRECT_INTEGER(name, expression)               \
  case Direct::Branch##name##ZRR: case Direct::Branch##name##ZRK: return Step::Both;
#define DF_DIRECT(name, operands)
#include "runtime/engines/tagged/code/direct_ops.def"
    case Direct::Load: case Direct::LoadOpen: case Direct::Nullary: case Direct::MoveOpen: case Direct::Widen:
    case Direct::Narrow: case Direct::Drop: case Direct::Match: case Direct::Field: case Direct::FieldPlain:
    case Direct::TwoFields: case Direct::Fields:
    case Direct::Force: case Direct::ForcePlain: case Direct::Count: return Step::Next;
    case Direct::Construct: return Step::Construct;
    case Direct::Delay: return Step::Delay;
    case Direct::Branch: case Direct::BranchMatch: return Step::Both;
    case Direct::Choose: case Direct::ChooseMatch: return Step::Choose;
    case Direct::Jump: return Step::Jump;
    case Direct::Return: case Direct::ReturnConstant: case Direct::ReturnOpen: return Step::End;
    default: return Step::None;
  }
}

// Calls `visit` with each instruction that may come after the one at `at`.
template <typename Visit>
void ForEachNext(const DirectCode& direct, uint32_t at, Visit visit) {
  const DirectInstr& in = direct.code[at];
  switch (StepOf(in.op)) {
    case Step::None: case Step::End: break;
    case Step::Next: case Step::Construct: case Step::Delay: visit(at + 1); break;
    case Step::Both: visit(in.x); visit(in.y); break;
    case Step::Jump: visit(in.x); break;
    case Step::Choose:
      for (uint32_t i = 0; i < in.b; ++i) visit(direct.operands[in.x + i]);
  }
}

// Calls `visit` with each slot of an instruction that an attempt can be, to read it or change it.
template <typename Visit>
void ForEachSlot(DirectInstr& in, std::vector<uint32_t>& list, Visit visit) {
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
#define DF_DIRECT_BINARY(name, type, condition, expression)                                   \
  case Direct::name##RR: visit(in.b); [[fallthrough]];                                        \
  case Direct::name##RK: case Direct::name##KR: visit(in.d); visit(in.a); break;
#define DF_DIRECT_COMPARE(name, expression)                                                   \
  DF_DIRECT_BINARY(name, type, condition, expression)                                         \
  case Direct::Branch##name##RR: visit(in.b); [[fallthrough]];                                \
  case Direct::Branch##name##RK: visit(in.a); break;
#define DF_DIRECT_UNARY(name, type, condition, expression) case Direct::name: visit(in.d); visit(in.a); break;
#define DF_DIRECT_INTEGER(name, expression)                                                   \
  case Direct::name##ZRR: marked(in.b); [[fallthrough]];                                      \
  case Direct::name##ZRK: case Direct::name##ZKR: visit(in.d); marked(in.a); break;
#define DF_DIRECT_INTEGER_COMPARE(name, expression)                                           \
  DF_DIRECT_INTEGER(name, expression)                                                         \
  case Direct::Branch##name##ZRR: visit(in.b); [[fallthrough]];                               \
  case Direct::Branch##name##ZRK: visit(in.a); break;
#define DF_DIRECT(name, operands)
#include "runtime/engines/tagged/code/direct_ops.def"
    case Direct::Load: case Direct::LoadOpen: case Direct::Nullary: visit(in.d); break;
    case Direct::MoveOpen: case Direct::Widen: case Direct::Narrow: case Direct::Match: case Direct::Force:
    case Direct::ForcePlain: case Direct::Field: case Direct::FieldPlain: visit(in.d); marked(in.a); break;
    case Direct::TwoFields: marked(in.d); marked(in.a); marked(in.b); break;
    case Direct::Fields: marked(in.a); in_list(kFieldPlain - 1); break;
    case Direct::Construct: case Direct::Delay: visit(in.d); in_list(kOperandIndex); break;
    case Direct::Branch: case Direct::BranchMatch: case Direct::Choose: case Direct::ChooseMatch: case Direct::Drop:
    case Direct::Return: case Direct::ReturnOpen: marked(in.a); break;
    default: break;
  }
}

// The entries of an instruction's list, if it has one.
std::vector<uint32_t> ListOf(const DirectCode& direct, const DirectInstr& in) {
  if (in.op != Direct::Fields && in.op != Direct::Construct && in.op != Direct::Delay) return {};
  auto first = direct.operands.begin() + in.x;
  return {first, first + in.b};
}

bool Mentions(const DirectCode& direct, DirectInstr in, uint32_t slot) {
  bool found = false;
  std::vector<uint32_t> list = ListOf(direct, in);
  ForEachSlot(in, list, [&](uint16_t at) { found |= at == slot; });
  return found;
}

// Whether the code from `start` on is short, ends, and can be attempted. `delays`: it makes delayed calls.
bool CanTry(const DirectCode& direct, uint32_t start, bool* delays) {
  std::vector<uint32_t> seen, todo{start};
  uint32_t made = 0;
  while (!todo.empty()) {
    uint32_t at = todo.back();
    todo.pop_back();
    if (std::find(seen.begin(), seen.end(), at) != seen.end()) continue;
    seen.push_back(at);
    if (seen.size() > kMostInstructions) return false;
    const DirectInstr& in = direct.code[at];
    Step step = StepOf(in.op);
    if (step == Step::None) return false;
    *delays |= step == Step::Delay;
    if ((step == Step::Delay || step == Step::Construct) && ++made > kMostMade) return false;
    ForEachNext(direct, at, [&](uint32_t next) { todo.push_back(next); });
  }
  return true;
}

class EagerMaker {
 public:
  EagerMaker(Program& program, const ScopeCode& scope)
      : p_(program), direct_(program.direct), out_(program.eager), slots_(scope.num_slots) {}

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
  // Of an instruction that is made: its target `which` (0: x, 1: y; of a Choose, the number) is what stands at `to` in direct code.
  struct Target {
    size_t at;
    uint32_t which;
    uint32_t to;
  };
  // A body while it is made.
  struct Made {
    Place place;
    std::map<uint32_t, uint32_t> at;  // where instructions of direct code are
    std::vector<Target> targets;
    std::vector<size_t> ends;         // that go on behind it
    std::vector<uint32_t> todo;       // in direct code
  };

  void Body(Place place, uint32_t start) {
    Made made{std::move(place), {}, {}, {}, {start}};
    while (!made.todo.empty()) {
      uint32_t at = made.todo.back();
      made.todo.pop_back();
      if (made.at.count(at)) continue;
      for (bool more = true; more;) {
        if (auto it = made.at.find(at); it != made.at.end()) {
          Add(InstrOf(Direct::Jump, 0, 0, 0)).x = it->second;
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
    DirectInstr in = direct_.code[*at];
    std::vector<uint32_t> list = ListOf(direct_, in);
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
      case Step::None: break;
      case Step::Next:
        if (in.op == Direct::Fields) in.x = List(list);
        if (in.op != Direct::Drop && in.op != Direct::Count) Add(in);
        break;
      case Step::Construct:
        in.x = List(list);
        Add(in);
        break;
      case Step::Delay: {
        std::vector<uint32_t> ends = place.to == kNone ? ChainOf(*at) : std::vector<uint32_t>();
        if (!ends.empty() && std::none_of(ends.begin(), ends.end(), [&](uint32_t end) { return made.at.count(end); })) {
          for (uint32_t end : ends) sunk_[end] = *at;
          break;
        }
        Delay(in, list);
        break;
      }
      case Step::Both:
        Add(in);
        go(here, 1, in.y);
        go(here, 0, in.x);
        return false;
      case Step::Choose: {
        uint32_t first = in.x;
        in.x = List(std::vector<uint32_t>(in.b, 0));
        Add(in);
        for (uint32_t i = in.b; i-- > 0;) go(here, i, direct_.operands[first + i]);
        return false;
      }
      case Step::Jump: *at = in.x; return true;
      case Step::End: End(place, in, made.ends); return false;
    }
    if (auto it = sunk_.find(*at); it != sunk_.end() && in.op == Direct::Construct) {
      out_.code.pop_back();
      Chain(in, list, it->second);
      return false;
    }
    ++*at;
    return true;
  }

  // A Force of a list whose cell is taken apart next, by one instruction.
  void TakeCons(size_t at) {
    DirectInstr& force = out_.code[at];
    if (force.op != Direct::Force || at + 1 >= out_.code.size()) return;
    const DirectInstr& match = out_.code[at + 1];
    if (match.op != Direct::BranchMatch || match.a != force.d) return;
    const DirectInstr& fields = out_.code[match.y];
    constexpr uint32_t kFirstAndSecond = 1;  // of TwoFields::y
    if (fields.op == Direct::TwoFields && fields.a == force.d && fields.y == kFirstAndSecond && !(fields.b & kFieldPlain))
      force.op = Direct::ForceCons;
  }

  // Values are borrowed: no use is special because it is the last.
  static void Unmark(DirectInstr& in, std::vector<uint32_t>& list) {
    bool number = false;  // in b
    switch (StepOf(in.op)) {
      case Step::Both: case Step::Choose: number = true; break;
      default: number = in.op == Direct::TwoFields || in.op == Direct::Field || in.op == Direct::FieldPlain;
    }
    in.a &= static_cast<uint16_t>(~kLastUse);
    if (!number) in.b &= static_cast<uint16_t>(~kLastUse);
    if (in.op == Direct::Construct || in.op == Direct::Delay)
      for (uint32_t& entry : list)
        if (!(entry & kConstant)) entry &= ~kLastOperand;
  }

  // The instructions with which a Delay can be done: on each way from it on, a Construct that has what it makes as its last field,
  // and is what the body gives. Empty: there are none, or some way uses it otherwise.
  std::vector<uint32_t> ChainOf(uint32_t delay) const {
    const SiteCode& site = p_.sites[direct_.code[delay].y];
    if (!site.ahead || site.eager) return {};
    uint32_t cell = direct_.code[delay].d;
    std::vector<uint32_t> found, seen, todo{delay + 1};
    while (!todo.empty()) {
      uint32_t at = todo.back();
      todo.pop_back();
      if (std::find(seen.begin(), seen.end(), at) != seen.end()) continue;
      seen.push_back(at);
      const DirectInstr& in = direct_.code[at];
      if (in.op != Direct::Drop && Mentions(direct_, in, cell)) {
        if (!EndsWith(at, cell)) return {};
        found.push_back(at);
        continue;
      }
      ForEachNext(direct_, at, [&](uint32_t next) { todo.push_back(next); });
    }
    return found;
  }

  // Whether the instruction is a Construct with `cell` as its last field, and no other, that the body gives.
  bool EndsWith(uint32_t at, uint32_t cell) const {
    const DirectInstr& construct = direct_.code[at];
    if (construct.op != Direct::Construct) return false;
    std::vector<uint32_t> list = ListOf(direct_, construct);
    auto is_cell = [&](uint32_t entry) { return !(entry & kConstant) && (entry & kOperandIndex) == cell; };
    if (!is_cell(list.back()) || std::count_if(list.begin(), list.end(), is_cell) != 1) return false;
    uint32_t end = at + 1;
    while (direct_.code[end].op == Direct::Drop || direct_.code[end].op == Direct::Count) ++end;
    return direct_.code[end].op == Direct::ReturnOpen && (direct_.code[end].a & ~kLastUse) == construct.d;
  }

  void Delay(DirectInstr in, const std::vector<uint32_t>& list) {
    const SiteCode& site = p_.sites[in.y];
    const ScopeCode* callee = site.callee;
    in.x = List(list);
    bool inlined = site.eager && slots_ + callee->num_slots <= kMostEagerSlots;
    if (!inlined) {
      if (!site.ahead) in.op = Direct::MakeCell;
      Add(in);
      return;
    }
    uint32_t base = slots_;
    slots_ += callee->num_slots;
    size_t attempt = out_.code.size();
    Add(InstrOf(Direct::Try, 0, 0, 0)).y = in.y;
    Place place{base, in.d, in.y, {}};
    for (size_t i = 0; i < list.size(); ++i) {
      uint32_t to = site.together[i].to;
      if (to == kNone) continue;
      if (list[i] & kConstant) {
        Add(InstrOf(Direct::LoadOpen, base + to, 0, 0)).x = list[i] & ~kConstant;
      } else if (list[i] & kPlainOperand) {
        Add(InstrOf(Direct::Widen, base + to, list[i] & kOperandIndex, 0));
      } else {
        place.taken[to] = list[i] & kOperandIndex;
      }
    }
    Body(std::move(place), callee->plain);
    out_.code[attempt].x = static_cast<uint32_t>(out_.code.size());
    in.op = Direct::MakeCell;
    Add(in);
  }

  void Chain(const DirectInstr& construct, const std::vector<uint32_t>& list, uint32_t delay) {
    DirectInstr in = direct_.code[delay];
    std::vector<uint32_t> captured = ListOf(direct_, in);
    Unmark(in, captured);
    const SiteCode& site = p_.sites[in.y];
    EagerChain chain;
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
    Add(InstrOf(Direct::Chain, 0, 0, 0)).x = static_cast<uint32_t>(out_.chains.size());
    out_.chains.push_back(chain);
  }

  void End(const Place& place, DirectInstr in, std::vector<size_t>& ends) {
    if (place.to == kNone) {
      Add(in);
      return;
    }
    DirectInstr to = InstrOf(in.op == Direct::ReturnOpen ? Direct::TriedOpen : Direct::Tried, place.to, in.a, 0);
    if (in.op == Direct::ReturnConstant) {
      // By way of the one slot that surely owns nothing yet.
      to.a = static_cast<uint16_t>(place.to);
      DirectInstr load = InstrOf(Direct::Load, place.to, 0, 0);
      load.imm = static_cast<int16_t>(in.d);
      Add(load);
    }
    to.y = place.site;
    ends.push_back(out_.code.size());
    Add(to);
  }

  DirectInstr& Add(DirectInstr in) {
    out_.code.push_back(in);
    return out_.code.back();
  }
  uint32_t List(const std::vector<uint32_t>& list) {
    out_.lists.insert(out_.lists.end(), list.begin(), list.end());
    return static_cast<uint32_t>(out_.lists.size() - list.size());
  }
  void SetTarget(const Target& target, uint32_t to) {
    DirectInstr& in = out_.code[target.at];
    if (StepOf(in.op) == Step::Choose) out_.lists[in.x + target.which] = to;
    else (target.which ? in.y : in.x) = to;
  }

  Program& p_;
  const DirectCode& direct_;
  EagerCode& out_;
  uint32_t slots_;  // that are in use
  std::map<uint32_t, uint32_t> sunk_;  // Construct -> the Delay that is done with it
};

}  // namespace

void MakeEager(Program& program) {
  for (SiteCode& site : program.sites) {
    bool delays = false;
    site.ahead = site.type == SiteType::Delay && site.callee && site.callee->direct != kNone && !site.late_operands &&
                 !site.needs_outer && site.callee->num_slots <= kMostEagerSlots &&
                 CanTry(program.direct, site.callee->plain, &delays);
    site.eager = site.ahead && !delays;
  }
  for (SiteCode& site : program.sites) {
    if (!site.ahead) continue;
    ScopeCode& callee = program.scopes[site.callee->id.index];
    if (callee.eager != kNone) continue;
    callee.eager = static_cast<uint32_t>(program.eager.code.size());
    EagerMaker(program, callee).Make(callee.plain);
  }
}

}  // namespace df::tagged
