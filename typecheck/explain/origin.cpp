// Where the other half of a clash comes from, as notes of the message that was reported last.
#include "typecheck/explain/origin.h"

#include "typecheck/explain/explain.h"
#include "typecheck/state/looks.h"
#include "typecheck/state/names.h"
#include "typecheck/state/print.h"
#include "typecheck/state/state.h"

namespace df::check {

void NoteOnce(State& s, Span span, std::string text) {
  if (s.diags.all().empty()) return;
  const Diagnostic& last = s.diags.all().back();
  if (span.valid() && last.span == span) return;
  for (const DiagNote& note : last.notes)
    if (note.span.valid() ? note.span == span : note.text == text) return;
  s.diags.Note(span, std::move(text));
}

void RecordPlace(State& s, TypeId type, Span span, const Reason& why) {
  s.unify.place = static_cast<PlaceIndex>(s.places.size());
  s.places.push_back({span, type, true, why.kind, why.span, why.name});
}

void ExplainCallee(State& s, VarId id, ConId con) {
  if (con.valid()) {
    const core::DataCon& row = s.program.constructors[con];
    std::string type = check::PrintScheme(s.program, check::SchemeOf(s.program, con));
    Span span = Shown(s, row.span);
    NoteOnce(s, span, span.valid() ? fmt::format("`{}` is declared here, with the type `{}`", Text(row.name), type)
                                : fmt::format("`{}` has the type `{}`", Text(row.name), type));
    return;
  }
  if (!id.valid() || s.broken.count(id.index)) return;
  const core::Var& var = s.program.vars[id];
  if (auto signature = s.signature_of.find(id.index); signature != s.signature_of.end())
    return NoteOnce(s, signature->second->type_span, fmt::format("`{}` has this signature", Text(var.name)));
  std::string type =
      var.scheme.tyvars.empty() ? PrintType(s, var.scheme.type) : check::PrintScheme(s.program, var.scheme);
  if (var.from_library || !var.span.valid())
    return NoteOnce(s, Span(), fmt::format("`{}` has the type `{}`", Text(var.name), type));
  if (auto wider = s.restricted.find(id.index);
      wider != s.restricted.end() && !s.types.HasMeta(s.unify.Zonk(var.scheme.type))) {
    NoteOnce(s, var.span, fmt::format("`{}` has one type only, since it has neither a parameter nor a signature",
                                   Text(var.name)));
    s.diags.Hint(fmt::format("the signature `{} :: {}` lets it have several", Text(var.name), wider->second));
    return;
  }
  NoteOnce(s, var.span, s.env.field_owner.count(id.index) ? fmt::format("the field `{}` is declared here, with the type `{}`", Text(var.name), type)
                                                      : fmt::format("`{}` is defined here, with the type `{}`", Text(var.name), type));
}

void ExplainVariable(State& s, VarId id, Span use) {
  const core::Var& var = s.program.vars[id];
  if (s.broken.count(id.index)) return;
  std::string_view name = Text(var.name);
  if (auto why = s.var_reasons.find(id.index); why != s.var_reasons.end()) {
    switch (why->second.kind) {
      case Reason::Signature: {
        // A part of the signature may be shown already.
        Span whole = why->second.span;
        if (!s.diags.all().empty())
          for (const DiagNote& note : s.diags.all().back().notes)
            if (note.span.file == whole.file && whole.begin <= note.span.begin && note.span.end <= whole.end) return;
        if (!Shown(s, whole).valid()) return;
        return NoteOnce(s, whole, fmt::format("`{}` has its type from this signature", name));
      }
      case Reason::Annotation:
        return NoteOnce(s, why->second.span, fmt::format("`{}` has its type from this annotation", name));
      case Reason::Scrutinee:
        return NoteOnce(s, why->second.span, fmt::format("`{}` has its type from this", name));
      default: break;
    }
  }
  if (s.signature_of.count(id.index) || !var.scheme.tyvars.empty() || s.restricted.count(id.index) || s.env.field_owner.count(id.index))
    return ExplainCallee(s, id, ConId());
  size_t before = s.diags.all().empty() ? 0 : s.diags.all().back().notes.size();
  ExplainPlace(s, var.scheme.type, use, fmt::format("`{}`", name));
  // A local definition: its own text says where its type comes from.
  if (!s.diags.all().empty() && s.diags.all().back().notes.size() == before &&
      s.types.Kind(s.unify.Prune(var.scheme.type)) != TypeKind::Meta && Shown(s, var.span).valid())
    NoteOnce(s, var.span, fmt::format("`{}` is bound here", name));
}

void ExplainPlace(State& s, TypeId type, Span not_in, std::string_view what) {
  // Of `m a` the m tells which one it is.
  while (s.types.Kind(type) == TypeKind::App) type = s.types.FnOf(type);
  PlaceIndex index = s.unify.PlaceOf(type);
  if (index >= s.places.size()) return;
  const Place& place = s.places[index];
  auto inside = [](Span a, Span b) { return a.file == b.file && b.begin <= a.begin && a.end <= b.end; };
  if (!Shown(s, place.span).valid() || inside(not_in, place.span) || inside(place.span, not_in)) {
    // The type came in from around this place: its reason may have a place of its own.
    if (place.why == Reason::Signature && place.why_span.valid())
      NoteOnce(s, place.why_span, fmt::format("`{}` has this signature", Text(place.why_name)));
    if (place.why == Reason::Annotation && place.why_span.valid())
      NoteOnce(s, place.why_span, "the type is annotated here");
    return;
  }
  if (!place.used && s.unify.IsFun(place.type, nullptr, nullptr)) return;  // a function whose type has it as a part
  std::string text = PrintType(s, place.type);
  if (place.used) NoteOnce(s, place.span, fmt::format("{} is used as `{}` here", what, text));
  else NoteOnce(s, place.span, fmt::format("this has the type `{}`", text));
}

void ExplainDimension(State& s, TypeId from, const std::string& dimension, Span not_in) {
  if (!from.valid()) return;
  PlaceIndex index = s.unify.PlaceOf(from);
  if (index >= s.places.size()) return;
  Span span = s.places[index].span;
  if (!Shown(s, span).valid() || span == not_in) return;
  NoteOnce(s, span, fmt::format("the dimension `{}` comes from here: this has the type `{}`", dimension, PrintType(s, s.places[index].type)));
}

void ExplainNumber(State& s, Span origin) {
  if (!Shown(s, origin).valid()) return;
  std::string_view text = s.diags.sources().Text(origin);
  bool literal = text.find_first_of("0123456789") <= 1;
  if (literal) NoteOnce(s, origin, "this is a number");
  else NoteOnce(s, origin, fmt::format("`{}` works on numbers", llvm::StringRef(text.substr(0, 40)).trim('`').str()));
}

// Notes for the last message: where the expectation came from.
void Explain(State& s, const Reason& why) {
  switch (why.kind) {
    case Reason::Signature:
      if (why.span.valid() && !Shown(s, why.span).valid()) ExplainCallee(s, LookUpValue(s, {why.name, {}, Span()}), ConId());
      else NoteOnce(s, why.span, fmt::format("`{}` has this signature", Text(why.name)));
      break;
    case Reason::Annotation: NoteOnce(s, why.span, "the type is annotated here"); break;
    case Reason::Argument:
    case Reason::Operand: {
      ExplainCallee(s, why.var, why.con);
      // What the result has to be settles an operand's type as well: `x + 1 :: String`.
      if (why.var.valid() && why.outer && why.outer->kind != Reason::None) {
        const core::Var& var = s.program.vars[why.var];
        llvm::SmallVector<TypeId> params;
        TypeId result = s.types.SplitFun(var.scheme.type, params);
        if (s.types.Kind(result) == TypeKind::Var && why.index < params.size() &&
            params[why.index] == result &&
            (why.outer->kind == Reason::Signature || why.outer->kind == Reason::Annotation))
          Explain(s, *why.outer);
      }
      break;
    }
    case Reason::Parameter:
      NoteOnce(s, why.span, fmt::format("the other clauses of `{}` begin here", Text(why.name)));
      break;
    case Reason::Statement:
      NoteOnce(s, why.span, "the statements of this `do` are all of one type of action");
      for (const auto& [block, witness] : s.witnesses)
        if (block == why.span) NoteOnce(s, witness, "this is an action of `IO`");
      break;
    case Reason::Generator: break;
    case Reason::Part: Explain(s, *why.outer); break;
    case Reason::Scrutinee: NoteOnce(s, why.span, "the value that is matched"); break;
    case Reason::Field: NoteOnce(s, Shown(s, why.span), "the field is declared here"); break;
    default: break;
  }
}

}  // namespace df::check
