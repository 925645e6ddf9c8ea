"""The library functions that random programs call, with the types at which they do."""

import re

from haskell_types import parse, unfold

# One function per line: `name :: constraints => type`. A type may be narrower than the function's, so that a program ends
# (Small, Stream; see haskell_types.py) or is not ambiguous. In front of the name: a number is its weight (2 unless told), `!` marks
# what fails for some arguments, `@` what needs the types of its arguments written out, `&` what needs that of its last one (a
# container of some class).
FUNCTIONS = """
map :: (a -> b) -> [a] -> [b]
filter :: (a -> Bool) -> [a] -> [a]
& foldr :: (a -> b -> b) -> b -> [a] -> b
& foldl :: (b -> a -> b) -> b -> [a] -> b
++ :: [a] -> [a] -> [a]
zipWith :: (a -> b -> c) -> [a] -> [b] -> [c]
zip :: [a] -> [b] -> [(a, b)]
1 zip3 :: [a] -> [b] -> [c] -> [(a, b, c)]
1 unzip :: [(a, b)] -> ([a], [b])
1 scanl :: (b -> a -> b) -> b -> [a] -> [b]
1 scanr :: (a -> b -> b) -> b -> [a] -> [b]
1 scanl1 :: (a -> a -> a) -> [a] -> [a]
1 scanr1 :: (a -> a -> a) -> [a] -> [a]
take :: Small -> [a] -> [a]
drop :: Small -> [a] -> [a]
splitAt :: Small -> [a] -> ([a], [a])
takeWhile :: (a -> Bool) -> [a] -> [a]
dropWhile :: (a -> Bool) -> [a] -> [a]
span :: (a -> Bool) -> [a] -> ([a], [a])
break :: (a -> Bool) -> [a] -> ([a], [a])
reverse :: [a] -> [a]
replicate :: Small -> a -> [a]
& concat :: [[a]] -> [a]
& concatMap :: (a -> [b]) -> [a] -> [b]
& length :: [a] -> Int
& null :: [a] -> Bool
1 & and :: [Bool] -> Bool
1 & or :: [Bool] -> Bool
& any :: (a -> Bool) -> [a] -> Bool
& all :: (a -> Bool) -> [a] -> Bool
& elem :: Eq a => a -> [a] -> Bool
1 & notElem :: Eq a => a -> [a] -> Bool
lookup :: Eq a => a -> [(a, b)] -> Maybe b
3 & sum :: [Int] -> Int
1 & sum :: [Double] -> Double
& product :: [Integer] -> Integer
1 lines :: [Char] -> [[Char]]
1 words :: [Char] -> [[Char]]
1 unlines :: [[Char]] -> [Char]
3 show :: Show a => a -> [Char]
1 showsPrec :: Show a => Int -> a -> [Char] -> [Char]
1 unwords :: [[Char]] -> [Char]
1 ! head :: [a] -> a
1 ! tail :: [a] -> [a]
1 ! last :: [a] -> a
1 ! init :: [a] -> [a]
1 ! !! :: [a] -> Int -> a
1 ! & maximum :: Ord a => [a] -> a
1 ! & minimum :: Ord a => [a] -> a
1 ! & foldr1 :: (a -> a -> a) -> [a] -> a
1 ! & foldl1 :: (a -> a -> a) -> [a] -> a
5 take :: Small -> Stream a -> [a]
2 !! :: Stream a -> Small -> a
1 head :: Stream a -> a
2 zip :: [a] -> Stream b -> [(a, b)]
2 zipWith :: (a -> b -> c) -> Stream a -> [b] -> [c]
4 iterate :: (a -> a) -> a -> Stream a
2 repeat :: a -> Stream a
4 map :: (a -> b) -> Stream a -> Stream b
3 zipWith :: (a -> b -> c) -> Stream a -> Stream b -> Stream c
2 scanl :: (b -> a -> b) -> b -> Stream a -> Stream b
1 drop :: Small -> Stream a -> Stream a
1 tail :: Stream a -> Stream a
1 ++ :: [a] -> Stream a -> Stream a
fst :: (a, b) -> a
snd :: (a, b) -> b
1 curry :: ((a, b) -> c) -> a -> b -> c
1 uncurry :: (a -> b -> c) -> (a, b) -> c
maybe :: b -> (a -> b) -> Maybe a -> b
either :: (a -> c) -> (b -> c) -> Either a b -> c
1 const :: a -> b -> a
1 flip :: (a -> b -> c) -> b -> a -> c
1 id :: a -> a
$ :: (a -> b) -> a -> b
1 $! :: (a -> b) -> a -> b
2 . :: (b -> c) -> (a -> b) -> a -> c
2 seq :: a -> b -> b
4 + :: Int -> Int -> Int
3 - :: Int -> Int -> Int
2 * :: Int -> Int -> Int
2 + :: Integer -> Integer -> Integer
2 * :: Integer -> Integer -> Integer
1 - :: Integer -> Integer -> Integer
2 + :: Double -> Double -> Double
1 - :: Double -> Double -> Double
2 * :: Double -> Double -> Double
1 / :: Double -> Double -> Double
1 negate :: Int -> Int
1 abs :: Int -> Int
1 signum :: Integer -> Integer
1 ! div :: Int -> Int -> Int
1 ! mod :: Int -> Int -> Int
1 ! quot :: Integer -> Integer -> Integer
1 ! rem :: Integer -> Integer -> Integer
1 ! divMod :: Int -> Int -> (Int, Int)
1 ! quotRem :: Int -> Int -> (Int, Int)
1 gcd :: Int -> Int -> Int
1 @ ^ :: Int -> Small -> Int
1 @ ^ :: Integer -> Small -> Integer
1 @ fromIntegral :: Int -> Integer
1 @ fromIntegral :: Integer -> Int
1 @ fromIntegral :: Int -> Double
1 @ even :: Int -> Bool
1 @ odd :: Integer -> Bool
3 == :: Eq a => a -> a -> Bool
2 /= :: Eq a => a -> a -> Bool
3 < :: Ord a => a -> a -> Bool
2 <= :: Ord a => a -> a -> Bool
1 > :: Ord a => a -> a -> Bool
1 >= :: Ord a => a -> a -> Bool
2 compare :: Ord a => a -> a -> Ordering
1 max :: Ord a => a -> a -> a
1 min :: Ord a => a -> a -> a
3 && :: Bool -> Bool -> Bool
3 || :: Bool -> Bool -> Bool
2 not :: Bool -> Bool
1 @ fromEnum :: Char -> Int
1 @ fromEnum :: Bool -> Int
1 fmap :: (a -> b) -> Maybe a -> Maybe b
1 fmap :: (a -> b) -> Either c a -> Either c b
1 <$> :: (a -> b) -> [a] -> [b]
1 <*> :: [a -> b] -> [a] -> [b]
1 <*> :: Maybe (a -> b) -> Maybe a -> Maybe b
1 >>= :: Maybe a -> (a -> Maybe b) -> Maybe b
1 >>= :: [a] -> (a -> [b]) -> [b]
1 >>= :: Either c a -> (a -> Either c b) -> Either c b
1 & traverse :: (a -> Maybe b) -> [a] -> Maybe [b]
1 & mapM :: (a -> Either c b) -> [a] -> Either c [b]
1 & sequence :: [Maybe a] -> Maybe [a]
1 <> :: [a] -> [a] -> [a]
1 <> :: Ordering -> Ordering -> Ordering
1 mconcat :: [[a]] -> [a]
1 & foldMap :: (a -> [b]) -> Maybe a -> [b]
"""

