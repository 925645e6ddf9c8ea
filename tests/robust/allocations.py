#!/usr/bin/env python3
"""Each allocation of a run fails once, in runs of a dozen programs on every engine, and with two threads: a clean error.

    allocations.py --dfc build/asan/dfc --program build/asan/tests/allocations [--engine ENGINE]

allocations.cpp says what is counted.
"""

import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile

RUNS = (("reference", 1), ("demand", 1), ("expanding", 1), ("tagged", 1), ("tagged", 2), ("cold", 1))  # cold: tagged, warming up amid the run

PROGRAMS = {
    "fib": "fib :: Int -> Int\nfib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\nmain = fib 9\n",
    "tak": "tak :: Int -> Int -> Int -> Int\n"
           "tak x y z = if y < x then tak (tak (x - 1) y z) (tak (y - 1) z x) (tak (z - 1) x y) else z\nmain = tak 6 4 2\n",
    "factorial": "main = product [1 .. 40 :: Integer]\n",
    "big": "main = (2 ^ (9000 :: Int) `div` (3 ^ (4000 :: Int) :: Integer), gcd (6 ^ (300 :: Int)) (15 ^ (200 :: Int) :: Integer))\n",
    "list": "main = sum (map (\\x -> x * x) (filter even [1 .. 60 :: Int]))\n",
    "stream": "fibs :: [Integer]\nfibs = 0 : 1 : zipWith (+) fibs (tail fibs)\nmain = take 30 fibs\n",
    "tree": "data T = L | N T Int T\nbuild :: Int -> T\nbuild 0 = L\nbuild n = N (build (n - 1)) n (build (n - 1))\n"
            "total :: T -> Int\ntotal L = 0\ntotal (N l x r) = total l + x + total r\nmain = total (build 5)\n",
    "sort": "import Data.List\nmain = sort (map (`mod` 17) (take 25 (iterate (\\x -> x * 5 + 3) (1 :: Int))))\n",
    "map": "import qualified Data.Map as M\nmain = M.toList (foldr (\\k m -> M.insertWith (+) (k `mod` 7) k m) M.empty [1 .. 25 :: Int])\n",
    "text": "main = unwords (map show [1 .. 30 :: Int]) ++ show (3.5 :: Double, 'x', Just [True])\n",
    "packed": "import qualified Data.Text as T\nmain = T.unwords (map T.reverse (T.splitOn (T.pack \"b\") (T.replicate 9 (T.pack \"abcd\")))) <> T.toUpper (T.pack \"x\\223\")\n",
    "failure": "f :: Int -> Int\nf n = if n < 1 then error (\"at \" ++ show n) else f (n - 1) + f (n - 2)\nmain = (f 9, 1 :: Int)\n",
    "functions": "compose :: [Int -> Int] -> Int -> Int\ncompose = foldr (.) id\nmain = map (compose [(+ k) | k <- [1 .. 9]]) [1 .. 5]\n",
    "knot": "main = let (a, b) = (take 12 (1 : b), map (* 2) a) in (sum a, length b) :: (Int, Int)\n",
    "deep": "count :: Int -> Integer\ncount n = if n == 0 then 0 else 1 + count (n - 1)\nmain = count 400\n",
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--engine")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        graphs = []
        for name, text in PROGRAMS.items():
            graphs.append(os.path.join(folder, name + ".graph"))
            subprocess.run([args.dfc, "-", "--no-warnings", "-o", graphs[-1]], input=text.encode(), check=True)

        def run(how):
            engine, threads = how
            return how, subprocess.run([args.program, engine, str(threads), *graphs], capture_output=True)

        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            results = list(pool.map(run, [how for how in RUNS if args.engine in (None, how[0])]))
    for (engine, threads), done in results:
        print("%s, %d threads: exit code %d\n%s%s" % (engine, threads, done.returncode, done.stdout.decode(), done.stderr.decode()[-3000:]))
    sys.exit(any(done.returncode for _, done in results))


if __name__ == "__main__":
    main()
