// The simplifier's cases: of what is known, of other cases, of what only picks a part. See simplify.h.
#include "lower/mono/simplify.h"

namespace df::mono {

bool Simplifier::IsKnown(const Expr* expr) const {
  if (expr->kind == Kind::Con || expr->kind == Kind::Lambda) return true;
  // A function, or one that lacks arguments: `seq` on it takes its alternative.
  const Expr* head = expr->kind == Kind::App ? expr->head : expr;
  if (head->kind == Kind::Fun) return expr->args.size() < p_.functions[head->fun].params.size();
  return expr->kind == Kind::Const && IsAtom(p_, expr);
}

// The alternative that a constructor or constant takes; null if that cannot be said here.
const Alt* Simplifier::Choose(const Expr* known, const Expr* expr) const {
  for (const Alt& alt : expr->alts) {
    switch (alt.kind) {
      case core::AltKind::Default: return &alt;
      case core::AltKind::Literal:
        if (known->kind != Kind::Const) return nullptr;
        // 0.0 and -0.0 are equal and NaN is not itself: only the bits of whole numbers and characters decide.
        switch (p_.ir_types.Kind(p_.constants[known->constant].type)) {
          case ir::TypeKind::Float:
          case ir::TypeKind::Double: return nullptr;
          default: break;
        }
        if (alt.constant == known->constant) return &alt;
        break;
      case core::AltKind::Con:
        if (known->kind == Kind::Con) {
          if (alt.con == known->con) return &alt;
        } else {
          ir::TypeKind kind = p_.ir_types.Kind(p_.constants[known->constant].type);
          bool truth = p_.constants[known->constant].word != 0;
          if (kind == ir::TypeKind::Unit) return &alt;
          if (kind == ir::TypeKind::Bool && (alt.con == p_.core.true_con) == truth) return &alt;
        }
        break;
    }
  }
  return nullptr;
}

Expr* Simplifier::SimplifyCase(Expr* expr) { return CaseOf(Simplify(expr->head), expr); }

// case scrutinee of alts, where the scrutinee is simplified and `expr` holds the alternatives, which are not.
Expr* Simplifier::CaseOf(Expr* scrutinee, Expr* expr) {
  if (scrutinee->kind == Kind::Let) {
    changed_ = true;
    scrutinee->head = CaseOf(scrutinee->head, expr);
    scrutinee->type = expr->type;
    return scrutinee;
  }
  if (IsSmallTest(scrutinee)) {
    changed_ = true;
    return CaseOf(Inline(scrutinee->head->fun, scrutinee->args, scrutinee->type, scrutinee->pos), expr);
  }
  if (scrutinee->kind == Kind::Op && scrutinee->op == ir::Op::Fail) {
    scrutinee->type = expr->type;
    return scrutinee;
  }
  Expr* known = IsKnown(scrutinee) ? scrutinee : nullptr;
  if (scrutinee->kind == Kind::Var)
    if (auto it = known_.find(scrutinee->var.index); it != known_.end()) known = it->second;
  bool match = options_.Does(Optimisation::Match);
  if (match && known && Choose(known, expr)) return TakeAlternative(scrutinee, known, expr);
  if (match && scrutinee->kind == Kind::Case && growth_ <= kGrowth && IsCaseOfKnown(scrutinee, expr))
    return CaseOfCase(scrutinee, expr);
  expr->head = scrutinee;
  VarId whole = expr->var;
  if (scrutinee->kind == Kind::Var) {
    // Inside the alternatives the binder is the scrutinee itself.
    if (optimize_ && whole.valid()) {
      atoms_[whole.index] = scrutinee;
      expr->var = VarId();
    }
    whole = scrutinee->var;
  }
  for (Alt& alt : expr->alts) {
    Expr* before = whole.valid() ? known_.lookup(whole.index) : nullptr;
    bool had_atom = whole.valid() && atoms_.count(whole.index);
    if (optimize_ && whole.valid() && alt.kind == core::AltKind::Con) {
      df::Builtin builtin = p_.BuiltinOf(scrutinee->type);
      if (builtin == df::Builtin::Bool) {
        if (!had_atom)
          atoms_[whole.index] = p_.NewConst(
              {p_.ir_types.Builtin(ir::TypeKind::Bool), alt.con == p_.core.true_con, ""}, scrutinee->type, expr->pos);
      } else if (builtin != df::Builtin::Unit) {
        Expr* con = p_.New(Kind::Con, scrutinee->type, scrutinee->pos);
        con->con = alt.con;
        for (VarId var : alt.vars) con->args.push_back(p_.NewVarExpr(var, scrutinee->pos));
        known_[whole.index] = con;
      }
    }
    alt.body = Simplify(alt.body);
    if (whole.valid()) {
      if (before) known_[whole.index] = before;
      else known_.erase(whole.index);
      if (!had_atom) atoms_.erase(whole.index);
    }
  }
  return expr;
}

// Whether every end of the inner case says which of the outer alternatives is taken, and few nodes are copied for that:
// an alternative that one end alone takes is not copied but moved.
bool Simplifier::IsCaseOfKnown(const Expr* inner, const Expr* expr) const {
  llvm::SmallDenseMap<const Alt*, uint32_t, 4> taken;
  std::function<bool(const Expr*)> known = [&](const Expr* end) {
    if (end->kind == Kind::Case) return llvm::all_of(end->alts, [&](const Alt& alt) { return known(alt.body); });
    if (end->kind == Kind::Op && end->op == ir::Op::Fail) return true;
    const Alt* alt = IsKnown(end) ? Choose(end, expr) : nullptr;
    if (alt) ++taken[alt];
    return alt != nullptr;
  };
  if (!known(inner)) return false;
  uint32_t copied = 0;
  for (auto [alt, times] : taken) {
    if (times > 1 && MovesValues(alt->body)) return false;
    copied += (times - 1) * SizeOf(alt->body, kSmallCase + 1);
  }
  return copied <= kSmallCase;
}

// The scrutinee is known: its parts are bound to the alternative's variables.
Expr* Simplifier::TakeAlternative(Expr* scrutinee, Expr* known, Expr* expr) {
  changed_ = true;
  const Alt alt = *Choose(known, expr);
  // Only what is constructed right here has parts that were not evaluated or named yet.
  bool fresh = known == scrutinee;
  std::vector<Binding> bindings;
  llvm::SmallVector<Expr*, 4> forced;
  if (known->kind == Kind::Con) {
    const core::DataCon& con = p_.core.constructors[known->con];
    for (size_t i = 0; i < known->args.size(); ++i) {
      Expr*& arg = known->args[i];
      // A strict field is evaluated with its constructor, so a match on the constructor evaluates it.
      bool strict = fresh && con.fields[i].strict && arg->kind != Kind::Const;
      if (!IsAtom(p_, arg) && (expr->var.valid() || strict)) {
        bindings.push_back({p_.NewVar("field", arg->type), arg});
        arg = p_.NewVarExpr(bindings.back().var, arg->pos);
      }
      if (strict) forced.push_back(CopyAtom(arg));
    }
    for (size_t i = 0; i < alt.vars.size(); ++i)
      bindings.push_back({alt.vars[i], IsAtom(p_, known->args[i]) ? CopyAtom(known->args[i]) : known->args[i]});
  }
  if (expr->var.valid()) bindings.push_back({expr->var, scrutinee});
  return BindAll(bindings, expr->pos, [&] {
    Expr* body = Simplify(alt.body);
    for (Expr* value : llvm::reverse(forced)) {
      Expr* force = p_.New(Kind::Case, expr->type, expr->pos);
      force->head = value;
      force->alts.push_back({core::AltKind::Default, {}, {}, {}, body});
      body = force;
    }
    return body;
  });
}

// Whether a value is to be moved into it, which can be done only once.
bool Simplifier::MovesValues(const Expr* expr) const {
  if (expr->kind == Kind::Var) return once_.count(expr->var.index) != 0;
  bool moves = false;
  ForEachChild(const_cast<Expr*>(expr), [&](Expr* child) { moves = moves || MovesValues(child); });
  return moves;
}

// case (case e of p -> C ..) of alts: the inner alternatives choose among copies of the outer ones.
Expr* Simplifier::CaseOfCase(Expr* inner, Expr* expr) {
  changed_ = true;
  for (size_t i = 0; i < inner->alts.size(); ++i) {
    growth_ += kSmallCase;
    llvm::DenseMap<uint32_t, VarId> fresh;
    // Only the alternatives are copied; the scrutinee of the copy is this alternative's body.
    Expr* saved = expr->head;
    expr->head = p_.New(Kind::Const, expr->head->type, expr->pos);
    Expr* shell = p_.Clone(expr, fresh);
    expr->head = saved;
    inner->alts[i].body = CaseOf(inner->alts[i].body, shell);
  }
  inner->type = expr->type;
  return inner;
}

}  // namespace df::mono
