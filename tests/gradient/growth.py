#!/usr/bin/env python3
"""Gradients that take time and memory in proportion to n, at an n where the square of it would take minutes or gigabytes.

    growth.py --dfc build/dfc

Each program has a vector of n numbers that is read element by element, or a list of n that is looked at twice; or takes steps of gradient descent, each by a
few rows of large tables, where steps over whole tables would take minutes. A run may take MEMORY bytes for objects
and TIME seconds, which is a hundred times what it needs.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

N = 16000
MEMORY = 100 << 20
TIME = 60
WAYS = ([], ["--batch=off"], ["-O0"])

PRELUDE = """import Gradient
import qualified Tensor as T

type V = Tensor Double [%(n)d]

data P = P V Double

n :: Int
n = %(n)d

at :: V
at = sin (0.7 * T.convert T.iota)

""" % {"n": N}

# A function of a vector, or of a number.
VECTOR = {
    "elements in a recursion": "f v = go 0 where { go :: Int -> Double; go i = if i == n then 0 else sin (v T.! i) + 0.5 * go (i + 1) }",
    "elements in a sum": "f v = sum [(v T.! i) * (v T.! (i - 1)) | i <- [1 .. n - 1]]",
    "elements at the leaves of a tree": "f v = go 0 n where { go :: Int -> Int -> Double; go a b = if b - a == 1 then sin (v T.! a) else "
                                        "let m = (a + b) `div` 2 in go a m + 0.5 * go m b }",
    "elements in a list that is looked at twice": "f v = let xs = map (\\i -> sin (v T.! i)) [0 .. n - 1] in sum xs * maximum xs",
    "elements of a record": "f v = go 0 (P v 0.5) where { go :: Int -> P -> Double; go i p = if i == n then 0 else (case p of P u c -> c * sin (u T.! i)) + go (i + 1) p }",
    "rows of a vector": "f v = T.item (go 0 0) where { go :: Int -> Tensor Double [] -> Tensor Double []; go i a = if i == n then a else go (i + 1) (a + sin (T.index v i)) }",
    "a map and a fold": "f v = T.fold (\\a x -> a + x * x) 0 (T.map sin v)",
    "a vector of its own elements": "f v = T.sum (T.tabulate (\\i -> if i == 0 then v T.! 0 else v T.! i - 0.5 * v T.! (i - 1)) * at)",
}
NUMBER = {
    "a list that is looked at twice": "f x = let xs = map (\\i -> sin (x * fromIntegral i)) [0 .. n - 1] in sum xs * maximum xs",
    "a vector of a list": "f x = T.sum (at * T.fromList (map (\\i -> sin (x * fromIntegral i)) [1 .. n]))",
    "a vector of a list of Integers": "f x = T.sum (sin (T.fromList (map (\\i -> x * fromIntegral i) [1 .. toInteger n]) :: V))",
}

# Of large tables in a lazy record.
DESCENT = """import Gradient
import Optim
import qualified Tensor as T

type Table = Tensor Float [100000, 64]

data Words = Words Table Table

loss :: Int -> Words -> Float
loss k (Words a b) = tanh (T.dot (T.index a (k * 7 `mod` 100000)) (T.index b (k * 13 `mod` 100000)))

go :: Int -> Words -> Words
go k w = if k == 0 then w else go (k - 1) (sgd 0.1 (grad (loss k) w) w)

main = case go 5000 (Words (T.fill 0.1) (T.fill 0.2)) of Words a b -> T.sum a + T.sum b
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    programs = [(name, PRELUDE + f"f :: V -> Double\n{text}\n\nmain = T.sum (at * grad f at)\n") for name, text in VECTOR.items()]
    programs += [(name, PRELUDE + f"f :: Double -> Double\n{text}\n\nmain = grad f 0.5\n") for name, text in NUMBER.items()]
    programs.append(("two tables, a row of each at a time", DESCENT))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "p.df")
        for name, text in programs:
            with open(source, "w", encoding="utf-8") as file:
                file.write(text)
            for way in WAYS if text != DESCENT else WAYS[:1]:
                fault = None
                try:
                    done = subprocess.run([args.dfc, "run", source, *way, "--threads=1", "--stats"], capture_output=True, text=True, timeout=TIME)
                    peak = re.search(r"peak bytes +(\d+)", done.stderr)
                    if done.returncode or not peak:
                        fault = done.stderr
                    elif int(peak.group(1)) > MEMORY:
                        fault = f"{peak.group(1)} bytes"
                    if args.verbose and peak:
                        print(f"{name}, {' '.join(way)}: {int(peak.group(1)) / 1e6:.1f} MB, {re.search(r'of a processor +([0-9.]+)', done.stderr).group(1)} s")
                except subprocess.TimeoutExpired:
                    fault = f"more than {TIME} s"
                if fault:
                    print(f"{name}, {' '.join(way)}: {fault}")
                    failed += 1
    print(f"{len(programs)} programs, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
