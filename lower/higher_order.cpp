// Functions as arguments: a function that takes functions is copied for each combination of known functions it is
// given. After lifting, a known function is a function of the program or a partial application of one to variables;
// these variables become parameters of the copy. A recursive call that passes its own parameter on finds the copy again.
//
// What is left over, a function that is held in a data structure or chosen at run time, is reported.
#include "lower/simplify.h"

namespace df::mono {
namespace {

class HigherOrder {
 public:
  HigherOrder(Program& program, bool optimize, uint32_t max_instances)
      : p_(program), simplifier_(program, optimize), max_instances_(max_instances) {}

  bool Run() {
    Enter(p_.main);
    while (!work_.empty() && !stop_) {
      FunId fun = work_.front();
      work_.pop_front();
      // Arguments that are functions are named by now; simplifying puts them where they are used.
      std::vector<bool> recursive = Recursive();
      simplifier_.Run(fun, recursive);
      Visit(p_.functions[fun].body);
    }
    if (stop_) return false;
    DropUnreachable(p_);
    for (const std::vector<FunId>& group : CallGroups(p_))
      for (FunId fun : group) Check(fun);
    return !p_.diags.has_errors();
  }

 private:
  void Enter(FunId fun) {
    if (seen_.insert({fun.index, true}).second && p_.functions[fun].body) work_.push_back(fun);
  }

  // Recomputed only when functions were added: copies are as recursive as what they were copied from.
  const std::vector<bool>& Recursive() {
    if (recursive_.size() == p_.functions.size()) return recursive_;
    if (recursive_.empty()) {
      recursive_.assign(p_.functions.size(), false);
      for (const std::vector<FunId>& group : CallGroups(p_))
        for (FunId fun : group) recursive_[fun.index] = group.size() > 1 || Mentions(p_.functions[fun].body, fun);
    }
    for (uint32_t i = static_cast<uint32_t>(recursive_.size()); i < p_.functions.size(); ++i)
      recursive_.push_back(recursive_[copied_from_[i].index]);
    return recursive_;
  }

  void Visit(Expr* expr) {
    if (expr->kind == Kind::App && expr->head->kind == Kind::Fun) Specialise(expr);
    if (expr->kind == Kind::Fun) Enter(expr->fun);
    ForEachChild(expr, [&](Expr* child) { Visit(child); });
  }

  // A function value that is known: its shape goes into the key, its variables into `holes`.
  bool Known(const Expr* value, std::string& key, std::vector<VarId>& holes) {
    if (value->kind == Kind::Fun) {
      key += fmt::format("f{}", value->fun.index);
      return true;
    }
    if (value->kind != Kind::App || value->head->kind != Kind::Fun) return false;
    if (value->args.size() >= p_.functions[value->head->fun].params.size()) return false;
    key += fmt::format("(f{}", value->head->fun.index);
    for (const Expr* arg : value->args) {
      key += ' ';
      if (p_.IsFunction(arg->type)) {
        if (!Known(arg, key, holes)) return false;
      } else if (arg->kind == Kind::Var) {
        key += '_';
        holes.push_back(arg->var);
      } else if (arg->kind == Kind::Const) {
        key += fmt::format("c{}", arg->constant.index);
      } else {
        return false;
      }
    }
    key += ')';
    return true;
  }

  // Names what a function value is made of, in front of the call: sum (add (f 1)) becomes let p = f 1 in sum (add p).
  void NameParts(Expr*& value, std::vector<Binding>& named) {
    while (value->kind == Kind::Let && !value->recursive) {
      named.insert(named.end(), value->bindings.begin(), value->bindings.end());
      value = value->head;
    }
    if (value->kind != Kind::App || value->head->kind != Kind::Fun) return;
    for (Expr*& arg : value->args) {
      if (p_.IsFunction(arg->type)) {
        NameParts(arg, named);
      } else if (!IsAtom(p_, arg)) {
        named.push_back({p_.NewVar("part", arg->type), arg});
        arg = p_.NewVarExpr(named.back().var, arg->pos);
      }
    }
  }

  void Specialise(Expr* call) {
    std::vector<Binding> named;
    for (Expr*& arg : call->args)
      if (p_.IsFunction(arg->type)) NameParts(arg, named);
    if (!named.empty()) {
      // The call moves into the lets, and its own node becomes the outermost of them.
      Expr* moved = p_.New(Kind::App, call->type, call->pos);
      *moved = *call;
      Expr* body = moved;
      for (size_t i = named.size(); i-- > 0;) body = p_.NewLet(named[i].var, named[i].value, body, call->pos);
      *call = *body;
      call = moved;
    }
    SpecialiseCall(call);
  }

