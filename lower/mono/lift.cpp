// Lambda lifting (Johnsson 1985): local functions become functions of the program, their free variables further
// parameters in front. Constants of the program that are not literals become variables of main, so that each is
// computed once; functions that need one get it as a parameter too.
//
// Static links (the op Outer) are not used: a free variable that the recursion only passes along costs one parameter,
// a loop variable that does not change costs nothing after the transform.
#include <deque>

#include "lang/budget.h"
#include "llvm/ADT/SetVector.h"
#include "lower/mono/mono.h"

namespace df::mono {
namespace {

class Lifter {
 public:
  explicit Lifter(Program& program) : p_(program) {}

  void Run() {
    HoistConstants();
    for (const std::vector<FunId>& group : CallGroups(p_))
      for (FunId fun : group) Enter(fun);
    // Enter adds to infos_ as it goes: local functions follow those they stand in.
    FindFree();
    for (size_t i = 0; i < infos_.size(); ++i) Rewrite(infos_[i]);
  }

 private:
  struct Info {
    FunId fun;
    llvm::SetVector<uint32_t> own;  // variables that occur, in order, and are bound elsewhere
    llvm::SetVector<uint32_t> free;
    llvm::SetVector<uint32_t> calls;  // functions, lifted ones included
  };

  void HoistConstants() {
    std::vector<std::vector<FunId>> groups = CallGroups(p_);
    Expr* body = p_.functions[p_.main].body;
    for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
      Expr* let = nullptr;
      for (FunId fun : *group) {
        Function& function = p_.functions[fun];
        if (fun == p_.main || !function.params.empty() || !function.body) continue;
        if (!let) let = p_.New(Kind::Let, body->type, function.pos);
        VarId var = p_.NewVar(function.name, function.result);
        constants_[fun.index] = var;
        let->bindings.push_back({var, function.body});
        let->recursive |= group->size() > 1 || Mentions(function.body, fun);
        function.body = nullptr;
      }
      if (!let) continue;
      let->head = body;
      body = let;
    }
    p_.functions[p_.main].body = body;
    if (constants_.empty()) return;
    for (Function& function : p_.functions)
      if (function.body) ReplaceConstants(function.body);
  }

  void ReplaceConstants(Expr*& expr) {
    if (expr->kind == Kind::Fun) {
      auto it = constants_.find(expr->fun.index);
      if (it != constants_.end()) expr = p_.NewVarExpr(it->second, expr->pos);
      return;
    }
    ForEachChild(expr, [&](Expr*& child) { ReplaceConstants(child); });
  }

  // Registers a function and the local functions in it, and says of each variable where it is bound.
  void Enter(FunId fun) {
    if (!p_.functions[fun].body) return;
    size_t index = infos_.size();
    infos_.push_back({fun, {}, {}, {}});
    info_of_[fun.index] = index;
    for (VarId param : p_.functions[fun].params) owner_[param.index] = fun;
    Expr* body = p_.functions[fun].body;
    Scan(body, index);
    p_.functions[fun].body = body;
  }

  void Scan(Expr*& expr, size_t index) {
    CheckBudget();
    FunId fun = infos_[index].fun;
    switch (expr->kind) {
      case Kind::Var: infos_[index].own.insert(expr->var.index); return;
      case Kind::Fun: infos_[index].calls.insert(expr->fun.index); return;
      case Kind::Lambda: {
        // A function without a name of its own.
        VarId var = p_.NewVar("lambda", expr->type);
        Expr* lambda = expr;
        expr = p_.NewLet(var, lambda, p_.NewVarExpr(var, lambda->pos), lambda->pos);
        break;
      }
      case Kind::App:
        if (expr->head->kind == Kind::Lambda) {
          Expr* lambda = expr->head;
          size_t taken = std::min(expr->args.size(), lambda->params.size());
          Expr* result = lambda->head;
          if (taken < lambda->params.size()) {
            result = p_.New(Kind::Lambda, expr->type, expr->pos);
            result->params.assign(lambda->params.begin() + taken, lambda->params.end());
            result->head = lambda->head;
          } else if (taken < expr->args.size()) {
            result = p_.NewApp(result, llvm::ArrayRef(expr->args).drop_front(taken), expr->type, expr->pos);
          }
          for (size_t i = taken; i-- > 0;) result = p_.NewLet(lambda->params[i], expr->args[i], result, expr->pos);
          expr = result;
          Scan(expr, index);
          return;
        }
        break;
      default: break;
    }
    if (expr->kind == Kind::Case && expr->var.valid()) owner_[expr->var.index] = fun;
    for (const Alt& alt : expr->alts)
      for (VarId var : alt.vars) owner_[var.index] = fun;
    if (expr->kind == Kind::Diff)
      for (const Binding& binding : expr->bindings) owner_[binding.var.index] = fun;
    if (expr->kind == Kind::Let) {
      std::vector<Binding> values;
      std::vector<FunId> functions;
      for (const Binding& binding : expr->bindings) {
        if (binding.value->kind != Kind::Lambda) {
          owner_[binding.var.index] = fun;
          values.push_back(binding);
          continue;
        }
        functions.push_back(NewFunction(fun, binding));
      }
      expr->bindings = std::move(values);
      for (FunId function : functions) Enter(function);
      for (Binding& binding : expr->bindings) Scan(binding.value, index);
      Scan(expr->head, index);
      if (expr->bindings.empty()) expr = expr->head;
      return;
    }
    ForEachChild(expr, [&](Expr*& child) { Scan(child, index); });
  }

