// parser/parser.h
//
// The recursive-descent parser's state, private to parser/parse*.cpp. One file per subject: parse.cpp
// (tokens, layout, errors, modules, the REPL), parse_decl.cpp, parse_data.cpp, parse_expr.cpp, parse_pat.cpp,
// parse_type.cpp.
//
// Layout: blocks_ holds the open blocks. The kind of the current token, kind(), is computed from the token
// and the innermost block: VirtualSemicolon or VirtualClose where a line begins at or left of the block's
// column. A block whose item ends at a token that nothing can take closes there: that is the rule's
// parse-error(t).
//
// Errors: Fail() reports once and enters panic: kind() is Panic, which nothing accepts, so every function
// returns Error nodes until the innermost block with a further item clears it. Nothing in between reports
// again.
#pragma once

#include <string>
#include <vector>

#include "lang/diagnostics.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "parser/parse.h"

namespace df {

class Parser {
 public:
  Parser(const TokenBuffer& tokens, Diagnostics& diags, const ParseOptions& options);

  ast::Ast ParseFile();
  ReplInput ParseReplInput();
  ast::Ast ParseOneType();

 private:
  using Kind = TokenKind;
  // What an item of a block of declarations may be.
  enum class Scope { Module, Class, Instance, Local };

  // ---- tokens (parse.cpp)
  Kind kind() const { return kind_; }
  const Token& token() const { return buffer_.tokens[pos_]; }
  const Token& TokenAt(size_t i) const {
    return buffer_.tokens[std::min(i, buffer_.tokens.size() - 1)];
  }
  const Token& next() const { return TokenAt(pos_ + 1); }
  bool panic() const { return panic_; }
  bool Is(Kind kind) const { return kind_ == kind; }
  bool IsOp(std::string_view op) const;     // an unqualified VarSym
  bool IsWord(std::string_view word) const; // an unqualified VarId
  bool Take(Kind kind);
  void Advance();
  // The current token must be `kind`; else reports that `expected` was expected.
  bool Expect(Kind kind, std::string_view expected = {});
  // The closing bracket of what `open` opened.
  bool Close(Kind kind, Span open);
  void Refresh();
  Span LastSpan() const { return pos_ == 0 ? Span{buffer_.file, 0, 0} : buffer_.tokens[pos_ - 1].span; }
  Span From(Span begin) const;
  bool SameSpelling(const Token& token, std::string_view text) const { return Text(token.text) == text; }
  // Is token i an operator character right before its operand: `f !x`, `f ~x`, `f @x`?
  bool IsPrefixOccurrence(size_t i) const;

