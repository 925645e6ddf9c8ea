// Errors that follow from others, and are taken back: what is said of a name that is missing is not said of all that depends on it.
#include "typecheck/explain/follow_ups.h"

#include "typecheck/explain/usual_module.h"
#include "typecheck/state/names.h"
#include "typecheck/state/state.h"

namespace df::check {
namespace {

// The name that a line binds to the expression at `span`: `n <- e`, `let n = e`. Empty if it binds none.
llvm::StringRef BoundBefore(const SourceManager& sources, Span span) {
  llvm::StringRef before(sources.Text(Span{span.file, 0, span.begin}));
  before = before.substr(before.rfind('\n') + 1).rtrim();
  if (!before.consume_back("<-") && !before.consume_back("=")) return {};
  before = before.trim();
  before.consume_front("let ");
  before = before.ltrim();
  const bool name = !before.empty() && std::islower(static_cast<unsigned char>(before[0])) && llvm::all_of(before, IsPartOfName);
  return name ? before : llvm::StringRef();
}

// Of two types that do not fit.
bool IsClash(Diag id) {
  switch (id) {
    case Diag::TypeMismatch:
    case Diag::ArgumentMismatch:
    case Diag::BranchMismatch:
    case Diag::AlternativeMismatch:
    case Diag::ClauseMismatch:
    case Diag::ElementMismatch:
    case Diag::ConditionMismatch:
    case Diag::NumberMismatch:
    case Diag::NotANumber:
    case Diag::TooManyArguments: return true;
    default: return false;
  }
}

// What is wrong whatever the modules have that are missing.
bool IsOfItself(Diag id) {
  switch (id) {
    case Diag::UnboundName:  // ReportUnbound leaves out those that may be imported
    case Diag::UnboundConstructor:
    case Diag::UnboundType:
    case Diag::UnboundClass:
    case Diag::UnboundTypeVariable:
    case Diag::UnknownModule:
    case Diag::NotExported:
    case Diag::ExportUnknown:
    case Diag::DuplicateDefinition:
    case Diag::DuplicateBinder:
    case Diag::DuplicateSignature:
    case Diag::DuplicateType:
    case Diag::DuplicateConstructor:
    case Diag::DuplicateField:
    case Diag::DuplicateTypeVariable:
    case Diag::SignatureWithoutBinding:
    case Diag::AmbiguousName: return true;
    default: return false;
  }
}

// What instances that come with a module may mend.
bool AsksForInstance(Diag id) {
  switch (id) {
    case Diag::NoInstance:
    case Diag::MissingSuperclass:
    case Diag::AmbiguousType:
    case Diag::CannotDerive: return true;
    default: return false;
  }
}

}  // namespace

void DropFollowUps(State& s) {
  // `n <- readLn`, where a use of n clashes: mended, that would have settled the type.
  auto uses = [&](const Diagnostic& error, llvm::StringRef name, Span after) {
    if (!IsClash(error.id) || error.span.file != after.file || error.span.begin < after.end) return false;
    llvm::StringRef text(s.diags.sources().Text(error.span));
    for (size_t at = text.find(name); at != llvm::StringRef::npos; at = text.find(name, at + 1))
      if ((at == 0 || !IsPartOfName(text[at - 1])) && (at + name.size() == text.size() || !IsPartOfName(text[at + name.size()]))) return true;
    return false;
  };
  std::vector<Span> follow;
  for (const Diagnostic& error : s.diags.all()) {
    if (error.id != Diag::AmbiguousType || !error.span.valid()) continue;
    llvm::StringRef name = BoundBefore(s.diags.sources(), error.span);
    if (!name.empty() && llvm::any_of(s.diags.all(), [&](const Diagnostic& other) { return uses(other, name, error.span); }))
      follow.push_back(error.span);
  }
  if (!follow.empty())
    s.diags.DropErrors([&](const Diagnostic& error) { return error.id == Diag::AmbiguousType && llvm::is_contained(follow, error.span); });
  if (s.unbound.empty()) return;
  s.diags.DropErrors([&](const Diagnostic& error) {
    // A block of several lines may well have mistakes of its own.
    if (!IsClash(error.id) || s.diags.sources().Text(error.span).find('\n') != std::string_view::npos) return false;
    return llvm::any_of(s.unbound, [&](Span name) {
      return name.file == error.span.file && error.span.begin <= name.begin && name.end <= error.span.end;
    });
  });
}

void DropImportFollowUps(State& s) {
  if (s.failed_imports.empty()) return;
  const auto definition = [&](Span span) {
    auto decl = llvm::find_if(s.module.decls, [&](const ast::Decl* d) {
      return d->span.file == span.file && d->span.begin <= span.begin && span.end <= d->span.end;
    });
    return decl == s.module.decls.end() ? nullptr : *decl;
  };
  const bool no_module = llvm::any_of(s.failed_imports, [&](const ast::Import& import) { return !FindModule(s, import.module.text); });
  llvm::DenseSet<const ast::Decl*> incomplete;
  for (Span name : s.maybe_imported) incomplete.insert(definition(name));
  s.diags.DropErrors([&](const Diagnostic& error) {
    if (error.id < Diag::UnboundName || !error.span.valid() || error.span.file != s.failed_imports[0].span.file || IsOfItself(error.id)) return false;
    return s.maybe_imported_type || (no_module && AsksForInstance(error.id)) || incomplete.contains(definition(error.span));
  });
}

}  // namespace df::check
