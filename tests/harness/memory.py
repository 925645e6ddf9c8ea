#!/usr/bin/env python3
"""Lazy programs run in memory that does not grow with the length of what flows through them.

    memory.py --dfc build/dfc

Each program runs under --max-memory with two sizes, the second far larger; the value must be right both times. The demand
engine is lazy throughout, so a sum that only strictness analysis makes eager has no bound there.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

def state_machine(n):
    state, a = 0, 0
    while n:
        state, n, a = (state + 1) % 3, n - 1, a + 1
        if state != 1 and n % 7 == 3:
            a += n
    return a


def recursions(n):
    even = sum(x if x % 2 == 0 else -1 for x in range(1, n + 1))
    return even + max(i * 31 % 997 for i in range(1, n + 1)) + sum(2 for x in range(1, n + 1) if x % 3)


# What runs, with N for the size; the sizes; the value as a function of the size; megabytes by engine.
PROGRAMS = [
    ("sum (takeWhile (< N) [1 :: Int ..])", (10**3, 10**6), lambda n: n * (n - 1) // 2, {"tagged": 1, "demand": 1}),
    ("length (filter even [1 .. N :: Int])", (10**3, 10**6), lambda n: n // 2, {"tagged": 1, "demand": 1}),
    ("sum [x * x | x <- [1 .. N :: Int], even x]", (10**3, 10**6),
     lambda n: sum(x * x for x in range(2, n + 1, 2)), {"tagged": 1}),
    ("last (take N (iterate (+ 1) (0 :: Int)))", (10**3, 10**6), lambda n: n - 1, {"tagged": 1, "demand": 1}),
    ("let ones = 1 : ones in sum (take N ones) :: Int", (10**3, 10**6), lambda n: n, {"tagged": 1}),
    ("let fibs = 0 : 1 : zipWith (+) fibs (tail fibs) in (fibs !! N) `mod` 1000000007 :: Integer", (10, 10**4),
     lambda n: fib(n) % 1000000007, {"tagged": 8, "demand": 16}),
    ("[1 .. N :: Int] == [1 .. N]", (10**3, 10**6), lambda n: True, {"tagged": 1, "demand": 1}),
    ("let primes = sieve [2 ..]; sieve (p : xs) = p : sieve [x | x <- xs, x `mod` p /= 0] in primes !! N :: Int",
     (10, 500), lambda n: {10: 31, 500: 3581}[n], {"tagged": 2, "demand": 4}),
    # Each step leaves a list that holds itself.
    ("let go n s = if n == 0 then s else let xs = n : 2 : xs in go (n - 1) (s + xs !! 3) in go (N :: Int) 0 :: Int",
     (10**3, 10**6), lambda n: 2 * n, {"tagged": 24}),
    # What is left of `a` is delayed, and would hold all of the list that `b` goes through (Wadler's leak).
    ("let (a, b) = span (< 3) [1 .. N :: Int] in sum b + sum a", (10**3, 10**6), lambda n: n * (n + 1) // 2, {"tagged": 12}),
    # Tail calls of two functions: frames that only pass a result on go.
    ("let { ev, od :: Int -> Int -> Int; ev n a = if n == 0 then a else od (n - 1) (a + 1); od n a = if n == 0 then negate a else "
     "ev (n - 1) (a + 2) } in ev N 0", (10**3, 10**6), lambda n: 3 * n // 2, {"tagged": 2}),
    ("let { ev, od :: Int -> [Int] -> Int; ev n a = if n == 0 then sum a else od (n - 1) [n, n]; od n a = if n == 0 then 0 "
     "else ev (n - 1) [1] } in ev N []", (10**3, 10**5), lambda n: 1, {"tagged": 1}),
    # The same from within a loop, whose merges stand between the result and the return.
    ("let { st, next :: Ordering -> Int -> Int -> Int; st s n a = case s of { LT -> if n == 0 then a else st EQ (n - 1) (a + 1); EQ -> if n == 0 then a "
     "else next GT (n - 1) (a + 1); GT -> if n == 0 then a else next LT (n - 1) (a + 1) }; next s n a = if n `mod` 7 == 3 then st s n (a + n) else st s n a } "
     "in st LT N 0", (10**3, 10**6), state_machine, {"tagged": 2}),
    # A list that is kept has few cells between its elements.
    ("let xs = map (+ 1) [1 .. N :: Int] in sum xs + length (filter even xs)", (10**3, 10**6),
     lambda n: n * (n + 1) // 2 + n + (n + 1) // 2, {"tagged": 60}),
    # A text that is kept, of which each rest was delayed and held the pair that it is a part of: the full cells between go.
    ("main = print (let ws = words (concatMap (\\_ -> \"abcde \") [1 .. N :: Int]) in length ws + length (concat ws))", (10, 10**5),
     lambda n: 6 * n, {"tagged": 56}),
    # Deep recursions one after the other, with frames of several sizes: each has the memory of those before.
    ("let { a, b, c :: Int; a = foldr (\\x acc -> if even x then acc + x else acc - 1) 0 [1 .. N]; b = foldr max 0 [i * 31 `mod` 997 | i <- "
     "[1 .. N + a `mod` 1]]; down :: Int -> Int -> Int; down n k = if n == 0 then k else max (down (n - 1) k) (n * k `mod` 7); "
     "c = foldr (\\x acc -> if x `mod` 3 == 0 then acc else acc + down (x `mod` 2) 2) 0 [1 .. N + b `mod` 1] } in a + b + c", (10, 3 * 10**5),
     recursions, {"tagged": 96}),
    # An iteration's accumulator hangs on a call that was given references, and on a choice that is made at once.
    ("let { look :: Int -> [Int] -> Int -> Int; look a ts n = if n == 0 then (case ts of { [] -> a; t : _ -> t }) else "
     "look a ts (n - 1); go :: Int -> Int -> [Int] -> Int; go a b ts = case ts of { [] -> a; t : rest -> "
     "let v = negate (look (negate a) rest 2) in if v >= b then v else go (max a v) b rest } } in go (negate 5) 7 [1 .. N]",
     (10**3, 10**5), lambda n: -2, {"tagged": 1}),
    # Steps of training: a gradient of records in records is made by calls that may finish before all of their arguments are there.
    ("""{-# LANGUAGE Strict #-}
import Gradient
import Optim
import qualified Tensor as T
data Inner = Inner (Tensor Float [9, 9])
data Outer = Outer Inner (Tensor Float [9, 9])
chain :: Int -> Outer -> Tensor Float [9] -> Float
chain n m x = case m of Outer (Inner a) _ -> if n == 0 then T.sum x else chain (n - 1) m (tanh (T.vecmat x a))
go :: Int -> Outer -> Float -> Int
go n m total
  | n == 0 = if total < 0 then 1 else 2
  | otherwise = case valueAndGrad (\\p -> chain 100 p 1) m of (l, g) -> go (n - 1) (sgd 0.1 g m) (total + l)
main = go N (Outer (Inner (T.fill 0.1)) 1) 0""", (2, 100), lambda n: 2, {"tagged": 2}),
    ("[1 .. N :: Int]", (10**2, 10**5), lambda n: str(list(range(1, n + 1))).replace(" ", ""), {"tagged": 1, "demand": 1}),
]


# Reads its input and writes as it goes. What a frame of event code still has to look at, when its result is there, holds nothing.
READER = """main = do
  s <- getContents
  mapM_ (putStr . say) (lines s)
say x = '\\n' : (x ++ "a" ++ concatMap show [1 .. 9 :: Int])
"""


def readers(dfc):
    """The same with fast code from the start, with it after some steps, and as a large graph gets it. How many runs, and faults."""
    faults = runs = 0
    with tempfile.TemporaryDirectory() as folder:
        graph = os.path.join(folder, "reader.graph")
        subprocess.run([dfc, "-", "-o", graph, "--no-warnings"], input=READER.encode(), check=True)
        for lines in (100, 20000):
            for options in ((), ("--stress=1",), ("--stress=2",), ("--stress=62",)):
                runs += 1
                done = subprocess.run([dfc, "run", graph, "--max-memory=1M", *options], input=b"yes\n" * lines, capture_output=True, timeout=300)
                if done.returncode or done.stdout != b"\nyesa123456789" * lines:
                    faults += 1
                    print("%d lines read, %s: exit code %d, %d bytes\n%s" % (lines, " ".join(options), done.returncode, len(done.stdout), done.stderr.decode()))
    return runs, faults


def fib(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    args = parser.parse_args()
    faults = runs = 0
    for text, sizes, value, limits in PROGRAMS:
        for size in sizes:
            for engine, megabytes in limits.items():
                source = ("" if "main = " in text else "main = ") + re.sub(r"\bN\b", str(size), text) + "\n"
                runs += 1
                done = subprocess.run([args.dfc, "run", "-", "--engine=" + engine, "--max-memory=%dM" % megabytes],
                                      input=source.encode(), capture_output=True, timeout=300)
                got = done.stdout.decode().strip()
                if done.returncode or got != str(value(size)):
                    faults += 1
                    print("%s --engine=%s: exit code %d, %s\n%s" % (source.strip(), engine, done.returncode, got,
                                                                   done.stderr.decode()))
    more = readers(args.dfc)
    runs, faults = runs + more[0], faults + more[1]
    print("%d runs in bounded memory, %d faults" % (runs, faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
