#!/usr/bin/env python3
"""Graphs cut by node at random give what they give in one piece; and what crosses a cut, counted.

    cut.py --dfc build/dfc                    some programs, cut in a few ways: a test
    cut.py --dfc build/dfc --all [--every N]  every program of the tests that ends soon enough, or every Nth
    cut.py --dfc build/dfc --table [--seeds N]    the table of docs/cut.md: the programs of the model and the paper's examples

A cut puts each node on any of 2, 3 or 5 parts. Messages between parts are taken in random order. What is compared is the exit code, what is printed, and
errors with their call paths. The reference engine runs all of it.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODEL = os.path.join(ROOT, "tests", "model")
TIMEOUT = 120
SLOW = 1.5  # seconds in one piece: what takes longer is left out

# What the paper runs, on small numbers, and a loop. The last is the 68th program of the model, which has a zero that our graphs do not have: from source.
PAPER = {
    "fact": "fact :: Int -> Int\nfact n = if n == 1 then n else n * fact (n - 1)\nmain = fact 3 + 5\n",
    "fib": "fib :: Int -> Int\nfib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\nmain = fib 12\n",
    "ack": "ack :: Int -> Int -> Int\nack m n = if m == 0 then n + 1 else if n == 0 then ack (m - 1) 1 else ack (m - 1) (ack m (n - 1))\nmain = ack 2 3\n",
    "tak": "tak :: Int -> Int -> Int -> Int\ntak x y z = if y >= x then z else tak (tak (x - 1) y z) (tak (y - 1) z x) (tak (z - 1) x y)\nmain = tak 6 4 2\n",
    "primes": "noDivisor :: Int -> Int -> Bool\nnoDivisor k d = if d * d > k then True else if k `mod` d == 0 then False else noDivisor k (d + 1)\n"
              "count :: Int -> Int -> Int\ncount k n = if k > n then 0 else (if noDivisor k 2 then 1 else 0) + count (k + 1) n\nmain = count 2 60\n",
    "loop": "sumTo :: Int -> Int -> Int\nsumTo n s = if n == 0 then s else sumTo (n - 1) (s + n)\nmain = sumTo 50 0\n",
    "tree": "data Tree = Leaf Double | Node Tree Tree\nf :: Double -> Tree -> Double\nf w (Leaf x) = x * w\nf w (Node a b) = tanh (f w a + w * f w b)\n"
            "main = valueAndGrad (\\w -> f w (Node (Node (Leaf 1) (Leaf 2)) (Node (Leaf 3) (Node (Leaf 4) (Leaf 5))))) (0.5 :: Double)\n",
    "delayed": "myIf :: Bool -> Double -> Double -> Double\nmyIf c a b = if c then a else b\nh :: Int -> Double -> Double\n"
               "h n w = myIf (n == 0) w (w * h (n - 1) w)\nmain = valueAndGrad (h 3) (1.3 :: Double)\n",
}
HEADERS = {"tree": "import Gradient\n", "delayed": "import Gradient\n"}

# The rows of the table: a name, the options of a run.
MODES = (
    ("by name", ("--recv=by-name",)),
    ("scheduled", ("--recv=scheduled",)),
    ("by name, with losses", ("--recv=by-name", "--losses=2")),
    ("scheduled, with losses", ("--recv=scheduled", "--losses=2")),
    ("by name, dead tokens withheld at the cut", ("--recv=by-name", "--dead=withheld")),
    ("scheduled, dead tokens withheld at the cut", ("--recv=scheduled", "--dead=withheld")),
    ("by name, no dead tokens", ("--recv=by-name", "--dead=none")),
    ("by name, no dead tokens, with losses", ("--recv=by-name", "--dead=none", "--losses=2")),
)
PARTS = (2, 3, 5)


class Runner:
    def __init__(self, dfc, folder):
        self.dfc, self.folder = dfc, folder

    def run(self, *words, stdin=b""):
        return subprocess.run([self.dfc, *words], cwd=self.folder, input=stdin, capture_output=True, timeout=TIMEOUT, env={**os.environ, "NO_COLOR": "1"})

    def compiled(self, path):
        """The program as a graph file, or None if it is no program by itself."""
        out = os.path.join(self.folder, path.replace("/", "_") + ".graph")
        done = subprocess.run([self.dfc, path, "-o", out, "--no-warnings"], cwd=os.path.dirname(path), capture_output=True, timeout=TIMEOUT)
        return out if done.returncode == 0 else None

    def source(self, name):
        path = os.path.join(self.folder, name + ".df")
        with open(path, "w", encoding="utf-8") as file:
            file.write(HEADERS.get(name, "") + PAPER[name])
        graph = self.compiled(path)
        assert graph, "%s does not compile" % name
        return graph


def stats_of(done):
    """What the program itself has said, and the figures of --stats=json below it."""
    lines = done.stderr.decode("utf-8", "replace").rstrip("\n").split("\n")
    try:
        return "\n".join(lines[:-1]), json.loads(lines[-1])
    except ValueError:
        return "\n".join(lines), {}


def said(done, err):
    return done.returncode, done.stdout, err.rstrip("\n")


def differences(runner, graph, cuts, stdin=b"", modes=MODES[:2], limit=20):
    """What differs of runs in several cuts and modes from the run in one piece; None if that is too long."""
    try:
        whole = subprocess.run([runner.dfc, "run", graph, "--engine=reference", "--timeout=%gs" % SLOW], cwd=runner.folder, input=stdin,
                               capture_output=True, timeout=TIMEOUT, env={**os.environ, "NO_COLOR": "1"})
    except subprocess.TimeoutExpired:
        return None
    if whole.returncode == 3:
        return None
    wanted = said(whole, whole.stderr.decode("utf-8", "replace"))
    faults = []
    for parts, seed in cuts:
        for name, options in modes:
            words = ["run", graph, "--parts=%d" % parts, "--cut-seed=%d" % seed, "--seed=%d" % seed, "--timeout=%ds" % limit, *options]
            done = runner.run(*words, stdin=stdin)
            if done.returncode == 3:
                continue  # many messages take their time
            got = said(done, done.stderr.decode("utf-8", "replace"))
            if got != wanted:
                faults.append("dfc %s\n  wanted %r\n  got    %r" % (" ".join(words), wanted, got))
    return faults


def programs_of_tests():
    for folder in ("samples", "tests/programs", "tests/call_paths", "tests/io"):
        for path in sorted(glob.glob(os.path.join(ROOT, folder, "**", "*.df"), recursive=True)):
            with open(path, encoding="utf-8", errors="replace") as file:
                if "\nmain" in file.read():
                    yield path


def check(runner, every, step):
    """The model's programs and some of the others; or all of them."""
    model = sorted(glob.glob(os.path.join(MODEL, "*.tagged")))
    subjects = [(path, ((2, 3), (5, 4)) if every else ((3, 5),), MODES[:4]) for path in model[:: 1 if every else 4]]
    subjects += [(runner.source(name), ((2, 1), (5, 2)), MODES[:4]) for name in PAPER]
    subjects += [(path, ((2, 7), (4, 8)) if every else ((3, 9),), MODES[:2]) for path in list(programs_of_tests())[:: step if every else 24]]
    checked = left_out = 0
    failed = []

    def one(subject):
        path, cuts, modes = subject
        stdin = b""
        if os.path.exists(path[: -len(".df")] + ".in"):
            with open(path[: -len(".df")] + ".in", "rb") as file:
                stdin = file.read()
        graph = runner.compiled(path) if path.endswith(".df") else path
        return differences(runner, graph, cuts, stdin, modes) if graph else None

    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        for faults in pool.map(one, subjects):
            if faults is None:
                left_out += 1
            else:
                checked += 1
                failed += faults
    for fault in failed:
        print(fault)
    print("%d programs, %d left out since they take long or do not run by themselves, %d runs differ" % (checked, left_out, len(failed)))
    return not failed and checked > 20


