// Default methods with a type of their own (DefaultSignatures).
#include "typecheck/declare/default_type.h"

#include "typecheck/infer/bind.h"
#include "typecheck/infer/expr.h"
#include "typecheck/infer/nodes.h"
#include "typecheck/resolve/types.h"
#include "typecheck/solve/expect.h"

namespace df::check {

void DeclareDefaultType(State& s, ClassId id, const ast::QualType& type, const ast::Name& name, const ScopedTypes& head, const core::Pred& of_class) {
  core::Class& cls = s.program.classes[id];
  const auto method = llvm::find_if(cls.methods, [&](VarId var) { return s.program.vars[var].name == name.text; });
  if (method == cls.methods.end()) {
    s.Error(Diag::NotAMethod, name.span, Text(name.text), Text(cls.name));
    return;
  }
  const size_t index = static_cast<size_t>(method - cls.methods.begin());
  const VarId var = cls.defaults[index];
  if (!var.valid()) {
    s.Error(Diag::SignatureWithoutBinding, name.span, Text(name.text));
    return;
  }
  TypeVarScope scope;
  scope.names = head;
  core::Scheme scheme = ConvertScheme(s, type, scope);
  scheme.tyvars.insert(scheme.tyvars.begin(), s.program.classes[id].params.begin(), s.program.classes[id].params.end());
  scheme.preds.insert(scheme.preds.begin(), of_class);
  s.program.vars[var].scheme = std::move(scheme);
  s.program.classes[id].own_type[index] = true;
}

void UseDefault(State& s, InstanceId id, size_t index, const core::Scheme& scheme, Span span) {
  const core::Instance instance = s.program.instances[id];
  const VarId from = s.program.classes[instance.cls].defaults[index];
  const VarId var = NewVar(s, s.program.vars[from].name, scheme.type, true, span);
  s.program.vars[var].scheme = scheme;
  s.program.instances[id].methods[index] = var;
  core::Expr* value = CheckAgainst(s, scheme, span, s.program.vars[from].name, {}, [&](TypeId type, const Reason&) {
    core::Expr* use = Use(s, from, span);
    if (const auto* made = llvm::dyn_cast<core::VarExpr>(use)) {
      const auto args = core::ClassArguments(s.program, instance.cls, instance.head);
      for (size_t i = 0; i < args.size() && i < made->type_args.size(); ++i) s.unify.Unify(made->type_args[i], args[i]);
    }
    return Expect(s, type, use->type, span, Reason{}) ? use : ErrorNode(s, type, span);
  });
  s.definitions.push_back({var, value});
}

}  // namespace df::check
