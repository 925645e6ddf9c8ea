#!/usr/bin/env python3
"""Derivatives at points where a slope is infinite, not a number, or has a side: none of them may spoil a gradient that has a value.

    points.py --dfc build/dfc [--verbose]

1. Zeros: for each op of tagged_ir/derivative.def, at all pairs of special points at once, what is multiplied by 0 or not selected has the
   derivative 0: in reverse and in forward mode, and in forward mode over reverse mode. An op without a row in LAWS is a failure.
2. Figures: the table in docs/gradients.md, "Special points", in both modes, of numbers and of tensors.

Both on every engine, with and without batches, and on the simulated device.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUNS = ([], ["--batch=off"], ["-O0"], ["--engine=reference"], ["--engine=demand"], ["--engine=expanding"],
        ["--batch=3", "--threads=3", "--device=simulated"], ["--gradient=table"], ["--gradient=recompute"])
POINTS = "[0, -0, 1, -1, 2, -2.5, 1 / 0, -1 / 0, 0 / 0, 1e308]"

# Of each op a function of two matrices, x and y: all pairs of POINTS.
LAWS = {
    "Add": "x + y", "Sub": "x - y", "Mul": "x * y", "Neg": "negate x", "Abs": "abs x", "Signum": "signum x", "FDiv": "x / y", "Pow": "x ** y",
    "Sqrt": "sqrt x", "Exp": "exp x", "Log": "log x", "Sin": "sin x", "Cos": "cos x", "Tan": "tan x", "Asin": "asin x", "Acos": "acos x",
    "Atan": "atan x", "Sinh": "sinh x", "Cosh": "cosh x", "Tanh": "tanh x", "Asinh": "asinh x", "Acosh": "acosh x", "Atanh": "atanh x",
    "Erf": "T.erf x",
    "Atan2": "T.zipWith atan2 x y", "Convert": "T.convert (T.convert x :: Tensor Float [10, 10])", "Sigmoid": "T.sigmoid x", "Relu": "T.relu x",
    "Min": "T.min x y", "Max": "T.max x y", "Where": "T.select (T.less x y) x y",
    "StrongMul": "snd (vjp (\\u -> u * y) x x)", "StrongDiv": "snd (vjp (\\u -> u / y) x x)",
    "ReduceSum": "T.broadcast (T.sum0 x)", "ReduceMean": "T.broadcast (T.meanRows x)", "ReduceMax": "T.broadcastColumns (T.maxRows x)",
    "ReduceMin": "T.broadcast (T.min0 x)", "Softmax": "T.softmax x", "LogSoftmax": "T.logSoftmax x",
    "LayerNormalization": "T.layerNormRows (T.index y 0) (T.index x 1) x",
    "Concat": "T.concat (part 0 x) (part 5 y)", "Slice": "let (a, b) = T.split x in T.concat (b :: Half) a", "SliceAt": "T.concat (part 2 x) (part 3 x)",
    "Gather": "T.gather x (T.fromList [3, 3, 0, 1, 9, 8, 8, 8, 2, 5])", "ScatterAdd": "T.scatterAdd x (T.fromList [4, 4]) (T.slice 1 y :: Tensor Double [2, 10])",
    "Transpose": "T.transpose x", "Reshape": "T.reshape (T.reshape x :: Tensor Double [100])", "Expand": "T.broadcast (T.index x 2)",
    "GetElement": "T.fill (T.index x 3 T.! 4)", "SetElement": "T.set x 17 (T.index y 2 T.! 7)", "Trilu": "L.lower x",
}
# Products of matrices multiply as numbers do, docs/gradients.md says so; Accumulate is the sum of theirs.
PRODUCTS = {"MatMul", "Gemm", "Accumulate"}
# Nor do these: of a matrix with such elements they have no result (linear.df).
LINEAR = {"Cholesky", "SolveTriangular", "Lu", "LuSolve", "LuDet", "Eigh", "GapQuotient", "Qr", "Svd", "Pinv", "MatrixExp"}
# Those that a number has, too.
NUMBERS = ("Add", "Sub", "Mul", "Neg", "Abs", "Signum", "FDiv", "Pow", "Sqrt", "Exp", "Log", "Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Sinh",
           "Cosh", "Tanh", "Asinh", "Acosh", "Atanh")

ZEROS = """import Gradient
import qualified Tensor as T
import qualified Tensor.Linear as L

type M = Tensor Double [10, 10]
type Half = Tensor Double [5, 10]

points :: Tensor Double [10]
points = %(points)s

part :: Int -> M -> Half
part i x = T.slice i x

-- How many elements of a gradient are not 0.
wrong :: (M, M) -> Int
wrong (a, b) = count a + count b

count :: M -> Int
count a = T.sum (T.select (T.equal a 0) 0 1)

masked :: ((M, M) -> M) -> (M, M) -> Double
masked f (x, y) = T.sum (T.select (T.less x (-1 / 0)) (f (x, y)) 0)

law :: ((M, M) -> M) -> [Int]
law f = [ wrong (grad (masked f) p), wrong (snd (vjp f p 0)), count (snd (jvp f p (0, 0)))
        , wrong (snd (jvp (grad (masked f)) p (1, 1))), wrong (snd (jvp (\\q -> snd (vjp f q 0)) p (1, 1))) ]
  where p = (T.broadcastColumns points, T.broadcast points)

