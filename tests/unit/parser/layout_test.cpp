// tests/unit/parser/layout_test.cpp
//
// The layout rule, with the rule that a token which cannot go on closes a block.
#include "tests/unit/parser/parsing.h"

using namespace df;

TEST_CASE("a block on one line is closed by the token that cannot belong to it") {
  CHECK(Tree("x = let a = 1; b = 2 in a + b") == "x = (let { a = 1; b = 2 } in (a + b))");
  CHECK(Tree("x = (case y of 1 -> 2; _ -> 3, 4)") == "x = ((case y of { 1 -> 2; _ -> 3 }), 4)");
  CHECK(Tree("x = [do a; b, c]") == "x = [(do { a; b }), c]");
  CHECK(Tree("x = if do a then b else c") == "x = (if (do { a }) then b else c)");
  CHECK(Tree("f | let a = 1; b = 2, a < b = b") == "f | let { a = 1; b = 2 }, (a < b) = b");
  CHECK(Tree("x = let in 5") == "x = (let { } in 5)");
}

TEST_CASE("nested blocks end where a line stands further left") {
  CHECK(Tree("f = do\n  a\n  do b\n     c\n  d\ng = 1") == "f = (do { a; (do { b; c }); d })\ng = 1");
  CHECK(Tree("f x = case x of\n  1 -> do\n    a\n    b\n  2 -> c\n  where c = d") ==
        "f x = (case x of { 1 -> (do { a; b }); 2 -> c }) where { c = d }");
}

TEST_CASE("where stands behind do, guards and alternatives") {
  CHECK(Tree("f = do\n  a\n  where a = 1") == "f = (do { a }) where { a = 1 }");
  CHECK(Tree("f x\n  | x = y\n  | z = w\n  where\n  y = 1\n  w = 2") ==
        "f x | x = y | z = w where { y = 1; w = 2 }");
  CHECK(Tree("f = case a of\n  b | c -> d\n    where d = 1\n  _ -> e") ==
        "f = (case a of { b | c -> d where { d = 1 }; _ -> e })");
}

TEST_CASE("then and else may stand in the column of a do block") {
  CHECK(Tree("f = do\n  if a\n  then b\n  else c\n  d") == "f = (do { (if a then b else c); d })");
  CHECK(Tree("f = do { if a; then b; else c; d }") == "f = (do { (if a then b else c); d })");
}

TEST_CASE("a let in do has no in, unless it has one") {
  CHECK(Tree("f = do\n  let a = 1\n      b = 2\n  let c = 3 in c\n  a") ==
        "f = (do { let { a = 1; b = 2 }; (let { c = 3 } in c); a })");
}

TEST_CASE("explicit braces switch layout off") {
  CHECK(Tree("module M where {\nx = 1\n;  y = 2; }") == "module M where\nx = 1\ny = 2");
  CHECK(Tree("f = do\n  let r = R {\n    a = 1,\n b = 2\n  }\n  r") ==
        "f = (do { let { r = (R {a = 1, b = 2}) }; r })");
}

TEST_CASE("nested multiway ifs are told apart by their columns") {
  CHECK(Tree("x = if | a -> if | b -> 1\n                 | c -> 2\n       | d -> 3") ==
        "x = (if | a -> (if | b -> 1 | c -> 2) | d -> 3)");
}

TEST_CASE("a module may stand to the right, a line left of it is an error") {
  CHECK(Tree("  x = 1\n  y = 2") == "x = 1\ny = 2");
  CHECK(Errors("  x = 1\n y = 2\n z = 3") == "UnexpectedToken 2:2");
}
