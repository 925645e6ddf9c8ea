// What a program runs: `main`, or what is entered at the prompt.
#include "typecheck/entry.h"

#include "typecheck/explain/class.h"
#include "typecheck/explain/explain.h"
#include "typecheck/explain/hint.h"
#include "typecheck/infer/app.h"
#include "typecheck/infer/bind.h"
#include "typecheck/infer/expr.h"
#include "typecheck/infer/nodes.h"
#include "typecheck/resolve/find.h"
#include "typecheck/solve/constraints.h"
#include "typecheck/solve/dims.h"
#include "typecheck/state/instances.h"
#include "typecheck/state/looks.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"
#include "typecheck/zonk.h"

namespace df::check {
namespace {

// The parameters of the first clause, and of the lambdas that are its right side: `main n = \x -> ..` has two.
llvm::SmallVector<const ast::Pat*> ParametersOf(const ast::FunctionDecl& function) {
  const ast::Clause& clause = function.clauses[0];
  llvm::SmallVector<const ast::Pat*> params(clause.params.begin(), clause.params.end());
  if (clause.rhs.guarded.size() != 1 || !clause.rhs.guarded[0].guards.empty()) return params;
  const ast::Expr* body = clause.rhs.guarded[0].body;
  while (true) {
    if (const auto* paren = llvm::dyn_cast<ast::ParenExpr>(body)) {
      body = paren->expr;
    } else if (const auto* typed = llvm::dyn_cast<ast::TypedExpr>(body)) {
      body = typed->expr;
    } else if (const auto* lambda = llvm::dyn_cast<ast::LambdaExpr>(body)) {
      params.append(lambda->params.begin(), lambda->params.end());
      body = lambda->body;
    } else {
      return params;
    }
  }
}

// What an input of main has for a shape, and the type's shape.
struct GivenShape {
  size_t param;
  TypeId type;
  std::vector<int64_t> dims;
};

// What makes steps of an action: at a prompt its value is shown, if it can be.
const char* HowToRun(State& s, TypeId action) {
  if (!s.options.repl || s.options.entry_is_bound) return s.options.repl ? "primPrompt" : "primRun";
  TypeId result = s.unify.Prune(s.types.ArgOf(s.unify.Prune(action)));
  if (s.types.BuiltinOf(result) == Builtin::Unit) return "primPrompt";
  std::vector<Wanted> stuck;
  Wanted missing, wanted{KnownClass(s, "Show"), result, {Origin::Printing, Span()}};
  return Solve(s, wanted, stuck, &missing) == Solved::No ? "primPrompt" : "primPromptShow";
}

// Whether the dimensions that a parameter's type says are those that its input has.
bool MayFit(State& s, const GivenShape& shape) {
  llvm::SmallVector<TypeId> dims;
  TypeId rest;
  const bool closed = s.types.SplitShape(s.unify.Zonk(shape.type), dims, &rest);
  if (closed ? dims.size() != shape.dims.size() : dims.size() > shape.dims.size()) return false;
  for (size_t k = 0; k < dims.size(); ++k) {
    llvm::SmallVector<MetaId> open;
    s.unify.FreeMetas(dims[k], open);
    if (open.empty() && s.unify.Zonk(dims[k]) != s.types.Dim(shape.dims[k])) return false;
  }
  return true;
}

// Notes which sizes with names the input was the first to say: "`n` is 30, dimension 0 of the input `x`".
void NoteOrigins(State& s, const GivenShape& shape, TypeId declared, llvm::StringMap<std::string>& origins) {
  TypeId of;
  llvm::SmallVector<TypeId> dims;
  if (!s.types.IsTensor(declared, nullptr, &of)) return;
  s.types.SplitShape(of, dims);
  for (size_t k = 0; k < std::min(dims.size(), shape.dims.size()); ++k)
    if (std::string name = PrintType(s, dims[k]); std::isalpha(static_cast<unsigned char>(name[0])) && name.find(' ') == std::string::npos)
      origins.try_emplace(name, fmt::format("`{}` is {}, dimension {} of the input `{}`", name, shape.dims[k], k, Text(s.program.main_params[shape.param])));
}

// Data of unknown size is bound once, where it enters: the shapes of the inputs give the dimensions of main's parameters. One that
// contradicts another is left to whoever reads that input; what none of them gives is said of each that could have. Shapes that do not
// fit the dimensions that the type does say give theirs last: a matrix that lies the wrong way round is not to say how long the others are.
void BindShapes(State& s, llvm::ArrayRef<TypeId> params) {
  if (!s.options.shape_of_input) return;
  std::vector<std::pair<size_t, TypeId>> shapes;
  std::vector<GivenShape> given;
  std::vector<std::string> why(params.size());
  std::vector<std::string_view> names;
  for (Symbol name : s.program.main_params) names.push_back(Text(name));
  for (size_t i = 0; i < params.size(); ++i) {
    llvm::SmallVector<TypeId> args;
    if (s.types.BuiltinOf(s.unify.Head(params[i], &args)) != Builtin::Tensor || args.size() != 2) continue;
    shapes.emplace_back(i, args[1]);
    std::optional<std::vector<int64_t>> dims = s.options.shape_of_input(names, i, &why[i]);
    if (dims) given.push_back({i, args[1], std::move(*dims)});
  }
  llvm::SmallVector<TypeId> declared;  // with the names that the signature gives to sizes
  s.types.SplitFun(s.program.vars[s.program.main].scheme.type, declared);
  std::stable_partition(given.begin(), given.end(), [&](const GivenShape& shape) { return MayFit(s, shape); });
  llvm::StringMap<std::string> origins;  // by the name of a size
  for (const GivenShape& shape : given) {
    TypeId type = s.types.Con(s.types.Known(Builtin::ShapeNil));
    for (size_t k = shape.dims.size(); k-- > 0;) type = s.types.ShapeCons(s.types.Dim(shape.dims[k]), type);
    s.unify.Unify(shape.type, type);
    NoteOrigins(s, shape, declared[shape.param], origins);
  }
  SettleDims(s);
  s.program.main_param_sizes.assign(params.size(), "");
  for (size_t i = 0; i < declared.size() && i < params.size(); ++i) {
    llvm::SmallVector<TyVarId> vars;
    s.types.FreeVars(declared[i], vars);
    std::string sizes;
    for (TyVarId var : vars)
      if (auto it = origins.find(PrintType(s, s.types.Var(var))); it != origins.end()) sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", it->second);
    if (!sizes.empty()) s.program.main_param_sizes[i] = fmt::format("`main` takes `{}`, and {}", PrintType(s, declared[i]), sizes);
  }
  for (auto [i, shape] : shapes) {
    llvm::SmallVector<MetaId> open;
    s.unify.FreeMetas(shape, open);
    if (open.empty()) continue;
    std::string reason = fmt::format("nothing says how large the input `{}` is: {}", Text(s.program.main_params[i]), why[i]);
    const auto of_data = llvm::find_if(given, [param = i](const GivenShape& one) { return one.param == param; });
    if (of_data != given.end()) reason = fmt::format("the input `{}` has the shape [{}]", Text(s.program.main_params[i]), fmt::join(of_data->dims, ", "));
    s.Error(Diag::TensorType, s.program.vars[s.program.main].span, PrintType(s, declared[i]), reason);
  }
}

// The program's entry where that is not `main` itself: of a polymorphic main, main at the types that defaulting gives;
// of an action, what is done with the standard input.
void DefineEntry(State& s, size_t params) {
  Span span = s.program.vars[s.program.main].span;
  core::Expr* value = Use(s, s.program.main, span);
  std::vector<VarId> locals;
  std::vector<const core::Expr*> args;
  std::vector<TypeId> types;
  TypeId type = value->type;
  PreferAction(s, type, 0);
  for (size_t i = 0; i < params; ++i) {
    TypeId from, to;
    s.unify.IsFun(type, &from, &to);
    locals.push_back(s.program.NewLocal(s.program.main_params[i], from, span));
    args.push_back(VarNode(s, locals.back(), span));
    types.push_back(from);
    type = to;
  }
  BindShapes(s, types);
  core::Expr* body = args.empty() ? value : AppNode(s, value, args, span);
  if (IsAction(s, type)) {
    type = s.types.Scalar(Builtin::Action);
    body = CallKnown(s, Needed(s, HowToRun(s, value->type), "an action", span), {body}, span, type, Reason{});
  }
  DefaultAll(s, 0, true, 0);
  SettleDims(s);
  VarId entry = NewVar(s, s.program.vars[s.program.main].name, s.types.Fun(types, type), true, span);
  s.definitions.push_back({entry, args.empty() ? body : LambdaNode(s, locals, body, span)});
  s.program.main = entry;
  s.final_types.clear();
  ZonkAll(s);
}

}  // namespace

void FindMain(State& s) {
  if (s.options.library || s.options.imported) return;
  Symbol name = s.options.entry.valid() ? s.options.entry : Intern("main");
  auto found = s.exports.values.find(name);
  if (found == s.exports.values.end() || s.program.vars[found->second].kind != core::VarKind::Top) return;
  s.program.main = found->second;
  s.program.main_params.clear();
  s.program.main_unshown = false;
  core::Scheme scheme = s.program.vars[s.program.main].scheme;
  llvm::SmallVector<TypeId> params;
  s.types.SplitFun(scheme.type, params);
  for (const ast::Decl* decl : s.module.decls) {
    const auto* function = llvm::dyn_cast<ast::FunctionDecl>(decl);
    if (!function || function->name.text != name) continue;
    llvm::SmallVector<const ast::Pat*> patterns = ParametersOf(*function);
    for (size_t i = 0; i < params.size(); ++i) {
      Symbol param = Intern("arg" + std::to_string(i + 1));
      if (i < patterns.size()) {
        const ast::Pat* pat = patterns[i];
        for (;;) {
          if (const auto* paren = llvm::dyn_cast<ast::ParenPat>(pat)) pat = paren->pat;
          else if (const auto* bang = llvm::dyn_cast<ast::BangPat>(pat)) pat = bang->pat;
          else if (const auto* typed = llvm::dyn_cast<ast::TypedPat>(pat)) pat = typed->pat;
          else break;
        }
        if (const auto* var = llvm::dyn_cast<ast::VarPat>(pat)) param = var->name;
        if (const auto* as = llvm::dyn_cast<ast::AsPat>(pat)) param = as->name;
      }
      // Two parameters may not share the name of an input.
      while (std::find(s.program.main_params.begin(), s.program.main_params.end(), param) !=
             s.program.main_params.end())
        param = Intern(std::string(Text(param)) + "'");
      s.program.main_params.push_back(param);
    }
  }
  TypeId result = scheme.type;
  while (s.types.IsFun(result, nullptr, &result)) {
  }
  if (!scheme.tyvars.empty() || s.types.BuiltinOf(result) == Builtin::IO) return DefineEntry(s, params.size());
  // Its result is printed as `show` does; records one by one.
  if (!s.options.shows_entry || (!s.options.repl && core::IsRecordList(s.program, result))) return;
  ClassId show = KnownClass(s, "Show");
  if (!show.valid()) return;
  std::vector<Wanted> stuck;
  Wanted missing, wanted{show, result, {Origin::Printing, s.program.vars[s.program.main].span}};
  if (Solve(s, wanted, stuck, &missing) != Solved::No) return;
  std::string why;
  const bool has_arrays = core::HasArrays(s.program, result, &why);
  if (has_arrays && s.options.arrays_entry) return void(s.program.main_unshown = true);
  const uint32_t errors = s.diags.error_count();
  ReportMissing(s, wanted, missing);
  if (s.options.repl || s.diags.error_count() == errors) return;
  s.diags.Note(Span(), has_arrays ? "without `Show` it can be written to a file: `dfc run --output @FILE.npz`"
                                 : fmt::format("nor can it be written as arrays: it holds {}", why));
}

}  // namespace df::check
