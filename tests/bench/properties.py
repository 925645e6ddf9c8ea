#!/usr/bin/env python3
"""Writes a program of N properties of five kinds, a hundred random cases each, for dfc and for GHC with QuickCheck.

    properties.py N > many.df; time dfc run many.df
    cp many.df many.hs; time ghc -O0 many.hs; time ./many
"""

import sys

KINDS = (
    "prop_{0} :: [Int] -> Bool\nprop_{0} xs = sum (map (+ {0}) xs) == sum xs + {0} * length xs",
    "prop_{0} :: Int -> Int -> Property\nprop_{0} x y = x >= y ==> x + {0} >= y + {0}",
    "prop_{0} :: String -> Bool\nprop_{0} s = length (show {0} ++ s) == length (show {0}) + length s",
    "prop_{0} :: (Int, Bool) -> Property\nprop_{0} (x, b) = (if b then x + {0} else {0} + x) === x + {0}",
    "prop_{0} :: [Integer] -> Integer -> Property\n"
    "prop_{0} xs y = classify (null xs) \"empty\" (product (y : xs) * {0} == {0} * foldr (*) y xs)",
)


def main():
    count = int(sys.argv[1])
    print("import Test.QuickCheck\n")
    for i in range(count):
        print(KINDS[i % len(KINDS)].format(i) + "\n")
    print("main :: IO ()\nmain = do")
    for i in range(count):
        print("  quickCheck prop_%d" % i)


if __name__ == "__main__":
    main()
