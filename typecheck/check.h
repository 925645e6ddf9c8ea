// typecheck/check.h
//
// Ast -> typed core: names, dependency groups, Hindley-Milner inference with classes, defaulting.
// The library (stdlib/*.df) goes through the same phase first; a Session keeps what it defined.
#pragma once

#include <optional>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "parser/ast.h"
#include "parser/fixity.h"
#include "typecheck/core/core.h"
#include "typecheck/state/options.h"

namespace df {

// Names, types and classes in scope across modules; the REPL keeps one for its whole life.
class CheckSession {
 public:
  CheckSession();
  ~CheckSession();
  CheckSession(CheckSession&&) noexcept;

  core::Program program;

  // Checks one module and adds its definitions, match-compiled, to `program`. On errors nothing is added that
  // later phases could see; what is well typed stays known, so that later errors are not follow-ups.
  // The parser must have found no error, and fixities must be resolved by `scope` (parser/fixity.h), the module's own.
  bool Check(const ast::Ast& ast, Diagnostics& diags, const FixityScope& scope, const CheckOptions& options = {});

  // The scope of the main module, or of the prompt, which lives on from input to input.
  FixityScope main_scope;
  // To be called before fixities are resolved: adds what `ast` imports to `main_scope`.
  void EnterImported(const ast::Ast& ast, Diagnostics& diags);
  // Whether there is such a module, among those that were checked.
  bool HasModule(Symbol name) const;
  // Reports those modules that `ast` imports and `is_missing` says are not there; for a module that is not checked.
  void ReportUnknownModules(const ast::Ast& ast, Diagnostics& diags, llvm::function_ref<bool(const ast::Import&)> is_missing);
  // The scope that a module begins with: what it imports, the Prelude included. `library`: one of the library's.
  FixityScope ScopeOfImports(const ast::Ast& ast, Diagnostics& diags, bool library);
  // To be called after a module was checked: keeps the fixities of what it offers for those who import it.
  void KeepFixities(Symbol module, const FixityScope& scope, bool library);

  // The modules that were imported at the prompt, each once.
  std::vector<Symbol> PromptImports() const;
  // Takes back what the imports of a module at the prompt brought into scope; what was defined there stays. False if it was not
  // imported.
  bool RemoveImport(Symbol module);

  // For `:type`: the most general type of the expression in a module `it = <expression>` (ParseRepl makes
  // it), as GHCi prints it; "" after an error. Nothing is defined.
  std::string TypeOfExpression(const ast::Ast& ast, Diagnostics& diags);

  // For the REPL: the type of a name as `:type` prints it ("fact :: (Eq a, Num a) => a -> a"), "" if unknown.
  std::string TypeOf(Symbol name, Symbol qualifier = Symbol()) const;
  std::string PrintScheme(const core::Scheme& scheme) const;
  // For the REPL: if the name is an action, a constructor that holds its value, from its type to PrimAnswer; invalid if it
  // is none. Known to the checker as a name of the library's.
  core::ConId AnswerOf(Symbol action, Symbol constructor);
  // All names in scope, for completion.
  std::vector<std::string_view> Names() const;

  // For `:info`: every meaning of a name (a value, a constructor, a type, a class), each with its type or
  // declaration, its place, fixity and instances, in GHCi's form; "" if it has none.
  std::string Info(Symbol name, Symbol qualifier, const SourceManager& sources) const;
  // For `:browse`: what a module offers, or with an invalid name what the user defined; sorted by name.
  // nullopt if no such module was loaded.
  std::optional<std::string> Browse(Symbol module) const;
  // For `:kind`: the kind of the type in ParseReplType's `type it = ...`; "" after an error. Nothing is defined.
  std::string KindOfType(const ast::Ast& ast, Diagnostics& diags);
  // The kind of a class, "* -> Constraint", or of a type synonym without its arguments; "" for other names.
  std::string KindOfName(Symbol name) const;

  // A name that the last Check gave a new meaning, and what else in scope still means the older one.
  struct Outdated {
    Symbol name;
    bool is_type = false;
    std::vector<std::string> users;
  };
  std::vector<Outdated> TakeOutdated();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace df
