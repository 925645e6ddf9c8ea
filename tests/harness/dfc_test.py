#!/usr/bin/env python3
"""What `dfc test` promises: which tests it finds, what passes, what it says of those that do not, exit codes. One function per promise.

    dfc_test.py --dfc build/dfc [--only NAME]
"""

import json
import os
import shutil
import signal
import subprocess
import xml.etree.ElementTree as ET

from promises import main, test

SHAPES = """module Shapes where

import qualified Data.Map as Map

area :: Int -> Int
area a = a * a

-- | The area of a square.
--
-- >>> area 3
-- 9
-- >>> let xs = [1, 2]
-- >>> map area xs
-- [1,4]
-- >>> Map.toList (Map.fromList [(1, 'a')])
-- [(1,'a')]
-- >>> putStrLn "one\\n\\ntwo"
-- one
-- <BLANKLINE>
-- two
-- >>> return 3 :: IO Int
-- 3
-- >>> head []
-- *** Exception: Prelude.head: empty list
-- ...
-- >>> [1 .. 100]
-- [1,2,...,100]
-- >>> :{
-- let twice x = area (area x)
--     more = 1
-- :}
-- >>> twice 2 + more
-- 17

{- | In braces.

>>> area 4
16
>>> import Data.Char (toUpper)
>>> map toUpper "abc"
"ABC"
-}

-- CASE: area 5 => 25
-- CASE: (+ 1) <$> Just (area 2) => Just 5
-- CASE: 1 `div` area 0 => error (divide by zero)
-- CASE: error "no" => error
-- CASE tagged: area 6 => 36
-- CASE: putStr "printed\\n" => printed
-- CASE: (\\x -> x) 1 :: Int => 1
"""


@test
def an_error_without_brackets(d):
    d.file("bare.df", "-- CASE: 1 `div` (0 :: Int) => error by zero\n-- CASE: 2 => error by zero\n")
    out, _ = d.expect(1, "test", "bare.df")
    assert out.count("hint: a case that fails is written `=> error (by zero)`\n") == 1, out


@test
def what_passes(d):
    d.file("shapes.df", SHAPES)
    out, _ = d.expect(0, "test", "shapes.df")
    assert out == "17 tests of 1 file on tagged: 17 passed, 0 failed\n", out
    out, _ = d.expect(0, "test", "shapes.df", "--engine=all", "--also=-O0", "--also=--no-loops --without=fuse", "-v")
    assert out.count("ok   shapes.df:") == 17, out
    assert "17 tests of 1 file on tagged, reference, demand, expanding: 17 passed, 0 failed\n" in out, out
    d.expect(0, "test", "shapes.df", "--filter", "area 5", out="1 test of 1 file on tagged: 1 passed, 0 failed\n")
    d.expect(0, "test", "shapes.df", "--filter", "twice", out="1 test of 1 file on tagged: 1 passed, 0 failed\n")


@test
def what_fails(d):
    d.file("bad.df", "f :: Int -> Int\nf x = 10 `div` x\n\n-- CASE: f 5 => 3\n-- CASE: f 0 => 1\n-- CASE: f 2 => error\n-- CASE: f 1 => 10\n"
                     "-- >>> mapM_ print [1, 2, 3]\n-- 1\n-- 3\n")
    out, _ = d.expect(1, "test", "bad.df")
    assert out == """FAIL bad.df:4: f 5
  expected  3
  printed   2
FAIL bad.df:5: f 0
  expected  1
  printed   error: divide by zero
    at bad.df:2:10 in `f`
    called at bad.df:5:10 in `it`
FAIL bad.df:6: f 2
  expected  an error
  printed   5
FAIL bad.df:8: mapM_ print [1, 2, 3]
    1
  + 2
    3
5 tests of 1 file on tagged: 1 passed, 4 failed
""", out


@test
def a_test_that_is_wrong(d):
    """It fails by itself, with its place; the others run. A file that does not compile is a failure."""
    d.file("a.df", "f :: Int -> Int\nf x = x\n-- CASE: f 'c' => 1\n-- CASE: f ( => 1\n-- CASE: f 1 => 1\n-- CASE: f 2\n-- CASE quick: f 1 => 1\n"
                   "-- CASE: f => 1\n-- >>> x <- getLine\n-- >>> :type f\n")
    out, _ = d.expect(1, "test", "a.df")
    assert "FAIL a.df:3: f 'c'\n" in out and "a.df:3:12" in out and "-- CASE: f 'c' => 1" in out, out
    assert "8 tests of 1 file on tagged: 1 passed, 7 failed" in out, out
    for part in ("`-- CASE: expression => value` is wanted", "there is no engine `quick`", "`:type` is a command of a prompt"):
        assert part in out, out
    d.file("b.df", "f :: Int\nf = 'c'\n-- CASE: f => 1\n")
    out, _ = d.expect(1, "test", "a.df", "b.df", "--filter=f 1")
    assert "FAIL b.df\n  error[DF" in out and "1 file cannot be tested" in out, out


