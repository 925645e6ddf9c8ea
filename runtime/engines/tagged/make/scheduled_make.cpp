// Schedules -> scheduled code: which scopes have any, which of their slots hold words, and what is given in which stage.
#include "runtime/engines/tagged/make/scheduled_flow.h"
#include "runtime/engines/tagged/make/scheduled_maker.h"

namespace df::tagged {

using ir::NodeId;
using ir::Op;
using ir::TypeKind;

namespace {

bool IsWordKind(TypeKind kind) {
  switch (kind) {
    case TypeKind::Integer:
    case TypeKind::Text:
    case TypeKind::Tensor:
    case TypeKind::Activations:
    case TypeKind::Store:
    case TypeKind::Frozen:
    case TypeKind::Data: return false;
    default: return true;
  }
}

// A constructor without fields is its number: of a type with no others (Ordering, a colour) each value is a word.
bool IsEnumeration(const ir::Type& type) {
  return type.kind == TypeKind::Data && !type.constructors.empty() &&
         llvm::all_of(type.constructors, [](const ir::Constructor& one) { return one.fields.empty(); });
}

// Whether a merge on the way to a choice may be passed, so that who makes its value goes straight to where the choice leads, and leaves
// no value behind. A merge's slot may stand for that which it merges, and a match's for what it looks at (ScheduledMaker::alias_): so it
// is not enough that one thing reads a slot, as long as others read what stands for it.
class Readers {
 public:
  explicit Readers(const Program& p) : p_(p), uses_(p.graph->results.size()), passes_(p.graph->results.size(), kUnknown) {
    for (NodeId id(0); id.index < p.graph->nodes.size(); ++id.index)
      for (ir::Edge from : p.graph->InputsOf(id)) ++uses_[p.RowOf(from)];
  }

  // Whether one thing reads the row, a choice, or a merge behind which there is nothing but a choice.
  bool Once(uint32_t row) {
    const ir::Edge* reader = OnlyReader(row);
    if (!reader) return false;
    const ir::Node& node = p_.graph->nodes[reader->node];
    if (node.op == Op::Match) return OnlyDecides(node.first_result);
    return node.op == Op::BranchMerge && (reader->port == 0 || LeadsToChoice(node.first_result));
  }

 private:
  enum : uint8_t { kNo, kYes, kUnknown };

  // Program::users leaves out what hands values to other scopes.
  bool AllHere(uint32_t row) const { return p_.UsersOf(row).size() == uses_[row]; }

  const ir::Edge* OnlyReader(uint32_t row) const { return uses_[row] == 1 && AllHere(row) ? &p_.UsersOf(row)[0] : nullptr; }

  // The row is a predicate, and nothing else.
  bool OnlyDecides(uint32_t row) const {
    return AllHere(row) && llvm::all_of(p_.UsersOf(row), [&](ir::Edge use) {
      Op op = p_.graph->nodes[use.node].op;
      return (op == Op::Switch || op == Op::BranchMerge || op == Op::Exit) && use.port == 0;
    });
  }

  bool LeadsToChoice(uint32_t row) {
    std::vector<uint32_t> path;
    while (passes_[row] == kUnknown) {
      path.push_back(row);
      const ir::Edge* reader = OnlyReader(row);
      const ir::Node* node = reader ? &p_.graph->nodes[reader->node] : nullptr;
      if (OnlyDecides(row)) passes_[row] = kYes;
      else if (node && node->op == Op::Match) passes_[row] = OnlyDecides(node->first_result) ? kYes : kNo;
      else if (node && node->op == Op::BranchMerge) row = node->first_result;  // further on: no merge leads back
      else passes_[row] = kNo;
    }
    for (uint32_t before : path) passes_[before] = passes_[row];
    return passes_[row] == kYes;
  }

