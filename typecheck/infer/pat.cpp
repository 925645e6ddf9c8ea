// Patterns.
#include "typecheck/checker.h"

namespace df::check {
namespace {

// `x : xs`
bool IsCons(const ast::Pat* pat) {
  const auto* con = llvm::dyn_cast<ast::ConPat>(pat);
  return con && Text(con->name.text) == ":";
}

}  // namespace

const core::Pat* Checker::MakePat(core::Pat pat) {
  const core::Pat* made = program_.NewPat(pat);
  pats_.push_back(const_cast<core::Pat*>(made));
  return made;
}

const core::Pat* Checker::BangPat(const core::Pat* pat) {
  core::Pat bang{};
  bang.kind = core::PatKind::Bang;
  bang.type = pat->type;
  bang.span = pat->span;
  bang.args = program_.Copy<const core::Pat*>({pat});
  return MakePat(bang);
}

const core::Pat* Checker::CheckOuterPat(const ast::Pat* pat, TypeId expected, const Reason& why,
                                        std::vector<Bound>& bound) {
  const core::Pat* made = CheckPat(pat, expected, why, bound);
  if (!strict_ || made->kind == core::PatKind::Bang) return made;
  while (const auto* paren = llvm::dyn_cast<ast::ParenPat>(pat)) pat = paren->pat;
  if (!llvm::isa<ast::LazyPat>(pat)) return BangPat(made);
  // `~p` takes the bang away and says nothing more, as in GHC: `~(C x)` is matched like `C x` without the extension.
  return made->args[0];
}

void Checker::BindAll(const std::vector<Bound>& bound) {
  for (const Bound& binder : bound) BindLocal(binder.name, binder.var);
}

bool Checker::CheckDistinct(const std::vector<Bound>& bound) {
  bool ok = true;
  llvm::DenseMap<uint32_t, Span> seen;
  for (const Bound& binder : bound) {
    auto [it, fresh] = seen.try_emplace(binder.name.index, binder.span);
    if (fresh) continue;
    ok = false;
    Error(Diag::DuplicateBinder, binder.span, Text(binder.name)).Note(it->second, "it is bound here first");
  }
  return ok;
}

// For messages about uses of the variable. What is not known yet gets its type from a use.
void Checker::RememberReason(VarId var, const Reason& why) {
  bool tells = why.kind == Reason::Signature || why.kind == Reason::Annotation || why.kind == Reason::Scrutinee;
  if (tells && !options_.library && types_.Kind(unify_.Prune(program_.vars[var].scheme.type)) != TypeKind::Meta)
    var_reasons_[var.index] = why;
}

// `Empty`, `:<|`, `:|>` of Data.Sequence: in a pattern they look at an end, in an expression they are functions.
bool Checker::IsSequencePattern(ConId con) const {
  if (!con.valid()) return false;
  const TyCon& type = types_.cons[program_.constructors[con].tycon];
  return (Text(type.name) == "PrimFront" || Text(type.name) == "PrimBack") && !Shown(type.span).valid();
}

ConId Checker::FindConstructorOf(const ast::Name& name, TypeId expected) {
  constructed_type_ = expected;
  ConId con = FindConstructor(name);
  constructed_type_ = TypeId();
  return con;
}

const core::Pat* Checker::CheckPat(const ast::Pat* pat, TypeId expected, const Reason& why,
                                   std::vector<Bound>& bound) {
  core::Pat node{};
  node.kind = core::PatKind::Wildcard;
  node.type = expected;
  node.span = pat->span;
  auto expect = [&](TypeId actual) {
    unify_.numbers_solved.clear();
    if (!options_.library) RecordPlace(actual, pat->span, Reason{});
    UnifyResult result = unify_.Unify(expected, actual);
    unify_.place = kNoPlace;
    if (result.ok()) return unify_.numbers_solved.empty() || NumbersFit(expected, actual, false, pat->span, why);
    bool rigid = types_.Kind(result.left) == TypeKind::Var || types_.Kind(result.right) == TypeKind::Var;
    if (result.clash != Clash::Mismatch || rigid) {
      ReportMismatch(result, expected, actual, pat->span, why);
    } else {
      std::vector<std::string> text = PrintTypes({actual, expected});
      Error(Diag::PatternMismatch, pat->span, text[0], text[1]);
      Explain(why);
      ExplainPlace(expected, pat->span);
      HintAtTangent(actual, expected);
      // `f (x, y) = ..` under `f :: Int -> Int -> Int`
      const auto* tuple = llvm::dyn_cast<ast::TuplePat>(pat);
      std::string_view parts = diags_.sources().Text(pat->span);
      if (tuple && !types_.IsTuple(unify_.Prune(expected)) && why.kind == Reason::Signature && parts.size() < 40 && llvm::all_of(tuple->elements, llvm::IsaPred<ast::VarPat>)) {
        std::string apart;
        for (const ast::Pat* part : tuple->elements) apart += fmt::format("{}{}", apart.empty() ? "" : " ", diags_.sources().Text(part->span));
        if (types_.BuiltinOf(unify_.Head(expected)) != Builtin::List) diags_.Hint(fmt::format("parameters stand one after the other: `{}`", apart));
        else if (tuple->elements.size() == 2)
          diags_.Hint(fmt::format("`({} : {})` takes a list apart", diags_.sources().Text(tuple->elements[0]->span), diags_.sources().Text(tuple->elements[1]->span)));
      }
    }
    return false;
  };
  auto constructor = [&](ConId con, llvm::ArrayRef<const ast::Pat*> args, bool record_pattern) {
    TypeArgs type_args;
    const TyCon& tycon = types_.cons[program_.constructors[con].tycon];
    for (size_t i = 0; i < tycon.params.size(); ++i) type_args.push_back(unify_.Fresh());
    bool ok = expect(types_.Con(program_.constructors[con].tycon, type_args));
    std::vector<const core::Pat*> core_args;
    size_t fields = program_.constructors[con].fields.size();
    for (size_t i = 0; i < fields; ++i) {
      TyConId owner = program_.constructors[con].tycon;
      TypeId type =
          types_.Substitute(program_.constructors[con].fields[i].type, types_.cons[owner].params, type_args);
      if (!ok) type = unify_.Fresh();
      if (i < args.size() && args[i]) {
        core_args.push_back(CheckPat(args[i], type, why, bound));
      } else {
        core::Pat wildcard{};
        wildcard.kind = core::PatKind::Wildcard;
        wildcard.type = type;
        wildcard.span = pat->span;
        core_args.push_back(MakePat(wildcard));
      }
    }
    if (!ok) return;
    node.kind = core::PatKind::Con;
    node.con = con;
    node.type_args = program_.Copy<TypeId>(type_args);
    node.args = program_.Copy<const core::Pat*>(core_args);
  };
  auto inner = [&](core::PatKind kind, const ast::Pat* sub) {
    const core::Pat* made = CheckPat(sub, expected, why, bound);
    node.kind = kind;
    node.args = program_.Copy<const core::Pat*>({made});
  };

  switch (pat->kind) {
    case ast::PatKind::Wildcard: break;
    case ast::PatKind::Var: {
      Symbol name = llvm::cast<ast::VarPat>(pat)->name;
      node.kind = core::PatKind::Var;
      node.var = program_.NewLocal(name, expected, pat->span);
      bound.push_back({name, node.var, pat->span});
      RememberReason(node.var, why);
      break;
    }
    case ast::PatKind::Literal: {
      const auto* literal = llvm::cast<ast::LiteralPat>(pat);
      node.kind = core::PatKind::Literal;
      node.text =
          literal->negative ? Intern("-" + std::string(Text(literal->value.text))) : literal->value.text;
      switch (literal->value.kind) {
        case ast::LiteralKind::Char:
          node.literal = core::LiteralKind::Char;
          if (!expect(types_.Scalar(Builtin::Char))) node.kind = core::PatKind::Wildcard;
          break;
        case ast::LiteralKind::String:
          node.literal = core::LiteralKind::String;
          if (IsOverloadedString(expected)) {
            Origin origin{Origin::String, pat->span, Intern(diags_.sources().Text(pat->span))};
            Require(KnownClass("Eq"), expected, origin);
            Require(KnownClass("IsString"), expected, origin);
            break;
          }
          if (!expect(types_.List(types_.Scalar(Builtin::Char)))) node.kind = core::PatKind::Wildcard;
          break;
        default: {
          bool integer = literal->value.kind == ast::LiteralKind::Integer;
          node.literal = integer ? core::LiteralKind::Integer : core::LiteralKind::Fractional;
          TypeId head = unify_.Head(expected);
          if (types_.Kind(head) == TypeKind::Con &&
              !env_.instances.count({KnownClass("Num").index, types_.ConOf(head).index})) {
            Error(Diag::NumberPattern, pat->span, Text(node.text), PrintType(expected));
            Explain(why);
            node.kind = core::PatKind::Wildcard;
            break;
          }
          Origin origin{Origin::LiteralPattern, pat->span, node.text};
          Require(KnownClass("Eq"), expected, origin);
          Require(KnownClass(integer ? "Num" : "Fractional"), expected, origin);
        }
      }
      break;
    }
    case ast::PatKind::Con: {
      const auto* con_pat = llvm::cast<ast::ConPat>(pat);
      ConId con = FindConstructorOf(con_pat->name, expected);
      if (!con.valid()) {
        for (const ast::Pat* arg : con_pat->args) CheckPat(arg, unify_.Fresh(), Reason{}, bound);
        break;
      }
      if (!options_.library && IsSequencePattern(con) && types_.Head(unify_.Zonk(expected)) != program_.constructors[con].tycon) {
        // The constructor is one of what a look at an end of the sequence gives.
        bool right = program_.constructors[con].name == Intern(":|>");
        core::Expr* view = Use(KnownVar(right ? "primViewBack" : "primViewFront"), pat->span);
        TypeId from, to;
        unify_.IsFun(view->type, &from, &to);
        bool ok = expect(from);
        const core::Pat* made = CheckPat(pat, to, ok ? why : Reason{}, bound);
        if (!ok) break;
        node.kind = core::PatKind::View;
        node.view = view;
        node.args = program_.Copy<const core::Pat*>({made});
        break;
      }
      size_t fields = program_.constructors[con].fields.size();
      if (con_pat->args.size() != fields) {
        Diagnostics& diag = Error(Diag::PatternArity, pat->span, Text(con_pat->name.text), fields,
                                  fields == 1 ? "field" : "fields", con_pat->args.size());
        if (Shown(program_.constructors[con].span).valid())
          diag.Note(program_.constructors[con].span, "the constructor is declared here");
        if (con_pat->args.empty())
          diags_.Hint(fmt::format("with its fields it stands in parentheses: `({} ..)`", Text(con_pat->name.text)));
        // Which of the fields they were meant for is open.
        for (const ast::Pat* arg : con_pat->args) {
          TypeId type = unify_.Fresh();
          CheckPat(arg, type, Reason{}, bound);
          unify_.MarkAny(type);
        }
        constructor(con, {}, false);
        break;
      }
      constructor(con, llvm::ArrayRef<const ast::Pat*>(con_pat->args.data(), con_pat->args.size()), false);
      break;
    }
    case ast::PatKind::Record: {
      const auto* record = llvm::cast<ast::RecordPat>(pat);
      ConId con = FindConstructorOf(record->name, expected);
      if (!con.valid()) {
        for (const ast::FieldPat& field : record->fields)
          if (field.pat) CheckPat(field.pat, unify_.Fresh(), Reason{}, bound);
        break;
      }
      std::vector<const ast::Pat*> args(program_.constructors[con].fields.size(), nullptr);
      for (const ast::FieldPat& field : record->fields) {
        int index = FieldIndex(con, field.field);
        if (index < 0) {
          if (field.pat) CheckPat(field.pat, unify_.Fresh(), Reason{}, bound);
        } else if (args[index]) {
          Error(Diag::FieldTwice, field.field.span, Text(field.field.text));
        } else {
          args[index] = field.pat;
        }
      }
      constructor(con, args, true);
      break;
    }
    case ast::PatKind::Tuple: {
      const auto* tuple = llvm::cast<ast::TuplePat>(pat);
      if (tuple->elements.empty()) {
        constructor(program_.unit_con, {}, false);
      } else if (tuple->elements.size() > 62) {
        Error(Diag::TupleTooLong, pat->span, tuple->elements.size());
        for (const ast::Pat* element : tuple->elements) CheckPat(element, unify_.Fresh(), Reason{}, bound);
      } else {
        constructor(TupleConstructor(env_, program_, static_cast<uint32_t>(tuple->elements.size())),
                    llvm::ArrayRef<const ast::Pat*>(tuple->elements.data(), tuple->elements.size()), false);
      }
      break;
    }
    case ast::PatKind::List: {
      const auto* list = llvm::cast<ast::ListPat>(pat);
      TypeId element = unify_.Fresh();
      bool ok = expect(types_.List(element));
      std::vector<const core::Pat*> elements;
      for (const ast::Pat* item : list->elements) {
        uint32_t errors = diags_.error_count();
        elements.push_back(CheckPat(item, ok ? element : unify_.Fresh(), why, bound));
        if (diags_.error_count() != errors && list->elements.size() == 1 && IsCons(item))
          diags_.Hint(fmt::format("`({})` takes a list apart; in brackets it is the only element of a list", diags_.sources().Text(item->span)));
      }
      if (!ok) break;
      core::Pat made = node;
      made.kind = core::PatKind::Con;
      made.con = program_.nil_con;
      made.type_args = program_.Copy<TypeId>({element});
      for (size_t i = elements.size(); i-- > 0;) {
        const core::Pat* rest = MakePat(made);
        made.con = program_.cons_con;
        made.args = program_.Copy<const core::Pat*>({elements[i], rest});
      }
      node = made;
      break;
    }
    case ast::PatKind::As: {
      const auto* as = llvm::cast<ast::AsPat>(pat);
      VarId var = program_.NewLocal(as->name, expected, as->name_span);
      bound.push_back({as->name, var, as->name_span});
      RememberReason(var, why);
      inner(core::PatKind::As, as->pat);
      node.var = var;
      break;
    }
    case ast::PatKind::Bang: inner(core::PatKind::Bang, llvm::cast<ast::BangPat>(pat)->pat); break;
    case ast::PatKind::Lazy: inner(core::PatKind::Lazy, llvm::cast<ast::LazyPat>(pat)->pat); break;
    case ast::PatKind::Paren: return CheckPat(llvm::cast<ast::ParenPat>(pat)->pat, expected, why, bound);
    case ast::PatKind::Typed: {
      const auto* typed = llvm::cast<ast::TypedPat>(pat);
      TypeVarScope scope = ScopedTypeVars();
      core::Scheme scheme = ConvertScheme(typed->type, scope);
      // A variable that is not in scope stands for whatever the pattern's type turns out to be.
      TypeArgs fresh;
      for (size_t i = 0; i < scheme.tyvars.size(); ++i) fresh.push_back(unify_.Fresh());
      TypeId type = types_.Substitute(scheme.type, scheme.tyvars, fresh);
      expect(type);
      return CheckPat(typed->pat, type, Reason{Reason::Annotation, typed->type.span}, bound);
    }
    case ast::PatKind::Infix:
    case ast::PatKind::Error: break;
  }
  return MakePat(node);
}

const core::Pat* Checker::Project(const core::Pat* pat, VarId keep, VarId by) {
  core::Pat copy = *pat;
  if (pat->kind == core::PatKind::Var) {
    if (pat->var == keep) copy.var = by;
    else copy.kind = core::PatKind::Wildcard, copy.var = VarId();
  } else if (pat->kind == core::PatKind::As) {
    if (pat->var == keep) copy.var = by;
    else return Project(pat->args[0], keep, by);
  }
  std::vector<const core::Pat*> args;
  for (const core::Pat* arg : pat->args) args.push_back(Project(arg, keep, by));
  copy.args = program_.Copy<const core::Pat*>(args);
  return MakePat(copy);
}

}  // namespace df::check