@test
def limits(d):
    """One run that does not end, or takes too much, is one failure."""
    d.file("spin.df", "spin :: Int -> Int\nspin n = spin (n + 1)\n-- CASE: spin 0 => 1\n-- CASE: sum [1 .. 10] => 55\n"
                      "-- CASE: length (show (product [1 .. 10000000 :: Integer])) => 1\n-- CASE: 1 + 1 => 2\n")
    out, _ = d.expect(1, "test", "spin.df", "--timeout=2s", "--max-memory=64M", "--filter=spin 0|sum|1 . 1")
    assert "the time limit of 2 s is reached" in out and "3 tests of 1 file on tagged: 2 passed, 1 failed" in out, out
    d.file("big.df", "-- CASE: sum (let xs = [1 .. 10000000] in xs ++ reverse xs) => 1\n-- CASE: 1 + 1 => 2\n")
    out, _ = d.expect(1, "test", "big.df", "--max-memory=32M")
    assert "memory limit of 32 MiB" in out and "1 passed, 1 failed" in out, out


@test
def folders_and_outputs(d):
    """Sources of folders that have tests; whole programs with a stored output, which --update writes."""
    os.makedirs(os.path.join(d.path, "all/inner"))
    d.file("all/one.df", "main = putStr \"a\\nb\\n\"\n")
    d.file("all/one.out", "a\nc\n")
    d.file("all/echo.df", "main = interact reverse\n")
    d.file("all/echo.in", "abc")
    d.file("all/echo.out", "cba")
    d.file("all/inner/two.hs", "-- CASE: 1 => 1\n")
    d.file("all/none.df", "x = 1\n")
    out, _ = d.expect(1, "test", "all", "-j", "2")
    assert "FAIL all/one.df:1: main\n    a\n  - c\n  + b\n" in out and "3 tests of 3 files on tagged: 2 passed, 1 failed" in out, out
    d.expect(0, "test", "all", "--update", err="`all/one.out` is written anew")
    assert d.bytes("all/one.out") == b"a\nb\n"
    d.expect(0, "test", "all", out="3 tests of 3 files on tagged: 3 passed, 0 failed\n")
    d.expect(1, "test", "all/none.df", err="there are no tests")


@test
def formats(d):
    d.file("a.df", "-- CASE: 1 + 1 => 2\n-- CASE: \"<&>\" => 3\n")
    out, _ = d.expect(1, "test", "a.df", "--format=json", "--engine=tagged,demand")
    told = json.loads(out)
    assert told["summary"] == {"tests": 2, "failed": 1, "pending": 0, "files": 1, "broken": 0}, told
    assert [(t["name"], t["passed"], len(t["runs"])) for t in told["tests"]] == [("1 + 1", True, 2), ('"<&>"', False, 2)], told
    out, _ = d.expect(1, "test", "a.df", "--format=junit")
    suite = ET.fromstring(out).find("testsuite")
    assert suite.get("tests") == "2" and suite.get("failures") == "1" and len(suite.findall("testcase/failure")) == 1, out
    d.file("odd.df", '-- CASE: putStrLn "\\1\\27\\65534\\65535\\200]]>" => 1\n')  # characters that XML has not
    out, _ = d.expect(1, "test", "odd.df", "--format=junit")
    assert "printed   ????\u00c8]]>" in ET.fromstring(out).find("testsuite/testcase/failure").text, out


@test
def wrong_usage(d):
    d.file("a.df", "-- CASE: 1 => 1\n")
    d.expect(2, "test", "missing.df", err="there is no file or folder `missing.df`")
    d.expect(2, "test", "a.df", "--engine=fast", err="expected `all`, or names such as `tagged,reference`")
    d.expect(2, "test", "a.df", "--also=-O7", err="is none of -O0")
    d.expect(2, "test", "a.df", "--filter=(", err="is no regular expression")
    d.expect(2, "test", "a.df", "--format=html", err="--format")


