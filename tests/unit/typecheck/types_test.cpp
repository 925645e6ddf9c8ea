// Inferred types, as GHC 9.0 prints them (variables named a, b, c.. in order of appearance).
#include "tests/unit/catch.h"
#include "tests/unit/typecheck/session.h"

namespace df {
namespace {

const char kFunctions[] = R"df({-# LANGUAGE BangPatterns #-}
fact n = if n == 1 then n else n * fact (n - 1)
myIf c a b = if c then a else b
f x y = (y, x + 1)
g x = let (a, b) = f x 1 in b
pair = (\x -> x, \y -> y)
(p, q) = (1, 'c')
average x y = (x + y) / 2
isEven 0 = True
isEven n = isOdd (n - 1)
isOdd 0 = False
isOdd n = isEven (n - 1)
twice f = f . f
sgn x | x > 0 = 1
      | x < 0 = -1
      | otherwise = 0
h x = case x of
  (1, y) -> y
  (n, y) | n > 10 -> y + 1
         | Just m <- k n, m > 1 -> m
  _ -> 0
 where k z = if z > 5 then Just z else Nothing
k1 x y = x `div` y + truncate y1 where y1 = fromIntegral x * 2.5
k2 x = sqrt (fromIntegral x)
k3 f g x = f (g x) (g x)
k4 a b c d e = (e, d, c, b, a)
k6 x y = if x < y then x else if x == 0 then y else x + y
k7 x = round (x * 100) `mod` 7
k8 n = go n 0 where { go 0 acc = acc; go m acc = go (m - 1) (acc + m) }
k9 x = let y = x + 1; z = y * 2 in (y, z)
l2 x = (minBound, x) == (x, maxBound)
l3 x = fromEnum x + 1
l4 eps x = if abs (x * x - 2) < eps then x else l4 eps ((x + 2 / x) / 2)
l5 f = let g x = f x in (g, g)
l6 x = either id (const x)
l7 x y = (x ^ y, x ** 2, x ^^ y)
l8 x = x `seq` (x, x > 3)
l9 x = quotRem x 10
m1 x y z = x + y * z == z && x > y
m2 x = compare (abs x) (negate x)
m3 f z (Just x) = f x z
m3 _ z Nothing = z
m4 x | even x = x `div` 2 | otherwise = 3 * x + 1
m5 a b = maximum' (a, b) where maximum' (x, y) = max x y
m6 x = realToFrac x / 2
m7 x = (ceiling x, floor x, truncate x, round x)
m8 x = atan2 x 1 + pi
m9 x = if isNaN x then 0 else x
n1 x = case compare x 0 of { LT -> -x; EQ -> 0; GT -> x }
n2 = n2
n4 x = fst x + snd x
n5 x y = subtract x y * signum x
n6 n x = n4 (x, n) : []
)df";

const char kDeclarations[] = R"df({-# LANGUAGE BangPatterns, ScopedTypeVariables, LambdaCase, TupleSections, MultiWayIf #-}
module B where
infixr 5 :+:
data Tree a = Leaf | Node (Tree a) a (Tree a)
data Shape = Circle { radius :: Double } | Rect { width, height :: !Double }
newtype Wrap f a = Wrap { unwrap :: f a }
data E = Lit Int | E :+: E | Neg E
type Pair a = (a, a)
type P2 = Pair Int
class Container f where
  empty :: f a
  insert :: Ord a => a -> f a -> f a
  toL :: f a -> [a]
instance Container Tree where
  empty = Leaf
  insert x Leaf = Node Leaf x Leaf
  insert x t@(Node l y r)
    | x < y = Node (insert x l) y r
    | x > y = Node l y (insert x r)
    | otherwise = t
  toL Leaf = []
  toL (Node l x r) = app (toL l) (x : toL r)
app [] ys = ys
app (x:xs) ys = x : app xs ys
class Shape' a where
  area :: a -> Double
  name' :: a -> String
  name' _ = "shape"
instance Shape' Shape where
  area (Circle r) = pi * r * r
  area Rect { width = w, height = h } = w * h
instance Eq a => Eq (Tree a) where
  Leaf == Leaf = True
  Node l x r == Node l' x' r' = l == l' && x == x' && r == r'
  _ == _ = False
instance Eq a => Eq (Wrap2 a) where
  Wrap2 x == Wrap2 y = x == y
newtype Wrap2 a = Wrap2 a
instance Ord a => Ord (Wrap2 a) where
  compare (Wrap2 x) (Wrap2 y) = compare x y
class Mon m where
  ret :: a -> m a
  bnd :: m a -> (a -> m b) -> m b
newtype St s a = St (s -> (a, s))
instance Mon (St s) where
  ret x = St (\s -> (x, s))
  bnd (St f) g = St (\s -> let (a, s') = f s; St h = g a in h s')
run (St f) s = fst (f s)
tick = St (\n -> (n, n + 1))
mapT f Leaf = Leaf
mapT f (Node l x r) = Node (mapT f l) (f x) (mapT f r)
sumT Leaf = 0
sumT (Node l x r) = sumT l + x + sumT r
grow s = s { width = 3, height = 4 }
dbl s = s { radius = radius s * 2 }
ev = \case
  Lit n -> n
  a :+: b -> ev a + ev b
  Neg e -> negate (ev e)
data Nest a = Nil | Cons a (Nest (a, a))
size :: Nest a -> Int
size Nil = 0
size (Cons _ r) = 1 + 2 * size r
foo x = bnd x (\y -> ret (y, y))
member x t = go t where
  go Leaf = False
  go (Node l y r) = case compare x y of
    LT -> go l
    GT -> go r
    EQ -> True
ins x t = insert x (insert x t)
tt x = (,x,'c')
sec1 = (+ 1)
sec2 = (subtract 2 . (* 3))
mw x = if | x > 3 -> 1 | x < 2, x > 1 -> 2 | otherwise -> 3
pp :: P2 -> Int
pp (a, b) = a + b
local x = let idd y = y; k z = idd (z, x) in (k 1, k 'c', idd True)
mk w h = Rect { width = w, height = h }
eqT a b = Wrap2 a == Wrap2 b && Node Leaf a Leaf == Leaf
sel = unwrap
lz ~(a, b) = (b, a)
bng !x = x
)df";

void CheckTypes(const char* source, std::initializer_list<const char*> types) {
  test::Session session;
  bool ok = session.Check(source);
  INFO(session.Rendered());
  REQUIRE(ok);
  CHECK(core::Verify(session.session.program, true) == "");
  for (std::string_view expected : types)
    CHECK(session.TypeOf(expected.substr(0, expected.find(' '))) == expected);
}

}  // namespace

