// A module from beginning to end.
#include "typecheck/module.h"

#include "lang/budget.h"
#include "typecheck/declare/class.h"
#include "typecheck/declare/data.h"
#include "typecheck/declare/family.h"
#include "typecheck/derive/deriving.h"
#include "typecheck/entry.h"
#include "typecheck/explain/follow_ups.h"
#include "typecheck/explain/family.h"
#include "typecheck/explain/holes.h"
#include "typecheck/infer/bind.h"
#include "typecheck/infer/literal_range.h"
#include "typecheck/infer/own_state.h"
#include "typecheck/match/match.h"
#include "typecheck/resolve/scope.h"
#include "typecheck/solve/constraints.h"
#include "typecheck/solve/dims.h"
#include "typecheck/solve/tangents.h"
#include "typecheck/state/state.h"
#include "typecheck/zonk.h"

namespace df::check {
namespace {

void Publish(State& s);

// What a check that failed, or was left in the middle, has entered for all programs.
void ForgetInstances(State& s) {
  ForgetEquations(s);
  for (InstanceId id : s.registered) ForgetInstance(s, id);
  // Of instances for one type the last one counts: these are for none any more.
  if (!s.replaced.empty())
    for (InstanceId id : s.registered) s.program.instances[id].head = s.types.Var(s.types.NewVar(Intern("a")));
  for (InstanceId id : s.replaced)
    s.env.instances[{s.program.instances[id].cls.index, s.types.Head(s.program.instances[id].head).index}].push_back(id);
}

bool RunPhases(State& s) {
  uint32_t errors = s.diags.error_count();
  s.types.endless = TypeId();
  OpenScope(s);
  DeclareTypes(s);
  for (const auto& [decl, id] : s.classes) DeclareClass(s, decl);
  DefaultKinds(s);
  for (const ast::Decl* decl : s.module.decls)
    if (const auto* instance = llvm::dyn_cast<ast::InstanceDecl>(decl)) DeclareInstance(s, instance);
  for (const auto& [data, id] : s.data) DeclareDerived(s, data);
  for (const ast::Decl* decl : s.module.decls)
    if (const auto* deriving = llvm::dyn_cast<ast::DerivingDecl>(decl)) DeclareStandalone(s, deriving);
  InferDerivedContexts(s);
  DeclareDefaults(s);
  for (const auto& [data, id] : s.data) DefineSelectors(s, data);
  std::vector<BoundGroup> groups = CheckDecls(s, s.module.decls, true);
  for (const BoundGroup& group : groups)
    for (const core::Binding& binding : group.bindings) s.definitions.push_back({binding.var, binding.value});
  for (const BoundGroup& group : groups)
    for (const auto& [var, pat] : group.strict) s.Error(Diag::BangAtTop, pat->span);
  for (const auto& [decl, id] : s.classes) CheckClassDefaults(s, decl, id);
  for (size_t i = 0; i < s.instances.size(); ++i)
    CheckInstanceMethods(s, s.instances[i].first, s.instances[i].second);
  RetryTangents(s, Guess::All);
  DefaultAll(s, 0, true, 0);
  RetryTangents(s, Guess::All);
  ReportEndless(s, s.module.decls.empty() ? Span() : s.module.decls.front()->span);
  SettleDims(s);
  ReportOpenDims(s, nullptr);
  DropFollowUps(s);
  DropImportFollowUps(s);
  ReportHoles(s);
  ReportEscapes(s);
  // A file that was loaded at a prompt can be imported there, under another name say.
  if (s.options.imported || (s.options.repl && s.module.name.text.valid())) Export(s);
  else if (!s.options.library && !s.options.repl) CheckExports(s);
  bool ok = s.diags.error_count() == errors;
  ZonkAll(s);
  if (ok) {
    if (s.options.warnings && !s.options.library) WarnOfLargeLiterals(s);
    FindMain(s);
    ok = s.diags.error_count() == errors;
  }
  if (s.options.library) Export(s);
  if (ok && s.options.restricted) Publish(s);
  return ok;
}

void Publish(State& s) {
  for (core::Definition& definition : s.definitions)
    definition.value = CompileMatches(s.program, definition.value, s.diags, s.options.warnings && !s.options.library);
  for (const core::Definition& definition : s.definitions) s.program.Define(definition.var, definition.value);
}

}  // namespace

bool CheckModule(State& s) {
  bool ok = false;
  try {
    ok = RunPhases(s);
  } catch (const BudgetExceeded&) {
    ForgetInstances(s);
    throw;
  }
  if (!ok) ForgetInstances(s);
  return ok;
}

}  // namespace df::check
