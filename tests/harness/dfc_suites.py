#!/usr/bin/env python3
"""What HUnit's and Hspec's trees promise: as programs what GHC's print, under `dfc test` each example a test. One function per promise.

    dfc_suites.py --dfc build/dfc [--only NAME]
"""

import glob
import json
import os
import shutil
import sys
import xml.etree.ElementTree as ET

from promises import main, test

SUITES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "suites")
sys.path.insert(0, SUITES)
from answers import answer  # noqa: E402


class Done:
    def __init__(self, code, out, err):
        self.returncode, self.stdout, self.stderr = code, out.encode(), err.encode()


@test
def as_programs(d):
    """Byte for byte what GHC's packages print, but for the time."""
    for path in sorted(glob.glob(os.path.join(SUITES, "*.hs"))):
        name = shutil.copy(path, d.path)
        got = answer(Done(*d.run("run", os.path.basename(name))))
        with open(path[:-3] + ".expected", newline="") as file:
            expected = file.read()
        assert got == expected, "%s:\n%s" % (path, got)


SPEC = """import Test.Hspec
import Test.Hspec.QuickCheck

main :: IO ()
main = hspec $ do
  describe "reverse" $ do
    it "turns a list round" $ reverse [1, 2, 3 :: Int] `shouldBe` [3, 2, 1]
    it "is wrong here" $
      reverse "abc" `shouldBe` "cab"
    prop "is its own inverse" $ \\xs -> reverse (reverse xs) == (xs :: [Int])
    prop "does nothing" $ \\xs -> reverse xs == (xs :: [Int])
  it "comes later" pending
"""


@test
def examples_are_tests(d):
    d.file("spec.hs", SPEC)
    out, _ = d.expect(1, "test", "spec.hs", "--engine=tagged,demand", "-v")
    assert out == """FAIL spec.hs:9: reverse is wrong here
  expected: "cab"
   but got: "cba"
FAIL spec.hs:11: reverse does nothing
  Falsified (after 5 tests and 2 shrinks):
    [0,1]
ok   spec.hs:7: reverse turns a list round
ok   spec.hs:10: reverse is its own inverse
  +++ OK, passed 100 tests.
     spec.hs:12: comes later
  # PENDING: No reason given
5 tests of 1 file on tagged, demand: 2 passed, 2 failed, 1 pending
""", out
    out, _ = d.expect(0, "test", "spec.hs", "--filter=round|inverse", out="2 tests of 1 file on tagged: 2 passed, 0 failed\n")
    out, _ = d.expect(1, "test", "spec.hs", "--format=json")
    told = json.loads(out)
    assert told["summary"] == {"tests": 5, "failed": 2, "pending": 1, "files": 1, "broken": 0}, told
    out, _ = d.expect(1, "test", "spec.hs", "--format=junit")
    assert len(ET.fromstring(out).findall("testsuite/testcase/skipped")) == 1, out


@test
def without_main(d):
    """`spec` and `tests` of a module; a program that tells of no example, or ends before its time."""
    d.file("Spec.hs", "module Spec where\nimport Test.Hspec\n\nspec :: Spec\nspec = describe \"a\" $ it \"b\" $ 1 `shouldBe` (2 :: Int)\n")
    d.file("Units.hs", "module Units (tests) where\nimport Test.HUnit\n\ntests :: Test\ntests = TestList [\"one\" ~: 1 ~=? (1 :: Int), \"two\" ~: True ~? \"no\"]\n")
    out, _ = d.expect(1, "test", "Spec.hs", "Units.hs", "-v")
    assert "FAIL Spec.hs:5: a b\n  expected: 2\n   but got: 1\n" in out and "3 tests of 2 files on tagged: 2 passed, 1 failed" in out, out
    assert "ok   Units.hs:5: 0:one\n" in out, out
    d.file("none.hs", "import Test.HUnit\nmain :: IO ()\nmain = putStrLn \"nothing\"\n")
    d.expect(0, "test", "none.hs", out="1 test of 1 file on tagged: 1 passed, 0 failed\n")
    d.file("ends.hs", "import Test.Hspec\nmain :: IO ()\nmain = do\n  hspec (it \"a\" True)\n  putStrLn \"then\"\n  error \"no more\"\n")
    out, _ = d.expect(1, "test", "ends.hs")
    assert "FAIL ends.hs:3: main\n  then\n  error: no more\n" in out and "2 tests of 1 file on tagged: 1 passed, 1 failed" in out, out


@test
def command_line_of_hspec(d):
    d.file("spec.hs", SPEC)
    out, _ = d.expect(0, "run", "spec.hs", "--", "--match", "turns", "--seed", "3")
    assert "\nreverse\n  turns a list round\n\nFinished in " in out and "1 example, 0 failures\n" in out, out
    out, _ = d.expect(0, "run", "spec.hs", "--", "--skip=wrong", "--skip=nothing", "--format=progress")
    assert out.startswith("...\nFinished in "), out
    out, _ = d.expect(1, "run", "spec.hs", "--", "--fail-fast")
    assert "2 examples, 1 failure\n" in out, out
    out, _ = d.expect(0, "run", "spec.hs", "--", "--dry-run")
    assert "5 examples, 0 failures\n" in out, out
    d.expect(1, "run", "spec.hs", "--", "--quick", err="unrecognized option `--quick'")
    d.expect(1, "run", "spec.hs", "--", "--seed", "x", err="invalid argument `x' for `--seed'")


@test
def wrong_uses(d):
    """What is said of mistakes names what the program wrote, and not the place that an assertion is given."""
    d.file("a.hs", "import Test.Hspec\nmain :: IO ()\nmain = hspec $ it \"a\" $ length \"abc\" `shouldBe` 'c'\n")
    _, err = d.expect(1, "check", "a.hs")
    assert "PrimSite" not in err and "a.hs:3:" in err, err
    d.file("b.hs", "import Test.HUnit\nmain :: IO Counts\nmain = runTestTT (TestCase (assertEqual 1 2))\n")
    _, err = d.expect(1, "check", "b.hs")
    assert "PrimSite" not in err, err
    d.file("c.hs", "import Test.Hspec\nmain :: IO ()\nmain = hspec $ it \"a\" (1 :: Int)\n")
    _, err = d.expect(1, "check", "c.hs")
    assert "Example" in err and "PrimSite" not in err, err


if __name__ == "__main__":
    main()
