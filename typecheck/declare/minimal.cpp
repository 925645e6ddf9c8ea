// Which methods an instance has to define: by the class's `MINIMAL` pragma, or else those that have no default.
#include "typecheck/declare/minimal.h"

#include "typecheck/explain/class.h"
#include "typecheck/explain/explain.h"
#include "typecheck/state/looks.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

using core::Minimal;

// What of the formula the given methods leave open: a formula with no parts if nothing.
Minimal Unsatisfied(const Minimal& wanted, llvm::ArrayRef<VarId> given) {
  if (wanted.kind == Minimal::Kind::Method) return given[wanted.method].valid() ? Minimal{} : wanted;
  Minimal open{wanted.kind, 0, {}};
  for (const Minimal& part : wanted.parts) {
    Minimal rest = Unsatisfied(part, given);
    if (rest.kind == Minimal::Kind::Method || !rest.parts.empty()) open.parts.push_back(std::move(rest));
    else if (wanted.kind == Minimal::Kind::Any) return Minimal{};
  }
  if (open.parts.size() != 1) return open;
  Minimal only = std::move(open.parts[0]);
  return only;
}

bool IsNothing(const Minimal& formula) { return formula.kind != Minimal::Kind::Method && formula.parts.empty(); }

// Whether no instance without this method does what the formula asks for.
bool AsksFor(const Minimal& formula, uint32_t method) {
  auto asks = [&](const Minimal& part) { return AsksFor(part, method); };
  switch (formula.kind) {
    case Minimal::Kind::Method: return formula.method == method;
    case Minimal::Kind::All: return llvm::any_of(formula.parts, asks);
    case Minimal::Kind::Any: return !formula.parts.empty() && llvm::all_of(formula.parts, asks);
  }
  return false;
}

// The pragma's names as methods.
Minimal ConvertMinimal(State& s, const ast::Minimal& formula, ClassId id) {
  if (formula.kind == ast::Minimal::Kind::Method) {
    const core::Class& cls = s.program.classes[id];
    for (size_t i = 0; i < cls.methods.size(); ++i)
      if (s.program.vars[cls.methods[i]].name == formula.method.text) return {Minimal::Kind::Method, static_cast<uint32_t>(i), {}};
    std::vector<std::string_view> names;
    for (VarId method : cls.methods) names.push_back(Text(s.program.vars[method].name));
    s.Error(Diag::NotAMethod, formula.method.span, Text(formula.method.text), Text(cls.name));
    if (std::string_view near = NearestName(Text(formula.method.text), names); !near.empty()) s.diags.Hint(fmt::format("did you mean `{}`?", near));
    return {};
  }
  Minimal out{formula.kind == ast::Minimal::Kind::All ? Minimal::Kind::All : Minimal::Kind::Any, 0, {}};
  for (const ast::Minimal& part : formula.parts) out.parts.push_back(ConvertMinimal(s, part, id));
  return out;
}

// "`pure`, and `<*>` or `liftA2`"
std::string PrintMinimal(const State& s, const Minimal& formula, ClassId cls, bool inside) {
  if (formula.kind == Minimal::Kind::Method) return fmt::format("`{}`", Text(s.program.vars[s.program.classes[cls].methods[formula.method]].name));
  std::string text;
  for (const Minimal& part : formula.parts) {
    const bool simple = part.kind == Minimal::Kind::Method;
    if (!text.empty()) text += formula.kind == Minimal::Kind::Any ? " or " : inside ? " and " : simple ? ", " : ", and ";
    std::string of_part = PrintMinimal(s, part, cls, true);
    text += simple || (formula.kind == Minimal::Kind::All && !inside) ? of_part : fmt::format("({})", of_part);
  }
  return text;
}

}  // namespace

void DeclareMinimal(State& s, const ast::ClassDecl* decl, ClassId id) {
  Minimal minimal;
  std::vector<uint32_t> without_default;
  const core::Class& cls = s.program.classes[id];
  for (size_t i = 0; i < cls.methods.size(); ++i)
    if (!cls.defaults[i].valid() && !Text(s.program.vars[cls.methods[i]].name).starts_with("_")) without_default.push_back(static_cast<uint32_t>(i));
  if (decl->minimal) {
    const uint32_t errors = s.diags.error_count();
    minimal = ConvertMinimal(s, *decl->minimal, id);
    const bool warn = s.options.warnings && !s.options.library && s.diags.error_count() == errors;
    for (uint32_t method : without_default)
      if (const core::Var& var = s.program.vars[cls.methods[method]]; warn && !AsksFor(minimal, method))
        s.diags.Report(Diag::MinimalTooSmall, var.span, Text(var.name)).Note(decl->minimal_span, "an instance has to define no more than this");
  } else {
    for (uint32_t method : without_default) minimal.parts.push_back({Minimal::Kind::Method, method, {}});
  }
  s.program.classes[id].minimal = std::move(minimal);
  s.program.classes[id].minimal_span = decl->minimal_span;
}

void WarnOfMissingMethods(State& s, InstanceId id, llvm::ArrayRef<VarId> given, Span span) {
  const core::Instance& instance = s.program.instances[id];
  const core::Class& cls = s.program.classes[instance.cls];
  const Minimal missing = Unsatisfied(cls.minimal, given);
  if (IsNothing(missing)) return;
  s.diags.Report(Diag::MissingMethod, span, PrintPred(s, instance.cls, PrintType(s, instance.head), instance.head),
                 PrintMinimal(s, missing, instance.cls, false));
  if (Span pragma = Shown(s, cls.minimal_span); pragma.valid()) s.diags.Note(pragma, "the class asks for it here");
  else if (Span declared = Shown(s, cls.span); declared.valid()) s.diags.Note(declared, "the class is declared here");
  auto has_default = [&](const auto& self, const Minimal& part) -> bool {
    if (part.kind == Minimal::Kind::Method) return cls.defaults[part.method].valid();
    return llvm::all_of(part.parts, [&](const Minimal& inner) { return self(self, inner); });
  };
  if (!has_default(has_default, missing)) s.diags.Hint("a call of it would end the program");
  else if (missing.kind == Minimal::Kind::Any && !Shown(s, cls.span).valid()) s.diags.Hint("each is defined by the other, so a call of one would never end");
}

}  // namespace df::check
