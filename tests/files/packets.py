#!/usr/bin/env python3
"""Files that hold one value exactly: packets.py --dfc build/dfc [--only NAME]."""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))

from promises import main, test

ENGINES = ("tagged", "reference", "demand", "expanding")

# Everything that a value may hold, and that no file of arrays does: Maps, characters, Integers beyond 64 bits, types that refer to each other.
MODEL = """import qualified Data.Map as M
import qualified Tensor as T
data Colour = Red | Green | Blue deriving (Eq, Ord, Show)
data Tree a = Tip | Fork (Tree a) !a (Tree a) deriving Show
data State = State { counts :: M.Map String [Integer], rate :: !Double, mark :: Maybe Char, unit :: (), pairs :: [Maybe (Int, Bool)],
                     weights :: M.Map Colour (Tensor Float [2, 3]), table :: Tensor Double [120, 100], tree :: Tree (Either Float Colour) }
           deriving Show
main :: Maybe State -> State
main (Just s) = s
main Nothing = State { counts = M.fromList [("h\\233", [1, -1, 2 ^ 100, negate (3 ^ 90)]), ("", [])], rate = 0 / 0, mark = Just '\\1114111', unit = (),
                       pairs = [Nothing, Just (minBound, True), shared, shared], weights = M.fromList [(Blue, T.fill (1 / 0)), (Red, -0.5)],
                       table = T.fill 0.1, tree = Fork (Fork Tip (Left 1.5) Tip) (Right Green) Tip }
  where shared = Just (3, False)
"""


def damage(data, at, to):
    return data[:at] + to + data[at + len(to):]


@test
def a_value_comes_back_on_every_engine(d):
    d.file("p.df", MODEL)
    whole, _ = d.expect(0, "run", "p.df")
    d.expect(0, "run", "p.df", "--output", "@a.packet", out="")
    d.expect(0, "run", "p.df", "--input", "arg1=@a.packet", out=whole)
    for engine in ENGINES:
        d.expect(0, "run", "p.df", "--input", "arg1=@a.packet", "--output", "@b.packet", "--engine", engine)
        assert d.bytes("a.packet") == d.bytes("b.packet"), engine
        d.expect(0, "run", "p.df", "--output", "@b.packet", "--engine", engine)
        assert d.bytes("a.packet") == d.bytes("b.packet"), engine
    # A graph file, too, and a part of a value.
    d.file("q.df", MODEL.replace("main :: Maybe State -> State\nmain (Just s) = s\nmain Nothing =", "start :: State\nstart =") +
           "main :: (Int, State)\nmain = (1, start)\n")
    d.expect(0, "run", "q.df", "--output", "1=@c.packet")
    assert d.bytes("c.packet") == d.bytes("a.packet")


@test
def lists_are_as_long_as_there_is_memory(d):
    d.file("p.df", "main :: Int -> [Int]\nmain n = map (* 3) [1 .. n]\n")
    d.file("q.df", "main :: [Int] -> (Int, Int)\nmain xs = (length xs, sum xs)\n")
    d.expect(0, "run", "p.df", "--input", "n=300000", "--output", "@l.packet")
    d.expect(0, "run", "q.df", "--input", "xs=@l.packet", out="(300000,135000450000)\n")
    d.expect(3, "run", "q.df", "--input", "xs=@l.packet", "--max-memory=4M", err="the memory limit of 4 MiB is reached")


@test
def texts_and_tensors(d):
    d.file("p.df", 'import Tensor (Element)\nmain :: (String, Tensor Float [2, 2], [Tensor Int [1]])\nmain = ("\\1234\\n", 0.5, [1, 2])\n')
    d.expect(0, "run", "p.df", "--output", "0=@s.packet", "--output", "1=@t.packet", "--output", "2=@l.packet")
    d.file("q.df", "import qualified Tensor as T\nmain :: String -> Tensor Float [m, n] -> [Tensor Int [1]] -> (String, Float, [Tensor Int [1]])\n"
                   "main s t l = (s, T.sum t, l)\n")
    d.expect(0, "run", "q.df", "--input", "s=@s.packet", "--input", "t=@t.packet", "--input", "l=@l.packet", out='("\\1234\\n",2.0,[[1],[2]])\n')
    d.expect(1, "run", "q.df", "--input", "s=a", "--input", "t=@s.packet", "--input", "l=[]", err="it holds a [Char]")


