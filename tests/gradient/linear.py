#!/usr/bin/env python3
"""Gradients of linear algebra, and their derivatives in a direction, against PyTorch's: linear.py --dfc build/dfc [--verbose] [--update]

A row of CASES is a function of a matrix in the language, and the same in PyTorch, both weighed to a number. PyTorch's gradients, and the change of the gradient in a
direction (in the language forward over reverse), are stored in linear.json, so that a run needs no PyTorch; `--update` writes that anew. Central differences are taken of
dfc's own values and gradients. Prints, with --verbose, the largest error of each row, relative to the gradient's largest element. Every engine has to give the same text.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ANSWERS = os.path.join(HERE, "linear.json")
RUNS = ([], ["--batch=off"], ["-O0"], ["--engine=reference"], ["--engine=demand"], ["--engine=expanding"], ["--batch=3", "--threads=3", "--device=simulated"])
TOLERANCE = {"torch": 1e-10, "differences": 1e-7}

# A matrix (a square, p positive definite, t tall), what is computed of it, and in PyTorch.
CASES = {
    "solve": ("a", "weigh (L.solve x b)", "weigh(la.solve(x, b))"),
    "inverse": ("a", "weigh (L.inverse x)", "weigh(la.inv(x))"),
    "solveTriangular": ("a", "weigh (L.solveTriangular L.Upper x b)", "weigh(la.solve_triangular(x, b, upper=True))"),
    "solveTransposed": ("a", "weigh (L.solveTransposed L.Lower x b)", "weigh(la.solve_triangular(x.tril().T, b, upper=True))"),
    "cholesky": ("p", "weigh (L.cholesky x)", "weigh(la.cholesky((x + x.T) / 2))"),
    "det": ("a", "L.det x", "la.det(x)"),
    "logDet": ("a", "L.logDet x", "torch.logdet(x)"),
    "eigh": ("p", "let (w, v) = L.eigh x in weigh w + weigh (v * v)", "(lambda w, v: weigh(w) + weigh(v * v))(*la.eigh((x + x.T) / 2))"),
    "eigvalsh": ("p", "weigh (sin (L.eigvalsh x))", "weigh(torch.sin(la.eigvalsh((x + x.T) / 2)))"),
    "qr": ("t", "let (q, r) = L.qr x in weigh (q * q) + weigh (r * r)", "(lambda q, r: weigh(q * q) + weigh(r * r))(*la.qr(x))"),
    "qr, square": ("a", "let (q, r) = L.qr x in weigh (q * q) + weigh (r * r)", "(lambda q, r: weigh(q * q) + weigh(r * r))(*la.qr(x))"),
    "svd": ("t", "let (u, s, v) = L.svd x in weigh (u * u) + weigh s + weigh (v * v)",
            "(lambda u, s, v: weigh(u * u) + weigh(s) + weigh(v * v))(*la.svd(x, full_matrices=False))"),
    "svd, square": ("a", "let (u, s, v) = L.svd x in weigh (T.matmul u v) + weigh s", "(lambda u, s, v: weigh(u @ v) + weigh(s))(*la.svd(x))"),
    "svdvals": ("t", "weigh (sin (L.svdvals x))", "weigh(torch.sin(la.svdvals(x)))"),
    "lstsq": ("t", "weigh (L.lstsq x c)", "weigh(la.lstsq(x, c).solution)"),
    "pinv": ("t", "weigh (L.pinv x)", "weigh(la.pinv(x))"),
    "matrixExp": ("a", "weigh (L.matrixExp (0.3 * x))", "weigh(la.matrix_exp(0.3 * x))"),
    "norm": ("t", "L.norm x", "la.norm(x)"),
    "norm1": ("t", "L.norm1 x", "la.norm(x, 1)"),
    "normInf": ("t", "L.normInf x", "la.norm(x, math.inf)"),
    "norm2": ("t", "L.norm2 x", "la.norm(x, 2)"),
    "normNuclear": ("t", "L.normNuclear x", "la.norm(x, 'nuc')"),
    "trace": ("a", "L.trace (x * x)", "(x * x).trace()"),
    "kron": ("t", "weigh (L.kron x b)", "weigh(torch.kron(x, b))"),
    "outer": ("a", "weigh (L.outer (L.diagonal x) (T.index x 1))", "weigh(torch.outer(x.diagonal(), x[1]))"),
}

PRELUDE = """import Gradient
import qualified Tensor as T
import qualified Tensor.Linear as L