  // ---- errors (parse.cpp)
  void Fail(std::string_view expected);
  template <typename... Args>
  Diagnostics& FailWith(Diag id, Span span, const Args&... args) {
    bool silent = EnterPanic();
    return (silent ? muted_ : diags_).Report(id, span, args...);
  }
  // Reports and goes on: the text was understood.
  template <typename... Args>
  Diagnostics& Complain(Diag id, Span span, const Args&... args) {
    ast_.complaints += !panic_;
    return (panic_ ? muted_ : diags_).Report(id, span, args...);
  }
  void NotSupported(Span span, std::string_view what);
  // parse_missing.cpp: what begins with the keyword at `begin` goes on without `word`.
  void FailWithout(Span begin, std::string_view keyword, Kind word);
  // The same of an `if` without `then` or `else`; `action`: it stands where an action does in a `do`.
  void FailWithoutBranch(Span begin, Kind word, bool action);
  void TakeHints(Diagnostics& report, const Diagnostics& hints) const;
  // parse_hint.cpp
  void HintAtUnexpected(Diagnostics& report, std::string_view expected) const;
  // Its parts, by what stands there.
  bool HintAtBrokenLine(Diagnostics& report, std::string_view expected) const;
  void HintAtEquals(Diagnostics& report, std::string_view expected) const;
  void HintAtArrow(Diagnostics& report, std::string_view expected) const;
  void HintAtBar(Diagnostics& report, std::string_view expected) const;
  void HintAtClosing(Diagnostics& report, std::string_view expected) const;
  void HintAtComma(Diagnostics& report, std::string_view expected) const;
  void HintAtVariable(Diagnostics& report, std::string_view expected) const;
  void HintAtOperator(Diagnostics& report, std::string_view expected) const;
  void HintAtEndOfFile(Diagnostics& report, std::string_view expected) const;
  void HintAtKeyword(Diagnostics& report, std::string_view expected) const;
  std::string_view TextOf(size_t i) const;   // of token i
  std::string_view TextBefore() const;       // of the one before this
  bool LineHas(TokenKind kind) const;        // does the line up to here?
  bool HintAtMissingValue(Diagnostics& report, std::string_view expected) const;
  bool HintAtForeign(Diagnostics& report) const;
  bool HintAtDefinitions(Diagnostics& report) const;
  bool HintAtLayout(Diagnostics& report, std::string_view expected) const;
  size_t LineStart(size_t i) const;  // the first token of the line that token i stands on
  bool PragmasName(std::string_view extension) const;  // those of the file, whatever else is allowed
  bool HasExtension(std::string_view extension) const;
  bool IsTurnedOff(std::string_view extension) const;  // what Haskell 2010 has
  void RefuseIfTurnedOff(std::string_view extension, Span span, std::string_view what);
  void NeedExtension(std::string_view extension, Span span, std::string_view what);
  void CheckNumber(const Token& number);
  bool StandsInMissedLine() const;
  bool EnterPanic();
  // Whether an error here is told by other means: the text ends in a comment, or a prompt reads on.
  bool AtSilentEnd() const {
    return token().kind == Kind::EndOfFile && (buffer_.truncated || buffer_.open_comments != 0 || repl_);
  }
  std::string DescribeHere() const;
  bool AtLineEnd() const;
  Span Place() const;

  // Counts one more level of nesting while it lives.
  class Level {
   public:
    explicit Level(Parser& parser);
    ~Level() { --parser_.depth_; }
    bool too_deep() const { return too_deep_; }

   private:
    Parser& parser_;
    bool too_deep_;
  };

  // ---- blocks (parse.cpp)
  struct BlockState {
    uint32_t column;         // 0: explicit braces, no layout inside
    bool separators = true;  // a line in its column begins a new item
    Span first = {};         // of a layout block its first token, for messages
    std::string_view keyword = {};
  };
  // Parses `{ item; item }` or its layout form after the keyword at `keyword`. `item` parses one item, or
  // takes nothing when none begins here. Returns false if the block had no item.
  // `same_column`: it may begin in the column of the block around it.
  bool Block(Span keyword, std::string_view keyword_text, llvm::function_ref<void()> item, bool same_column = false);
  // Items up to the end of the innermost block. `closes`: a token that no item takes closes the block; else
  // it is an error.
  bool BlockItems(bool closes, llvm::function_ref<void()> item);
  // Skips to the next item of the innermost block and ends the panic; false if the block has no more.
  bool Recover();
  void PushBlock(uint32_t column, bool separators = true);
  void PopBlock();
  // Does the innermost block's current item end before token i, by the layout rule?
  bool ItemEndsBefore(size_t i) const;
  // The token after the one at i, or after the bracket that i closes if it opens one.
  size_t SkipBrackets(size_t i) const;

  // ---- modules (parse.cpp)
  void ParseHeader();
  void ParseTop();
  ast::Import ParseImport();
  // `(a, T(..), module M)` of an import or an export.
  void ParseItems(llvm::SmallVectorImpl<ast::Item>& items);
  void ParseMembers(ast::Item& item);
  ast::Name TakeOperatorInParens();
  ast::Name ParseModuleName();

