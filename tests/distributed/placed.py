#!/usr/bin/env python3
"""Functions whose calls one process computes, for the tagged engine, give what they give in one process.

    placed.py --dfc build/dfc [--only NAME]

What is compared with the reference engine is the exit code, what is printed, and errors with their call paths; what `--stats` counts shows that the
calls went.
"""

import json
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "harness"))
from processes import FIB, local_pids, same
from promises import main, test

# Each with the least number of calls that go to other processes.
PROGRAMS = {
    "a recursion": (1, "{-# PLACE fib worker 1 #-}\nfib :: Int -> Int\nfib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\nmain = print (fib 18, fib 12)\n"),
    "one that calls another's": (30, """{-# PLACE even' worker 1 #-}
{-# PLACE odd' worker 2 #-}
even' :: Int -> Bool
even' n = if n == 0 then True else odd' (n - 1)
odd' :: Int -> Bool
odd' n = if n == 0 then False else even' (n - 1)
main = print (map even' [20, 21])
"""),
    "home again": (20, """{-# PLACE there worker 1 #-}
{-# PLACE home worker 0 #-}
there :: Int -> Integer
there n = if n == 0 then 1 else 3 * home (n - 1) + 1
home :: Int -> Integer
home n = if n == 0 then 2 else there (n - 1) * 2
main = print (there 40)
"""),
    "a failure": (1, """{-# PLACE check worker 1 #-}
check :: Int -> Int
check n = if n > 5 then error ("too large: " ++ show n) else 10 `div` (5 - n)
deep :: Int -> Int
deep n = if n == 0 then check 7 else 1 + deep (n - 1)
main = print (check 3) >> print (deep 4)
"""),
    "an operand that fails": (0, "{-# PLACE f worker 1 #-}\nf :: Int -> Int -> Int\nf a b = if a > 3 then a else b\nmain = print (f 4 (1 `div` 0)) >> print (f (2 `mod` 0) 1)\n"),
    "lists that are lazy": (2, """{-# PLACE squares worker 1 #-}
squares :: Int -> [Int]
squares n = n * n : squares (n + 1)
{-# PLACE firsts worker 2 #-}
firsts :: Int -> [Int] -> Int
firsts k xs = sum (take k xs)
main = print (takeWhile (< 200) (squares 3)) >> print (firsts 12 (squares 1)) >> print (firsts 3 [5 ..])
"""),
    "a loop of calls": (1500, """{-# PLACE step worker 1 #-}
step :: Int -> Int
step s = (s * 7 + 3) `mod` 1000
go :: Int -> Int -> Int
go n s = if n == 0 then s else go (n - 1) (step s)
main = print (go 1500 1)
"""),
    "many at once": (3000, """{-# PLACE weigh worker 1 #-}
weigh :: Int -> Int
weigh n = if even n then n `div` 2 else 3 * n + 1
total :: Int -> Int -> Int
total a b = if b - a == 1 then weigh a else total a m + total m b where m = (a + b) `div` 2
main = print (total 0 3000)
"""),
    "what waits for itself": (0, "{-# PLACE f worker 1 #-}\nf :: Int -> Int -> Int\nf n k = if n == 0 then k else f (n - 1) k\nmain = print (let x = f 3 x + 1 in x)\n"),
    "tensors": (3, """import qualified Tensor as T
{-# PLACE layer worker 1 #-}
layer :: Tensor Float [4, 4] -> Tensor Float [4] -> Tensor Float [4]
layer w x = tanh (T.vecmat x w)
w :: Tensor Float [4, 4]
w = sin (T.convert T.iota)
main = print (layer w (layer w (layer w (T.fill 0.5))))
"""),
    "what has a part and its gradient": (0, """import Gradient
{-# PLACE f worker 1 #-}
f :: Int -> Double -> Double
f n w = if n == 0 then w else tanh (w * f (n - 1) w)
main = print (valueAndGrad (f 3) (0.5 :: Double)) >> print (f 3 0.5)
"""),
    "input": (0, """{-# PLACE count worker 1 #-}
count :: String -> Int
count = length . words
main = interact (unlines . map (show . count) . lines)
"""),
}


def given(err):
    """Calls that went, from all processes."""
    figures = json.loads(err.rstrip("\n").split("\n")[-1])
    return sum(process["far_given"] for process in figures["processes"])


@test
def programs(d):
    for name, (least, text) in PROGRAMS.items():
        d.file("p.df", text)
        for level in ([], ["-O0"]):
            d.expect(0, "p.df", "-o", "p.graph", "--no-warnings", *level)
            stdin = "one two three\n\nfour\n"
            wanted = d.run("run", "p.graph", "--engine=reference", stdin=stdin)
            for more in (["--members=2"], ["--members=3"], ["--members=3", "--threads=2"], ["--members=3", "--stress=5"]):
                try:
                    same(d.run("run", "p.graph", *more, stdin=stdin), wanted)
                except (AssertionError, subprocess.TimeoutExpired) as error:
                    raise AssertionError("%s %s %s: %s" % (name, level, more, error)) from error
        # In one process the marks mean nothing.
        same(d.run("run", "p.graph", stdin=stdin), wanted)
        if wanted[0] == 0 and least:
            calls = given(d.run("run", "p.df", "--members=3", "--stats=json", "--no-warnings", stdin=stdin)[2])
            assert calls >= least, (name, calls)


