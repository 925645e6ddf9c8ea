"""Writes a Haskell program of some thousand lines to standard output, to measure compile time:

    python3 tests/bench/long_program.py [LINES]

It is a block of ordinary declarations, data, classes, instances, local definitions, folds, maps, comprehensions, again
and again under new names; each block uses the one before, and `main` the last, so that nothing is unused.
"""

import sys

HEAD = """module Main where

import Data.List (foldl', sortBy)
import qualified Data.Map as Map

class Measure a where
  measure :: a -> Int
  heavier :: a -> a -> Bool
  heavier x y = measure x > measure y

shape0 :: Int -> Int
shape0 n = n
"""

BLOCK = """
data Shape@ = Circle@ Int | Square@ { side@ :: Int, tag@ :: String } | Group@ [Shape@]
  deriving (Eq, Ord)

instance Measure Shape@ where
  measure (Circle@ r) = 3 * r * r
  measure Square@ { side@ = s } = s * s
  measure (Group@ shapes) = sum (map measure shapes)

type Index@ = Map.Map Int [Shape@]

index@ :: [Shape@] -> Index@
index@ = foldl' add Map.empty
  where
    add table shape = Map.insertWith (++) (measure shape `mod` 7) [shape] table

sorted@ :: [Shape@] -> [Shape@]
sorted@ = sortBy (\\x y -> compare (measure y) (measure x))

classify@ :: Shape@ -> String
classify@ shape
  | size < 10 = "small"
  | size < 100, Square@ _ name <- shape = "square " ++ name
  | Group@ (first : _) <- shape, heavier first (Circle@ 2) = "heavy group"
  | otherwise = case shape of
      Circle@ r | even r -> "even circle"
      Group@ [] -> "nothing"
      _ -> "other"
  where
    size = measure shape

walk@ :: Int -> Shape@ -> Int
walk@ acc (Group@ shapes) = go acc shapes
  where
    go total [] = total
    go total (s : rest) = let total' = walk@ total s in go total' rest
walk@ acc shape = acc + measure shape

pairs@ :: Int -> [(Int, Int)]
pairs@ n = [(x, y) | x <- [1 .. n], odd x, let z = x * x, y <- [z .. z + 2], (x + y) `mod` 3 /= 0]

shape@ :: Int -> Int
shape@ n = walk@ 0 (Group@ shapes) + length (concatMap classify@ shapes) + sum (map (uncurry (*)) (pairs@ 3))
  where
    previous = shape< n `mod` 3
    shapes = sorted@ (concat (Map.elems (index@ [Circle@ (k + previous) | k <- [1 .. 4]]))) ++ [Square@ n "s"]
"""


def program(lines):
    text, number = HEAD, 0
    while text.count("\n") < lines - 4:
        number += 1
        text += BLOCK.replace("shape<", "shape%d" % (number - 1)).replace("@", str(number))
    return text + "\nmain = shape%d 5\n" % number


if __name__ == "__main__":
    sys.stdout.write(program(int(sys.argv[1]) if len(sys.argv) > 1 else 5000))