  FunId NewFunction(FunId owner, const Binding& binding) {
    Function function;
    function.source_name = p_.vars[binding.var].name;
    function.name = p_.UniqueName(p_.functions[owner].name + "." + function.source_name);
    function.params.assign(binding.value->params.begin(), binding.value->params.end());
    function.body = binding.value->head;
    function.result = p_.ResultAfter(p_.vars[binding.var].type, function.params.size());
    function.pos = binding.value->pos;
    function.from_library = p_.functions[owner].from_library;
    function.local = true;
    FunId id = p_.functions.Add(std::move(function));
    function_of_[binding.var.index] = id;
    return id;
  }

  bool BoundIn(uint32_t var, FunId fun) const {
    auto it = owner_.find(var);
    return it != owner_.end() && it->second == fun;
  }

  // What is free in a function is free in those that call it, up to where it is bound.
  void FindFree() {
    std::vector<std::vector<size_t>> callers(infos_.size());
    std::deque<size_t> work;
    for (size_t i = 0; i < infos_.size(); ++i) {
      Info& info = infos_[i];
      for (uint32_t var : info.own) {
        if (auto it = function_of_.find(var); it != function_of_.end()) info.calls.insert(it->second.index);
        else if (!BoundIn(var, info.fun)) info.free.insert(var);
      }
      for (uint32_t callee : info.calls)
        if (auto it = info_of_.find(callee); it != info_of_.end()) callers[it->second].push_back(i);
      work.push_back(i);
    }
    while (!work.empty()) {
      size_t callee = work.front();
      work.pop_front();
      for (size_t caller : callers[callee]) {
        bool grew = false;
        for (uint32_t var : infos_[callee].free)
          if (!BoundIn(var, infos_[caller].fun)) grew |= infos_[caller].free.insert(var);
        if (grew) work.push_back(caller);
      }
    }
  }

  void Rewrite(Info& info) {
    CheckBudget();
    Function& function = p_.functions[info.fun];
    renamed_.clear();
    llvm::SmallVector<VarId, 4> params;
    for (uint32_t var : info.free) {
      VarId param = p_.NewVar(p_.vars[VarId(var)].name, p_.vars[VarId(var)].type);
      renamed_[var] = param;
      params.push_back(param);
    }
    params.append(function.params.begin(), function.params.end());
    function.params = params;
    Replace(function.body);
  }

  VarId Renamed(uint32_t var) const {
    auto it = renamed_.find(var);
    return it == renamed_.end() ? VarId(var) : it->second;
  }

  void Replace(Expr*& expr) {
    if (expr->kind == Kind::Var || expr->kind == Kind::Fun) {
      FunId fun = expr->fun;
      if (expr->kind == Kind::Var) {
        auto it = function_of_.find(expr->var.index);
        if (it == function_of_.end()) {
          expr->var = Renamed(expr->var.index);
          return;
        }
        fun = it->second;
      }
      Expr* head = p_.NewFun(fun, expr->type, expr->pos);
      llvm::SmallVector<Expr*, 4> args;
      if (auto it = info_of_.find(fun.index); it != info_of_.end())
        for (uint32_t var : infos_[it->second].free) args.push_back(p_.NewVarExpr(Renamed(var), expr->pos));
      expr = p_.NewApp(head, args, expr->type, expr->pos);
      return;
    }
    ForEachChild(expr, [&](Expr*& child) { Replace(child); });
    if (expr->kind == Kind::App && expr->head->kind == Kind::App) {
      llvm::SmallVector<Expr*, 4> all(expr->head->args.begin(), expr->head->args.end());
      all.append(expr->args.begin(), expr->args.end());
      expr = p_.NewApp(expr->head->head, all, expr->type, expr->pos);
    }
  }

  Program& p_;
  std::deque<Info> infos_;
  llvm::DenseMap<uint32_t, size_t> info_of_;         // by function
  llvm::DenseMap<uint32_t, FunId> owner_;            // of each variable that is no function: where it is bound
  llvm::DenseMap<uint32_t, FunId> function_of_;      // of each variable that is a local function
  llvm::DenseMap<uint32_t, VarId> constants_;        // by function
  llvm::DenseMap<uint32_t, VarId> renamed_;          // of the function that is being rewritten
};

}  // namespace

void Lift(Program& program) {
  Lifter(program).Run();
  DropUnreachable(program);
}

}  // namespace df::mono
