#!/usr/bin/env python3
"""Functions that are cut within, on the tagged engine, give what they give in one piece.

    outlined.py --dfc build/dfc [--only NAME]
    outlined.py --dfc build/dfc --all [--every N]   every Nth program of the tests, a row for each that differs

What stands on another part than the function becomes functions of its own there (docs/cut.md, "Cut within a function"). What is compared with the reference engine
is the exit code, what is printed, and errors with their call paths.
"""

import glob
import json
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "harness"))
from cut import HEADERS, MODEL, PAPER, programs_of_tests
from placed import PROGRAMS as PLACED, given
from processes import local_pids, same
from promises import TESTS, main, test

TESTS.clear()  # those of placed.py run there

FACT = "fact :: Int -> Int\nfact n = if n == 1 then n else n * fact (n - 1)\nmain = fact 10\n"
LOOP = "go :: Int -> Int -> Int\ngo n s = if n == 0 then s else go (n - 1) ((s * 7 + 3) `mod` 1000)\nmain = print (go 1000 1)\n"

# Whatever makes a frame: loops in loops and in branches, knots, delayed calls that capture what comes late, gradients in both directions, state, input.
PROGRAMS = {
    "loops in loops": """count :: Int -> Int -> Int -> Int
count i j s = if j == 0 then s else count i (j - 1) (s + i * j `mod` 7)
rows :: Int -> Int -> Int
rows i s = if i == 0 then s else if even i then rows (i - 1) (count i 5 s) else rows (i - 1) (s * 3 `mod` 1001)
main = print (rows 12 1)
""",
    "a knot": """data P = P Int Int
f :: Int -> P -> P
f n (P a b) = P (n + 1) (a * n)
main = print (let p@(P a b) = f 3 (P b' 0)
                  b' = 5 + 2 * 3
                  x = if a > 2 then a * 10 else y + 1
                  y = if a > 2 then x + 1 else 7 in (a, b, x, y))
""",
    "lazy fields": """pairs :: Int -> [(Int, Integer)]
pairs n = (n * n + 1, product [1 .. toInteger n] `div` 2) : pairs (n + 1)
main = print (map fst (take 6 (pairs 1)), snd (pairs 3 !! 9))
""",
    "a gradient": """import Gradient
data Tree = Leaf Double | Node Tree Tree
f :: Double -> Tree -> Double
f w (Leaf x) = x * w + sin (w * x)
f w (Node a b) = tanh (f w a * w + w * f w b)
grow :: Int -> Tree
grow d = if d == 0 then Leaf 0.5 else Node (grow (d - 1)) (Leaf (fromIntegral d))
main = print (valueAndGrad (\\w -> f w (grow 6)) (0.7 :: Double)) >> print (jvp (\\w -> f w (grow 3)) 0.2 (1 :: Double))
""",
    "state": """import Data.IORef
import Control.Monad
main = do
  r <- newIORef (1 :: Int)
  forM_ [1 .. 20] $ \\i -> modifyIORef r (\\x -> (x * i + 3) `mod` 1009)
  readIORef r >>= print
""",
    "a failure far down": "deep :: Int -> Int -> Int\ndeep n k = if n == 0 then 10 `div` k else n * 2 + deep (n - 1) k\nmain = print (deep 3 2) >> print (deep 200 0 + 1)\n",
    "a failure in a loop": "go :: Int -> Int -> Int\ngo n s = if n == 0 then s else go (n - 1) (s + 100 `div` (n - 5))\nmain = print (go 4 0) >> print (go 10 0)\n",
    "which of two failures": "f :: Int -> Int -> Int\nf a b = (a `div` 0) * (b `mod` 0) + a\nmain = print (f 1 2)\n",
    "an Integer that grows": "p :: Int -> Integer -> Integer\np n a = if n == 0 then a `mod` 1000007 else p (n - 1) (a * a + toInteger n)\nmain = print (p 9 3)\n",
    "tensors": """import qualified Tensor as T
layer :: Tensor Float [8, 8] -> Tensor Float [8] -> Tensor Float [8] -> Tensor Float [8]
layer w b x = tanh (T.vecmat x w + b)
main = print (T.sum (iterate (layer (sin (T.convert T.iota)) (T.fill 0.1)) (T.fill 0.5) !! 5))
""",
}


