// Functions as arguments: a function that takes functions is copied for each combination of known functions it is
// given. After lifting, a known function is a function of the program or a partial application of one to variables;
// these variables become parameters of the copy. A recursive call that passes its own parameter on finds the copy again.
//
// A recursion that passes ever larger functions, as in continuation-passing style, has no end of copies. Where a call
// within the recursion passes a function that holds a function, that parameter grows: it stays, and is passed a closure
// (defunctionalise.cpp), as are functions from data structures or chosen at run time. What grows in other ways is
// stopped by bounds on the depth of functions in functions, and on the number of copies for such.
//
// What leads to a derivative is copied without optimisation too, and where it is a value itself, as `grad f` in a list of functions:
// a derivative of a closure is one of all closures of that type, itself among them, and would need itself.
#include <deque>
#include <string>
#include <unordered_map>

#include "lang/budget.h"
#include "llvm/ADT/DenseSet.h"
#include "lower/graph/function_graph.h"
#include "lower/mono/simplify.h"

namespace df::mono {
namespace {

class HigherOrder {
 public:
  HigherOrder(Program& program, const LowerOptions& options)
      : p_(program), simplifier_(program, options), all_(options.Does(Optimisation::HigherOrder)),
        max_instances_(options.max_instances + program.functions.size()) {}

  void Run() {
    FindDerivatives();
    if (!all_ && derivatives_.empty()) return;
    FindGrowing();
    Enter(p_.main);
    while (!work_.empty()) {
      FunId fun = work_.front();
      work_.pop_front();
      // Arguments that are functions are named by now; simplifying puts them where they are used.
      std::vector<bool> recursive = Recursive();
      if (!derivatives_.empty()) NameInLets(p_.functions[fun].body);
      if (!all_) DropLooks(p_.functions[fun].body);
      simplifier_.Run(fun, recursive);
      Visit(p_.functions[fun].body);
      // A function that went into a copy is made no more, though it has a name: a closure of it would be one of its type's to `apply`,
      // and so would lead whatever applies such closures to the derivative.
      if (!all_) simplifier_.Run(fun, Recursive());
      p_.DropMuchGarbage();
    }
    DropUnreachable(p_);
  }

 private:
  void Enter(FunId fun) {
    if (seen_.insert({fun.index, true}).second && p_.functions[fun].body) work_.push_back(fun);
  }

  // Functions with derivatives in them, or in what they call or make a closure of.
  void FindDerivatives() {
    for (const std::vector<FunId>& group : CallGroups(p_))  // those that are called first
      if (llvm::any_of(group, [&](FunId fun) { return LeadsToDerivative(p_.functions[fun].body); }))
        for (FunId fun : group) derivatives_.insert(fun.index);
  }
  bool LeadsToDerivative(const Expr* expr) const {
    if (!expr) return false;
    bool found = expr->kind == Kind::Diff && fg::DiffMode(expr->attr) != fg::DiffMode::Stop;
    found |= expr->kind == Kind::Fun && derivatives_.contains(expr->fun.index);
    ForEachChild(const_cast<Expr*>(expr), [&](Expr* child) { found = found || LeadsToDerivative(child); });
    return found;
  }

  void FindGrowing() {
    std::vector<std::vector<FunId>> groups = CallGroups(p_);
    std::vector<uint32_t> group_of(p_.functions.size(), UINT32_MAX);
    for (uint32_t i = 0; i < groups.size(); ++i)
      for (FunId fun : groups[i]) group_of[fun.index] = i;
    for (const std::vector<FunId>& group : groups)
      for (FunId fun : group) MarkGrowing(p_.functions[fun].body, group_of, group_of[fun.index]);
  }

  void MarkGrowing(const Expr* expr, llvm::ArrayRef<uint32_t> group_of, uint32_t group) {
    if (expr->kind == Kind::App && expr->head->kind == Kind::Fun && group_of[expr->head->fun.index] == group) {
      const Function& callee = p_.functions[expr->head->fun];
      for (size_t i = 0; i < std::min(expr->args.size(), callee.params.size()); ++i)
        if (HoldsFunction(expr->args[i])) growing_.insert(callee.params[i].index);
    }
    ForEachChild(const_cast<Expr*>(expr), [&](Expr* child) { MarkGrowing(child, group_of, group); });
  }

