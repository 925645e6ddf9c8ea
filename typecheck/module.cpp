// A module from beginning to end, and its end: defaulting, `main`, zonking, match compilation.
#include "lang/budget.h"
#include "typecheck/checker.h"
#include "typecheck/explain/usual_module.h"
#include "typecheck/match/match.h"

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

}  // namespace

Checker::Checker(core::Program& program, Env& env, Diagnostics& diags, const CheckOptions& options,
                 const ast::Ast& ast, const FixityTable& fixities)
    : program_(program),
      types_(program.types),
      env_(env),
      diags_(diags),
      options_(options),
      module_(ast.module),
      fixities_(fixities),
      unify_(program.types),
      generated_qualifier_(Intern(ast::kLibraryQualifier)),
      first_var_(program.vars.size()) {
  types_.tangents_of.clear();
  if (options_.library) env_.library_files.insert(ast.file.index);
  strict_ |= HasExtension("Strict");
  for (const auto& [place, kind] : module_.kinds) written_kinds_[place.begin] = kind;
  string_classes_ = HasExtension("OverloadedStrings");
}

bool Checker::Run() {
  bool ok = false;
  try {
    ok = RunPhases();
  } catch (const BudgetExceeded&) {
    ForgetInstances();
    throw;
  }
  if (!ok) ForgetInstances();
  return ok;
}

// What a check that failed, or was left in the middle, has entered for all programs.
void Checker::ForgetInstances() {
  for (InstanceId id : registered_) ForgetInstance(id);
  // Of instances for one type the last one counts: these are for none any more.
  if (!replaced_.empty())
    for (InstanceId id : registered_) program_.instances[id].head = types_.Var(types_.NewVar(Intern("a")));
  for (InstanceId id : replaced_)
    env_.instances[{program_.instances[id].cls.index, types_.Head(program_.instances[id].head).index}].push_back(id);
}

bool Checker::RunPhases() {
  uint32_t errors = diags_.error_count();
  OpenScope();
  DeclareTypes();
  for (const auto& [decl, id] : classes_) DeclareClass(decl);
  DefaultKinds();
  for (const ast::Decl* decl : module_.decls)
    if (const auto* instance = llvm::dyn_cast<ast::InstanceDecl>(decl)) DeclareInstance(instance);
  for (const auto& [data, id] : data_) DeclareDerived(data);
  for (const ast::Decl* decl : module_.decls)
    if (const auto* deriving = llvm::dyn_cast<ast::DerivingDecl>(decl)) DeclareStandalone(deriving);
  InferDerivedContexts();
  for (const auto& [data, id] : data_) DefineSelectors(data);
  std::vector<BoundGroup> groups = CheckDecls(module_.decls, true);
  for (const BoundGroup& group : groups)
    for (const core::Binding& binding : group.bindings) definitions_.push_back({binding.var, binding.value});
  for (const BoundGroup& group : groups)
    for (const auto& [var, pat] : group.strict) Error(Diag::BangAtTop, pat->span);
  for (const auto& [decl, id] : classes_) CheckClassDefaults(decl, id);
  for (size_t i = 0; i < instances_.size(); ++i)
    CheckInstanceMethods(instances_[i].first, instances_[i].second);
  RetryTangents(Guess::All);
  DefaultAll(0, true, 0);
  RetryTangents(Guess::All);
  SettleDims();
  ReportOpenDims(nullptr);
  DropFollowUps();
  DropImportFollowUps();
  ReportHoles();
  // A file that was loaded at a prompt can be imported there, under another name say.
  if (options_.imported || (options_.repl && module_.name.text.valid())) Export();
  else if (!options_.library && !options_.repl) CheckExports();
  bool ok = diags_.error_count() == errors;
  ZonkAll();
  if (ok) {
    if (options_.warnings && !options_.library) WarnOfLargeLiterals();
    FindMain();
    ok = diags_.error_count() == errors;
  }
  if (options_.library) Export();
  if (ok && options_.restricted) Publish();
  return ok;
}

