#!/usr/bin/env python3
"""Random programs that change references and arrays give on every engine, under every switch and on several threads what the same steps
give here, done on lists.

    state.py --dfc build/dfc [--programs N] [--first N]

A program is a do block of ST: references and arrays of several types are made, read, changed in loops and under conditions, frozen and
thawed; what is read goes into later steps, late or at once. A program with a step that fails has the message of that step.
"""

import argparse
import concurrent.futures
import os
import random
import subprocess
import sys
import tempfile

TIMEOUT = 120
SIZE = 5
WAYS = [
    ([], []), (["-O0"], []), (["--no-loops"], []),
    ([], ["--engine=reference"]), ([], ["--engine=demand"]), ([], ["--engine=expanding"]), (["-O0"], ["--engine=reference"]),
    ([], ["--without=native"]), ([], ["--without=direct"]), ([], ["--without=eager"]), ([], ["--without=words"]),
    ([], ["--threads=2", "--stress=3"]), ([], ["--threads=3", "--stress=5", "--without=native"]),
] + [(["--without=" + name], []) for name in
     ("inline", "match", "fold", "higher-order", "float-in", "fuse", "demand", "parts", "unbox", "speculate", "fields", "sink-fields",
      "delayed-calls", "tests")]


class Block:
    """A do block that is written and done at once."""

    def __init__(self, dice):
        self.dice = dice
        self.refs = {}    # name: its value
        self.arrays = {}  # name: its elements
        self.names = 0
        self.values = {}  # name of an Int that was read: its value

    def fresh(self, letter):
        self.names += 1
        return "%s%d" % (letter, self.names)

    def number(self):
        """An expression of type Int, and a function that gives its value."""
        known = list(self.values)
        kind = self.dice.randrange(4)
        if kind == 0 or not known:
            n = self.dice.randrange(-9, 10)
            return "(%d)" % n, lambda: n
        a, b = self.dice.choice(known), self.dice.choice(known)
        if kind == 1:
            return a, lambda: self.values[a]
        if kind == 2:
            return "(%s - %s)" % (a, b), lambda: self.values[a] - self.values[b]
        return "(%s * 3 + %s)" % (a, b), lambda: (self.values[a] * 3 + self.values[b])

    def index(self):
        text, value = self.number()
        return "(%s `mod` %d)" % (text, SIZE), lambda: value() % SIZE

    def step(self, lines, indent, depth):
        pad = "  " * indent
        add = lambda text: lines.append(pad + text)
        kind = self.dice.randrange(12)
        if kind == 0 or not self.refs:
            if depth:
                return
            name = self.fresh("r")
            text, value = self.number()
            add("%s <- newSTRef %s" % (name, text))
            self.refs[name] = value()
        elif kind == 1 or not self.arrays:
            if depth:
                return
            name = self.fresh("a")
            text, value = self.number()
            kind = self.dice.choice(["STArray", "STUArray", "STUArray"])
            add("%s <- newArray (0, %d) %s :: ST s (%s s Int Int)" % (name, SIZE - 1, text, kind))
            self.arrays[name] = [value()] * SIZE
        elif kind == 2:
            ref, name = self.dice.choice(list(self.refs)), self.fresh("x")
            if depth:
                return
            add("%s <- readSTRef %s" % (name, ref))
            self.values[name] = self.refs[ref]
        elif kind == 3:
            ref = self.dice.choice(list(self.refs))
            text, value = self.number()
            add("writeSTRef %s %s" % (ref, text))
            self.refs[ref] = value()
        elif kind == 4:
            ref = self.dice.choice(list(self.refs))
            text, value = self.number()
            add("modifySTRef%s %s (\\x -> x * 2 - %s)" % (self.dice.choice(["", "'"]), ref, text))
            self.refs[ref] = self.refs[ref] * 2 - value()
        elif kind == 5:
            array, name = self.dice.choice(list(self.arrays)), self.fresh("y")
            text, at = self.index()
            if depth:
                return
            add("%s <- readArray %s %s" % (name, array, text))
            self.values[name] = self.arrays[array][at()]
        elif kind == 6:
            array = self.dice.choice(list(self.arrays))
            (text, at), (new, value) = self.index(), self.number()
            add("writeArray %s %s %s" % (array, text, new))
            self.arrays[array][at()] = value()
        elif kind == 7 and depth < 2:
            array, ref = self.dice.choice(list(self.arrays)), self.dice.choice(list(self.refs))
            add("forM_ [0 .. %d] $ \\i -> do" % (SIZE - 1))
            add("  x <- readArray %s i" % array)
            add("  writeArray %s ((i * 2 + 1) `mod` %d) (x + i)" % (array, SIZE))
            add("  when (odd x) $ modifySTRef' %s (+ x)" % ref)
            for i in range(SIZE):
                x = self.arrays[array][i]
                self.arrays[array][(i * 2 + 1) % SIZE] = x + i
                if x % 2:
                    self.refs[ref] += x
        elif kind == 8 and depth < 2:
            text, value = self.number()
            taken, other = [], []
            before = (dict(self.refs), {a: list(e) for a, e in self.arrays.items()})
            self.some(taken, indent + 2, depth + 1)
            after = (self.refs, self.arrays)
            self.refs, self.arrays = before
            self.some(other, indent + 2, depth + 1)
            if value() > 0:
                self.refs, self.arrays = after
            add("if %s > 0" % text)
            lines.append(pad + "  then do")
            lines.extend(taken or [pad + "    return ()"])
            lines.append(pad + "  else do")
            lines.extend(other or [pad + "    return ()"])
        elif kind == 9:
            array = self.dice.choice(list(self.arrays))
            name = self.fresh("z")
            if depth:
                return
            add("%s <- sum <$> getElems %s" % (name, array))
            self.values[name] = sum(self.arrays[array])
        elif kind == 10 and not depth:
            array, name = self.dice.choice(list(self.arrays)), self.fresh("a")
            add("%s <- newListArray (0, %d) . map (+ 1) =<< getElems %s :: ST s (STUArray s Int Int)" % (name, SIZE - 1, array))
            self.arrays[name] = [e + 1 for e in self.arrays[array]]
        elif kind == 11:
            ref = self.dice.choice(list(self.refs))
            text, value = self.number()
            add("writeSTRef %s (runST (newSTRef %s >>= \\q -> modifySTRef q (+ 1) >> readSTRef q))" % (ref, text))
            self.refs[ref] = value() + 1

    def some(self, lines, indent, depth):
        for _ in range(self.dice.randrange(1, 4)):
            self.step(lines, indent, depth)


