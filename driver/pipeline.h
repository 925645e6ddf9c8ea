// driver/pipeline.h
//
// The compiler as one object: source -> tokens -> Ast -> typed core -> function graphs -> tagged graph. Each command
// takes as much of it as it needs; the REPL keeps one for as long as it lives. Every step reports into `diags` and
// returns nothing after errors; a broken structure (a pass's own fault) is thrown as InternalError.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "lang/budget.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "lower/lower.h"
#include "parser/parse.h"
#include "typecheck/check.h"

namespace df {

// The pass that runs, for messages about internal errors and crashes.
class PassScope {
 public:
  explicit PassScope(const char* name);
  ~PassScope();
  PassScope(const PassScope&) = delete;
  PassScope& operator=(const PassScope&) = delete;

  // The innermost running pass, or the last one that was left by an exception; "" before the first.
  static const char* Current();

 private:
  const char* outer_;
};

// A pass broke an invariant. Never the user's fault.
class InternalError : public std::runtime_error {
 public:
  explicit InternalError(const std::string& what) : std::runtime_error(what) {}
};

class Pipeline {
 public:
  Pipeline() : diags(sources) {}

  SourceManager sources;
  Diagnostics diags;
  CheckSession session;
  // What is done to the syntax of each of the program's own modules before its operators are resolved; empty: nothing.
  std::function<void(ast::Ast&, const SourceManager&)> on_syntax;

  // Runs `phases`. Where the budget of the calling thread (driver/compile_budget.h) comes to its end they are left, and it is reported.
  // The steps below do this by themselves; it is for what is between them. False if that happened, now or before: nothing that came of
  // it is to be used.
  bool Within(llvm::function_ref<void()> phases);
  // How the budget ended, since the last ClearEnd.
  BudgetEnd ended() const { return ended_; }
  void ClearEnd() { ended_ = BudgetEnd::None; }

  // Source to tokens; the text becomes a buffer named `name`.
  TokenBuffer Tokens(const std::string& name, std::string text, uint32_t first_line = 1);
  // Tokens to Ast, operators not yet resolved. nullopt after errors; where `complaints` are fine only after those behind which the tree is not
  // that of the text, so that Check, which then fails in any case, finds what else is wrong.
  std::optional<ast::Ast> Syntax(const TokenBuffer& tokens, bool complaints = false);
  // Checks the modules that `ast` imports, once each, then `ast` itself: adds to session.program.
  bool Check(ast::Ast& ast, const CheckOptions& options);

  // The most general type of ParseRepl's `it = expression`, as text; "" after errors.
  std::string TypeOfExpression(ast::Ast& ast);

  // Checks a library module if it was not yet. False if there is none of that name.
  bool LoadLibraryModule(std::string_view name);

  // Where the program's own modules lie: below the folder of this file, a source's; "-" is the current folder.
  // Then in `more`.
  void LookBeside(const std::string& file, const std::vector<std::string>& more);

  // What is read from now on is read as if its first pragma named the extension, as `ghci -X` does. False, and a message, for a name that is
  // none.
  bool AddExtension(std::string_view name);

  // Function graphs and the tagged graph of everything that `entry` needs. `name` is the graph's.
  std::optional<fg::Program> Functions(core::VarId entry, const std::string& name, const LowerOptions& options);
  std::optional<ir::Graph> Graph(const fg::Program& functions, const LowerOptions& options);

  // The user's definition of that name, the newest one; a library one if there is no other.
  core::VarId DefinitionNamed(std::string_view name) const;

 private:
  // A module of the program itself.
  struct OwnModule {
    bool checked = false;   // false: what it imports is being checked
    bool failed = false;    // it has errors, which are told
    Span import;            // the first one
  };
  bool CheckMain(ast::Ast& ast, const CheckOptions& options);
  void Resolve(ast::Ast& ast, FixityScope& scope);
  bool LoadImports(const ast::Ast& ast, const CheckOptions& options);
  void LoadTupleInstances();
  bool LoadOwnModule(const ast::Import& import, const std::string& path, const CheckOptions& options);
  void LookAbove(Symbol module);
  std::string PathOf(Symbol module) const;
  std::string NearPathOf(Symbol module, const std::string& folder) const;

  std::string extension_names_;          // of AddExtension, "A, B"
  std::vector<Symbol> extensions_;       // with what they imply
  BudgetEnd ended_ = BudgetEnd::None;
  std::vector<std::string_view> loaded_;  // library modules
  uint32_t widest_tuple_ = 0;             // in what was read of the program
  uint32_t complaints_ = 0;  // errors of the program that hide nothing: those of its modules come on top
  std::map<Symbol, OwnModule> own_;
  std::string main_;    // the main file
  std::string folder_;  // where it lies, with the slash; "" is the current one
  std::vector<std::string> more_folders_;
  Symbol root_;         // the name in the main file's header, while it is checked
  std::vector<fg::Placed> placed_;  // by the PLACE pragmas of the program's own modules
};

}  // namespace df
