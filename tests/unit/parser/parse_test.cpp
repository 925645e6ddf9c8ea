// tests/unit/parser/parse_test.cpp
//
// The constructs of the language, each as its tree.
#include "tests/unit/parser/parsing.h"

using namespace df;

TEST_CASE("clauses of one name are one function, however they are written") {
  Parsed parsed("fact 0 = 1\nfact n = n\n\nx <+> y = x\nx <+> _ = x\nx `op` y = x\n(x `op2` y) z = z\n(<->) a b = a\n");
  CHECK(parsed.Errors() == "");
  CHECK(parsed.ast.module.decls.size() == 5);
  CHECK(parsed.Tree() ==
        "fact 0 = 1; fact n = n\n(<+>) x y = x; (<+>) x _ = x\nop x y = x\nop2 x y z = z\n(<->) a b = a");
}

TEST_CASE("a left side is a function, an operator or a pattern") {
  CHECK(Tree("f !x ~y _ = 1") == "f !x ~y _ = 1");
  CHECK(Tree("x ! y = 1") == "(!) x y = 1");
  CHECK(Tree("!x = 1") == "<pattern> !x = 1");
  CHECK(Tree("(a, b) | c = d") == "<pattern> (a, b) | c = d");
  CHECK(Tree("x : xs = y") == "<pattern> ((:) x xs) = y");
  CHECK(Tree("p@(a, _) = y") == "<pattern> p@(a, _) = y");
  CHECK(Tree("(x:xs) +++ ys = 1") == "(+++) ((:) x xs) ys = 1");
  CHECK(Tree("f (<>) x = x <> f") == "f (<>) x = (x <> f)");
  CHECK(Tree("-1 <+> x = x") == "(<+>) (-1) x = x");
}

TEST_CASE("patterns") {
  CHECK(Tree("f (-1) 'c' \"s\" 2.5 = 1") == "f (-1) 'c' \"s\" 2.5 = 1");
  CHECK(Tree("f (Just (x:y:_)) [a, b] () = 1") == "f (Just ((:) x ((:) y _))) [a, b] () = 1");
  CHECK(Tree("f C{} (D {a = 1, b = x}) (M.E y) = 1") == "f C {} D {a = 1, b = x} (M.E y) = 1");
  CHECK(Tree("f (x :: Int) ((,) a b) (a `C` b) = 1") == "f (x :: Int) ((,) a b) (C a b) = 1");
}

TEST_CASE("expressions") {
  CHECK(Tree("x = \\a (b, _) -> a b :: Int") == "x = (\\a (b, _) -> ((a b) :: Int))");
  CHECK(Tree("x = \\case { 1 -> a; _ -> b }") == "x = (\\case { 1 -> a; _ -> b })");
  CHECK(Tree("x = (+) a `f` (- b)") == "x = (((+) a) `f` (- b))");
  CHECK(Tree("x = (a, (b), (), (,,) c, (,d), (,e,))") == "x = (a, b, (), ((,,) c), (, d), (, e, ))");
  CHECK(Tree("x = ((a +), (+ a), (`f` a), (a `f`), (subtract 1))") ==
        "x = ((a +), (+ a), (`f` a), (a `f`), (subtract 1))");
  CHECK(Tree("x = [[], [a], [a ..], [a, b ..], [a .. c], [a, b .. c]]") ==
        "x = [[], [a], [a ..], [a, b ..], [a .. c], [a, b .. c]]");
  CHECK(Tree("x = [a | (a, 1) <- b, let c = a, c :: Bool]") == "x = [a | (a, 1) <- b, let { c = a }, (c :: Bool)]");
  CHECK(Tree("x = f C { a = 1 } r { b = 2 } { c = 3 }") == "x = (f (C {a = 1}) ((r {b = 2}) {c = 3}))");
  CHECK(Tree("x = a $ \\y -> if y then case z of _ -> b else c") ==
        "x = (a $ (\\y -> (if y then (case z of { _ -> b }) else c)))");
  CHECK(Tree("x = do { (a, b) <- c; let { d = a }; e }") == "x = (do { (a, b) <- c; let { d = a }; e })");
}

TEST_CASE("types and tensor dimensions") {
  CHECK(Tree("f, g :: (Eq a, M.Num (m a)) => a -> [b] -> (c, d) -> ()") ==
        "f, g :: (Eq a, M.Num (m a)) => (a -> ([b] -> ((c, d) -> ())))");
  CHECK(Tree("f :: (->) a ([] b) -> (,) a b") == "f :: ((->) a ([] b) -> (,) a b)");
  CHECK(Tree("f :: Tensor a [m, 2 * n + 1] -> Tensor a [(m + n) * k]") ==
        "f :: (Tensor a [m, ((2 * n) + 1)] -> Tensor a [((m + n) * k)])");
}

TEST_CASE("data types") {
  CHECK(Tree("data T a = A Int !a | B { x, y :: a, z :: !Int } | a :+: [a] | T a `C` a deriving (Eq, Show)") ==
        "data T a = A Int !a | B {x :: a, y :: a, z :: !Int} | (:+:) a [a] | C (T a) a deriving (Eq, Show)");
  CHECK(Tree("newtype N = N { unN :: Int } deriving Show") == "newtype N = N {unN :: Int} deriving (Show)");
  CHECK(Tree("data E") == "data E");
  CHECK(Tree("type P a = (a, Int)") == "type P a = (a, Int)");
}

TEST_CASE("classes and instances") {
  CHECK(Tree("class (Eq a, Show a) => C a where\n  infixl 5 %%\n  f, (%%) :: a -> a\n  f x = x") ==
        "class (Eq a, Show a) => C a where { infixl 5 %%; f, (%%) :: (a -> a); f x = x }");
  CHECK(Tree("instance (C a, C b) => C (a, b) where\n  x %% y = x\ninstance C Int") ==
        "instance (C a, C b) => C (a, b) where { (%%) x y = x }\ninstance C Int");
}

TEST_CASE("modules, imports, exports, foreign imports") {
  CHECK(Tree("module A.B (f, T(..), (+), module X) where\n"
             "import M\nimport qualified N as O hiding (g, U(A, B), (++))\nimport P qualified as Q ()\n"
             "foreign import prim \"Add\" add :: Int -> Int") ==
        "module A.B (f, T(..), (+), module X) where\nimport M\nimport qualified N as O hiding (g, U(A, B), (++))\n"
        "import qualified P as Q ()\nforeign import prim \"Add\" add :: (Int -> Int)");
}

TEST_CASE("each error is reported once, and the rest is still read") {
  Parsed parsed("f x = (1 + 2\ng y = y +\nh = do\n  let a = (1\n      b = 2\n  print a)\n  c\ni = 4\n");
  CHECK(parsed.Errors() == "Unclosed 1:13, UnexpectedToken 2:10, Unclosed 4:13, UnexpectedToken 6:10");
  CHECK(parsed.ast.module.decls.size() == 4);
}
