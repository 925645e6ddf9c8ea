#!/usr/bin/env python3
"""Random functions on Int, Integer and Double that call themselves and each other give the same as machine code, in the interpreter
of unboxed code, and on the reference engine: values, messages and call paths.

    random_words.py --dfc build/dfc [--first SEED] [--count N]

They have many parameters and nested choices, so that registers run out and ways meet, divide by constants of all kinds, and
overflow. A seed says which program; print it with --show.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile

INTEGERS = (0, 1, 2, 3, 7, 10, 12, 16, 100, 641, 1000, 65536, 10**9 + 7, 2**31, 2**32 + 1, 2**40, 2**62, -1, -2, -7, -100, -(2**33), 2**63 - 1)
DOUBLES = ("0.5", "1.5", "(-2.25)", "3", "0.1", "1e10", "(-0.0)")
NAMES = {"I": "Int", "Z": "Integer", "D": "Double"}
INPUTS = ((4, 3), (9, -7), (14, 100))  # n: how deep; k
TIMEOUT = 10


class Writer:
    """One program: up to three functions of a depth and up to six numbers."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.whole = self.random.choice("IIZ")  # whole numbers are of this type
        kinds = (self.whole, self.whole, "D")
        self.functions = {name: ([self.random.choice(kinds) for _ in range(self.random.randint(1, 6))], self.random.choice(kinds))
                          for name in ("f", "g", "h")[: self.random.randint(1, 3)]}

    def literal(self, kind):
        if kind == "D":
            return self.random.choice(DOUBLES)
        number = self.random.choice(INTEGERS)
        return "(%d)" % number if number < 0 else str(number)

    def choice(self, kind, scope, depth):
        return "(if %s then %s else %s)" % (self.test(scope, depth), self.expr(kind, scope, depth), self.expr(kind, scope, depth))

    def expr(self, kind, scope, depth):
        r = self.random
        variables = [name for name, of in scope if of == kind]
        if depth == 0 or r.random() < 0.15:
            return r.choice(variables) if variables and r.random() < 0.8 else self.literal(kind)
        way = r.random()
        if way < 0.6:
            return "(%s %s %s)" % (self.expr(kind, scope, depth - 1), r.choice("+-*/" if kind == "D" else "+-*"), self.expr(kind, scope, depth - 1))
        if way < 0.85 and kind == "D":
            form = r.choice(("(fromIntegral %s)", "(negate %s)", "(sqrt (%s))"))
            return form % self.expr(self.whole if "from" in form else "D", scope, depth - 1)
        if way < 0.8:
            divisor = self.literal(kind) if r.random() < 0.6 else self.expr(kind, scope, depth - 1)
            op = r.choice(("div", "mod", "quot", "rem"))
            return "(%s `%s` %s)" % (self.expr(kind, scope, depth - 1), op, "12" if divisor == "0" else divisor)
        if way < 0.85:
            return "(%s %s)" % (r.choice(("abs", "negate")), self.expr(kind, scope, depth - 1))
        return self.choice(kind, scope, depth - 1)

    def test(self, scope, depth):
        kind = self.random.choice((self.whole, self.whole, "D"))
        text = "%s %s %s" % (self.expr(kind, scope, depth), self.random.choice(("<", "<=", ">", ">=", "==", "/=")), self.expr(kind, scope, depth))
        if self.random.random() < 0.2:
            text = "(%s) %s (%s)" % (text, self.random.choice(("&&", "||")), self.test(scope, max(depth - 1, 0)))
        return text

    def call(self, name, scope, steps):
        arguments = (self.expr(kind, scope, 2 if self.random.random() < 0.7 else 0) for kind in self.functions[name][0])
        return "%s (n - %d) %s" % (name, steps, " ".join(arguments))

    def body(self, result, scope, depth):
        r = self.random
        way = r.random()
        if depth > 0 and way < 0.5:
            return "if %s then %s else %s" % (self.test(scope, 2), self.body(result, scope, depth - 1), self.body(result, scope, depth - 1))
        if way < 0.7:
            return self.call(r.choice([name for name, (_, of) in self.functions.items() if of == result]), scope, r.randint(1, 2))
        if way < 0.95:
            name = r.choice(list(self.functions))
            inner = "(%s)" % self.call(name, scope, r.randint(1, 3))
            if self.functions[name][1] != result:
                inner = "(fromIntegral %s)" % inner if result == "D" else "(if %s > 1.5 then 2 else 5)" % inner
            return "%s %s %s" % (inner, r.choice("+-*"), self.expr(result, scope, 1))
        return self.expr(result, scope, 2)

    def program(self):
        lines = []
        for name, (kinds, result) in self.functions.items():
            scope = list(zip("abcuvw", kinds))
            lines.append("%s :: Int -> %s -> %s" % (name, " -> ".join(NAMES[kind] for kind in kinds), NAMES[result]))
            lines.append("%s n %s = if n <= 0 then %s else %s" % (name, " ".join(v for v, _ in scope), self.expr(result, scope, 2), self.body(result, scope, 3)))
        kinds, result = self.functions["f"]
        given = ("(fromIntegral k)" if self.random.random() < 0.5 else self.literal(kind) for kind in kinds)
        lines.append("main :: Int -> Int -> %s" % NAMES[result])
        lines.append("main n k = f n %s" % " ".join(given))
        return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dfc", required=True, type=os.path.abspath)
    parser.add_argument("--first", type=int, default=1, metavar="SEED")
    parser.add_argument("--count", type=int, default=40, metavar="N")
    parser.add_argument("--show", action="store_true", help="print the first program, and run nothing")
    args = parser.parse_args()
    if args.show:
        print(Writer(args.first).program(), end="")
        return 0
    runs = faults = failing = 0
    with tempfile.TemporaryDirectory() as folder:
        source, graph = os.path.join(folder, "p.df"), os.path.join(folder, "p.graph")
        for seed in range(args.first, args.first + args.count):
            with open(source, "w", encoding="utf-8") as file:
                file.write(Writer(seed).program())
            subprocess.run([args.dfc, source, "-o", graph], check=True, capture_output=True, timeout=60)
            for n, k in INPUTS:
                def run(*flags):
                    try:
                        done = subprocess.run([args.dfc, "run", *flags, graph, "--input", "n=%d" % n, "--input", "k=%d" % k],
                                              capture_output=True, timeout=TIMEOUT)
                    except subprocess.TimeoutExpired:
                        return None  # as is no fault: the reference engine takes long
                    return done.returncode, done.stdout, done.stderr

                wanted = run("--without=native", "--threads=1")
                if wanted is None:
                    continue
                failing += wanted[0] != 0
                ways = [("--threads=1",), ("--threads=2", "--stress=%d" % (seed % 9 + 1))] + [("--engine=reference",)] * (n < 9)
                for way in ways:
                    runs += 1
                    got = run(*way)
                    if got is not None and got != wanted:
                        faults += 1
                        print("seed %d, n = %d, k = %d, %s: %s\ninstead of %s" % (seed, n, k, " ".join(way), got, wanted))
    print("%d runs, %d faults; of the programs' runs %d fail" % (runs, faults, failing))
    return 1 if faults or runs < args.count else 0


if __name__ == "__main__":
    sys.exit(main())
