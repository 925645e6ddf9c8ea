// How many parameters each function has. A type shows how many arguments a function can be given, its definition how
// many it names: `f x = let t = g x in \y -> t + y` names one of two. Giving f the second parameter as well saves a
// closure, but computes t in each call of a shared `f 3`. So a definition gets all the parameters that its type shows
// unless that would lose such sharing: then it keeps those that it names, and its result is a function value.
//
//   memo g = let table = map g [0 ..] in \n -> table !! n      keeps one parameter if `memo g` is used by itself
//   fib = memo step                                            is a constant: its value is computed once
//
// A definition loses nothing if what stands between its own parameters and the function it ends in is no work
// (NamesOnly), or if it is only ever called with all arguments. Both questions ask for the arities of others. They are
// answered optimistically: all have all parameters at first, and each round takes away until nothing changes.
//
// What applies an unknown function may be work: `x` in `let x = f x in x`, or `f . g` where that gives a function. It
// counts as work in constants and in what is not recursive. In a recursion, as `foldr` at the type of a function, it
// does not: a loop is worth more there than what a function might have prepared.
//
// Where the further parameters are those of a newtype, as in `newtype State s a = State (s -> (a, s))`, they are always
// added, to functions without a name too: an action is run by what it stands in, and is hardly ever worth being kept.
#include <deque>

#include "lang/budget.h"
#include "lower/mono/mono.h"

namespace df::mono {
namespace {

class Arities {
 public:
  explicit Arities(Program& program) : p_(program) {}

  void Run() {
    for (const std::vector<FunId>& group : CallGroups(p_))
      for (FunId fun : group) {
        Function& function = p_.functions[fun];
        if (!function.body) continue;
        llvm::SmallVector<df::TypeId, 4> params;
        for (VarId param : function.params) params.push_back(p_.vars[param].type);
        Collect(function.body);
        bool recursive = group.size() > 1 || Mentions(function.body, fun);
        if (p_.IsFunction(function.result) || !function.params.empty())
          function_defs_[fun.index] = Define(p_.core.types.Fun(params, function.result), function.params.size(), function.body, recursive);
      }
    // The entry's parameters are the program's inputs.
    if (auto it = function_defs_.find(p_.main.index); it != function_defs_.end()) defs_[it->second].always = true;
    do {
      changed_ = false;
      for (Def& def : defs_) def.held = false;
      for (Def& def : defs_) FindHeld(def.body, Extra(def));
      ScanOthers();
      for (Def& def : defs_) Decide(def);
    } while (changed_);
    for (auto [fun, index] : function_defs_) ExpandFunction(FunId(fun), defs_[index]);
    for (Function& function : p_.functions)
      if (function.body) ExpandLets(function.body);
  }

 private:
  // A function of the program or a local one.
  struct Def {
    df::TypeId type;
    Expr* body;       // below its own parameters
    size_t named;     // parameters of its own
    size_t shown;     // parameters that its type shows
    bool recursive;
    bool always = false;  // whatever the rest says
    bool all = true;      // whether it gets those
    bool held = false;    // whether it is used without all arguments: a value of it may be kept
  };

  size_t ArityOf(const Def& def) const { return def.all ? def.shown : def.named; }

  // The arguments that come to the body from outside. A constant without parameters is held by everybody who names it.
  size_t Extra(const Def& def) const { return def.all && (def.named > 0 || def.always) ? def.shown - def.named : 0; }

  size_t Define(df::TypeId type, size_t named, Expr* body, bool recursive) {
    llvm::SmallVector<df::TypeId> shown;
    p_.SplitFun(type, shown);
    Def def{type, body, named, std::max(shown.size(), named), recursive};
    // The next arrow is a newtype's: see above.
    df::TypeId rest = p_.ResultAfter(type, named);
    def.always = !p_.core.types.IsFun(rest);
    defs_.push_back(def);
    return defs_.size() - 1;
  }

