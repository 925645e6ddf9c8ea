// parser/parse_module.cpp
//
// Modules, imports and exports (Haskell 2010 chapter 5), and the lines of the REPL.
#include "parser/parser.h"

namespace df {

using namespace ast;

ast::Ast Parser::ParseFile() {
  ast_.module.extensions = ast_.Copy<Symbol>(buffer_.extensions);
  ParseHeader();
  ParseTop();
  return std::move(ast_);
}

void Parser::ParseHeader() {
  if (!Take(Kind::Module)) return;
  ast_.module.name = ParseModuleName();
  if (Is(Kind::LeftParen)) {
    llvm::SmallVector<Item> items;
    ParseItems(items);
    ast_.module.has_exports = true;
    ast_.module.exports = Copy(items);
  }
  Expect(Kind::Where);
  if (!panic_) return;
  // Go on after the header's `where`, or with the first line that is no part of it.
  while (token().kind != Kind::EndOfFile && token().kind != Kind::Where &&
         !(token().starts_line && token().column == 1 && pos_ != 0))
    ++pos_;
  if (token().kind == Kind::Where) ++pos_;
  panic_ = false;
  Refresh();
}

void Parser::ParseTop() {
  llvm::SmallVector<Import> imports;
  llvm::SmallVector<Decl*> decls;
  bool braces = Is(Kind::LeftBrace);
  Span open = token().span;
  if (braces) Advance();
  PushBlock(braces ? 0 : token().column);
  for (;;) {
    BlockItems(false, [&] {
      if (Is(Kind::Import)) {
        if (!decls.empty())
          Complain(Diag::ImportNotFirst, token().span).Note(decls.front()->span, "this is above it");
        imports.push_back(ParseImport());
      } else {
        ParseDecl(Scope::Module, decls);
      }
      // Each item ends its line; nothing closes the outermost block.
      if (!panic_ && !Is(Kind::Semicolon) && !Is(Kind::VirtualSemicolon) && !Is(Kind::VirtualClose) &&
          !Is(Kind::EndOfFile) && !(braces && Is(Kind::RightBrace)))
        Fail("the end of the declaration");
    });
    if (token().kind == Kind::EndOfFile || braces) break;
    // A line further left than the first one. The module goes on in its column.
    if (!panic_) {
      Complain(Diag::UnexpectedToken, token().span, "a line further left than the first one",
               fmt::format("a declaration in column {}", blocks_.back().column));
    }
    panic_ = false;
    blocks_.back().column = token().column;
    line_handled_ = true;
    Refresh();
  }
  if (braces && !panic_ && Close(Kind::RightBrace, open) && token().kind != Kind::EndOfFile)
    Fail("end of file");
  panic_ = false;
  PopBlock();
  // What is derived via another type may have to be coerced.
  if (!options_.all_extensions && HasExtension("DerivingVia")) imports.push_back(Import{NameOf("Data.Coerce", Span()), false, {}, true, false, {}, Span()});
  ast_.module.imports = Copy(imports);
  if (!synonym_types_.empty()) AddSynonymTypes(decls);
  ast_.module.decls = GroupClauses(decls);
  ast_.module.kinds = ast_.Copy<std::pair<Span, Type*>>(kinds_);
}

Name Parser::ParseModuleName() {
  if (!Is(Kind::ConId)) {
    Fail("a module name");
    return {};
  }
  const Token& t = token();
  Name name{t.text, {}, t.span};
  if (t.qualifier.valid()) name.text = Intern(fmt::format("{}.{}", Text(t.qualifier), Text(t.text)));
  Advance();
  return name;
}

Import Parser::ParseImport() {
  Import import{};
  Span begin = token().span;
  Advance();
  if (IsWord("safe")) NotSupported(token().span, "safe imports are");
  if (IsWord("qualified")) {
    import.qualified = true;
    Advance();
  }
  if (Is(Kind::String)) {
    NeedExtension("PackageImports", token().span, "an import from a named package");
    Advance();
  }
  import.module = ParseModuleName();
  if (IsWord("qualified")) {
    NeedExtension("ImportQualifiedPost", token().span, "`qualified` behind the name of the module");
    import.qualified = true;
    Advance();
  }
  if (IsWord("as")) {
    Advance();
    import.as = ParseModuleName();
  }
  if (IsWord("hiding")) {
    import.hiding = true;
    Advance();
    if (!Is(Kind::LeftParen)) Fail("`(`");
  }
  if (Is(Kind::LeftParen)) {
    llvm::SmallVector<Item> items;
    import.has_items = true;
    ParseItems(items);
    import.items = Copy(items);
  }
  import.span = From(begin);
  return import;
}

void Parser::ParseItems(llvm::SmallVectorImpl<Item>& items) {
  Span open = token().span;
  Advance();
  while (!panic_ && !Is(Kind::RightParen)) {
    if (Take(Kind::Comma)) continue;
    Item item;
    if (Take(Kind::Module)) {
      item.is_module = true;
      item.name = ParseModuleName();
    } else if (Is(Kind::LeftParen)) {
      item.name = TakeOperatorInParens();
    } else if (Is(Kind::VarId) || Is(Kind::ConId)) {
      item.name = NameOf(token());
      bool type = Is(Kind::ConId);
      bool pattern = IsWord("pattern");
      Advance();
      pattern &= Is(Kind::ConId) || Is(Kind::LeftParen);
      if (pattern) NeedExtension("PatternSynonyms", item.name.span, "`pattern` in an import");
      if (pattern && Is(Kind::LeftParen)) {
        item.name = TakeOperatorInParens();
      } else if (pattern) {
        item.name = NameOf(token());
        Advance();
      } else if (type && Is(Kind::LeftParen)) {
        ParseMembers(item);
      }
    } else if (Is(Kind::Type)) {
      NotSupported(token().span, "explicit namespaces are");
    } else {
      return void(Close(Kind::RightParen, open));
    }
    items.push_back(item);
    if (!Is(Kind::Comma) && !Is(Kind::RightParen)) break;
  }
  Close(Kind::RightParen, open);
}

// `(..)` or `(A, b, (:+))` after the name of a type or class.
void Parser::ParseMembers(Item& item) {
  Span open = token().span;
  Advance();
  llvm::SmallVector<Name> members;
  item.all_members = Take(Kind::DotDot);
  // `T (.., P)`: all of them, and a pattern synonym.
  while (!panic_) {
    if (Is(Kind::LeftParen)) {
      members.push_back(TakeOperatorInParens());
    } else if (Is(Kind::VarId) || Is(Kind::ConId)) {
      if (IsWord("pattern") && next().kind == Kind::ConId) Advance();
      members.push_back(NameOf(token()));
      Advance();
    } else if (!Take(Kind::Comma)) {
      break;
    }
  }
  item.members = Copy(members);
  Close(Kind::RightParen, open);
}

// `(+)`
Name Parser::TakeOperatorInParens() {
  Name name;
  Span open = token().span;
  Advance();
  if (Is(Kind::VarSym) || Is(Kind::ConSym)) {
    name = TakeOperator();
  } else {
    Fail("an operator");
  }
  Close(Kind::RightParen, open);
  return name;
}

// Whether what was entered is declarations. (A single signature is an expression with its type.)
bool Parser::BeginsDeclarations() {
  bool one_item = true;
  for (size_t i = 1; i + 1 < buffer_.tokens.size(); ++i)
    if (TokenAt(i).starts_line && TokenAt(i).column <= TokenAt(0).column) one_item = false;
  // `f :: Int -> Int; f x = x + 1`
  for (size_t i = 0, depth = 0; i < buffer_.tokens.size(); ++i) {
    if (TokenAt(i).kind == Kind::LeftBrace) ++depth;
    if (TokenAt(i).kind == Kind::RightBrace && depth > 0) --depth;
    if (TokenAt(i).kind == Kind::Semicolon && depth == 0) one_item = false;
  }
  switch (kind()) {
    case Kind::Data:
    case Kind::Type:
    case Kind::Newtype:
    case Kind::Class:
    case Kind::Instance:
    case Kind::Deriving:
    case Kind::Default:
    case Kind::Foreign:
    case Kind::Infix:
    case Kind::Infixl:
    case Kind::Infixr:
    case Kind::Import:
    case Kind::Module: return true;
    case Kind::Let: return false;
    default: {
      Shape shape = LookAtDecl().shape;
      bool several_names = next().kind == Kind::Comma;
      return shape == Shape::Signature ? several_names || !one_item : shape != Shape::Nothing;
    }
  }
}

// Makes the expression that was entered, or what is bound, the definition of `it`.
void Parser::DefineIt(ReplInput::Kind kind, Expr* expr, Span begin, ReplInput& result) {
  if (kind == ReplInput::Kind::Bind && !panic_ && !llvm::isa<VarPat>(result.bind->pat)) {
    // In one action, so that it fails where the pattern does not fit.
    Name whole = NameOf("%value", expr->span), give = NameOf("return", expr->span);
    give.qualifier = Intern(kLibraryQualifier);
    Expr* last = ast_.New<AppExpr>(expr->span, ast_.New<VarExpr>(expr->span, give),
                                   ast_.Copy<Expr*>({ast_.New<VarExpr>(expr->span, whole)}));
    auto* bind = ast_.New<BindStmt>(
        From(begin), ast_.New<AsPat>(result.bind->pat->span, whole.text, result.bind->pat->span, result.bind->pat), expr);
    result.bind = bind;
    expr = ast_.New<DoExpr>(From(begin), ast_.Copy<Stmt*>({bind, ast_.New<ExprStmt>(expr->span, last)}));
  }
  if ((kind == ReplInput::Kind::Expression || kind == ReplInput::Kind::Bind) && expr && !panic_) {
    Clause clause{{}, {{}, {}, expr->span}, expr->span};
    clause.rhs.guarded = ast_.Copy<GuardedExpr>({GuardedExpr{{}, expr, expr->span}});
    ast_.module.decls = ast_.Copy<Decl*>(
        {ast_.New<FunctionDecl>(From(begin), NameOf("it", expr->span), ast_.Copy<Clause>({clause}))});
  }
}

ReplInput Parser::ParseReplInput() {
  repl_ = true;
  ReplInput result;
  ast_.module.extensions = ast_.Copy<Symbol>(buffer_.extensions);
  auto finish = [&](ReplInput::Kind kind) {
    ast_.module.kinds = ast_.Copy<std::pair<Span, Type*>>(kinds_);
    if (kind != ReplInput::Kind::Empty && panic_) kind = ReplInput::Kind::Error;
    if (reached_end_ || buffer_.open_comments != 0) kind = ReplInput::Kind::Incomplete;
    result.kind = kind;
    result.open_block = open_block_;
    result.ast = std::move(ast_);
    return std::move(result);
  };
  if (Is(Kind::EndOfFile)) return finish(ReplInput::Kind::Empty);

  uint32_t errors = diags_.error_count();
  if (BeginsDeclarations()) {
    ParseHeader();
    ParseTop();
    if (diags_.error_count() != errors) return finish(ReplInput::Kind::Error);
    return finish(ReplInput::Kind::Declarations);
  }

  PushBlock(token().column);
  Span begin = token().span;
  Expr* expr = nullptr;
  ReplInput::Kind kind = ReplInput::Kind::Expression;
  if (Is(Kind::Let)) {
    // `let x = 5` without `in` defines x, as in other Haskell REPLs.
    Stmt* stmt = ParseStmt(true);
    if (auto* let = llvm::dyn_cast<LetStmt>(stmt)) {
      ast_.module.decls = let->decls;
      kind = ReplInput::Kind::Declarations;
    } else if (auto* e = llvm::dyn_cast<ExprStmt>(stmt)) {
      expr = e->expr;
    }
  } else if (LooksLikeBind()) {
    Stmt* stmt = ParseStmt(true);
    if (auto* bind = llvm::dyn_cast<BindStmt>(stmt)) {
      result.bind = bind;
      kind = ReplInput::Kind::Bind;
      expr = bind->expr;
    }
  } else {
    expr = ParseExpr();
    if (auto* typed = llvm::dyn_cast_or_null<TypedExpr>(expr))
      if (auto* var = llvm::dyn_cast<VarExpr>(typed->expr); var && !var->name.qualifier.valid())
        result.signature_of = Text(var->name.text);
  }
  if (!panic_ && token().kind != Kind::EndOfFile) Fail("the end of the expression");
  if (diags_.error_count() != errors) return finish(ReplInput::Kind::Error);
  DefineIt(kind, expr, begin, result);
  return finish(kind);
}

ast::Ast Parser::ParseOneType() {
  PushBlock(token().column);
  Span begin = token().span;
  Type* type = ParseType();
  if (!panic_ && token().kind != Kind::EndOfFile) Fail("the end of the type");
  if (!panic_)
    ast_.module.decls = ast_.Copy<Decl*>(
        {ast_.New<TypeSynonymDecl>(From(begin), NameOf("it", begin), Copy(llvm::SmallVector<Name>{}), type)});
  return std::move(ast_);
}

}  // namespace df
