#!/usr/bin/env python3
"""Each op on tensors, and a recursive network, against numpy: ops.py --dfc build/dfc [--update]

A row of CASES is an expression of the language, its type, and the same in numpy. What numpy gives is stored in answers.json,
so that a run needs no numpy; `--update` writes it anew, and has to be called after a change of the rows. Results may differ from
numpy's by some units in the last place, and must be the same text on every engine.
"""

import argparse
import ast
import json
import math
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ANSWERS = os.path.join(HERE, "answers.json")
ENGINES = ("tagged", "reference", "demand")
PER_PROGRAM = 8
TOLERANCE = {"Float": 3e-6, "Double": 1e-13, "Int": 0, "Bool": 0}

# Operands under these names, in the language and in numpy.
PRELUDE = """import qualified Tensor as T

x, y :: Tensor Double [3, 4]
x = sin (1.7 * T.convert (T.reshape (T.iota :: Tensor Int [12])))
y = cos (0.9 * T.convert (T.reshape (T.iota :: Tensor Int [12]))) + 0.1

f, g :: Tensor Float [5, 7]
f = T.convert (sin (1.3 * T.convert (T.reshape (T.iota :: Tensor Int [35])) :: Tensor Double [5, 7]))
g = T.convert (2 * cos (0.4 * T.convert (T.reshape (T.iota :: Tensor Int [35])) :: Tensor Double [5, 7]))

k, l :: Tensor Int [3, 4]
k = T.reshape (T.iota :: Tensor Int [12]) * 7 - 40
l = T.reshape (T.iota :: Tensor Int [12]) * (-5) + 30

c :: Tensor Double [2, 3, 4]
c = sin (0.3 * T.convert (T.reshape (T.iota :: Tensor Int [24])))

v :: Tensor Double [4]
v = [0.5, -1.25, 2, 3.5]

"""
NUMPY = """
import math; erf = np.vectorize(math.erf)
x = np.sin(1.7 * np.arange(12).reshape(3, 4)); y = np.cos(0.9 * np.arange(12).reshape(3, 4)) + 0.1
f = np.sin(1.3 * np.arange(35).reshape(5, 7)).astype(np.float32)
g = (2 * np.cos(0.4 * np.arange(35).reshape(5, 7))).astype(np.float32)
k = np.arange(12).reshape(3, 4) * 7 - 40; l = np.arange(12).reshape(3, 4) * -5 + 30
c = np.sin(0.3 * np.arange(24).reshape(2, 3, 4))
v = np.array([0.5, -1.25, 2, 3.5])
def softmax(a, axis=-1):
    e = np.exp(a - a.max(axis=axis, keepdims=True)); return e / e.sum(axis=axis, keepdims=True)
def layer_norm(a, scale, shift):
    m = a.mean(axis=-1, keepdims=True); return (a - m) / np.sqrt(a.var(axis=-1, keepdims=True) + 1e-5) * scale + shift
def scatter(a, at, rows):
    a = a.copy(); np.add.at(a, at, rows); return a
"""


def elementwise():
    for name, ours, numpy in (
            ("exp", "exp", "np.exp"), ("tanh", "tanh", "np.tanh"), ("sin", "sin", "np.sin"), ("cos", "cos", "np.cos"),
            ("tan", "tan", "np.tan"), ("asin", "asin", "np.arcsin"), ("acos", "acos", "np.arccos"), ("atan", "atan", "np.arctan"),
            ("sinh", "sinh", "np.sinh"), ("cosh", "cosh", "np.cosh"), ("asinh", "asinh", "np.arcsinh"),
            ("negate", "negate", "np.negative"), ("abs", "abs", "np.abs"), ("signum", "signum", "np.sign"),
            ("sigmoid", "T.sigmoid", "(lambda a: 1 / (1 + np.exp(-a)))"), ("erf", "T.erf", "erf"), ("relu", "T.relu", "(lambda a: np.maximum(a, 0))")):
        yield "%s x" % ours, "Double [3, 4]", "%s(x)" % numpy
        yield "%s f" % ours, "Float [5, 7]", "%s(f)" % numpy
    for name, type, a in (("x", "Double [3, 4]", "x"), ("f", "Float [5, 7]", "f")):
        for ours, numpy in (("sqrt", "np.sqrt"), ("log", "np.log"), ("acosh . (+ 1)", "(lambda a: np.arccosh(a + 1))")):
            yield "(%s) (abs %s)" % (ours, a), type, "%s(np.abs(%s))" % (numpy, a)
        yield "atanh (0.5 * %s)" % a, type, "np.arctanh(0.5 * %s)" % a
    for type, a, b, real in (("Double [3, 4]", "x", "y", True), ("Float [5, 7]", "f", "g", True), ("Int [3, 4]", "k", "l", False)):
        for op in "+-*":
            yield "%s %s %s" % (a, op, b), type, "%s %s %s" % (a, op, b)
        if real:
            yield "%s / %s" % (a, b), type, "%s / %s" % (a, b)
            yield "abs %s ** %s" % (a, b), type, "np.abs(%s) ** %s" % (a, b)
        yield "T.min %s %s" % (a, b), type, "np.minimum(%s, %s)" % (a, b)
        yield "T.max %s %s" % (a, b), type, "np.maximum(%s, %s)" % (a, b)
        bools = "Bool " + type.split(" ", 1)[1]
        for ours, op in (("equal", "=="), ("notEqual", "!="), ("less", "<"), ("lessEqual", "<="), ("greater", ">"), ("greaterEqual", ">=")):
            yield "T.%s %s %s" % (ours, a, b), bools, "%s %s %s" % (a, op, b)
        yield "T.select (T.less %s %s) %s (negate %s)" % (a, b, a, b), type, "np.where(%s < %s, %s, -%s)" % (a, b, a, b)
    yield "T.not (T.less x y)", "Bool [3, 4]", "~(x < y)"
    yield "T.convert (10 * x)", "Int [3, 4]", "(10 * x).astype(np.int64)"
    yield "T.convert x", "Float [3, 4]", "x.astype(np.float32)"
    yield "T.convert k", "Double [3, 4]", "k.astype(np.float64)"


