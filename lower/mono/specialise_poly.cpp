// Polymorphic values (poly.cpp): where they are made and where they are used.
#include "lower/mono/specialise.h"

namespace df::mono {

Expr* Specialiser::LocalVariable(core::VarId var, const TypeArgs& types, df::TypeId type, Span span) {
  Local& local = locals_[var.index];
  for (auto& [have, made] : local.instances)
    if (have == types || !local.binding) return p_.NewVarExpr(made, Pos(span));
  const std::string_view name = Text(p_.core.vars[var].name);
  VarId made = p_.NewVar(name == "%poly" ? "lambda" : std::string(name), type);
  local.instances.push_back({types, made});
  return p_.NewVarExpr(made, Pos(span));
}

void Specialiser::ReportPoly(df::TypeId type, Span span) {
  if (too_many_) return;
  too_many_ = true;
  std::string first;
  for (const std::vector<df::TypeId>& args : llvm::ArrayRef(p_.polys[p_.PolyIndex(type)].instances).take_front(4)) {
    std::string one;
    for (df::TypeId of : args) one += (one.empty() ? "" : ", ") + p_.core.types.Print(of);
    first += fmt::format("{}`{}`", first.empty() ? "" : ", ", one);
  }
  p_.diags.Report(Diag::EndlessPoly, span, p_.core.types.Print(type), first)
      .Hint("each use makes the next one at a larger type; a `data` type that holds itself grows without a new type");
}

// What the value is at each type at which the program uses such values. Where it turns out to use them at more, the function is translated again.
Expr* Specialiser::PolyValue(const core::VarExpr* expr) {
  const df::TypeId type = Ground(expr->type);
  const ir::PosId pos = Pos(expr->span);
  const uint32_t index = p_.PolyIndex(type);
  std::vector<Work>& making = makes_[type.index];
  if (llvm::none_of(making, [&](const Work& work) { return work.fun == doing_->fun; })) making.push_back(*doing_);
  Expr* made = p_.New(Kind::Con, type, pos);
  made->con = p_.polys[index].con;
  for (size_t i = 0; i < p_.polys[index].instances.size() && !too_many_; ++i) {
    const TypeArgs types = p_.polys[index].instances[i];
    const df::TypeId at = p_.core.constructors[made->con].fields[i].type;
    made->args.push_back(p_.core.vars[expr->var].kind == core::VarKind::Local ? LocalVariable(expr->var, types, at, expr->span)
                                                                              : TopVariable(expr->var, types, at, expr->span));
  }
  poly_values_.push_back(made);
  return made;
}

// The field for the types of this use.
Expr* Specialiser::PolyUse(const core::VarExpr* expr) {
  const df::TypeId type = Ground(p_.core.vars[expr->var].scheme.type);
  const TypeArgs types = Ground(expr->type_args);
  bool fresh = false;
  const size_t at = p_.PolyInstance(type, types, &fresh);
  const Program::PolyType poly = p_.polys[p_.PolyIndex(type)];
  if (fresh) {
    std::vector<Work> again = std::exchange(makes_[type.index], {});
    work_.insert(work_.end(), again.begin(), again.end());
    if (poly.instances.size() > kMostVariants || AnyIsLarge(types)) ReportPoly(type, expr->span);
  }
  const ir::PosId pos = Pos(expr->span);
  Expr* made = p_.New(Kind::Case, Ground(expr->type), pos);
  made->head = p_.core.vars[expr->var].kind == core::VarKind::Local ? LocalVariable(expr->var, {}, type, expr->span)
                                                                    : TopVariable(expr->var, {}, type, expr->span);
  Alt row{core::AltKind::Con, poly.con, {}, {}, nullptr};
  for (size_t i = 0; i <= at; ++i) row.vars.push_back(p_.NewVar("at", p_.core.constructors[poly.con].fields[i].type));
  row.body = p_.NewVarExpr(row.vars.back(), pos);
  made->alts.push_back(std::move(row));
  poly_uses_.push_back(made);
  return made;
}

// All uses are known: matches get a name for every field, and where there is one field alone it is the value.
void Specialiser::SettlePolys() {
  for (Program::PolyType& poly : p_.polys) poly.plain = poly.instances.size() == 1 && !poly.declared;
  p_.polys_open = false;
  auto is_plain = [&](core::ConId con) {
    return llvm::any_of(p_.polys, [&](const Program::PolyType& poly) { return poly.con == con && poly.plain; });
  };
  for (Expr* value : poly_values_)
    if (is_plain(value->con) && value->args.size() == 1) {
      const Expr held = *value->args[0];
      *value = held;
    }
  for (Expr* use : poly_uses_) {
    Alt& row = use->alts[0];
    const std::vector<core::Field> fields = p_.core.constructors[row.con].fields;
    if (!is_plain(row.con)) {
      for (size_t i = row.vars.size(); i < fields.size(); ++i) row.vars.push_back(p_.NewVar("at", fields[i].type));
      continue;
    }
    use->kind = Kind::Let;
    use->bindings = {{row.vars[0], use->head}};
    use->head = row.body;
    use->alts.clear();
  }
}

}  // namespace df::mono
