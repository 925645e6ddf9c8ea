// Arguments in another order than the function wants them, and values with and without what holds them.
#include "typecheck/explain/order.h"

#include <numeric>

#include "llvm/ADT/Sequence.h"
#include "typecheck/state/instances.h"
#include "typecheck/state/looks.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

bool IsNumber(const ast::Expr* expr) {
  const auto* literal = llvm::dyn_cast<ast::LiteralExpr>(StripParens(expr));
  return literal && literal->value.kind == ast::LiteralKind::Integer;
}

// `insertWith key (+) 1 m`: a function stands where none can stand, and something else where one should.
ArgumentOrder MisplacedFunction(State& s, const core::Scheme& scheme, llvm::ArrayRef<TypeId> declared, llvm::ArrayRef<const ast::Expr*> args) {
  const TyConId function = s.types.Known(Builtin::Function);
  auto takes_none = [&](TypeId type) {
    if (s.types.Kind(type) != TypeKind::Var) return s.types.Head(type).valid() && !s.types.IsFun(type);
    return llvm::any_of(scheme.preds, [&](const core::Pred& pred) {
      return pred.type == type && !s.env.instances.count({pred.cls.index, function.index});
    });
  };
  auto is_wrong = [&](size_t i) { return IsFunction(s, args[i]) && takes_none(declared[i]); };
  auto is_open = [&](size_t i) {
    const ast::Expr* arg = StripParens(args[i]);
    return s.types.IsFun(declared[i]) && !IsFunction(s, arg) && (llvm::isa<ast::VarExpr>(arg) || llvm::isa<ast::LiteralExpr>(arg));
  };
  ArgumentOrder order(args.size());
  std::iota(order.begin(), order.end(), 0);
  const auto places = llvm::seq<size_t>(0, args.size());
  if (llvm::count_if(places, is_wrong) != 1 || llvm::count_if(places, is_open) != 1) return {};
  std::swap(order[*llvm::find_if(places, is_wrong)], order[*llvm::find_if(places, is_open)]);
  return order;
}

// The type's only constructor, if that has one field.
const core::DataCon* HolderOf(State& s, TypeId type) {
  TypeId head = type.valid() ? s.unify.Head(type) : TypeId();
  if (!head.valid() || s.types.Kind(head) != TypeKind::Con) return nullptr;
  const auto& constructors = s.types.cons[s.types.ConOf(head)].constructors;
  if (constructors.size() != 1) return nullptr;
  const core::DataCon& con = s.program.constructors[constructors[0]];
  return con.fields.size() == 1 ? &con : nullptr;
}

}  // namespace

ArgumentOrder SwappedArguments(State& s, const core::Scheme& scheme, llvm::ArrayRef<const ast::Expr*> args, TypeId expected) {
  llvm::SmallVector<TypeId> declared;
  TypeId result = s.types.SplitFun(scheme.type, declared, args.size());
  llvm::SmallVector<TyVarId> vars;
  s.types.FreeVars(scheme.type, vars);
  const bool closed = llvm::all_of(vars, [&](TyVarId var) { return llvm::is_contained(scheme.tyvars, var); });
  if (!closed || args.size() < 2 || args.size() > 6 || declared.size() != args.size() || s.types.HasMeta(scheme.type)) return {};
  if (llvm::any_of(declared, [&](TypeId type) { return s.types.Kind(type) == TypeKind::Forall; })) return {};
  if (ArgumentOrder order = MisplacedFunction(s, scheme, declared, args); !order.empty()) return order;
  expected = s.unify.Zonk(expected);
  llvm::SmallVector<TypeId, 6> given;
  for (const ast::Expr* arg : args) given.push_back(QuickType(s, arg));
  auto is_known = [&](size_t i) { return given[i].valid() || IsNumber(args[i]); };
  // Whether they fit in that order; nothing if that is open.
  auto fit = [&](llvm::ArrayRef<size_t> order) -> std::optional<bool> {
    llvm::SmallVector<TypeId> bound(scheme.tyvars.size());
    bool open = false;
    auto fits = [&](TypeId wanted, TypeId type) {
      Fit found = Fits(s, wanted, type, scheme.tyvars, bound);
      open |= found == Fit::Later;
      return found == Fit::Yes || found == Fit::Later;
    };
    if (!s.types.HasMeta(expected) && !fits(result, expected)) return false;
    for (size_t i = 0; i < order.size(); ++i)
      if (given[order[i]].valid() && !fits(declared[i], given[order[i]])) return false;
    for (size_t i = 0; i < order.size(); ++i) {
      if (!IsNumber(args[order[i]])) continue;
      TypeId type = declared[i];
      if (s.types.Kind(type) == TypeKind::Var) type = bound[llvm::find(scheme.tyvars, s.types.VarOf(type)) - scheme.tyvars.begin()];
      if (type.valid() && !s.types.HasMeta(type) && !HasInstance(s, KnownClass(s, "Num"), type)) return false;
    }
    if (open) return std::nullopt;
    return true;
  };
  ArgumentOrder order(args.size());
  std::iota(order.begin(), order.end(), 0);
  if (fit(order) != false) return {};
  for (size_t i = 0; i < args.size(); ++i)
    for (size_t j = i + 1; j < args.size(); ++j) {
      if (!is_known(i) || !is_known(j) || declared[i] == declared[j]) continue;
      std::swap(order[i], order[j]);
      if (fit(order) == true) return order;
      std::swap(order[i], order[j]);
    }
  // `fromMaybe m 0`, of whose `m` nothing is known: one of the two is.
  auto is_open = [&](size_t i) {
    const auto* name = llvm::dyn_cast<ast::VarExpr>(args[i]);
    VarId var = name && IsLocal(s, name->name.text) ? LookUpValue(s, name->name) : VarId();
    return var.valid() && s.types.Kind(s.unify.Prune(s.program.vars[var].scheme.type)) == TypeKind::Meta;
  };
  auto is_literal = [&](size_t i) { return llvm::isa<ast::LiteralExpr>(StripParens(args[i])); };
  for (size_t i = 0; args.size() == 2 && i < 2; ++i) {
    std::swap(order[0], order[1]);
    if (is_open(i) && is_literal(1 - i) && fit(order) == true) return order;
    std::swap(order[0], order[1]);
  }
  if (args.size() < 3 || !llvm::all_of(llvm::seq<size_t>(0, args.size()), is_known)) return {};
  ArgumentOrder found;
  for (size_t from = 0; from < args.size(); ++from)
    for (size_t to = 0; to < args.size(); ++to) {
      ArgumentOrder moved = order;
      moved.erase(moved.begin() + from);
      moved.insert(moved.begin() + to, from);
      if (from == to || moved == found || fit(moved) != true) continue;
      if (!found.empty()) return {};
      found = moved;
    }
  return found;
}

