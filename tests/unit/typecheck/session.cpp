#include "tests/unit/typecheck/session.h"

#include "llvm/ADT/STLExtras.h"
#include "stdlib/stdlib.h"

namespace df::test {

Session::Session() : diags(std::make_unique<Diagnostics>(sources)) { Load("Prelude"); }

void Session::Load(std::string_view name) {
  if (llvm::is_contained(loaded_, name)) return;
  const auto modules = LibraryModules();
  const auto module = llvm::find_if(modules, [&](const LibraryModule& row) { return row.name == name; });
  if (module == modules.end()) return;  // the check tells it
  loaded_.push_back(module->name);
  CheckOptions options;
  options.library = true;
  Check(module->text, options);
}

bool Session::Check(std::string_view text, CheckOptions options) {
  FileId file = sources.Add("test.df", std::string(text));
  TokenBuffer tokens = Lex(sources, file, *diags);
  ast::Ast ast = Parse(tokens, *diags);
  for (const ast::Import& import : ast.module.imports) Load(Text(import.module.text));
  FixityScope scope = session.ScopeOfImports(ast, *diags, options.library);
  ResolveFixity(ast, scope, *diags);
  if (!session.Check(ast, *diags, scope, options)) return false;
  if (options.library) session.KeepFixities(ast.module.name.text, scope, true);
  return true;
}

std::string Session::TypeOfExpression(std::string_view text) {
  FileId file = sources.Add("test.df", std::string(text));
  TokenBuffer tokens = Lex(sources, file, *diags);
  ReplInput input = ParseRepl(tokens, *diags);
  FixityScope scope = session.ScopeOfImports(input.ast, *diags, false);
  ResolveFixity(input.ast, scope, *diags);
  return session.TypeOfExpression(input.ast, *diags);
}

std::vector<std::string> Session::Codes() const {
  std::vector<std::string> codes;
  for (const Diagnostic& diagnostic : diags->all()) codes.push_back(InfoOf(diagnostic.id).code);
  return codes;
}

std::string Session::Rendered() const {
  std::string out;
  llvm::raw_string_ostream stream(out);
  Render(*diags, stream);
  return out;
}

}  // namespace df::test
