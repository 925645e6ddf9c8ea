// parser/parse.h
//
// Tokens -> Ast. Recursive descent; operator precedence is resolved afterwards, by parser/fixity.h.
// Out: an Ast that is always well formed: what could not be parsed became Error nodes.
// Nesting is bounded by ParseOptions::max_depth. Look at it: dfc --emit=ast.
#pragma once

#include "parser/ast.h"
#include "parser/lex.h"

namespace df {

struct ParseOptions {
  uint32_t max_depth = 5000;      // nested brackets, blocks and lambdas
  uint32_t max_chain = 100000;    // operands of one chain of operators
  bool all_extensions = true;     // else those alone that the file's LANGUAGE pragmas name
};

ast::Ast Parse(const TokenBuffer& tokens, Diagnostics& diags, ParseOptions options = {});

// One line (or several, by the layout rule) of the REPL.
struct ReplInput {
  enum class Kind { Empty, Expression, Bind, Declarations, Incomplete, Error } kind = Kind::Empty;
  // Expression: the module has one declaration, `it = <expression>`. Bind: likewise, of the action; where what it is bound
  // to may not fit, of `do { value @ pattern <- action; return value }`.
  ast::Ast ast;
  // Complete as it is, but a layout block (`where`, `do`, `of`, `let`) was still open at the end of the text: a line
  // that is indented would belong to it.
  bool open_block = false;
  // Expression: the `name` of `name :: type`. Where nothing has this name, that is a signature whose definition follows.
  std::string_view signature_of;
  // Bind: what the action's value is bound to, once fixities are resolved.
  const ast::BindStmt* bind = nullptr;
};
// `Incomplete` means that further lines may complete it (an open bracket, `let`, `where`, `of` at the end..); then
// nothing is reported. Only an open comment has been reported, by Lex.
ReplInput ParseRepl(const TokenBuffer& tokens, Diagnostics& diags, ParseOptions options = {});

// One type, as the module `type it = <type>`, for `:kind`.
ast::Ast ParseReplType(const TokenBuffer& tokens, Diagnostics& diags, ParseOptions options = {});

void Dump(const ast::Ast& ast, llvm::raw_ostream& out);

// At least as many components as the largest tuple has that the text writes, as a value, a pattern or a type: of any
// parentheses with commas, but for those of import and export lists.
uint32_t WidestTuple(const TokenBuffer& tokens);

}  // namespace df