def sources():
    yield from PROGRAMS.items()
    for name, text in PAPER.items():
        yield name, HEADERS.get(name, "") + text
    for name, (_, text) in PLACED.items():
        yield name, text


@test
def random_cuts(d):
    """Each node anywhere: members of one process, with and without stress and threads. The graph that is made is well formed, and means the same in one piece."""
    made = 0
    for number, (name, text) in enumerate(sources()):
        d.file("p.df", text)
        stdin = "one two three\n\nfour\n"
        d.expect(0, "p.df", "-o", "p.graph", "--no-warnings", *(["-O0"] if number % 3 == 2 else []))
        wanted = d.run("run", "p.graph", "--engine=reference", stdin=stdin)
        for parts, seed, more in ((3, number + 1, []), (4, number + 90, ["--threads=2"]), (5, number + 7, ["--stress=%d" % (number + 1)])):
            words = ("run", "p.graph", "--engine=tagged", "--parts=%d" % parts, "--cut-seed=%d" % seed, *more)
            try:
                same(d.run(*words, stdin=stdin), wanted)
            except (AssertionError, subprocess.TimeoutExpired) as error:
                raise AssertionError("%s: dfc %s: %s" % (name, " ".join(words), error)) from error
        text, _ = d.expect(0, "place", "p.graph", "--parts=3", "--seed=%d" % (number + 1), "--emit=outlined")
        made += text.count("#")
        d.file("p.tagged", text)
        same(d.run("run", "p.tagged", stdin=stdin), wanted)
        again, _ = d.expect(0, "p.tagged", "--emit=tagged")
        assert again == text, name
    assert made > 1000, made


@test
def programs_of_the_model(d):
    for number, path in enumerate(sorted(glob.glob(os.path.join(MODEL, "*.tagged")))):
        wanted = d.run("run", path, "--engine=reference")
        for parts, more in ((2, []), (5, ["--stress=%d" % (number + 1)])):
            try:
                same(d.run("run", path, "--engine=tagged", "--parts=%d" % parts, "--cut-seed=%d" % (number + parts), *more), wanted)
            except (AssertionError, subprocess.TimeoutExpired) as error:
                raise AssertionError("%s %d %s: %s" % (path, parts, more, error)) from error


@test
def processes(d):
    """The same on processes, and just the calls that there should be."""
    d.file("p.df", FACT)
    d.file("p.place", "fact:2:34 1  # the product\n")
    words = ("run", "p.df", "--engine=tagged", "--local-workers=2", "--placement=p.place")
    _, err = d.expect(0, *words, "--stats=json", out="3628800\n")
    assert given(err) == 9, err
    # A loop: a call for each iteration where its arithmetic is elsewhere, one where all of it is.
    d.file("p.df", LOOP)
    wanted = d.run("run", "p.df", "--engine=reference")
    for placement, calls in (("go:2:47 1\ngo:2:51 1\ngo:2:56 1\n", 1000), ("go.loop 1\n", 1)):
        d.file("p.place", placement)
        got = d.run(*words, "--stats=json")
        assert got[:2] == wanted[:2] and given(got[2]) == calls, (placement, got)
    for number, name in enumerate(("a failure far down", "a failure in a loop", "a gradient", "lazy fields", "tensors")):
        d.file("p.df", PROGRAMS[name])
        wanted = d.run("run", "p.df", "--engine=reference")
        same(d.run("run", "p.df", "--engine=tagged", "--local-workers=3", "--cut-seed=%d" % (number + 5)), wanted)


