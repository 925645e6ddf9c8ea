// parser/ast_node.h
//
// What all nodes of the syntax tree have: names, literals, kinds and spans (ast.h).
#pragma once

#include <cstdint>

#include "lang/interner.h"
#include "lang/source.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Casting.h"

namespace df::ast {

template <typename T>
using List = llvm::ArrayRef<T>;

// A name as written, with its module qualifier if it had one (`Map.insert`: qualifier `Map`, name `insert`).
struct Name {
  Symbol text;
  Symbol qualifier;
  Span span;
};

// A qualifier that no program can write: the name is the library's, whatever is in scope.
inline constexpr const char* kLibraryQualifier = "%library";

enum class LiteralKind : uint8_t { Integer, Fractional, Char, String };

// A literal's value. Integer and Fractional keep their digits as decimal text ("255" for 0xFF; "1.5e3" as
// written, without underscores), since they may exceed every machine type. Char and String hold UTF-8.
struct Literal {
  LiteralKind kind;
  Symbol text;
};

#define DF_AST_NODE(Base, Name)                           \
  static constexpr Base##Kind kKind = Base##Kind::Name;   \
  static bool classof(const Base* node) { return node->kind == kKind; }
#define DF_AST_BASE(Base)                                       \
  Base##Kind kind;                                              \
  Span span;                                                    \
  Base(Base##Kind k, Span s) : kind(k), span(s) {}

}  // namespace df::ast