  // Local definitions.
  void Collect(Expr* expr) {
    CheckBudget();
    for (Binding& binding : expr->bindings) {
      df::TypeId type = p_.vars[binding.var].type;
      if (expr->kind != Kind::Let || !p_.IsFunction(type)) continue;
      Expr* body = binding.value;
      size_t named = 0;
      for (; body->kind == Kind::Lambda; body = body->head) named += body->params.size();
      local_defs_[binding.var.index] = Define(type, named, body, expr->recursive);
    }
    ForEachChild(expr, [&](Expr* child) { Collect(child); });
  }

  // The definition that a name stands for; null if it is none of the program's.
  Def* DefOf(const Expr* name) {
    const llvm::DenseMap<uint32_t, size_t>& defs = name->kind == Kind::Fun ? function_defs_ : local_defs_;
    if (name->kind != Kind::Fun && name->kind != Kind::Var) return nullptr;
    auto it = defs.find(name->kind == Kind::Fun ? name->fun.index : name->var.index);
    return it == defs.end() ? nullptr : &defs_[it->second];
  }

  // ---- who is held

  // `extra` arguments are given to the value of the expression.
  void FindHeld(const Expr* expr, size_t extra) {
    switch (expr->kind) {
      case Kind::Var:
      case Kind::Fun: NoteUse(expr, extra); return;
      case Kind::App:
        if (DefOf(expr->head)) NoteUse(expr->head, expr->args.size() + extra);
        else FindHeld(expr->head, expr->args.size() + extra);
        for (const Expr* arg : expr->args) FindHeld(arg, 0);
        return;
      case Kind::Lambda: FindHeld(expr->head, extra - std::min(extra, expr->params.size())); return;
      case Kind::Let:
        // Function-typed bindings are definitions, and looked at as such.
        for (const Binding& binding : expr->bindings)
          if (!local_defs_.count(binding.var.index)) FindHeld(binding.value, 0);
        FindHeld(expr->head, extra);
        return;
      case Kind::Case:
        FindHeld(expr->head, 0);
        for (const Alt& alt : expr->alts) FindHeld(alt.body, extra);
        return;
      default: ForEachChild(const_cast<Expr*>(expr), [&](Expr* child) { FindHeld(child, 0); });
    }
  }

  void NoteUse(const Expr* name, size_t args) {
    if (Def* def = DefOf(name)) def->held |= args < def->shown;
  }

  // The bodies of what is no function.
  void ScanOthers() {
    for (uint32_t i = 0; i < p_.functions.size(); ++i)
      if (p_.functions[FunId(i)].body && !function_defs_.count(i)) FindHeld(p_.functions[FunId(i)].body, 0);
  }

  // ---- what is work

  void Decide(Def& def) {
    if (!def.all || def.always || def.named == def.shown) return;
    if (!def.held && def.named > 0) return;
    if (NamesOnly(def.body, def.named == 0 || !def.recursive)) return;
    def.all = false;
    changed_ = true;
  }

  // Whether evaluating an expression of function type comes to a function with nothing done that would have to be done
  // again: it only names things. `unknown_works`: what applies an unknown function counts as work.
  bool NamesOnly(const Expr* expr, bool unknown_works) {
    switch (expr->kind) {
      case Kind::App: {
        const Def* def = DefOf(expr->head);
        if (def && ArityOf(*def) <= expr->args.size()) return false;
        if (!def && expr->head->kind == Kind::Var && unknown_works) return false;
        if (!def && !NamesOnly(expr->head, unknown_works)) return false;
        return llvm::all_of(expr->args, [&](const Expr* arg) { return IsCheap(arg); });
      }
      case Kind::Lambda: return true;
      case Kind::Let:
        for (const Binding& binding : expr->bindings) {
          auto it = local_defs_.find(binding.var.index);
          if (it != local_defs_.end() ? ArityOf(defs_[it->second]) == 0 : !IsCheap(binding.value)) return false;
        }
        return NamesOnly(expr->head, unknown_works);
      case Kind::Case:
        return IsCheap(expr->head) && llvm::all_of(expr->alts, [&](const Alt& alt) { return NamesOnly(alt.body, unknown_works); });
      case Kind::Op: return false;  // a failure: no function, as `seq` can tell
      case Kind::Var:
      case Kind::Fun: {
        const Def* def = DefOf(expr);
        return !def || ArityOf(*def) > 0;
      }
      default: return true;
    }
  }

