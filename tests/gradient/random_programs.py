#!/usr/bin/env python3
"""Random differentiable programs: reverse mode against forward mode and central differences, on every engine.

    random_programs.py --dfc build/dfc [--first 1] [--count 200] [--jobs 2] [--keep FOLDER] [--stop-at N] [--quiet]

A program is a function of a number, a vector, a matrix and a tree, with recursion (mutual, on counters and trees), branches on
integers, values and constructors, data types, lists, functions as values, and definitions, elements and parts of data that not
every path needs, or none. At a random point and in a random direction its derivative is computed by reverse mode, by forward mode
(to 1e-10 of the first) and by central differences of two widths: a kink inside the one is outside the other. Numbers stay bounded,
so that rounding does. Several programs share a file, which spares starts; one that fails is run again program by program. Each run of
RUNS must print the same, and what --no-optimize and --no-loops compile the same but for rounding.
"""

import concurrent.futures
import os
import random
import re
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "differential"))

from engines import arguments, execute, histogram

PER_FILE = 8
# Compiled how, and run how; whether the bits are those of the first run, or the same but for rounding: the gradient is that of the
# optimised program, without optimisation its sums may have another order.
ENGINES = [["--engine=reference"], ["--engine=demand"], ["--engine=expanding"]]
BATCHES = [["--batch=off", "--threads=1"], ["--batch=3", "--threads=3", "--device=simulated"]]
RUNS = [
    ([], [["--engine=tagged"]] + ENGINES + BATCHES, True),
    (["--gradient=table"], [["--engine=tagged"]] + ENGINES, True),
    (["--gradient=recompute"], [["--engine=tagged"]], True),
    (["--no-optimize"], [["--engine=tagged"]], False),
    (["--no-loops"], [["--engine=tagged"]], False),
]

PRELUDE = """module Main where

import Gradient
import Optim
import qualified Tensor as T

type V = Tensor Double [3]
type M = Tensor Double [3, 3]
data Tree = Leaf V | Node Double Tree Tree
type Input = (Double, V, M, Tree)

instance Show Tree where
  show _ = "tree"

waves :: Double -> Tensor Double s
waves k = sin (T.fill k * T.convert (T.iota + 1))

tree :: Double -> Int -> Tree
tree k n = if n <= 0 then Leaf (waves k) else Node (sin k) (tree (k + 0.7) (n - 1)) (tree (k * 1.3) (n - 2))

point :: Double -> Int -> Input
point k n = (sin k, waves (k + 1), 0.5 * waves (k + 2), tree k n)

-- The value and the derivative along d: reverse mode, forward mode, differences.
check :: (Input -> Double) -> Input -> Input -> [Double]
check f p d = [value, backward, forward, difference 1e-4, difference 1e-5]
  where
    (value, forward) = jvp f p d
    backward = grad (\\t -> f (plus p (scaled t d))) 0
    difference h = (f (plus p (scaled h d)) - f (plus p (scaled (negate h) d))) / (2 * h)

-- Attention: a weighted mean of the vectors, if there are any.
attend :: V -> [V] -> V
attend q vs = foldr (+) q (zipWith (\\w v -> T.fill (w / total) * v) ws vs)
  where
    ws = map (\\v -> exp (tanh (T.dot q v))) vs
    total = sum ws

-- What nobody may look at.
never :: Int -> V -> V
never k v = if k < 0 then v else if k > 50 then error "this is not needed" else v * never (k + 1) v

vsum :: Tree -> V
vsum (Leaf v) = v
vsum (Node x l r) = tanh (T.fill x * vsum l + vsum r)

"""