# Of Data.List, which some programs import.
LISTS = """
2 sort :: Ord a => [a] -> [a]
2 nub :: Eq a => [a] -> [a]
1 sortBy :: (a -> a -> Ordering) -> [a] -> [a]
1 sortOn :: Ord b => (a -> b) -> [a] -> [a]
1 insert :: Ord a => a -> [a] -> [a]
1 group :: Eq a => [a] -> [[a]]
1 groupBy :: (a -> a -> Bool) -> [a] -> [[a]]
2 partition :: (a -> Bool) -> [a] -> ([a], [a])
1 delete :: Eq a => a -> [a] -> [a]
1 union :: Eq a => [a] -> [a] -> [a]
1 isPrefixOf :: Eq a => [a] -> [a] -> Bool
1 intercalate :: [a] -> [[a]] -> [a]
1 transpose :: [[a]] -> [[a]]
1 tails :: [a] -> [[a]]
1 inits :: [a] -> [[a]]
2 & foldl' :: (b -> a -> b) -> b -> [a] -> b
1 & mapAccumL :: (b -> a -> (b, c)) -> b -> [a] -> (b, [c])
1 zipWith3 :: (a -> b -> c -> d) -> [a] -> [b] -> [c] -> [d]
1 & find :: (a -> Bool) -> [a] -> Maybe a
1 elemIndex :: Eq a => a -> [a] -> Maybe Int
1 ! & maximumBy :: (a -> a -> Ordering) -> [a] -> a
"""

