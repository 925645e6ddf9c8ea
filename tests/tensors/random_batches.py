#!/usr/bin/env python3
"""Random programs on tensors: every way to batch them gives what the reference engine gives.

    random_batches.py --dfc build/dfc [--first 1] [--count 100] [--keep FOLDER]

A program has a few functions that call each other on a counter, with vectors, a matrix, numbers and counts as parameters and results: whole vectors beside
their parts, elements that are written, by single ops and by loops, rows, sums, products with shared and computed matrices, choices by values
that are computed. So tensors of batches are seen in several places when somebody writes into one of them. Numbers stay bounded.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile

from batching import run

PRELUDE = """{-# LANGUAGE Strict #-}
import qualified Tensor as T
type V4 = Tensor Float [4]
type V8 = Tensor Float [8]
type M = Tensor Float [4, 8]
data R = R V4 V8 M Float Int
waves :: Float -> Tensor Float s
waves k = sin (T.fill k * T.convert T.iota)
w48, w48' :: M
w48 = waves 0.7
w48' = waves 1.3
w84 :: Tensor Float [8, 4]
w84 = waves 0.9
table :: Tensor Float [5, 4]
table = waves 0.4
fill4 :: Int -> Float -> V4 -> V4
fill4 i k t = if i >= 4 then t else fill4 (i + 1) (sin (k + 1)) (T.set t i (k + t T.! i))
fill8 :: Int -> Float -> V8 -> V8
fill8 i k t = if i >= 8 then t else fill8 (i + 2) (sin (k + 1)) (T.set t i k)
"""

WAYS = [[], ["--batch=off"], ["--batch=3"], ["--threads=3", "--batch=5"], ["--device=simulated"], ["--without=strips"], ["--without=late-numbers"],
        ["--threads=2", "--stress=1"]]


class Maker:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.functions = self.r.randint(1, 3)

    def value(self, scope, kind):
        """An expression of a kind, of variables in scope and one op or two."""
        r, one = self.r, lambda k: r.choice(scope[k])
        v4, v8, m, s = one("V4"), one("V8"), one("M"), one("S")
        k, at = r.choice(["0.3", "0.5", "(-0.7)", "1.1"]), r.randrange(4)
        if kind == "V4":
            return r.choice([
                f"tanh ({v4} * {one('V4')})", f"{v4} * {one('V4')}", f"{v4} - {one('V4')}", f"T.fill {s} * {v4}", f"fst (T.split {v8} :: (V4, V4))",
                f"snd (T.split {v8} :: (V4, V4))", f"T.vecmat {v8} w84", f"T.set {v4} {at} {s}", f"T.index table (n `mod` 5)", f"T.softmax {v4}",
                f"T.set {v4} (T.argmax {one('V4')}) {s}", f"T.index table (T.argmax {v4})", f"T.scatterAdd {v4} [T.argmax {one('V4')}] [{k}]",
                f"T.scatterAdd {v4} [{at}, 1] [{s}, {k}]", f"fill4 {r.choice([0, 1, 3])} {s} {v4}", f"T.matvec {m} {v8}", f"T.sumRows {m}",
                f"T.index (T.reshape {v8} :: Tensor Float [2, 4]) {r.randrange(2)}", f"T.select (T.less {v4} {one('V4')}) {one('V4')} (tanh {v4})",
                f"snd (T.split (T.concat {v4} {v8}) :: (V8, V4))", f"tanh (T.vecmat {v8} (T.transpose {m}))", f"T.reshape (T.transpose (T.reshape {v4} :: Tensor Float [2, 2]))"])
        if kind == "V8":
            return r.choice([
                f"T.concat {v4} {one('V4')}", f"tanh (T.vecmat {v4} w48)", f"T.vecmat {v4} w48'", f"T.vecmat {v4} {m}", f"tanh ({v8} + {one('V8')})", f"{v8} * {one('V8')}",
                f"T.set {v8} {at} {s}", f"fill8 {r.choice([0, 1, 5])} {s} {v8}", f"T.index {m} {at}", f"T.sum0 {m}", f"T.fill {s} * {v8}",
                f"T.reshape (T.concat (T.reshape {v4} :: Tensor Float [1, 4]) (T.reshape {one('V4')} :: Tensor Float [1, 4]))", f"T.scatterAdd {v8} [7] [{s}]", f"T.sigmoid {v8}"])
        if kind == "M":
            return r.choice([f"T.outer {v4} {v8}", f"tanh ({m} + w48)", f"{m} * w48'", f"T.transpose (T.outer {v8} {v4})", f"T.set {m} {at} {s}", "w48", f"T.scatterAdd {m} [{at}] (T.reshape {v8})"])
        i, choose = one("I"), self.condition(scope)
        if kind == "I":
            return r.choice([f"T.argmax {v4}", f"T.argmax {v8}", f"{i} + {one('I')}", f"if {choose} then {i} else {one('I')} - 1", f"if {choose} then 1 else 0",
                             f"fromEnum ({choose})", f"min {i} (T.argmax {v4})", f"(if {choose} then T.argmax {v8} else 2) * {at}", f"{i} `div` 2"])
        return r.choice([f"if {choose} then {s} else {one('S')} * 0.5", f"fromIntegral (T.argmax {v4}) * 0.125", f"if {choose} then 0.25 else {k}", f"T.sum {v4}", f"tanh (T.sum {v8})", f"{v4} T.! {at}", f"{v8} T.! {at + 4}", f"{v8} T.! T.argmax {one('V8')}", f"tanh (T.dot {v4} {one('V4')})", f"sin {s}", f"{s} * {k}", f"T.maximum {v8}",
                         f"tanh (T.sum {m})", f"{s} + {one('S')} * 0.25"])

    def condition(self, scope):
        r, one = self.r, lambda k: r.choice(scope[k])
        simple = lambda: r.choice([f"{one('I')} == {r.randrange(4)}", f"T.argmax {one('V4')} {r.choice(['==', '>', '/='])} {one('I')}", f"{one('S')} > 0.2",
                                   f"T.sum {one('V8')} < {one('S')}", f"not ({one('I')} >= n)"])
        return r.choice([simple, simple, lambda: f"{simple()} && {simple()}", lambda: f"{simple()} || {simple()}", lambda: f"({simple()}) == ({simple()})"])()

    def lets(self, scope, count, tag):
        lines = []
        for i in range(count):
            kind = self.r.choices(["V4", "V8", "M", "S", "I"], [5, 4, 1, 3, 2])[0]
            name = f"{kind.lower()}{tag}{i}"
            lines.append(f"{name} = {self.value(scope, kind)} :: { {'S': 'Float', 'I': 'Int'}.get(kind, kind) }")
            scope = {**scope, kind: scope[kind] + [name] * 3}
        return scope, lines

    def result(self, scope):
        v4, v8, m, s, i = (self.r.choice(scope[k]) for k in ("V4", "V8", "M", "S", "I"))
        return f"R (tanh {v4}) {self.r.choice([v8, f'(tanh {v8})'])} (tanh {m}) (sin {s}) {i}"

    def function(self, number):
        r = self.r
        scope = {"V4": ["a"], "V8": ["b"], "M": ["m", "w48"], "S": ["s", "0.5"], "I": ["i", "1"]}
        scope, lines = self.lets(scope, r.randint(0, 4), "p")
        body = [f"  | n <= 0 = {self.result({'V4': ['a'], 'V8': ['b'], 'M': ['m'], 'S': ['s'], 'I': ['i', '0']})}", "  | otherwise = let {"]
        for call in range(r.choice([1, 1, 2])):
            callee = r.randrange(self.functions)
            v4, v8, m, s, i = (r.choice(scope[k]) for k in ("V4", "V8", "M", "S", "I"))
            lines.append(f"R c{call} d{call} e{call} t{call} i{call} = f{callee} (n - {r.choice([1, 2, 2])}) {v4} {v8} {m} {s} {r.choice([i, '0', '2'])}")
            scope = {"V4": scope["V4"] + [f"c{call}"] * 3, "V8": scope["V8"] + [f"d{call}"] * 3, "M": scope["M"] + [f"e{call}"], "S": scope["S"] + [f"t{call}"] * 2,
                     "I": scope["I"] + [f"i{call}"] * 2}
        scope, more = self.lets(scope, r.randint(3, 9), "q")
        end = f"    }} in {self.result(scope)}"
        if r.random() < 0.4:
            left, right = (self.lets(scope, r.randint(1, 3), tag) for tag in "xy")
            sides = [f"let {{ {'; '.join(lines)} }} in {self.result(of)}" for of, lines in (left, right)]
            end = f"    }} in if {r.choice(scope['S'])} > 0.1\n      then {sides[0]}\n      else {sides[1]}"
        return "\n".join([f"f{number} :: Int -> V4 -> V8 -> M -> Float -> Int -> R", f"f{number} n a b m s i"] + body + ["    " + line + ";" for line in lines + more] + [end])

    def program(self):
        functions = [self.function(i) for i in range(self.functions)]
        depth = self.r.choice([3, 5, 7])
        return PRELUDE + "\n".join(functions) + f"""
go :: Int -> Float -> Float -> Int -> (Float, Float, Int)
go k x y z
  | k == 0 = (x, y, z)
  | otherwise = let R a b m s i = f0 (k `mod` {depth}) (T.index table (k `mod` 5)) (waves (0.1 * fromIntegral k)) w48' 0.3 0
                in go (k - 1) (x + T.sum a + s) (y + T.sum b + T.sum m) (z + i)
main = go 40 0 0 0
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--keep", help="programs that fail are left in this folder")
    args = parser.parse_args()
    failures = finite = 0
    with tempfile.TemporaryDirectory() as folder:
        path, graph = os.path.join(folder, "p.df"), os.path.join(folder, "p.graph")
        for seed in range(args.first, args.first + args.count):
            text = Maker(seed).program()
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
            want = run(args.dfc, path, "--no-warnings", "--engine=reference")
            finite += want[0] == 0 and "NaN" not in want[1] and "Infinity" not in want[1]
            bad = [] if want[0] == 0 else [["it", "failed"]]
            for level in [] if bad else ([], ["-O0"]):
                compiled = subprocess.run([args.dfc, path, "--no-warnings", "-o", graph, *level], capture_output=True, text=True)
                for way in WAYS if not level else WAYS[:3]:
                    if way == ["--without=late-numbers"]:
                        got = run(args.dfc, path, "--no-warnings", *way)
                    else:
                        got = run(args.dfc, graph, *way)
                    if compiled.returncode or got != want:
                        bad.append(level + way + [str(got)])
            if bad:
                failures += 1
                print(f"seed {seed}: reference {want}\n  " + "\n  ".join(" ".join(way) for way in bad), flush=True)
                if args.keep:
                    os.makedirs(args.keep, exist_ok=True)
                    with open(os.path.join(args.keep, f"{seed}.df"), "w", encoding="utf-8") as out:
                        out.write(text)
    print(f"{args.count} programs, {finite} of finite numbers, {failures} failures")
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