  const Program& p_;
  std::vector<uint32_t> uses_;   // by row, by all scopes
  std::vector<uint8_t> passes_;  // by row, when asked for
};

// The slots that hold words by their types, and those that hold Integers, of each scope.
// `once`: see Readers::Once.
void FindKinds(const Program& p, std::vector<Slots>& plain, std::vector<Slots>& integers, std::vector<Slots>& once) {
  std::vector<Slots> seen;
  for (const ScopeCode& scope : p.scopes) {
    plain.emplace_back(scope.num_slots, false);
    integers.emplace_back(scope.num_slots, false);
    once.emplace_back(scope.num_slots, false);
    seen.emplace_back(scope.num_slots, false);
    if (scope.iteration_slot != kNone) plain.back()[scope.iteration_slot] = true;
  }
  for (const SiteCode& site : p.sites)
    if (site.child_slot != kNone) plain[site.caller->id.index][site.child_slot] = true;
  const ir::Graph& g = *p.graph;
  Readers readers(p);
  for (uint32_t n = 0; n < g.nodes.size(); ++n) {
    const ir::Node& node = g.nodes[NodeId(n)];
    for (uint32_t r = 0; r < node.num_results; ++r) {
      uint32_t slot = p.slot_of[node.first_result + r];
      ir::PortType type = g.results[node.first_result + r];
      if (slot == kNone || IsConstant(slot)) continue;
      uint32_t row = node.first_result + r;
      once[node.scope.index][slot] = !seen[node.scope.index][slot] && readers.Once(row);
      seen[node.scope.index][slot] = true;
      if (type.lazy) continue;
      TypeKind kind = g.types.Kind(type.type);
      if (IsWordKind(kind) || IsEnumeration(g.types[type.type])) plain[node.scope.index][slot] = true;
      if (kind == TypeKind::Integer) integers[node.scope.index][slot] = true;
    }
  }
}

std::vector<std::vector<uint32_t>> FindParameters(const Program& p) {
  std::vector<std::vector<uint32_t>> parameters(p.scopes.size());
  const ir::Graph& g = *p.graph;
  for (uint32_t n = 0; n < g.nodes.size(); ++n) {
    const ir::Node& node = g.nodes[NodeId(n)];
    if (node.op != Op::EntryMerge && node.op != Op::LoopMerge) continue;
    uint32_t slot = p.slot_of[node.first_result];
    if (slot == kNone) continue;
    bool late = llvm::any_of(p.scopes[node.scope.index].late, [&](const LateParameter& other) { return other.slot == slot; });
    if (!late) parameters[node.scope.index].push_back(slot);
  }
  return parameters;
}

// The parameters of each scope that come late: of a call, for those of delayed calls and loops come by other ways. The same ones at
// each site.
void FindLate(Program& p) {
  for (ScopeCode& scope : p.scopes) scope.late.clear();
  for (const SiteCode& site : p.sites) {
    if (site.type != SiteType::Call || !site.callee) continue;
    std::vector<LateParameter>& late = p.scopes[site.callee->id.index].late;
    if (!late.empty()) continue;
    for (const Delivery& d : site.late) late.push_back({d.to, d.event});
  }
}

// All arguments come with the activation, or all others together, at every site.
void ExcludeLate(const Program& p, std::vector<bool>& is_scheduled) {
  for (const SiteCode& site : p.sites) {
    if (!site.callee) continue;
    const std::vector<LateParameter>& late = site.callee->late;
    bool other = !site.next_late.empty() || site.needs_outer || site.keeps_home || site.late.size() != late.size();
    for (const Delivery& d : site.late)
      other |= llvm::none_of(late, [&](const LateParameter& parameter) { return parameter.slot == d.to; });
    for (const Delivery& d : site.together) other |= d.to != kNone && d.event != kNone;
    if (other) is_scheduled[site.callee->id.index] = false;
  }
  // What gives nothing after its late arguments have come would be done before that.
  for (const ScopeCode& scope : p.scopes)
    if (!scope.late.empty() && !llvm::is_contained(scope.early, false)) is_scheduled[scope.id.index] = false;
}

// Schedules, and with them which results each scope with late parameters gives early: at first all, and then those that are there
// on each path if what is supposed of its callees is so, until nothing changes.
std::vector<bool> MakeSchedules(Program& p, std::vector<Schedule>& schedules, llvm::function_ref<void()> pause) {
  std::vector<bool> is_scheduled(p.scopes.size());
  for (ScopeCode& scope : p.scopes) scope.early.assign(scope.num_results, !scope.late.empty());
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < p.scopes.size(); ++i) {
      ScopeCode& scope = p.scopes[i];
      if (scope.late.empty()) continue;
      pause();
      Schedule probe;
      if (!MakeSchedule(p, scope, true, &probe) || probe.early == scope.early) continue;
      scope.early = std::move(probe.early);
      changed = true;
    }
  }
  for (size_t i = 0; i < p.scopes.size(); ++i) {
    pause();
    is_scheduled[i] = MakeSchedule(p, p.scopes[i], false, &schedules[i]);
  }
  return is_scheduled;
}

// Who is not scheduled itself gives its results one by one: scheduled code can only wait for one.
void ExcludeCallers(const Program& p, const std::vector<Schedule>& schedules, std::vector<bool>& is_scheduled) {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < p.scopes.size(); ++i) {
      if (!is_scheduled[i]) continue;
      for (const Block& block : schedules[i].blocks)
        for (const Step& step : block.steps) {
          if (step.kind != StepKind::Call) continue;
          const SiteCode& site = p.sites[p.code[step.pc].b];
          if (!is_scheduled[site.callee->id.index] && (site.returns.size() != 1 || !site.late.empty())) is_scheduled[i] = false;
        }
      changed |= !is_scheduled[i];
    }
  }
}

}  // namespace

void MakeScheduled(Program& p, const Options& options, llvm::function_ref<void()> pause) {
  std::vector<Slots> plain, integers, once;
  FindKinds(p, plain, integers, once);
  FindLate(p);
  std::vector<std::vector<uint32_t>> parameters = FindParameters(p);
  std::vector<Schedule> schedules(p.scopes.size());
  std::vector<bool> is_scheduled = MakeSchedules(p, schedules, pause);
  ExcludeLate(p, is_scheduled);
  for (size_t i = 0; i < p.scopes.size(); ++i)
    if (p.scopes[i].spread || p.scopes[i].process != kNone) is_scheduled[i] = false;
  for (bool again = true; again;) {
    again = false;
    ExcludeCallers(p, schedules, is_scheduled);
    p.scheduled = {};
    p.scheduled.plain = plain;
    for (size_t i = 0; i < p.scopes.size(); ++i) {
      ScopeCode& scope = p.scopes[i];
      scope.scheduled = scope.plain = kNone;
      if (!is_scheduled[i] || again) continue;
      pause();
      if (MakeScheduledOf(p, scope, schedules[i], plain, is_scheduled, parameters[i], options.pass_merges)) {
        if (options.pass_merges) PassMerges(p.scheduled, scope.plain, scope.plain_end, once[i]);
        continue;
      }
      is_scheduled[i] = false;
      again = true;
    }
  }
  p.scheduled.integers = std::move(integers);
  p.scheduled.parameters = std::move(parameters);
}

}  // namespace df::tagged