  void SpecialiseCall(Expr* call) {
    FunId callee = call->head->fun;
    const Function& function = p_.functions[callee];
    if (call->args.size() < function.params.size() || !function.body) return;
    std::string key = fmt::format("{}", callee.index);
    std::vector<VarId> holes;
    std::vector<size_t> known;
    for (size_t i = 0; i < function.params.size(); ++i) {
      if (!p_.IsFunction(p_.vars[function.params[i]].type)) continue;
      std::string part = fmt::format(";{}=", i);
      std::vector<VarId> part_holes;
      if (!Known(call->args[i], part, part_holes)) continue;
      key += part;
      holes.insert(holes.end(), part_holes.begin(), part_holes.end());
      known.push_back(i);
    }
    if (known.empty()) return;
    auto [it, fresh] = copies_.try_emplace(key);
    if (fresh) {
      if (copies_.size() > max_instances_ || key.size() > 2000) {
        stop_ = true;
        p_.diags.Report(Diag::TooManyInstances, p_.SpanOf(call->pos), function.source_name, copies_.size());
        return;
      }
      it->second = Copy(callee, call, known, holes);
    }
    FunId copy = it->second;
    call->head = p_.NewFun(copy, call->head->type, call->head->pos);
    llvm::SmallVector<Expr*, 4> args;
    for (VarId hole : holes) args.push_back(p_.NewVarExpr(hole, call->pos));
    size_t next = 0;
    for (size_t i = 0; i < call->args.size(); ++i) {
      if (next < known.size() && known[next] == i) ++next;
      else args.push_back(call->args[i]);
    }
    call->args.assign(args.begin(), args.end());
  }

  FunId Copy(FunId callee, const Expr* call, llvm::ArrayRef<size_t> known, llvm::ArrayRef<VarId> holes) {
    llvm::DenseMap<uint32_t, VarId> fresh, hole_map;
    Function copy = p_.functions[callee];
    llvm::SmallVector<VarId, 4> params;
    // The same variable may fill two holes; the copy must serve calls where they differ.
    std::vector<VarId> hole_params;
    for (VarId hole : holes) hole_params.push_back(p_.NewVar(p_.vars[hole].name, p_.vars[hole].type));
    params.append(hole_params.begin(), hole_params.end());
    size_t next = 0, next_hole = 0;
    std::vector<Binding> bindings;
    for (size_t i = 0; i < copy.params.size(); ++i) {
      VarId param = p_.NewVar(p_.vars[copy.params[i]].name, p_.vars[copy.params[i]].type);
      fresh[copy.params[i].index] = param;
      if (next < known.size() && known[next] == i) {
        ++next;
        bindings.push_back({param, Refill(call->args[i], hole_params, next_hole)});
      } else {
        params.push_back(param);
      }
    }
    copy.body = p_.Clone(copy.body, fresh);
    for (size_t i = bindings.size(); i-- > 0;)
      copy.body = p_.NewLet(bindings[i].var, bindings[i].value, copy.body, copy.pos);
    copy.params = params;
    copy.name = p_.UniqueName(copy.name + "@" + FunctionName(call->args[known[0]]));
    FunId id = p_.functions.Add(std::move(copy));
    copied_from_[id.index] = callee;
    Enter(id);
    return id;
  }

  std::string FunctionName(const Expr* value) const {
    FunId fun = value->kind == Kind::App ? value->head->fun : value->fun;
    return p_.functions[fun].source_name;
  }

  // The function value with the copy's parameters for its variables.
  Expr* Refill(const Expr* value, llvm::ArrayRef<VarId> holes, size_t& next) {
    if (value->kind == Kind::Var) return p_.NewVarExpr(holes[next++], value->pos);
    Expr* copy = p_.New(value->kind, value->type, value->pos);
    copy->fun = value->fun;
    copy->constant = value->constant;
    if (value->head) copy->head = p_.NewFun(value->head->fun, value->head->type, value->head->pos);
    for (const Expr* arg : value->args) copy->args.push_back(Refill(arg, holes, next));
    return copy;
  }

  // Reports functions that are still values.
  void Check(FunId fun) {
    const Function& function = p_.functions[fun];
    // Of a function that is still given a function, the call that does so is what there is to report.
    if (llvm::any_of(function.params, [&](VarId param) { return p_.IsFunction(p_.vars[param].type); })) return;
    CheckExpr(function.body);
  }

  void CheckExpr(const Expr* expr) {
    switch (expr->kind) {
      case Kind::Fun:
        if (!p_.functions[expr->fun].params.empty()) return Report(expr->pos);
        return;
      case Kind::Var:
        if (p_.IsFunction(expr->type)) Report(expr->pos);
        return;
      case Kind::App:
        if (expr->head->kind != Kind::Fun ||
            p_.functions[expr->head->fun].params.size() != expr->args.size()) {
          return Report(expr->pos);
        }
        for (const Expr* arg : expr->args) {
          if (p_.IsFunction(arg->type)) Report(arg->pos);
          else CheckExpr(arg);
        }
        return;
      default: break;
    }
    ForEachChild(const_cast<Expr*>(expr), [&](Expr* child) { CheckExpr(child); });
  }

  void Report(ir::PosId pos) {
    p_.diags.Report(Diag::HigherOrder, p_.SpanOf(pos))
        .Hint("functions that are stored in data or chosen at run time are not supported yet; apply them at once, or "
              "pass them to a function by name");
  }

  Program& p_;
  Simplifier simplifier_;
  uint32_t max_instances_;
  bool stop_ = false;
  llvm::DenseMap<uint32_t, bool> seen_;
  std::deque<FunId> work_;
  std::vector<bool> recursive_;
  llvm::DenseMap<uint32_t, FunId> copied_from_;
  std::map<std::string, FunId> copies_;
};

}  // namespace

bool RemoveHigherOrder(Program& program, bool optimize, uint32_t max_instances) {
  return HigherOrder(program, optimize, max_instances).Run();
}

}  // namespace df::mono
