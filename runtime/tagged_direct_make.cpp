// Schedules -> direct code: which scopes have any, and which of their slots hold words.
#include "runtime/tagged_direct_flow.h"
#include "runtime/tagged_direct_maker.h"

namespace df::tagged {

using ir::NodeId;
using ir::Op;
using ir::TypeKind;

namespace {

bool IsWordKind(TypeKind kind) {
  switch (kind) {
    case TypeKind::Integer:
    case TypeKind::String:
    case TypeKind::Tensor:
    case TypeKind::Data: return false;
    default: return true;
  }
}

// The slots that hold words by their types, and those that hold Integers, of each scope.
void FindKinds(const Program& p, std::vector<Slots>& plain, std::vector<Slots>& integers) {
  for (const ScopeCode& scope : p.scopes) {
    plain.emplace_back(scope.num_slots, false);
    integers.emplace_back(scope.num_slots, false);
    if (scope.iteration_slot != kNone) plain.back()[scope.iteration_slot] = true;
  }
  const ir::Graph& g = *p.graph;
  for (uint32_t n = 0; n < g.nodes.size(); ++n) {
    const ir::Node& node = g.nodes[NodeId(n)];
    for (uint32_t r = 0; r < node.num_results; ++r) {
      uint32_t slot = p.slot_of[node.first_result + r];
      ir::PortType type = g.results[node.first_result + r];
      if (slot == kNone || IsConstant(slot) || type.lazy) continue;
      TypeKind kind = g.types.Kind(type.type);
      if (IsWordKind(kind)) plain[node.scope.index][slot] = true;
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
    if (uint32_t slot = p.slot_of[node.first_result]; slot != kNone) parameters[node.scope.index].push_back(slot);
  }
  return parameters;
}

// All arguments come with the activation, at every site.
void ExcludeLate(const Program& p, std::vector<bool>& is_direct) {
  for (const SiteCode& site : p.sites) {
    if (!site.callee) continue;
    bool late = !site.late.empty() || !site.next_late.empty() || site.needs_outer || site.keeps_home;
    for (const Delivery& d : site.together) late |= d.to != kNone && d.event != kNone;
    if (late) is_direct[site.callee->id.index] = false;
  }
}

// Who is not direct itself gives its results one by one: direct code can only wait for one.
void ExcludeCallers(const Program& p, const std::vector<Schedule>& schedules, std::vector<bool>& is_direct) {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < p.scopes.size(); ++i) {
      if (!is_direct[i]) continue;
      for (const Block& block : schedules[i].blocks)
        for (const Step& step : block.steps) {
          if (step.kind != StepKind::Call) continue;
          const SiteCode& site = p.sites[p.code[step.pc].b];
          if (!is_direct[site.callee->id.index] && site.returns.size() != 1) is_direct[i] = false;
        }
      changed |= !is_direct[i];
    }
  }
}

}  // namespace

void MakeDirect(Program& p) {
  std::vector<Slots> plain, integers;
  FindKinds(p, plain, integers);
  std::vector<std::vector<uint32_t>> parameters = FindParameters(p);
  std::vector<Schedule> schedules(p.scopes.size());
  std::vector<bool> is_direct(p.scopes.size());
  for (size_t i = 0; i < p.scopes.size(); ++i) is_direct[i] = MakeSchedule(p, p.scopes[i], &schedules[i]);
  ExcludeLate(p, is_direct);
  for (bool again = true; again;) {
    again = false;
    ExcludeCallers(p, schedules, is_direct);
    p.direct = {};
    p.direct.plain = plain;
    for (size_t i = 0; i < p.scopes.size(); ++i) {
      ScopeCode& scope = p.scopes[i];
      scope.direct = scope.plain = kNone;
      if (!is_direct[i] || again) continue;
      if (MakeDirectOf(p, scope, schedules[i], plain, is_direct, parameters[i])) continue;
      is_direct[i] = false;
      again = true;
    }
  }
  p.direct.integers = std::move(integers);
  p.direct.parameters = std::move(parameters);
}

const char* NameOf(Direct op) {
  static const char* const kNames[] = {
#define DF_DIRECT_BINARY(name, type, condition, expression) #name "RR", #name "RK", #name "KR",
#define DF_DIRECT_COMPARE(name, expression) \
  #name "RR", #name "RK", #name "KR", "Branch" #name "RR", "Branch" #name "RK",
#define DF_DIRECT_UNARY(name, type, condition, expression) #name,
#define DF_DIRECT_INTEGER(name, expression) #name "ZRR", #name "ZRK", #name "ZKR",
#define DF_DIRECT_INTEGER_COMPARE(name, expression) \
  #name "ZRR", #name "ZRK", #name "ZKR", "Branch" #name "ZRR", "Branch" #name "ZRK",
#define DF_DIRECT(name, operands) #name,
#include "runtime/tagged_direct_ops.def"
  };
  return kNames[static_cast<size_t>(op)];
}

}  // namespace df::tagged