# Of Data.Map and Data.Set, qualified as M and S.
MAPS = """
3 M.insert :: Ord k => k -> a -> Map k a -> Map k a
2 M.insertWith :: Ord k => (a -> a -> a) -> k -> a -> Map k a -> Map k a
1 M.delete :: Ord k => k -> Map k a -> Map k a
1 M.adjust :: Ord k => (a -> a) -> k -> Map k a -> Map k a
1 M.alter :: Ord k => (Maybe a -> Maybe a) -> k -> Map k a -> Map k a
3 M.lookup :: Ord k => k -> Map k a -> Maybe a
2 M.findWithDefault :: Ord k => a -> k -> Map k a -> a
1 M.member :: Ord k => k -> Map k a -> Bool
2 M.fromList :: Ord k => [(k, a)] -> Map k a
2 M.fromListWith :: Ord k => (a -> a -> a) -> [(k, a)] -> Map k a
2 M.toList :: Map k a -> [(k, a)]
1 M.toDescList :: Map k a -> [(k, a)]
1 M.keys :: Map k a -> [k]
2 M.elems :: Map k a -> [a]
2 M.size :: Map k a -> Int
1 M.null :: Map k a -> Bool
2 M.map :: (a -> b) -> Map k a -> Map k b
1 M.mapWithKey :: (k -> a -> b) -> Map k a -> Map k b
1 M.mapMaybe :: (a -> Maybe b) -> Map k a -> Map k b
1 M.filter :: (a -> Bool) -> Map k a -> Map k a
1 M.filterWithKey :: (k -> a -> Bool) -> Map k a -> Map k a
1 M.partition :: (a -> Bool) -> Map k a -> (Map k a, Map k a)
1 M.union :: Ord k => Map k a -> Map k a -> Map k a
1 M.unionWith :: Ord k => (a -> a -> a) -> Map k a -> Map k a -> Map k a
1 M.intersectionWith :: Ord k => (a -> b -> c) -> Map k a -> Map k b -> Map k c
1 M.difference :: Ord k => Map k a -> Map k b -> Map k a
1 M.keysSet :: Map k a -> Set k
1 M.mapKeys :: Ord l => (k -> l) -> Map k a -> Map l a
2 M.foldr :: (a -> b -> b) -> b -> Map k a -> b
1 M.foldrWithKey :: (k -> a -> b -> b) -> b -> Map k a -> b
1 M.foldl :: (b -> a -> b) -> b -> Map k a -> b
1 M.lookupMin :: Map k a -> Maybe (k, a)
1 M.lookupLE :: Ord k => k -> Map k a -> Maybe (k, a)
1 M.split :: Ord k => k -> Map k a -> (Map k a, Map k a)
1 M.minViewWithKey :: Map k a -> Maybe ((k, a), Map k a)
1 ! M.findMin :: Map k a -> (k, a)
1 ! & maximum :: Ord a => Map k a -> a
1 & sum :: Map k Int -> Int
1 fmap :: (a -> b) -> Map k a -> Map k b
1 & traverse :: (a -> Maybe b) -> Map Int a -> Maybe (Map Int b)
1 <> :: Ord k => Map k a -> Map k a -> Map k a
2 S.insert :: Ord a => a -> Set a -> Set a
1 S.delete :: Ord a => a -> Set a -> Set a
2 S.member :: Ord a => a -> Set a -> Bool
2 S.fromList :: Ord a => [a] -> Set a
2 S.toList :: Set a -> [a]
1 S.size :: Set a -> Int
1 S.map :: Ord b => (a -> b) -> Set a -> Set b
1 S.filter :: (a -> Bool) -> Set a -> Set a
1 S.union :: Ord a => Set a -> Set a -> Set a
1 S.difference :: Ord a => Set a -> Set a -> Set a
1 S.isSubsetOf :: Ord a => Set a -> Set a -> Bool
1 S.foldr :: (a -> b -> b) -> b -> Set a -> b
1 S.partition :: (a -> Bool) -> Set a -> (Set a, Set a)
1 & sum :: Set Int -> Int
"""

