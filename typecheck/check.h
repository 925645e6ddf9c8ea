// typecheck/check.h
//
// Ast -> typed core: names, dependency groups, Hindley-Milner inference with classes, defaulting.
// The library (stdlib/*.df) goes through the same phase first; a Session keeps what it defined.
#pragma once

#include "parser/ast.h"
#include "parser/fixity.h"
#include "typecheck/core.h"

namespace df {

struct CheckOptions {
  bool library = false;     // the module may use `foreign import prim`, and declares the built-in classes
  bool repl = false;        // definitions may replace earlier ones of the same name; no monomorphic `main` needed
  bool warnings = true;     // exhaustiveness, redundancy
  Symbol entry;             // the definition that is printed; by default `main`, or the prompt's `it`
  bool restricted = true;   // the monomorphism restriction and defaulting hold; `:type` does without
};

// Names, types and classes in scope across modules; the REPL keeps one for its whole life.
class CheckSession {
 public:
  CheckSession();
  ~CheckSession();
  CheckSession(CheckSession&&) noexcept;

  core::Program program;

  // Checks one module and adds its definitions, match-compiled, to `program`. On errors nothing is added that
  // later phases could see; what is well typed stays known, so that later errors are not follow-ups.
  // The parser must have found no error, and fixities must be resolved (parser/fixity.h; `fixities` is the
  // table to use and to extend).
  bool Check(const ast::Ast& ast, Diagnostics& diags, const CheckOptions& options = {});

  FixityTable fixities;

  // For `:type`: the most general type of the expression in a module `it = <expression>` (ParseRepl makes
  // it), as GHCi prints it; "" after an error. Nothing is defined.
  std::string TypeOfExpression(const ast::Ast& ast, Diagnostics& diags);

  // For the REPL: the type of a name as `:type` prints it ("fact :: (Eq a, Num a) => a -> a"), "" if unknown.
  std::string TypeOf(Symbol name) const;
  std::string PrintScheme(const core::Scheme& scheme) const;
  // All names in scope, for completion.
  std::vector<std::string_view> Names() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace df
