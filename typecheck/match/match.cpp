// The traversal: compiles each Match by its decision tree, joins FatBars, closes what falls off the end.
//
// An expression that was compiled may still hold Falls, only in its tails; `falls_` counts them, and ReplaceFalls puts
// in what comes next. Pattern variables are renamed to what they stand for; nothing is bound for them.
#include "typecheck/match/match.h"

#include "lang/budget.h"
#include "llvm/ADT/DenseSet.h"
#include "typecheck/match/cover.h"
#include "typecheck/match/pattern.h"
#include "typecheck/match/tree.h"

namespace df {

using namespace core;

namespace {

constexpr size_t kCopyLimit = 10;         // nodes of an expression that may stand in several places
constexpr size_t kFallingRows = 256;      // rows with guards in one tree: they nest
constexpr size_t kCoverageWork = 20'000;  // beyond this (and 16 per pattern node) a match is not analysed

class MatchCompiler {
 public:
  MatchCompiler(Program& program, Diagnostics& diags, bool warnings)
      : program_(program), diags_(diags), warnings_(warnings) {}

  // Compiles; nothing falls out of the result.
  const Expr* Closed(const Expr* expr) { return Close(Compile(expr), "no guard is true", expr->span); }

 private:
  // ---- traversal

  // Falls may remain. `in_fat_bar`: what falls goes to the second part of a FatBar.
  const Expr* Compile(const Expr* expr, bool in_fat_bar = false) {
    CheckBudget();
    switch (expr->kind) {
      case ExprKind::Var: return CompileVar(*llvm::cast<VarExpr>(expr));
      case ExprKind::Con:
      case ExprKind::Literal:
      case ExprKind::Fail: return expr;
      case ExprKind::Fall: falls_[expr] = 1; return expr;
      case ExprKind::App: return CompileApp(expr);
      case ExprKind::Lambda: {
        LambdaExpr lambda = *llvm::cast<LambdaExpr>(expr);
        lambda.params = Rebind(lambda.params);
        lambda.body = Closed(lambda.body);
        return program_.New(lambda);
      }
      case ExprKind::Let: return CompileLet(*llvm::cast<LetExpr>(expr));
      case ExprKind::Case: return CompileCase(*llvm::cast<CaseExpr>(expr));
      case ExprKind::Match: return CompileMatch(*llvm::cast<MatchExpr>(expr), in_fat_bar);
      case ExprKind::FatBar: {
        const auto* bar = llvm::cast<FatBarExpr>(expr);
        const Expr* first = Compile(bar->first, true);
        return Falls(first) ? ReplaceFalls(first, Compile(bar->second, in_fat_bar)) : first;
      }
    }
    return expr;
  }

  // Applications in each other's last argument, as the cells of a list are, in a loop: a literal has hundreds of thousands.
  const Expr* CompileApp(const Expr* expr) {
    std::vector<const AppExpr*> spine;
    std::vector<const Expr*> parts;  // of each: the function and its arguments but for the last
    while (const auto* app = llvm::dyn_cast<AppExpr>(expr)) {
      CheckBudget();
      if (app->args.empty()) {  // what an error or a constructor without fields has left
        AppExpr alone = *app;
        alone.fn = Closed(app->fn);
        if (spine.empty()) return program_.New(alone);
        expr = program_.New(alone);
        break;
      }
      spine.push_back(app);
      parts.push_back(Closed(app->fn));
      for (const Expr* arg : app->args.drop_back()) parts.push_back(Closed(arg));
      expr = app->args.back();
    }
    const Expr* last = llvm::isa<AppExpr>(expr) ? expr : Closed(expr);
    for (; !spine.empty(); spine.pop_back()) {
      const AppExpr& old = *spine.back();
      const size_t first = parts.size() - old.args.size();
      auto args = llvm::ArrayRef(parts).drop_front(first + 1);
      if (parts[first] != old.fn || last != old.args.back() || args != old.args.drop_back()) {
        AppExpr app = old;
        app.fn = parts[first];
        llvm::SmallVector<const Expr*> all(args.begin(), args.end());
        all.push_back(last);
        app.args = program_.Copy<const Expr*>(all);
        last = program_.New(app);
      } else {
        last = &old;
      }
      parts.resize(first);
    }
    return last;
  }

