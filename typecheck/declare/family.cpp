// See family.h.
#include "typecheck/declare/family.h"

#include "llvm/ADT/STLExtras.h"
#include "typecheck/explain/explain.h"
#include "typecheck/explain/family.h"
#include "typecheck/resolve/find.h"
#include "typecheck/resolve/types.h"
#include "typecheck/state/looks.h"
#include "typecheck/state/names.h"

namespace df::check {
namespace {

// Of a class, if it stands in one.
void EnterFamily(State& s, const ast::TypeFamilyDecl* decl, ClassId owner) {
  if (auto known = s.exports.types.find(decl->name.text); known != s.exports.types.end()) {
    Diagnostics& diag = s.Error(Diag::DuplicateType, decl->name.span, Text(decl->name.text));
    if (known->second.con.valid()) diag.Note(s.types.cons[known->second.con].span, "it is declared here first");
    return;
  }
  CheckDistinctParameters(s, decl->params);
  TyCon row;
  row.name = decl->name.text;
  row.span = decl->name.span;
  const TyConId con = s.types.cons.Add(std::move(row));
  s.types.MakeFamily(con, static_cast<uint32_t>(decl->params.size()), decl->closed, decl->name.span);
  TypeFamily& family = s.types.families.back();
  if (owner.valid()) family.owner = owner.index;
  for (const ast::Name& param : decl->params) family.params.push_back(s.types.NewVar(param.text, param.span));
  s.families.push_back({decl, con});
  s.scope->types.Add(decl->name.text, TypeName{con});
  if (s.module.name.text.valid()) s.scope->types.Add(decl->name.text, TypeName{con}, s.module.name.text);
  s.exports.types[decl->name.text] = TypeName{con};
}

// The family and its arguments on the left side of an equation.
const ast::Type* LeftSide(const ast::Type* left, State& s, ast::Name& name, llvm::SmallVectorImpl<const ast::Type*>& args) {
  if (const auto* op = llvm::dyn_cast<ast::DimOpType>(left)) {
    name = {Intern(std::string(1, op->op)), {}, op->span};
    args.push_back(op->left);
    args.push_back(op->right);
    return left;
  }
  for (; const auto* app = llvm::dyn_cast<ast::AppType>(left); left = app->fn) args.push_back(app->arg);
  std::reverse(args.begin(), args.end());
  const auto* con = llvm::dyn_cast<ast::ConType>(left);
  if (con) name = con->name;
  else s.Error(Diag::FamilyEquation, left->span, s.diags.sources().Text(left->span), "does not begin with a family");
  return con;
}

// A family on the right side that may be as large as the left one: then the equations may lead on for ever.
const char* Grows(const Types& types, const FamilyEquation& equation, TypeId type) {
  if (!types.HasFamily(type) || types.Kind(type) != TypeKind::App) return nullptr;
  if (!types.IsFamily(type)) {
    const char* fn = Grows(types, equation, types.FnOf(type));
    return fn ? fn : Grows(types, equation, types.ArgOf(type));
  }
  llvm::SmallVector<TypeId> args;
  types.Head(type, &args);
  uint32_t size = 0, left = 0;
  for (TypeId arg : args) {
    if (types.HasFamily(arg)) return "a family of types within the argument of another one";
    size += types.SizeOf(arg);
  }
  for (TypeId arg : equation.left) left += types.SizeOf(arg);
  bool more = false;
  for (TyVarId var : equation.vars) {
    uint32_t here = 0, there = 0;
    for (TypeId arg : args) here += Occurrences(types, arg, var);
    for (TypeId arg : equation.left) there += Occurrences(types, arg, var);
    more |= here > there;
  }
  return size >= left || more ? "a family of types on arguments that are no smaller than those on the left side" : nullptr;
}

void Add(State& s, TyConId con, FamilyEquation equation) {
  const uint32_t number = s.types.cons[con].family;
  s.grown_families.push_back({number, s.types.families[number].equations.size()});
  s.types.AddEquation(number, std::move(equation));
}

// Whether the two are written alike.
bool IsSameType(const ast::Type* a, const ast::Type* b) {
  if (a->kind != b->kind) return false;
  auto all = [](ast::List<ast::Type*> x, ast::List<ast::Type*> y) {
    return x.size() == y.size() && llvm::all_of(llvm::zip(x, y), [](const auto& pair) { return IsSameType(std::get<0>(pair), std::get<1>(pair)); });
  };
  switch (a->kind) {
    case ast::TypeKind::Con: return llvm::cast<ast::ConType>(a)->name.text == llvm::cast<ast::ConType>(b)->name.text;
    case ast::TypeKind::Var: return llvm::cast<ast::VarType>(a)->name == llvm::cast<ast::VarType>(b)->name;
    case ast::TypeKind::App:
      return IsSameType(llvm::cast<ast::AppType>(a)->fn, llvm::cast<ast::AppType>(b)->fn) && IsSameType(llvm::cast<ast::AppType>(a)->arg, llvm::cast<ast::AppType>(b)->arg);
    case ast::TypeKind::Fun:
      return IsSameType(llvm::cast<ast::FunType>(a)->from, llvm::cast<ast::FunType>(b)->from) && IsSameType(llvm::cast<ast::FunType>(a)->to, llvm::cast<ast::FunType>(b)->to);
    case ast::TypeKind::Tuple: return all(llvm::cast<ast::TupleType>(a)->elements, llvm::cast<ast::TupleType>(b)->elements);
    case ast::TypeKind::List: return all(llvm::cast<ast::ListType>(a)->elements, llvm::cast<ast::ListType>(b)->elements);
    default: return true;
  }
}

// An equation within an instance is of a family of its class, at the types of the instance.
bool FitsInstance(State& s, const TypeFamily& family, const ast::TypeEquation& written, llvm::ArrayRef<const ast::Type*> args, const ast::InstanceDecl* instance) {
  const ClassId* cls = instance ? Look(s.scope->classes, instance->cls) : nullptr;
  if (!cls && family.owner == UINT32_MAX) return true;
  const std::string_view name = Text(s.types.cons[family.con].name);
  if (!instance) {
    s.Error(Diag::FamilyEquation, written.left->span, name, "stands outside of the instances of the class that the family belongs to").Note(Shown(s, family.span), "the family is declared here");
    return false;
  }
  if (!cls || family.owner != cls->index) {
    s.Error(Diag::FamilyEquation, written.left->span, name, "stands in an instance of another class").Note(Shown(s, family.span), "the family is declared here");
    return false;
  }
  const std::vector<TyVarId>& params = s.program.classes[*cls].params;
  llvm::SmallVector<const ast::Type*> types(instance->args.begin(), instance->args.end());
  if (types.empty()) types.push_back(instance->type);
  for (size_t i = 0; i < args.size() && i < family.params.size(); ++i)
    for (size_t k = 0; k < params.size() && k < types.size(); ++k)
      if (s.types.vars[params[k]].name == s.types.vars[family.params[i]].name && !IsSameType(args[i], types[k])) {
        s.Error(Diag::FamilyEquation, args[i]->span, name, fmt::format("is of `{}`, and the instance of `{}`", s.diags.sources().Text(args[i]->span), s.diags.sources().Text(types[k]->span)));
        return false;
      }
  return true;
}

// `closed`: the family in whose declaration it stands; invalid for others. `instance`: that it stands in, if any.
void DeclareEquation(State& s, const ast::TypeEquation& written, TyConId closed, const ast::InstanceDecl* instance = nullptr) {
  ast::Name name{};
  llvm::SmallVector<const ast::Type*> args;
  if (!LeftSide(written.left, s, name, args)) return;
  const TypeName* found = FindType(s, name);
  if (!found) return;
  const bool family = !found->is_synonym() && s.types.cons[found->con].family != UINT32_MAX;
  if (!family || (closed.valid() && found->con != closed)) {
    s.Error(Diag::FamilyEquation, written.left->span, Text(name.text), closed.valid() ? "stands in the declaration of another family" : "is of no type family");
    return;
  }
  const TyConId con = found->con;
  const uint32_t number = s.types.cons[con].family;
  if (!closed.valid() && s.types.families[number].closed) {
    s.Error(Diag::FamilyEquation, written.left->span, Text(name.text), "stands outside of its declaration, where all equations of a closed family are").Note(Shown(s, s.types.cons[con].span), "the family is declared here");
    return;
  }
  if (args.size() != s.types.cons[con].arity) {
    s.Error(Diag::FamilyEquation, written.left->span, Text(name.text), fmt::format("has {} arguments instead of {}", args.size(), s.types.cons[con].arity));
    return;
  }
  if (!closed.valid() && !FitsInstance(s, s.types.families[number], written, args, instance)) return;
  const uint32_t errors = s.diags.error_count();
  TypeVarScope scope;
  FamilyEquation equation;
  equation.span = written.span;
  KindId kind = s.env.KindOf(con), from;
  for (const ast::Type* arg : args) {
    s.env.kinds.IsArrow(kind, &from, &kind);
    equation.left.push_back(ConvertType(s, arg, scope, from));
    if (s.types.HasFamily(equation.left.back())) s.Error(Diag::FamilyHere, arg->span, s.diags.sources().Text(arg->span), "on the left side of an equation");
    if (s.types.Kind(equation.left.back()) == TypeKind::Forall) s.Error(Diag::FamilyEquation, arg->span, Text(name.text), "is of a type with `forall`");
  }
  equation.vars = scope.fresh;
  scope.implicit = false;
  equation.right = ConvertType(s, written.right, scope, kind);
  for (const auto& [variable, entry] : scope.names) s.open_kinds.push_back(entry.second);
  if (s.diags.error_count() != errors || s.types.HasMeta(equation.right)) return;
  if (const char* why = Grows(s.types, equation, equation.right); why && !s.options.repl && !s.options.library && !HasExtension(s, "UndecidableInstances"))
    s.Error(Diag::NeedsExtension, written.right->span, why, "UndecidableInstances").Hint("write `{-# LANGUAGE UndecidableInstances #-}` in the first line");
  if (!closed.valid())
    for (const FamilyEquation& other : std::vector<FamilyEquation>(s.types.families[number].equations))
      if (!s.types.Agree(other, equation)) {
        s.Error(Diag::FamilyClash, written.span, Text(name.text), s.diags.sources().Text(written.span), s.diags.sources().Text(other.span)).Note(Shown(s, other.span), "the other one is here");
        return;
      }
  Add(s, con, std::move(equation));
}

// `type F a = t` in a class: what F is where an instance does not say it.
void DeclareDefault(State& s, const ast::ClassDecl* cls, const ast::TypeEquation& written) {
  ast::Name name{};
  llvm::SmallVector<const ast::Type*> args;
  if (!LeftSide(written.left, s, name, args)) return;
  const auto own = llvm::find_if(s.families, [&](const auto& entry) { return entry.first->name.text == name.text; });
  if (own == s.families.end() || !llvm::is_contained(cls->members, own->first)) {
    s.Error(Diag::FamilyEquation, written.left->span, Text(name.text), "is of no family of this class");
    return;
  }
  const TyConId con = own->second;
  const uint32_t number = s.types.cons[con].family;
  TypeVarScope scope;
  scope.implicit = false;
  KindId kind = s.env.KindOf(con), from;
  for (size_t i = 0; i < args.size() && i < s.types.families[number].params.size(); ++i) {
    s.env.kinds.IsArrow(kind, &from, &kind);
    const auto* var = llvm::dyn_cast<ast::VarType>(args[i]);
    if (!var) {
      s.Error(Diag::FamilyEquation, args[i]->span, Text(name.text), "is a default, whose arguments are variables");
      return;
    }
    scope.names.push_back({var->name, {s.types.Var(s.types.families[number].params[i]), from}});
  }
  const TypeId made = ConvertType(s, written.right, scope, kind);
  if (!s.types.HasMeta(made)) s.types.families[number].fallback = made;
}

}  // namespace

uint32_t Occurrences(const Types& types, TypeId type, TyVarId var) {
  if (types.Kind(type) == TypeKind::Var) return types.VarOf(type) == var;
  if (types.Kind(type) != TypeKind::App) return 0;
  return Occurrences(types, types.FnOf(type), var) + Occurrences(types, types.ArgOf(type), var);
}

void EnterFamilies(State& s) {
  for (const ast::Decl* decl : s.module.decls) {
    if (const auto* family = llvm::dyn_cast<ast::TypeFamilyDecl>(decl)) EnterFamily(s, family, ClassId());
    const auto* cls = llvm::dyn_cast<ast::ClassDecl>(decl);
    if (!cls) continue;
    for (const ast::Decl* member : cls->members)
      if (const auto* family = llvm::dyn_cast<ast::TypeFamilyDecl>(member)) EnterFamily(s, family, *s.scope->classes.Find(cls->name.text));
  }
}

void SettleFamilyKinds(State& s) {
  for (const auto& [decl, con] : s.families) {
    const TypeFamily& family = s.types.families[s.types.cons[con].family];
    KindId kind = decl->result ? ConvertKind(s, decl->result) : s.env.kinds.Star();
    if (const auto* result = decl->result ? llvm::dyn_cast<ast::ConType>(decl->result) : nullptr; result && Text(result->name.text) == "Constraint")
      s.Error(Diag::NotSupported, result->span, "families of contexts (of the kind `Constraint`) are").Hint("a class with an instance for each case can say the same: `class AllShow ts`");
    std::vector<KindId> params;
    for (const ast::Name& param : decl->params) {
      params.push_back(s.env.kinds.Fresh());
      s.open_kinds.push_back(params.back());
      UseWrittenKind(s, param, params.back());
      if (family.owner == UINT32_MAX) continue;
      // A variable of the class has its kind.
      const ClassId owner(family.owner);
      const std::vector<KindId> kinds = ParameterKinds(s, owner);
      for (size_t i = 0; i < kinds.size(); ++i)
        if (s.types.vars[s.program.classes[owner].params[i]].name == param.text) s.env.kinds.Unify(params.back(), kinds[i]);
    }
    for (KindId param : llvm::reverse(params)) kind = s.env.kinds.Arrow(param, kind);
    s.env.SetKind(con, kind);
  }
}

void DeclareEquations(State& s) {
  for (const auto& [decl, con] : s.families)
    for (const ast::TypeEquation& equation : decl->equations) DeclareEquation(s, equation, con);
  for (const ast::Decl* decl : s.module.decls) {
    if (const auto* instance = llvm::dyn_cast<ast::TypeInstanceDecl>(decl)) DeclareEquation(s, instance->equation, TyConId());
    if (const auto* instance = llvm::dyn_cast<ast::InstanceDecl>(decl))
      for (const ast::Decl* member : instance->members)
        if (const auto* equation = llvm::dyn_cast<ast::TypeInstanceDecl>(member)) DeclareEquation(s, equation->equation, TyConId(), instance);
    if (const auto* cls = llvm::dyn_cast<ast::ClassDecl>(decl))
      for (const ast::Decl* member : cls->members)
        if (const auto* equation = llvm::dyn_cast<ast::TypeInstanceDecl>(member)) DeclareDefault(s, cls, equation->equation);
  }
  for (const auto& [decl, con] : s.families) ReportEndless(s, decl->name.span);
}

void DefaultFamilies(State& s, const core::Instance& instance, const ast::InstanceDecl* decl) {
  const std::vector<TyVarId> class_params = s.program.classes[instance.cls].params;
  const auto args = core::ClassArguments(s.program, instance.cls, instance.head);
  for (uint32_t i = 0; i < s.types.families.size(); ++i) {
    const TypeFamily family = s.types.families[i];
    if (family.owner != instance.cls.index) continue;
    const Symbol name = s.types.cons[family.con].name;
    const bool defined = llvm::any_of(decl->members, [&](const ast::Decl* member) {
      const auto* equation = llvm::dyn_cast<ast::TypeInstanceDecl>(member);
      if (!equation) return false;
      const ast::Type* left = equation->equation.left;
      while (const auto* app = llvm::dyn_cast<ast::AppType>(left)) left = app->fn;
      const auto* con = llvm::dyn_cast<ast::ConType>(left);
      return con && con->name.text == name;
    });
    if (defined) continue;
    if (!family.fallback.valid()) {
      if (s.options.warnings && !s.options.library) s.diags.Report(Diag::FamilyMissing, decl->span, Text(s.program.classes[instance.cls].name), Text(name));
      continue;
    }
    FamilyEquation equation;
    equation.vars = instance.tyvars;
    equation.span = decl->span;
    for (TyVarId param : family.params) {
      const auto of_class = llvm::find_if(class_params, [&](TyVarId var) { return s.types.vars[var].name == s.types.vars[param].name; });
      if (of_class == class_params.end()) equation.vars.push_back(param);
      equation.left.push_back(of_class == class_params.end() ? s.types.Var(param) : args[static_cast<size_t>(of_class - class_params.begin())]);
    }
    equation.right = s.types.Substitute(family.fallback, family.params, equation.left);
    Add(s, family.con, std::move(equation));
  }
}

void DeclareRoles(State& s) {
  for (const ast::Decl* decl : s.module.decls) {
    const auto* role = llvm::dyn_cast<ast::RoleDecl>(decl);
    if (!role) continue;
    const auto own = llvm::find_if(s.data, [&](const auto& entry) { return entry.first->name.text == role->name.text; });
    if (own == s.data.end() || own->first->params.size() != role->roles.size()) {
      s.Error(Diag::NotSupported, role->name.span, "roles for anything but all parameters of a type of the module are");
      continue;
    }
    std::vector<std::optional<Role>>& written = s.types.cons[own->second].written_roles;
    for (const ast::Name& name : role->roles) {
      const std::string_view text = Text(name.text);
      written.push_back(text == "nominal" ? std::optional(Role::Nominal) : text == "_" ? std::nullopt : text == "phantom" ? std::optional(Role::Phantom) : std::optional(Role::Representational));
    }
  }
}

void ForgetEquations(State& s) {
  for (const auto& [number, count] : llvm::reverse(s.grown_families)) s.types.DropEquations(number, count);
}

}  // namespace df::check