def program(seed):
    """The text of a program, and what it prints; or the message that it fails with."""
    dice = random.Random(seed)
    block, lines = Block(dice), []
    for _ in range(dice.randrange(6, 30)):
        block.step(lines, 1, 0)
    for name, value in list(block.refs.items()):
        lines.append("  v%s <- readSTRef %s" % (name, name))
    for name in block.arrays:
        lines.append("  v%s <- getElems %s" % (name, name))
    wrap = lambda n: (n + 2**63) % 2**64 - 2**63
    fails = dice.random() < 0.2 and block.arrays
    if fails:
        lines.append("  writeArray %s %d 1" % (dice.choice(list(block.arrays)), SIZE + 2))
    lines.append("  return ([%s] :: [Int], [%s] :: [[Int]])" % (", ".join("v" + r for r in block.refs), ", ".join("v" + a for a in block.arrays)))
    text = "\n".join(["{-# LANGUAGE FlexibleContexts #-}", "import Control.Monad", "import Control.Monad.ST", "import Data.STRef", "import Data.Array.ST", "",
                      "main = runST $ do"] + lines) + "\n"
    show = lambda values: "[%s]" % ",".join(str(wrap(v)) for v in values)
    if fails:
        return text, None, "Ix{Int}.index: Index (%d) out of range ((0,%d))" % (SIZE + 2, SIZE - 1)
    return text, "(%s,[%s])\n" % (show(block.refs.values()), ",".join(show(e) for e in block.arrays.values())), None


def check(dfc, seed):
    text, value, message = program(seed)
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "p.df")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        for compiled, ran in WAYS:
            graph = os.path.join(folder, "p.graph")
            made = subprocess.run([dfc, source, "--no-warnings", "-o", graph] + compiled, capture_output=True, text=True, timeout=TIMEOUT)
            if made.returncode:
                faults.append("%s: does not compile\n%s" % (compiled, made.stderr))
                break
            done = subprocess.run([dfc, "run", graph] + ran, capture_output=True, text=True, timeout=TIMEOUT)
            good = done.returncode == 0 and done.stdout == value if message is None else done.returncode == 1 and message in done.stderr
            if not good:
                faults.append("%s: exit code %d\n%s%s  expected %s" % (" ".join(compiled + ran), done.returncode, done.stdout, done.stderr, value or message))
    return ["seed %d\n%s\n%s" % (seed, text, fault) for fault in faults]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--programs", type=int, default=12)
    parser.add_argument("--first", type=int, default=1)
    args = parser.parse_args()
    dfc = os.path.abspath(args.dfc)
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for faults in pool.map(lambda seed: check(dfc, seed), range(args.first, args.first + args.programs)):
            bad += bool(faults)
            for fault in faults[:1]:
                print(fault)
    print("%d programs with state, %d ways each: %d wrong" % (args.programs, len(WAYS), bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
