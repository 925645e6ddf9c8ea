// Verify: scoping and types of a whole program, polymorphic or specialised.
#include <fmt/format.h>

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Compiler.h"
#include "typecheck/core/roles.h"

namespace df::core {
namespace {

class Verifier {
 public:
  Verifier(const Program& program, bool simple)
      : program_(program), types_(const_cast<Types&>(program.types)), simple_(simple) {}

  std::string Run() {
    for (const Definition& definition : program_.definitions) {
      definition_ = definition.var;
      const Var& var = program_.vars[definition.var];
      if (!definition.value) return "`" + std::string(Text(var.name)) + "` has no value";
      EnterTypes(var.scheme.tyvars);
      AssumeContext(var.scheme.preds, {}, {});
      Expect(definition.value, var.scheme.type, "the definition");
      Check(definition.value);
      Forget({0, 0, 0});
      LeaveTypes(var.scheme.tyvars);
      if (!fault_.empty()) return fault_;
    }
    return "";
  }

 private:
  // ---- faults: the first one counts

  LLVM_ATTRIBUTE_NOINLINE void Fault(const Expr* at, std::string_view what) {
    if (!fault_.empty()) return;
    fault_ = fmt::format("core of `{}`, bytes {}..{}: {}", Text(program_.vars[definition_].name), at->span.begin,
                         at->span.end, what);
  }
  LLVM_ATTRIBUTE_NOINLINE void Expect(const Expr* expr, TypeId type, std::string_view what) {
    if (!IsSame(expr->type, type))
      Fault(expr, fmt::format("{} has type `{}` and should have `{}`", what, types_.Print(expr->type),
                              types_.Print(type)));
  }
  LLVM_ATTRIBUTE_NOINLINE void ExpectVar(const Expr* at, VarId var, TypeId type, std::string_view what) {
    const Scheme& scheme = program_.vars[var].scheme;
    if (!scheme.tyvars.empty() || !IsSame(scheme.type, type))
      Fault(at, fmt::format("{} `{}` has type `{}` and should have `{}`", what, Text(program_.vars[var].name),
                            types_.Print(scheme.type), types_.Print(type)));
  }

  // ---- what matches have told of type variables

