// Where the program's own code does what an action of the library says. An action is a value that is done somewhere else:
//
//   main = putStr "name? " >> (getLine >>= putStrLn)
//
// hands `getLine` to `>>=`, and what fails within it would have been called by the library's code. What it reaches first of
// the program's own, by the tag, are actions that were done before, others in each form of the graph. So where the program's own
// code names such an action, or a function that gives one, there it becomes a function of all its arguments,
//
//   \s k -> getLine s k
//
// whose call has the place of the name (runtime/text/describe.cpp ends its path there). Arguments that are work stay outside: an
// action that is done twice shares them.
#include "lower/mono/mono.h"

namespace df::mono {
namespace {

class ActionPlaces {
 public:
  explicit ActionPlaces(Program& program) : p_(program) {}

  void Run() {
    for (Function& function : p_.functions)
      if (function.body && !function.from_library) Visit(function.body);
  }

 private:
  void Visit(Expr*& expr) {
    if (expr->kind == Kind::App) {
      // What is called has its place.
      if (expr->head->kind != Kind::Fun) Visit(expr->head);
      for (Expr*& arg : expr->args) Visit(arg);
    } else {
      ForEachChild(expr, [&](Expr*& child) { Visit(child); });
    }
    const Expr* head = expr->kind == Kind::App ? expr->head : expr;
    if (head->kind == Kind::Fun && IsLibraryAction(p_.functions[head->fun], expr->type)) expr = Expanded(expr);
  }

  // Whether a call of the function gives an action, or a function that does, and may fail by itself: a bind only does its operands.
  bool IsLibraryAction(const Function& function, df::TypeId type) {
    if (!function.from_library || function.source_name == ">>=" || function.source_name == ">>") return false;
    return p_.IsFunction(type) && p_.GivesAction(type);
  }

  Expr* Expanded(Expr* action) {
    llvm::SmallVector<df::TypeId> types;
    df::TypeId result = p_.SplitFun(action->type, types);
    Expr* lambda = p_.New(Kind::Lambda, action->type, action->pos);
    llvm::SmallVector<Expr*, 4> args;
    for (df::TypeId type : types) {
      lambda->params.push_back(p_.NewVar(fmt::format("p{}", args.size() + 1), type));
      args.push_back(p_.NewVarExpr(lambda->params.back(), action->pos));
    }
    Expr* outer = lambda;
    if (action->kind == Kind::App) {
      for (size_t i = action->args.size(); i-- > 0;) {
        Expr*& arg = action->args[i];
        if (IsAtom(p_, arg) || arg->kind == Kind::Lambda) continue;
        VarId var = p_.NewVar("a", arg->type);
        outer = p_.NewLet(var, arg, outer, action->pos);
        arg = p_.NewVarExpr(var, arg->pos);
      }
    }
    lambda->head = p_.NewApp(action, args, result, action->pos);
    return outer;
  }

  Program& p_;
};

}  // namespace

void PlaceActions(Program& program) { ActionPlaces(program).Run(); }

}  // namespace df::mono
