// Types as written -> types: scopes of type variables, kinds, contexts, synonyms, shapes.
#include "typecheck/resolve/types.h"

#include "lang/budget.h"
#include "typecheck/explain/family.h"
#include "typecheck/resolve/find.h"
#include "typecheck/resolve/promote.h"
#include "typecheck/state/instances.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

std::pair<TypeId, KindId> ConvertApplied(State& s, const ast::Type* type, TypeVarScope& scope);
TypeId DimLiteral(State& s, const ast::DimType* type);
TypeId ConvertShape(State& s, const ast::ListType* list, TypeVarScope& scope);
std::pair<TypeId, KindId> ConvertDimOp(State& s, const ast::DimOpType* type, TypeVarScope& scope);

// A polymorphic type has its variables and contexts in front: `a -> forall b. b` is `forall b. a -> b`, as in a signature.
TypeId InFront(State& s, core::Scheme scheme) {
  if (s.types.Kind(scheme.type) == TypeKind::Forall) {
    core::Scheme inner = core::OpenPoly(s.program, scheme.type);
    scheme.tyvars.insert(scheme.tyvars.end(), inner.tyvars.begin(), inner.tyvars.end());
    scheme.preds.insert(scheme.preds.end(), inner.preds.begin(), inner.preds.end());
    scheme.type = inner.type;
  }
  return core::PolyType(s.program, scheme);
}

TypeId ConvertForall(State& s, const ast::QualType& type, TypeVarScope& scope) {
  core::Scheme scheme;
  CheckDistinctParameters(s, type.forall);
  const size_t outer = scope.names.size();
  for (const ast::Name& binder : type.forall) {
    const TyVarId var = s.types.NewVar(binder.text, binder.span);
    scheme.tyvars.push_back(var);
    scope.names.push_back({binder.text, {s.types.Var(var), s.env.kinds.Fresh()}});
    s.open_kinds.push_back(scope.names.back().second.second);
    UseWrittenKind(s, binder, scope.names.back().second.second);
  }
  ConvertContext(s, type.context, scope, scheme.preds);
  scheme.type = ConvertType(s, type.type, scope, s.env.kinds.Star());
  // What was first met in here belongs to what is around.
  scope.names.erase(scope.names.begin() + static_cast<std::ptrdiff_t>(outer), scope.names.begin() + static_cast<std::ptrdiff_t>(outer + type.forall.size()));
  return InFront(s, std::move(scheme));
}

// A type that is an argument of another one, which no polymorphic type is.
TypeId ConvertArgument(State& s, const ast::Type* type, TypeVarScope& scope, KindId kind) {
  const TypeId made = ConvertType(s, type, scope, kind);
  if (s.types.Kind(made) != TypeKind::Forall) return made;
  s.Error(Diag::PolymorphicArgument, type->span, s.diags.sources().Text(type->span))
      .Hint("a `newtype` with a field of this type can stand there: `newtype F = F (forall a. a -> a)`");
  return s.unify.FreshAny();
}

TypeId ExpandSynonym(State& s, const Synonym& synonym, llvm::ArrayRef<TypeId> args) {
  return s.types.Substitute(synonym.body, synonym.params, args);
}


// A type constructor, variable, or a form with brackets: everything but an application.
// A variable within the declaration of a type whose head does not name it.
void HintAtHead(State& s, Span use, Symbol variable) {
  for (const ast::Decl* decl : s.module.decls) {
    if (use.file != decl->span.file || use.begin < decl->span.begin || decl->span.end < use.end) continue;
    const auto* data = llvm::dyn_cast<ast::DataDecl>(decl);
    const auto* synonym = llvm::dyn_cast<ast::TypeSynonymDecl>(decl);
    if (!data && !synonym) return;
    if (s.options.repl && !data && Text(synonym->name.text) == "it") return;  // `:kind a`
    std::string head(Text(data ? data->name.text : synonym->name.text));
    for (const ast::Name& param : data ? data->params : synonym->params) head += fmt::format(" {}", Text(param.text));
    return void(s.diags.Hint(fmt::format("the type's variables stand before the `=`: `{} {} {} = ..`",
                                        !data ? "type" : data->newtype ? "newtype" : "data", head, Text(variable))));
  }
}

std::pair<TypeId, KindId> Promoted(State& s, ConId con);

