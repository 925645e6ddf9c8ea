// Splices of Template Haskell. The compiler runs no user code, and refuses them; but many tests are written with one of four, which only
// say "all properties of this module":
//
//   return []
//   main = $quickCheckAll          quickCheckAll (\property -> [property "prop_a from File.hs:5" prop_a, ..])
//
// As QuickCheck does, it takes the names that begin lines of the text, in their order, with the line of the first; and of these the ones that
// are defined before the last declaration by itself that is a splice. What a signature leaves open is Integer.
#include "llvm/ADT/STLExtras.h"
#include "parser/parser.h"

namespace df {

using namespace ast;

namespace {

constexpr std::string_view kSplices[] = {"quickCheckAll", "verboseCheckAll", "forAllProperties", "allProperties"};

// The variables of a type, in the order of the text.
void AddVariables(const Type* type, llvm::SmallVectorImpl<Symbol>& names) {
  if (!type) return;
  if (const auto* var = llvm::dyn_cast<VarType>(type)) {
    if (!llvm::is_contained(names, var->name)) names.push_back(var->name);
  } else if (const auto* app = llvm::dyn_cast<AppType>(type)) {
    AddVariables(app->fn, names);
    AddVariables(app->arg, names);
  } else if (const auto* fun = llvm::dyn_cast<FunType>(type)) {
    AddVariables(fun->from, names);
    AddVariables(fun->to, names);
  } else if (const auto* tuple = llvm::dyn_cast<TupleType>(type)) {
    for (const Type* element : tuple->elements) AddVariables(element, names);
  } else if (const auto* list = llvm::dyn_cast<ListType>(type)) {
    for (const Type* element : list->elements) AddVariables(element, names);
  }
}

// How many types stand for the variables of a signature.
size_t CountVariables(const QualType& type) {
  if (!type.forall.empty()) return type.forall.size();
  llvm::SmallVector<Symbol> names;
  for (const Constraint& constraint : type.context) {
    if (constraint.args.empty()) AddVariables(constraint.type, names);
    for (const Type* arg : constraint.args) AddVariables(arg, names);
  }
  AddVariables(type.type, names);
  return names.size();
}

}  // namespace

bool Parser::IsSplicing() const { return PragmasName("TemplateHaskell"); }

bool Parser::TakeEmptySplice() {
  if (!IsSplicing()) return false;
  size_t at = pos_;
  const bool bracket = IsOp("$") && next().kind == Kind::LeftParen;
  if (bracket) at += 2;
  const Token& word = TokenAt(at);
  if (word.kind != Kind::VarId || (!SameSpelling(word, "return") && !SameSpelling(word, "pure")) || TokenAt(at + 1).kind != Kind::LeftBracket ||
      TokenAt(at + 2).kind != Kind::RightBracket || (bracket && TokenAt(at + 3).kind != Kind::RightParen))
    return false;
  const size_t behind = at + 3 + bracket;
  if (TokenAt(behind).kind == Kind::Equals || TokenAt(behind).kind == Kind::Bar) return false;  // it is defined here
  last_splice_ = pos_;
  while (pos_ < behind) Advance();
  return true;
}

bool Parser::AtSplice() const {
  return IsOp("$") && !token().space_after && IsSplicing() && (next().kind == Kind::VarId || next().kind == Kind::LeftParen);
}

Expr* Parser::ParseSplice() {
  const Span begin = token().span;
  Advance();
  const Span open = token().span;
  const bool bracket = Take(Kind::LeftParen);
  if (!Is(Kind::VarId) || !llvm::is_contained(kSplices, Text(token().text)) || (bracket && next().kind != Kind::RightParen)) {
    NotSupported(begin, "Template Haskell splices but `$quickCheckAll`, `$verboseCheckAll`, `$forAllProperties` and `$allProperties` are");
    return ErrorHere();
  }
  Expr* splice = ast_.New<VarExpr>(token().span, NameOf(token()));
  Advance();
  if (bracket) Close(Kind::RightParen, open);
  const Span span = From(begin);

  const Name property = NameOf("property'", span), integer = NameOf("Integer", span);
  // To GHC it says nothing of them, with a warning: a test that looks at nothing, and succeeds.
  if (last_splice_ == 0 && !properties_.empty()) {
    NotSupported(span, fmt::format("`{}` of the properties that no `return []` stands behind, at the left margin of a line of its own, is", diags_.sources().Text(span)));
    return ast_.New<ErrorExpr>(span);
  }
  llvm::SmallVector<Symbol> seen;
  llvm::SmallVector<Expr*> elements;
  for (size_t i = 0; i < last_splice_; ++i) {
    const Token& t = TokenAt(i);
    if (!t.starts_line || t.kind != Kind::VarId || t.qualifier.valid() || !Text(t.text).starts_with("prop_") || llvm::is_contained(seen, t.text)) continue;
    // Not of a block within a declaration.
    if (t.column != TokenAt(last_splice_).column) continue;
    seen.push_back(t.text);
    Expr* value = ast_.New<VarExpr>(span, NameOf(Text(t.text), span));
    if (auto signature = llvm::find_if(properties_, [&](const auto& row) { return row.first == t.text; }); signature != properties_.end())
      if (const size_t count = CountVariables(signature->second); count > 0) {
        llvm::SmallVector<Type*> types(count, ast_.New<ConType>(span, integer));
        value = ast_.New<TypeAppExpr>(span, value, Copy(types));
      }
    const Literal name{LiteralKind::String, Intern(fmt::format("{} from {}:{}", Text(t.text), diags_.sources().Name(t.span.file), diags_.sources().Locate(t.span.file, t.span.begin).line))};
    const llvm::SmallVector<Expr*> args{ast_.New<LiteralExpr>(span, name), value};
    elements.push_back(ast_.New<AppExpr>(span, ast_.New<VarExpr>(span, property), Copy(args)));
  }
  const llvm::SmallVector<Pat*> params{ast_.New<VarPat>(span, property.text)};
  const llvm::SmallVector<Expr*> all{ast_.New<LambdaExpr>(span, Copy(params), ast_.New<ListExpr>(span, Copy(elements)))};
  return ast_.New<AppExpr>(span, splice, Copy(all));
}

void Parser::NoteProperty(const Name& name, const QualType& type) {
  if (IsSplicing() && Text(name.text).starts_with("prop_")) properties_.emplace_back(name.text, type);
}

}  // namespace df
