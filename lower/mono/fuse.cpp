// Fusion (deforestation: Wadler 1990; Turchin's driving): where a function that takes its argument apart is given what
// another function builds, a new function does the work of both and nothing is built. `sum (map f (upTo a b))` becomes a
// loop over a and b.
//
// A consumer `f .. p ..` is recursive and uses p once on each path through its body: it matches p, as the first thing or
// after cheap matches of others (`zipWith f xs p`), or hands p on, to itself in the same place or to another consumer
// (`sum (xs ++ p)`, where f is the fused `sum` and `++`). A producer `g ys` is recursive and some of its ends are
// constructors. For f .. (g ys) .. there is the function `f@g` of both functions' parameters: f's body with g's in place of
// the match, and at each end of that what f makes of it:
//   a constructor     f's match of this constructor, which is taken
//   a call of a producer  f of that, fused again: for g itself that is a call of `f@g`
//   any other value   f of that, or f's match of it: if f builds data, what it delays needs no further call then
// and with the call of g where p is handed on. Where the recursive calls of f meet those of g, `f (g ..)` within that body,
// the loop is closed. If none does there is nothing gained, and the call stays as it was.
//
// g's body stands where p was looked at, and nothing is computed earlier, more often, or in another order; only matches of
// variables and ops on them are repeated, where an end of g is no constructor. What f's alternative does not look at, the
// rest of a list for one, stays as lazy as it was. A place in g's part is shown as called from f's match.
#include "lang/budget.h"
#include "llvm/ADT/DenseSet.h"
#include "lower/mono/placed.h"
#include "lower/mono/simplify.h"

namespace df::mono {
namespace {

constexpr uint32_t kMaxFunction = 100;  // nodes of what is fused
constexpr uint32_t kMaxFused = 400;     // nodes of what comes out
constexpr size_t kMaxParts = 8;         // functions in a fused one
constexpr size_t kMaxSame = 2;          // of these the same
constexpr uint32_t kMaxEnds = 6;        // of an argument that is a branch
constexpr uint32_t kSmallEnd = 16;      // nodes of an alternative that is taken at once for a constructor among these
constexpr uint32_t kSmallMatch = 40;    // nodes of a match that is copied to an end that is no constructor

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
      for (FunId fun : group) {
        VisitFunction(fun);
        p_.DropMuchGarbage();
      }
    DropUnreachable(p_);
  }

 private:
  // What is known of a function as it was when it was first asked for.
  struct Facts {
    bool known = false;
    int first = -1;                          // the parameter that it takes apart before anything else
    llvm::SmallVector<size_t, 2> consumes;   // all that it consumes, `first` in front
    bool produces = false;
  };

  void VisitFunction(FunId fun) {
    Expr* body = p_.functions[fun].body;
    if (!body) return;
    Visit(body);  // adds functions, which moves the table
    p_.functions[fun].body = body;
  }

  void Visit(Expr*& expr) {
    CheckBudget();
    ForEachChild(expr, [&](Expr*& child) { Visit(child); });
    if (IsCall(expr)) FuseCall(expr);
  }

  bool IsCall(const Expr* expr) const {
    return expr->kind == Kind::App && expr->head->kind == Kind::Fun &&
           expr->args.size() == p_.functions[expr->head->fun].params.size();
  }

  // f .. e ..: what it becomes, if e is a call of a producer or ends in such.
  void FuseCall(Expr*& call) {
    while (FuseArgument(call)) {}
    if (int first = FactsOf(call->head->fun).first; first >= 0) FuseEnds(call, static_cast<size_t>(first));
  }

  // Fuses with the first argument that allows it.
  bool FuseArgument(Expr* call) {
    llvm::SmallVector<size_t, 2> consumes = FactsOf(call->head->fun).consumes;
    return llvm::any_of(consumes, [&](size_t taken) { return IsCall(call->args[taken]) && FuseWith(call, taken); });
  }