def others():
    yield "T.matmul x (T.transpose y)", "Double [3, 3]", "x @ y.T"
    yield "T.matmul f (T.transpose g)", "Float [5, 5]", "f @ g.T"
    yield "T.matmul k (T.transpose l)", "Int [3, 3]", "k @ l.T"
    yield "T.matvec x v", "Double [3]", "x @ v"
    yield "T.vecmat v (T.transpose x)", "Double [3]", "v @ x.T"
    yield "T.scalar (T.dot v v)", "Double []", "np.dot(v, v)"
    yield "T.outer v (T.index x 1)", "Double [4, 4]", "np.outer(v, x[1])"
    for ours, numpy in (("sum", "sum"), ("mean", "mean"), ("max", "max"), ("min", "min")):
        whole = {"max": "maximum", "min": "minimum"}.get(ours, ours)
        for type, a, rows, columns in (("Double", "x", 3, 4), ("Float", "f", 5, 7)) + ((("Int", "k", 3, 4),) if ours != "mean" else ()):
            yield "T.scalar (T.%s %s)" % (whole, a), "%s []" % type, "%s.%s()" % (a, numpy)
            yield "T.%s0 %s" % (ours, a), "%s [%d]" % (type, columns), "%s.%s(axis=0)" % (a, numpy)
            yield "T.%sRows %s" % (ours, a), "%s [%d]" % (type, rows), "%s.%s(axis=1)" % (a, numpy)
        yield "T.%s0 c" % ours, "Double [3, 4]", "c.%s(axis=0)" % numpy
    yield "T.argmaxRows f", "Int [5]", "f.argmax(axis=1)"
    yield "T.scalar (T.argmax v)", "Int []", "v.argmax()"
    for type, a in (("Double [3, 4]", "x"), ("Float [5, 7]", "g"), ("Double [2, 3, 4]", "c")):
        yield "T.softmax %s" % a, type, "softmax(%s)" % a
        yield "T.logSoftmax %s" % a, type, "np.log(softmax(%s.astype(np.float64))).astype(%s.dtype)" % (a, a)
    yield "T.layerNorm v (T.fill 0.5) (T.index x 2)", "Double [4]", "layer_norm(x[2], v, 0.5)"
    yield "T.layerNormRows v (T.index y 0) x", "Double [3, 4]", "layer_norm(x, v, y[0])"
    yield "T.concat x (T.concat y x)", "Double [9, 4]", "np.concatenate([x, y, x])"
    yield "T.concatColumns x y", "Double [3, 8]", "np.concatenate([x, y], axis=1)"
    yield "T.concat c c", "Double [4, 3, 4]", "np.concatenate([c, c])"
    yield "snd (T.split x :: (Tensor Double [1, 4], Tensor Double [2, 4]))", "Double [2, 4]", "x[1:]"
    yield "fst (T.splitColumns x :: (Tensor Double [3, 3], Tensor Double [3, 1]))", "Double [3, 3]", "x[:, :3]"
    yield "snd (T.splitColumns x :: (Tensor Double [3, 3], Tensor Double [3, 1]))", "Double [3, 1]", "x[:, 3:]"
    yield "T.slice 1 x", "Double [2, 4]", "x[1:3]"
    yield "T.gather x [2, 0, 2, 1]", "Double [4, 4]", "x[[2, 0, 2, 1]]"
    yield "T.index c 1", "Double [3, 4]", "c[1]"
    yield "T.scatterAdd x [2, 2, 0] y", "Double [3, 4]", "scatter(x, [2, 2, 0], y)"
    yield "T.scatterAdd k [1, 1, 1] l", "Int [3, 4]", "scatter(k, [1, 1, 1], l)"
    yield "T.transpose x", "Double [4, 3]", "x.T"
    yield "T.transpose021 c", "Double [2, 4, 3]", "c.transpose(0, 2, 1)"
    yield "T.transpose102 c", "Double [3, 2, 4]", "c.transpose(1, 0, 2)"
    yield "T.reshape c", "Double [6, 4]", "c.reshape(6, 4)"
    yield "T.broadcast v", "Double [3, 4]", "np.broadcast_to(v, (3, 4))"
    yield "T.broadcastColumns v", "Double [4, 2]", "np.repeat(v[:, None], 2, axis=1)"
    yield "T.oneHots [2, 0, 7, -1]", "Int [4, 3]", "np.array([[0, 0, 1], [1, 0, 0], [0, 0, 0], [0, 0, 0]])"
    yield "T.oneHot 2", "Float [4]", "np.eye(4)[2]"