@test
def what_is_not_of_the_type_is_refused_by_name(d):
    d.file("p.df", MODEL)
    d.expect(0, "run", "p.df", "--output", "@a.packet")
    d.file("q.df", "main :: [Int] -> Int\nmain = sum\n")
    d.expect(2, "run", "q.df", "--input", "arg1=@a.packet", err="the value of the input `arg1`: the file holds a State, and a [Int] is expected")
    for old, new, want in (("rate", "pace", "in `State` it has `rate:Double` where `pace:Double` is expected"),
                           ("Tip | Fork", "Fork", "it has `Tip` where `Fork` is expected"),
                           ("Red | Green | Blue", "Red | Green | Blue | Black", "in `Colour` it has nothing more where `|` is expected"),
                           ("[120, 100]", "[120, 10]", "where it has a Tensor Double [120, 100], a Tensor Double [120, 10] is expected"),
                           ("unit :: ()", "unit :: Bool", "in `State` it has `unit:Unit` where `unit:Bool` is expected")):
        model = MODEL.replace(old, new)
        if new.startswith("unit"):
            model = model.replace("unit = ()", "unit = True")
        if new == "Fork":
            model = model.replace("(Tree a) !a (Tree a)", "[Tree a] !a").replace("Fork (Fork Tip (Left 1.5) Tip) (Right Green) Tip", "Fork [] (Right Green)")
        d.file("r.df", model)
        d.expect(2, "run", "r.df", "--input", "arg1=@a.packet", err="the file holds a `State` of another program: ")
        d.expect(2, "run", "r.df", "--input", "arg1=@a.packet", err=want)


@test
def damaged_files_are_refused(d):
    d.file("p.df", MODEL)
    d.expect(0, "run", "p.df", "--output", "@a.packet")
    d.expect(0, "p.df", "-o", "p.graph")
    data = d.bytes("a.packet")
    for bytes_, want in ((data[:1000], "the file is cut off: it has 1000 of %d bytes" % len(data)),
                         (data[:40], "the file is cut off: it ends after 40 bytes"),
                         (data[:-1], "the file is cut off: it has %d of %d bytes" % (len(data) - 1, len(data))),
                         (data + b"x", "the file has 1 bytes more than its %d" % len(data)),
                         (damage(data, 500, b"~"), "the file is damaged: its checksum does not fit"),
                         (damage(data, 24, b"~"), "the file is damaged: its checksum does not fit"),
                         (damage(data, 8, struct.pack("<I", 2)), "the file is of version 2 of packets, and this program reads version 1"),
                         (data.replace(b"\r\n", b"\n", 1), "the file is damaged: its line ends were changed")):
        d.file("b.packet", bytes_)
        d.expect(2, "run", "p.graph", "--input", "arg1=@b.packet", err="the value of the input `arg1`: " + want)


@test
def what_no_file_holds(d):
    d.file("p.df", "main :: Int -> [Int]\nmain n = let xs = n : n : xs in xs\n")
    d.expect(1, "run", "p.df", "--input", "n=3", "--output", "@a.packet", err="`a.packet`: it has a value that holds itself, which no file holds")
    d.file("p.df", "main :: [Int]\nmain = map (div 10) [3, 2 .. 0]\n")
    d.expect(1, "run", "p.df", "--output", "@a.packet", err="error: divide by zero")
    d.file("p.df", "main :: (Int, Maybe Int)\nmain = (1, error \"why\")\n")
    d.expect(1, "run", "p.df", "--output", "@a.packet", err="error: why")
    d.file("p.df", "main :: [Int]\nmain = [1 ..]\n")
    d.expect(3, "run", "p.df", "--output", "@a.packet", "--timeout=300ms", err="the time limit of 0.3 s is reached")
    d.expect(3, "run", "p.df", "--output", "@a.packet", "--max-memory=20M", err="the memory limit of 20 MiB is reached")
    assert not os.path.exists(os.path.join(d.path, "a.packet"))


@test
def a_run_of_records_goes_on(d):
    line = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../samples/training/line.df"), encoding="utf-8").read()
    d.file("line.df", line)
    points = ("--input", "points=[(0, 1), (1, 3), (2, 5)]")
    d.expect(0, "run", "line.df", *points, "--input", "steps=6", "--output", "state=@whole.packet")
    d.expect(0, "run", "line.df", *points, "--input", "steps=3", "--output", "state=@half.packet")
    d.expect(0, "run", "line.df", *points, "--input", "steps=6", "--resume", "--output", "state=@half.packet")
    assert d.bytes("half.packet") == d.bytes("whole.packet")


if __name__ == "__main__":
    main()