  // The same where the argument that is taken apart first has several ends: f goes to these.
  void FuseEnds(Expr*& call, size_t taken) {
    Expr* argument = call->args[taken];
    uint32_t ends = 0;
    bool fuses = false;
    if (argument->kind != Kind::Case && argument->kind != Kind::Let) return;
    CountEnds(argument, call->head->fun, taken, ends, fuses);
    if (!fuses || ends > kMaxEnds) return;
    // Its other arguments are named, for they are mentioned at each end.
    std::vector<Binding> named;
    for (size_t i = 0; i < call->args.size(); ++i) {
      if (i == taken || IsAtom(p_, call->args[i])) continue;
      named.push_back({p_.NewVar(p_.vars[p_.functions[call->head->fun].params[i]].name, call->args[i]->type), call->args[i]});
      call->args[i] = p_.NewVarExpr(named.back().var, call->args[i]->pos);
    }
    Expr* result = MapEnds(argument, call->type, [&](Expr* end) { return CallAtEnd(end, call, taken); });
    for (size_t i = named.size(); i-- > 0;) result = p_.NewLet(named[i].var, named[i].value, result, call->pos);
    call = result;
  }

  // How many ends it has, and whether one is a producer's call that `consumer` fuses with.
  void CountEnds(const Expr* expr, FunId consumer, size_t taken, uint32_t& ends, bool& fuses) {
    while (expr->kind == Kind::Let) expr = expr->head;
    if (expr->kind == Kind::Case) {
      for (const Alt& alt : expr->alts) CountEnds(alt.body, consumer, taken, ends, fuses);
      return;
    }
    ++ends;
    if (IsCall(expr)) fuses = fuses || Fused(consumer, taken, expr->head->fun).valid();
  }

  // The expression with something of this type at each of its ends; an end that fails does so at that type.
  static Expr* MapEnds(Expr* expr, df::TypeId type, llvm::function_ref<Expr*(Expr*)> at_end) {
    bool fails = expr->kind == Kind::Op && expr->op == ir::Op::Fail;
    if (expr->kind != Kind::Let && expr->kind != Kind::Case && !fails) return at_end(expr);
    expr->type = type;
    if (expr->kind == Kind::Let) expr->head = MapEnds(expr->head, type, at_end);
    for (Alt& alt : expr->alts) alt.body = MapEnds(alt.body, type, at_end);
    return expr;
  }