  // The type with what is known of its variables put in.
  TypeId Known(TypeId type) {
    constexpr int kMostSteps = 1000;
    if (types_.HasFamily(type)) type = types_.Renewed(type);
    for (int step = 0; step < kMostSteps && Tells() && types_.HasVar(type); ++step) {
      llvm::SmallVector<TyVarId> vars;
      llvm::SmallVector<TypeId> values;
      for (const auto& [var, value] : known_) vars.push_back(var), values.push_back(value);
      TypeId next = Computed(types_.Substitute(type, vars, values));
      if (next == type) break;
      type = next;
    }
    return type;
  }
  bool Tells() const { return !known_.empty() || !known_families_.empty(); }
  // The type with what is known of families put in.
  TypeId Computed(TypeId type) {
    if (known_families_.empty() || !types_.HasFamily(type) || types_.Kind(type) != TypeKind::App) return type;
    const TypeId fn = Computed(types_.FnOf(type));
    const TypeId made = types_.App(fn, Computed(types_.ArgOf(type)));
    if (!types_.IsFamily(made)) return made;
    for (const auto& [family, is] : known_families_)
      if (family == made || SameArguments(family, made)) return is;
    return made;
  }
  bool SameArguments(TypeId a, TypeId b) {
    llvm::SmallVector<TypeId> mine, theirs, vars;
    if (types_.Head(a, &mine) != types_.Head(b, &theirs)) return false;
    return llvm::all_of(llvm::zip(mine, theirs), [&](const auto& pair) { return Put(std::get<0>(pair)) == Put(std::get<1>(pair)); });
  }
  // What is known of variables alone.
  TypeId Put(TypeId type) {
    constexpr int kMostSteps = 100;
    for (int step = 0; step < kMostSteps && !known_.empty(); ++step) {
      llvm::SmallVector<TyVarId> vars;
      llvm::SmallVector<TypeId> values;
      for (const auto& [var, value] : known_) vars.push_back(var), values.push_back(value);
      const TypeId next = types_.Substitute(type, vars, values);
      if (next == type) break;
      type = next;
    }
    return type;
  }
  bool IsSame(TypeId a, TypeId b) { return a == b || ((Tells() || types_.HasFamily(a) || types_.HasFamily(b)) && Known(a) == Known(b)); }
  // What the context of a definition or a constructor says of types.
  void AssumeContext(llvm::ArrayRef<Pred> preds, llvm::ArrayRef<TyVarId> vars, llvm::ArrayRef<TypeId> args, int depth = 0) {
    constexpr int kMostDepth = 50;
    for (const Pred& pred : preds) {
      const auto sides = ClassArguments(program_, pred.cls, types_.Substitute(pred.type, vars, args));
      if (pred.cls == program_.equality) Assume(sides[0], sides[1]);
      else if (IsCoercible(pred.cls)) coercible_.push_back({sides[0], sides[1]});
      else if (depth < kMostDepth) {
        const Class& cls = program_.classes[pred.cls];
        AssumeContext(cls.contexts, cls.params, sides, depth + 1);
        for (ClassId super : cls.superclasses) {
          const Class& row = program_.classes[super];
          AssumeContext(row.contexts, row.params, sides, depth + 1);
        }
      }
    }
  }
  struct Assumed {
    size_t variables, families, coercible;
  };
  Assumed Mark() const { return {known_.size(), known_families_.size(), coercible_.size()}; }
  void Forget(Assumed mark) { known_.resize(mark.variables), known_families_.resize(mark.families), coercible_.resize(mark.coercible); }
  bool IsCoercible(ClassId cls) const {
    const Class& row = program_.classes[cls];
    return row.args.valid() && row.methods.empty() && Text(row.name) == "Coercible";
  }
  // As the rules have it, whatever is in scope.
  struct VerifiedCoercion : Coercion {
    explicit VerifiedCoercion(Verifier& verifier) : Coercion(const_cast<Program&>(verifier.program_)), verifier(verifier) {}
    TypeId Known(TypeId type) override { return verifier.Known(type); }
    bool MayOpen(ConId) override { return true; }
    Coerced Equal(TypeId a, TypeId b) override { return verifier.IsSame(a, b) ? Coerced::Yes : Coerced::No; }
    Coerced Given(TypeId a, TypeId b) override {
      const bool given = llvm::any_of(verifier.coercible_, [&](const auto& pair) {
        return (verifier.IsSame(pair.first, a) && verifier.IsSame(pair.second, b)) || (verifier.IsSame(pair.first, b) && verifier.IsSame(pair.second, a));
      });
      return given ? Coerced::Yes : Coerced::No;
    }
    Verifier& verifier;
  };
  // That the equalities and coercions hold which a use of something with this context needs.
  void CheckContext(const Expr* at, llvm::ArrayRef<Pred> preds, llvm::ArrayRef<TyVarId> vars, llvm::ArrayRef<TypeId> args, std::string_view what) {
    for (const Pred& pred : preds) {
      const bool coercible = IsCoercible(pred.cls);
      if (pred.cls != program_.equality && !coercible) continue;
      const auto sides = ClassArguments(program_, pred.cls, types_.Substitute(pred.type, vars, args));
      if (coercible) {
        if (VerifiedCoercion(*this).Compare(sides[0], sides[1]) != Coerced::Yes)
          Fault(at, fmt::format("{} of `{}` to `{}`", what, types_.Print(sides[0]), types_.Print(sides[1])));
        continue;
      }
      if (!IsSame(sides[0], sides[1])) Fault(at, fmt::format("{} needs `{}` to be `{}`", what, types_.Print(sides[0]), types_.Print(sides[1])));
    }
  }
  // From here on the two are one type. False if they cannot be.
  bool Assume(TypeId a, TypeId b) {
    a = Known(a), b = Known(b);
    if (a == b) return true;
    if (types_.IsFamily(a) || types_.IsFamily(b)) {
      if (types_.IsFamily(a)) known_families_.push_back({a, b});
      else known_families_.push_back({b, a});
      return true;
    }
    if (types_.Kind(b) == TypeKind::Var) return known_.push_back({types_.VarOf(b), a}), true;
    if (types_.Kind(a) == TypeKind::Var) return known_.push_back({types_.VarOf(a), b}), true;
    if (types_.Kind(a) != TypeKind::App || types_.Kind(b) != TypeKind::App) return false;
    return Assume(types_.FnOf(a), types_.FnOf(b)) && Assume(types_.ArgOf(a), types_.ArgOf(b));
  }
  // A value of the type was seen to have the constructor; `opened` are names for what that hides. The types of its fields go to
  // `fields`. False if there is no such value.
  bool Open(const DataCon& con, TypeId type, llvm::ArrayRef<List<TyVarId>> opened, llvm::SmallVectorImpl<TypeId>& fields) {
    llvm::SmallVector<TypeId> args;
    types_.Head(Known(type), &args);
    bool possible = true;
    for (const List<TyVarId>& names : opened)
      for (size_t i = 0; i < names.size(); ++i) {
        type_scope_.insert(names[i].index);
        closed_types_.clear();
        if (&names == &opened[0]) args.push_back(types_.Var(names[i]));
        else known_.push_back({names[i], types_.Var(opened[0][i])});
      }
    const std::vector<TyVarId>& params = types_.cons[con.tycon].params;
    if (args.size() < params.size() + con.exists.size()) return false;
    for (const auto& [param, value] : con.equations) {
      const size_t at = static_cast<size_t>(std::find(params.begin(), params.end(), param) - params.begin());
      possible = possible && Assume(args[at], types_.Substitute(value, AllVars(con), args));
    }
    AssumeContext(con.context, AllVars(con), args);
    fields = FieldTypes(con, args);
    return possible;
  }
  std::vector<TyVarId> AllVars(const DataCon& con) const {
    std::vector<TyVarId> vars = types_.cons[con.tycon].params;
    vars.insert(vars.end(), con.exists.begin(), con.exists.end());
    return vars;
  }