COLUMNS = ("tokens", "dead", "sent", "sent_triggers", "sent_dead", "sent_control", "withheld", "cell_messages", "told", "skeleton_firings", "receives_left",
           "untaken", "records_left", "waves", "lost", "repeated")


def table(runner, seeds):
    """Sums over the programs of each group, each cut into 2, 3 and 5 parts with so many seeds."""
    groups = (("the model", sorted(glob.glob(os.path.join(MODEL, "*.tagged"))) + [runner.source("delayed")]),
              ("the paper", [runner.source(name) for name in PAPER if name != "delayed"]))
    for group, graphs in groups:
        wanted = {}
        for graph in graphs:
            done = runner.run("run", graph, "--engine=reference")
            wanted[graph] = said(done, done.stderr.decode("utf-8", "replace"))
        for mode, options in MODES:
            sums = dict.fromkeys(COLUMNS, 0)
            wrong, by_program = 0, {}
            tasks = [(graph, parts, seed) for graph in graphs for parts in PARTS for seed in range(1, seeds + 1)]

            def one(task):
                graph, parts, seed = task
                done = runner.run("run", graph, "--parts=%d" % parts, "--cut-seed=%d" % (seed * 7 + parts), "--seed=%d" % seed, "--run-dry", "--stats=json", *options)
                err, figures = stats_of(done)
                return graph, said(done, err), figures.get("cut", {})

            with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
                for graph, got, cut in pool.map(one, tasks):
                    if got != wanted[graph]:
                        wrong += 1
                        name = os.path.basename(graph).split(".")[0]
                        by_program[name] = by_program.get(name, 0) + 1
                    for column in COLUMNS:
                        sums[column] += cut.get(column, 0)
            print("%s, %s: %d runs, %d wrong%s" % (group, mode, len(tasks), wrong, " " + json.dumps(by_program) if by_program else ""))
            print("    " + ", ".join("%s %d" % (column, sums[column]) for column in COLUMNS), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(os.path.abspath(arguments.dfc), folder)
        if arguments.table:
            table(runner, arguments.seeds)
        elif not check(runner, arguments.all, arguments.every):
            sys.exit(1)


if __name__ == "__main__":
    main()