  const Expr* CompileVar(const VarExpr& var) {
    CheckBudget();
    VarId now = Renamed(var.var);
    ++uses_[now.index];
    if (now == var.var) return &var;
    VarExpr copy = var;
    copy.var = now;
    return program_.New(copy);
  }

  const Expr* CompileLet(LetExpr let) {
    llvm::SmallVector<Binding> bindings(let.bindings.begin(), let.bindings.end());
    // A value's own binders are met before or after; only copies rename them, all at once.
    if (let.recursive)
      for (Binding& binding : bindings) binding.var = Rebind(binding.var);
    for (Binding& binding : bindings) binding.value = Closed(binding.value);
    if (!let.recursive)
      for (Binding& binding : bindings) binding.var = Rebind(binding.var);
    let.body = Compile(let.body);
    let.bindings = program_.Copy<Binding>(bindings);
    if (const Expr* scrutinised = LetToCase(let)) return scrutinised;
    return MakeLet(let);
  }

  // let x = e in case x of alts  ->  case e of x alts
  // Local functions may stand between the two; then:  case e of x { _ -> let next = .. in case x of alts }
  const Expr* LetToCase(const LetExpr& let) {
    VarId bound = let.bindings[0].var;
    if (let.recursive || let.bindings.size() != 1 || !program_.vars[bound].scheme.tyvars.empty()) return nullptr;
    const Expr* body = let.body;
    while (const auto* joins = llvm::dyn_cast<LetExpr>(body)) {
      if (!joins_.contains(joins->bindings[0].var.index)) return nullptr;
      body = joins->body;
    }
    const auto* inner = llvm::dyn_cast<CaseExpr>(body);
    const auto* var = inner ? llvm::dyn_cast<VarExpr>(inner->scrutinee) : nullptr;
    if (!var || var->var != bound || !var->type_args.empty()) return nullptr;
    if (inner == let.body && !inner->binder.valid()) {
      CaseExpr out = *inner;
      out.scrutinee = let.bindings[0].value;
      if (uses_[bound.index] > 1) out.binder = bound;
      return MakeCase(out);
    }
    Alt alt{AltKind::Default};
    alt.body = let.body;
    return MakeCase({ExprKind::Case, let.type, let.span, let.bindings[0].value, bound, program_.Copy<Alt>({alt})});
  }

  const Expr* CompileCase(CaseExpr node) {
    if (const Expr* always = AlwaysTaken(node)) return Compile(always);
    node.scrutinee = Closed(node.scrutinee);
    if (node.binder.valid()) node.binder = Rebind(node.binder);
    llvm::SmallVector<Alt> alts;
    for (Alt alt : node.alts) {
      alt.vars = Rebind(alt.vars);
      alt.body = Compile(alt.body);
      alts.push_back(alt);
    }
    node.alts = program_.Copy<Alt>(alts);
    return MakeCase(node);
  }

  // `otherwise` and True as guards.
  const Expr* AlwaysTaken(const CaseExpr& node) const {
    if (node.binder.valid()) return nullptr;
    bool is_true = false;
    if (const auto* con = llvm::dyn_cast<ConExpr>(node.scrutinee)) {
      is_true = con->con == program_.true_con;
    } else if (const auto* ref = llvm::dyn_cast<VarExpr>(node.scrutinee)) {
      static const Symbol otherwise = Intern("otherwise");
      const Var& var = program_.vars[ref->var];
      is_true = var.kind == VarKind::Top && var.from_library && var.name == otherwise;
    }
    if (!is_true) return nullptr;
    for (const Alt& alt : node.alts)
      if (alt.kind == AltKind::Default || (alt.kind == AltKind::Con && alt.con == program_.true_con)) return alt.body;
    return nullptr;
  }

  // ---- one match

