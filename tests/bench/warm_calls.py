#!/usr/bin/env python3
"""What a call of a compiled graph costs, once it has been called: warm_calls.cpp on four graphs, ONNX Runtime from Python beside one of
them where there is onnx and onnxruntime.

    warm_calls.py --dfc build/dfc --calls build/tests/bench/warm_calls [--few] [--instructions] [--allocations]

With --instructions, those of a call, by callgrind, instead of times. --allocations holds warm calls to what they may ask the system's allocator for.
"""

import argparse
import os
import re
import subprocess
import tempfile
import time

import three_ops

TREE = """import qualified Tensor as T

data Tree = Leaf Int | Node Tree Tree
data State = State { hidden :: Tensor Float [3], memory :: Tensor Float [3] }
data Cell = Cell { weight :: Tensor Float [6, 15], bias :: Tensor Float [15] }

encode :: Cell -> Tensor Float [7, 3] -> Tree -> State
encode cell embeddings (Leaf word) = let c = T.index embeddings word in State (tanh c) c
encode cell embeddings (Node left right) = combine cell (encode cell embeddings left) (encode cell embeddings right)

combine :: Cell -> State -> State -> State
combine (Cell w b) (State hl cl) (State hr cr) = State (T.sigmoid o * tanh c) c
  where
    (i, gates) = T.split (T.vecmat (T.concat hl hr) w + b)
    (o, gates') = T.split gates
    (u, forget) = T.split gates'
    (fl, fr) = T.split forget
    c = T.sigmoid i * tanh u + T.sigmoid fl * cl + T.sigmoid fr * cr

main :: Cell -> Tensor Float [7, 3] -> Tree -> Tensor Float [3]
main cell embeddings tree = hidden (encode cell embeddings tree)
"""

CELL = "weight = %s, bias = %s"


def nested(shape, at=0.1):
    if not shape:
        return "%.1f" % at
    return "[" + ",".join(nested(shape[1:], at + 0.1 * i) for i in range(shape[0])) + "]"


# name, source, words of warm_calls
ROUNDS = 40  # of warm_calls.cpp

GRAPHS = [
    ("a + b", "main :: Double -> Double -> Double\nmain a b = a + b\n", ["--set", "a=1.5", "b=2"]),
    ("three ops", "import Tensor (vecmat)\nmain :: Tensor Float [4] -> Tensor Float [4, 4] -> Tensor Float [4] -> Tensor Float [4]\n"
     "main x w b = tanh (vecmat x w + b)\n", ["x=" + nested([4]), "w=" + nested([4, 4]), "b=" + nested([4])]),
    ("TreeLSTM, two leaves", TREE, ["cell=Cell {%s}" % (CELL % (nested([6, 15]), nested([15]))), "embeddings=" + nested([7, 3]),
                                     "tree=Node (Leaf 1) (Leaf 4)"]),
    ("1 M floats in and out", "import qualified Tensor as T\n\nmain :: Tensor Float [1000000] -> Tensor Float [1000000]\nmain x = negate x\n", ["--array=x:1000000", "--calls=4"]),
]


# Of a warm call. Small values lie in blocks that a run keeps; groups of more than four tensors that are put off ask for their list.
MOST_ALLOCATIONS = {"a + b": 0, "three ops": 1, "TreeLSTM, two leaves": 9, "1 M floats in and out": 4}


def onnx_runtime(calls):
    try:
        import numpy
        call = three_ops.onnx_runtime(numpy.full(4, 0.5, "f4"), numpy.full((4, 4), 0.1, "f4"), numpy.zeros(4, "f4"))
    except ImportError:
        return None
    least = float("inf")
    for _ in range(9):
        began = time.perf_counter()
        for _ in range(calls):
            call()
        least = min(least, (time.perf_counter() - began) / calls * 1e9)
    return least


def instructions(command, more, less):
    counts = []
    for calls in (more, less):
        words = [w for w in command if not w.startswith("--calls=")] + ["--calls=%d" % calls]
        said = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"] + words, capture_output=True, text=True, check=True).stderr
        counts.append(int(re.search(r"Collected : (\d+)", said).group(1)))
    return (counts[0] - counts[1]) / (ROUNDS * (more - less))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--calls", required=True, help="the program warm_calls")
    parser.add_argument("--few", action="store_true", help="that it works")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--allocations", action="store_true", help="how often a warm call asks the system's allocator, and not more often than it may")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, source, words in GRAPHS:
            file, graph = os.path.join(folder, "g.df"), os.path.join(folder, "g.graph")
            with open(file, "w", encoding="utf-8") as out:
                out.write(source)
            subprocess.run([args.dfc, file, "-o", graph], check=True)
            command = [args.calls, graph] + words + (["--calls=3"] if args.few else [])
            if args.allocations:
                bare = [word for word in words if word != "--set"]  # looking at results makes views of them
                said = subprocess.run([args.calls, graph, "--calls=1000", "--allocations"] + bare, capture_output=True, text=True, check=True).stdout
                got, most = float(said.split()[0]), MOST_ALLOCATIONS[name]
                print("%-24s %s" % (name, said.strip()))
                if got > most:
                    raise SystemExit("%s: %g allocations in a warm call, and %g are what it may have" % (name, got, most))
                continue
            if args.instructions:
                print("%-24s %.0f instructions a call" % (name, instructions(command, *((2, 1) if "--array" in words[0] else (40, 20)))))
                continue
            said = subprocess.run(command, capture_output=True, text=True)
            if said.returncode:
                raise SystemExit(name + ": " + said.stdout + said.stderr)
            print("%-24s %s" % (name, "; ".join(said.stdout.strip().split("\n"))))
        if not args.instructions and not args.allocations:
            other = onnx_runtime(3 if args.few else 2000)
            print("%-24s %s" % ("ONNX Runtime, three ops", "is not here" if other is None else "%.0f ns a call, from Python" % other))


if __name__ == "__main__":
    main()