PROPERTIES = """import Test.QuickCheck

prop_reverse :: [Int] -> Bool
prop_reverse xs = reverse (reverse xs) == xs

prop_short :: [Int] -> Bool
prop_short xs = length xs < 5

prop_sum :: Int -> Int -> Property
prop_sum x y = x > 0 ==> x + y === y + x

-- prop> \\x -> x + 0 == (x :: Int)
"""


@test
def properties(d):
    d.file("p.df", PROPERTIES)
    out, _ = d.expect(1, "test", "p.df", "--engine=all")
    assert out.startswith("FAIL p.df:7: prop_short\n  *** Failed! Falsified (after ") and "[0,0,0,0,0]" in out, out
    assert "4 tests of 1 file on tagged, reference, demand, expanding: 3 passed, 1 failed" in out, out
    again, _ = d.expect(1, "test", "p.df", "--engine=all")
    assert again == out
    for seed in ("7", "7000"):
        d.expect(0, "test", "p.df", "--seed", seed, "--filter", "reverse|sum|x . 0", out="3 tests of 1 file on tagged: 3 passed, 0 failed\n")


GRADIENTS = """import Gradient

cube :: Double -> Double
cube x = x * x * x

left :: Double -> Double
left x = x * stopGradient x

half :: Float -> Float
half x = sin x / 2

-- GRAD: cube at 2
-- GRAD: left at 3
-- GRAD: half at 1
-- GRAD: \\(x, ys) -> cube x + sum (map cube ys) at (2, [1, 3])
-- GRAD: (\\at -> at at 2) at (\\x -> x)
-- GRAD: cube
-- GRAD: length at [1]
-- GRAD: (\\n -> fromIntegral n :: Double) at (3 :: Int)
-- GRAD: cube at 'c'
"""


@test
def gradients(d):
    """Reverse mode against forward mode and differences; what is no gradient is a failed test."""
    d.file("g.df", GRADIENTS)
    out, _ = d.expect(0, "test", "g.df", "--engine=all", "--filter=cube at 2|half|sum")
    assert out == "3 tests of 1 file on tagged, reference, demand, expanding: 3 passed, 0 failed\n", out
    out, _ = d.expect(1, "test", "g.df", "-v")
    assert "FAIL g.df:13: left at 3\n  *** along ones: reverse 3.0, forward 3.0, differences 6.0" in out, out
    assert "ok   g.df:12: cube at 2\n  along ones: reverse 12.0, forward 12.0, differences 12.0" in out, out
    assert "g.df:17: cube\n  `-- GRAD: function at argument` is wanted" in out, out
    assert "the argument holds no real number, and so there is no gradient" in out, out
    assert "-- GRAD: cube at 'c'" in out and "9 tests of 1 file on tagged: 3 passed, 6 failed" in out, out


@test
def differential(d):
    """Every engine, every switch; the same graph is run once."""
    d.file("a.df", "f :: Int -> Int\nf n = if n == 0 then 0 else n + f (n - 1)\n-- CASE: f 10 => 55\n-- CASE tagged: f 3 => 6\n-- CASE: f 4 => 11\n")
    out, _ = d.expect(1, "test", "a.df", "--differential", "--format=json")
    told = json.loads(out)["tests"]
    assert [t["passed"] for t in told] == [True, True, False] and not any(t["differs"] for t in told), out
    assert {r["engine"] for r in told[0]["runs"]} - {"ghc"} == {"tagged", "reference", "demand", "expanding"}, out
    assert "-O0" in {r["switches"] for r in told[0]["runs"]}, out


# A documented difference: GHC without optimisation has no infinity behind `realToFrac`.
WIDE = """{-# LANGUAGE LambdaCase #-}
module Wide where

import Data.List (sort)

infixl 6 |+|

-- | Not reached.
data Shape = Circle Double | Square Double deriving (Eq, Show)

(|+|) :: Int -> Int -> Int
a |+| b = a * 2 + b

wide :: Float -> Double
wide x = realToFrac x

unused :: Int -> String
unused n = unwords (map show (sort [n, n - 1]))

pick :: Bool -> [Float] -> Double
pick b xs
  | b = sum (map wide (filter (> 10) xs)) + 12
  | otherwise = fromIntegral (1 |+| 2)

-- CASE: pick True [1, 20, 1 / 0, 300] => Infinity
-- CASE: pick False [] => 4.0
-- CASE: unused 3 => "2 3"
-- CASE: 1 `div` (2 |+| (-4)) => error (divide by zero)
-- >>> let four = 2 |+| 0
-- >>> putStrLn (show four ++ "\\n") >> return four
-- 4
-- <BLANKLINE>
-- 4
-- >>> error "no"
-- *** Exception: no
"""