  // ---- declarations (parse_decl.cpp, parse_data.cpp)
  // The shape of a declaration that begins with neither a keyword nor `import`, by looking ahead.
  enum class Shape { Signature, Function, Infix, ParenFunction, Pattern, Nothing };
  struct Lookahead {
    Shape shape;
    size_t op = 0;  // Infix: the operator's token
  };
  bool BeginsDeclarations();
  void DefineIt(ReplInput::Kind kind, ast::Expr* expr, Span begin, ReplInput& result);
  Lookahead LookAtDecl() const;
  void ParseDecl(Scope scope, llvm::SmallVectorImpl<ast::Decl*>& decls);
  ast::List<ast::Decl*> ParseDeclBlock(Span keyword, std::string_view keyword_text, Scope scope);
  bool LineDefines() const;
  ast::Decl* ParseSignature();
  ast::Decl* ParseFixity();
  ast::Decl* ParseEquation();
  void ParseFunLhs(ast::Name& name, llvm::SmallVectorImpl<ast::Pat*>& params);
  ast::Rhs ParseRhs(Kind separator);
  ast::GuardedExpr ParseGuarded(Kind separator);
  void ParseGuards(llvm::SmallVectorImpl<ast::Stmt*>& guards, bool typed);
  void HintAtBareConstructor(const ast::Clause& clause);
  ast::List<ast::Decl*> GroupClauses(llvm::ArrayRef<ast::Decl*> decls);
  ast::Decl* ParseForeign();
  ast::Decl* ParseData(bool newtype);
  ast::ConstructorDecl ParseConstructor();
  void ParseGadtConstructors(llvm::SmallVectorImpl<ast::ConstructorDecl>& constructors);
  bool ContextFollows() const;
  void ParseDataKind(llvm::SmallVectorImpl<ast::Name>& params);
  void ParseDependencies(llvm::SmallVectorImpl<ast::Dependency>& dependencies);
  ast::Decl* ParseDefault();
  void ParseRecordFields(llvm::SmallVectorImpl<ast::FieldDecl>& fields);
  ast::FieldDecl ParseField();
  void ParseDeriving(llvm::SmallVectorImpl<ast::DerivedClass>& classes);
  ast::DerivingStrategy ParseStrategy();
  ast::Decl* ParseStandaloneDeriving();
  ast::Decl* ParseTypeSynonym();
  // parse_family.cpp: what begins with `type` and is no synonym; null if it is one.
  bool AtFamily(Scope scope) const;
  bool IsRole() const;
  ast::Decl* ParseTypeFamily(Scope scope);
  ast::TypeEquation ParseTypeEquation();
  ast::Decl* ParseRole();
  ast::Decl* ParseClass();
  const ast::Minimal* ParseMinimal(Span cls, Span& span);  // parse_minimal.cpp
  ast::Decl* ParseInstance();
  void ParseInstanceHead(llvm::SmallVectorImpl<ast::Constraint>& context, llvm::SmallVectorImpl<ast::Constraint>& cls);
  // `T a b` as a name and its parameters.
  bool SplitTypeHead(ast::Type* head, ast::Name& name, llvm::SmallVectorImpl<ast::Name>& params);

  // ---- types (parse_type.cpp)
  ast::Type* ParseType();
  // ---- pattern synonyms (parse_synonym.cpp)
  void ParsePatternSynonym(llvm::SmallVectorImpl<ast::Decl*>& decls);
  bool SplitSynonymHead(ast::Pat* head, ast::Name& name, llvm::SmallVectorImpl<ast::Pat*>& params);
  ast::Expr* PatternAsValue(Symbol synonym, const ast::Pat* pat);
  ast::Decl* SynonymFunction(Symbol name, Span span, llvm::ArrayRef<ast::Clause> clauses);
  ast::Rhs PlainRhs(ast::Expr* body);
  void AddSynonymTypes(llvm::SmallVectorImpl<ast::Decl*>& decls);

