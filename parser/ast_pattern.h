// parser/ast_pattern.h
//
// Patterns, as written.
#pragma once

#include "parser/ast_type.h"

namespace df::ast {

enum class PatKind : uint8_t { Wildcard, Var, Literal, Con, Record, Tuple, List, As, Bang, Lazy, Paren, Infix, Typed, View, Error };

struct Pat {
  DF_AST_BASE(Pat)
};
struct Expr;
struct WildcardPat : Pat { DF_AST_NODE(Pat, Wildcard) explicit WildcardPat(Span s) : Pat(kKind, s) {} };
struct VarPat : Pat {
  DF_AST_NODE(Pat, Var)
  Symbol name;
  VarPat(Span s, Symbol n) : Pat(kKind, s), name(n) {}
};
struct LiteralPat : Pat {
  DF_AST_NODE(Pat, Literal)
  Literal value;
  bool negative;
  LiteralPat(Span s, Literal v, bool neg) : Pat(kKind, s), value(v), negative(neg) {}
};
struct ConPat : Pat {
  DF_AST_NODE(Pat, Con)
  Name name;
  List<Pat*> args;
  ConPat(Span s, Name n, List<Pat*> a) : Pat(kKind, s), name(n), args(a) {}
};
struct FieldPat { Name field; Pat* pat; };
// `C { x = p, y, .. }`
struct RecordPat : Pat {
  DF_AST_NODE(Pat, Record)
  Name name;
  List<FieldPat> fields;
  Span wildcard;  // the place of the dots, whose fields ResolveFixity adds
  RecordPat(Span s, Name n, List<FieldPat> f, Span w = {}) : Pat(kKind, s), name(n), fields(f), wildcard(w) {}
};
struct TuplePat : Pat {
  DF_AST_NODE(Pat, Tuple)
  List<Pat*> elements;  // () has none
  TuplePat(Span s, List<Pat*> e) : Pat(kKind, s), elements(e) {}
};
struct ListPat : Pat {
  DF_AST_NODE(Pat, List)
  List<Pat*> elements;
  ListPat(Span s, List<Pat*> e) : Pat(kKind, s), elements(e) {}
};
struct AsPat : Pat {
  DF_AST_NODE(Pat, As)
  Symbol name;
  Span name_span;
  Pat* pat;
  AsPat(Span s, Symbol n, Span ns, Pat* p) : Pat(kKind, s), name(n), name_span(ns), pat(p) {}
};
struct BangPat : Pat { DF_AST_NODE(Pat, Bang) Pat* pat; BangPat(Span s, Pat* p) : Pat(kKind, s), pat(p) {} };
struct LazyPat : Pat { DF_AST_NODE(Pat, Lazy) Pat* pat; LazyPat(Span s, Pat* p) : Pat(kKind, s), pat(p) {} };
struct ParenPat : Pat {
  DF_AST_NODE(Pat, Paren)
  Pat* pat;
  ParenPat(Span s, Pat* p) : Pat(kKind, s), pat(p) {}
};
// `p : ps : qs` as written; ResolveFixity replaces it by ConPats.
struct InfixPat : Pat {
  DF_AST_NODE(Pat, Infix)
  List<Pat*> operands;
  List<Name> ops;
  InfixPat(Span s, List<Pat*> p, List<Name> o) : Pat(kKind, s), operands(p), ops(o) {}
};
struct TypedPat : Pat {
  DF_AST_NODE(Pat, Typed)
  Pat* pat;
  QualType type;
  TypedPat(Span s, Pat* p, QualType t) : Pat(kKind, s), pat(p), type(t) {}
};
// `(e -> p)`: what the function e gives matches p.
struct ViewPat : Pat {
  DF_AST_NODE(Pat, View)
  Expr* view;
  Pat* pat;
  ViewPat(Span s, Expr* e, Pat* p) : Pat(kKind, s), view(e), pat(p) {}
};
struct ErrorPat : Pat { DF_AST_NODE(Pat, Error) explicit ErrorPat(Span s) : Pat(kKind, s) {} };

}  // namespace df::ast