number :: ((Double, Double) -> Double) -> [Int]
number f = [length (filter (/= 0) (concat [both (snd (vjp f (x, y) 0)) ++ [snd (jvp f (x, y) (0, 0))] ++ both (snd (jvp (\\q -> snd (vjp f q 0)) (x, y) (1, 1))) | x <- T.toList points, y <- T.toList points]))]
  where both (a, b) = [a, b]

main = [%(laws)s] ++ [%(numbers)s]
"""

def derivative_ops():
    with open(os.path.join(ROOT, "tagged_ir/derivative.def"), encoding="utf-8") as file:
        return re.findall(r"^DF_(?:DERIVATIVE|LINEAR_MAP)\((\w+),", file.read(), re.M)


def table():
    """The rows of the table: expression, point, value."""
    with open(os.path.join(ROOT, "docs/gradients.md"), encoding="utf-8") as file:
        text = file.read().split("**Special points.**")[1]
    rows = []
    for line in re.search(r"(?:^\|.*\n)+", text, re.M).group(0).splitlines()[2:]:
        cells = [cell.strip().strip("`") for cell in line.strip("|").split(" | ")]
        rows.append(cells[:3])
    return rows


def figures(rows):
    """A program that computes each row by reverse and by forward mode, of numbers and of tensors; and what it should print."""
    items, wanted = [], []
    for text, point, value in rows:
        names = re.findall(r"\b[xyv]\b", text)
        if "v" in names:
            f = f"(\\v -> {text}) :: V -> Double"
            items += [f"T.toList (grad ({f}) {point})", f"[snd (jvp ({f}) {point} d) | d <- axes]"]
            numbers = value.strip("[]").split(", ")
            wanted += [numbers, numbers]
            continue
        pair = "y" in names
        at = point if pair else f"({point}, 0)"
        for start, end, up in (("", "", "Double"), ("T.item (", ")", "Tensor Double []")):
            if up != "Double" and ("if" in text or "max" in text or "min" in text or "atan2" in text or "T." in text):
                continue
            f = f"(\\(x, y) -> {text}) :: ({up}, {up}) -> {up}"
            one = "1" if up == "Double" else "(T.scalar 1)"
            zero = "0" if up == "Double" else "(T.scalar 0)"
            where = f"(let (a, b) = {at} in (a, b))" if up == "Double" else f"(let (a, b) = {at} in (T.scalar a, T.scalar b))"
            item = "id" if up == "Double" else "T.item"
            items += [f"(let (a, b) = snd (vjp ({f}) {where} {one}) in map {item} [a, b])",
                      f"map {item} [snd (jvp ({f}) {where} ({one}, {zero})), snd (jvp ({f}) {where} ({zero}, {one}))]"]
            numbers = value.strip("()").split(", ") if pair else [value, "0"]
            wanted += [numbers, numbers]
    program = ("import Gradient\nimport qualified Tensor as T\n\ntype V = Tensor Double [3]\n\naxes :: [V]\naxes = [T.oneHot 0, T.oneHot 1, T.oneHot 2]\n\n"
               "main :: [[Double]]\nmain = [" + "\n  , ".join(items) + "]\n")
    return program, wanted


def run(dfc, program, words):
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "p.df")
        with open(source, "w", encoding="utf-8") as file:
            file.write(program)
        return subprocess.run([dfc, "run", source, "--no-warnings", *words], capture_output=True, text=True, timeout=300)


def same(number, wanted):
    a, b = float(number.replace("Infinity", "inf")), float(wanted.replace("Infinity", "inf"))
    return a == b or abs(a - b) < 1e-9 or (a != a and b != b)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    failed = 0

    def fault(text):
        nonlocal failed
        failed += 1
        print(text)

    for op in derivative_ops():
        if op not in LAWS and op not in PRODUCTS | LINEAR:
            fault(f"{op} has a derivative and no row in LAWS")
    names = list(LAWS) + [name + " of numbers" for name in NUMBERS]
    zeros = ZEROS % {"points": POINTS, "laws": "\n  , ".join("law (\\(x, y) -> %s)" % text for text in LAWS.values()),
                     "numbers": "\n  , ".join("number (\\(x, y) -> %s)" % LAWS[name] for name in NUMBERS)}
    rows = table()
    program, wanted = figures(rows)
    if args.verbose:
        print(zeros)
        print(program)
    for words in RUNS:
        way = " ".join(words) or "as usual"
        done = run(args.dfc, zeros, words)
        if done.returncode:
            fault(f"zeros, {way}: {done.stderr}")
        else:
            got = re.findall(r"\[([0-9,]*)\]", done.stdout)
            for name, counts in zip(names, got, strict=True):
                if set(counts.split(",")) != {"0"}:
                    fault(f"{name}, {way}: {counts} elements are not 0")
        done = run(args.dfc, program, words)
        if done.returncode:
            fault(f"figures, {way}: {done.stderr}")
            continue
        got = [numbers.split(",") for numbers in re.findall(r"\[([^\[\]]*)\]", done.stdout)]
        for numbers, want in zip(got, wanted, strict=True):
            if not all(same(a, b) for a, b in zip(numbers, want, strict=True)):
                fault(f"figures, {way}: {numbers} instead of {want}")
    print(f"{len(names)} laws and {len(rows)} figures in {len(RUNS)} ways, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
