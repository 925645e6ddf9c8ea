// Which methods an instance has to define: by the class's `MINIMAL` pragma, or else those that have no default.
#include "typecheck/checker.h"

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

}  // namespace

// The pragma's names as methods.
Minimal Checker::ConvertMinimal(const ast::Minimal& formula, ClassId id) {
  if (formula.kind == ast::Minimal::Kind::Method) {
    const core::Class& cls = program_.classes[id];
    for (size_t i = 0; i < cls.methods.size(); ++i)
      if (program_.vars[cls.methods[i]].name == formula.method.text) return {Minimal::Kind::Method, static_cast<uint32_t>(i), {}};
    std::vector<std::string_view> names;
    for (VarId method : cls.methods) names.push_back(Text(program_.vars[method].name));
    Error(Diag::NotAMethod, formula.method.span, Text(formula.method.text), Text(cls.name));
    if (std::string_view near = NearestName(Text(formula.method.text), names); !near.empty()) diags_.Hint(fmt::format("did you mean `{}`?", near));
    return {};
  }
  Minimal out{formula.kind == ast::Minimal::Kind::All ? Minimal::Kind::All : Minimal::Kind::Any, 0, {}};
  for (const ast::Minimal& part : formula.parts) out.parts.push_back(ConvertMinimal(part, id));
  return out;
}

// Once the methods and defaults of the class are known.
void Checker::DeclareMinimal(const ast::ClassDecl* decl, ClassId id) {
  Minimal minimal;
  std::vector<uint32_t> without_default;
  const core::Class& cls = program_.classes[id];
  for (size_t i = 0; i < cls.methods.size(); ++i)
    if (!cls.defaults[i].valid() && !Text(program_.vars[cls.methods[i]].name).starts_with("_")) without_default.push_back(static_cast<uint32_t>(i));
  if (decl->minimal) {
    const uint32_t errors = diags_.error_count();
    minimal = ConvertMinimal(*decl->minimal, id);
    const bool warn = options_.warnings && !options_.library && diags_.error_count() == errors;
    for (uint32_t method : without_default)
      if (const core::Var& var = program_.vars[cls.methods[method]]; warn && !AsksFor(minimal, method))
        diags_.Report(Diag::MinimalTooSmall, var.span, Text(var.name)).Note(decl->minimal_span, "an instance has to define no more than this");
  } else {
    for (uint32_t method : without_default) minimal.parts.push_back({Minimal::Kind::Method, method, {}});
  }
  program_.classes[id].minimal = std::move(minimal);
  program_.classes[id].minimal_span = decl->minimal_span;
}

// "`pure`, and `<*>` or `liftA2`"
std::string Checker::PrintMinimal(const Minimal& formula, ClassId cls, bool inside) const {
  if (formula.kind == Minimal::Kind::Method) return fmt::format("`{}`", Text(program_.vars[program_.classes[cls].methods[formula.method]].name));
  std::string text;
  for (const Minimal& part : formula.parts) {
    const bool simple = part.kind == Minimal::Kind::Method;
    if (!text.empty()) text += formula.kind == Minimal::Kind::Any ? " or " : inside ? " and " : simple ? ", " : ", and ";
    std::string of_part = PrintMinimal(part, cls, true);
    text += simple || (formula.kind == Minimal::Kind::All && !inside) ? of_part : fmt::format("({})", of_part);
  }
  return text;
}

// A warning of what an instance lacks by its class's formula, at `span`. `given` are its methods as they are written there.
void Checker::WarnOfMissingMethods(InstanceId id, llvm::ArrayRef<VarId> given, Span span) {
  const core::Instance& instance = program_.instances[id];
  const core::Class& cls = program_.classes[instance.cls];
  const Minimal missing = Unsatisfied(cls.minimal, given);
  if (IsNothing(missing)) return;
  diags_.Report(Diag::MissingMethod, span, PrintPred(instance.cls, PrintType(instance.head), instance.head), PrintMinimal(missing, instance.cls, false));
  if (Span pragma = Shown(cls.minimal_span); pragma.valid()) diags_.Note(pragma, "the class asks for it here");
  else if (Span declared = Shown(cls.span); declared.valid()) diags_.Note(declared, "the class is declared here");
  auto has_default = [&](const auto& self, const Minimal& part) -> bool {
    if (part.kind == Minimal::Kind::Method) return cls.defaults[part.method].valid();
    return llvm::all_of(part.parts, [&](const Minimal& inner) { return self(self, inner); });
  };
  if (!has_default(has_default, missing)) diags_.Hint("a call of it would end the program");
  else if (missing.kind == Minimal::Kind::Any && !Shown(cls.span).valid()) diags_.Hint("each is defined by the other, so a call of one would never end");
}

}  // namespace df::check