CASES = list(elementwise()) + list(others())

# samples/tensors/tree_lstm.df in numpy: hidden state and memory of the root.
SAMPLE = os.path.join(HERE, "..", "..", "samples", "tensors", "tree_lstm.df")
TREE_LSTM = """
def waves(factor, *shape):
    return np.sin(np.float32(factor) * np.arange(np.prod(shape)).reshape(shape).astype(np.float32))
weight, bias, embeddings = waves(0.7, 6, 15), waves(1.1, 15), waves(0.9, 7, 3)
sigmoid = lambda a: 1 / (1 + np.exp(-a))
def encode(tree):
    if isinstance(tree, int):
        return np.tanh(embeddings[tree]), embeddings[tree]
    (hl, cl), (hr, cr) = encode(tree[0]), encode(tree[1])
    i, o, u, fl, fr = np.split(np.concatenate([hl, hr]) @ weight + bias, 5)
    c = sigmoid(i) * np.tanh(u) + sigmoid(fl) * cl + sigmoid(fr) * cr
    return sigmoid(o) * np.tanh(c), c
root = encode(((1, 4), (6, (0, 2))))
"""


def answers():
    import numpy as np
    scope = {"np": np}
    exec(NUMPY, scope)
    exec(TREE_LSTM, scope)
    found = {ours: eval(numpy, scope).tolist() for ours, _, numpy in CASES}
    found["TreeLSTM"] = [part.tolist() for part in scope["root"]]
    return found


def read(text):
    """What the program printed, as Python has it."""
    return ast.literal_eval(text.replace("-Infinity", "-1e999").replace("Infinity", "1e999").replace("NaN", "None"))


def close(have, want, tolerance):
    if isinstance(want, list):
        return isinstance(have, (list, tuple)) and len(have) == len(want) and all(close(h, w, tolerance) for h, w in zip(have, want))
    if isinstance(want, bool) or tolerance == 0:
        return have == want
    if have is None or math.isnan(want):
        return have is None and math.isnan(want)
    return have == want or abs(have - want) <= tolerance * (1 + abs(want))


def run(dfc, path):
    """What a program prints, the same on every engine; None, reported, if it fails."""
    outputs = {}
    for engine in ENGINES:
        done = subprocess.run([dfc, "run", "--engine=" + engine, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
        outputs[engine] = done.stdout.decode() if done.returncode == 0 else done.stderr.decode()
    if len(set(outputs.values())) != 1:
        print("engines differ:\n" + "\n".join("%s: %s" % pair for pair in outputs.items()))
        return None
    try:
        return read(outputs["tagged"])
    except (SyntaxError, ValueError):
        print(outputs["tagged"])
        return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    if args.update:
        rows = ",\n".join(" %s: %s" % (json.dumps(key), json.dumps(value)) for key, value in answers().items())
        with open(ANSWERS, "w", encoding="utf-8") as file:
            file.write("{\n%s\n}\n" % rows)
    with open(ANSWERS, encoding="utf-8") as file:
        stored = json.load(file)
    if set(stored) != {ours for ours, _, _ in CASES} | {"TreeLSTM"}:
        sys.exit("answers.json has other rows than this table: run with --update")
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for first in range(0, len(CASES), PER_PROGRAM):
            part = CASES[first:first + PER_PROGRAM]
            path = os.path.join(folder, "ops.df")
            with open(path, "w", encoding="utf-8") as file:
                tuple_of = ",\n  ".join("(%s) :: Tensor %s" % (ours, type) for ours, type, _ in part)
                file.write(PRELUDE + "main = (\n  " + tuple_of + ("" if len(part) > 1 else ", ()") + ")\n")
            values = run(args.dfc, path)
            if values is None:
                failures += 1
                continue
            for (ours, type, numpy), value in zip(part, values):
                if close(value, stored[ours], TOLERANCE[type.split()[0]]):
                    continue
                failures += 1
                print("%s :: Tensor %s\n  gives %s\n  numpy %s = %s" % (ours, type, value, numpy, stored[ours]))
    values = run(args.dfc, SAMPLE)
    if values is None or not close(values, stored["TreeLSTM"], TOLERANCE["Float"]):
        failures += 1
        print("TreeLSTM gives %s\n  numpy %s" % (values, stored["TreeLSTM"]))
    print("%d ops, %d failures" % (len(CASES), failures))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
