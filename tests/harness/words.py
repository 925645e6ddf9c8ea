#!/usr/bin/env python3
"""Recursion on words and Integers, inlined or not, gives the values, messages and call paths of the reference engine.

    words.py --dfc build/dfc [--every N]

Each program runs on the reference engine and on the tagged one: as it is, without some or all of what unboxed code does, on one
thread and on several under stress, where thieves make frames of inlined activations at any moment.
"""

import argparse
import ctypes
import os
import subprocess
import sys
import tempfile

TIMEOUT = 120

# A program and the inputs of its runs; beside a failure that comes last, runs without one.
PROGRAMS = [
    # A failure in one of many activations of a frame.
    ("f :: Int -> Int -> Int\n"
     "f n k = if n == 0 then 100 `div` k else f (n - 1) (k - 1) + f (n - 1) (k - 2)\n"
     "main :: Int -> Int -> Int\nmain n k = f n k\n", [(3, 3), (6, 4), (6, 100), (9, 12)]),
    ("f :: Int -> Int -> Int\n"
     "f n k = if n < 2 then 100 `div` (k - 9) else f (n - 1) (k + 1) + f (n - 2) k\n"
     "main :: Int -> Int -> Int\nmain n k = f n k\n", [(15, 0), (15, -2), (14, -20)]),
    # Two functions; in tail position and not; more calls than a path shows.
    ("ev, od :: Int -> Int -> Int\n"
     "ev n k = if n == 0 then 7 `div` k else 1 + od (n - 1) k\n"
     "od n k = if n == 0 then 8 `quot` (k - 1) else 2 * ev (n - 1) k\n"
     "main :: Int -> Int -> Int\nmain n k = ev n k\n", [(9, 1), (90, 0), (91, 1), (40, 3)]),
    ("ev, od :: Int -> Int -> Int\n"
     "ev n k = if n == 0 then 7 `div` k else od (n - 1) k\n"
     "od n k = if n == 0 then 8 `quot` (k - 1) else ev (n - 1) k\n"
     "main :: Int -> Int -> Int\nmain n k = 1 + ev n k\n", [(9, 1), (20000, 0), (20001, 1), (20001, 3)]),
    ("ev, od :: Int -> Int -> Int\n"
     "ev n k = if n == 0 then 7 `div` k else if n `rem` 3 == 0 then ev (n - 1) k else od (n - 1) k\n"
     "od n k = if n == 0 then 8 `quot` (k - 1) else if n `rem` 5 == 0 then od (n - 2 + 1) k else ev (n - 1) k\n"
     "main :: Int -> Int -> Int\nmain n k = ev n k - 1\n", [(30000, 0), (30003, 1), (29999, 3)]),
    # Loops in recursion and recursion in loops, failing in the test, before it, in an argument.
    ("w :: Int -> Int -> Int\n"
     "w a b\n  | a `mod` b == 0 = a\n  | a > 1000 = b - 1\n  | otherwise = w (a + w (a - b) (b - 1)) (b - 2)\n"
     "main :: Int -> Int -> Int\nmain a b = w a b\n", [(17, 9), (101, 23), (18, 9)]),
    ("v :: Int -> Int -> Int -> Int\n"
     "v x y z = if x <= y then z `div` (y - 3) else v (v (x - 1) y z) (v (y - 1) z x) (v (z - 1) x y)\n"
     "main :: Int -> Int -> Int\nmain a b = v a b 2\n", [(8, 4), (15, 4), (9, 12)]),
    # Arguments that change places from one iteration to the next; more of them than an instruction has room for.
    ("r :: Int -> Int -> Int -> Int -> Int -> Int -> Int\n"
     "r a b c d e n\n  | n == 0 = a + 10 * b + 100 * c + 1000 * d + 10000 * (e `rem` b)\n"
     "  | even n = r b c d e a (n - 1)\n  | otherwise = r (b + s b a n) a d c e (n - 1) - s d e n\n"
     "s :: Int -> Int -> Int -> Int\ns x y n = if x > y || n > 60 then x - y else s (y - n) (x - n) (n + 1)\n"
     "main :: Int -> Int -> Int\nmain n b = r 1 b 3 4 5 n\n", [(0, 2), (5, 2), (8, 3), (0, 0), (5, 0)]),
    # Floating point, characters and choices; a limit that is reached in the middle is no part of it.
    ("g :: Int -> Double -> Double\n"
     "g n x = if n == 0 then sqrt x else g (n - 1) (x * 1.5) - g (n - 2 + (if n == 1 then 1 else 0)) (x / 2.5)\n"
     "main :: Int -> Int -> Double\nmain n k = g n (fromIntegral k)\n", [(0, 2), (9, 3), (12, -1)]),
    # Integers that grow beyond a word: in the middle of many activations, in an argument, in a result, in a loop that comes back to
    # small ones; and that fail there.
    ("f :: Integer -> Integer -> Integer\n"
     "f n k = if n == 0 then 10000000000 `div` k else f (n - 1) (k - 1) * n + f (n - 1) (k * 3) * f (n - 2 + (if n == 1 then 1 else 0)) 2\n"
     "main :: Integer -> Integer -> Integer\nmain n k = f n k\n", [(3, 3), (5, 4), (7, 100), (6, 12), (9, 11)]),
    ("p :: Integer -> Integer -> Integer -> Integer\n"
     "p b e m = if e == 0 then 1 else if even e then p (b * b `mod` m) (e `quot` 2) m else b * p b (e - 1) m `mod` m\n"
     "main :: Integer -> Integer -> Integer\nmain e n = p 3 e (n * n * n)\n", [(1000, 1000000), (1001, 97), (400, 0), (999, 12345678)]),
    ("s :: Integer -> Integer -> Integer -> Integer\n"
     "s a b c = if c > 9000000000000000000 then c + s (a - b) b (c `div` 1000003) else if a <= 0 then c `rem` b else\n"
     "  if c < 0 then -c else s (a - 1) b (c * 12345 + a) - 1\n"
     "main :: Integer -> Integer -> Integer\nmain a b = s a b 1\n", [(100, 7), (101, 1), (50, 3), (10, 0), (60, 0)]),
    ("g :: Int -> Integer -> Integer -> Integer\n"
     "g n x y = if n == 0 then x else if x < y then g (n - 1) y (x + y) else g (n - 1) (x + fromIntegral n) (x + x - g (n `quot` 2) x y)\n"
     "main :: Int -> Int -> Integer\nmain n k = g n (fromIntegral k) 9223372036854775000 `mod` (fromIntegral (k - 3))\n",
     [(20, 1), (90, 2), (40, 3), (40, -5)]),
    # As main's arguments they are large from the start.
    ("h :: Integer -> Integer -> Integer\n"
     "h x y = if y == 0 then x else h y (x `mod` y) + 1\n"
     "main :: Integer -> Integer -> Integer\nmain x y = h x y\n", [(2 ** 90 + 5, 2 ** 70 + 3), (5, 2 ** 63), (2 ** 63 - 1, 2 ** 62), (7, 0)]),
]
# Machine code divides by constants without dividing.
DIVISORS = (1, 2, 3, 7, 10, 12, 64, 641, 1000003, 2**31 - 1, 2**31, 2**32 + 1, 2**40, 2**62, 2**63 - 1, -2, -3, -64, -(2**33), -(2**63))
DIVISIONS = [(op, divisor) for op in ("div", "mod", "quot", "rem") for divisor in DIVISORS]
PROGRAMS.append((
    "".join("f{0} :: Int -> Int -> Int -> Int\nf{0} n x y = if n == 0 then y else f{0} (n - 1) (x * 6364136223846793005 + 1442695040888963407) "
            "(y * 31 + (x `{1}` ({2})) - (f{0} 0 x (x + y) `{1}` ({2})))\n".format(i, op, divisor) for i, (op, divisor) in enumerate(DIVISIONS)) +
    "main :: Int -> Int -> [Int]\nmain n x = [%s]\n" % ", ".join("f%d n x 1" % i for i in range(len(DIVISIONS))),
    [(40, 2**63 - 1), (40, -(2**63)), (9, 0)]))