  // ---- scopes

  LLVM_ATTRIBUTE_NOINLINE void Bind(const Expr* at, VarId var) {
    if (!program_.vars.Contains(var)) return Fault(at, "a binder that is no variable");
    if (program_.vars[var].kind != VarKind::Local) Fault(at, "a binder that is not local");
    if (!scope_.insert(var.index).second)
      Fault(at, fmt::format("`{}` is bound inside its own scope", Text(program_.vars[var].name)));
  }
  void Unbind(VarId var) { scope_.erase(var.index); }
  void EnterTypes(const std::vector<TyVarId>& vars) {
    for (TyVarId var : vars) type_scope_.insert(var.index);
    if (!vars.empty()) closed_types_.clear();
  }
  void LeaveTypes(const std::vector<TyVarId>& vars) {
    for (TyVarId var : vars) type_scope_.erase(var.index);
    if (!vars.empty()) closed_types_.clear();
  }
  LLVM_ATTRIBUTE_NOINLINE void CheckType(const Expr* at, TypeId type) {
    if (type.index >= types_.size()) return Fault(at, "a node without a type");
    if (types_.IsGround(type) || !closed_types_.insert(type.index).second) return;
    llvm::SmallVector<TyVarId> vars;
    types_.FreeVars(type, vars);
    for (TyVarId var : vars)
      if (!type_scope_.contains(var.index))
        Fault(at, fmt::format("the type variable `{}` of `{}` is not in scope", Text(types_.vars[var].name),
                              types_.Print(type)));
    if (HasMeta(type)) Fault(at, fmt::format("`{}` holds a unification variable", types_.Print(type)));
  }
  bool HasMeta(TypeId type) const {
    if (types_.Kind(type) == TypeKind::App) return HasMeta(types_.FnOf(type)) || HasMeta(types_.ArgOf(type));
    if (types_.Kind(type) == TypeKind::Forall) return HasMeta(types_.RawBody(type));
    return types_.Kind(type) == TypeKind::Meta || (types_.Kind(type) == TypeKind::Dim && types_.HasMeta(type));
  }

  // ---- nodes

  // It calls itself as deep as the program nests: what it calls for each kind stays out of its frame, the words of faults most of all.
  void Check(const Expr* expr) {
    if (!fault_.empty()) return;
    CheckType(expr, expr->type);
    switch (expr->kind) {
      case ExprKind::Var: return CheckVar(llvm::cast<VarExpr>(expr));
      case ExprKind::Con: return CheckCon(llvm::cast<ConExpr>(expr));
      case ExprKind::Literal: return CheckLiteral(llvm::cast<LiteralExpr>(expr));
      case ExprKind::App: return CheckApp(llvm::cast<AppExpr>(expr));
      case ExprKind::Lambda: return CheckLambda(llvm::cast<LambdaExpr>(expr));
      case ExprKind::Let: return CheckLet(llvm::cast<LetExpr>(expr));
      case ExprKind::Case: return CheckCase(llvm::cast<CaseExpr>(expr));
      case ExprKind::Fail: return;
      case ExprKind::Match:
        if (simple_) return Fault(expr, "a Match is left");
        return CheckMatch(llvm::cast<MatchExpr>(expr));
      case ExprKind::FatBar: {
        if (simple_) return Fault(expr, "a FatBar is left");
        const auto* bar = llvm::cast<FatBarExpr>(expr);
        for (const Expr* part : {bar->first, bar->second}) {
          Expect(part, expr->type, "a part of a FatBar");
          Check(part);
        }
        return;
      }
      case ExprKind::Fall:
        if (simple_) Fault(expr, "a Fall is left");
        return;
    }
  }