# Of Data.Char.
CHARS = """
2 toUpper :: Char -> Char
1 toLower :: Char -> Char
2 isDigit :: Char -> Bool
1 isAlpha :: Char -> Bool
1 isSpace :: Char -> Bool
1 isUpper :: Char -> Bool
2 ord :: Char -> Int
1 ! digitToInt :: Char -> Int
"""

# Of Control.Monad and of the Prelude, in a monad; an M is the monad.
MONADS = """
2 & mapM :: (a -> M b) -> [a] -> M [b]
1 & mapM_ :: (a -> M b) -> [a] -> M ()
2 & foldM :: (b -> a -> M b) -> b -> [a] -> M b
1 zipWithM :: (a -> b -> M c) -> [a] -> [b] -> M [c]
1 replicateM :: Small -> M a -> M [a]
1 filterM :: (a -> M Bool) -> [a] -> M [a]
1 when :: Bool -> M () -> M ()
1 unless :: Bool -> M () -> M ()
1 void :: M a -> M ()
1 liftM2 :: (a -> b -> c) -> M a -> M b -> M c
1 >=> :: (a -> M b) -> (b -> M c) -> a -> M c
1 =<< :: (a -> M b) -> M a -> M b
1 join :: M (M a) -> M a
1 >> :: M a -> M b -> M b
2 >>= :: M a -> (a -> M b) -> M b
1 <*> :: M (a -> b) -> M a -> M b
1 <$> :: (a -> b) -> M a -> M b
1 <* :: M a -> M b -> M a
"""

# Actions.
ACTIONS = """
9 print :: Show a => a -> IO ()
4 putStrLn :: [Char] -> IO ()
2 putStr :: [Char] -> IO ()
2 getLine :: IO [Char]
2 isEOF :: IO Bool
"""

# What `instance Foldable T` gives for a user's type T.
FOLDABLE = """
2 & foldr :: (a -> b -> b) -> b -> T a -> b
1 & foldl :: (b -> a -> b) -> b -> T a -> b
2 & length :: T a -> Int
1 & null :: T a -> Bool
1 & elem :: Eq a => a -> T a -> Bool
2 & sum :: T Int -> Int
1 & any :: (a -> Bool) -> T a -> Bool
1 & foldMap :: (a -> [b]) -> T a -> [b]
1 & concatMap :: (a -> [b]) -> T a -> [b]
1 ! & maximum :: Ord a => T a -> a
"""
FUNCTOR = """
3 fmap :: (a -> b) -> T a -> T b
2 <$> :: (a -> b) -> T a -> T b
1 <$ :: a -> T b -> T a
"""


class Entry:
    """A function that a term may call. fuel: its first parameter bounds a recursion, and may be that large."""

    def __init__(self, name, params, result, constraints=(), weight=2, partial=False, annotate=False, fuel=None, container=False):
        self.name, self.params, self.result, self.constraints = name, params, result, list(constraints)
        self.weight, self.partial, self.annotate = weight, partial, annotate
        self.fuel, self.container = fuel, container

    @property
    def operator(self):
        return not (self.name[0].isalnum() or self.name[0] == "_")


def at_monad(line, monad):
    """The line with each `M a` as that of a monad: "Maybe %s", "[%s]"."""
    while (once := re.sub(r"\bM (\([^()]*\)|\[\w\]|\w+)", lambda m: monad % m.group(1), line, count=1)) != line:
        line = once
    return line


def read(lines, name=None, monad=None):
    """The entries of a table; a T in it is the type `name`, an M the monad."""
    entries = []
    for line in lines.strip().splitlines():
        if name:
            line = line.replace("T ", name + " ")
        words, signature = (at_monad(line, monad) if monad else line).split(" :: ")
        *flags, function = words.split()
        constraints = []
        if "=>" in signature:
            context, signature = signature.split(" => ")
            constraints = [tuple(c.split()) for c in context.strip("()").split(", ")]
        weight = [int(f) for f in flags if f.isdigit()]
        params, result = unfold(parse(signature))
        entries.append(Entry(function, params, result, constraints, weight[0] if weight else 2, "!" in flags, "@" in flags,
                             container="&" in flags))
    return entries