  const Expr* CompileMatch(const MatchExpr& match, bool in_fat_bar) {
    llvm::SmallVector<VarId> scrutinees;
    for (VarId scrutinee : match.scrutinees) scrutinees.push_back(Renamed(scrutinee));
    size_t patterns = match.rows.size();
    for (const Row& row : match.rows)
      for (const Pat* pat : row.pats) {
        if (!CheckStrings(pat)) return Failure("a string pattern is too long", match.type, match.span);
        patterns += PatternSize(pat);
      }
    std::vector<bool> can_fall;
    for (const Row& row : match.rows) can_fall.push_back(CanFall(row.body));

    bool may_fall = in_fat_bar || match.context == MatchContext::Guard;
    // Rows that may fall are taken at most kFallingRows at a time, the last ones first.
    std::vector<size_t> ends;
    for (size_t row = 0, falling = 0; row < match.rows.size(); ++row)
      if (can_fall[row] && ++falling % kFallingRows == 0) ends.push_back(row + 1);
    if (ends.empty() || ends.back() != match.rows.size()) ends.push_back(match.rows.size());
    const Expr* out = nullptr;
    for (size_t part = ends.size(); part-- > 0;) {
      size_t begin = part == 0 ? 0 : ends[part - 1];
      const Expr* piece = CompileRows(match, scrutinees, begin, ends[part], can_fall, patterns, ends.size() == 1, may_fall);
      out = out ? ReplaceFalls(piece, out) : piece;
    }
    return may_fall ? out : Close(out, MatchFailure(match), match.span);
  }

  // Rows [begin, end). `whole`: these are all rows, and it is known what a match that fails does.
  const Expr* CompileRows(const MatchExpr& match, llvm::ArrayRef<VarId> scrutinees, size_t begin, size_t end,
                          const std::vector<bool>& can_fall, size_t patterns, bool whole, bool may_fall) {
    size_t limit = 4 * patterns + 64;
    size_t work = whole ? std::max(kCoverageWork, 16 * patterns) : 16 * limit;
    bool single = end - begin <= 1;  // never more than its pattern
    MatchTree tree(program_, scrutinees, match.rows, begin, end, can_fall, single ? SIZE_MAX : work);
    if (whole && warnings_ && tree.root())
      ReportCoverage(program_, match, scrutinees, tree.root(), can_fall, may_fall, diags_);
    auto split = [&](size_t middle) {
      const Expr* first = CompileRows(match, scrutinees, begin, middle, can_fall, patterns, false, true);
      if (!Falls(first)) return first;
      return ReplaceFalls(first, CompileRows(match, scrutinees, middle, end, can_fall, patterns, false, true));
    };
    if (!single && (!tree.root() || tree.size() > limit)) return split(begin + (end - begin) / 2);

    Emission emission(match);
    CountLeaves(tree.root(), emission.leaves);
    for (size_t row = begin; row < end; ++row) {
      if (emission.leaves[row] <= 1 || OpensTypes(match.rows[row]) || SizeUpTo(match.rows[row].body, kCopyLimit + 1) <= kCopyLimit) continue;
      // What a shared body falls to must be the same wherever it is called from.
      if (can_fall[row] && row + 1 < end) return split(row + 1);
    }
    llvm::SmallVector<Binding> shared;
    for (size_t row = begin; row < end; ++row)
      if (emission.leaves[row] > 1 && !OpensTypes(match.rows[row]) && SizeUpTo(match.rows[row].body, kCopyLimit + 1) > kCopyLimit)
        shared.push_back(ShareBody(match.rows[row], row, emission));
    const Expr* out = Emit(tree.root(), emission);
    for (Binding& binding : llvm::reverse(shared)) out = MakeLet({ExprKind::Let, out->type, match.span, false,
                                                                  program_.Copy<Binding>({binding}), out});
    return out;
  }

  // A body that has types of the patterns' own is no function outside of them: it is copied.
  static bool OpensTypes(const Row& row) { return llvm::any_of(row.pats, [](const Pat* pat) { return OpensTypes(pat); }); }
  static bool OpensTypes(const Pat* pat) {
    return pat->opens || llvm::any_of(pat->args, [](const Pat* arg) { return OpensTypes(arg); });
  }

  // The state of writing one tree as code.
  struct Emission {
    explicit Emission(const MatchExpr& m) : match(m) {}
    const MatchExpr& match;
    llvm::DenseMap<size_t, size_t> leaves;  // per row
    struct Shared {
      VarId function;
      llvm::SmallVector<VarId> vars;  // pattern variables that are its arguments; none: it takes ()
    };
    llvm::DenseMap<size_t, Shared> shared;
  };