// DataKinds: `'[a, b]`, a list of types.
TypeId ConvertTypeList(State& s, const ast::ListType* list, TypeVarScope& scope) {
  TypeId made = Promoted(s, s.program.nil_con).first;
  const TypeId cons = Promoted(s, s.program.cons_con).first;
  for (const ast::Type* element : llvm::reverse(list->elements))
    made = s.types.App(s.types.App(cons, ConvertType(s, element, scope, s.env.kinds.Star())), made);
  return made;
}

// DataKinds: `'S n`, a constructor as a type.
std::pair<TypeId, KindId> Promoted(State& s, ConId con) {
  TyConId& made = s.env.promoted[con.index];
  const auto arity = static_cast<uint32_t>(s.program.constructors[con].fields.size());
  if (!made.valid()) {  // those of lists are the same in all modules
    TyCon row;
    row.name = s.program.constructors[con].name;
    row.arity = arity;
    row.tangent = TangentForm::Unit;
    made = s.types.cons.Add(std::move(row));
    s.env.SetKind(made, s.env.kinds.Arrows(arity));
  }
  return {s.types.Con(made), s.env.KindOf(made)};
}

std::pair<TypeId, KindId> ConvertHead(State& s, const ast::Type* type, TypeVarScope& scope) {
  Kinds& kinds = s.env.kinds;
  switch (type->kind) {
    case ast::TypeKind::Con: {
      const ast::Name& name = llvm::cast<ast::ConType>(type)->name;
      std::string_view text = Text(name.text);
      if (text.size() >= 3 && text[0] == '(' && text[1] == ',') {
        TyConId con =
            s.program.constructors[TupleConstructor(s.env, s.program, uint32_t(text.size() - 1))].tycon;
        return {s.types.Con(con), s.env.KindOf(con)};
      }
      if (text == "(->)") return {s.types.Con(s.types.Known(Builtin::Function)), kinds.Arrows(2)};
      if (HasExtension(s, "DataKinds") && !LookUpType(s, name)) {
        if (declare_constructor && !LookUpConstructor(s, name).valid()) declare_constructor(s, name.text);
        if (ConId con = LookUpConstructor(s, name); con.valid()) return Promoted(s, con);
      }
      const TypeName* found = FindType(s, name);
      if (!found) return {s.unify.FreshAny(), kinds.Fresh()};
      return {s.types.Con(found->con), s.env.KindOf(found->con)};
    }
    case ast::TypeKind::Var: {
      const auto* var = llvm::cast<ast::VarType>(type);
      for (size_t i = scope.names.size(); i-- > 0;)
        if (scope.names[i].first == var->name) {
          auto [found, kind] = scope.names[i].second;
          UseWrittenKind(s, {var->name, {}, type->span}, kind);
          return {found, kind};
        }
      if (!scope.implicit) {
        s.Error(Diag::UnboundTypeVariable, type->span, Text(var->name));
        HintAtHead(s, type->span, var->name);
        return {s.unify.FreshAny(), kinds.Fresh()};
      }
      TyVarId id = s.types.NewVar(var->name, type->span);
      scope.fresh.push_back(id);
      scope.names.push_back({var->name, {s.types.Var(id), kinds.Fresh()}});
      UseWrittenKind(s, {var->name, {}, type->span}, scope.names.back().second.second);
      return scope.names.back().second;
    }
    case ast::TypeKind::Fun: {
      // Long arrows are walked, not recursed into.
      llvm::SmallVector<TypeId> params;
      const ast::Type* rest = type;
      while (const auto* fun = llvm::dyn_cast<ast::FunType>(rest)) {
        params.push_back(ConvertType(s, fun->from, scope, kinds.Star()));
        rest = fun->to;
      }
      TypeId result = ConvertType(s, rest, scope, kinds.Star());
      if (s.types.Kind(result) != TypeKind::Forall) return {s.types.Fun(params, result), kinds.Star()};
      core::Scheme scheme = core::OpenPoly(s.program, result);
      scheme.type = s.types.Fun(params, scheme.type);
      return {core::PolyType(s.program, scheme), kinds.Star()};
    }
    case ast::TypeKind::Tuple: {
      llvm::SmallVector<TypeId> elements;
      for (const ast::Type* element : llvm::cast<ast::TupleType>(type)->elements)
        elements.push_back(ConvertArgument(s, element, scope, kinds.Star()));
      if (elements.size() > 62) {
        s.Error(Diag::TupleTooLong, type->span, elements.size());
        return {s.unify.FreshAny(), kinds.Star()};
      }
      if (elements.size() >= 2) TupleConstructor(s.env, s.program, static_cast<uint32_t>(elements.size()));
      return {s.types.Tuple(elements), kinds.Star()};
    }
    case ast::TypeKind::List: {
      const auto* list = llvm::cast<ast::ListType>(type);
      if (list->promoted || (list->elements.size() != 1 && HasExtension(s, "DataKinds"))) return {ConvertTypeList(s, list, scope), kinds.Star()};
      if (list->elements.size() != 1) return {ConvertShape(s, list, scope), kinds.Shape()};
      return {s.types.List(ConvertArgument(s, list->elements[0], scope, kinds.Star())), kinds.Star()};
    }
    case ast::TypeKind::Bang: return ConvertApplied(s, llvm::cast<ast::BangType>(type)->type, scope);
    case ast::TypeKind::Dim: return {DimLiteral(s, llvm::cast<ast::DimType>(type)), kinds.Dim()};
    case ast::TypeKind::DimOp: return ConvertDimOp(s, llvm::cast<ast::DimOpType>(type), scope);
    case ast::TypeKind::Forall: return {ConvertForall(s, llvm::cast<ast::ForallType>(type)->body, scope), kinds.Star()};
    case ast::TypeKind::Error: return {s.unify.FreshAny(), kinds.Fresh()};
    case ast::TypeKind::App: break;
  }
  return ConvertApplied(s, type, scope);
}

