// Fusion (deforestation: Wadler 1990; Turchin's driving): where a function that takes its argument apart is given what
// another function builds, a new function does the work of both and nothing is built. `sum (map f (upTo a b))` becomes a
// loop over a and b.
//
// A consumer `f .. p ..` is recursive, begins with `case p of` and mentions p nowhere else. A producer `g ys` is recursive
// and some of its ends are constructors. For f .. (g ys) .. there is the function `f@g` of both functions' parameters: g's
// body, and at each of its ends what f makes of it:
//   a constructor     f's body with this constructor for p; the match is taken
//   a call or a value  f of that; if it is a call of a producer, fused again: for g itself that is a call of `f@g`
// Where the recursive calls of f meet those of g, `f (g ..)` within that body, the loop is closed. If none does there is
// nothing gained, and the call stays as it was.
//
// p is looked at first and once, so nothing is computed earlier, more often, or in another order. What f's alternative
// does not look at, the rest of a list for one, stays as lazy as it was. A place in g's part is shown as called from f's
// match.
#include "llvm/ADT/DenseSet.h"
#include "lower/simplify.h"

namespace df::mono {
namespace {

constexpr uint32_t kMaxFunction = 100;  // nodes of what is fused
constexpr uint32_t kMaxFused = 400;     // nodes of what comes out
constexpr size_t kMaxParts = 8;         // functions in a fused one
constexpr size_t kMaxSame = 2;          // of these the same
constexpr uint32_t kMaxEnds = 6;        // of an argument that is a branch
constexpr uint32_t kSmallEnd = 16;      // nodes of an alternative that is taken at once for a constructor among these

class Fusion {
 public:
  Fusion(Program& program, const LowerOptions& options) : p_(program), options_(options), simplifier_(program, options) {}

  void Run() {
    std::vector<std::vector<FunId>> groups = CallGroups(p_);
    size_t functions = 0;
    recursive_.assign(p_.functions.size(), false);
    for (const std::vector<FunId>& group : groups) {
      functions += group.size();
      for (FunId fun : group) recursive_[fun.index] = group.size() > 1 || Mentions(p_.functions[fun].body, fun);
    }
    limit_ = 50 + functions;
    for (const std::vector<FunId>& group : groups)
      for (FunId fun : group) VisitFunction(fun);
    DropUnreachable(p_);
  }

 private:
  // What is known of a function as it was when it was first asked for.
  struct Facts {
    bool known = false;
    int consumes = -1;  // the parameter that it takes apart first
    bool produces = false;
  };

  void VisitFunction(FunId fun) {
    Expr* body = p_.functions[fun].body;
    if (!body) return;
    Visit(body);  // adds functions, which moves the table
    p_.functions[fun].body = body;
  }

  void Visit(Expr*& expr) {
    ForEachChild(expr, [&](Expr*& child) { Visit(child); });
    if (IsCall(expr)) FuseCall(expr);
  }

  bool IsCall(const Expr* expr) const {
    return expr->kind == Kind::App && expr->head->kind == Kind::Fun &&
           expr->args.size() == p_.functions[expr->head->fun].params.size();
  }

  // f .. e ..: what it becomes, if e is a call of a producer or ends in such.
  void FuseCall(Expr*& call) {
    int taken = FactsOf(call->head->fun).consumes;
    if (taken < 0) return;
    Expr* argument = call->args[static_cast<size_t>(taken)];
    if (IsCall(argument)) {
      FuseWith(call, static_cast<size_t>(taken));
      return;
    }
    uint32_t ends = 0;
    bool fuses = false;
    CountEnds(argument, call->head->fun, ends, fuses);
    if ((argument->kind != Kind::Case && argument->kind != Kind::Let) || !fuses || ends > kMaxEnds) return;
    // f goes to the ends; its other arguments are named, for they are mentioned at each.
    std::vector<Binding> named;
    for (size_t i = 0; i < call->args.size(); ++i) {
      if (i == static_cast<size_t>(taken) || IsAtom(p_, call->args[i])) continue;
      named.push_back({p_.NewVar(p_.vars[p_.functions[call->head->fun].params[i]].name, call->args[i]->type), call->args[i]});
      call->args[i] = p_.NewVarExpr(named.back().var, call->args[i]->pos);
    }
    Expr* result = PushCall(argument, call, static_cast<size_t>(taken));
    for (size_t i = named.size(); i-- > 0;) result = p_.NewLet(named[i].var, named[i].value, result, call->pos);
    call = result;
  }