bool HintAtHolder(State& s, TypeId expected, TypeId actual, std::string_view text) {
  auto holds = [&](TypeId holder, TypeId value) -> const core::DataCon* {
    const core::DataCon* con = HolderOf(s, holder);
    if (!con || !value.valid() || !Shown(s, con->span).valid() || s.unify.Head(value) == s.unify.Head(holder)) return nullptr;
    TypeId field = con->fields[0].type;
    if (s.types.IsFun(field)) return s.unify.IsFun(value, nullptr, nullptr) ? con : nullptr;
    TypeId head = s.unify.Head(field);
    return s.types.Kind(head) == TypeKind::Con && head == s.unify.Head(value) ? con : nullptr;
  };
  if (const core::DataCon* con = holds(expected, actual)) {
    const bool word = llvm::all_of(text, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '\'' || c == '.'; });
    const bool simple = word || (text[0] == '(' && text.find(')') == text.size() - 1) || (text[0] == '[' && text.find(']') == text.size() - 1) ||
                        (text[0] == '"' && text.find('"', 1) == text.size() - 1);
    std::string value = text.size() > 40 || text.find('\n') != std::string_view::npos ? std::string("(..)")
                        : simple ? std::string(text) : fmt::format("({})", text);
    s.diags.Hint(fmt::format("the constructor `{0}` holds it: `{0} {1}`", Text(con->name), value));
    return true;
  }
  if (const core::DataCon* con = holds(actual, expected)) {
    s.diags.Hint(fmt::format("the pattern `{} x` takes out what it holds", Text(con->name)));
    return true;
  }
  return false;
}

bool HintAtHeldFunction(State& s, TypeId type, const ast::Expr* fn, llvm::ArrayRef<const ast::Expr*> args, size_t taken) {
  const core::DataCon* con = HolderOf(s, type);
  if (!con || !s.types.IsFun(con->fields[0].type)) return false;
  std::string_view field = con->fields[0].name.valid() ? Text(con->fields[0].name) : std::string_view();
  // `State s` is `StateT s Identity`, and has a function of its own.
  std::vector<std::string> names;
  llvm::SmallVector<TypeId, 4> parts;
  s.unify.Head(type, &parts);
  auto is_identity = [&](TypeId part) {
    TypeId head = s.unify.Head(part);
    return s.types.Kind(head) == TypeKind::Con && Text(s.types.cons[s.types.ConOf(head)].name) == "Identity";
  };
  if (field.ends_with("T") && llvm::any_of(parts, is_identity)) names.emplace_back(field.substr(0, field.size() - 1));
  if (!field.empty()) names.emplace_back(field);
  std::string call(s.diags.sources().Text(fn->span));
  for (size_t i = 0; i < args.size(); ++i) {
    if (i == taken && taken > 0) call = fmt::format("({})", call);
    call += fmt::format(" {}", s.diags.sources().Text(args[i]->span));
  }
  const bool is_short = call.size() <= 50 && call.find('\n') == std::string::npos;
  for (const std::string& name : names)
    if (LookUpValue(s, {Intern(name), {}, fn->span}).valid()) {
      s.diags.Hint(is_short ? fmt::format("`{}` takes the function out: `{} {}`", name, name, call) : fmt::format("`{}` takes the function out", name));
      return true;
    }
  return false;
}

}  // namespace df::check
