#include "driver/pipeline.h"

#include <algorithm>
#include <atomic>

#include "lang/render.h"
#include "parser/fixity.h"
#include "parser/literate.h"
#include "runtime/memory.h"
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

void Require(const std::string& fault) {
  if (!fault.empty()) throw InternalError(fault);
}

}  // namespace

PassScope::PassScope(const char* name) : outer_(current_pass.exchange(name)) {}

PassScope::~PassScope() {
  if (std::uncaught_exceptions() == 0) current_pass.store(outer_);
}

const char* PassScope::Current() { return current_pass.load(); }

TokenBuffer Pipeline::Tokens(const std::string& name, std::string text, uint32_t first_line) {
  PassScope pass("lex");
  const FileId file = IsLiterate(name) ? AddLiterate(sources, name, std::move(text), first_line, diags)
                                       : sources.Add(name, std::move(text), first_line);
  return Lex(sources, file, diags);
}

std::optional<ast::Ast> Pipeline::Syntax(const TokenBuffer& tokens, bool complaints) {
  PassScope pass("parse");
  ParseOptions options;
  options.all_extensions = false;
  ast::Ast ast = Parse(tokens, diags, options);
  if (diags.error_count() != complaints_ + (complaints ? ast.complaints : 0)) return std::nullopt;
  return ast;
}

bool Pipeline::LoadLibraryModule(std::string_view name) {
  if (std::find(loaded_.begin(), loaded_.end(), name) != loaded_.end()) return true;
  auto modules = LibraryModules();
  auto module = std::find_if(modules.begin(), modules.end(), [&](const auto& m) { return m.name == name; });
  if (module == modules.end()) return false;  // Check reports the import
  loaded_.push_back(module->name);

  // The library's own faults are internal errors, so it has diagnostics of its own.
  Diagnostics own(sources);
  FileId file = sources.Add(std::string(module->name), std::string(module->text));
  ast::Ast ast = Parse(Lex(sources, file, own), own);
  for (const ast::Import& import : ast.module.imports) LoadLibraryModule(Text(import.module.text));
  // What a module of the Prelude says of an operator holds for all programs; what another says, for those that import it from there:
  // the `elem` of `Data.Text` has no fixity, and takes none from the Prelude's.
  const bool everywhere = module->name.starts_with("Prelude");
  FixityTable before = session.fixities;
  QualifiedFixities qualified = std::exchange(session.qualified, QualifiedFixities());
  if (!own.has_errors()) {
    if (!everywhere) session.EnterImported(ast, own);
    ResolveFixity(ast, session.fixities, session.records, own, session.qualified);
  }
  session.qualified = std::move(qualified);
  CheckOptions options;
  options.library = true;
  options.warnings = false;
  if (own.has_errors() || !session.Check(ast, own, options)) {
    std::string text;
    llvm::raw_string_ostream out(text);
    Render(own, out);
    throw InternalError("the standard library does not compile:\n" + text);
  }
  if (!everywhere) {
    session.KeepLibraryFixities(ast.module.name.text);
    for (const auto& [name, fixity] : before) session.fixities[name] = fixity;
  }
  return true;
}

void Pipeline::Resolve(ast::Ast& ast) {
  ResolveFixity(ast, session.fixities, session.records, diags, session.qualified);
  // What a module that is missing says of its operators may be all that is wrong.
  if (llvm::all_of(ast.module.imports, [&](const ast::Import& import) { return session.HasModule(import.module.text); })) return;
  diags.DropErrors([&](const Diagnostic& error) { return error.span.file == ast.file && (error.id == Diag::FixityClash || error.id == Diag::SectionClash); });
}

bool Pipeline::Check(ast::Ast& ast, const CheckOptions& options) {
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
    Resolve(ast);
    // An expression that cannot be resolved is none; what else is wrong is told as well. (What is entered at a prompt would stay.)
    if (options.repl && diags.has_errors()) return false;
  }
  PassScope pass("check");
  CheckOptions told = options;
  told.warnings = options.warnings && !diags.has_errors();  // which cases are missing is not known of what was left out
  if (!session.Check(ast, diags, told) || diags.has_errors()) return false;
  if (kVerify) Require(core::Verify(session.program, /*simple=*/true));
  // The file that was loaded at the prompt is a module like those that it imports: not to be read again.
  if (Symbol name = ast.module.name.text; options.repl && name.valid()) {
    own_[name].checked = true;
    session.KeepFixities(name);
  }
  return true;
}

std::string Pipeline::TypeOfExpression(ast::Ast& ast) {
  PassScope pass("check");
  ResolveFixity(ast, session.fixities, session.records, diags, session.qualified);
  return diags.has_errors() ? "" : session.TypeOfExpression(ast, diags);
}

std::optional<fg::Program> Pipeline::Functions(core::VarId entry, const std::string& name,
                                               const LowerOptions& options) {
  PassScope pass("build function graphs");
  std::optional<fg::Program> functions = BuildFunctionGraphs(session.program, entry, diags, options);
  if (!functions && diags.all().back().id == Diag::TensorType) NoteOpenSizes(session.program, diags);
  if (!functions || diags.has_errors()) return std::nullopt;
  functions->name = name;
  if (kVerify) Require(fg::Verify(*functions));
  memory::GiveBackFreed();
  return functions;
}

ir::Graph Pipeline::Graph(const fg::Program& functions, const LowerOptions& options) {
  PassScope pass("transform");
  ir::Graph graph = Transform(functions, options);
  if (kVerify) Require(ir::Verify(graph));
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