  static void CountLeaves(const TreeNode* node, llvm::DenseMap<size_t, size_t>& leaves) {
    for (; node; node = node->rest) {
      if (node->kind == TreeNode::Kind::Leaf) ++leaves[node->row];
      for (const TreeAlt& alt : node->alts) CountLeaves(alt.next, leaves);
    }
  }

  // A row's body as a function of the pattern variables that it uses.
  Binding ShareBody(const Row& row, size_t index, Emission& emission) {
    llvm::SmallVector<VarId> vars, params;
    for (const Pat* pat : row.pats) BoundVars(pat, vars);
    for (VarId var : vars) {
      rename_.erase(var.index);
      Rebind(var);
    }
    const Expr* body = Compile(row.body);
    llvm::SmallVector<VarId> used;
    for (VarId var : vars) {
      if (!uses_[Renamed(var).index]) continue;
      used.push_back(var);
      params.push_back(Renamed(var));
    }
    VarId function = NewFunction("row", params, body->type, row.span);
    emission.shared[index] = {function, used};
    return {function, MakeJoin(function, params, body)};
  }

  const Expr* Emit(const TreeNode* node, Emission& emission) {
    const MatchExpr& match = emission.match;
    switch (node->kind) {
      case TreeNode::Kind::End: return MakeFall(match.type, match.span);
      case TreeNode::Kind::Leaf: {
        const Expr* body = EmitLeaf(*node, emission);
        // Chains of rows that fall are as long as kFallingRows allows.
        return node->rest && Falls(body) ? ReplaceFalls(body, Emit(node->rest, emission)) : body;
      }
      case TreeNode::Kind::Force: {
        Alt alt{AltKind::Default};
        alt.body = Emit(node->rest, emission);
        return MakeCase({ExprKind::Case, match.type, match.span, Use(node->occurrence, match.span), {},
                         program_.Copy<Alt>({alt})});
      }
      case TreeNode::Kind::Switch: {
        llvm::SmallVector<Alt> alts;
        for (const TreeAlt& branch : node->alts) {
          Alt alt{branch.literal ? AltKind::Literal : AltKind::Con};
          alt.con = branch.con;
          alt.vars = program_.Copy<VarId>(branch.vars);
          alt.opened = program_.Copy<List<TyVarId>>(branch.opened);
          if (branch.literal) {
            alt.literal = branch.literal->literal;
            alt.text = branch.literal->text;
          }
          alt.body = Emit(branch.next, emission);
          alts.push_back(alt);
        }
        if (node->rest) {
          Alt alt{AltKind::Default};
          alt.body = Emit(node->rest, emission);
          alts.push_back(alt);
        }
        return MakeCase({ExprKind::Case, match.type, match.span, Use(node->occurrence, match.span), {},
                         program_.Copy<Alt>(alts)});
      }
      case TreeNode::Kind::View: {
        const TreeAlt& alt = node->alts[0];
        VarId seen = alt.vars[0];
        for (auto [var, occurrence] : node->bindings) rename_[var.index] = occurrence;
        bool before = std::exchange(copying_, true);  // several paths may look
        const Expr* view = Closed(alt.literal->view);
        copying_ = before;
        const Expr* body = Emit(node->rest, emission);
        const Expr* value =
            program_.New(AppExpr{ExprKind::App, program_.vars[seen].scheme.type, match.span, view,
                                 program_.Copy<const Expr*>({Use(node->occurrence, match.span)})});
        return MakeLet({ExprKind::Let, match.type, match.span, false, program_.Copy<Binding>({{seen, value}}), body});
      }
      case TreeNode::Kind::Test: {
        const Expr* test = EmitTest(*node->alts[0].literal, node->occurrence);
        Alt yes{AltKind::Con, program_.true_con}, no{AltKind::Con, program_.false_con};
        yes.body = Emit(node->alts[0].next, emission);
        no.body = Emit(node->rest, emission);
        return MakeCase({ExprKind::Case, match.type, match.span, test, {}, program_.Copy<Alt>({no, yes})});
      }
    }
    return nullptr;
  }