TEST_CASE("functions over numbers and tuples have GHC's types") {
  CheckTypes(kFunctions, {
      "fact :: (Eq a, Num a) => a -> a",
      "myIf :: Bool -> a -> a -> a",
      "f :: Num a => a -> b -> (b, a)",
      "g :: Num a => a -> a",
      "pair :: (a -> a, b -> b)",
      "average :: Fractional a => a -> a -> a",
      "isEven :: (Eq a, Num a) => a -> Bool",
      "isOdd :: (Eq a, Num a) => a -> Bool",
      "twice :: (a -> a) -> a -> a",
      "sgn :: (Ord a, Num a, Num b) => a -> b",
      "h :: (Num a, Ord a) => (a, a) -> a",
      "k1 :: Integral a => a -> a -> a",
      "k2 :: (Floating b, Integral a) => a -> b",
      "k3 :: (a -> a -> b) -> (c -> a) -> c -> b",
      "k4 :: a -> b -> c -> d -> e -> (e, d, c, b, a)",
      "k6 :: (Ord a, Num a) => a -> a -> a",
      "k7 :: (Integral b, RealFrac a) => a -> b",
      "k8 :: (Eq a, Num a) => a -> a",
      "k9 :: Num a => a -> (a, a)",
      "l2 :: (Eq a, Bounded a) => a -> Bool",
      "l3 :: Enum a => a -> Int",
      "l4 :: (Ord a, Fractional a) => a -> a -> a",
      "l5 :: (a -> b) -> (a -> b, a -> b)",
      "l6 :: a -> Either a b -> a",
      "l7 :: (Integral b, Floating a) => a -> b -> (a, a, a)",
      "l8 :: (Ord a, Num a) => a -> (a, Bool)",
      "l9 :: Integral a => a -> (a, a)",
      "m1 :: (Num a, Ord a) => a -> a -> a -> Bool",
      "m2 :: (Ord a, Num a) => a -> Ordering",
      "m3 :: (a -> b -> b) -> b -> Maybe a -> b",
      "m4 :: Integral a => a -> a",
      "m5 :: Ord a => a -> a -> a",
      "m6 :: (Fractional b, Real a) => a -> b",
      "m7 :: (RealFrac a, Integral b, Integral c, Integral d, Integral e) => a -> (b, c, d, e)",
      "m8 :: RealFloat a => a -> a",
      "m9 :: RealFloat a => a -> a",
      "n1 :: (Ord a, Num a) => a -> a",
      "n2 :: a",
      "n4 :: Num a => (a, a) -> a",
      "n5 :: Num a => a -> a -> a",
      "n6 :: Num a => a -> a -> [a]",
  });
}

TEST_CASE("data types, classes and records have GHC's types") {
  CheckTypes(kDeclarations, {
      "app :: [a] -> [a] -> [a]",
      "run :: St a b -> a -> b",
      "tick :: St Integer Integer",
      "mapT :: (a -> b) -> Tree a -> Tree b",
      "sumT :: Num a => Tree a -> a",
      "grow :: Shape -> Shape",
      "dbl :: Shape -> Shape",
      "ev :: E -> Int",
      "size :: Nest a -> Int",
      "foo :: Mon f => f a -> f (a, a)",
      "member :: Ord a => a -> Tree a -> Bool",
      "ins :: (Container f, Ord a) => a -> f a -> f a",
      "tt :: a -> b -> (b, a, Char)",
      "sec1 :: Integer -> Integer",
      "sec2 :: Integer -> Integer",
      "mw :: (Ord a, Num a, Num b) => a -> b",
      "pp :: (Int, Int) -> Int",
      "local :: Num b => a -> ((b, a), (Char, a), Bool)",
      "mk :: Double -> Double -> Shape",
      "eqT :: Eq a => a -> a -> Bool",
      "sel :: Wrap f a -> f a",
      "lz :: (a, b) -> (b, a)",
      "bng :: a -> a",
  });
}

