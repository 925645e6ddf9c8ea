#!/usr/bin/env python3
"""Processor time and peak memory of programs of tests/programs/haskell at larger sizes, against GHC in the same run.

    python3 tests/bench/haskell.py --dfc build/dfc [--runs 3] [--only NAME] [--no-ghc] [--compile]

Each program keeps its text but for `main`, which computes the expression below. Measured are `dfc run FILE`, compilation
included; `runghc FILE`, GHC's interpreter, which also loads the file; and what `ghc -O0` has compiled, without that
compilation. A row has medians over the runs; all three must print the same. --compile measures instead how long dfc takes
for programs of 1,250 to 10,000 lines (long_program.py).
"""

import argparse
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from case_lines import without_main  # noqa: E402
from long_program import program as long_program  # noqa: E402

PROGRAMS = [
    ("queens", "length (queens 9)"),
    ("sieves", "trial !! 12000"),
    ("hamming", "hamming !! 100000 `mod` 1000000007"),
    ("collatz", "maximumBy (comparing steps) [1 .. 30000]"),
    ("knapsack", "sum [best c things | c <- [100, 110 .. 1500]]"),
    ("edit_distance", "byRows (take 500 (cycle \"tagged\")) (take 600 (cycle \"dataflow\"))"),
    ("life", "Set.size (iterate step rPentomino !! 120)"),
    ("huge_numbers", "sum (take 2500 piDigits)"),
    ("redblack", "length (toList (foldl' (flip insert) E (take 30000 (iterate (\\x -> (x * 97 + 31) `mod` 100003) 5))))"),
    ("mandelbrot", "length (filter (== '#') (concat (picture 180 60)))"),
    ("sorting", "sum (take 100 (merge (take 50000 (iterate (\\x -> (x * 57 + 11) `mod` 100003) (3 :: Int)))))"),
    ("tictactoe", "winner (last (play X (replicate 9 Nothing)))"),
]


def program_text(name, expression):
    """A program of tests/programs/haskell whose main prints the expression."""
    with open(os.path.join(ROOT, "tests/programs/haskell", name + ".df"), encoding="utf-8") as file:
        return without_main(file.read()) + "\nmain :: IO ()\nmain = print (%s)\n" % expression


def measure(words, folder):
    """(seconds, peak MiB, what it printed)"""
    with open(os.path.join(folder, "out"), "w+b") as out, open(os.path.join(folder, "err"), "w+b") as err:
        process = subprocess.Popen(words, stdout=out, stderr=err, cwd=folder)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = usage.ru_utime + usage.ru_stime  # of the process and of those it waited for
        out.seek(0)
        printed = out.read().decode(errors="replace")
        err.seek(0)
        said = err.read().decode(errors="replace")
    if status:
        raise RuntimeError("%s: exit status %d\n%s" % (" ".join(words), status, said[-500:]))
    return seconds, usage.ru_maxrss / 1024, printed


def medians(words, folder, runs):
    samples = [measure(words, folder) for _ in range(runs)]
    return (statistics.median(s[0] for s in samples), statistics.median(s[1] for s in samples), samples[0][2])


def compare(dfc, runs, only, with_ghc):
    print("| program | dfc | runghc | ghc -O0 | runghc : dfc | ghc -O0 : dfc |\n|---|---|---|---|---|---|")
    against = {"runghc": [], "ghc -O0": []}
    for name, expression in PROGRAMS:
        if only and name != only:
            continue
        text = program_text(name, expression)
        with tempfile.TemporaryDirectory() as folder:
            for path in ("Main.hs", "main.df"):
                with open(os.path.join(folder, path), "w", encoding="utf-8") as file:
                    file.write(text)
            ours = medians([dfc, "run", "main.df"], folder, runs)
            cells, ratios = ["%.2f s, %.0f MiB" % ours[:2]], []
            if with_ghc:
                subprocess.run(["ghc", "-O0", "-v0", "Main.hs"], cwd=folder, check=True)
                for label, words in (("runghc", ["runghc", "Main.hs"]), ("ghc -O0", ["./Main"])):
                    theirs = medians(words, folder, runs)
                    if theirs[2] != ours[2]:
                        raise RuntimeError("%s: dfc prints %s, %s prints %s" % (name, ours[2], label, theirs[2]))
                    cells.append("%.2f s, %.0f MiB" % theirs[:2])
                    ratios.append("%.2f" % (theirs[0] / ours[0]))
                    against[label].append(theirs[0] / ours[0])
            print("| %s | %s |" % (name, " | ".join(cells + ratios)), flush=True)
    for label, ratios in against.items():
        if ratios:
            print("geometric mean of %s : dfc is %.2f" % (label, math.exp(statistics.fmean(map(math.log, ratios)))))


def compile_times(dfc, runs):
    print("| lines | to a graph file | peak memory |\n|---|---|---|")
    for lines in (1250, 2500, 5000, 10000):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "long.df"), "w", encoding="utf-8") as file:
                file.write(long_program(lines))
            seconds, memory, _ = medians([dfc, "long.df", "-o", "long.graph"], folder, runs)
        print("| %d | %.2f s | %.0f MiB |" % (lines, seconds, memory), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only")
    parser.add_argument("--no-ghc", action="store_true")
    parser.add_argument("--compile", action="store_true")
    args = parser.parse_args()
    dfc = os.path.abspath(args.dfc)
    if args.compile:
        return compile_times(dfc, args.runs)
    if not args.no_ghc and not shutil.which("runghc"):
        sys.exit("GHC is not installed; --no-ghc measures dfc alone")
    compare(dfc, args.runs, args.only, not args.no_ghc)


if __name__ == "__main__":
    main()