@test
def processes(d):
    for name in ("a recursion", "one that calls another's", "a failure", "lists that are lazy", "tensors"):
        d.file("p.df", PROGRAMS[name][1])
        wanted = d.run("run", "p.df", "--engine=reference", "--no-warnings")
        same(d.run("run", "p.df", "--local-workers=3", "--no-warnings"), wanted)
    # Part 5 is with process 5 modulo their number.
    d.file("p.df", PROGRAMS["a recursion"][1].replace("worker 1", "worker 5"))
    _, err = d.expect(0, "run", "p.df", "--local-workers=2", "--stats=json", out="(2584,144)\n")
    assert given(err) == 2, err
    d.file("p.df", PROGRAMS["one that calls another's"][1])
    _, err = d.expect(0, "run", "p.df", "--local-workers=3", "--stats=json", out="[True,False]\n")
    assert given(err) == 43, err


@test
def placement_files(d):
    d.file("p.df", FIB % 15)
    d.expect(0, "p.df", "-o", "p.graph")
    d.file("p.place", "fib 1   # all of it\n")
    words = ("run", "p.graph", "--engine=tagged", "--local-workers=2", "--placement=p.place")
    _, err = d.expect(0, *words, "--stats=json", out="610\n")
    assert given(err) == 2, err  # main computes what fib 15 is made of
    for text, said in (("\nfob 1\n", "line 2: there is no function `fob`"), ("main 1\n", "`main` is where a run begins and ends"), ("* 1\n", "`main` is where a run begins and ends"), ("fib x\n", "line 1")):
        d.file("p.place", text)
        _, err = d.expect(2, *words, err=said)
        assert "`p.place`" in err, err
    for more in (["--recv=scheduled"], ["--dead=none"]):
        d.expect(2, "run", "p.graph", "--engine=tagged", "--local-workers=2", *more, err="is for --engine=reference")


@test
def what_is_large_goes_once(d):
    """A matrix that each call looks at: once as it is, before there is word of room for it, and once to be kept. Its calls name it then."""
    d.file("p.df", """import qualified Tensor as T
{-# PLACE layer worker 1 #-}
layer :: Tensor Float [200, 200] -> Tensor Float [200] -> Tensor Float [200]
layer w x = tanh (T.vecmat x w)
go :: Int -> Tensor Float [200, 200] -> Tensor Float [200] -> Tensor Float [200]
go n w x = if n == 0 then x else go (n - 1) w (layer w x)
main = print (T.sum (go 100 (sin (T.convert T.iota)) (T.fill 0.5)))
""")
    wanted = d.run("run", "p.df", "--threads=1")
    assert wanted[0] == 0, wanted
    for words in (["--local-workers=2"], ["--local-workers=2", "--threads=2"], ["--members=3"]):
        code, out, err = d.run("run", "p.df", *words, "--stats=json")
        figures = json.loads(err.rstrip("\n").split("\n")[-1])
        assert (code, out) == wanted[:2], (words, code, out, err)
        if "--members=3" not in words:
            assert given(err) == 100 and figures["processes"][0]["links"][0]["bytes_out"] < 6 * 160000, (words, figures)


@test
def more_calls_than_memory(d):
    """Each call would have to be held, if whoever makes them did not wait."""
    d.file("p.df", PROGRAMS["many at once"][1].replace("total 0 3000", "total 0 60000"))
    wanted = d.run("run", "p.df")
    same(d.run("run", "p.df", "--local-workers=2", "--max-memory=64M"), wanted)


@test
def who_is_lost(d):
    """Its calls are computed where they come from."""
    d.file("p.df", "{-# PLACE f worker 1 #-}\nf :: Int -> Int\nf k = fib (38 + k `mod` 2)\nfib :: Int -> Int\nfib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\n"
           "main = print (sum (map f [1 .. 12]))\n")
    for number in (signal.SIGKILL, signal.SIGTERM):
        run = subprocess.Popen([d.dfc, "run", "p.df", "--local-workers=2", "--threads=1", "--stats=json"], cwd=d.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 20
        while not (workers := local_pids(run.pid)) and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.4)
        for pid in workers:
            os.kill(pid, number)
        out, err = run.communicate(timeout=120)
        assert json.loads(err.rstrip("\n").split("\n")[-1])["far_lost"] > 0, err
        assert run.returncode == 0 and out == "614004930\n", (run.returncode, out, err)


if __name__ == "__main__":
    main()
