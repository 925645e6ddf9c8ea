#!/usr/bin/env python3
"""The forward pass is never executed twice: a function's ops fire exactly as often under valueAndGrad as alone.

    firings.py --dfc build/dfc

Each program applies `tanh` only in its forward pass, because the derivative of tanh uses its result. The traces of the reference
and the demand engine say how often it fired, in the function alone and under valueAndGrad; the statistics of all engines how
many delayed expressions were forced. Most programs delay something: what is delayed and used must be computed once, what is
delayed and not used not at all.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

# What is named `slow` is a call that may not be needed, so that it is delayed, and large enough not to be inlined.
PRELUDE = """import Gradient

slow :: Int -> Double -> Double
slow n x = if n <= 0 then tanh x else slow (n - 1) (tanh x * 0.9) + 0.1 * x

"""
UNUSED = "delayed and not used"
PROGRAMS = {
    "a call": "f x = slow 3 x * x",
    "several calls in one body": "f x = if x > 5 then x else f (x + 2) * slow 2 x + f (x + 3) * x",
    "mutual recursion": "f x = even' 5 x\neven' n x = if n == (0 :: Int) then tanh x else odd' (n - 1) (x * 0.5)\n"
                        "odd' n x = if n == 0 then x else tanh (even' (n - 1) (tanh x))",
    "an early exit": "f x = go 10 x where go n y = if n == (0 :: Int) || y > 3 then y else go (n - 1) (y + tanh y)",
    "delayed and used once": "f x = pick 1 (slow 3 x) x",
    "delayed and used often": "f x = sum [pick n d x | n <- [0 .. 5]] where d = slow 3 x",
    UNUSED: "f x = pick 2 (slow 3 x) x",
    "delayed in a delayed": "f x = pick 1 d x where { d = pick 1 e x + x; e = slow 2 x }",
    "passed on in a recursion": "f x = go 6 (slow 2 x) where go n d = if n == (0 :: Int) then x else if n == 3 then d * go (n - 1) d else go (n - 1) d",
    "elements of a lazy list": "f x = sum (take 4 (from x)) where from y = slow 1 y : from (y * 0.8)",
    "some elements of a list": "f x = xs !! 2 + xs !! 2 * xs !! 4 where xs = map (slow 1) [x, x + 1, x + 2, x + 3, x + 4]",
    "a lazy field": "f x = left (build 3 x) where { left (a, b) = a * x; build n y = (slow n y, slow (n + 1) y) }",
    "used as a condition alone": "f x = if d > 0.5 then x * x else x where d = pick 1 (slow 3 x) x",
    "a closure": "f x = twice (choose 1) x where { d = slow 2 x; choose n = if n == (1 :: Int) then \\y -> y * d else \\y -> y; twice g y = g (g y) }",
}
COMMON = "\npick :: Int -> Double -> Double -> Double\npick n d x = if n `mod` 2 == 0 then x else if n > 100 then pick (n - 2) d (x * 2) else d * x\n"
ALONE = "main = f 0.7\n"
PAIRED = "main = case valueAndGrad f 0.7 of (v, g) -> v + g\n"


def counts(dfc, graph, engine):
    """How often tanh fired (None where no trace says it), and how many delayed expressions were forced."""
    tanh = None
    if engine in ("reference", "demand"):
        done = subprocess.run([dfc, "run", graph, "--engine=" + engine, "--trace"], capture_output=True, timeout=120, check=True)
        lines = [line for line in (done.stdout + done.stderr).decode().splitlines() if re.match(r"%\d+ Tanh ", line)]
        tanh = sum(not line.endswith("stored") for line in lines)
    # What is computed before anybody asks, as the tagged engine does where it is cheap, is another matter.
    only_asked = ["--without=eager"] if engine == "tagged" else []
    done = subprocess.run([dfc, "run", graph, "--engine=" + engine, "--stats", *only_asked], capture_output=True, timeout=120, check=True)
    return tanh, int(re.search(r"of them forced +(\d+)", done.stderr.decode()).group(1))


def compile_both(dfc, folder, text, mode, flags):
    """The graphs of the function alone and under valueAndGrad."""
    graphs = []
    for index, end in enumerate((ALONE, PAIRED)):
        source = os.path.join(folder, "f%d.df" % index)
        with open(source, "w", encoding="utf-8") as file:
            file.write(PRELUDE + "f :: Double -> Double\n" + text + "\n" + COMMON + end)
        graphs.append(source[:-3] + ".graph")
        subprocess.run([dfc, source, "-o", graphs[-1], *mode, *flags], check=True)
    return graphs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    args = parser.parse_args()
    failed = delayed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in PROGRAMS.items():
            for mode in ((), ("--no-optimize",), ("--gradient=table",)):
                graphs = compile_both(args.dfc, folder, text, mode, [])
                for engine in ("tagged", "reference", "demand", "expanding"):
                    (alone, forced), (paired, forced_paired) = (counts(args.dfc, graph, engine) for graph in graphs)
                    delayed += forced
                    if (alone == 0) != (name == UNUSED and alone is not None):
                        print("%s: tanh fires %s times" % (name, alone))
                        failed += 1
                    # At -O0 what main does with the result is delayed too.
                    if alone != paired or (mode != ("--no-optimize",) and forced != forced_paired):
                        print("%s, %s %s: tanh fires %s times alone, %s under valueAndGrad; %d and %d are forced" % (
                            name, engine, " ".join(mode), alone, paired, forced, forced_paired))
                        failed += 1
            # The naive gradient does compute things twice, wherever there is a call: so this test would see it.
            alone, naive = (counts(args.dfc, graph, "reference")[0]
                            for graph in compile_both(args.dfc, folder, text, ("--no-optimize",), ["--gradient=recompute"]))
            if naive <= alone and name != UNUSED:
                print("%s: tanh fires %d times alone, %d under the naive gradient" % (name, alone, naive))
                failed += 1
    if not delayed:
        print("nothing was delayed")
        failed += 1
    print("%d programs, %d failures" % (len(PROGRAMS), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
