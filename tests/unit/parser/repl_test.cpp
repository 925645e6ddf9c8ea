// tests/unit/parser/repl_test.cpp
//
// What a line of the REPL is: an expression, declarations, or the beginning of more.
#include "tests/unit/parser/parsing.h"

using namespace df;

namespace {

std::string Read(std::string text) {
  SourceManager sources;
  Diagnostics diags(sources);
  TokenBuffer tokens = Lex(sources, sources.Add("<repl>", std::move(text)), diags);
  ReplInput input = ParseRepl(tokens, diags);
  static const char* const kKinds[] = {"empty", "expression", "bind", "declarations", "incomplete", "error"};
  std::string result = kKinds[static_cast<int>(input.kind)];
  if (input.kind == ReplInput::Kind::Incomplete && tokens.open_comments == 0) CHECK(diags.all().empty());
  CHECK((input.kind == ReplInput::Kind::Error) == (diags.has_errors() && tokens.open_comments == 0));
  if (input.open_block) result += "+";
  return result;
}

}  // namespace

TEST_CASE("expressions and declarations are told apart") {
  CHECK(Read("") == "empty");
  CHECK(Read("-- nothing") == "empty");
  CHECK(Read("1 + 2") == "expression");
  CHECK(Read("f x :: Int") == "expression");
  CHECK(Read("x :: Int") == "expression");
  CHECK(Read("let x = 1 in x") == "expression");
  CHECK(Read("\\x -> x") == "expression");
  CHECK(Read("f x | x = 1") == "declarations");
  CHECK(Read("x <+> y = 1") == "declarations");
  CHECK(Read("(a, b) = (1, 2)") == "declarations");
  CHECK(Read("let x = 1") == "declarations+");
  CHECK(Read("data T = A | B") == "declarations");
  CHECK(Read("f :: Int -> Int\nf x = x") == "declarations");
  CHECK(Read("import M") == "declarations");
  CHECK(Read("x <- y") == "bind");
}

TEST_CASE("an expression may go over lines that are indented") {
  CHECK(Read("f 1\n  2") == "expression");
  CHECK(Read("f 1\n2") == "error");
}

TEST_CASE("what further lines may complete is incomplete") {
  for (const char* text : {"(1 +", "f (", "f x = case x of", "f x = do", "if a then b", "let", "f x = y where",
                           "[1, 2", "class C a where", "x =", "{- open", "case x of"})
    CHECK(Read(text) == "incomplete");
  CHECK(Read("f x = case x of\n  1 -> 2") == "declarations+");
}

TEST_CASE("errors before the end are errors") {
  CHECK(Read("1 + )") == "error");
  CHECK(Read("f x = )") == "error");
}
