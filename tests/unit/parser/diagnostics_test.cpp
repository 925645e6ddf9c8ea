// tests/unit/parser/diagnostics_test.cpp
//
// Each diagnostic of lexer, parser and fixity resolution, by a text that makes it.
#include <set>

#include "tests/unit/parser/parsing.h"

using namespace df;

namespace {

struct Row {
  Diag id;
  std::string text;
  const char* name = "t.df";
};

std::vector<Row> Rows() {
  return {
      {Diag::UnexpectedCharacter, "x = \x01"},
      {Diag::InvalidUtf8, "x = \"\xFF\""},
      {Diag::UnterminatedComment, "x = 1 {- {- -}"},
      {Diag::UnterminatedString, "x = \"abc\ny = 1"},
      {Diag::BadCharLiteral, "x = 'ab'"},
      {Diag::BadEscape, "x = \"\\q\""},
      {Diag::EscapeOutOfRange, "x = '\\x110000'"},
      {Diag::BadStringGap, "x = \"a\\ b\""},
      {Diag::UnknownExtension, "{-# LANGUAGE LinearTypes #-}"},
      {Diag::BadPragma, "{-# LANGUAGE A B #-}"},
      {Diag::BadPlace, "{-# PLACE f 2 #-}\nf x = x"},
      {Diag::CannotPlace, "{-# PLACE g worker 1 #-}\nf x = x"},
      {Diag::BadMinimal, "class C a where\n  {-# MINIMAL f g #-}\n  f, g :: a"},
      {Diag::NumberTooLong, "x = 0x" + std::string(30000, 'f')},
      {Diag::SourceTooLarge, std::string(8'100'000, ',')},
      {Diag::TooManyBadCharacters, "x = \"" + std::string(100, '\x01') + "\""},
      {Diag::TooManyBadCharacters, std::string(4000, ' ') + "x = \"" + std::string(100, '\x01') + "\""},
      {Diag::LiterateBlank, "text\n> x = 1", "t.lhs"},
      {Diag::LiterateEmpty, "text", "t.lhs"},
      {Diag::LiterateUnclosed, "\\begin{code}\nx = 1", "t.lhs"},
      {Diag::UnexpectedToken, "x = )"},
      {Diag::Unclosed, "x = (1"},
      {Diag::NestedTooDeeply, "f = " + std::string(2000, '(')},
      {Diag::ChainTooLong, "f :: [a" + [] { std::string s; for (int i = 0; i < 6000; ++i) s += "+a"; return s; }() + "]"},
      {Diag::NotSupported, "data family F a"},
      {Diag::EmptyBlock, "x = do\ny = 1"},
      {Diag::NeedsExtension, "x = \\case { a -> b }"},
      {Diag::PatternMakesNothing, "{-# LANGUAGE PatternSynonyms #-}\npattern P x = (x, _)"},
      {Diag::MissingElse, "x = if a then b\ny = 1"},
      {Diag::MissingKeyword, "x = case a\ny = 1"},
      {Diag::ArityDiffers, "f a = 1\nf a b = 2"},
      {Diag::BadPrecedence, "infixl 10 +"},
      {Diag::NotAllowedHere, "x = y where data T = A"},
      {Diag::BadContext, "f :: a => b"},
      {Diag::BadTypeHead, "data T Int = A"},
      {Diag::NewtypeShape, "newtype T = A Int Int"},
      {Diag::ImportNotFirst, "x = 1\nimport M"},
      {Diag::EmptyRecordUpdate, "x = r {}"},
      {Diag::ClassParameters, "class C"},
      {Diag::QualifiedBinder, "f M.x = 1"},
      {Diag::ExpressionAsPattern, "x = do { a + b <- c; d }"},
      {Diag::PatternInExpression, "x = y@z"},
      {Diag::FixityClash, "x = a == b == c"},
      {Diag::SectionClash, "x = (a + b *)"},
      {Diag::FixityTwice, "infixl 1 +, +\na + b = a"},
  };
}

}  // namespace

TEST_CASE("each diagnostic has a text that makes it, and nothing else") {
  for (const Row& row : Rows()) {
    INFO(InfoOf(row.id).name);
    // As deep as a test program's own stack allows.
    Parsed parsed(row.text, {.max_depth = 1000, .all_extensions = row.id != Diag::NeedsExtension}, row.name);
    REQUIRE(!parsed.diags.all().empty());
    auto is_it = [&](const Diagnostic& d) { return d.id == row.id; };
    CHECK(std::any_of(parsed.diags.all().begin(), parsed.diags.all().end(), is_it));
    bool comes_after_others =
        row.id == Diag::TooManyBadCharacters || row.id == Diag::BadPragma || row.id == Diag::SourceTooLarge;
    if (!comes_after_others) CHECK(parsed.diags.all().size() == 1);
  }
}

TEST_CASE("no diagnostic of the parser goes untested") {
  std::set<std::string> tested;
  for (const Row& row : Rows()) tested.insert(InfoOf(row.id).name);
  static constexpr const char* kAll[] = {
#define DF_DIAG(code, name, severity, text) #name,
#include "lang/diag/parse.def"
#undef DF_DIAG
  };
  for (const char* name : kAll) {
    INFO(name);
    CHECK(tested.count(name) == 1);
  }
}

TEST_CASE("what other Haskells have is refused by name") {
  const std::pair<const char*, const char*> kRows[] = {
      {"data family F a", "data families"},
      {"x = proc y -> z", "arrows"},
      {"x = mdo { a }", "mdo"},
      {"f :: (forall a. Eq a) => Int", "quantified constraints"},
      {"pattern P {x} = x", "pattern synonyms with fields"},
      {"x = f 1 @Int", "a type argument that does not follow a name"},
      {"$(splice)", "Template Haskell"},
  };
  for (auto [text, words] : kRows) {
    INFO(text);
    Parsed parsed(text);
    REQUIRE(parsed.diags.all().size() == 1);
    CHECK(parsed.diags.all()[0].id == Diag::NotSupported);
    CHECK(parsed.diags.all()[0].message.find(words) != std::string::npos);
  }
}