// The type with every meta replaced; one that nothing settled stands for (), or for lists where it is
// applied.
TypeId Checker::Final(TypeId type) {
  if (!type.valid() || !types_.HasMeta(type)) return type;
  auto known = final_types_.find(type.index);
  if (known != final_types_.end()) return known->second;
  TypeId result;
  if (types_.Kind(type) == TypeKind::Meta) {
    TypeId pruned = unify_.Prune(type);
    result = types_.Kind(pruned) == TypeKind::Meta ? types_.Scalar(Builtin::Unit) : Final(pruned);
  } else if (types_.Kind(type) == TypeKind::Dim) {
    result = types_.MapAtoms(type, [&](TypeId atom) { return Final(atom); });
  } else {
    TypeId fn = unify_.Prune(types_.FnOf(type));
    if (types_.Kind(fn) == TypeKind::Meta) {
      unify_.Solve(types_.MetaOf(fn), types_.Con(types_.Known(Builtin::List)));
      fn = types_.Con(types_.Known(Builtin::List));
    }
    result = Final(fn);
    result = types_.App(result, Final(types_.ArgOf(type)));
  }
  final_types_[type.index] = result;
  return result;
}

void Checker::ZonkAll() {
  auto finish_args = [&](core::List<TypeId> args) {
    for (const TypeId& arg : args) const_cast<TypeId&>(arg) = Final(arg);
  };
  for (uint32_t i = first_var_; i < program_.vars.size(); ++i) {
    core::Scheme& scheme = program_.vars[VarId(i)].scheme;
    scheme.type = Final(scheme.type);
    for (core::Pred& pred : scheme.preds) pred.type = Final(pred.type);
  }
  for (core::Expr* expr : exprs_) {
    expr->type = Final(expr->type);
    if (auto* var = llvm::dyn_cast<core::VarExpr>(expr)) finish_args(var->type_args);
    if (auto* con = llvm::dyn_cast<core::ConExpr>(expr)) finish_args(con->type_args);
  }
  VarId equals = KnownVar("==");
  for (size_t i = 0; i < pats_.size(); ++i) {
    core::Pat* pat = pats_[i];
    pat->type = Final(pat->type);
    finish_args(pat->type_args);
    if (pat->kind != core::PatKind::Literal || !equals.valid()) continue;
    Builtin builtin = types_.BuiltinOf(pat->type);
    bool text = pat->literal == core::LiteralKind::String;
    if (text ? builtin == Builtin::List : builtin != Builtin::None && builtin != Builtin::Function && builtin != Builtin::Tuple) continue;
    // A number or a string of a type that the compiler does not know: compared by that type's own (==).
    TypeId boolean = types_.Scalar(Builtin::Bool);
    core::VarExpr use{};
    use.span = pat->span;
    use.var = equals;
    use.type = types_.Fun({pat->type, pat->type}, boolean);
    use.type_args = program_.Copy<TypeId>({pat->type});
    core::LiteralExpr literal{};
    literal.span = pat->span;
    literal.type = pat->type;
    literal.literal = pat->literal;
    literal.text = pat->text;
    core::Expr* value = Node(literal);
    if (text) {
      value->type = types_.List(types_.Scalar(Builtin::Char));
      core::VarExpr from{};
      from.span = pat->span;
      from.var = KnownVar("fromString");
      from.type = types_.Fun(value->type, pat->type);
      from.type_args = program_.Copy<TypeId>({pat->type});
      value = AppNode(Node(from), {value}, pat->span);
    }
    VarId param = program_.NewLocal(Intern("x"), pat->type, pat->span);
    pat->equals = LambdaNode(
        {param}, AppNode(Node(use), {VarNode(param, pat->span), value}, pat->span), pat->span);
  }
}

