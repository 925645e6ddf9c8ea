#!/usr/bin/env python3
"""What a process has at most is what --max-memory says: of values of each kind, on every engine.

    memory_limits.py --dfc build/dfc [--only WORD]

A program grows until the limit ends it; on two threads one of two consumers may keep up with the other, and then it comes to its end. The
process may then have had 5% more than the limit, beside what the program dfc has with a small run of the same source. A program that does not
come to the smaller limit in its time is not given the larger one: it would be the same run again. (The expanding engine copies bodies, and takes
long to need much.) Runs are processes of their own, and go side by side.
"""

import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile

ENGINES = ("tagged", "tagged on two threads", "reference", "demand", "expanding")
MEGABYTES = (64, 256)
SECONDS = {64: 8, 256: 12}  # a run that will come to its limit does so in a half of that
SECONDS_EXPANDING = 3
THREADS = 64 << 20  # what two threads have freed and keep, each for itself
SMALL = 16 << 20  # what is there once whatever the limit is: a chunk of small blocks, pieces of the heap

PROGRAMS = {
    "tensors in a list": ("import qualified Tensor as T\nmain :: Int -> Float\n"
                          "main n = sum (map T.sum ts) + T.sum (last ts)\n"
                          "  where ts = take n (iterate (+ 1) (T.ones :: Tensor Float [512, 512]))\n"),
    "small tensors": ("import qualified Tensor as T\nmain :: Int -> Float\n"
                      "main n = sum (map T.sum ts) + T.sum (last ts)\n"
                      "  where ts = take n (iterate (+ 1) (T.ones :: Tensor Float [5, 7]))\n"),
    "tensors of several sizes": ("import qualified Tensor as T\nmain :: Int -> Float\n"
                                 "main n = sum (map T.sum as) + sum (map T.sum bs) + T.sum (last as) + T.sum (last bs)\n"
                                 "  where\n    as = take n (iterate (+ 1) (T.ones :: Tensor Float [300, 100]))\n"
                                 "    bs = take n (map (\\a -> T.matmul a (T.transpose a)) as)\n"),
    "numbers": "main :: Int -> Int\nmain n = let xs = take n (iterate (+ 1) 5) in sum xs + last xs\n",
    "large Integers": ("main :: Int -> Integer\nmain n = let xs = take n (iterate (\\x -> x + 1) (3 ^ (2000 :: Int))) in "
                       "(sum xs + last xs) `mod` 1000\n"),
    "texts": ("main :: Int -> Int\nmain n = let ss = [show i ++ \"abcdefgh\" | i <- [1 .. n]] in sum (map length ss) + length (last ss)\n"),
    "a map": ("import qualified Data.Map as M\nmain :: Int -> Int\n"
              "main n = M.size (foldl (\\m i -> M.insert (i * 7919) i m) M.empty [1 .. n])\n"),
    "a deep recursion": "main :: Int -> Int\nmain n = go n where go k = if k == 0 then 0 else 1 + go (k - 1)\n",
}


def peak(dfc, source, count, engine, megabytes):
    """(exit code, bytes that the process had at most, what it said)"""
    words = [dfc, "run", source, "--input", "n=%d" % count, "--engine=" + engine.split()[0],
             "--threads=%d" % (2 if "two" in engine else 1), "--max-memory=%d" % (megabytes << 20), "--stats=times",
             "--timeout=%ds" % (SECONDS_EXPANDING if engine == "expanding" else SECONDS[megabytes])]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024, said


def judge(dfc, source, name, engine):
    """For each limit that the program was given: (whether it kept to it, what it had)."""
    _, base, _ = peak(dfc, source, 2, engine, MEGABYTES[-1])
    results = []
    for megabytes in MEGABYTES:
        code, most, said = peak(dfc, source, 10**8, engine, megabytes)
        good = most <= 1.05 * (megabytes << 20) + base + SMALL + (THREADS if "two" in engine else 0) and code in (0, 3)
        results.append((good, "%s, %s: %d MB of a limit of %d, beside %d of the program, exit code %d%s" % (
            name, engine, most >> 20, megabytes, base >> 20, code, ": " + said[:200] if code not in (0, 3) else "")))
        if "the time limit" in said:
            break
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    runs = faults = 0
    with tempfile.TemporaryDirectory() as folder:
        todo = []
        for number, (name, text) in enumerate(PROGRAMS.items()):
            source = os.path.join(folder, "p%d.df" % number)
            with open(source, "w") as file:
                file.write(text)
            todo += [(args.dfc, source, name, engine) for engine in ENGINES if args.only in name + ", " + engine]
        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            for results in pool.map(lambda words: judge(*words), todo):
                for good, text in results:
                    runs += 1
                    faults += not good
                    if not good or args.verbose:
                        print(text, flush=True)
    print("%d runs, %d faults" % (runs, faults))
    return 1 if faults or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