  // A partial application of a function to functions.
  bool HoldsFunction(const Expr* value) {
    while (value->kind == Kind::Let) value = value->head;
    return value->kind == Kind::App && p_.IsFunction(value->type) &&
           llvm::any_of(value->args, [&](const Expr* arg) { return p_.IsFunction(arg->type); });
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
    CheckBudget();
    if (expr->kind == Kind::App && expr->head->kind == Kind::Fun) Specialise(expr);
    if (expr->kind == Kind::Fun) Enter(expr->fun);
    ForEachChild(expr, [&](Expr* child) { Visit(child); });
  }

  static constexpr int kMaxDepth = 3;           // of functions that hold functions
  static constexpr uint32_t kMaxNested = 20;    // copies of one function for such functions
  static constexpr size_t kMaxKey = 2000;

  // The place of a name in the program, which call paths tell: copies for two such differ.
  std::string PlaceKey(const Expr* name) const {
    return p_.IsToldName(name->fun, name->pos) ? fmt::format("@{}", name->pos.index) : "";
  }

  // A function value that is known: its shape goes into the key, its variables into `holes`. `level` tells in how many
  // other functions it stands, `depth` becomes the most of those in it. Nothing is looked at behind the deepest level that
  // is allowed: a block of n statements is n functions, each in the one before.
  bool Known(const Expr* value, std::string& key, std::vector<VarId>& holes, int& depth, int level = 0) {
    if (level > kMaxDepth) return false;
    depth = std::max(depth, level);
    if (value->kind == Kind::Fun) {
      key += fmt::format("f{}{}", value->fun.index, PlaceKey(value));
      return true;
    }
    if (value->kind != Kind::App || value->head->kind != Kind::Fun) return false;
    if (value->args.size() >= p_.functions[value->head->fun].params.size()) return false;
    key += fmt::format("(f{}{}", value->head->fun.index, PlaceKey(value->head));
    for (const Expr* arg : value->args) {
      key += ' ';
      if (arg->kind == Kind::Var) {
        key += '_';
        holes.push_back(arg->var);
        if (p_.IsFunction(arg->type)) depth = std::max(depth, level + 1);
      } else if (p_.IsFunction(arg->type)) {
        if (!Known(arg, key, holes, depth, level + 1)) return false;
      } else if (arg->kind == Kind::Const) {
        key += fmt::format("c{}", arg->constant.index);
      } else {
        return false;
      }
    }
    key += ')';
    return depth <= kMaxDepth;
  }

  // Names what a function value is made of, in front of the call: sum (add (f 1)) becomes let p = f 1 in sum (add p).
  // What stands too deep for a copy (Known) stays as it is.
  void NameParts(Expr*& value, std::vector<Binding>& named, int level = 0) {
    if (level > kMaxDepth) return;
    while (value->kind == Kind::Let && !value->recursive) {
      named.insert(named.end(), value->bindings.begin(), value->bindings.end());
      value = value->head;
    }
    if (value->kind != Kind::App || value->head->kind != Kind::Fun) return;
    for (Expr*& arg : value->args) {
      if (p_.IsFunction(arg->type)) {
        NameParts(arg, named, level + 1);
      } else if (!IsAtom(p_, arg)) {
        named.push_back({p_.NewVar("part", arg->type), arg});
        arg = p_.NewVarExpr(named.back().var, arg->pos);
      }
    }
  }

  // The expression moves into the lets, and its own node becomes the outermost of them. Where it is then.
  Expr* MoveInto(llvm::ArrayRef<Binding> named, Expr* expr) {
    if (named.empty()) return expr;
    Expr* moved = p_.New(expr->kind, expr->type, expr->pos);
    *moved = *expr;
    Expr* body = moved;
    for (size_t i = named.size(); i-- > 0;) body = p_.NewLet(named[i].var, named[i].value, body, expr->pos);
    *expr = *body;
    return moved;
  }

  // Of functions that have names: of atoms alone they are put where they are used, as in `let f = mse (points t) in valueAndGrad f x`.
  void NameInLets(Expr* expr) {
    if (!expr) return;
    ForEachChild(expr, [&](Expr* child) { NameInLets(child); });
    if (expr->kind != Kind::Let || expr->recursive) return;
    std::vector<Binding> named;
    for (Binding& binding : expr->bindings)
      if (p_.IsFunction(binding.value->type)) NameParts(binding.value, named);
    MoveInto(named, expr);
  }