void Checker::FindMain() {
  if (options_.library || options_.imported) return;
  Symbol name = options_.entry.valid() ? options_.entry : Intern("main");
  auto found = exports_.values.find(name);
  if (found == exports_.values.end() || program_.vars[found->second].kind != core::VarKind::Top) return;
  program_.main = found->second;
  program_.main_params.clear();
  program_.main_unshown = false;
  core::Scheme scheme = program_.vars[program_.main].scheme;
  llvm::SmallVector<TypeId> params;
  types_.SplitFun(scheme.type, params);
  for (const ast::Decl* decl : module_.decls) {
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
      while (std::find(program_.main_params.begin(), program_.main_params.end(), param) !=
             program_.main_params.end())
        param = Intern(std::string(Text(param)) + "'");
      program_.main_params.push_back(param);
    }
  }
  TypeId result = scheme.type;
  while (types_.IsFun(result, nullptr, &result)) {
  }
  if (!scheme.tyvars.empty() || types_.BuiltinOf(result) == Builtin::IO) return DefineEntry(params.size());
  // Its result is printed as `show` does; records one by one.
  if (!options_.shows_entry || (!options_.repl && core::IsRecordList(program_, result))) return;
  ClassId show = KnownClass("Show");
  if (!show.valid()) return;
  std::vector<Wanted> stuck;
  Wanted missing, wanted{show, result, {Origin::Printing, program_.vars[program_.main].span}};
  if (Solve(wanted, stuck, &missing) != Solved::No) return;
  std::string why;
  const bool has_arrays = core::HasArrays(program_, result, &why);
  if (has_arrays && options_.arrays_entry) return void(program_.main_unshown = true);
  const uint32_t errors = diags_.error_count();
  ReportMissing(wanted, missing);
  if (options_.repl || diags_.error_count() == errors) return;
  diags_.Note(Span(), has_arrays ? "without `Show` it can be written to a file: `dfc run --output @FILE.npz`"
                                 : fmt::format("nor can it be written as arrays: it holds {}", why));
}

// What makes steps of an action: at a prompt its value is shown, if it can be.
const char* Checker::HowToRun(TypeId action) {
  if (!options_.repl || options_.entry_is_bound) return options_.repl ? "primPrompt" : "primRun";
  TypeId result = unify_.Prune(types_.ArgOf(unify_.Prune(action)));
  if (types_.BuiltinOf(result) == Builtin::Unit) return "primPrompt";
  std::vector<Wanted> stuck;
  Wanted missing, wanted{KnownClass("Show"), result, {Origin::Printing, Span()}};
  return Solve(wanted, stuck, &missing) == Solved::No ? "primPrompt" : "primPromptShow";
}

// Whether the dimensions that a parameter's type says are those that its input has.
bool Checker::MayFit(const GivenShape& shape) {
  llvm::SmallVector<TypeId> dims;
  TypeId rest;
  const bool closed = types_.SplitShape(unify_.Zonk(shape.type), dims, &rest);
  if (closed ? dims.size() != shape.dims.size() : dims.size() > shape.dims.size()) return false;
  for (size_t k = 0; k < dims.size(); ++k) {
    llvm::SmallVector<MetaId> open;
    unify_.FreeMetas(dims[k], open);
    if (open.empty() && unify_.Zonk(dims[k]) != types_.Dim(shape.dims[k])) return false;
  }
  return true;
}

// Notes which sizes with names the input was the first to say: "`n` is 30, dimension 0 of the input `x`".
void Checker::NoteOrigins(const GivenShape& shape, TypeId declared, llvm::StringMap<std::string>& origins) {
  TypeId of;
  llvm::SmallVector<TypeId> dims;
  if (!types_.IsTensor(declared, nullptr, &of)) return;
  types_.SplitShape(of, dims);
  for (size_t k = 0; k < std::min(dims.size(), shape.dims.size()); ++k)
    if (std::string name = PrintType(dims[k]); std::isalpha(static_cast<unsigned char>(name[0])) && name.find(' ') == std::string::npos)
      origins.try_emplace(name, fmt::format("`{}` is {}, dimension {} of the input `{}`", name, shape.dims[k], k, Text(program_.main_params[shape.param])));
}

