// parser/place.h
//
// `{-# PLACE f worker 2 #-}` at the top of a module: on which part of a cut graph the function stands (docs/cut.md). A pragma is a comment to the lexer,
// which keeps where it is; its text is read here, when the module's definitions are known.
#pragma once

#include <vector>

#include "parser/ast.h"
#include "parser/lex.h"

namespace df {

struct PlacePragma {
  Symbol function;
  uint32_t part = 0;
};

// What the pragmas of a module say. Reports those that are none, name nothing that the module defines at its top, or stand elsewhere.
std::vector<PlacePragma> ReadPlaces(const TokenBuffer& tokens, const ast::Ast& ast, Diagnostics& diags);

}  // namespace df