  void ParseKindSignature();
  ast::Type* ParseForallType();
  ast::Type* ParseVia();
  // `forall a (b :: kind).`
  void ParseForall(llvm::SmallVectorImpl<ast::Name>& binders);
  void ParseKind(ast::Type* variable);
  ast::Type* ParseDimType();
  ast::Type* ParseBType();
  ast::Type* ParseAType();
  bool AtAType() const;
  ast::QualType ParseQualType();
  // `context =>` if there is one, then a type.
  ast::Type* ParseTypeWithContext(llvm::SmallVectorImpl<ast::Constraint>& context);
  void ToContext(ast::Type* type, llvm::SmallVectorImpl<ast::Constraint>& context);

  // ---- patterns (parse_pat.cpp)
  ast::Pat* ParsePat();       // with operators
  ast::Pat* ParseTypedPat();  // also `p :: T`
  ast::Pat* ParsePat10();     // constructor with arguments, negative number
  ast::Pat* ParseAPat();
  bool AtAPat() const;
  ast::Pat* ParseParenPat();
  ast::Pat* ParseElementPat();  // within brackets: also `e -> p`
  ast::Pat* ParseRecordPat(ast::Name name);
  // `{ f = item, .. }` after a constructor, a record or a pattern's constructor; `item` parses what follows each
  // `=`, and Field is FieldPat or FieldBinding. Braces switch layout off, as everywhere.
  // `pun` makes the value of a field that has none; `wildcard` is set to the place of `..`.
  template <typename Field, typename Item, typename Pun>
  llvm::SmallVector<Field> ParseFieldsInBraces(Item item, Pun pun, Span* wildcard);
  bool AtConOperator() const;
  // At `(:|)` or `(,)`: a constructor in its prefix form.
  bool AtPrefixConstructor() const;
  ast::Name TakePrefixConstructor();
  ast::Name TakeOperator();
  // The name at the current VarId; qualified ones are reported.
  ast::Name TakeBinder();

  // ---- splices of Template Haskell: those that tests are written with (parse_splice.cpp)
  // At `return []` or `$(return [])` between declarations: it says that what stands before it may be asked for. Takes it.
  bool TakeEmptySplice();
  // At `$x` or `$(x)`, the `$` next to it.
  bool AtSplice() const;
  bool IsSplicing() const;  // by the pragma
  ast::Expr* ParseSplice();
  void NoteProperty(const ast::Name& name, const ast::QualType& type);

  // ---- expressions (parse_expr.cpp, parse_stmt.cpp)
  ast::Expr* ParseExpr();  // with `:: type`
  // A chain of operators. `section`: an operator before `)` is handed back in it and ends the chain.
  ast::Expr* ParseInfix(ast::Expr** section = nullptr);
  ast::Expr* ParseExp10();
  ast::Expr* ParseApplication();
  ast::Expr* ParseTypeArguments(ast::Expr* fn);
  ast::Expr* ParseBlockExpr();
  ast::Expr* ParseArguments(ast::Expr* fn, Span begin);
  ast::Expr* ParseAtom();
  ast::Expr* ParseAtomBase();
  bool AtAtom() const;
  bool AtBlockExpr() const;
  bool AtOperator() const;
  ast::Expr* TakeOperatorExpr();
  ast::Expr* ParseParen();
  ast::Expr* ParseBracket();
  ast::Expr* ParseRecordBraces(ast::Expr* head);
  ast::Expr* ParseLambda();
  ast::Expr* ParseLet();
  ast::Expr* ParseIf();
  ast::Expr* ParseMultiIf(Span begin);
  ast::Expr* ParseCase();
  ast::Expr* ParseDo();
  bool MayStandInSameColumn() const;
  ast::List<ast::Alternative> ParseAlternatives(Span keyword, std::string_view keyword_text);
  ast::Stmt* ParseStmt(bool typed);
  bool LooksLikeBind() const;
  bool HintAtJoinedLine(Diagnostics& report) const;
  ast::Expr* ErrorHere() { return ast_.New<ast::ErrorExpr>(token().span); }
  ast::Pat* ErrorPatHere() { return ast_.New<ast::ErrorPat>(token().span); }
  ast::Type* ErrorTypeHere() { return ast_.New<ast::ErrorType>(token().span); }