  LLVM_ATTRIBUTE_NOINLINE void CheckVar(const VarExpr* expr) {
    if (!program_.vars.Contains(expr->var)) return Fault(expr, "a variable that does not exist");
    const Var& var = program_.vars[expr->var];
    if (var.kind == VarKind::Local && !scope_.contains(expr->var.index))
      return Fault(expr, fmt::format("`{}` is not in scope", Text(var.name)));
    if (var.kind == VarKind::Top && !program_.DefinitionOf(expr->var))
      return Fault(expr, fmt::format("`{}` has no definition", Text(var.name)));
    if (!var.scheme.tyvars.empty() && expr->type_args.empty())
      return Expect(expr, PolyType(const_cast<Program&>(program_), var.scheme), Text(var.name));
    if (var.scheme.tyvars.empty() && !expr->type_args.empty()) {
      const TypeId poly = Known(var.scheme.type);
      if (types_.Kind(poly) != TypeKind::Forall || types_.BindersOf(poly) != expr->type_args.size())
        return Fault(expr, fmt::format("`{}` of the type `{}` is given {} types", Text(var.name), types_.Print(poly), expr->type_args.size()));
      for (TypeId arg : expr->type_args) CheckType(expr, arg);
      return Expect(expr, TakeContext(types_, types_.Instantiate(poly, expr->type_args), nullptr), Text(var.name));
    }
    if (var.scheme.tyvars.size() != expr->type_args.size())
      return Fault(expr, fmt::format("`{}` takes {} types and is given {}", Text(var.name), var.scheme.tyvars.size(),
                                     expr->type_args.size()));
    for (TypeId arg : expr->type_args) CheckType(expr, arg);
    CheckContext(expr, var.scheme.preds, var.scheme.tyvars, expr->type_args, Text(var.name));
    Expect(expr, types_.Substitute(var.scheme.type, var.scheme.tyvars, expr->type_args), Text(var.name));
  }

  // The types of a constructor's fields where its type's parameters, and what it hides, are `args`.
  llvm::SmallVector<TypeId> FieldTypes(const DataCon& con, llvm::ArrayRef<TypeId> args) {
    llvm::SmallVector<TypeId> out;
    const std::vector<TyVarId> vars = AllVars(con);
    for (const Field& field : con.fields) out.push_back(types_.Substitute(field.type, vars, args));
    return out;
  }

  LLVM_ATTRIBUTE_NOINLINE void CheckCon(const ConExpr* expr) {
    if (!program_.constructors.Contains(expr->con)) return Fault(expr, "a constructor that does not exist");
    const DataCon& con = program_.constructors[expr->con];
    const size_t params = types_.cons[con.tycon].params.size();
    if (params + con.exists.size() != expr->type_args.size())
      return Fault(expr, fmt::format("the constructor `{}` has the wrong number of types", Text(con.name)));
    for (const auto& [param, value] : con.equations) {
      const std::vector<TyVarId> vars = AllVars(con);
      if (!IsSame(types_.Substitute(types_.Var(param), vars, expr->type_args), types_.Substitute(value, vars, expr->type_args)))
        return Fault(expr, fmt::format("the constructor `{}` at types that it does not make", Text(con.name)));
    }
    CheckContext(expr, con.context, AllVars(con), expr->type_args, Text(con.name));
    TypeId type = types_.Fun(FieldTypes(con, expr->type_args), types_.Con(con.tycon, expr->type_args.take_front(params)));
    Expect(expr, type, Text(con.name));
  }

  LLVM_ATTRIBUTE_NOINLINE void CheckLiteral(const LiteralExpr* expr) {
    if (expr->literal == LiteralKind::Char) Expect(expr, types_.Scalar(Builtin::Char), "a character");
    if (expr->literal == LiteralKind::String)
      Expect(expr, types_.List(types_.Scalar(Builtin::Char)), "a string");
  }