class Program:
    """The functions of one program, and their text. Types: D, V, M, T (tree), L (list of numbers), P (Maybe a number), W (list of
    vectors, which are delayed), Q (a pair of tensors), Z (a number that fails and that nothing needed looks at)."""

    NAMES = {"D": "Double", "V": "V", "M": "M", "T": "Tree", "L": "[Double]", "P": "Maybe Double", "W": "[V]", "Q": "(V, M)"}

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.prefix = "p%d_" % seed
        count = self.r.randint(1, 3)
        # Each has a counter, that every call lowers, and parameters.
        self.signatures = [("%sf%d" % (self.prefix, i), [self.r.choice("DDVMTLPWWQ") for _ in range(self.r.randint(1, 3))],
                            self.r.choice("DDVVML")) for i in range(count)]
        self.fresh = 0

    def name(self, kind):
        self.fresh += 1
        return "%s%d" % (kind.lower(), self.fresh)

    def literal(self):
        return self.r.choice(["0.5", "1.25", "2", "(-0.75)", "0.1", "(-1.5)"])

    def text(self):
        out = []
        for name, parameters, result in self.signatures:
            scope = [(self.name(kind), kind) for kind in parameters]
            self.calls = 2
            base = self.expression(result, scope, 2, False)
            body = self.expression(result, scope, 5, True)
            types = ["Int"] + [self.NAMES[kind] for kind in parameters] + [self.NAMES[result]]
            out.append("%s :: %s" % (name, " -> ".join(types)))
            out.append("%s n %s = if n <= 0 then %s else %s" % (name, " ".join(v for v, _ in scope), base, body))
        self.calls = 3
        scope = [("x", "D"), ("v", "V"), ("m", "M"), ("t", "T")]
        out.append("%smain :: Input -> Double" % self.prefix)
        out.append("%smain (x, v, m, t) = let n = %d in %s" % (self.prefix, self.r.randint(2, 4), self.expression("D", scope, 6, True)))
        self.text_of_all = "\n".join(out) + "\n\n"
        return self.text_of_all

    def exercises(self):
        """What the program's text has, by name: how often."""
        return {name: len(re.findall(pattern, self.text_of_all)) for name, pattern in WRITTEN.items()}

    def check(self):
        shape = self.r.randint(0, 4)
        # Off the multiples of 0.01: at 0 and -1 numbers and vectors are 0, and many a program has its kink just there.
        return "check %smain (point (%.2f37) %d) (point (%.2f) %d)" % (self.prefix, self.r.uniform(-2, 2), shape, self.r.uniform(-2, 2), shape)

    # `scope` is what there is; `calls` whether functions of the program may be called, with a lower counter.
    def expression(self, kind, scope, depth, calls):
        variables = [name for name, of in scope if of == kind]
        if kind == "Z" and variables and self.r.random() < 0.5:
            return self.r.choice(variables)
        if depth <= 0:
            if variables and self.r.random() < 0.85:
                return self.r.choice(variables)
            return self.leaf(kind, scope)
        choices = [self.operation] * 9 + [self.branch, self.match] + [self.local] * 2
        if calls and self.calls > 0:
            choices += [self.call] * 6
        return self.r.choice(choices)(kind, scope, depth - 1, calls)

    def leaf(self, kind, scope):
        of = {name_kind: [name for name, kind_of in scope if kind_of == name_kind] for name_kind in "VM"}
        return {"D": self.literal(), "Z": self.r.choice(["(error \"not needed\")", "(fromIntegral (n `div` 0))"]), "V": "(T.index %s 1)" % of["M"][0] if of["M"] else "(waves %s :: V)" % self.literal(),
                "M": "(T.outer %s %s)" % (of["V"][0], of["V"][-1]) if of["V"] else "(0.3 * waves %s :: M)" % self.literal(),
                "T": "(tree %s 2)" % self.literal(), "L": "[%s, %s]" % (self.literal(), self.literal()),
                "P": self.r.choice(["Nothing", "(Just %s)" % self.literal()]),
                "W": "([waves %s, waves %s] :: [V])" % (self.literal(), self.literal()),
                "Q": "((waves %s, 0.3 * waves %s) :: (V, M))" % (self.literal(), self.literal())}[kind]

    def call(self, kind, scope, depth, calls):
        fitting = [s for s in self.signatures if s[2] == kind]
        if not fitting:
            return self.operation(kind, scope, depth, calls)
        self.calls -= 1
        name, parameters, _ = self.r.choice(fitting)
        arguments = []
        for parameter in parameters:
            argument = self.expression(parameter, scope, min(depth, 2), calls)
            arguments.append("(tanh %s)" % argument if parameter in "DVM" else argument)
        return "(%s (n - 1) %s)" % (name, " ".join(arguments))

    def condition(self, scope):
        numbers = [name for name, of in scope if of == "D"]
        trees = [name for name, of in scope if of == "T"]
        choices = ["n `mod` 2 == 0", "n > 1"]
        choices += ["%s > 0.1" % name for name in numbers] + ["T.sum (vsum %s) > 0" % name for name in trees]
        return self.r.choice(choices)

    def branch(self, kind, scope, depth, calls):
        if kind == "Z":
            return self.operation(kind, scope, depth, calls)
        return "(if %s then %s else %s)" % (self.condition(scope), self.expression(kind, scope, depth, calls),
                                            self.expression(kind, scope, depth, calls))

    def local(self, kind, scope, depth, calls):
        """A definition: not every path needs it, so that it may be delayed, or computed ahead."""
        if kind == "Z":
            return self.operation(kind, scope, depth, calls)
        of = self.r.choice("DDVVMLPTWQZ")
        name = self.name(of)
        value = self.expression(of, scope, depth, calls)
        return "(let { %s = %s } in %s)" % (name, value, self.expression(kind, scope + [(name, of)], depth, calls))

    def match(self, kind, scope, depth, calls):
        if kind == "Z":
            return self.operation(kind, scope, depth, calls)
        data = [(name, of) for name, of in scope if of in "TLPWQ"]
        if not data:
            return self.operation(kind, scope, depth, calls)
        value, of = self.r.choice(data)
        a, b, c = self.name("D"), self.name("S"), self.name("S")
        if of == "T":
            v = self.name("V")
            return "(case %s of { Leaf %s -> %s; Node %s %s %s -> %s })" % (
                value, v, self.expression(kind, scope + [(v, "V")], depth, calls), a, b, c,
                self.expression(kind, scope + [(a, "D"), (b, "T"), (c, "T")], depth, calls))
        if of == "W":
            v = self.name("V")
            return "(case %s of { [] -> %s; %s : %s -> %s })" % (value, self.expression(kind, scope, depth, calls), v, b,
                                                                 self.expression(kind, scope + [(v, "V"), (b, "W")], depth, calls))
        if of == "Q":
            v, m = self.name("V"), self.name("M")
            return "(case %s of { (%s, %s) -> %s })" % (value, v, m, self.expression(kind, scope + [(v, "V"), (m, "M")], depth, calls))
        if of == "L":
            return "(case %s of { [] -> %s; %s : %s -> %s })" % (value, self.expression(kind, scope, depth, calls), a, b,
                                                                 self.expression(kind, scope + [(a, "D"), (b, "L")], depth, calls))
        return "(case %s of { Nothing -> %s; Just %s -> %s })" % (value, self.expression(kind, scope, depth, calls), a,
                                                                  self.expression(kind, scope + [(a, "D")], depth, calls))

    def operation(self, kind, scope, depth, calls):
        """One of the templates: $D is an expression of that type, $0 to $2 an index, $# a literal, $x and $y new numbers, $f of these, $h if the first fails."""
        if kind == "Z":
            depth, calls = min(depth, 2), False
        pool = SHARED if kind in "DVM" and self.r.random() < 0.5 else TEMPLATES[kind]
        bound = {"$x": self.name("D"), "$y": self.name("D")}

        def fill(word):
            if word in bound:
                return bound[word]
            if word == "$i":
                return str(self.r.randint(0, 2))
            if word == "$#":
                return self.literal()
            if word == "$f":
                return self.expression("D", scope + [(name, "D") for name in bound.values()], min(depth, 2), False)
            if word == "$h":
                return self.expression("D", scope + [(bound["$x"], "Z"), (bound["$y"], "D")], min(depth, 2), False)
            if word == "$g":
                return self.expression("D", scope + [(bound["$x"], "D")], min(depth, 2), False)
            return self.expression(kind if word == "$S" else word[1], scope, depth, calls)

        return "(%s)" % re.sub(r"\$[a-zA-Z#]", lambda found: fill(found.group(0)), self.r.choice(pool))