// `Tensor [3, 4] Float`, `Tensor Float (3, 4)`: one mistake, of which each part would be an error of kinds.
bool ReportShape(State& s, const ast::Type* element, const ast::Type* shape) {
  auto text = [&](const ast::Type* type) { return s.diags.sources().Text(type->span); };
  if (llvm::isa<ast::ListType>(element) && !llvm::isa<ast::ListType>(shape)) {
    s.Error(Diag::KindMismatch, element->span, text(element), "Shape", "*")
        .Hint(fmt::format("the type of the elements stands before the shape: `Tensor {} {}`", text(shape), text(element)));
    return true;
  }
  if (!llvm::isa<ast::TupleType>(shape)) return false;
  std::string_view dims = text(shape);
  s.Error(Diag::KindMismatch, shape->span, dims, "*", "Shape").Hint(fmt::format("a shape stands in brackets: `[{}]`", dims.substr(1, dims.size() - 2)));
  return true;
}

std::pair<TypeId, KindId> ConvertApplied(State& s, const ast::Type* type, TypeVarScope& scope) {
  Kinds& kinds = s.env.kinds;
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
  const TypeName* name = con ? LookUpType(s, con->name) : nullptr;
  if (con && args.size() == 2 && Text(con->name.text) == "Tensor" && ReportShape(s, args[0], args[1])) return {s.unify.FreshAny(), kinds.Fresh()};
  if (name && name->is_synonym() && !FindType(s, con->name)) return {s.unify.FreshAny(), kinds.Fresh()};  // it may be several
  if (name && name->is_synonym()) {
    ResolveSynonym(s, name->synonym);
    size_t wanted = s.env.synonyms[name->synonym].params.size();
    if (args.size() < wanted) {
      s.Error(Diag::SynonymPartial, type->span, Text(con->name.text), wanted,
            wanted == 1 ? "argument" : "arguments", args.size())
          .Note(s.env.synonyms[name->synonym].span, "a type synonym stands with all of its arguments");
      return {s.unify.FreshAny(), kinds.Fresh()};
    }
    llvm::SmallVector<TypeId> types;
    for (; next < wanted; ++next)
      types.push_back(ConvertType(s, args[next], scope, s.env.synonyms[name->synonym].param_kinds[next]));
    const Synonym& synonym = s.env.synonyms[name->synonym];
    result = {ExpandSynonym(s, synonym, types), synonym.result_kind};
  } else if (name && s.types.cons[name->con].family != UINT32_MAX && args.size() < s.types.cons[name->con].arity) {
    const size_t wanted = s.types.cons[name->con].arity;
    s.Error(Diag::SynonymPartial, type->span, Text(con->name.text), wanted, wanted == 1 ? "argument" : "arguments", args.size())
        .Note(s.types.cons[name->con].span, "a type family stands with all of its arguments");
    return {s.unify.FreshAny(), kinds.Fresh()};
  } else if (args.empty()) {
    return ConvertHead(s, head, scope);
  } else {
    result = ConvertHead(s, head, scope);
  }
  for (; next < args.size(); ++next) {
    KindId from, to;
    if (!kinds.IsArrow(result.second, &from, &to)) {
      if (!kinds.IsOpen(result.second)) {
        s.Error(Diag::TypeTooManyArguments, type->span,
              con ? Text(con->name.text) : s.diags.sources().Text(head->span), next,
              next == 1 ? "type argument" : "type arguments", args.size());
        if (con && next == 0)
          s.diags.Hint(fmt::format("is a comma or `->` missing, as in `({0}, {1})` or `{0} -> {1}`?", Text(con->name.text),
                                  s.diags.sources().Text(args[0]->span)));
        return {s.unify.FreshAny(), kinds.Fresh()};
      }
      from = kinds.Fresh(), to = kinds.Fresh();
      kinds.Unify(result.second, kinds.Arrow(from, to));
    }
    result = {s.types.App(result.first, ConvertArgument(s, args[next], scope, from)), to};
  }
  return result;
}