@test
def ghc_beside(d):
    """GHC, where it is, answers each test; what differs is shrunk to a program that replays; what GHC refuses is told as that."""
    if not shutil.which("ghc"):
        return
    d.file("Wide.df", WIDE)
    out, _ = d.expect(1, "test", "Wide.df", "--differential", "--timeout=25s")
    assert "FAIL Wide.df:25: pick True [1, 20, 1 / 0, 300]\n  on ghc:\n    expected  Infinity\n    printed   3.40282366920" in out, out
    assert out.count("FAIL ") == 1 and "GHC answers 6 tests, 5 of them as all others do\n6 tests of 1 file" in out, out
    smallest = out.split("----\n")[1]
    assert "realToFrac" in smallest and len(smallest) < len(WIDE) / 2 and not any(word in smallest for word in ("Shape", "unused", "reached")), smallest
    d.file("again.df", smallest)
    out, _ = d.expect(1, "test", "again.df", "--differential", "--timeout=10s", "--format=json")
    told = json.loads(out)["tests"]
    assert isinstance(told[0]["shrunk_to_the_end"], bool), out
    assert len(told) == 1 and told[0]["differs"] and {r["passed"] for r in told[0]["runs"] if r["engine"] == "ghc"} == {True}, out
    d.file("own.df", "import Gradient\n-- CASE: grad (\\x -> x * x) (3 :: Double) => 6.0\n")
    out, _ = d.expect(0, "test", "own.df", "--differential")
    assert "GHC refuses own.df: own.df:1:1: error: Could not find module" in out and "GHC answers 0 tests" in out, out
    d.file("part.df", "-- CASE: map (+ 1) [1] => [2]\n-- CASE: [] => []\n")
    out, _ = d.expect(0, "test", "part.df", "--differential")
    assert "GHC refuses part.df:2: []: " in out and "GHC answers 1 test, 1 of them" in out, out


@test
def ghc_that_reads(d):
    """A test that reads finds the end of its input, and does not take the questions behind it."""
    if not shutil.which("ghc"):
        return
    d.file("a.hs", "-- CASE: 1 => 1\n"
                   "-- CASE: getLine => error (end of file)\n-- CASE: 2 => 2\n")
    out, _ = d.expect(0, "test", "a.hs", "--differential")
    assert "GHC answers 3 tests, 3 of them" in out, out
    # An expression that dfc finds to refer to itself, and on which GHC's prompt goes on for ever.
    d.file("loop.hs", "f :: Int -> Int\nf n = let (a, b) = (b + n, a + n) in a\n-- CASE: f 2 => error (<<loop>>)\n-- CASE: 2 => 2\n")
    out, _ = d.expect(0, "test", "loop.hs", "--differential", "--timeout=4s")
    assert "GHC refuses loop.hs:3: f 2: it has not answered within 4 s\nGHC answers 1 test, 1 of them as all others do\n" in out, out


@test
def ghc_and_whole_programs(d):
    if not shutil.which("ghc"):
        return
    d.file("w.hs", "main :: IO ()\nmain = interact (unlines . map reverse . lines)\n")
    d.file("w.in", "abc\nde\n")
    d.file("w.out", "cba\ned\n")
    out, _ = d.expect(0, "test", "w.hs", "--differential")
    assert "GHC answers 1 test, 1 of them as all others do" in out, out


@test
def benchmarks(d):
    d.file("a.df", "up :: Int -> Int\nup n = sum [1 .. n]\n-- BENCH: up 2000\n-- BENCH: map up [1, 2]\n-- CASE: up 2 => 3\n")
    d.file("b.df", "up :: Int -> Int\nup n = n * (n + 1) `div` 2\n-- BENCH: up 2000\n")
    out, _ = d.expect(0, "bench", "a.df", "b.df", "--engine=tagged,demand", "--time=10ms", "--filter=up 2000")
    lines = out.splitlines()
    assert lines[0] == "a.df:3: up 2000" and [line.split()[:2] for line in lines[1:]] == [
        ["a.df", "tagged"], ["a.df", "demand"], ["b.df", "tagged"], ["b.df", "demand"]], out
    assert all(" runs" in line and "+-" in line for line in lines[1:]) and " x" in lines[4], out
    out, _ = d.expect(0, "bench", "a.df", "--also=-O0", "--time=10ms", "--format=json")
    told = json.loads(out)["benches"]
    assert [(b["name"], [w["switches"] for w in b["ways"]]) for b in told] == [("up 2000", ["", "-O0"]), ("map up [1, 2]", ["", "-O0"])], out
    assert all(w["runs"] >= 5 and w["median"] > 0 and w["least"] <= w["median"] for b in told for w in b["ways"]), out
    d.file("bad.df", "-- BENCH: 1 `div` 0\n-- BENCH: 'c' + True\n-- BENCH:\n")
    out, err = d.expect(1, "bench", "bad.df", "--time=1ms")
    assert "failed: divide by zero" in out and "bad.df:2: 'c' + True" in err and "there is nothing to evaluate" in err, out + err
    d.file("none.df", "-- CASE: 1 => 1\n")
    d.expect(1, "bench", "none.df", err="there is no line `-- BENCH: expression`")
    d.expect(2, "bench", "missing.df", err="there is no file or folder `missing.df`")
    d.expect(2, "bench", "a.df", "--time=soon", err="--time")