  // `equals occurrence`; a function of one parameter is applied at once, in a copy of its own.
  const Expr* EmitTest(const Pat& literal, VarId occurrence) {
    const auto* lambda = llvm::dyn_cast<LambdaExpr>(literal.equals);
    bool before = copying_;
    copying_ = true;
    const Expr* test;
    if (lambda && lambda->params.size() == 1) {
      rename_[lambda->params[0].index] = occurrence;
      test = Closed(lambda->body);
    } else {
      const Expr* function = Closed(literal.equals);
      test = program_.New(AppExpr{ExprKind::App, program_.types.Scalar(Builtin::Bool), literal.span, function,
                                  program_.Copy<const Expr*>({Use(occurrence, literal.span)})});
    }
    copying_ = before;
    return test;
  }

  const Expr* EmitLeaf(const TreeNode& leaf, Emission& emission) {
    const Row& row = emission.match.rows[leaf.row];
    bool many = emission.leaves[leaf.row] > 1;
    auto it = emission.shared.find(leaf.row);
    for (auto [var, occurrence] : leaf.bindings) rename_[var.index] = occurrence;
    // The variables of a lazy pattern: each a variable that looks when it is asked.
    llvm::SmallVector<std::pair<VarId, std::pair<const Pat*, VarId>>> lazy;
    llvm::DenseMap<uint32_t, VarId> original;
    for (auto [pat, occurrence] : leaf.lazy_pats) {
      llvm::SmallVector<VarId> vars;
      BoundVars(pat, vars);
      for (VarId var : vars) {
        VarId bound = NewLocalLike(var);
        rename_[var.index] = bound;
        original[bound.index] = var;
        lazy.push_back({bound, {pat, occurrence}});
      }
    }
    const Expr* body;
    if (it == emission.shared.end()) {
      bool before = copying_;
      copying_ = copying_ || many;
      body = Compile(row.body);
      copying_ = before;
    } else {
      llvm::SmallVector<VarId> args;
      for (VarId var : it->second.vars) args.push_back(Renamed(var));
      body = CallJoin(it->second.function, args, emission.match.type, row.span);
    }
    for (auto& [bound, source] : llvm::reverse(lazy)) {
      if (!uses_[bound.index]) continue;
      body = BindLazily(bound, original[bound.index], source.first, source.second, body);
    }
    return body;
  }

  // let bound = case occurrence of { pat -> var } in body
  const Expr* BindLazily(VarId bound, VarId var, const Pat* pat, VarId occurrence, const Expr* body) {
    VarId inner = NewLocalLike(var);
    TypeId type = program_.vars[var].scheme.type;
    Row row{program_.Copy<const Pat*>({SelectVar(program_, pat, var, inner)}), RawUse(inner, pat->span), pat->span};
    MatchExpr select{ExprKind::Match, type, pat->span, MatchContext::PatternBinding, {},
                     program_.Copy<VarId>({occurrence}), program_.Copy<Row>({row})};
    bool before = warnings_;
    warnings_ = false;
    const Expr* value = CompileMatch(select, false);
    warnings_ = before;
    return MakeLet({ExprKind::Let, body->type, pat->span, false, program_.Copy<Binding>({{bound, value}}), body});
  }

  bool CheckStrings(const Pat* pat) {
    if (pat->kind == PatKind::Literal && pat->literal == LiteralKind::String &&
        Text(pat->text).size() > kMaxStringPattern) {
      diags_.Report(Diag::LongStringPattern, pat->span, Text(pat->text).size(), kMaxStringPattern);
      return false;
    }
    for (const Pat* arg : pat->args)
      if (!CheckStrings(arg)) return false;
    return true;
  }

  // ---- where things fall

  uint32_t Falls(const Expr* expr) const { return falls_.lookup(expr); }

  // Of an expression that is not yet compiled.
  bool CanFall(const Expr* expr) {
    switch (expr->kind) {
      case ExprKind::Fall: return true;
      case ExprKind::FatBar: {
        if (GuardsCover(*llvm::cast<FatBarExpr>(expr))) return false;
        const Expr* rest = expr;
        for (; const auto* bar = llvm::dyn_cast<FatBarExpr>(rest); rest = bar->second) {
          const auto* first = llvm::dyn_cast<MatchExpr>(bar->first);
          if (!(first ? MatchCanFall(*first) : CanFall(bar->first))) return false;
        }
        return CanFall(rest);
      }
      case ExprKind::Let: return CanFall(llvm::cast<LetExpr>(expr)->body);
      case ExprKind::Case: {
        const auto* node = llvm::cast<CaseExpr>(expr);
        if (const Expr* always = AlwaysTaken(*node)) return CanFall(always);
        return llvm::any_of(node->alts, [&](const Alt& alt) { return CanFall(alt.body); });
      }
      case ExprKind::Match: {
        const auto* match = llvm::cast<MatchExpr>(expr);
        return match->context == MatchContext::Guard && MatchCanFall(*match);
      }
      default: return false;
    }
  }

