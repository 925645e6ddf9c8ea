// Matches of types that hide types (packed.cpp), and programs that would hide types without end.
#include "lower/mono/specialise.h"

namespace df::mono {

void Specialiser::ReportPacked(df::TypeId type, core::ConId con, Span span) {
  if (too_many_) return;
  too_many_ = true;
  std::string first;
  size_t shown = 0;
  for (const Program::PackedType::Variant& variant : p_.packed[p_.PackedIndex(type)].variants)
    if (variant.of == con && shown++ < 4) {
      std::string one;
      for (df::TypeId of : variant.hidden) one += (one.empty() ? "" : ", ") + p_.core.types.Print(of);
      first += fmt::format("{}`{}`", first.empty() ? "" : ", ", one);
    }
  p_.diags.Report(Diag::EndlessHidden, span, Text(p_.core.constructors[con].name), first)
      .Hint("what is hidden has to be one of finitely many types; a list, or a `data` type that holds itself, grows without a new type");
}

// Of a type that hides types: an alternative for each way in which the program builds its values. Where the program turns out to build
// more of them, the function is translated again.
Expr* Specialiser::PackedCase(const core::CaseExpr* expr, Expr* scrutinee) {
  const df::TypeId held = Ground(expr->scrutinee->type);
  const uint32_t index = p_.PackedIndex(held);
  std::vector<Work>& looking = looks_at_[held.index];
  if (llvm::none_of(looking, [&](const Work& work) { return work.fun == doing_->fun; })) looking.push_back(*doing_);
  Expr* made = p_.New(Kind::Case, Ground(expr->type), Pos(expr->span));
  made->head = scrutinee;
  made->var = NewLocal(expr->binder);
  for (const core::Alt& alt : expr->alts) {
    if (alt.kind == core::AltKind::Default) {
      made->alts.push_back({alt.kind, {}, {}, {}, Expression(alt.body)});
      continue;
    }
    for (size_t i = 0; i < p_.packed[index].variants.size() && !too_many_; ++i) {
      const Program::PackedType::Variant variant = p_.packed[index].variants[i];
      if (variant.of != alt.con) continue;
      const size_t outer = type_vars_.size();
      for (const core::List<TyVarId>& names : alt.opened) {
        type_vars_.append(names.begin(), names.end());
        type_values_.append(variant.hidden.begin(), variant.hidden.end());
      }
      Alt row{core::AltKind::Con, variant.made, {}, {}, nullptr};
      for (core::VarId var : alt.vars) row.vars.push_back(NewLocal(var));
      row.body = Expression(alt.body);
      made->alts.push_back(std::move(row));
      type_vars_.truncate(outer);
      type_values_.truncate(outer);
    }
  }
  if (made->alts.empty())  // no value of the type is ever built
    made->alts.push_back({core::AltKind::Default, {}, {}, {}, p_.NewFail("a value that nothing builds is looked at", 1, made->type, made->pos)});
  return made;
}

}  // namespace df::mono