waves :: Double -> Tensor Double s
waves k = sin (T.fill k * T.convert (T.iota + 1))

weigh :: Tensor Double s -> Double
weigh x = T.sum (x * (waves 0.8 + 0.2))

a, p :: Tensor Double [4, 4]
a = waves 0.55 + 2 * L.eye
p = L.symmetric (0.2 * waves 0.3) + L.diagonalMatrix [1, 2, 3.5, 5]

t :: Tensor Double [5, 3]
t = waves 0.6 + 0.1

b :: Tensor Double [4, 2]
b = waves 0.9

c :: Tensor Double [5, 2]
c = waves 1.2

derived :: (Tensor Double s -> Double) -> Tensor Double s -> ([Double], [Double], [Double], [Double])
derived f x = (T.toList (grad f x), T.toList (snd (jvp (grad f) x u)), [(f (x + T.fill h * u) - f (x - T.fill h * u)) / (2 * h), T.sum (grad f x * u)],
               T.toList ((grad f (x + T.fill h * u) - grad f (x - T.fill h * u)) * T.fill (1 / (2 * h))))
  where
    u = waves 1.1 + 0.1
    h = 1e-5

main = [%s]
"""


def torch_answers():
    import torch
    torch.set_default_dtype(torch.float64)

    def waves(k, *dims):
        return torch.sin(k * torch.arange(1.0, math.prod(dims) + 1)).reshape(dims)

    def weigh(x):
        return (x * (waves(0.8, *x.shape) + 0.2)).sum()
    at = {"a": waves(0.55, 4, 4) + 2 * torch.eye(4), "t": waves(0.6, 5, 3) + 0.1}
    s = 0.2 * waves(0.3, 4, 4)
    at["p"] = (s + s.T) / 2 + torch.diag(torch.tensor([1, 2, 3.5, 5]))
    names = {"torch": torch, "la": torch.linalg, "weigh": weigh, "b": waves(0.9, 4, 2), "c": waves(1.2, 5, 2), "math": math}
    answers = {}
    for name, (matrix, _, text) in CASES.items():
        x = at[matrix].clone().requires_grad_()
        (first,) = torch.autograd.grad(eval(text, dict(names, x=x)), x, create_graph=True)  # pylint: disable=eval-used
        u = waves(1.1, *x.shape) + 0.1
        second = torch.autograd.grad((first * u).sum(), x)[0] if first.requires_grad else torch.zeros_like(x)
        answers[name] = [(torch.zeros(x.shape) + part.detach()).reshape(-1).tolist() for part in (first, second)]
    return {"torch": torch.__version__, "answers": answers}


def error(have, want):
    scale = max(1e-3, max(map(abs, want)))
    return max(abs(x - y) for x, y in zip(have, want)) / scale if len(have) == len(want) else math.inf


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--dfc", required=True)
    options.add_argument("--verbose", action="store_true")
    options.add_argument("--update", action="store_true")
    args = options.parse_args()
    if args.update:
        with open(ANSWERS, "w", encoding="utf-8") as file:
            json.dump(torch_answers(), file, indent=1)
    with open(ANSWERS, encoding="utf-8") as file:
        answers = json.load(file)["answers"]
    failed, first = 0, None
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "linear.df")
        with open(path, "w", encoding="utf-8") as file:
            file.write(PRELUDE % ", ".join(f"derived (\\x -> {text}) {matrix}" for matrix, text, _ in CASES.values()))
        for flags in RUNS:
            done = subprocess.run([args.dfc, "run", path] + flags, capture_output=True, text=True, timeout=600, check=False)
            if done.returncode != 0:
                print(f"linear: {' '.join(flags)}: {done.stderr.strip()}")
                return 1
            first = first or done.stdout
            if done.stdout != first and "-O0" not in flags:  # sums in another order
                print(f"linear: {' '.join(flags)}: other bits")
                failed += 1
    for name, (once, twice, along, difference) in zip(CASES, eval(first)):  # pylint: disable=eval-used
        want = answers.get(name)
        errors = {
            "torch": max(error(once, want[0]), error(twice, want[1])) if want else math.inf,
            "differences": max(error(along[1:], along[:1]), error(twice, difference)),
        }
        if args.verbose:
            print(f"{name:18} " + "  ".join(f"{what} {e:.1e}" for what, e in errors.items()))
        for what, e in errors.items():
            if not e <= TOLERANCE[what]:
                print(f"linear: {name}: an error of {e:.1e} against {what}")
                failed += 1
    print(f"linear: {len(CASES)} functions, {failed} faults")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
