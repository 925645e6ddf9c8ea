#!/usr/bin/env python3
"""What more processors give, by the clock, on a machine that has them: scaling.py --dfc build/dfc [--processes 2 4 8] [--only calls idle training]

calls: fib, queens, tic-tac-toe to the end and a tree of lazy sieves on N processes of one thread (`--local-workers N --threads 1`) and on N threads, beside N copies of one
thread side by side. A figure is the throughput of the one run by that of the copies together, which share what the machine shares.

idle: the processor time of `ack`, of which nothing can be given away, with a second process that has nothing to do, by its time alone: the least of
each, of twice as many rounds. The second process's start is in it.

training: steps of gradient descent (Adagrad) of the TreeLSTM of samples/sentiment with 300 numbers a node, 2,000 words and chunks of 16 trees
(`sumSpread`), on random trees of 10 to 30 words, on 1, 2, 4 .. processes. A step is the difference of runs of many steps and of one. All runs have to
print the same text. `sent` are the bytes that all processes sent in a step.

It is of use only where the processors are idle; medians of the rounds.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

from parallel import ACK, FIB, SIEVES, compiled
from rates import inputs, sized

HERE = os.path.dirname(os.path.abspath(__file__))
QUEENS = ("queens :: Int -> Int\nqueens n = go n []\n  where\n    go 0 _ = 1\n    go k placed = sum [go (k - 1) (q : placed) | q <- [1 .. n], safe q 1 placed]\n"
          "    safe _ _ [] = True\n    safe q d (p : ps) = p /= q && abs (p - q) /= d && safe q (d + 1) ps\n")
TICTACTOE = """import Data.List (transpose)

data Cell = E | X | O deriving (Eq)

type Board = [Cell]

wins :: Cell -> Board -> Bool
wins p b = any (all (== p)) (rows ++ transpose rows ++ [[b !! 0, b !! 4, b !! 8], [b !! 2, b !! 4, b !! 6]])
  where
    rows = [take 3 b, take 3 (drop 3 b), drop 6 b]

other :: Cell -> Cell
other X = O
other _ = X

moves :: Cell -> Board -> [Board]
moves p b = [take i b ++ [p] ++ drop (i + 1) b | (i, E) <- zip [0 ..] b]

value :: Cell -> Board -> Int
value p b
  | wins (other p) b = -1
  | E `notElem` b = 0
  | otherwise = maximum (map (negate . value (other p)) (moves p b))

play :: Int -> Int
play n = sum (map (value O) (take n (moves X (replicate 9 E))))
"""
CALLS = (("fib", FIB, "fib 45", "fib 24"), ("queens", QUEENS, "queens 13", "queens 6"), ("tictactoe", TICTACTOE, "play 9", "value X [X, O, E, E, E, E, E, O, X]"), ("sieves", SIEVES, "pieces 0 1499", "pieces 0 3"))
MAIN = """
main :: String -> Int -> Int -> R
main train batch steps = after (pass (take steps (cycle (batches batch known))) (startAdagrad (newModel 1)) 0)
  where
    known = numberWords (T.length (table (newModel 1))) (fst (readTrees train))
    after (_, total) = total