  // `| Just x <- v = .. | Nothing <- v = ..`: one of them holds.
  bool GuardsCover(const FatBarExpr& guards) {
    llvm::DenseMap<uint32_t, llvm::DenseSet<uint32_t>> found;  // by scrutinee, constructors whose fields may be anything
    for (const Expr* rest = &guards; rest;) {
      const auto* bar = llvm::dyn_cast<FatBarExpr>(rest);
      const auto* match = llvm::dyn_cast<MatchExpr>(bar ? bar->first : rest);
      rest = bar ? bar->second : nullptr;
      if (!match || match->context != MatchContext::Guard || match->scrutinees.size() != 1 || match->rows.size() != 1) continue;
      const Pat* pat = match->rows[0].pats[0];
      if (pat->kind != PatKind::Con || CanFall(match->rows[0].body) ||
          !llvm::all_of(pat->args, [&](const Pat* arg) { return IsIrrefutable(program_, arg); }))
        continue;
      auto& cons = found[match->scrutinees[0].index];
      cons.insert(pat->con.index);
      if (cons.size() == program_.types.cons[program_.constructors[pat->con].tycon].constructors.size()) return true;
    }
    return false;
  }

  bool MatchCanFall(const MatchExpr& match) {
    for (const Row& row : match.rows) {
      bool always = llvm::all_of(row.pats, [&](const Pat* pat) { return IsIrrefutable(program_, pat); });
      if (always && !CanFall(row.body)) return false;
    }
    return true;
  }

  // `next` wherever `expr` falls: itself if it is small or there is but one place, else as a local function.
  const Expr* ReplaceFalls(const Expr* expr, const Expr* next) {
    uint32_t count = Falls(expr);
    if (count == 0) return expr;
    if (count == 1 || SizeUpTo(next, kCopyLimit + 1) <= kCopyLimit) return PutForFalls(expr, next);
    VarId function = NewFunction("next", {}, next->type, next->span);
    const Expr* body = PutForFalls(expr, CallJoin(function, {}, next->type, next->span));
    Binding binding{function, MakeJoin(function, {}, next)};
    return MakeLet({ExprKind::Let, expr->type, expr->span, false, program_.Copy<Binding>({binding}), body});
  }

  const Expr* PutForFalls(const Expr* expr, const Expr* next) {
    if (!Falls(expr)) return expr;
    switch (expr->kind) {
      case ExprKind::Fall: return next;
      case ExprKind::Let: {
        LetExpr let = *llvm::cast<LetExpr>(expr);
        let.body = PutForFalls(let.body, next);
        llvm::SmallVector<Binding> bindings(let.bindings.begin(), let.bindings.end());
        for (Binding& binding : bindings) {
          if (!joins_.contains(binding.var.index)) continue;
          const auto* lambda = llvm::cast<LambdaExpr>(binding.value);
          binding.value = MakeJoin(binding.var, lambda->params, PutForFalls(lambda->body, next));
        }
        let.bindings = program_.Copy<Binding>(bindings);
        return MakeLet(let);
      }
      case ExprKind::Case: {
        CaseExpr node = *llvm::cast<CaseExpr>(expr);
        llvm::SmallVector<Alt> alts(node.alts.begin(), node.alts.end());
        for (Alt& alt : alts) alt.body = PutForFalls(alt.body, next);
        node.alts = program_.Copy<Alt>(alts);
        return MakeCase(node);
      }
      default: return expr;
    }
  }

  const Expr* Close(const Expr* expr, std::string_view message, Span span) {
    return Falls(expr) ? PutForFalls(expr, Failure(message, expr->type, span)) : expr;
  }

  // ---- nodes

  const Expr* MakeLet(const LetExpr& let) {
    uint32_t falls = Falls(let.body);
    for (const Binding& binding : let.bindings)
      if (joins_.contains(binding.var.index)) falls += Falls(llvm::cast<LambdaExpr>(binding.value)->body);
    return Counted(program_.New(let), falls);
  }

