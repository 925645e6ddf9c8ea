#include "driver/pipeline.h"

#include <algorithm>
#include <atomic>

#include "driver/compile_budget.h"
#include "lang/render.h"
#include "parser/fixity.h"
#include "parser/literate.h"
#include "parser/place.h"
#include "runtime/base/memory.h"
#include "stdlib/stdlib.h"
#include "typecheck/open_sizes.h"

namespace df {
namespace {

// Atomic, since a crash handler may read it at any time.
std::atomic<const char*> current_pass{""};

#ifdef DFC_VERIFY
constexpr bool kVerify = true;
#else
constexpr bool kVerify = false;
#endif

// What a phase made, looked at where a build asks for it. The phase is done: a budget that ends now ends nothing of it, or an input would
// be told as interrupted and hold all the same.
void Verify(llvm::function_ref<std::string()> fault) {
  if (!kVerify) return;
  BudgetScope unwatched(nullptr);
  if (std::string found = fault(); !found.empty()) throw InternalError(found);
}

}  // namespace

PassScope::PassScope(const char* name) : outer_(current_pass.exchange(name)) {}

PassScope::~PassScope() {
  if (std::uncaught_exceptions() == 0) current_pass.store(outer_);
}

const char* PassScope::Current() { return current_pass.load(); }

bool Pipeline::Within(llvm::function_ref<void()> phases) {
  if (ended_ != BudgetEnd::None) return false;
  try {
    phases();
  } catch (const BudgetExceeded& exceeded) {
    CompileBudget::Reported();
    if (ended_ != BudgetEnd::None) return false;  // a step within has said so
    ended_ = exceeded.end;
    const char* step = budget->step.load();
    diags.Report(Diag::CompileLimit, {}, budget->Text(exceeded.end), step ? step : PassScope::Current());
    if (std::string hint = budget->Hint(exceeded.end); !hint.empty()) diags.Hint(std::move(hint));
  }
  NoteStep(nullptr);
  return ended_ == BudgetEnd::None;
}

TokenBuffer Pipeline::Tokens(const std::string& name, std::string text, uint32_t first_line) {
  PassScope pass("lex");
  TokenBuffer tokens;
  const bool lexed = Within([&] {
    const FileId file = IsLiterate(name) ? AddLiterate(sources, name, std::move(text), first_line, diags)
                                         : sources.Add(name, std::move(text), first_line);
    tokens = Lex(sources, file, diags);
  });
  if (!lexed) {  // those of an empty text: an end is always there
    BudgetScope none(nullptr);
    return Lex(sources, sources.Add(name, ""), diags);
  }
  widest_tuple_ = std::max(widest_tuple_, WidestTuple(tokens));
  tokens.extensions.insert(tokens.extensions.begin(), extensions_.begin(), extensions_.end());
  return tokens;
}

bool Pipeline::AddExtension(std::string_view name) {
  // The lexer knows which there are, and what one implies.
  std::string names = extension_names_ + (extension_names_.empty() ? "" : ", ") + std::string(name);
  Diagnostics found(sources);
  TokenBuffer pragma = Lex(sources, sources.Add("-X", fmt::format("{{-# LANGUAGE {} #-}}", names)), found);
  if (found.has_errors()) {
    Diagnostics& diag = diags.Report(Diag::UnknownExtension, {}, name);
    if (!found.all().back().hint.empty()) diag.Hint(found.all().back().hint);
    return false;
  }
  extension_names_ = std::move(names);
  extensions_ = std::move(pragma.extensions);
  return true;
}

// The instances of large tuples cost time to read, and few programs have such tuples.
void Pipeline::LoadTupleInstances() {
  if (widest_tuple_ < 8) return;
  LoadLibraryModule("Prelude.LargeTuple");
  if (std::find(loaded_.begin(), loaded_.end(), "Data.Ix") != loaded_.end()) LoadLibraryModule("Prelude.LargeTupleIx");
}

std::optional<ast::Ast> Pipeline::Syntax(const TokenBuffer& tokens, bool complaints) {
  PassScope pass("parse");
  ParseOptions options;
  options.all_extensions = false;
  ast::Ast ast;
  if (ended_ != BudgetEnd::None || !Within([&] { ast = Parse(tokens, diags, options); })) return std::nullopt;
  const uint32_t errors = diags.error_count();
  for (const PlacePragma& placed : ReadPlaces(tokens, ast, diags))
    placed_.push_back({std::string(sources.Name(tokens.file)), std::string(Text(placed.function)), placed.part});
  ast.complaints += diags.error_count() - errors;
  if (diags.error_count() != complaints_ + (complaints ? ast.complaints : 0)) return std::nullopt;
  if (on_syntax) on_syntax(ast, sources);
  return ast;
}

bool Pipeline::LoadLibraryModule(std::string_view name) {
  if (std::find(loaded_.begin(), loaded_.end(), name) != loaded_.end()) return true;
  auto modules = LibraryModules();
  auto module = std::find_if(modules.begin(), modules.end(), [&](const auto& m) { return m.name == name; });
  if (module == modules.end()) return false;  // Check reports the import
  loaded_.push_back(module->name);
  CompileBudget::Pause pause;

  // The library's own faults are internal errors, so it has diagnostics of its own.
  Diagnostics own(sources);
  FileId file = sources.Add(std::string(module->name), std::string(module->text));
  ast::Ast ast = Parse(Lex(sources, file, own), own);
  for (const ast::Import& import : ast.module.imports) LoadLibraryModule(Text(import.module.text));
  FixityScope scope = session.ScopeOfImports(ast, own, /*library=*/true);
  if (!own.has_errors()) ResolveFixity(ast, scope, own);
  CheckOptions options;
  options.library = true;
  options.warnings = false;
  if (own.has_errors() || !session.Check(ast, own, scope, options)) {
    std::string text;
    llvm::raw_string_ostream out(text);
    Render(own, out);
    throw InternalError("the standard library does not compile:\n" + text);
  }
  session.KeepFixities(ast.module.name.text, scope, /*library=*/true);
  return true;
}

void Pipeline::Resolve(ast::Ast& ast, FixityScope& scope) {
  ResolveFixity(ast, scope, diags);
  // What a module that is missing says of its operators may be all that is wrong.
  if (llvm::all_of(ast.module.imports, [&](const ast::Import& import) { return session.HasModule(import.module.text); })) return;
  diags.DropErrors([&](const Diagnostic& error) { return error.span.file == ast.file && (error.id == Diag::FixityClash || error.id == Diag::SectionClash); });
}

bool Pipeline::Check(ast::Ast& ast, const CheckOptions& options) {
  bool ok = false;
  // What was wrong, or was ended, leaves no trace at the prompt.
  FixityScope before = options.repl ? session.main_scope : FixityScope();
  const bool ended = !Within([&] { ok = CheckMain(ast, options); });
  if (ended) std::erase_if(own_, [](const auto& module) { return !module.second.checked; });
  if (ended || !ok) {
    if (options.repl) session.main_scope = std::move(before);
    return false;
  }
  return true;
}

bool Pipeline::CheckMain(ast::Ast& ast, const CheckOptions& options) {
  complaints_ = diags.error_count();
  {
    PassScope pass("check the library");
    LoadLibraryModule("Prelude");
    root_ = options.repl ? Symbol() : ast.module.name.text;
    if (ast.module.name.text.valid()) LookAbove(ast.module.name.text);
    std::erase_if(own_, [](const auto& module) { return module.second.failed; });  // a prompt may ask again
    if (!LoadImports(ast, options)) return false;
  }
  {
    PassScope pass("resolve fixities");
    session.EnterImported(ast, diags);
    Resolve(ast, session.main_scope);
    // An expression that cannot be resolved is none; what else is wrong is told as well. (What is entered at a prompt would stay.)
    if (options.repl && diags.has_errors()) return false;
  }
  PassScope pass("check");
  CheckOptions told = options;
  told.warnings = options.warnings && !diags.has_errors();  // which cases are missing is not known of what was left out
  if (!session.Check(ast, diags, session.main_scope, told) || diags.has_errors()) return false;
  Verify([&] { return core::Verify(session.program, /*simple=*/true); });
  // The file that was loaded at the prompt is a module like those that it imports: not to be read again.
  if (Symbol name = ast.module.name.text; options.repl && name.valid()) {
    own_[name].checked = true;
    session.KeepFixities(name, session.main_scope, /*library=*/false);
  }
  return true;
}

std::string Pipeline::TypeOfExpression(ast::Ast& ast) {
  PassScope pass("check");
  std::string type;
  bool ok = Within([&] {
    LoadTupleInstances();
    FixityScope scope = session.main_scope;
    ResolveFixity(ast, scope, diags);
    if (!diags.has_errors()) type = session.TypeOfExpression(ast, diags);
  });
  return ok ? type : "";
}

std::optional<fg::Program> Pipeline::Functions(core::VarId entry, const std::string& name,
                                               const LowerOptions& options) {
  PassScope pass("build function graphs");
  std::optional<fg::Program> functions;
  if (!Within([&] { functions = BuildFunctionGraphs(session.program, entry, diags, options, placed_); })) return std::nullopt;
  if (!functions && diags.all().back().id == Diag::TensorType) NoteOpenSizes(session.program, diags);
  if (!functions || diags.has_errors()) return std::nullopt;
  functions->name = name;
  Verify([&] { return fg::Verify(*functions); });
  memory::GiveBackFreed();
  return functions;
}

std::optional<ir::Graph> Pipeline::Graph(const fg::Program& functions, const LowerOptions& options) {
  PassScope pass("transform");
  std::optional<ir::Graph> graph;
  if (!Within([&] { graph = Transform(functions, options); })) return std::nullopt;
  Verify([&] { return ir::Verify(*graph); });
  return graph;
}

core::VarId Pipeline::DefinitionNamed(std::string_view name) const {
  Symbol symbol = Intern(name);
  core::VarId found;
  for (const core::Definition& definition : session.program.definitions) {
    const core::Var& var = session.program.vars[definition.var];
    if (var.name != symbol) continue;
    if (!found.valid() || !var.from_library || session.program.vars[found].from_library) found = definition.var;
  }
  return found;
}

}  // namespace df