@test
def layers(d):
    """What hangs on a result of another call is a call of its own, and what can be done at one moment is one."""
    d.file("p.df", "g :: Int -> Int\ng x = if x > 100 then x else g (x * 3)\nf :: Int -> Int -> Int\nf a b = (a * 7 + b) * g (a * 5 - b * 2) - b * 9\nmain = print (f 3 4 + f 5 6)\n")
    d.file("p.place", "f:4 1\nf:4:1 0\n")
    wanted = d.run("run", "p.df", "--engine=reference")
    text, _ = d.expect(0, "place", "p.df", "-O0", "--placement=p.place", "--emit=outlined")
    pieces = [line.split()[1] for line in text.splitlines() if line.startswith("function f#")]
    assert pieces == ["f#1", "f#1.2"], text
    got = d.run("run", "p.df", "-O0", "--engine=tagged", "--local-workers=2", "--placement=p.place", "--stats=json")
    assert got[:2] == wanted[:2] and given(got[2]) == 4, got


@test
def what_is_refused(d):
    d.file("p.df", FACT)
    for text, said in (("fact:2:10 1\n", "line 1: nothing that it names can stand on another part"), ("\n%0 1\n", "line 2"), ("main 1\n", "`main` is where a run begins and ends"),
                       ("fact:9 1\n", "nothing of `fact` stands at 9"), ("type Float 1\n", "nothing in the graph is of the type `Float`"), ("%99999 1\n", "there is no node %99999")):
        d.file("p.place", text)
        _, err = d.expect(2, "run", "p.df", "--engine=tagged", "--local-workers=2", "--placement=p.place", err=said)
        assert "`p.place`" in err, err
    d.expect(2, "run", "p.df", "--engine=tagged", "--cut-seed=3", err="`--parts 2` says how many")
    for more in ("--recv=scheduled", "--dead=none", "--losses=1"):
        d.expect(2, "run", "p.df", "--engine=tagged", "--parts=2", more, err="is for --engine=reference")


@test
def who_is_lost(d):
    """Its calls are computed where they come from, and the run gives what it would have given."""
    d.file("p.df", "step :: Int -> Int -> Int\nstep k s = (s * 31 + k `mod` 3) `mod` 1000003\ngo :: Int -> Int -> Int\ngo n s = if n == 0 then s else go (n - 1) (step n s * 2 + 1)\nmain = print (go 60000 1)\n")
    d.file("p.place", "go:4:53 1\ngo:4:57 2\nstep:2 1\ngo:4:38 2\n")
    wanted = d.run("run", "p.df")
    for lost in (1, 2):
        run = subprocess.Popen([d.dfc, "run", "p.df", "-O0", "--engine=tagged", "--local-workers=3", "--placement=p.place", "--threads=1", "--stats=json"], cwd=d.path,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 20
        while len(workers := local_pids(run.pid)) < 2 and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.5)
        for pid in workers[:lost]:
            os.kill(pid, signal.SIGKILL)
        out, err = run.communicate(timeout=180)
        assert (run.returncode, out) == wanted[:2], (run.returncode, out, err)
        figures = json.loads(err.rstrip("\n").split("\n")[-1])
        assert figures["far_lost"] > 0 and figures["far_given"] > 0, err


def campaign(dfc, every):
    """Programs of the tests in three cuts each; those that take long are left out."""
    tried = differ = 0
    for number, path in enumerate(list(programs_of_tests())[::every]):
        def run(*words):
            stdin = open(path[:-3] + ".in", "rb").read() if os.path.exists(path[:-3] + ".in") else b""
            done = subprocess.run([dfc, "run", path, "--no-warnings", *words], cwd=os.path.dirname(path), input=stdin, capture_output=True)
            return done.returncode, done.stdout, done.stderr.rstrip()

        wanted = run("--engine=reference", "--timeout=1.5s")
        if wanted[0] == 3:
            continue
        for parts in (2, 3, 5):
            got = run("--engine=tagged", "--parts=%d" % parts, "--cut-seed=%d" % (number + parts), "--timeout=20s")
            if got[0] == 3:
                continue
            tried += 1
            if got != wanted:
                differ += 1
                print("%s --parts=%d --cut-seed=%d: wanted %r, got %r" % (path, parts, number + parts, wanted, got), flush=True)
    print("%d runs, %d differ" % (tried, differ))
    return differ == 0


if __name__ == "__main__":
    if "--all" in sys.argv:
        words = dict(zip(sys.argv, sys.argv[1:]))
        sys.exit(not campaign(os.path.abspath(words["--dfc"]), int(words.get("--every", 1))))
    main()
