#!/usr/bin/env python3
"""Processor time and peak memory of programs of tests/programs/haskell at larger sizes, against GHC in the same run.

    python3 tests/bench/haskell.py --dfc build/dfc [--runs 3] [--only NAME] [--no-ghc] [--compile]

Each program keeps its text but for `main`, which computes the first expression below: at least a second of work for GHC's
interpreter. Measured are

    dfc       `dfc run` of the graph file, one thread; compilation to that file is a column of its own
    GHCi      `runghc FILE`; its start-up, loading the file included, is what the same file takes with `main = print 0`, is taken
              off, and is a column of its own. GHC's libraries are compiled code there: only the program itself is interpreted
    ghc -O0   what `ghc -O0` has compiled, without that compilation

The runs of all three are taken in turn, and a row has the medians over them; all must print the same. A ratio above 1 says
that dfc is faster. --compile measures instead how long dfc takes for programs of 1,250 to 10,000 lines (long_program.py).
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
sys.path.insert(0, os.path.join(ROOT, "tests", "harness"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from case_lines import without_main  # noqa: E402
from long_program import program as long_program  # noqa: E402

# Name, expression, and a smaller one for what has to run many times (optimisations.py).
PROGRAMS = [
    ("queens", "length (queens 11)", "length (queens 9)"),
    ("sieves", "trial !! 35000", "trial !! 12000"),
    ("hamming", "hamming !! 800000 `mod` 1000000007", "hamming !! 100000 `mod` 1000000007"),
    ("collatz", "maximumBy (comparing steps) [1 .. 10000]", "maximumBy (comparing steps) [1 .. 5000]"),
    ("knapsack", "sum [best c things | c <- [100, 102 .. 3600]]", "sum [best c things | c <- [100, 110 .. 1500]]"),
    ("edit_distance", "byRows (take 1000 (cycle \"tagged\")) (take 1200 (cycle \"dataflow\"))",
     "byRows (take 500 (cycle \"tagged\")) (take 600 (cycle \"dataflow\"))"),
    ("life", "Set.size (iterate step rPentomino !! 700)", "Set.size (iterate step rPentomino !! 120)"),
    ("huge_numbers", "sum (take 8000 piDigits)", "sum (take 2500 piDigits)"),
    ("redblack", "length (toList (foldl' (flip insert) E (take 200000 (iterate (\\x -> (x * 97 + 31) `mod` 1000003) 5))))",
     "length (toList (foldl' (flip insert) E (take 30000 (iterate (\\x -> (x * 97 + 31) `mod` 100003) 5))))"),
    ("mandelbrot", "length (filter (== '#') (concat (picture 400 130)))", "length (filter (== '#') (concat (picture 180 60)))"),
    ("sorting", "sum (take 100 (merge (take 400000 (iterate (\\x -> (x * 57 + 11) `mod` 1000003) (3 :: Int)))))",
     "sum (take 100 (merge (take 50000 (iterate (\\x -> (x * 57 + 11) `mod` 100003) (3 :: Int)))))"),
    # All games that begin with up to two marks on the board.
    ("tictactoe", "length (filter (== Just X) [winner (last (play X [if k == i then Just O else if k == j then Just X else Nothing "
                  "| k <- [0 .. 8]])) | i <- [-1 .. 8 :: Int], j <- [0 .. 8]])",
     "winner (last (play X (replicate 9 Nothing)))"),
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


def prepare(dfc, name, expression, with_ghc, folder):
    """Writes and compiles a program in `folder`: the commands to be measured, by the label of their column."""
    for path, text in (("main", program_text(name, expression)), ("Zero", program_text(name, "0"))):
        for ending in (".df", ".hs"):
            with open(os.path.join(folder, path.title() + ending), "w", encoding="utf-8") as file:
                file.write(text)
    commands = {"compile": [dfc, "Main.df", "--no-warnings", "-o", "main.graph"],
                "dfc": [dfc, "run", "main.graph", "--threads=1"]}
    if with_ghc:
        subprocess.run(["ghc", "-O0", "-v0", "Main.hs"], cwd=folder, check=True)
        commands.update({"start": ["runghc", "Zero.hs"], "GHCi": ["runghc", "Main.hs"], "ghc -O0": ["./Main"]})
    return commands


def compare(dfc, runs, only, with_ghc):
    peers = ("GHCi", "ghc -O0") if with_ghc else ()
    heads = ["program", "dfc", "compilation", *peers] + ["start of GHCi"] * with_ghc
    heads += ["%s : dfc" % peer for peer in peers] + ["memory, %s : dfc" % peer for peer in peers]
    print("| %s |\n%s|" % (" | ".join(heads), "|---" * len(heads)))
    ratios = {peer: [] for peer in peers}
    for name, expression, _ in PROGRAMS:
        if only and name != only:
            continue
        with tempfile.TemporaryDirectory() as folder:
            commands = prepare(dfc, name, expression, with_ghc, folder)
            samples = {label: [] for label in commands}
            for _ in range(runs):
                for label, words in commands.items():
                    samples[label].append(measure(words, folder))
        seconds = {label: statistics.median(s[0] for s in rows) for label, rows in samples.items()}
        memory = {label: statistics.median(s[1] for s in rows) for label, rows in samples.items()}
        if with_ghc:
            seconds["GHCi"] -= seconds["start"]
        cells = [name, "%.2f s, %.0f MiB" % (seconds["dfc"], memory["dfc"]), "%.2f s" % seconds["compile"]]
        for peer in peers:
            if samples[peer][0][2] != samples["dfc"][0][2]:
                raise RuntimeError("%s: dfc prints %s, %s prints %s" % (name, samples["dfc"][0][2], peer, samples[peer][0][2]))
            cells.append("%.2f s, %.0f MiB" % (seconds[peer], memory[peer]))
            ratios[peer].append((seconds[peer] / seconds["dfc"], memory[peer] / memory["dfc"]))
        if with_ghc:
            cells.append("%.2f s" % seconds["start"])
        cells += ["%.2f" % ratios[peer][-1][of] for of in (0, 1) for peer in peers]
        print("| %s |" % " | ".join(cells), flush=True)
    for peer, rows in ratios.items():
        if rows:
            means = [math.exp(statistics.fmean(math.log(row[of]) for row in rows)) for of in (0, 1)]
            print("geometric means of %s : dfc are %.2f in time and %.2f in memory" % (peer, *means))


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