# Of numbers, vectors and matrices alike.
SHARED = ["$S + $S", "$S - $S", "$S * tanh $S", "sin $S", "tanh $S", "$S / (1 + $S ** 2)", "cos $S", "sqrt (1.1 + sin $S)", "log (2 + cos $S)",
          "exp (sin $S)", "negate $S"]
TEMPLATES = {
    "D": ["T.sum $V", "T.dot $V $V", "T.mean $M", "$V T.! $i", "sum (map (\\$x -> $g) $L)", "foldr (\\$x $y -> tanh $f) $D $L",
          "maybe $D (\\$x -> $g) $P", "T.sum (vsum $T)", "T.maximum $V", "stopGradient 0.5 * $D",
          "head [$D, $Z]", "last [$Z, $D]", "fst ($D, $Z)", "(case ($Z, $D) of { ($x, $y) -> $h })", "maybe $D (\\_ -> $D) (Just $Z)"],
    # What fails: by itself, in arithmetic with what does not, or by what it is compared with.
    "Z": ["$Z * $D", "$D - $Z", "sin $Z", "(if $Z > $D then $D else $D)", "(if $D > 0 then $Z else $Z * $D)", "fst ($Z, $D)", "T.sum (T.fill $Z * $V)",
          "$D / $Z", "(if n > 100 then $D else $Z)", "(case Just $Z of { Nothing -> $D; Just $x -> $x * $D })"],
    "V": ["attend $V $W", "head ($W ++ [$V])", "head [$V, never 0 $V]", "fst ($V, T.outer $V (never 0 $V))", "fst $Q",
          "foldr (\\s' t' -> tanh (s' + t')) $V $W", "T.matvec $M $V", "T.vecmat $V $M", "T.index $M $i",
          "T.softmax $V", "T.logSoftmax $V", "T.sigmoid $V", "T.erf $V", "T.fill $D * $V", "T.sum0 $M",
          "T.meanRows $M", "T.layerNorm $V 0.5 (T.concat (fst (T.split $V) :: Tensor Double [1]) [0.3, 1.2])", "T.gather $V [2, 0, 2]",
          "T.select (T.less $V 0.2) $V $V", "T.concat (T.slice 1 $V :: Tensor Double [2]) (snd (T.split $V) :: Tensor Double [1])",
          "T.scatterAdd $V [1, 1] [$#, $#]", "vsum $T", "T.set $V 1 $D", "T.map (\\$x -> $g) $V", "T.fromList [$D, $D, $D] :: V"],
    # Of lists and pairs, of which not all may be needed.
    "W": ["$V : $W", "[$V, $V]", "zipWith (*) $W $W", "reverse $W", "take 1 $W", "take 1 [$V, never 0 $V]", "take 1 [$V, T.fill $Z]", "map tanh $W",
          "scanl (\\s' t' -> tanh (s' + t')) $V $W",
          "take 2 [fst $Q, $V, never 0 $V]"],
    "Q": ["($V, $M)", "($V, snd $Q)", "foldr (\\s' (t', m') -> (tanh (s' * t'), m')) $Q $W"],
    "M": ["snd $Q", "0.4 * T.matmul $M $M", "T.transpose $M", "T.outer $V $V", "T.fill $D * $M", "T.broadcast $V :: M", "T.broadcastColumns $V :: M",
          "T.softmax $M", "T.gather $M [1, 2, 1]", "T.scatterAdd $M [2, 0] (T.slice 1 $M)", "T.reshape (T.reshape $M :: Tensor Double [9]) :: M"],
    "T": ["Node $D $T $T", "Leaf $V", "Node $D (Leaf $V) $T"],
    "L": ["$D : $L", "take 1 [$D, $Z]", "tail [$Z, $D]", "[$D, $D]", "map (\\$x -> $g) $L", "zipWith (*) $L $L", "T.toList $V", "reverse $L"],
    "P": ["Just $D", "fmap (\\$x -> $g) $P"],
}