TypeId DimLiteral(State& s, const ast::DimType* type) {
  std::string digits(Text(type->digits));
  std::erase(digits, '_');
  int64_t value = 0;
  if (llvm::StringRef(digits).getAsInteger(0, value) || value > kMaxDim) {
    s.Error(Diag::DimensionTooLarge, type->span, Text(type->digits), kMaxDim);
    return s.unify.FreshAny();
  }
  return s.types.Dim(value);
}

// [m, n]: each element is a dimension.
TypeId ConvertShape(State& s, const ast::ListType* list, TypeVarScope& scope) {
  llvm::SmallVector<TypeId> dims;
  for (const ast::Type* element : list->elements) dims.push_back(ConvertType(s, element, scope, s.env.kinds.Dim()));
  return s.types.Shape(dims);
}

// Sums and products of dimensions; `n : s`, a shape that begins with n. Long chains lean to the left, and are walked.
std::pair<TypeId, KindId> ConvertDimOp(State& s, const ast::DimOpType* type, TypeVarScope& scope) {
  Kinds& kinds = s.env.kinds;
  const ast::Name op{Intern(std::string(1, type->op)), {}, type->span};
  const bool list = type->op == ':' && HasExtension(s, "DataKinds");
  if (const TypeName* named = list ? nullptr : LookUpType(s, op); list || named) {
    TypeId result = list ? Promoted(s, s.program.cons_con).first : s.types.Con(named->con);
    KindId kind = list ? kinds.Arrows(2) : s.env.KindOf(named->con), from;
    for (const ast::Type* side : {type->left, type->right}) {
      if (!kinds.IsArrow(kind, &from, &kind)) break;
      result = s.types.App(result, ConvertType(s, side, scope, from));
    }
    return {result, kind};
  }
  if (type->op == ':') {
    TypeId dim = ConvertType(s, type->left, scope, kinds.Dim());
    return {s.types.ShapeCons(dim, ConvertType(s, type->right, scope, kinds.Shape())), kinds.Shape()};
  }
  llvm::SmallVector<const ast::DimOpType*> chain;
  const ast::Type* first = type;
  while (const auto* op = llvm::dyn_cast<ast::DimOpType>(first)) {
    if (op->op == ':') break;
    chain.push_back(op);
    first = op->left;
  }
  Dimension sum = s.types.DimensionOf(ConvertType(s, first, scope, kinds.Dim()));
  for (const ast::DimOpType* op : llvm::reverse(chain)) {
    Dimension right = s.types.DimensionOf(ConvertType(s, op->right, scope, kinds.Dim()));
    sum = op->op == '*' ? sum * right : op->op == '+' ? sum + right : sum - right;
  }
  if (sum == Dimension::Constant(Dimension::kTooLarge)) s.Error(Diag::DimensionTooLarge, type->span, s.diags.sources().Text(type->span), kMaxDim);
  return {s.types.Dim(sum), kinds.Dim()};
}

}  // namespace

