#!/usr/bin/env python3
"""What a piece costs that dfc.ray.map computes, beside one for which an actor starts the command line: milliseconds a piece, and their ratio, of one run.

    ray_calls.py [--pieces 40] [--actors 1]
"""

import argparse
import os
import subprocess
import tempfile
import time

import dfc
import dfc.ray
import ray
from dfc import _program

FIB = "fib :: Int -> Int\nfib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\n"
MAIN = "\nmain :: Int -> Int\nmain n = fib n\n"


@ray.remote(num_cpus=1)
class CommandLine:
    """What somebody writes who has no module: each piece is a run of the program."""

    def run(self, file, n):
        return int(subprocess.run([_program.path(), "run", file, "--threads", "1", "--input", "n=%d" % n], capture_output=True, text=True, check=True).stdout)


def milliseconds(pieces, compute):
    began = time.perf_counter()
    compute(pieces)
    return (time.perf_counter() - began) * 1000 / len(pieces)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pieces", type=int, default=40)
    parser.add_argument("--actors", type=int, default=1)
    args = parser.parse_args()
    ray.init(num_cpus=args.actors + 1, include_dashboard=False, log_to_driver=False)
    program = dfc.compile(FIB, export="fib", threads=1)
    # A piece that computes so long by itself.
    largest = 20
    while min(milliseconds([largest], lambda pieces: program.fib(pieces[0])) for _ in range(5)) < 50 and largest < 45:
        largest += 1
    with tempfile.TemporaryDirectory() as folder:
        source, graph = os.path.join(folder, "fib.df"), os.path.join(folder, "fib.graph")
        with open(source, "w", encoding="utf-8") as file:
            file.write(FIB + MAIN)
        subprocess.run([_program.path(), source, "-o", graph], check=True)
        actors = [CommandLine.remote() for _ in range(args.actors)]
        ray.get([actor.run.remote(graph, 1) for actor in actors])
        spread = lambda file: lambda pieces: ray.get([actors[i % len(actors)].run.remote(file, n) for i, n in enumerate(pieces)])
        print("%-30s %10s %16s %16s" % ("a piece", "map", "a .graph", "a source"))
        with dfc.ray.actors(program, "fib", args.actors) as there:
            there.map([1] * args.actors)
            for name, n in (("fib 10: nothing to compute", 10), ("fib %d: 50 ms by itself" % largest, largest)):
                pieces = [n] * args.pieces
                mine = milliseconds(pieces, there.map)
                others = [milliseconds(pieces, spread(file)) for file in (graph, source)]
                print("%-30s %7.2f ms %s" % (name, mine, " ".join("%7.1f ms %4.1f x" % (other, other / mine) for other in others)))
        began = time.perf_counter()
        dfc.ray.map(program, "fib", [1], actors=1)
        print("an actor starts and ends in %.0f ms" % ((time.perf_counter() - began) * 1000))


if __name__ == "__main__":
    main()