  // How many ends it has, and whether one is a producer's call that `consumer` fuses with.
  void CountEnds(const Expr* expr, FunId consumer, uint32_t& ends, bool& fuses) {
    while (expr->kind == Kind::Let) expr = expr->head;
    if (expr->kind == Kind::Case) {
      for (const Alt& alt : expr->alts) CountEnds(alt.body, consumer, ends, fuses);
      return;
    }
    ++ends;
    if (IsCall(expr)) fuses = fuses || Fused(consumer, expr->head->fun).valid();
  }

  Expr* PushCall(Expr* expr, Expr* call, size_t taken) {
    if (expr->kind == Kind::Let || expr->kind == Kind::Case) {
      expr->type = call->type;
      if (expr->kind == Kind::Let) expr->head = PushCall(expr->head, call, taken);
      else
        for (Alt& alt : expr->alts) alt.body = PushCall(alt.body, call, taken);
      return expr;
    }
    if (expr->kind == Kind::Op && expr->op == ir::Op::Fail) {
      expr->type = call->type;
      return expr;
    }
    llvm::DenseMap<uint32_t, VarId> none;
    Expr* copy = p_.New(Kind::App, call->type, call->pos);
    copy->head = p_.NewFun(call->head->fun, call->head->type, call->head->pos);
    for (size_t i = 0; i < call->args.size(); ++i)
      copy->args.push_back(i == taken ? expr : p_.Clone(call->args[i], none));
    if (IsCall(expr)) FuseWith(copy, taken);
    else if (expr->kind == Kind::Con) return TakeAtOnce(copy, taken);
    return copy;
  }

  // f .. C .., where the alternative for C is short, or the call itself.
  Expr* TakeAtOnce(Expr* call, size_t taken) {
    const Function& function = p_.functions[call->head->fun];
    const Expr* con = call->args[taken];
    for (const Alt& alt : function.body->alts) {
      if (alt.kind == core::AltKind::Con && alt.con != con->con) continue;
      if (SizeOf(alt.body, kSmallEnd + 1) > kSmallEnd || Mentions(alt.body, call->head->fun)) break;
      llvm::SmallVector<Expr*, 4> others(call->args.begin(), call->args.end());
      others[taken] = nullptr;
      return AlternativeFor(call->head->fun, others, call->args[taken], call->pos);
    }
    return call;
  }

  // f's body with `con` for the parameter that it takes apart; `others` are atoms, and null for that one.
  Expr* AlternativeFor(FunId fun, llvm::ArrayRef<Expr*> others, Expr* con, ir::PosId site) {
    llvm::SmallVector<VarId, 4> params;
    Expr* body = p_.CloneBody(p_.functions[fun], params, site);
    body->head = con;
    for (size_t i = others.size(); i-- > 0;)
      if (others[i]) body = p_.NewLet(params[i], others[i], body, site);
    return body;
  }

  // f .. (g ys) ..: a call of the function that does both, if there is one.
  void FuseWith(Expr* call, size_t taken) {
    Expr* inner = call->args[taken];
    FunId fused = Fused(call->head->fun, inner->head->fun);
    if (!fused.valid()) return;
    call->head = p_.NewFun(fused, call->head->type, call->head->pos);
    call->args.erase(call->args.begin() + static_cast<std::ptrdiff_t>(taken));
    call->args.append(inner->args.begin(), inner->args.end());
  }

  const Facts& FactsOf(FunId fun) {
    if (facts_.size() <= fun.index) facts_.resize(p_.functions.size());
    Facts& facts = facts_[fun.index];
    if (facts.known) return facts;
    const Function& function = p_.functions[fun];
    if (!function.body || open_.contains(fun.index)) return facts;  // not yet
    facts.known = true;
    if (fun == p_.main || SizeOf(function.body, kMaxFunction + 1) > kMaxFunction || !Mentions(function.body, fun)) return facts;
    facts.produces = BuildsData(function.body);
    const Expr* body = function.body;
    if (body->kind != Kind::Case || body->head->kind != Kind::Var || body->var.valid()) return facts;
    if (llvm::none_of(body->alts, [](const Alt& alt) { return alt.kind == core::AltKind::Con; })) return facts;
    if (CountUses(body, body->head->var) != 1 || p_.IsTuple(body->head->type)) return facts;
    for (size_t i = 0; i < function.params.size(); ++i)
      if (function.params[i] == body->head->var) facts.consumes = static_cast<int>(i);
    return facts;
  }

  static bool BuildsData(const Expr* expr) {
    if (expr->kind == Kind::Let) return BuildsData(expr->head);
    if (expr->kind == Kind::Case) return llvm::any_of(expr->alts, [](const Alt& alt) { return BuildsData(alt.body); });
    return expr->kind == Kind::Con;
  }

  static uint32_t CountUses(const Expr* expr, VarId var) {
    if (expr->kind == Kind::Var) return expr->var == var;
    uint32_t uses = 0;
    ForEachChild(const_cast<Expr*>(expr), [&](Expr* child) { uses += CountUses(child, var); });
    return uses;
  }