WAYS = ([], ["--without=unroll"], ["--without=small-integers"], ["--without=words"], ["--without=clean-words"], ["--without=far-tags"], ["--without=native"], ["--without=native", "--threads=2", "--stress=5"],
        ["--threads=1", "--stress=6"], ["--threads=2", "--stress=8"], ["--engine=demand"], ["--threads=2", "--stress=1"], ["--threads=3", "--stress=2"], ["--threads=2", "--stress=3", "--without=unroll"], ["--stats"])


def refuse_executable_memory():
    """In the process that is about to become dfc; where the system cannot do that, nothing."""
    PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN = 65, 1
    ctypes.CDLL(None).prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dfc", required=True, type=os.path.abspath)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth input of each program only")
    args = parser.parse_args()
    faults = runs = failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, (text, inputs) in enumerate(PROGRAMS):
            path = os.path.join(folder, "p%d.df" % number)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            names = text.split("\nmain ")[-1].split(" =")[0].split()
            for mode in ([], ["--no-loops"], ["-O0"]):
                graph = os.path.join(folder, "p.graph")
                subprocess.run([args.dfc, path, *mode, "-o", graph], check=True, timeout=TIMEOUT)
                for values in inputs[number % args.every :: args.every]:
                    given = [word for name, value in zip(names, values) for word in ("--input", "%s=%d" % (name, value))]

                    def run(*flags, prepare=None):
                        done = subprocess.run([args.dfc, "run", *flags, graph, *given], capture_output=True, timeout=TIMEOUT, preexec_fn=prepare)
                        err = b"" if "--stats" in flags and done.returncode == 0 else done.stderr
                        return done.returncode, done.stdout, err.split(b"\ncalls  ")[0].rstrip()

                    wanted = run("--engine=reference")
                    failures += wanted[0] == 1
                    # Where no memory can be made executable the interpreter does it all.
                    if run(prepare=refuse_executable_memory) != wanted:
                        faults += 1
                        print("%s\nwithout executable memory %s: %s" % (text, " ".join(mode), values))
                    for way in WAYS:
                        runs += 1
                        got = run(*way)
                        if got != wanted:
                            faults += 1
                            print("%s\n%s %s %s:\n  %s\ninstead of\n  %s" % (text, " ".join(way), " ".join(mode), values, got, wanted))
    print("%d runs, %d faults; %d runs of the reference engine fail" % (runs, faults, failures))
    return 1 if faults or failures < 20 // args.every else 0


if __name__ == "__main__":
    sys.exit(main())
