#!/usr/bin/env python3
"""What `dfc test` promises: which tests it finds, what passes, what it says of those that do not, exit codes. One function per promise.

    dfc_test.py --dfc build/dfc [--only NAME]
"""

import json
import os
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
    assert told["summary"] == {"tests": 2, "failed": 1, "files": 1, "broken": 0}, told
    assert [(t["name"], t["passed"], len(t["runs"])) for t in told["tests"]] == [("1 + 1", True, 2), ('"<&>"', False, 2)], told
    out, _ = d.expect(1, "test", "a.df", "--format=junit")
    suite = ET.fromstring(out).find("testsuite")
    assert suite.get("tests") == "2" and suite.get("failures") == "1" and len(suite.findall("testcase/failure")) == 1, out


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


if __name__ == "__main__":
    main()