# What a program's text exercises: a pattern for each.
WRITTEN = {"functions": r"(?m)^p\d+_f\d+ ::", "calls": r"\(p\d+_f\d+ ", "definitions": r"\blet \{", "branches": r"\bif ", "matches": r"\bcase ",
           "lambdas": r"\\[$a-z]", "lists": r"\b(?:map|foldr|zipWith|scanl|reverse|take|attend)\b", "not needed": r"\bnever\b|error|`div` 0", "tensor ops": r"\bT\.\w"}


def numbers_of(text):
    return [[float(word) for word in row.split(",")] for row in text.strip()[2:-2].split("],[")]


def fault_of(row):
    """None, or what is wrong with [value, reverse, forward, difference, difference]."""
    value, backward, forward, wide, narrow = row
    if any(x != x or abs(x) > 1e8 for x in row):
        return None  # too large to say anything
    if abs(backward - forward) > 1e-10 * (1 + abs(forward) + abs(value)):
        return "reverse %r and forward %r" % (backward, forward)
    allowed = 1e-5 * (1 + abs(forward) + abs(value))
    # Ten times the difference for a tenth of the width: the function jumps between the two points.
    jumps = abs(narrow) > 100 * (1 + abs(forward)) and abs(narrow - 10 * wide) < 0.01 * abs(narrow)
    if min(abs(wide - forward), abs(narrow - forward)) > allowed and not jumps:
        return "derivative %r, differences %r and %r" % (forward, wide, narrow)
    return None