// Data of unknown size is bound once, where it enters: the shapes of the inputs give the dimensions of main's parameters. One that
// contradicts another is left to whoever reads that input; what none of them gives is said of each that could have. Shapes that do not
// fit the dimensions that the type does say give theirs last: a matrix that lies the wrong way round is not to say how long the others are.
void Checker::BindShapes(llvm::ArrayRef<TypeId> params) {
  if (!options_.shape_of_input) return;
  std::vector<std::pair<size_t, TypeId>> shapes;
  std::vector<GivenShape> given;
  std::vector<std::string> why(params.size());
  std::vector<std::string_view> names;
  for (Symbol name : program_.main_params) names.push_back(Text(name));
  for (size_t i = 0; i < params.size(); ++i) {
    llvm::SmallVector<TypeId> args;
    if (types_.BuiltinOf(unify_.Head(params[i], &args)) != Builtin::Tensor || args.size() != 2) continue;
    shapes.emplace_back(i, args[1]);
    std::optional<std::vector<int64_t>> dims = options_.shape_of_input(names, i, &why[i]);
    if (dims) given.push_back({i, args[1], std::move(*dims)});
  }
  llvm::SmallVector<TypeId> declared;  // with the names that the signature gives to sizes
  types_.SplitFun(program_.vars[program_.main].scheme.type, declared);
  std::stable_partition(given.begin(), given.end(), [&](const GivenShape& shape) { return MayFit(shape); });
  llvm::StringMap<std::string> origins;  // by the name of a size
  for (const GivenShape& shape : given) {
    TypeId type = types_.Con(types_.Known(Builtin::ShapeNil));
    for (size_t k = shape.dims.size(); k-- > 0;) type = types_.ShapeCons(types_.Dim(shape.dims[k]), type);
    unify_.Unify(shape.type, type);
    NoteOrigins(shape, declared[shape.param], origins);
  }
  SettleDims();
  program_.main_param_sizes.assign(params.size(), "");
  for (size_t i = 0; i < declared.size() && i < params.size(); ++i) {
    llvm::SmallVector<TyVarId> vars;
    types_.FreeVars(declared[i], vars);
    std::string sizes;
    for (TyVarId var : vars)
      if (auto it = origins.find(PrintType(types_.Var(var))); it != origins.end()) sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", it->second);
    if (!sizes.empty()) program_.main_param_sizes[i] = fmt::format("`main` takes `{}`, and {}", PrintType(declared[i]), sizes);
  }
  for (auto [i, shape] : shapes) {
    llvm::SmallVector<MetaId> open;
    unify_.FreeMetas(shape, open);
    if (open.empty()) continue;
    std::string reason = fmt::format("nothing says how large the input `{}` is: {}", Text(program_.main_params[i]), why[i]);
    const auto of_data = llvm::find_if(given, [param = i](const GivenShape& one) { return one.param == param; });
    if (of_data != given.end()) reason = fmt::format("the input `{}` has the shape [{}]", Text(program_.main_params[i]), fmt::join(of_data->dims, ", "));
    Error(Diag::TensorType, program_.vars[program_.main].span, PrintType(declared[i]), reason);
  }
}

// The program's entry where that is not `main` itself: of a polymorphic main, main at the types that defaulting gives;
// of an action, what is done with the standard input.
void Checker::DefineEntry(size_t params) {
  Span span = program_.vars[program_.main].span;
  core::Expr* value = Use(program_.main, span);
  std::vector<VarId> locals;
  std::vector<const core::Expr*> args;
  std::vector<TypeId> types;
  TypeId type = value->type;
  PreferAction(type, 0);
  for (size_t i = 0; i < params; ++i) {
    TypeId from, to;
    unify_.IsFun(type, &from, &to);
    locals.push_back(program_.NewLocal(program_.main_params[i], from, span));
    args.push_back(VarNode(locals.back(), span));
    types.push_back(from);
    type = to;
  }
  BindShapes(types);
  core::Expr* body = args.empty() ? value : AppNode(value, args, span);
  if (IsAction(type)) {
    type = types_.Scalar(Builtin::Action);
    body = CallKnown(Needed(HowToRun(value->type), "an action", span), {body}, span, type, Reason{});
  }
  DefaultAll(0, true, 0);
  SettleDims();
  VarId entry = NewVar(program_.vars[program_.main].name, types_.Fun(types, type), true, span);
  definitions_.push_back({entry, args.empty() ? body : LambdaNode(locals, body, span)});
  program_.main = entry;
  final_types_.clear();
  ZonkAll();
}

void Checker::Publish() {
  for (core::Definition& definition : definitions_)
    definition.value = CompileMatches(program_, definition.value, diags_, options_.warnings && !options_.library);
  for (const core::Definition& definition : definitions_) program_.Define(definition.var, definition.value);
}

}  // namespace df::check
