// Bindings move towards their use: into the one alternative, or the one other binding, that needs them. There they may
// be surely needed, and the rest of the program does not compute them.
#include "lower/mono.h"

namespace df::mono {
namespace {

class FloatInPass {
 public:
  explicit FloatInPass(uint64_t budget) : budget_(budget) {}

  void Visit(Expr*& expr) {
    ForEachChild(expr, [&](Expr*& child) { Visit(child); });
    if (expr->kind != Kind::Let || expr->recursive || expr->bindings.size() != 1) return;
    Expr* let = expr;
    Expr** place = &expr->head;
    bool moved = false;
    while (Expr** next = Next(*place, let->bindings[0].var)) {
      place = next;
      moved = true;
    }
    if (!moved) return;
    Expr* body = let->head;
    let->head = *place;
    let->type = (*place)->type;
    *place = let;
    expr = body;
  }

 private:
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
    // A very long program keeps its bindings where they are: the search is not worth a quadratic time.
    if (budget_ == 0) return true;
    --budget_;
    if (expr->kind == Kind::Var) return expr->var == var;
    bool found = false;
    ForEachChild(const_cast<Expr*>(expr), [&](Expr* child) { found = found || MentionsVar(child, var); });
    return found;
  }

  uint64_t budget_;
};

}  // namespace

void FloatIn(Program& program) {
  for (Function& function : program.functions)
    if (function.body) FloatInPass(200000 + uint64_t{50} * SizeOf(function.body, 1u << 30)).Visit(function.body);
}

}  // namespace df::mono
