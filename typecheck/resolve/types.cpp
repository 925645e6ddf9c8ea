// Types as written -> types, with kinds: a type constructor must have as many arguments as its place wants.
#include "lang/budget.h"
#include "typecheck/checker.h"

namespace df::check {

TypeVarScope Checker::ScopedTypeVars() const {
  TypeVarScope scope;
  scope.names = scoped_types_;
  return scope;
}

TypeId Checker::ExpandSynonym(const Synonym& synonym, llvm::ArrayRef<TypeId> args) {
  return types_.Substitute(synonym.body, synonym.params, args);
}

KindId Checker::ConvertKind(const ast::Type* kind) {
  llvm::SmallVector<KindId> params;
  for (; const auto* fun = llvm::dyn_cast<ast::FunType>(kind); kind = fun->to) params.push_back(ConvertKind(fun->from));
  KindId result = env_.kinds.Star();
  const auto* con = llvm::dyn_cast<ast::ConType>(kind);
  if (!con || (Text(con->name.text) != "*" && Text(con->name.text) != "Type")) {
    if (!llvm::isa<ast::ErrorType>(kind)) Error(Diag::NotSupported, kind->span, "kinds but `Type` and `->` are");
    result = env_.kinds.Fresh();
  }
  for (KindId param : llvm::reverse(params)) result = env_.kinds.Arrow(param, result);
  return result;
}

// KindSignatures: `(f :: Type -> Type)`, where the variable stands.
void Checker::UseWrittenKind(const ast::Name& variable, KindId kind) {
  auto written = written_kinds_.find(variable.span.begin);
  if (written == written_kinds_.end()) return;
  KindId wanted = ConvertKind(written->second);
  if (!env_.kinds.Unify(kind, wanted))
    Error(Diag::KindMismatch, variable.span, Text(variable.text), env_.kinds.Print(kind), env_.kinds.Print(wanted));
}

// A type constructor, variable, or a form with brackets: everything but an application.
// A variable within the declaration of a type whose head does not name it.
void Checker::HintAtHead(Span use, Symbol variable) {
  for (const ast::Decl* decl : module_.decls) {
    if (use.file != decl->span.file || use.begin < decl->span.begin || decl->span.end < use.end) continue;
    const auto* data = llvm::dyn_cast<ast::DataDecl>(decl);
    const auto* synonym = llvm::dyn_cast<ast::TypeSynonymDecl>(decl);
    if (!data && !synonym) return;
    if (options_.repl && !data && Text(synonym->name.text) == "it") return;  // `:kind a`
    std::string head(Text(data ? data->name.text : synonym->name.text));
    for (const ast::Name& param : data ? data->params : synonym->params) head += fmt::format(" {}", Text(param.text));
    return void(diags_.Hint(fmt::format("the type's variables stand before the `=`: `{} {} {} = ..`",
                                        !data ? "type" : data->newtype ? "newtype" : "data", head, Text(variable))));
  }
}

std::pair<TypeId, KindId> Checker::ConvertHead(const ast::Type* type, TypeVarScope& scope) {
  Kinds& kinds = env_.kinds;
  switch (type->kind) {
    case ast::TypeKind::Con: {
      const ast::Name& name = llvm::cast<ast::ConType>(type)->name;
      std::string_view text = Text(name.text);
      if (text.size() >= 3 && text[0] == '(' && text[1] == ',') {
        TyConId con =
            program_.constructors[TupleConstructor(env_, program_, uint32_t(text.size() - 1))].tycon;
        return {types_.Con(con), env_.KindOf(con)};
      }
      if (text == "(->)") return {types_.Con(types_.Known(Builtin::Function)), kinds.Arrows(2)};
      const TypeName* found = FindType(name);
      if (!found) return {unify_.FreshAny(), kinds.Fresh()};
      return {types_.Con(found->con), env_.KindOf(found->con)};
    }
    case ast::TypeKind::Var: {
      const auto* var = llvm::cast<ast::VarType>(type);
      for (size_t i = scope.names.size(); i-- > 0;)
        if (scope.names[i].first == var->name) {
          auto [found, kind] = scope.names[i].second;
          UseWrittenKind({var->name, {}, type->span}, kind);
          return {found, kind};
        }
      if (!scope.implicit) {
        Error(Diag::UnboundTypeVariable, type->span, Text(var->name));
        HintAtHead(type->span, var->name);
        return {unify_.FreshAny(), kinds.Fresh()};
      }
      TyVarId id = types_.NewVar(var->name, type->span);
      scope.fresh.push_back(id);
      scope.names.push_back({var->name, {types_.Var(id), kinds.Fresh()}});
      UseWrittenKind({var->name, {}, type->span}, scope.names.back().second.second);
      return scope.names.back().second;
    }
    case ast::TypeKind::Fun: {
      // Long arrows are walked, not recursed into.
      llvm::SmallVector<TypeId> params;
      const ast::Type* rest = type;
      while (const auto* fun = llvm::dyn_cast<ast::FunType>(rest)) {
        params.push_back(ConvertType(fun->from, scope, kinds.Star()));
        rest = fun->to;
      }
      TypeId result = ConvertType(rest, scope, kinds.Star());
      return {types_.Fun(params, result), kinds.Star()};
    }
    case ast::TypeKind::Tuple: {
      llvm::SmallVector<TypeId> elements;
      for (const ast::Type* element : llvm::cast<ast::TupleType>(type)->elements)
        elements.push_back(ConvertType(element, scope, kinds.Star()));
      if (elements.size() > 62) {
        Error(Diag::TupleTooLong, type->span, elements.size());
        return {unify_.FreshAny(), kinds.Star()};
      }
      if (elements.size() >= 2) TupleConstructor(env_, program_, static_cast<uint32_t>(elements.size()));
      return {types_.Tuple(elements), kinds.Star()};
    }
    case ast::TypeKind::List: {
      const auto* list = llvm::cast<ast::ListType>(type);
      if (list->elements.size() != 1) return {ConvertShape(list, scope), kinds.Shape()};
      return {types_.List(ConvertType(list->elements[0], scope, kinds.Star())), kinds.Star()};
    }
    case ast::TypeKind::Bang: return ConvertApplied(llvm::cast<ast::BangType>(type)->type, scope);
    case ast::TypeKind::Dim: return {DimLiteral(llvm::cast<ast::DimType>(type)), kinds.Dim()};
    case ast::TypeKind::DimOp: return ConvertDimOp(llvm::cast<ast::DimOpType>(type), scope);
    case ast::TypeKind::Error: return {unify_.FreshAny(), kinds.Fresh()};
    case ast::TypeKind::App: break;
  }
  return ConvertApplied(type, scope);
}

// `Tensor [3, 4] Float`, `Tensor Float (3, 4)`: one mistake, of which each part would be an error of kinds.
bool Checker::ReportShape(const ast::Type* element, const ast::Type* shape) {
  auto text = [&](const ast::Type* type) { return diags_.sources().Text(type->span); };
  if (llvm::isa<ast::ListType>(element) && !llvm::isa<ast::ListType>(shape)) {
    Error(Diag::KindMismatch, element->span, text(element), "Shape", "*")
        .Hint(fmt::format("the type of the elements stands before the shape: `Tensor {} {}`", text(shape), text(element)));
    return true;
  }
  if (!llvm::isa<ast::TupleType>(shape)) return false;
  std::string_view dims = text(shape);
  Error(Diag::KindMismatch, shape->span, dims, "*", "Shape").Hint(fmt::format("a shape stands in brackets: `[{}]`", dims.substr(1, dims.size() - 2)));
  return true;
}

std::pair<TypeId, KindId> Checker::ConvertApplied(const ast::Type* type, TypeVarScope& scope) {
  Kinds& kinds = env_.kinds;
  llvm::SmallVector<const ast::Type*> args;
  const ast::Type* head = type;
  while (const auto* app = llvm::dyn_cast<ast::AppType>(head)) {
    args.push_back(app->arg);
    head = app->fn;
  }
  std::reverse(args.begin(), args.end());

  std::pair<TypeId, KindId> result;
  size_t next = 0;
  const auto* con = llvm::dyn_cast<ast::ConType>(head);
  const TypeName* name = con ? LookUpType(con->name) : nullptr;
  if (con && args.size() == 2 && Text(con->name.text) == "Tensor" && ReportShape(args[0], args[1])) return {unify_.FreshAny(), kinds.Fresh()};
  if (name && name->is_synonym()) {
    ResolveSynonym(name->synonym);
    size_t wanted = env_.synonyms[name->synonym].params.size();
    if (args.size() < wanted) {
      Error(Diag::SynonymPartial, type->span, Text(con->name.text), wanted,
            wanted == 1 ? "argument" : "arguments", args.size())
          .Note(env_.synonyms[name->synonym].span, "a type synonym stands with all of its arguments");
      return {unify_.FreshAny(), kinds.Fresh()};
    }
    llvm::SmallVector<TypeId> types;
    for (; next < wanted; ++next)
      types.push_back(ConvertType(args[next], scope, env_.synonyms[name->synonym].param_kinds[next]));
    const Synonym& synonym = env_.synonyms[name->synonym];
    result = {ExpandSynonym(synonym, types), synonym.result_kind};
  } else if (args.empty()) {
    return ConvertHead(head, scope);
  } else {
    result = ConvertHead(head, scope);
  }
  for (; next < args.size(); ++next) {
    KindId from, to;
    if (!kinds.IsArrow(result.second, &from, &to)) {
      if (!kinds.IsOpen(result.second)) {
        Error(Diag::TypeTooManyArguments, type->span,
              con ? Text(con->name.text) : diags_.sources().Text(head->span), next,
              next == 1 ? "type argument" : "type arguments", args.size());
        if (con && next == 0)
          diags_.Hint(fmt::format("is a comma or `->` missing, as in `({0}, {1})` or `{0} -> {1}`?", Text(con->name.text),
                                  diags_.sources().Text(args[0]->span)));
        return {unify_.FreshAny(), kinds.Fresh()};
      }
      from = kinds.Fresh(), to = kinds.Fresh();
      kinds.Unify(result.second, kinds.Arrow(from, to));
    }
    result = {types_.App(result.first, ConvertType(args[next], scope, from)), to};
  }
  return result;
}

TypeId Checker::DimLiteral(const ast::DimType* type) {
  std::string digits(Text(type->digits));
  std::erase(digits, '_');
  int64_t value = 0;
  if (llvm::StringRef(digits).getAsInteger(0, value) || value > kMaxDim) {
    Error(Diag::DimensionTooLarge, type->span, Text(type->digits), kMaxDim);
    return unify_.FreshAny();
  }
  return types_.Dim(value);
}

// [m, n]: each element is a dimension.
TypeId Checker::ConvertShape(const ast::ListType* list, TypeVarScope& scope) {
  llvm::SmallVector<TypeId> dims;
  for (const ast::Type* element : list->elements) dims.push_back(ConvertType(element, scope, env_.kinds.Dim()));
  return types_.Shape(dims);
}

// Sums and products of dimensions; `n : s`, a shape that begins with n. Long chains lean to the left, and are walked.
std::pair<TypeId, KindId> Checker::ConvertDimOp(const ast::DimOpType* type, TypeVarScope& scope) {
  Kinds& kinds = env_.kinds;
  if (type->op == ':') {
    TypeId dim = ConvertType(type->left, scope, kinds.Dim());
    return {types_.ShapeCons(dim, ConvertType(type->right, scope, kinds.Shape())), kinds.Shape()};
  }
  llvm::SmallVector<const ast::DimOpType*> chain;
  const ast::Type* first = type;
  while (const auto* op = llvm::dyn_cast<ast::DimOpType>(first)) {
    if (op->op == ':') break;
    chain.push_back(op);
    first = op->left;
  }
  Dimension sum = types_.DimensionOf(ConvertType(first, scope, kinds.Dim()));
  for (const ast::DimOpType* op : llvm::reverse(chain)) {
    Dimension right = types_.DimensionOf(ConvertType(op->right, scope, kinds.Dim()));
    sum = op->op == '*' ? sum * right : op->op == '+' ? sum + right : sum - right;
  }
  if (sum == Dimension::Constant(Dimension::kTooLarge)) Error(Diag::DimensionTooLarge, type->span, diags_.sources().Text(type->span), kMaxDim);
  return {types_.Dim(sum), kinds.Dim()};
}

TypeId Checker::ConvertType(const ast::Type* type, TypeVarScope& scope, KindId expected) {
  CheckBudget();
  // [n] and [] are shapes where a shape is wanted, else lists.
  if (env_.kinds.Prune(expected) == env_.kinds.Shape()) {
    if (const auto* list = llvm::dyn_cast<ast::ListType>(type)) return ConvertShape(list, scope);
    const auto* con = llvm::dyn_cast<ast::ConType>(type);
    if (con && Text(con->name.text) == "[]") return types_.Shape({});
  }
  auto [result, kind] = ConvertApplied(type, scope);
  if (env_.kinds.Unify(kind, expected)) return result;
  uint32_t has = env_.kinds.Params(kind), wants = env_.kinds.Params(expected);
  std::string text(diags_.sources().Text(type->span));
  if (has > wants && wants == 0) {
    Error(Diag::TypeNeedsArguments, type->span, text, has, has == 1 ? "argument" : "arguments");
    if (text == "IO") diags_.Hint("`IO ()` is the type of an action that gives nothing");
    else if (text.starts_with("Tensor [")) diags_.Hint(fmt::format("the type of the elements stands before the shape: `Tensor Float {}`", text.substr(7)));
    else if (const auto* con = llvm::dyn_cast<ast::ConType>(type); con && has == 1) diags_.Hint(fmt::format("its argument follows it: `({} a)`", text));
  } else Error(Diag::KindMismatch, type->span, text, env_.kinds.Print(kind), env_.kinds.Print(expected));
  if (env_.kinds.Prune(kind) == env_.kinds.Dim() && env_.kinds.Prune(expected) == env_.kinds.Shape())
    diags_.Hint(fmt::format("a shape is a list of dimensions: `[{}]`", text));
  // `instance Functor (Tree a)`
  const ast::Type* shorter = type;
  for (uint32_t surplus = wants - has; has < wants && shorter && surplus > 0; --surplus) {
    const auto* app = llvm::dyn_cast<ast::AppType>(shorter);
    shorter = app ? app->fn : nullptr;
  }
  if (has < wants && shorter)
    diags_.Hint(fmt::format("without the last {}: `{}`", wants - has == 1 ? "argument" : "arguments",
                            diags_.sources().Text(shorter->span)));
  else if (has < wants)
    diags_.Hint(fmt::format("what stands here takes {}, as `Maybe` and `[]` do",
                            wants - has == 1 ? "one more type argument" : "more type arguments"));
  return unify_.FreshAny();
}

bool Checker::ConvertContext(ast::List<ast::Constraint> context, TypeVarScope& scope,
                             std::vector<core::Pred>& out) {
  bool ok = true;
  for (const ast::Constraint& constraint : context) {
    ClassId cls = FindClass(constraint.cls);
    if (!cls.valid()) {
      ok = false;
      continue;
    }
    TypeId type = ConvertType(constraint.type, scope, env_.class_kinds[cls.index]);
    out.push_back({cls, type, constraint.span});
  }
  return ok;
}

core::Scheme Checker::ConvertScheme(const ast::QualType& type, TypeVarScope& scope) {
  core::Scheme scheme;
  size_t outer = scope.names.size();
  CheckDistinctParameters(type.forall);
  for (const ast::Name& binder : type.forall) {
    TyVarId id = types_.NewVar(binder.text, binder.span);
    scope.fresh.push_back(id);
    scope.names.push_back({binder.text, {types_.Var(id), env_.kinds.Fresh()}});
    UseWrittenKind(binder, scope.names.back().second.second);
  }
  if (!type.forall.empty()) scope.implicit = false;
  size_t preds_from = 0;
  // The context comes first in the text, so its variables are quantified first, as GHC does.
  ConvertContext(type.context, scope, scheme.preds);
  scheme.type = ConvertType(type.type, scope, env_.kinds.Star());
  scheme.tyvars = scope.fresh;
  for (size_t i = outer; i < scope.names.size(); ++i) env_.kinds.Default(scope.names[i].second.second);
  // A class constraint on a variable that the type does not mention can never be settled.
  llvm::SmallVector<TyVarId> in_type;
  types_.FreeVars(scheme.type, in_type);
  for (size_t i = preds_from; i < scheme.preds.size(); ++i) {
    llvm::SmallVector<TyVarId> vars;
    types_.FreeVars(scheme.preds[i].type, vars);
    for (TyVarId var : vars)
      if (std::find(in_type.begin(), in_type.end(), var) == in_type.end() &&
          std::find(scope.fresh.begin(), scope.fresh.end(), var) != scope.fresh.end()) {
        Error(Diag::AmbiguousSignature, scheme.preds[i].span, Text(types_.vars[var].name))
            .Hint("the variable has to appear in the type itself as well");
        break;
      }
  }
  return scheme;
}

std::unique_ptr<Signature> Checker::ConvertSignature(const ast::QualType& type, Span name_span) {
  auto signature = std::make_unique<Signature>();
  TypeVarScope scope = ScopedTypeVars();
  size_t errors = diags_.error_count();
  signature->scheme = ConvertScheme(type, scope);
  signature->name_span = name_span;
  signature->type_span = type.span;
  // Only with ScopedTypeVariables does a `forall` bring its variables into scope of the definition.
  for (const ast::Name& binder : type.forall)
    for (const auto& entry : scope.names)
      if ((options_.library || options_.repl || HasExtension("ScopedTypeVariables")) && entry.first == binder.text) signature->scoped.push_back(entry);
  // A type that could not be read is as good as none: its metas would clash with nothing but tell nothing.
  return diags_.error_count() == errors && !types_.HasMeta(signature->scheme.type) ? std::move(signature)
                                                                                  : nullptr;
}

}  // namespace df::check