"""


def seconds(dfc, graph, *options, stats="times"):
    """By the clock, without loading; the output, and the statistics. What counts firings (`json`) takes several times as long."""
    done = subprocess.run([dfc, "run", graph, "--stats=" + stats, *options], capture_output=True, text=True)
    if done.returncode:
        sys.exit("exit code %d\n%s" % (done.returncode, done.stderr))
    found = json.loads(done.stderr.splitlines()[-1])
    return found["run_seconds"], done.stdout, found


def copies(dfc, graph, count):
    """Runs a second of so many copies together, and what they print."""
    started = [subprocess.Popen([dfc, "run", graph, "--stats=times", "--threads=1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(count)]
    rate, texts = 0, set()
    for process in started:
        out, err = process.communicate()
        rate += 1 / json.loads(err)["run_seconds"]
        texts.add(out)
    return rate, texts


def calls(args, folder):
    print("| program | one, s | " + " | ".join("%d processes | %d threads" % (n, n) for n in args.processes) + " |\n|---|---|" + "---|---|" * len(args.processes))
    for name, text, large, small in CALLS:
        expression = small if args.small else large
        graph = compiled(args.dfc, folder, name, text, expression)
        row = ["%.2f" % seconds(args.dfc, graph, "--threads=1")[0]]
        for count in args.processes:
            ratios = ([], [])
            for _ in range(args.rounds):
                ceiling, texts = copies(args.dfc, graph, count)
                for ratio, options in zip(ratios, (("--local-workers=%d" % count, "--threads=1"), ("--threads=%d" % count,))):
                    took, out, _ = seconds(args.dfc, graph, *options)
                    ratio.append(1 / took / ceiling)
                    if {out} != texts:
                        sys.exit("%s: the runs print different results" % name)
            row += ["%.2f" % statistics.median(ratio) for ratio in ratios]
        print("| %s | %s |" % (expression, " | ".join(row)), flush=True)


def idle(args, folder):
    graph = compiled(args.dfc, folder, "ack", ACK, "ack 3 9" if args.small else "ack 3 12")
    least = {}
    for _ in range(2 * args.rounds):
        for options in (("--threads=1",), ("--threads=1", "--local-workers=2")):
            before = os.times()
            subprocess.run([args.dfc, "run", graph, *options], check=True, stdout=subprocess.DEVNULL)
            after = os.times()
            took = after.children_user + after.children_system - before.children_user - before.children_system
            least[options] = min(took, least.get(options, took))
    alone, beside = least.values()
    print("ack: %.3f s of a processor alone, %.3f with an idle process: %.3f" % (alone, beside, beside / alone), flush=True)


def tree(source, words):
    """The text of one of so many leaves."""
    if words == 1:
        word = source.randrange(2000)
        return "(%d w%d)" % (word % 5, word)
    left = source.randrange(1, words)
    return "(%d %s %s)" % (source.randrange(5), tree(source, left), tree(source, words - left))


def training(args, folder):
    with open(os.path.join(HERE, "../../samples/sentiment/treelstm.df")) as file:
        text = sized(file.read().split("-- What a run goes on from")[0], 12 if args.small else 300, 2000)
    program, graph, trees = (os.path.join(folder, name) for name in ("training.df", "training.graph", "trees.txt"))
    with open(program, "w") as file:
        file.write(text.replace("chunk = 5\n", "chunk = 16\n") + MAIN)
    subprocess.run([args.dfc, program, "--no-warnings", "-o", graph], check=True)
    source = random.Random(1)
    with open(trees, "w") as file:
        file.write("".join(tree(source, source.randrange(10, 31)) + "\n" for _ in range(64 if args.small else 2048)))
    counts = [1, *args.processes]
    print("| batch | one process, ms a step | " + " | ".join("%d processes" % n for n in args.processes) + " | sent in a step, MB |\n|---|---|" + "---|" * (len(args.processes) + 1))
    for batch in (32,) if args.small else (64, 256, 1024):
        steps = 3 if args.small else max(4, 2560 // batch)
        took, texts, sent = {}, set(), []
        for count in counts:
            options = ["--threads=1", *(["--local-workers=%d" % count] if count > 1 else [])]
            times = []
            for _ in range(args.rounds):
                few, _, _ = seconds(args.dfc, graph, *options, *inputs(train="@" + trees, batch=batch, steps=1))
                many, out, _ = seconds(args.dfc, graph, *options, *inputs(train="@" + trees, batch=batch, steps=steps))
                times.append((many - few) / (steps - 1))
                texts.add(out)
            took[count] = statistics.median(times)
            if count > 1:
                few, many = (all_sent(seconds(args.dfc, graph, *options, *inputs(train="@" + trees, batch=batch, steps=n), stats="json")[2]) for n in (1, 2))
                sent.append((many - few) / 1e6)
        if len(texts) != 1:
            sys.exit("the runs print different results: %s" % texts)
        print("| %d | %.1f | %s | %s |" % (batch, took[1] * 1e3, " | ".join("%.2f" % (took[1] / took[n]) for n in args.processes),
                                          ", ".join("%.0f" % mega for mega in sent)), flush=True)


def all_sent(stats):
    return sum(link["bytes_out"] for process in stats.get("processes", []) for link in process["links"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--processes", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", default=["calls", "idle", "training"])
    parser.add_argument("--small", action="store_true", help="inputs that take no time, to test this program")
    args = parser.parse_args()
    args.dfc = os.path.abspath(args.dfc)
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        for part in args.only:
            {"calls": calls, "idle": idle, "training": training}[part](args, folder)
        print("%.0f s" % (time.monotonic() - began), file=sys.stderr)


if __name__ == "__main__":
    main()