  const Expr* MakeCase(const CaseExpr& node) {
    uint32_t falls = 0;
    for (const Alt& alt : node.alts) falls += Falls(alt.body);
    return Counted(program_.New(node), falls);
  }

  const Expr* MakeFall(TypeId type, Span span) {
    return Counted(program_.New(FallExpr{ExprKind::Fall, type, span}), 1);
  }

  const Expr* Counted(const Expr* expr, uint32_t falls) {
    if (falls) falls_[expr] = falls;
    return expr;
  }

  const Expr* Failure(std::string_view message, TypeId type, Span span) {
    return program_.New(FailExpr{ExprKind::Fail, type, span, Intern(message)});
  }

  const Expr* RawUse(VarId var, Span span) {
    return program_.New(VarExpr{ExprKind::Var, program_.vars[var].scheme.type, span, var, {}});
  }

  const Expr* Use(VarId var, Span span) {
    ++uses_[var.index];
    return RawUse(var, span);
  }

  VarId NewLocalLike(VarId var) {
    TypeId type = program_.vars[var].scheme.type;
    Symbol name = program_.vars[var].name;
    Span span = program_.vars[var].span;
    return program_.NewLocal(name, type, span);
  }

  VarId NewFunction(std::string_view name, llvm::ArrayRef<VarId> params, TypeId result, Span span) {
    llvm::SmallVector<TypeId> types;
    for (VarId param : params) types.push_back(program_.vars[param].scheme.type);
    if (types.empty()) types.push_back(program_.types.Scalar(Builtin::Unit));
    return program_.NewLocal(Intern(name), program_.types.Fun(types, result), span);
  }

  // The function's lambda; what falls in its body falls where the function is called.
  const Expr* MakeJoin(VarId function, llvm::ArrayRef<VarId> params, const Expr* body) {
    joins_.insert(function.index);
    llvm::SmallVector<VarId> all(params.begin(), params.end());
    if (all.empty())
      all.push_back(program_.NewLocal(Intern("_"), program_.types.Scalar(Builtin::Unit), body->span));
    return program_.New(LambdaExpr{ExprKind::Lambda, program_.vars[function].scheme.type, body->span,
                                   program_.Copy<VarId>(all), body});
  }

  const Expr* CallJoin(VarId function, llvm::ArrayRef<VarId> args, TypeId type, Span span) {
    llvm::SmallVector<const Expr*> all;
    for (VarId arg : args) all.push_back(Use(arg, span));
    if (all.empty())
      all.push_back(program_.New(
          ConExpr{ExprKind::Con, program_.types.Scalar(Builtin::Unit), span, program_.unit_con, {}}));
    return program_.New(AppExpr{ExprKind::App, type, span, Use(function, span), program_.Copy<const Expr*>(all)});
  }

  // ---- names

  VarId Renamed(VarId var) const {
    auto it = rename_.find(var.index);
    return it == rename_.end() ? var : it->second;
  }

  // In a copy every binder is a new variable, so that no variable is bound twice.
  VarId Rebind(VarId var) {
    if (!copying_) return var;
    core::Var copy = program_.vars[var];
    VarId fresh = program_.vars.Add(std::move(copy));
    rename_[var.index] = fresh;
    return fresh;
  }

  List<VarId> Rebind(List<VarId> vars) {
    if (!copying_) return vars;
    llvm::SmallVector<VarId> fresh;
    for (VarId var : vars) fresh.push_back(Rebind(var));
    return program_.Copy<VarId>(fresh);
  }

  Program& program_;
  Diagnostics& diags_;
  bool warnings_;
  bool copying_ = false;
  llvm::DenseMap<uint32_t, VarId> rename_;        // pattern variables, binders of copies
  llvm::DenseMap<uint32_t, uint32_t> uses_;       // in what was compiled so far
  llvm::DenseMap<const Expr*, uint32_t> falls_;   // of compiled expressions that may fall
  llvm::DenseSet<uint32_t> joins_;                // functions whose body is a tail of the Let that binds them
};

}  // namespace

const Expr* CompileMatches(Program& program, const Expr* expr, Diagnostics& diags, bool warnings) {
  return MatchCompiler(program, diags, warnings).Closed(expr);
}

}  // namespace df