  LLVM_ATTRIBUTE_NOINLINE void CheckApp(const AppExpr* expr) {
    if (expr->args.empty()) return Fault(expr, "an application without arguments");
    Check(expr->fn);
    TypeId type = expr->fn->type;
    for (const Expr* arg : expr->args) {
      TypeId from, to;
      if (!types_.IsFun(type, &from, &to) && !types_.IsFun(Known(type), &from, &to))
        return Fault(expr, fmt::format("what is applied has type `{}`", types_.Print(expr->fn->type)));
      Expect(arg, from, "an argument");
      Check(arg);
      type = to;
    }
    Expect(expr, type, "an application");
  }

  LLVM_ATTRIBUTE_NOINLINE void CheckLambda(const LambdaExpr* expr) {
    if (expr->params.empty()) return Fault(expr, "a lambda without parameters");
    llvm::SmallVector<TypeId> params;
    for (VarId param : expr->params) {
      Bind(expr, param);
      if (!fault_.empty()) return;
      params.push_back(program_.vars[param].scheme.type);
    }
    Expect(expr, types_.Fun(params, expr->body->type), "a lambda");
    Check(expr->body);
    for (VarId param : expr->params) Unbind(param);
  }

  LLVM_ATTRIBUTE_NOINLINE void CheckLet(const LetExpr* expr) {
    if (expr->bindings.empty()) return Fault(expr, "a let without bindings");
    if (expr->recursive)
      for (const Binding& binding : expr->bindings) Bind(expr, binding.var);
    for (const Binding& binding : expr->bindings) {
      if (!fault_.empty()) return;
      const Scheme& scheme = program_.vars[binding.var].scheme;
      EnterTypes(scheme.tyvars);
      const Assumed known = Mark();
      AssumeContext(scheme.preds, {}, {});
      Expect(binding.value, scheme.type, Text(program_.vars[binding.var].name));
      Check(binding.value);
      Forget(known);
      LeaveTypes(scheme.tyvars);
    }
    if (!expr->recursive)
      for (const Binding& binding : expr->bindings) Bind(expr, binding.var);
    Expect(expr->body, expr->type, "the body of a let");
    Check(expr->body);
    for (const Binding& binding : expr->bindings) Unbind(binding.var);
  }

  LLVM_ATTRIBUTE_NOINLINE void CheckCase(const CaseExpr* expr) {
    Check(expr->scrutinee);
    TypeId type = expr->scrutinee->type;
    if (expr->binder.valid()) {
      Bind(expr, expr->binder);
      if (!fault_.empty()) return;
      ExpectVar(expr, expr->binder, type, "the binder of a case");
    }
    if (expr->alts.empty()) return Fault(expr, "a case without alternatives");
    llvm::DenseSet<uint32_t> seen;
    bool has_default = false, has_literals = false;
    for (const Alt& alt : expr->alts) {
      if (has_default) return Fault(expr, "an alternative after the default");
      if (alt.kind == AltKind::Default) has_default = true;
      if (alt.kind == AltKind::Literal) has_literals = true;
      const Assumed known = Mark();
      bool possible = true;
      if (alt.kind == AltKind::Con && !CheckConAlt(expr, alt, type, seen, possible)) return;
      if (possible) {
        Expect(alt.body, expr->type, "an alternative");
        Check(alt.body);
      }
      Forget(known);
      for (VarId var : alt.vars) Unbind(var);
    }
    if (!has_default && has_literals) Fault(expr, "literals without a default");
    if (!has_default && !has_literals)
      for (ConId con : types_.cons[types_.Head(Known(type))].constructors)
        if (!seen.contains(con.index) && MayBuild(program_, con, Known(type))) Fault(expr, "a constructor without an alternative");
    if (expr->binder.valid()) Unbind(expr->binder);
  }