def close(a, b):
    """Equal but for rounding: every number of two lists of rows."""
    pairs = [(x, y) for row, other in zip(a, b) for x, y in zip(row, other)]
    return all(abs(x - y) <= 1e-9 * (1 + abs(y)) or x != x and y != y or abs(y) > 1e8 for x, y in pairs)


def run(args, seeds, folder):
    """Faults as texts, and for each program what it exercises: a dictionary. The derivative is in it, if there is one."""
    programs = [Program(seed) for seed in seeds]
    name = os.path.join(folder, "random%d" % seeds[0])
    with open(name + ".df", "w", encoding="utf-8") as file:
        file.write(PRELUDE + "".join(p.text() for p in programs) + "main :: [[Double]]\nmain = [%s]\n" % ", ".join(p.check() for p in programs))
    first, faults = None, []
    for mode, runs, exact in RUNS:
        graph = name + ".graph"
        code, _, err = execute([args.dfc, name + ".df", "-o", graph, *mode], timeout=300)
        if code != 0:
            return ["%s.df %s: does not compile\n%s" % (name, " ".join(mode), err[:2000])], []
        for flags in runs:
            code, out, err = execute([args.dfc, "run", graph, *flags], timeout=300)
            if code != 0:
                return ["%s.df %s %s: exit code %s\n%s" % (name, " ".join(mode), " ".join(flags), code, err[:2000])], []
            first = first or out
            if out != first and (exact or not close(numbers_of(out), numbers_of(first))):
                faults.append("%s.df %s %s prints\n%s\nand %s\n%s" % (name, " ".join(mode), " ".join(flags), out, " ".join(RUNS[0][1][0]), first))
    rows = numbers_of(first)
    for seed, row in zip(seeds, rows):
        if fault := fault_of(row):
            faults.append("%s.df, program %d: %s" % (name, seed, fault))
    if not args.keep:
        os.remove(name + ".df")
    os.remove(name + ".graph")
    return faults, [dict(program.exercises(), derivative=row[2]) for program, row in zip(programs, rows)]


def run_file(args, seeds, folder):
    """As run; of a file with a fault each program alone, so that the others count and the fault has a seed."""
    faults, rows = run(args, seeds, folder)
    if not faults or len(seeds) == 1:
        return faults, rows
    alone = [run(args, [seed], folder) for seed in seeds]
    found = [fault for some, _ in alone for fault in some]
    return found or faults, [row for _, some in alone for row in some]


def main():
    parser = arguments()
    parser.set_defaults(count=200, stop_at=50)
    args = parser.parse_args()
    failed, rows = 0, []
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        folder = args.keep or scratch
        os.makedirs(folder, exist_ok=True)
        pieces = [list(range(first, min(first + PER_FILE, args.first + args.count)))
                  for first in range(args.first, args.first + args.count, PER_FILE)]
        for faults, some in pool.map(lambda seeds: run_file(args, seeds, folder) if failed < args.stop_at else ([], []), pieces):
            failed += len(faults)
            rows += some
            for fault in faults:
                print(fault, flush=True)
    live = sum(row["derivative"] != 0 for row in rows)
    if not args.quiet:
        for key in WRITTEN:
            histogram(key, [row[key] for row in rows])
    print("%d programs, %d with a derivative that is not 0, %d faults" % (len(rows), live, failed))
    # A generator whose programs hang on nothing would find nothing.
    return 1 if failed or live * 2 < args.count else 0


if __name__ == "__main__":
    sys.exit(main())
