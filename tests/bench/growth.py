#!/usr/bin/env python3
"""How the time and the graph of a program grow with its length, for kinds of code that generators write.

    growth.py --dfc build/dfc [--other OTHER_DFC] [--lines N] [KIND]...

Each kind is compiled at N and at 4 N of its lines, 1,000 and 4,000 without --lines, and its graph is run once. Printed are seconds of
the processor to compile and to run, the graph's size, and how often the larger program takes what the smaller takes: 4 is linear.
--other compares with a second program in turn.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile


def lines(first, line, n, last=()):
    return "\n".join([first, *(line(i) for i in range(n)), *last]) + "\n"


def data_of(n, classes, fields=""):
    return "data T = %s deriving (%s)" % (" | ".join("C%d%s" % (i, fields) for i in range(n)), classes)


KINDS = {
    "statements": lambda n: lines("main :: IO ()\nmain = do", lambda i: '  putStrLn "line %d"' % i, n),
    "State": lambda n: lines("import Control.Monad.State\nmain :: IO ()\nmain = print (execState f 0)\nf :: State Int ()\nf = do",
                             lambda i: "  modify (+ %d)" % i, n),
    "where": lambda n: lines("main :: IO ()\nmain = print (f 3)\nf :: Int -> Int\nf a = if a > 2 then x%d else 0\n where\n  x0 = a" % n,
                             lambda i: "  x%d = if a > %d then x%d * 3 + a else x%d + x%d" % (i + 1, i, i, i // 2, i), n),
    "local functions": lambda n: lines("main :: IO ()\nmain = print (f 3)\nf :: Int -> Int\nf a = g%d a\n where\n  g0 x = x + a" % n,
                                       lambda i: "  g%d x = g%d (x + a)" % (i + 1, i), n),
    "functions": lambda n: lines("main :: IO ()\nmain = interact (\\s -> show (f%d (length s)))\nf0 :: Int -> Int\nf0 x = x" % n,
                                 lambda i: "f%d :: Int -> Int\nf%d 0 = 1\nf%d n = n * f%d (n - 1)" % (i + 1, i + 1, i + 1, i), n),
    "clauses": lambda n: lines("main :: IO ()\nmain = print (f 5)\nf :: Int -> Int", lambda i: "f %d = %d" % (i, i * 7 % 1001), n, ["f _ = 0"]),
    "list": lambda n: "main :: IO ()\nmain = print (sum xs)\nxs :: [Int]\nxs = [%s]\n" % ", ".join(str(i * 7 % 1000) for i in range(n)),
    "strings": lambda n: "main :: IO ()\nmain = print (length (concat xs))\nxs :: [String]\nxs = [%s]\n" % ", ".join('"s%d"' % i for i in range(n)),
    "enumeration": lambda n: "%s\nmain :: IO ()\nmain = print [minBound .. maxBound :: T]\n" % data_of(n, "Eq, Ord, Show, Read, Enum, Bounded"),
    "constructors": lambda n: "%s\nmain :: IO ()\nmain = print (max (C1 1 True) (C2 2 True))\n" % data_of(n, "Eq, Ord, Show", " Int Bool"),
}


def measured(args):
    """Seconds of the processor of one command, which must succeed within ten minutes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(args, check=True, stdout=subprocess.DEVNULL, timeout=600)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def row(dfc, folder, text):
    source, graph = os.path.join(folder, "p.df"), os.path.join(folder, "p.graph")
    with open(source, "w") as file:
        file.write(text)
    compile_s = measured([dfc, source, "--no-warnings", "-o", graph])
    return compile_s, measured([dfc, "run", graph, "--threads", "1"]), os.path.getsize(graph) / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--other")
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("kinds", nargs="*", metavar="KIND")
    args = parser.parse_args()
    unknown = set(args.kinds) - set(KINDS)
    if unknown:
        sys.exit("no such kind: %s; there are %s" % (", ".join(sorted(unknown)), ", ".join(KINDS)))
    print("| kind | program | compile s, %d and %d lines | run s | graph MB | growth: compile, run, graph |" % (args.lines, 4 * args.lines))
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for kind in args.kinds or KINDS:
            for name, dfc in (("this", args.dfc), ("other", args.other)):
                if not dfc:
                    continue
                try:
                    small, large = (row(dfc, folder, KINDS[kind](n)) for n in (args.lines, 4 * args.lines))
                except subprocess.SubprocessError as error:
                    print("| %s | %s | %s |" % (kind, name, error))
                    continue
                cells = ["%.2f, %.2f" % (a, b) for a, b in zip(small, large)]
                print("| %s | %s | %s | %s |" % (kind, name, " | ".join(cells), ", ".join("%.1f" % (b / max(a, 0.005)) for a, b in zip(small, large))), flush=True)


if __name__ == "__main__":
    main()