  // Whether it costs no more than a bounded number of ops.
  bool IsCheap(const Expr* expr) {
    switch (expr->kind) {
      case Kind::Var:
      case Kind::Fun:
      case Kind::Const:
      case Kind::Lambda: return true;
      case Kind::App: return p_.IsFunction(expr->type) && NamesOnly(expr, false);
      case Kind::Diff: return false;
      case Kind::Op:
        if (ir::IsStateOp(expr->op)) return false;  // what changes memory is done once
        [[fallthrough]];
      default: {
        bool cheap = true;
        ForEachChild(const_cast<Expr*>(expr), [&](Expr* child) { cheap = cheap && IsCheap(child); });
        return cheap;
      }
    }
  }

  // ---- adding parameters

  // The parameters that a definition lacks; applies its body to them.
  void Expand(const Def& def, llvm::SmallVectorImpl<VarId>& params, Expr*& body) {
    if (!def.all || params.size() >= def.shown) return;
    llvm::SmallVector<df::TypeId> all;
    df::TypeId result = p_.SplitFun(def.type, all);
    llvm::SmallVector<Expr*, 4> args;
    for (size_t i = params.size(); i < all.size(); ++i) {
      params.push_back(p_.NewVar(fmt::format("p{}", i + 1), all[i]));
      args.push_back(p_.NewVarExpr(params.back(), body->pos));
    }
    body = p_.NewApp(body, args, result, body->pos);
  }

  void ExpandFunction(FunId fun, const Def& def) {
    llvm::SmallVector<VarId, 4> params = p_.functions[fun].params;
    Expr* body = p_.functions[fun].body;
    Expand(def, params, body);
    p_.functions[fun].params = params;
    p_.functions[fun].body = body;
    p_.functions[fun].result = p_.ResultAfter(def.type, params.size());
  }

  void ExpandLets(Expr* expr) {
    if (expr->kind == Kind::Let) {
      for (Binding& binding : expr->bindings) {
        auto it = local_defs_.find(binding.var.index);
        if (it == local_defs_.end()) continue;
        llvm::SmallVector<VarId, 4> params;
        Expr* body = binding.value;
        for (; body->kind == Kind::Lambda; body = body->head) params.append(body->params.begin(), body->params.end());
        Expand(defs_[it->second], params, body);
        if (params.empty()) continue;
        Expr* lambda = p_.New(Kind::Lambda, binding.value->type, binding.value->pos);
        lambda->params.assign(params.begin(), params.end());
        lambda->head = body;
        binding.value = lambda;
      }
    }
    // Functions without a name that give a newtype's.
    if (expr->kind == Kind::Lambda) {
      df::TypeId rest = p_.ResultAfter(expr->type, expr->params.size());
      llvm::SmallVector<df::TypeId> shown;
      p_.SplitFun(expr->type, shown);
      if (shown.size() > expr->params.size() && !p_.core.types.IsFun(rest))
        Expand({expr->type, expr->head, expr->params.size(), shown.size(), false, true}, expr->params, expr->head);
    }
    ForEachChild(expr, [&](Expr* child) { ExpandLets(child); });
  }

  Program& p_;
  std::deque<Def> defs_;
  llvm::DenseMap<uint32_t, size_t> function_defs_;  // by function
  llvm::DenseMap<uint32_t, size_t> local_defs_;     // by variable
  bool changed_ = false;
};

}  // namespace

void SettleArities(Program& program) { Arities(program).Run(); }

}  // namespace df::mono
