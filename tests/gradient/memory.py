#!/usr/bin/env python3
"""The peak memory of a backward pass is proportional to the activations: no weight's size is allocated per node.

    memory.py --dfc build/dfc

Each program has a weight of 256 x 256 Doubles (524,288 bytes) and a recursion of n steps on vectors of 256 (2,048 bytes). The peak is
that of --stats at two n; a step may cost so many vectors as the row says, which is far below one weight. What is
there once, whatever n is, may be a few weights: the weight, its gradient, and what is multiplied at a time.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

SIZE = 256
VECTOR, WEIGHT = SIZE * 8, SIZE * SIZE * 8
STEPS = (100, 500)
WEIGHTS_AT_ONCE = 12

PRELUDE = """import Gradient
import qualified Tensor as T

type V = Tensor Double [%(n)d]
type M = Tensor Double [%(n)d, %(n)d]
type Rows = Tensor Double [2, %(n)d]

weight :: M
weight = 0.05 * sin (T.convert T.iota)

start :: V
start = cos (T.convert T.iota)

""" % {"n": SIZE}

# The loss as a function of the weight and the number of steps; how many vectors a step may keep, and with --batch=auto if that is less: a backward
# region computes again what is cheap (docs/batching.md).
PROGRAMS = {
    "a product per step": (8, "f n w = T.sum (go n start) where { go :: Int -> V -> V; go k h = if k == 0 then h else tanh (T.vecmat (go (k - 1) h) w) }"),
    "a column per step": (8, "f n w = T.sum (go n start) where { go :: Int -> V -> V; go k h = if k == 0 then h else tanh (T.matvec w (go (k - 1) h)) }"),
    "two rows per step": (16, "f n w = T.sum (go n (T.broadcast start)) where { go :: Int -> Rows -> Rows; go k h = if k == 0 then h else tanh (T.matmul (go (k - 1) h) w) }"),
    "a tree": (12, "f n w = T.sum (tree n) where { tree :: Int -> V; tree k = if k <= 1 then start else let m = k `div` 2 in "
                   "tanh (T.vecmat (tree m) w + tree (k - m)) }"),
    "a row of a table per step": (12, "f n w = T.sum (go n start) where { go :: Int -> V -> V; go k h = if k == 0 then h else tanh (go (k - 1) h + T.index w (k `mod` 256)) }"),
    "an element per step": (1, "f n w = go n (T.reshape w) where { go :: Int -> Tensor Double [65536] -> Double; go k v = if k == 0 then 0 else "
                           "sin (v T.! (k * 97)) + 0.9 * go (k - 1) v }"),
    "an element per node of a tree": (1, "f n w = go 0 n (T.reshape w) where { go :: Int -> Int -> Tensor Double [65536] -> Double; go a b v = if b - a <= 1 then "
                                     "sin (v T.! (a * 97)) else let m = (a + b) `div` 2 in go a m v + 0.9 * go m b v }"),
    "an element per cell of a list": (2, "f n w = total (map (\\k -> sin (v T.! (k * 97))) [1 .. n]) where { v = T.reshape w :: Tensor Double [65536]; "
                                     "total xs = sum xs * 0.9 }"),
    "an element of a record per step": (1, "data P = P (Tensor Double [65536]) Double\nf n w = go n (P (T.reshape w) 0.5) where { go :: Int -> P -> Double; "
                                       "go k p = if k == 0 then 0 else (case p of P v c -> c * sin (v T.! (k * 97))) + 0.9 * go (k - 1) p }"),
    "a polynomial per step": (16, "f n w = T.sum (go n start) where { go :: Int -> V -> V; go k h = if k == 0 then h else let z = T.vecmat (go (k - 1) h) w in "
                              "(z * z * z - z) * (z * z - 1) - z * z * 0.01 }", 2),
    "a delayed product per step": (16, "f n w = T.sum (go n start) where { go :: Int -> V -> V; go k h = if k == 0 then h else let d = slow k h in "
                                       "go (k - 1) (if k `mod` 3 == 0 then h else 0.9 * d + h); slow :: Int -> V -> V; "
                                       "slow k h = if k < 0 then slow (k + 2) h else tanh (T.vecmat h w) }"),
}


def peak(dfc, graph, engine, n):
    done = subprocess.run([dfc, "run", graph, *engine, "--input", "n=%d" % n, "--stats"], capture_output=True, timeout=300)
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    return int(re.search(r"peak bytes +(\d+)", done.stderr.decode()).group(1))


# Steps on a table of 20,000 rows, each by 32 of them that come in eight chunks: gradients of chunks, and their sums, are these rows alone. What the table
# is made of are four of its size.
CHUNKS = """{-# LANGUAGE Strict #-}
import Optim (sgd)
import Spread
import qualified Tensor as T

type Table = Tensor Double [20000, 64]

loss :: Table -> Int -> Double
loss t i = T.sum (tanh (T.index t ((i * 1237) `mod` 20000)))

main :: Int -> Double
main n = T.sum (go n (0.05 * sin (T.convert T.iota)))
  where go k t = if k == 0 then t else case sumSpread 4 loss t [k .. k + 31] of (_, g) -> go (k - 1) (sgd 0.1 g t)
"""
TABLE = 20000 * 64 * 8


def chunks_keep_rows(dfc, folder, verbose):
    source = os.path.join(folder, "chunks.df")
    with open(source, "w", encoding="utf-8") as file:
        file.write(CHUNKS)
    tables = peak(dfc, source, ["--batch=auto"], 5) / TABLE
    if verbose or tables > 4.5:
        print("chunks of a table: %.2f tables, of at most 4.5" % tables)
    return tables <= 4.5


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        source, graph = os.path.join(folder, "p.df"), os.path.join(folder, "p.graph")
        for name, (vectors, text, *batched) in PROGRAMS.items():
            with open(source, "w", encoding="utf-8") as file:
                file.write(PRELUDE + "f :: Int -> M -> Double\n" + text + "\n\nmain :: Int -> Double\nmain n = T.sum (grad (f n) weight)\n")
            subprocess.run([args.dfc, source, "-o", graph], check=True)
            for engine in (["--batch=off"], ["--batch=auto"], ["--engine=demand"], ["--engine=reference"]):
                few, many = (peak(args.dfc, graph, engine, n) for n in STEPS)
                step = (many - few) / (STEPS[1] - STEPS[0]) / VECTOR
                once = (few - STEPS[0] * step * VECTOR) / WEIGHT
                if args.verbose:
                    print("%-28s %-20s %5.1f vectors per step, %4.1f weights once" % (name, engine[0], step, once))
                most = batched[0] if batched and engine == ["--batch=auto"] else vectors
                if step > most or once > WEIGHTS_AT_ONCE:
                    print("%s, %s: %.1f vectors per step, of at most %d; %.1f weights, of at most %d" % (
                        name, engine[0], step, most, once, WEIGHTS_AT_ONCE))
                    failed += 1
        failed += not chunks_keep_rows(args.dfc, folder, args.verbose)
    print("%d programs, %d failures" % (len(PROGRAMS) + 1, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