KindId ConvertKind(State& s, const ast::Type* kind) {
  llvm::SmallVector<KindId> params;
  for (; const auto* fun = llvm::dyn_cast<ast::FunType>(kind); kind = fun->to) params.push_back(ConvertKind(s, fun->from));
  KindId result = s.env.kinds.Star();
  const auto* con = llvm::dyn_cast<ast::ConType>(kind);
  if (HasExtension(s, "DataKinds") && (llvm::isa<ast::ListType>(kind) || llvm::isa<ast::TupleType>(kind) || llvm::isa<ast::AppType>(kind) || llvm::isa<ast::VarType>(kind)))
    return s.env.kinds.Star();
  // DataKinds: types of such kinds are as good as types of values, which nobody has.
  const bool data = con && HasExtension(s, "DataKinds") && LookUpType(s, con->name);
  if (!data && (!con || (Text(con->name.text) != "*" && Text(con->name.text) != "Type"))) {
    if (!llvm::isa<ast::ErrorType>(kind)) s.Error(Diag::NotSupported, kind->span, "kinds but `Type` and `->` are");
    result = s.env.kinds.Fresh();
  }
  for (KindId param : llvm::reverse(params)) result = s.env.kinds.Arrow(param, result);
  return result;
}

void CheckDistinctParameters(State& s, llvm::ArrayRef<ast::Name> params) {
  for (size_t i = 0; i < params.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (params[j].text == params[i].text) {
        s.Error(Diag::DuplicateTypeVariable, params[i].span, Text(params[i].text)).Note(params[j].span, "it is bound here first");
        break;
      }
}

void ResolveSynonym(State& s, uint32_t index) {
  if (index < s.first_synonym) return;
  uint32_t at = index - s.first_synonym;
  if (s.synonym_state[at] == 2) return;
  const ast::TypeSynonymDecl* decl = s.synonym_decls[at].first;
  if (s.synonym_state[at] == 1) {
    s.Error(Diag::SynonymCycle, decl->name.span, Text(decl->name.text))
        .Hint("a `data` or `newtype` may refer to itself");
    if (!s.env.synonyms[index].body.valid()) s.env.synonyms[index].body = s.types.Scalar(Builtin::Unit);
    return;
  }
  s.synonym_state[at] = 1;
  TypeVarScope scope;
  scope.implicit = false;
  for (size_t i = 0; i < decl->params.size(); ++i)
    scope.names.push_back(
        {decl->params[i].text,
         {s.types.Var(s.env.synonyms[index].params[i]), s.env.synonyms[index].param_kinds[i]}});
  TypeId body = ConvertType(s, decl->type, scope, s.env.synonyms[index].result_kind);
  s.env.synonyms[index].body = body;
  s.synonym_state[at] = 2;
}

TypeVarScope ScopedTypeVars(const State& s) {
  TypeVarScope scope;
  scope.names = s.scoped_types;
  return scope;
}

void UseWrittenKind(State& s, const ast::Name& variable, KindId kind) {
  auto written = s.written_kinds.find(variable.span.begin);
  if (written == s.written_kinds.end()) return;
  KindId wanted = ConvertKind(s, written->second);
  if (!s.env.kinds.Unify(kind, wanted))
    s.Error(Diag::KindMismatch, variable.span, Text(variable.text), s.env.kinds.Print(kind), s.env.kinds.Print(wanted));
}

TypeId ConvertType(State& s, const ast::Type* type, TypeVarScope& scope, KindId expected) {
  CheckBudget();
  // [n] and [] are shapes where a shape is wanted, else lists.
  if (s.env.kinds.Prune(expected) == s.env.kinds.Shape()) {
    if (const auto* list = llvm::dyn_cast<ast::ListType>(type)) return ConvertShape(s, list, scope);
    const auto* con = llvm::dyn_cast<ast::ConType>(type);
    if (con && Text(con->name.text) == "[]") return s.types.Shape({});
  }
  // DataKinds: `[]` without its quote.
  const bool none = llvm::isa<ast::ConType>(type) && Text(llvm::cast<ast::ConType>(type)->name.text) == "[]" && HasExtension(s, "DataKinds");
  if (none && s.env.kinds.Prune(expected) == s.env.kinds.Star()) return Promoted(s, s.program.nil_con).first;
  auto [result, kind] = ConvertApplied(s, type, scope);
  if (s.env.kinds.Unify(kind, expected)) return result;
  uint32_t has = s.env.kinds.Params(kind), wants = s.env.kinds.Params(expected);
  std::string text(s.diags.sources().Text(type->span));
  if (has > wants && wants == 0) {
    s.Error(Diag::TypeNeedsArguments, type->span, text, has, has == 1 ? "argument" : "arguments");
    if (text == "IO") s.diags.Hint("`IO ()` is the type of an action that gives nothing");
    else if (text.starts_with("Tensor [")) s.diags.Hint(fmt::format("the type of the elements stands before the shape: `Tensor Float {}`", text.substr(7)));
    else if (const auto* con = llvm::dyn_cast<ast::ConType>(type); con && has == 1) s.diags.Hint(fmt::format("its argument follows it: `({} a)`", text));
  } else s.Error(Diag::KindMismatch, type->span, text, s.env.kinds.Print(kind), s.env.kinds.Print(expected));
  if (s.env.kinds.Prune(kind) == s.env.kinds.Dim() && s.env.kinds.Prune(expected) == s.env.kinds.Shape())
    s.diags.Hint(fmt::format("a shape is a list of dimensions: `[{}]`", text));
  // `instance Functor (Tree a)`
  const ast::Type* shorter = type;
  for (uint32_t surplus = wants - has; has < wants && shorter && surplus > 0; --surplus) {
    const auto* app = llvm::dyn_cast<ast::AppType>(shorter);
    shorter = app ? app->fn : nullptr;
  }
  if (has < wants && shorter)
    s.diags.Hint(fmt::format("without the last {}: `{}`", wants - has == 1 ? "argument" : "arguments",
                            s.diags.sources().Text(shorter->span)));
  else if (has < wants)
    s.diags.Hint(fmt::format("what stands here takes {}, as `Maybe` and `[]` do",
                            wants - has == 1 ? "one more type argument" : "more type arguments"));
  return s.unify.FreshAny();
}

std::vector<KindId> ParameterKinds(const State& s, ClassId cls) {
  const core::Class& row = s.program.classes[cls];
  if (!row.args.valid()) return {s.env.class_kinds[cls.index]};
  std::vector<KindId> kinds;
  KindId kind = s.env.KindOf(row.args), from;
  while (s.env.kinds.IsArrow(kind, &from, &kind) && kinds.size() < row.params.size()) kinds.push_back(from);
  return kinds;
}

TypeId ConvertClassArguments(State& s, ClassId cls, Span span, const ast::Type* type, ast::List<ast::Type*> args, TypeVarScope& scope) {
  const std::vector<KindId> kinds = ParameterKinds(s, cls);
  const size_t given = args.empty() ? 1 : args.size();
  if (given != kinds.size()) {
    const std::string_view name = Text(s.program.classes[cls].name);
    Diagnostics& diag = s.Error(Diag::ClassArity, span, name, kinds.size(), kinds.size() == 1 ? "parameter" : "parameters", given);
    // `instance Container Stack a`: the type wants parentheses, or stands without its last argument.
    if (kinds.size() == 1 && given == 2) {
      std::string_view first = s.diags.sources().Text(args[0]->span), second = s.diags.sources().Text(args[1]->span);
      diag.Hint(fmt::format("one type follows the class: `{0} ({1} {2})`, or `{0} {1}`", name, first, second));
    }
    return TypeId();
  }
  if (args.empty()) return ConvertType(s, type, scope, kinds[0]);
  llvm::SmallVector<TypeId> types;
  if (cls == s.program.equality) {  // of any kind
    const KindId kind = s.env.kinds.Fresh();
    s.open_kinds.push_back(kind);
    for (const ast::Type* arg : args) types.push_back(ConvertType(s, arg, scope, kind));
    return core::ClassType(s.program, cls, types);
  }
  for (size_t i = 0; i < args.size(); ++i) types.push_back(ConvertType(s, args[i], scope, kinds[i]));
  return core::ClassType(s.program, cls, types);
}

bool ConvertContext(State& s, ast::List<ast::Constraint> context, TypeVarScope& scope, std::vector<core::Pred>& out) {
  bool ok = true;
  for (const ast::Constraint& constraint : context) {
    // Of `MArray a e m`: whatever is imported.
    const bool hidden = Text(constraint.cls.text) == "PrimStateMonad";
    const bool equality = Text(constraint.cls.text) == "~";
    ClassId cls = hidden ? KnownClass(s, "PrimStateMonad") : equality ? s.program.equality : FindClass(s, constraint.cls);
    if (!cls.valid()) {
      ok = false;
      continue;
    }
    TypeId type = ConvertClassArguments(s, cls, constraint.span, constraint.type, constraint.args, scope);
    if (type.valid()) out.push_back({cls, type, constraint.span});
    ok &= type.valid();
  }
  return ok;
}

core::Scheme ConvertScheme(State& s, const ast::QualType& type, TypeVarScope& scope) {
  core::Scheme scheme;
  size_t outer = scope.names.size();
  CheckDistinctParameters(s, type.forall);
  for (const ast::Name& binder : type.forall) {
    TyVarId id = s.types.NewVar(binder.text, binder.span);
    scope.fresh.push_back(id);
    scope.names.push_back({binder.text, {s.types.Var(id), s.env.kinds.Fresh()}});
    UseWrittenKind(s, binder, scope.names.back().second.second);
  }
  if (!type.forall.empty()) scope.implicit = false;
  size_t preds_from = 0;
  // The context comes first in the text, so its variables are quantified first, as GHC does.
  ConvertContext(s, type.context, scope, scheme.preds);
  scheme.type = ConvertType(s, type.type, scope, s.env.kinds.Star());
  ReportEndless(s, type.span);
  scheme.tyvars = scope.fresh;
  if (s.types.Kind(scheme.type) == TypeKind::Forall) {
    core::Scheme inner = core::OpenPoly(s.program, scheme.type);
    scheme.tyvars.insert(scheme.tyvars.end(), inner.tyvars.begin(), inner.tyvars.end());
    scheme.preds.insert(scheme.preds.end(), inner.preds.begin(), inner.preds.end());
    scheme.type = inner.type;
  }
  for (size_t i = outer; i < scope.names.size(); ++i) s.env.kinds.Default(scope.names[i].second.second);
  // A class constraint on a variable that the type does not mention can never be settled.
  llvm::SmallVector<TyVarId> in_type;
  FixedVars(s.types, scheme.type, in_type);
  AddDetermined(s, scheme.preds, in_type);
  if (s.types.HasFamily(scheme.type) && !HasExtension(s, "AllowAmbiguousTypes")) {
    llvm::SmallVector<TyVarId> all;
    s.types.FreeVars(scheme.type, all);
    for (TyVarId var : all)
      if (!llvm::is_contained(in_type, var) && llvm::is_contained(scope.fresh, var)) {
        s.Error(Diag::AmbiguousSignature, type.type->span, Text(s.types.vars[var].name))
            .Hint("it stands as the argument of a type family alone, and what a family gives does not say of which argument");
        break;
      }
  }
  for (size_t i = preds_from; i < scheme.preds.size() && HasExtension(s, "AllowAmbiguousTypes"); ++i)
    s.types.FreeVars(scheme.preds[i].type, in_type);
  for (size_t i = preds_from; i < scheme.preds.size(); ++i) {
    llvm::SmallVector<TyVarId> vars;
    s.types.FreeVars(scheme.preds[i].type, vars);
    for (TyVarId var : vars)
      if (std::find(in_type.begin(), in_type.end(), var) == in_type.end() &&
          std::find(scope.fresh.begin(), scope.fresh.end(), var) != scope.fresh.end()) {
        s.Error(Diag::AmbiguousSignature, scheme.preds[i].span, Text(s.types.vars[var].name))
            .Hint("the variable has to appear in the type itself as well");
        break;
      }
  }
  return scheme;
}

std::unique_ptr<Signature> ConvertSignature(State& s, const ast::QualType& type, Span name_span) {
  auto signature = std::make_unique<Signature>();
  TypeVarScope scope = ScopedTypeVars(s);
  size_t errors = s.diags.error_count();
  signature->scheme = ConvertScheme(s, type, scope);
  signature->name_span = name_span;
  signature->type_span = type.span;
  // Only with ScopedTypeVariables does a `forall` bring its variables into scope of the definition.
  for (const ast::Name& binder : type.forall)
    for (const auto& entry : scope.names)
      if ((s.options.library || s.options.repl || HasExtension(s, "ScopedTypeVariables")) && entry.first == binder.text) signature->scoped.push_back(entry);
  // A type that could not be read is as good as none: its metas would clash with nothing but tell nothing.
  return s.diags.error_count() == errors && !s.types.HasMeta(signature->scheme.type) ? std::move(signature)
                                                                                  : nullptr;
}

}  // namespace df::check