  // What a strict parameter asks for, `case f of _ -> e`, is there where f is a known function. While that stands the function is made as a
  // value, besides the copies that it goes into.
  void DropLooks(Expr*& expr) {
    if (!expr) return;
    if (expr->kind == Kind::Let)
      for (const Binding& binding : expr->bindings)
        if (IsFunctionValue(binding.value)) values_.insert(binding.var.index);
    const bool looks = expr->kind == Kind::Case && expr->alts.size() == 1 && expr->alts[0].kind == core::AltKind::Default && !expr->var.valid();
    if (looks && (IsFunctionValue(expr->head) || (expr->head->kind == Kind::Var && values_.contains(expr->head->var.index)))) {
      expr = expr->alts[0].body;
      return DropLooks(expr);
    }
    ForEachChild(expr, [&](Expr*& child) { DropLooks(child); });
  }
  // A function of the program on fewer arguments than it takes.
  bool IsFunctionValue(const Expr* value) const {
    const Expr* head = value->kind == Kind::App ? value->head : value;
    return head->kind == Kind::Fun && p_.functions[head->fun].body && (value->kind == Kind::App ? value->args.size() : 0) < p_.functions[head->fun].params.size();
  }

  void Specialise(Expr* call) {
    std::vector<Binding> named;
    for (Expr*& arg : call->args)
      if (p_.IsFunction(arg->type)) NameParts(arg, named);
    SpecialiseCall(MoveInto(named, call));
  }

  void SpecialiseCall(Expr* call) {
    FunId callee = call->head->fun;
    const Function& function = p_.functions[callee];
    const bool derivative = !derivatives_.empty() &&
                            (LeadsToDerivative(call->head) ||
                             llvm::any_of(call->args, [&](const Expr* arg) { return p_.IsFunction(arg->type) && LeadsToDerivative(arg); }));
    if (!function.body || (!derivative && (!all_ || call->args.size() < function.params.size()))) return;
    std::string key = fmt::format("{}", callee.index);
    std::vector<VarId> holes;
    std::vector<size_t> known;
    bool nested = false;
    for (size_t i = 0; i < std::min(function.params.size(), call->args.size()); ++i) {
      if (!p_.IsFunction(p_.vars[function.params[i]].type) || growing_.contains(function.params[i].index)) continue;
      std::string part = fmt::format(";{}=", i);
      std::vector<VarId> part_holes;
      int depth = 0;
      if (!Known(call->args[i], part, part_holes, depth) || part.size() > kMaxKey) continue;
      nested |= depth > 0;
      key += part;
      holes.insert(holes.end(), part_holes.begin(), part_holes.end());
      known.push_back(i);
    }
    if (known.empty()) return;
    auto it = copies_.find(key);
    if (it == copies_.end()) {
      if (copies_.size() >= max_instances_ || (nested && ++nested_copies_[Original(callee).index] > kMaxNested)) return;
      it = copies_.emplace(std::move(key), Copy(callee, call, known, holes)).first;
    }
    FunId copy = it->second;
    if (derivative) derivatives_.insert(copy.index);
    call->head = p_.NewFun(copy, call->head->type, call->head->pos);
    llvm::SmallVector<Expr*, 4> args;
    for (VarId hole : holes) args.push_back(p_.NewVarExpr(hole, call->pos));
    size_t next = 0;
    for (size_t i = 0; i < call->args.size(); ++i) {
      if (next < known.size() && known[next] == i) ++next;
      else args.push_back(call->args[i]);
    }
    call->args.assign(args.begin(), args.end());
    if (args.empty() && !p_.functions[copy].params.empty()) *call = *p_.NewFun(copy, call->type, call->pos);
  }

  // What the user wrote, of a copy.
  FunId Original(FunId fun) const {
    for (auto it = copied_from_.find(fun.index); it != copied_from_.end(); it = copied_from_.find(fun.index))
      fun = it->second;
    return fun;
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
        if (growing_.contains(copy.params[i].index)) growing_.insert(param.index);
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

  Program& p_;
  Simplifier simplifier_;
  const bool all_;  // copies for other functions too
  uint32_t max_instances_;
  llvm::DenseMap<uint32_t, bool> seen_;
  std::deque<FunId> work_;
  std::vector<bool> recursive_;
  llvm::DenseMap<uint32_t, FunId> copied_from_;
  std::unordered_map<std::string, FunId> copies_;
  llvm::DenseMap<uint32_t, uint32_t> nested_copies_;   // by original function
  llvm::DenseSet<uint32_t> growing_;                   // parameters
  llvm::DenseSet<uint32_t> derivatives_;               // functions that lead to derivatives
  llvm::DenseSet<uint32_t> values_;                    // variables that are known functions, as far as that was asked for
};

}  // namespace

void SpecialiseHigherOrder(Program& program, const LowerOptions& options) { HigherOrder(program, options).Run(); }

}  // namespace df::mono
