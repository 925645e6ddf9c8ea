// Where the other half of a clash comes from, as notes of the message that was reported last.
#include "typecheck/checker.h"

namespace df::check {

// What the library declares is told, and not shown: its source is no reading for those who made a mistake.
Span Checker::Shown(Span span) const {
  return span.valid() && env_.library_files.count(span.file.index) ? Span() : span;
}

void Checker::NoteOnce(Span span, std::string text) {
  if (diags_.all().empty()) return;
  const Diagnostic& last = diags_.all().back();
  if (span.valid() && last.span == span) return;
  for (const DiagNote& note : last.notes)
    if (note.span.valid() ? note.span == span : note.text == text) return;
  diags_.Note(span, std::move(text));
}

void Checker::RecordPlace(TypeId type, Span span, const Reason& why) {
  unify_.place = static_cast<PlaceIndex>(places_.size());
  places_.push_back({span, type, true, why.kind, why.span, why.name});
}

void Checker::ExplainCallee(VarId id, ConId con) {
  if (con.valid()) {
    const core::DataCon& row = program_.constructors[con];
    std::string type = check::PrintScheme(program_, check::SchemeOf(program_, con));
    Span span = Shown(row.span);
    NoteOnce(span, span.valid() ? fmt::format("`{}` is declared here, with the type `{}`", Text(row.name), type)
                                : fmt::format("`{}` has the type `{}`", Text(row.name), type));
    return;
  }
  if (!id.valid() || broken_.count(id.index)) return;
  const core::Var& var = program_.vars[id];
  if (auto signature = signature_of_.find(id.index); signature != signature_of_.end())
    return NoteOnce(signature->second->type_span, fmt::format("`{}` has this signature", Text(var.name)));
  std::string type =
      var.scheme.tyvars.empty() ? PrintType(var.scheme.type) : check::PrintScheme(program_, var.scheme);
  if (var.from_library || !var.span.valid())
    return NoteOnce(Span(), fmt::format("`{}` has the type `{}`", Text(var.name), type));
  if (auto wider = restricted_.find(id.index);
      wider != restricted_.end() && !types_.HasMeta(unify_.Zonk(var.scheme.type))) {
    NoteOnce(var.span, fmt::format("`{}` has one type only, since it has neither a parameter nor a signature",
                                   Text(var.name)));
    diags_.Hint(fmt::format("the signature `{} :: {}` lets it have several", Text(var.name), wider->second));
    return;
  }
  NoteOnce(var.span, env_.field_owner.count(id.index) ? fmt::format("the field `{}` is declared here, with the type `{}`", Text(var.name), type)
                                                      : fmt::format("`{}` is defined here, with the type `{}`", Text(var.name), type));
}

void Checker::ExplainVariable(VarId id, Span use) {
  const core::Var& var = program_.vars[id];
  if (broken_.count(id.index)) return;
  std::string_view name = Text(var.name);
  if (auto why = var_reasons_.find(id.index); why != var_reasons_.end()) {
    switch (why->second.kind) {
      case Reason::Signature: {
        // A part of the signature may be shown already.
        Span whole = why->second.span;
        if (!diags_.all().empty())
          for (const DiagNote& note : diags_.all().back().notes)
            if (note.span.file == whole.file && whole.begin <= note.span.begin && note.span.end <= whole.end) return;
        if (!Shown(whole).valid()) return;
        return NoteOnce(whole, fmt::format("`{}` has its type from this signature", name));
      }
      case Reason::Annotation:
        return NoteOnce(why->second.span, fmt::format("`{}` has its type from this annotation", name));
      case Reason::Scrutinee:
        return NoteOnce(why->second.span, fmt::format("`{}` has its type from this", name));
      default: break;
    }
  }
  if (signature_of_.count(id.index) || !var.scheme.tyvars.empty() || restricted_.count(id.index) || env_.field_owner.count(id.index))
    return ExplainCallee(id, ConId());
  size_t before = diags_.all().empty() ? 0 : diags_.all().back().notes.size();
  ExplainPlace(var.scheme.type, use, fmt::format("`{}`", name));
  // A local definition: its own text says where its type comes from.
  if (!diags_.all().empty() && diags_.all().back().notes.size() == before &&
      types_.Kind(unify_.Prune(var.scheme.type)) != TypeKind::Meta && Shown(var.span).valid())
    NoteOnce(var.span, fmt::format("`{}` is bound here", name));
}

void Checker::ExplainPlace(TypeId type, Span not_in, std::string_view what) {
  // Of `m a` the m tells which one it is.
  while (types_.Kind(type) == TypeKind::App) type = types_.FnOf(type);
  PlaceIndex index = unify_.PlaceOf(type);
  if (index >= places_.size()) return;
  const Place& place = places_[index];
  auto inside = [](Span a, Span b) { return a.file == b.file && b.begin <= a.begin && a.end <= b.end; };
  if (!Shown(place.span).valid() || inside(not_in, place.span) || inside(place.span, not_in)) {
    // The type came in from around this place: its reason may have a place of its own.
    if (place.why == Reason::Signature && place.why_span.valid())
      NoteOnce(place.why_span, fmt::format("`{}` has this signature", Text(place.why_name)));
    if (place.why == Reason::Annotation && place.why_span.valid())
      NoteOnce(place.why_span, "the type is annotated here");
    return;
  }
  if (!place.used && unify_.IsFun(place.type, nullptr, nullptr)) return;  // a function whose type has it as a part
  std::string text = PrintType(place.type);
  if (place.used) NoteOnce(place.span, fmt::format("{} is used as `{}` here", what, text));
  else NoteOnce(place.span, fmt::format("this has the type `{}`", text));
}

// Where the meta that stands for a dimension got it.
void Checker::ExplainDimension(TypeId from, const std::string& dimension, Span not_in) {
  if (!from.valid()) return;
  PlaceIndex index = unify_.PlaceOf(from);
  if (index >= places_.size()) return;
  Span span = places_[index].span;
  if (!Shown(span).valid() || span == not_in) return;
  NoteOnce(span, fmt::format("the dimension `{}` comes from here: this has the type `{}`", dimension, PrintType(places_[index].type)));
}

void Checker::ExplainNumber(Span origin) {
  if (!Shown(origin).valid()) return;
  std::string_view text = diags_.sources().Text(origin);
  bool literal = text.find_first_of("0123456789") <= 1;
  if (literal) NoteOnce(origin, "this is a number");
  else NoteOnce(origin, fmt::format("`{}` works on numbers", llvm::StringRef(text.substr(0, 40)).trim('`').str()));
}

// Notes for the last message: where the expectation came from.
void Checker::Explain(const Reason& why) {
  switch (why.kind) {
    case Reason::Signature:
      if (why.span.valid() && !Shown(why.span).valid()) ExplainCallee(FindValue({why.name, {}, Span()}, false), ConId());
      else NoteOnce(why.span, fmt::format("`{}` has this signature", Text(why.name)));
      break;
    case Reason::Annotation: NoteOnce(why.span, "the type is annotated here"); break;
    case Reason::Argument:
    case Reason::Operand: {
      ExplainCallee(why.var, why.con);
      // What the result has to be settles an operand's type as well: `x + 1 :: String`.
      if (why.var.valid() && why.outer && why.outer->kind != Reason::None) {
        const core::Var& var = program_.vars[why.var];
        llvm::SmallVector<TypeId> params;
        TypeId result = types_.SplitFun(var.scheme.type, params);
        if (types_.Kind(result) == TypeKind::Var && why.index < params.size() &&
            params[why.index] == result &&
            (why.outer->kind == Reason::Signature || why.outer->kind == Reason::Annotation))
          Explain(*why.outer);
      }
      break;
    }
    case Reason::Parameter:
      NoteOnce(why.span, fmt::format("the other clauses of `{}` begin here", Text(why.name)));
      break;
    case Reason::Statement:
      NoteOnce(why.span, "the statements of this `do` are all of one type of action");
      for (const auto& [block, witness] : witnesses_)
        if (block == why.span) NoteOnce(witness, "this is an action of `IO`");
      break;
    case Reason::Generator: break;
    case Reason::Part: Explain(*why.outer); break;
    case Reason::Scrutinee: NoteOnce(why.span, "the value that is matched"); break;
    case Reason::Field: NoteOnce(Shown(why.span), "the field is declared here"); break;
    default: break;
  }
}

// Looks at heads only and reports nothing, so that it may be asked before an expression is checked.
TypeId Checker::QuickType(const ast::Expr* expr, int depth) {
  if (depth == 0) return TypeId();
  auto known = [&](TypeId type) {
    type = unify_.Zonk(type);
    return types_.HasMeta(type) || types_.HasVar(type) ? TypeId() : type;
  };
  auto applied = [&](const ast::Expr* fn, llvm::ArrayRef<const ast::Expr*> args) {
    const auto* name = llvm::dyn_cast<ast::VarExpr>(fn);
    VarId var = name ? FindValue(name->name, false) : VarId();
    if (!var.valid() || broken_.count(var.index)) return TypeId();
    llvm::SmallVector<TypeId> params;
    TypeId result = types_.SplitFun(unify_.Zonk(program_.vars[var].scheme.type), params, args.size());
    if (params.size() != args.size()) return TypeId();
    if (types_.Kind(result) != TypeKind::Var) return known(result);
    for (size_t i = 0; i < args.size(); ++i)
      if (params[i] == result)
        if (TypeId type = QuickType(args[i], depth - 1); type.valid()) return type;
    return TypeId();
  };
  switch (expr->kind) {
    case ast::ExprKind::Paren: return QuickType(llvm::cast<ast::ParenExpr>(expr)->expr, depth);
    case ast::ExprKind::Literal:
      switch (llvm::cast<ast::LiteralExpr>(expr)->value.kind) {
        case ast::LiteralKind::Char: return types_.Scalar(Builtin::Char);
        case ast::LiteralKind::String: return string_classes_ ? TypeId() : types_.List(types_.Scalar(Builtin::Char));
        default: return TypeId();
      }
    case ast::ExprKind::Var: {
      VarId var = FindValue(llvm::cast<ast::VarExpr>(expr)->name, false);
      return var.valid() && !broken_.count(var.index) ? known(program_.vars[var].scheme.type) : TypeId();
    }
    case ast::ExprKind::App: {
      const auto* app = llvm::cast<ast::AppExpr>(expr);
      return applied(app->fn, llvm::ArrayRef<const ast::Expr*>(app->args.data(), app->args.size()));
    }
    case ast::ExprKind::Binary: {
      const auto* binary = llvm::cast<ast::BinaryExpr>(expr);
      return applied(binary->op, {binary->left, binary->right});
    }
    default: return TypeId();
  }
}

}  // namespace df::check