  // The call with this end of its argument for that.
  Expr* CallAtEnd(Expr* expr, Expr* call, size_t taken) {
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

  // f .. (g ys) ..: becomes a call of the function that does both, if there is one.
  bool FuseWith(Expr* call, size_t taken) {
    Expr* inner = call->args[taken];
    FunId fused = Fused(call->head->fun, taken, inner->head->fun);
    if (!fused.valid()) return false;
    call->pos = p_.places.WithGiven(call->pos, inner->pos);
    call->head = p_.NewFun(fused, call->head->type, call->pos);
    call->args.erase(call->args.begin() + static_cast<std::ptrdiff_t>(taken));
    call->args.append(inner->args.begin(), inner->args.end());
    return true;
  }

  Facts FactsOf(FunId fun) {
    if (facts_.size() <= fun.index) facts_.resize(p_.functions.size());
    if (facts_[fun.index].known) return facts_[fun.index];
    Facts facts;
    const Function& function = p_.functions[fun];
    if (!function.body || open_.contains(fun.index)) return facts;  // not yet
    facts_[fun.index].known = facts.known = true;  // who asks again while its calls are looked at gets nothing
    const Expr* body = function.body;
    if (fun == p_.main || IsPlaced(p_, function)) return facts;
    if (SizeOf(body, kMaxFunction + 1) > kMaxFunction || !Mentions(body, fun)) return facts;
    facts.produces = BuildsData(body);
    for (size_t i = 0; i < function.params.size(); ++i) {
      Look look = LookAt(fun, i);
      if (look.other || look.uses != 1 || (!look.match && !look.handed_on)) continue;
      if (look.match != body) {
        facts.consumes.push_back(i);
        continue;
      }
      facts.first = static_cast<int>(i);
      facts.consumes.insert(facts.consumes.begin(), i);
    }
    return facts_[fun.index] = facts;
  }

  // What a function does with a parameter.
  struct Look {
    uint32_t uses = 0;            // on the path that has most of them
    const Expr* match = nullptr;  // where it is taken apart (the last such place)
    bool handed_on = false;       // another consumer gets it
    bool other = false;           // anything else but that the function passes it to itself
  };

  Look LookAt(FunId fun, size_t param) {
    CheckBudget();
    Look look;
    const Function& function = p_.functions[fun];
    VarId var = function.params[param];
    if (p_.IsTuple(p_.vars[var].type)) look.other = true;
    else look.uses = Walk(function.body, var, fun, param, true, look);
    return look;
  }

  // The uses of `var`; `reached` says that what comes before `expr` is cheap to repeat.
  uint32_t Walk(const Expr* expr, VarId var, FunId fun, size_t param, bool reached, Look& look) {
    auto is_var = [&](const Expr* part) { return part->kind == Kind::Var && part->var == var; };
    uint32_t uses = 0;
    if (is_var(expr)) {
      look.other = true;
    } else if (expr->kind == Kind::Case) {
      if (is_var(expr->head)) {
        bool data = llvm::any_of(expr->alts, [](const Alt& alt) { return alt.kind == core::AltKind::Con; });
        if (!reached || expr->var.valid() || !data) look.other = true;
        look.match = expr;
        uses = 1;
      } else {
        uses = Walk(expr->head, var, fun, param, false, look);
      }
      uint32_t most = 0;
      for (const Alt& alt : expr->alts)
        most = std::max(most, Walk(alt.body, var, fun, param, reached && IsCheap(expr->head), look));
      uses += most;
    } else {
      for (size_t i = 0; i < expr->args.size(); ++i) {
        if (!is_var(expr->args[i]) || !IsCall(expr)) {
          uses += Walk(expr->args[i], var, fun, param, false, look);
          continue;
        }
        ++uses;
        if (expr->head->fun == fun && i == param) continue;
        if (expr->head->fun != fun && llvm::is_contained(FactsOf(expr->head->fun).consumes, i)) look.handed_on = true;
        else look.other = true;
      }
      for (const Binding& binding : expr->bindings) uses += Walk(binding.value, var, fun, param, false, look);
      if (expr->head) uses += Walk(expr->head, var, fun, param, false, look);
    }
    return uses;
  }

  // Whether evaluating it twice costs little.
  bool IsCheap(const Expr* expr) const {
    return expr->kind == Kind::Var ||
           (expr->kind == Kind::Op && !ir::IsStateOp(expr->op) && llvm::all_of(expr->args, [&](const Expr* arg) { return IsAtom(p_, arg); }));
  }

  static bool BuildsData(const Expr* expr) {
    if (expr->kind == Kind::Let) return BuildsData(expr->head);
    if (expr->kind == Kind::Case) return llvm::any_of(expr->alts, [](const Alt& alt) { return BuildsData(alt.body); });
    return expr->kind == Kind::Con;
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

  // The function for f .. (g ys) .., where g's call is argument `taken`; invalid if there is none.
  FunId Fused(FunId f, size_t taken, FunId g) {
    std::tuple<uint32_t, size_t, uint32_t> key{f.index, taken, g.index};
    if (auto it = fused_.find(key); it != fused_.end()) return it->second;
    FunId none;
    if (f == g || !FactsOf(g).produces || !llvm::is_contained(FactsOf(f).consumes, taken)) return none;
    std::vector<uint32_t> parts = PartsOf(f), more = PartsOf(g);
    parts.insert(parts.end(), more.begin(), more.end());
    if (TooDeep(parts)) return none;
    fused_[key] = none;  // for who asks while it is not clear
    if (!LookAt(f, taken).match && !FusesBelow(p_.functions[f].body, p_.functions[f].params[taken], f, g)) return none;
    ++made_;
    Function made = p_.functions[f];
    made.name = p_.UniqueName(made.name + "@" + p_.functions[g].source_name);
    made.body = nullptr;
    FunId id = p_.functions.Add(std::move(made));
    recursive_.resize(p_.functions.size(), true);
    parts_[id.index] = std::move(parts);
    fused_[key] = id;
    open_.insert(id.index);
    MakeBody(id, f, taken, g);
    open_.erase(id.index);
    // No call of f met one of g, or it grew too long.
    bool good = Mentions(p_.functions[id].body, id) && SizeOf(p_.functions[id].body, kMaxFused + 1) <= kMaxFused;
    return good ? id : fused_[key] = none;
  }

  // Whether `var` is handed on to a consumer that fuses with `g`.
  bool FusesBelow(Expr* expr, VarId var, FunId f, FunId g) {
    bool fuses = false;
    if (IsCall(expr) && expr->head->fun != f)
      for (size_t i = 0; i < expr->args.size(); ++i)
        if (expr->args[i]->kind == Kind::Var && expr->args[i]->var == var) fuses = Fused(expr->head->fun, i, g).valid();
    ForEachChild(expr, [&](Expr* child) { fuses = fuses || FusesBelow(child, var, f, g); });
    return fuses;
  }

  void MakeBody(FunId id, FunId f, size_t taken, FunId g) {
    llvm::SmallVector<VarId, 4> outer, inner;
    Expr* body = p_.CloneBody(p_.functions[f], outer, {});
    for (VarId param : p_.functions[g].params) inner.push_back(p_.NewVar(p_.vars[param].name, p_.vars[param].type));
    PutProducer(body, {f, g, taken, outer, inner});
    outer.erase(outer.begin() + static_cast<std::ptrdiff_t>(taken));
    outer.append(inner.begin(), inner.end());
    Function& function = p_.functions[id];
    function.params = outer;
    function.body = body;
    Tidy(id);
    VisitFunction(id);
    Tidy(id);
  }

  // What is made one: f with these parameters is given g's result for parameter `taken`.
  struct Pair {
    FunId f, g;
    size_t taken;
    llvm::ArrayRef<VarId> outer, inner;
  };

  // Puts g's body where f matches the parameter, and a call of g where f hands it on.
  void PutProducer(Expr*& expr, const Pair& pair) {
    VarId var = pair.outer[pair.taken];
    if (expr->kind == Kind::Case && expr->head->kind == Kind::Var && expr->head->var == var) {
      llvm::DenseMap<uint32_t, VarId> params;
      const Function& producer = p_.functions[pair.g];
      for (size_t i = 0; i < pair.inner.size(); ++i) params[producer.params[i].index] = pair.inner[i];
      Expr* match = expr;
      expr = MapEnds(p_.Clone(producer.body, params, {p_.places.Giver()}), match->type, [&](Expr* end) { return AtEnd(end, pair, match); });
    } else if (expr->kind == Kind::Var && expr->var == var) {
      expr = Call(pair.g, pair.inner, p_.places.Giver());
    } else {
      ForEachChild(expr, [&](Expr*& child) { PutProducer(child, pair); });
    }
  }

  Expr* Call(FunId fun, llvm::ArrayRef<VarId> params, ir::PosId pos) {
    llvm::SmallVector<Expr*, 4> args;
    for (VarId param : params) args.push_back(p_.NewVarExpr(param, pos));
    df::TypeId type = p_.functions[fun].result;
    return p_.NewApp(p_.NewFun(fun, type, pos), args, type, pos);
  }

  // What is used once moves to its use, so that calls of f stand around what they are given.
  void Tidy(FunId id) {
    simplifier_.Run(id, recursive_);
    if (!options_.Does(Optimisation::FloatIn)) return;
    FloatIn(p_, id);
    simplifier_.Run(id, recursive_);
  }

  // What f makes of an end of g's body: `match` of a constructor, a call of f on anything else.
  Expr* AtEnd(Expr* expr, const Pair& pair, const Expr* match) {
    bool producer = IsCall(expr) && FactsOf(expr->head->fun).produces;
    if (expr->kind == Kind::Con || (!producer && BuildsData(match) && SizeOf(match, kSmallMatch + 1) <= kSmallMatch)) {
      llvm::DenseMap<uint32_t, VarId> none;
      Expr* known = p_.Clone(match, none);
      known->head = expr;
      return known;
    }
    // In the source f is in the middle of that call already.
    Expr* call = Call(pair.f, pair.outer, p_.PosOf({}, "fused call"));
    call->args[pair.taken] = expr;
    return call;
  }

  Program& p_;
  const LowerOptions& options_;
  Simplifier simplifier_;
  std::vector<bool> recursive_;
  std::vector<Facts> facts_;
  std::map<std::tuple<uint32_t, size_t, uint32_t>, FunId> fused_;  // by consumer, parameter and producer
  llvm::DenseMap<uint32_t, std::vector<uint32_t>> parts_;
  llvm::DenseSet<uint32_t> open_;  // being made
  size_t made_ = 0, limit_ = 0;
};

}  // namespace

void Fuse(Program& program, const LowerOptions& options) { Fusion(program, options).Run(); }

}  // namespace df::mono