TEST_CASE("the type of an expression is its most general one") {
  test::Session session;
  struct Row {
    const char* expression;
    const char* type;
  };
  for (const Row& row : {
           Row{"1 + 2", "Num a => a"},
           Row{"\\x -> x == x", "Eq a => a -> Bool"},
           Row{"(1, 2.5)", "(Num a, Fractional b) => (a, b)"},
           Row{"let y = 3 in y", "Num a => a"},
           Row{"(+)", "Num a => a -> a -> a"},
           Row{"(`div` 2)", "Integral a => a -> a"},
           Row{"[]", "[a]"},
           Row{"fromIntegral (3 :: Int)", "Num a => a"},
           Row{"\"text\"", "String"},
       })
    CHECK(session.TypeOfExpression(row.expression) == row.type);
  CHECK(session.diags->all().empty());
}

TEST_CASE("defaulting takes Integer, then Double") {
  CheckTypes(R"df(
a = 3
b = 2 / 3
c = (2 ^ 10, sqrt 2)
d x = x + 1
  where unused = 5 `div` 2
main n = n + 1
)df",
             {"a :: Integer", "b :: Double", "c :: (Integer, Double)", "d :: Num a => a -> a",
              "main :: Integer -> Integer"});
}

TEST_CASE("the monomorphism restriction is settled by the whole module") {
  CheckTypes(R"df(
scale = 3
plus = (+)
half x = x / scale :: Double
four = plus 2 2 :: Int
)df",
             {"scale :: Double", "plus :: Int -> Int -> Int"});
}

TEST_CASE("a signature breaks a group: its users may be at several types") {
  CheckTypes(R"df(
f :: Show a => a -> Int
f x = g x + 1
g y = if False then f (y, y) else h y
h z = if True then 0 else f 'c' + f True + g z
)df",
             {"f :: Show a => a -> Int", "g :: Show a => a -> Int", "h :: Show a => a -> Int"});
}

TEST_CASE("derived instances need what the fields need") {
  test::Session session;
  bool ok = session.Check(R"df(
data Color = Red | Green | Blue deriving (Eq, Ord, Enum, Bounded, Show)
data T a = Leaf | Node (T a) a (U a) deriving (Eq, Ord, Show)
data U a = U (T a) | V deriving (Eq, Ord, Show)
data P f = P deriving (Eq, Bounded)
data R a b = R { left :: a, right :: b } deriving (Eq, Ord, Bounded)
eq x y = Node Leaf x V == Node Leaf y (U Leaf)
lt x y = R x 'c' < R y 'd'
low = minBound :: R Bool Color
next c = if c == maxBound then minBound else succ c :: Color
)df");
  INFO(session.Rendered());
  REQUIRE(ok);
  CHECK(session.TypeOf("eq") == "eq :: Eq a => a -> a -> Bool");
  CHECK(session.TypeOf("lt") == "lt :: Ord a => a -> a -> Bool");
  CHECK(session.TypeOf("next") == "next :: Color -> Color");
  CHECK(core::Verify(session.session.program, true) == "");
}

TEST_CASE("main's parameters are named after its first clause") {
  test::Session session;
  REQUIRE(session.Check("main :: Int -> Int -> Int -> Int\nmain n 0 = const n\nmain _ m = max m\n"));
  const core::Program& program = session.session.program;
  REQUIRE(program.main.valid());
  std::vector<std::string> names;
  for (Symbol name : program.main_params) names.emplace_back(Text(name));
  CHECK(names == std::vector<std::string>{"n", "arg2", "arg3"});
}

TEST_CASE("the prompt may define a name again; what used the old one keeps it") {
  test::Session session;
  CheckOptions repl;
  repl.repl = true;
  REQUIRE(session.Check("f x = x + 1", repl));
  REQUIRE(session.Check("g y = f y * 2", repl));
  REQUIRE(session.Check("f x = not x", repl));
  CHECK(session.TypeOf("f") == "f :: Bool -> Bool");
  CHECK(session.TypeOf("g") == "g :: Num a => a -> a");
  CHECK_FALSE(session.Check("h = f 3", repl));
  CHECK(session.TypeOf("h") == "");
  session.diags->Clear();
  REQUIRE(session.Check("it = minBound", repl));
  CHECK(session.TypeOf("it") == "it :: ()");
  REQUIRE(session.Check("it = 7 ^ 2", repl));
  CHECK(session.TypeOf("it") == "it :: Integer");
  CHECK_FALSE(session.Check("it = not", repl));
}

}  // namespace df
