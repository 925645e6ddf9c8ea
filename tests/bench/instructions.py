#!/usr/bin/env python3
"""Instructions that the tagged engine takes on one thread, counted by callgrind, against the stored figures.

    instructions.py --dfc build/dfc [--compiler NAME] [--record]

A time depends on what else the machine does; a count of instructions does not. Each program is compiled and run at two
sizes, and the difference of the counts is divided by the difference of the work: calls, or elements of a list. So start-up
and compilation do not count. The figures hold for the compiler that they were recorded with; with another one, or without
valgrind, the test is skipped (exit code 77). A change that takes fewer instructions is no fault, but has to be recorded.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

STORED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "instructions.json")
TOLERANCE = 0.04  # of the stored figure
SKIPPED = 77

FIB = """
fib :: Int -> Int
fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)
main :: IO ()
main = print (fib SIZE)
"""
FIB_INTEGER = FIB.replace("Int", "Integer")
STREAM = """
upto :: Int -> Int -> [Int]
upto a b = if a > b then [] else a : upto (a + 1) b
main :: IO ()
main = print (length (filter even (upto 1 SIZE)))
"""
# A row of a table that is a lazy list, as of the knapsack problem: most of its elements are made ahead, in a loop.
ROW = """
row :: [Int] -> Int -> [Int]
row old v = zipWith max old (replicate v 0 ++ map (+ v) old)
main :: IO ()
main = print (last (foldl row (replicate SIZE 0) [3, 1, 4, 1, 5]))
"""
TREE = """
data Tree = Leaf | Node Tree Int Tree
insert :: Int -> Tree -> Tree
insert x Leaf = Node Leaf x Leaf
insert x t@(Node l y r)
  | x < y = Node (insert x l) y r
  | x > y = Node l y (insert x r)
  | otherwise = t
size :: Tree -> Int
size Leaf = 0
size (Node l _ r) = size l + 1 + size r
build :: Int -> Int -> Tree -> Tree
build n x t = if n == 0 then t else build (n - 1) ((x * 1103515245 + 12345) `mod` 2147483648) (insert x t)
main :: IO ()
main = print (size (build SIZE 1 Leaf))
"""
# A local list that refers to itself: its cell is there before what it captures.
KNOT = """
around :: Int -> Int
around n = sum (take 3 xs) where xs = n : map (+ 0) xs
main :: IO ()
main = print (sum (map around [1 .. SIZE]))
"""
# Of Floats in vectors of eight, which is what valgrind has at most. A tile whose vectors are kept in memory shows here.
PRODUCT = """
import qualified Tensor as T
step :: Int -> Tensor Float [16, 96] -> Tensor Float [16, 96]
step n x = if n == 0 then x else step (n - 1) (T.matmul x weight)
weight :: Tensor Float [96, 96]
weight = T.fill 0.01
main :: IO ()
main = print (T.sum (step SIZE 1))
"""


def calls_of_fib(n):
    a, b = 1, 1
    for _ in range(n):
        a, b = b, a + b + 1
    return a


# Name, program, options, sizes, units of work at a size. The list program is translated plainly: optimised it has no list.
PROGRAMS = [
    ("a call of fib", FIB, [], (15, 26), calls_of_fib),
    ("a call of fib on Integers", FIB_INTEGER, [], (15, 26), calls_of_fib),
    ("an element of length (filter even (upto 1 n)) at -O0", STREAM, ["-O0"], (3000, 15000), lambda n: n),
    ("an element of five rows that are lazy lists", ROW, [], (3000, 15000), lambda n: 5 * n),
    ("a product of [16, 96] and [96, 96]", PRODUCT, [], (20, 120), lambda n: n),
    ("a call that makes a list of three that refers to itself", KNOT, [], (2000, 10000), lambda n: n),
    ("an insertion into a tree", TREE, [], (500, 2500), lambda n: n),
]


def count(words, folder):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"] + words, cwd=folder,
                          capture_output=True, text=True, timeout=300)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not collected:
        sys.exit("%s: exit code %d\n%s" % (" ".join(words), done.returncode, done.stderr))
    return int(collected.group(1)), done.stdout


def measure(dfc, program, options, sizes, units):
    counts = []
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            with open(os.path.join(folder, "main.df"), "w", encoding="utf-8") as file:
                file.write(program.replace("SIZE", str(size)))
            subprocess.run([dfc, *options, "main.df", "-o", "main.graph"], cwd=folder, check=True)
            counts.append(count([dfc, "run", "--threads=1", "main.graph"], folder)[0])
    return (counts[1] - counts[0]) / (units(sizes[1]) - units(sizes[0]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--compiler", default="", help="what dfc was compiled with")
    parser.add_argument("--record", action="store_true", help="store what is measured")
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        print("skipped: valgrind is not installed (scripts/setup installs it)")
        return SKIPPED
    stored = {"compiler": "", "figures": {}}
    if os.path.exists(STORED):
        with open(STORED, encoding="utf-8") as file:
            stored = json.load(file)
    if not args.record and args.compiler != stored["compiler"]:
        print("skipped: the figures are those of %s, this is %s" % (stored["compiler"], args.compiler or "unknown"))
        return SKIPPED
    measured = {name: round(measure(os.path.abspath(args.dfc), program, options, sizes, units))
                for name, program, options, sizes, units in PROGRAMS}
    if args.record:
        with open(STORED, "w", encoding="utf-8") as file:
            json.dump({"compiler": args.compiler, "figures": measured}, file, indent=2)
            file.write("\n")
    faults = 0
    for name, figure in measured.items():
        before = stored["figures"].get(name, figure)
        wrong = not args.record and abs(figure - before) > TOLERANCE * before
        faults += wrong
        print("%5d instructions for %s, stored: %d%s" % (figure, name, before, "  <- differs" if wrong else ""))
    if faults:
        print("If that is meant: instructions.py --record, and docs/performance.md")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