COVERED = """module Shapes where

import Sizes

area :: Shape -> Int
area (Circle r) = 3 * r * r
area (Square a)
  | a > 0 = a * a
  | otherwise = 0

name :: Shape -> String
name s = case s of
  Circle _ -> if area s > 10 then "large" else "small"
  Square _ -> "square"

-- CASE: area (Circle 2) => 12
-- CASE: area (Square 2) => 4
-- CASE: putStrLn (name (Circle 1)) => small
"""


@test
def coverage(d):
    """Clauses, guards and branches of the file and its modules; the results of tests do not change."""
    d.file("Shapes.df", COVERED)
    d.file("Sizes.df", "module Sizes where\n\ndata Shape = Circle Int | Square Int\n\nunused :: Int -> Int\nunused x = x\n")
    out, _ = d.expect(0, "test", "Shapes.df", "--coverage", "--engine=tagged,demand", "--coverage-html=pages")
    assert out == """3 tests of 1 file on tagged, demand: 3 passed, 0 failed
Shapes.df: 5 of 8 places ran
  Shapes.df:9:17: guard did not run: | otherwise = 0
  Shapes.df:13:35: `then` did not run: Circle _ -> if area s > 10 then "large" else "small"
  Shapes.df:14:15: alternative did not run: Square _ -> "square"
Sizes.df: 0 of 1 places ran
  Sizes.df:6:12: clause did not run: unused x = x
coverage: 5 of 9 places, 56%
""", out
    index, page = d.bytes("pages/index.html").decode(), d.bytes("pages/Shapes.df.html").decode()
    assert '<a href="Shapes.df.html">Shapes.df</a><td class=n>5 of 8' in index and '<a href="Sizes.df.html">' in index and "5 of 9" in index, index
    assert "5 of 8 places ran" in page and '<a href="#l9">9:17 guard</a>' in page and '<b class=not title="guard: 0 times">0</b>' in page, page
    d.file("bad.df", "f :: Int\nf = 'c'\n-- CASE: f => 1\n")
    out, _ = d.expect(1, "test", "bad.df", "--coverage")
    assert "bad.df:2:5" in out and "trace" not in out, out
    d.expect(1, "test", "Shapes.df", "--coverage-html=bad.df/pages", err="there can be no folder `bad.df/pages`")


@test
def watching(d):
    """What a change reaches is tested again: a module of the program, and not the other file."""
    d.file("M.df", "module M where\nf :: Int -> Int\nf x = x\n")
    d.file("a.df", "import M\n-- CASE: f 1 => 1\n")
    d.file("b.df", "-- CASE: 1 => 1\n")
    child = subprocess.Popen([d.dfc, "test", "a.df", "b.df", "--watch"], cwd=d.path, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "2 tests of 2 files on tagged: 2 passed, 0 failed\n"
        d.file("M.df", "module M where\nf :: Int -> Int\nf x = x + 1\n")
        said = [child.stdout.readline() for _ in range(7)]
        assert said == ["\n", "M.df changed\n", "FAIL a.df:2: f 1\n", "  expected  1\n", "  printed   2\n",
                        "1 test of 1 file on tagged: 0 passed, 1 failed\n", "of all 2 tests 1 fail\n"], said
        d.file("b.df", "-- CASE: 1 => 1\n-- CASE: 2 => 2\n")
        said = [child.stdout.readline() for _ in range(4)]
        assert said[1:] == ["b.df changed\n", "2 tests of 1 file on tagged: 2 passed, 0 failed\n", "of all 3 tests 1 fail\n"], said
    finally:
        child.send_signal(signal.SIGINT)
    assert child.wait(20) in (130, -signal.SIGINT), child.returncode
    d.expect(2, "test", "a.df", "--watch", "--update", err="--update")


if __name__ == "__main__":
    main()
