// Template Haskell, of which there is what QuickCheck's test files have: `return []` between declarations, and `$quickCheckAll` and its like below it,
// which stand for all properties above it. Nothing else is run when a program is compiled.
#include <algorithm>

#include "fmt/format.h"
#include "parser/parser.h"

namespace df {

using namespace ast;

namespace {

constexpr std::string_view kOfProperties[] = {"quickCheckAll", "verboseCheckAll", "forAllProperties", "allProperties"};

}  // namespace

// `$x` or `$(x)`, the `$` next to it.
bool Parser::AtSplice() const {
  return HasExtension("TemplateHaskell") && IsOp("$") && !token().space_after && (next().kind == Kind::VarId || next().kind == Kind::LeftParen);
}

// `return []` at the top, which only ends what splices behind it can see.
bool Parser::TakeEmptySplice() {
  if (!HasExtension("TemplateHaskell") || !(IsWord("return") || IsWord("pure"))) return false;
  if (next().kind != Kind::LeftBracket || TokenAt(pos_ + 2).kind != Kind::RightBracket || !(TokenAt(pos_ + 3).starts_line || TokenAt(pos_ + 3).kind == Kind::EndOfFile || TokenAt(pos_ + 3).kind == Kind::Semicolon))
    return false;
  seen_by_splices_ = pos_;
  for (int i = 0; i < 3; ++i) Advance();
  return true;
}

// `f "name of the first" first [f "name of the second" second [..]]`: so that each property has a type of its own, and each name here is one of the
// program's.
Expr* Parser::ParseSplice() {
  const Span begin = token().span;
  Advance();
  const Span open = token().span;
  const bool parentheses = Take(Kind::LeftParen);
  const std::string_view word = Is(Kind::VarId) ? Text(token().text) : "";
  if (std::find(std::begin(kOfProperties), std::end(kOfProperties), word) == std::end(kOfProperties)) {
    NotSupported(begin, "Template Haskell splices but `$quickCheckAll`, `$verboseCheckAll`, `$forAllProperties` and `$allProperties` are");
    return ErrorHere();
  }
  const Name all = NameOf(token());
  Advance();
  if (parentheses) Close(Kind::RightParen, open);
  llvm::SmallVector<const Token*> properties;
  for (size_t i = 0; i < seen_by_splices_; ++i) {
    const Token& each = TokenAt(i);
    if (!each.starts_line || each.column != 1 || each.kind != Kind::VarId || !Text(each.text).starts_with("prop_")) continue;
    if (std::none_of(properties.begin(), properties.end(), [&](const Token* other) { return other->text == each.text; })) properties.push_back(&each);
  }
  const auto called = [&](std::string_view name, Expr* property, llvm::ArrayRef<Expr*> others) {
    Expr* text = ast_.New<LiteralExpr>(begin, Literal{LiteralKind::String, Intern(name)});
    Expr* rest = ast_.New<ListExpr>(begin, ast_.Copy(others));
    return ast_.New<AppExpr>(From(begin), ast_.New<VarExpr>(begin, all), ast_.Copy<Expr*>({text, property, rest}));
  };
  if (properties.empty()) return called("", ast_.New<ConExpr>(begin, NameOf("()", begin)), {});
  llvm::SmallVector<Expr*> made;
  for (size_t i = properties.size(); i-- > 0;) {
    const Token& each = *properties[i];
    const auto& sources = diags_.sources();
    const std::string name = fmt::format("{} from {}:{}", Text(each.text), sources.Name(buffer_.file), sources.Locate(buffer_.file, each.span.begin).line);
    Expr* call = called(name, ast_.New<VarExpr>(begin, NameOf(Text(each.text), begin)), made);
    made.assign({call});
  }
  return made.front();
}

}  // namespace df
