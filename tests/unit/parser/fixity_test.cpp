// tests/unit/parser/fixity_test.cpp
//
// Haskell 2010 section 10.6: precedence, associativity, negation, sections, scopes.
#include "tests/unit/parser/parsing.h"

using namespace df;

TEST_CASE("precedence and associativity") {
  CHECK(Tree("x = a + b * c - d") == "x = ((a + (b * c)) - d)");
  CHECK(Tree("x = a : b : c ++ d") == "x = (a : (b : (c ++ d)))");
  CHECK(Tree("x = f . g $ a == b") == "x = ((f . g) $ (a == b))");
  CHECK(Tree("x = a `div` b <?> c <?> d") == "x = (a `div` ((b <?> c) <?> d))");
  CHECK(Errors("x = a == b == c") == "FixityClash 1:12");
}

TEST_CASE("negation binds as minus does") {
  CHECK(Tree("x = - a * b + c") == "x = ((- (a * b)) + c)");
  CHECK(Tree("x = a == - b") == "x = (a == (- b))");
  CHECK(Tree("x = (- 5) `div` 2") == "x = ((- 5) `div` 2)");
  CHECK(Errors("x = a + - b") == "FixityClash 1:9");
  CHECK(Errors("x = a * - b") == "FixityClash 1:9");
  CHECK(Errors("x = - - a") == "FixityClash 1:7");
}

TEST_CASE("operators of one precedence that associate differently clash, with both places") {
  Parsed parsed("infixl 5 <<<\nx = a ++ b <<< c");
  REQUIRE(parsed.Errors() == "FixityClash 2:12");
  const Diagnostic& d = parsed.diags.all()[0];
  CHECK(d.message == "`++` (infixr 5) and `<<<` (infixl 5) cannot be mixed without parentheses");
  REQUIRE(d.notes.size() == 1);
  CHECK(parsed.sources.Text(d.notes[0].span) == "++");
}

TEST_CASE("a section's operand must bind more tightly, or associate to its side") {
  CHECK(Tree("x = (a * b +)") == "x = ((a * b) +)");
  CHECK(Tree("x = (a + b +)") == "x = ((a + b) +)");
  CHECK(Tree("x = (++ a ++ b)") == "x = (++ (a ++ b))");
  CHECK(Errors("x = (+ a + b)") == "SectionClash 1:6");
  CHECK(Errors("x = (a + b *)") == "SectionClash 1:12");
  CHECK(Errors("x = (a ++ b ++)") == "SectionClash 1:13");
}

TEST_CASE("a local declaration holds in its scope only") {
  CHECK(Tree("x = let { infixr 5 +; a + b = a } in a + b + c\ny = a + b + c") ==
        "x = (let { infixr 5 +; (+) a b = a } in (a + (b + c)))\ny = ((a + b) + c)");
  // Bound again without a declaration, an operator is infixl 9.
  CHECK(Tree("f (+) = a * b + c\ng = a * b + c") == "f (+) = (a * (b + c))\ng = ((a * b) + c)");
  CHECK(Errors("infixl 6 <+>\ninfixl 7 <+>\na <+> b = a") == "FixityTwice 2:10");
}

TEST_CASE("constructor operators in patterns") {
  CHECK(Tree("infixl 6 :+\nf (a :+ b :+ c : d) = 1") ==
        "infixl 6 :+\nf ((:) ((:+) ((:+) a b) c) d) = 1");
}

TEST_CASE("what a module declares at top level stays in the table") {
  Parsed parsed("infixr 3 ###\na ### b = a\n");
  Fixity fixity = parsed.scope.fixities.lookup(Intern("###").index);
  CHECK(fixity.precedence == 3);
  CHECK(fixity.assoc == ast::Associativity::Right);
}
