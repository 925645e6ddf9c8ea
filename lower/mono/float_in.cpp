// Bindings move towards their use: into the one alternative, or the one other binding, that needs them. There they may
// be surely needed, and the rest of the program does not compute them. A small one that several alternatives need is
// copied into each, if one of them surely needs it, or another does not at all: no path computes it twice.
#include "lang/budget.h"
#include "lower/mono/mono.h"

namespace df::mono {
namespace {

class FloatInPass {
 public:
  FloatInPass(Program& program, uint64_t budget) : p_(program), budget_(budget) {}

  void Visit(Expr*& expr) {
    CheckBudget();
    ForEachChild(expr, [&](Expr*& child) { Visit(child); });
    if (expr->kind != Kind::Let || expr->recursive || expr->bindings.size() != 1) return;
    Expr* let = expr;
    Expr** place = &expr->head;
    bool moved = false;
    while (Expr** next = Next(*place, let->bindings[0].var)) {
      place = next;
      moved = true;
    }
    if (CopyInto(*place, let->bindings[0])) {
      expr = moved ? let->head : *place;
      return;
    }
    if (!moved) return;
    Expr* body = let->head;
    let->head = *place;
    let->type = (*place)->type;
    *place = let;
    expr = body;
  }

 private:
  static constexpr uint32_t kSmall = 16;  // nodes of a value that is copied

  // Gives each alternative that mentions the variable a binding of its own.
  bool CopyInto(Expr* expr, const Binding& binding) {
    VarId var = binding.var;
    if (expr->kind != Kind::Case || SizeOf(binding.value, kSmall + 1) > kSmall || MentionsVar(expr->head, var)) return false;
    bool gains = false;
    for (const Alt& alt : expr->alts) gains |= NeedsNow(alt.body, var) || !MentionsVar(alt.body, var);
    if (!gains || budget_ == 0) return false;
    for (Alt& alt : expr->alts) {
      if (!MentionsVar(alt.body, var)) continue;
      llvm::DenseMap<uint32_t, VarId> none;
      VarId copy = p_.NewVar(p_.vars[var].name, p_.vars[var].type);
      Rename(alt.body, var, copy);
      alt.body = p_.NewLet(copy, p_.Clone(binding.value, none), alt.body, expr->pos);
      Visit(alt.body);
    }
    return true;
  }

  // Whether it evaluates the variable before anything else is decided, or is a call that may do so.
  static bool NeedsNow(const Expr* expr, VarId var) {
    while (expr->kind == Kind::Let || expr->kind == Kind::Case) expr = expr->head;
    if (expr->kind == Kind::Op || expr->kind == Kind::App)
      return llvm::any_of(expr->args, [&](const Expr* arg) { return NeedsNow(arg, var); });
    return expr->kind == Kind::Var && expr->var == var;
  }

  static void Rename(Expr* expr, VarId from, VarId to) {
    if (expr->kind == Kind::Var && expr->var == from) expr->var = to;
    ForEachChild(expr, [&](Expr* child) { Rename(child, from, to); });
  }

  // The only part of `expr` that mentions the variable, if it is one that a binding may move into.
  Expr** Next(Expr* expr, VarId var) {
    Expr** only = nullptr;
    if (expr->kind == Kind::Case) {
      if (MentionsVar(expr->head, var)) return nullptr;
      for (Alt& alt : expr->alts) {
        if (!MentionsVar(alt.body, var)) continue;
        if (only) return nullptr;
        only = &alt.body;
      }
      return only;
    }
    if (expr->kind != Kind::Let || expr->recursive) return nullptr;
    for (Binding& binding : expr->bindings) {
      if (!MentionsVar(binding.value, var)) continue;
      if (only) return nullptr;
      only = &binding.value;
    }
    if (MentionsVar(expr->head, var)) return only ? nullptr : &expr->head;
    // A value that only another variable needs is computed where that one is; a plain use is no gain.
    return only && (*only)->kind != Kind::Var ? only : nullptr;
  }

  bool MentionsVar(const Expr* expr, VarId var) {
    CheckBudget();
    // A very long program keeps its bindings where they are: the search is not worth a quadratic time.
    if (budget_ == 0) return true;
    --budget_;
    if (expr->kind == Kind::Var) return expr->var == var;
    bool found = false;
    ForEachChild(const_cast<Expr*>(expr), [&](Expr* child) { found = found || MentionsVar(child, var); });
    return found;
  }

  Program& p_;
  uint64_t budget_;
};

}  // namespace

void FloatIn(Program& program, FunId fun) {
  Expr* body = program.functions[fun].body;
  FloatInPass(program, 200000 + uint64_t{50} * SizeOf(body, 1u << 30)).Visit(body);
  program.functions[fun].body = body;
}

void FloatIn(Program& program) {
  for (uint32_t i = 0; i < program.functions.size(); ++i)
    if (program.functions[FunId(i)].body) FloatIn(program, FunId(i));
}

}  // namespace df::mono