  ast::Name NameOf(const Token& token) const { return {token.text, token.qualifier, token.span}; }
  ast::Name NameOf(std::string_view text, Span span) const { return {Intern(text), {}, span}; }

  template <typename T>
  ast::List<T> Copy(const llvm::SmallVectorImpl<T>& items) {
    return ast_.Copy<T>(llvm::ArrayRef<T>(items));
  }

  const TokenBuffer& buffer_;
  Diagnostics& diags_;
  Diagnostics muted_;
  ParseOptions options_;
  ast::Ast ast_;

  size_t pos_ = 0;
  Kind kind_ = Kind::EndOfFile;
  bool line_handled_ = false;  // the current token's line start has had its virtual semicolon
  bool in_kind_ = false;  // `*` is a kind here
  bool in_equation_ = false;  // `_` is a type here, whatever it is: on the left side of a family's equation
  std::vector<std::pair<Span, ast::Type*>> kinds_;  // Module::kinds
  std::vector<std::pair<ast::Name, ast::QualType>> synonym_types_;  // of pattern synonyms, until all are read
  std::vector<std::pair<Symbol, uint32_t>> synonym_arity_;
  size_t last_splice_ = 0;  // the token of the last `return []`
  std::vector<std::pair<Symbol, ast::QualType>> properties_;  // the signatures of prop_.. so far
  bool panic_ = false;
  bool repl_ = false;
  bool reached_end_ = false;   // something is missing at the end of the text
  bool open_block_ = false;    // a layout block reached to the end of the text
  bool in_instance_head_ = false;
  bool cut_short_ = false;     // a declaration ended with its line: what follows may be the rest of it
  size_t action_ = SIZE_MAX;   // the token that begins a statement of a `do`, or a branch of one
  size_t after_empty_ = 0;  // the token behind the last block that was empty
  uint32_t depth_ = 0;
  // The layout block that ended last, for messages about what stands behind it.
  struct ClosedBlock {
    size_t at = SIZE_MAX;  // the token behind it
    uint32_t column = 0;
    Span first;            // its first token
    std::string keyword;
  } closed_block_;
  std::vector<BlockState> blocks_;
  std::vector<uint32_t> match_;  // opening bracket -> its closing one, or UINT32_MAX
};

template <typename Field, typename Item, typename Pun>
llvm::SmallVector<Field> Parser::ParseFieldsInBraces(Item item, Pun pun, Span* wildcard) {
  Span open = token().span;
  RefuseIfTurnedOff("TraditionalRecordSyntax", open, "a record");
  Advance();
  PushBlock(0);
  llvm::SmallVector<Field> fields;
  while (!Is(Kind::RightBrace) && !panic_) {
    if (wildcard && Is(Kind::DotDot)) {
      NeedExtension("RecordWildCards", token().span, "`..` for the other fields");
      *wildcard = token().span;
      Advance();
      break;
    }
    ast::Name field;
    if (Is(Kind::LeftParen) && next().kind == Kind::VarSym) {
      Span paren = token().span;
      Advance();
      field = NameOf(token());
      Advance();
      Close(Kind::RightParen, paren);
    } else if (Is(Kind::VarId)) {
      field = NameOf(token());
      Advance();
    } else {
      Fail("a field's name");
      break;
    }
    if (Is(Kind::Comma) || Is(Kind::RightBrace)) {
      NeedExtension("NamedFieldPuns", field.span, "a field without a value");
      fields.push_back({field, pun(field)});
    } else {
      Expect(Kind::Equals, "`=` and the value of the field");
      fields.push_back({field, item()});
    }
    if (!Take(Kind::Comma)) break;
  }
  Close(Kind::RightBrace, open);
  if (!panic_) PopBlock();
  return fields;
}

}  // namespace df
