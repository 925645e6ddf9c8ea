#!/usr/bin/env python3
"""Linear algebra beside NumPy and PyTorch, on one thread: linear_algebra.py --dfc build/dfc [--sizes 4,16,64,256] [--json]

For each op and number of rows: one matrix after the other, each made of what the one before gave ("single"), and many under different tags of a recursion, which
dfc batches by itself; NumPy and PyTorch get one call for each matrix, as a program that does not batch by hand has them. Microseconds a matrix. Each of dfc's times is the
difference of two runs of unlike length, so that the start is not in it, less the same program without the op. Ratios above 1: dfc is ahead.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time

OPS = {  # of dfc, of NumPy and PyTorch by their common names; a and b are positive definite
    "solve": ("L.solve a b", lambda la, a, b: la.solve(a, b)),
    "cholesky": ("L.cholesky a", lambda la, a, b: la.cholesky(a)),
    "inverse": ("L.inverse a", lambda la, a, b: la.inv(a)),
    "det": ("T.fill (L.det (T.fill scale * a)) :: Tensor Double [1]", lambda la, a, b: la.det(a)),
    "eigh": ("let (w, v) = L.eigh a in T.matvec v w", lambda la, a, b: la.eigh(a)),
    "qr": ("let (q, r) = L.qr a in T.index q 0 * T.index r 0", lambda la, a, b: la.qr(a)),
    "svd": ("let (u, s, v) = L.svd a in T.index u 0 * s * T.index v 0", lambda la, a, b: la.svd(a)),
    "matrixExp": ("L.matrixExp (T.fill scale * a)", lambda la, a, b: la.matrix_exp(a * SCALE[0])),
}
SCALE = [1.0]

PROGRAM = """{-# LANGUAGE Strict #-}
import qualified Tensor as T
import qualified Tensor.Linear as L

start :: Tensor Double [%(n)d, %(n)d]
start = L.symmetric (0.3 * T.normal 1) + T.fill (2 * sqrt %(n)d) * L.eye

scale :: Double
scale = %(scale)s

b :: Tensor Double [%(n)d]
b = sin (T.convert T.iota)

once :: Double -> Double
once k = let a = start + T.fill (1e-9 * k) in T.sum (%(op)s)

single :: Int -> Double -> Double
single i k = if i == 0 then k else single (i - 1) (once k)

tags :: Int -> Int -> Double
tags i n = if n == 1 then once (fromIntegral i) else tags i (n `div` 2) + tags (i + n `div` 2) (n - n `div` 2)

main :: Int -> Int -> Double
main i n = if n == 0 then single i 0.5 else sum [tags (k * n) n | k <- [1 .. i]]
"""

def run(dfc, path, i, n):
    begin = time.perf_counter()
    subprocess.run([dfc, "run", path, "--input", f"i={i}", "--input", f"n={n}", "--threads=1"], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def measure(dfc, path, estimate, tags):
    """Microseconds a matrix. About half a second."""
    unit = max(tags, 1)
    count = max(1, int(0.4 / estimate / unit))
    best = []
    for _ in range(3):
        best.append((run(dfc, path, 3 * count, tags) - run(dfc, path, count, tags)) / (2 * count * unit))
    return 1e6 * sorted(best)[1]


def peer(call, estimate):
    count = max(3, int(0.3 / estimate))
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        for _ in range(count):
            call()
        times.append((time.perf_counter() - begin) / count)
    return 1e6 * sorted(times)[1]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--dfc", default="build/dfc")
    options.add_argument("--sizes", default="4,16,64,256")
    options.add_argument("--ops", default=",".join(OPS))
    args = options.parse_args()
    os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    import numpy as np
    try:
        import torch
        torch.set_num_threads(1)
    except ImportError:
        torch = None
    print(f"numpy {np.__version__}" + (f", torch {torch.__version__}" if torch else "") + "; microseconds a matrix of Doubles")
    print("op         rows   dfc single  dfc tags    numpy    torch   numpy/single numpy/tags torch/single torch/tags")
    with tempfile.TemporaryDirectory() as folder:
        for n in map(int, args.sizes.split(",")):
            SCALE[0] = 0.5 / n ** 0.5
            rng = np.random.default_rng(1)
            x = rng.normal(size=(n, n))
            a = 0.15 * (x + x.T) + 2 * n ** 0.5 * np.eye(n)
            b = np.sin(np.arange(float(n)))
            for name in args.ops.split(","):
                text, call = OPS[name]
                path = os.path.join(folder, f"{name}{n}.df")
                base = os.path.join(folder, f"none{n}.df")
                for file, op in ((path, text), (base, "a * 0.5")):
                    with open(file, "w", encoding="utf-8") as out:
                        out.write(PROGRAM % {"n": n, "op": op, "scale": SCALE[0]})
                estimate = 1e-6 + 2e-9 * n ** 3 * (15 if name in ("eigh", "svd", "matrixExp") else 1)
                tags = 1000 if n <= 64 else 20
                ours = [measure(args.dfc, path, estimate, t) - measure(args.dfc, base, 1e-6 + 2e-9 * n * n, t) for t in (0, tags)]
                peers = []
                for module, x, y in ((np.linalg, a, b), (torch.linalg, torch.tensor(a), torch.tensor(b)) if torch else (None, None, None)):
                    there = module is not None and (name != "matrixExp" or module is not np.linalg)
                    peers.append(peer(lambda m=module, x=x, y=y: call(m, x, y), estimate + 1e-5) if there else float("nan"))
                ratios = [p / o for p in peers for o in ours]
                print(f"{name:10} {n:4}  {ours[0]:10.2f} {ours[1]:10.2f} {peers[0]:9.2f} {peers[1]:8.2f}   " + " ".join(f"{r:10.2f}" for r in ratios), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