  LLVM_ATTRIBUTE_NOINLINE bool CheckConAlt(const CaseExpr* expr, const Alt& alt, TypeId type, llvm::DenseSet<uint32_t>& seen, bool& possible) {
    if (!program_.constructors.Contains(alt.con)) return Fault(expr, "a constructor that does not exist"), false;
    const DataCon& con = program_.constructors[alt.con];
    llvm::SmallVector<TypeId> args, fields;
    if (types_.Head(Known(type), &args) != con.tycon || args.size() != types_.cons[con.tycon].params.size())
      return Fault(expr, fmt::format("an alternative `{}` of a scrutinee of type `{}`", Text(con.name),
                                     types_.Print(type))), false;
    if (!seen.insert(alt.con.index).second)
      return Fault(expr, fmt::format("two alternatives `{}`", Text(con.name))), false;
    possible = Open(con, type, alt.opened, fields);
    if (fields.size() != alt.vars.size())
      return Fault(expr, fmt::format("an alternative `{}` with {} fields", Text(con.name), alt.vars.size())), false;
    for (size_t i = 0; i < fields.size(); ++i) {
      Bind(expr, alt.vars[i]);
      if (fault_.empty()) ExpectVar(expr, alt.vars[i], fields[i], "the field");
    }
    return fault_.empty();
  }

  LLVM_ATTRIBUTE_NOINLINE void CheckMatch(const MatchExpr* expr) {
    for (VarId scrutinee : expr->scrutinees)
      if (!program_.vars.Contains(scrutinee) ||
          (program_.vars[scrutinee].kind == VarKind::Local && !scope_.contains(scrutinee.index)))
        return Fault(expr, "a scrutinee that is not in scope");
    for (const Row& row : expr->rows) {
      if (row.pats.size() != expr->scrutinees.size()) return Fault(expr, "a row of the wrong length");
      llvm::SmallVector<VarId> bound;
      const Assumed known = Mark();
      possible_ = true;
      for (size_t i = 0; i < row.pats.size(); ++i)
        CheckPat(expr, row.pats[i], program_.vars[expr->scrutinees[i]].scheme.type, bound);
      if (!fault_.empty()) return;
      if (possible_) {
        Expect(row.body, expr->type, "a row");
        Check(row.body);
      }
      Forget(known);
      for (VarId var : bound) Unbind(var);
    }
  }

  void CheckPat(const Expr* at, const Pat* pat, TypeId type, llvm::SmallVectorImpl<VarId>& bound) {
    if (!fault_.empty()) return;
    if (!IsSame(pat->type, type))
      return Fault(at, fmt::format("a pattern of type `{}` where `{}` is matched", types_.Print(pat->type),
                                   types_.Print(type)));
    if (pat->kind == PatKind::Var || pat->kind == PatKind::As) {
      Bind(at, pat->var);
      if (!fault_.empty()) return;
      ExpectVar(at, pat->var, type, "the pattern variable");
      bound.push_back(pat->var);
    }
    if (pat->kind == PatKind::Con) {
      const DataCon& con = program_.constructors[pat->con];
      llvm::SmallVector<TypeId> fields;
      if (types_.Head(Known(type)) != con.tycon || con.fields.size() != pat->args.size())
        return Fault(at, fmt::format("a pattern `{}` that does not fit its type", Text(con.name)));
      const List<TyVarId> opened = pat->exists;
      possible_ &= Open(con, type, opened.empty() ? llvm::ArrayRef<List<TyVarId>>() : llvm::ArrayRef(opened), fields);
      for (size_t i = 0; i < fields.size(); ++i) CheckPat(at, pat->args[i], fields[i], bound);
      return;
    }
    if (pat->kind == PatKind::View) {
      Expect(pat->view, types_.Fun(type, pat->args[0]->type), "a pattern's view");
      Check(pat->view);
      return CheckPat(at, pat->args[0], pat->args[0]->type, bound);
    }
    if (pat->equals) {
      Expect(pat->equals, types_.Fun(type, types_.Scalar(Builtin::Bool)), "a literal's test");
      Check(pat->equals);
    }
    for (const Pat* arg : pat->args) CheckPat(at, arg, type, bound);
  }

  const Program& program_;
  Types& types_;  // building the types that are expected adds rows, which changes nothing that is there
  bool simple_;
  VarId definition_;
  std::string fault_;
  std::vector<std::pair<TyVarId, TypeId>> known_;  // what the matches around have told of type variables
  std::vector<std::pair<TypeId, TypeId>> known_families_;  // and of types that families do not compute
  std::vector<std::pair<TypeId, TypeId>> coercible_;       // `Coercible a b` that is given
  bool possible_ = true;                   // the patterns of a row may fit at once
  llvm::DenseSet<uint32_t> scope_;         // local variables
  llvm::DenseSet<uint32_t> type_scope_;    // type variables
  llvm::DenseSet<uint32_t> closed_types_;  // types already looked at in this type scope
};

}  // namespace

std::string Verify(const Program& program, bool simple) { return Verifier(program, simple).Run(); }

}  // namespace df::core