  // The functions of the program that are in it.
  std::vector<uint32_t> PartsOf(FunId fun) const {
    auto it = parts_.find(fun.index);
    return it == parts_.end() ? std::vector<uint32_t>{fun.index} : it->second;
  }

  bool TooDeep(const std::vector<uint32_t>& parts) const {
    if (parts.size() > kMaxParts || made_ >= limit_) return true;
    return llvm::any_of(parts, [&](uint32_t part) { return llvm::count(parts, part) > static_cast<long>(kMaxSame); });
  }

  // The function for f .. (g ys) ..; invalid if there is none.
  FunId Fused(FunId f, FunId g) {
    auto it = fused_.find({f.index, g.index});
    if (it != fused_.end()) return it->second;
    FunId none;
    int consumes = FactsOf(f).consumes;
    if (consumes < 0 || !FactsOf(g).produces || f == g) return none;
    std::vector<uint32_t> parts = PartsOf(f), more = PartsOf(g);
    parts.insert(parts.end(), more.begin(), more.end());
    if (TooDeep(parts)) return none;
    ++made_;
    Function made = p_.functions[f];
    made.name = p_.UniqueName(made.name + "@" + p_.functions[g].source_name);
    made.body = nullptr;
    FunId id = p_.functions.Add(std::move(made));
    recursive_.resize(p_.functions.size(), true);
    parts_[id.index] = std::move(parts);
    fused_[{f.index, g.index}] = id;
    open_.insert(id.index);
    MakeBody(id, f, static_cast<size_t>(consumes), g);
    open_.erase(id.index);
    // No call of f met one of g, or it grew too long.
    bool good = Mentions(p_.functions[id].body, id) && SizeOf(p_.functions[id].body, kMaxFused + 1) <= kMaxFused;
    return good ? id : fused_[{f.index, g.index}] = none;
  }

  void MakeBody(FunId id, FunId f, size_t taken, FunId g) {
    llvm::SmallVector<VarId, 4> outer, params;
    for (VarId param : p_.functions[f].params) outer.push_back(p_.NewVar(p_.vars[param].name, p_.vars[param].type));
    for (size_t i = 0; i < outer.size(); ++i)
      if (i != taken) params.push_back(outer[i]);
    Expr* body = p_.CloneBody(p_.functions[g], params, p_.functions[f].body->pos);
    body = AtEnds(body, f, taken, outer);
    Function& function = p_.functions[id];
    function.params = params;
    function.body = body;
    Tidy(id);
    VisitFunction(id);
    Tidy(id);
  }

  // What is used once moves to its use, so that calls of f stand around what they are given.
  void Tidy(FunId id) {
    simplifier_.Run(id, recursive_);
    if (!options_.Does(Optimisation::FloatIn)) return;
    FloatIn(p_, id);
    simplifier_.Run(id, recursive_);
  }

  // g's body with f at its ends.
  Expr* AtEnds(Expr* expr, FunId f, size_t taken, llvm::ArrayRef<VarId> outer) {
    df::TypeId type = p_.functions[f].result;
    switch (expr->kind) {
      case Kind::Let:
        expr->head = AtEnds(expr->head, f, taken, outer);
        expr->type = type;
        return expr;
      case Kind::Case:
        for (Alt& alt : expr->alts) alt.body = AtEnds(alt.body, f, taken, outer);
        expr->type = type;
        return expr;
      default: break;
    }
    if (expr->kind == Kind::Op && expr->op == ir::Op::Fail) {
      expr->type = type;
      return expr;
    }
    llvm::SmallVector<Expr*, 4> args;
    for (size_t i = 0; i < outer.size(); ++i) args.push_back(i == taken ? nullptr : p_.NewVarExpr(outer[i], expr->pos));
    if (expr->kind == Kind::Con) return AlternativeFor(f, args, expr, {});
    args[taken] = expr;
    ir::PosId pos = p_.functions[f].body->pos;
    return p_.NewApp(p_.NewFun(f, type, pos), args, type, pos);
  }

  Program& p_;
  const LowerOptions& options_;
  Simplifier simplifier_;
  std::vector<bool> recursive_;
  std::vector<Facts> facts_;
  std::map<std::pair<uint32_t, uint32_t>, FunId> fused_;
  llvm::DenseMap<uint32_t, std::vector<uint32_t>> parts_;
  llvm::DenseSet<uint32_t> open_;  // being made
  size_t made_ = 0, limit_ = 0;
};

}  // namespace

void Fuse(Program& program, const LowerOptions& options) { Fusion(program, options).Run(); }

}  // namespace df::mono
