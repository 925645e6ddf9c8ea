#!/usr/bin/env python3
"""Products on a card, ours and cuBLAS's (by PyTorch): cuda_products.py --program build/tests/bench/cuda_products [--tiles]

Microseconds a product of Floats, and TFLOP/s. Ours go through the inner dimension in order, so that an element has the bits that the host
gives it; cuBLAS, without TF32, may add in any order. --tiles shows each tile's time instead.
"""

import argparse
import subprocess
import sys
import time

SHAPES = [(25, 300, 750), (64, 300, 750), (256, 300, 750), (25, 600, 1500), (64, 600, 1500), (256, 600, 1500),
          (1, 2048, 5120), (16, 2048, 5120), (64, 2048, 5120), (256, 2048, 5120), (1024, 2048, 5120), (4096, 4096, 4096)]
TURNED = [(25, 750, 300), (256, 750, 300), (256, 1500, 600)]
SUMS = [(300, 1000, 750), (300, 4000, 750), (600, 4000, 1500)]


def torch_times(cases):
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    times = {}
    for m, k, n, form in cases:
        x = torch.rand(*((k, m) if form == "xTy" else (m, k)), device="cuda") - 0.5
        y = torch.rand(*((n, k) if form == "xyT" else (k, n)), device="cuda") - 0.5
        left, right = (x.T if form == "xTy" else x), (y.T if form == "xyT" else y)
        out = torch.empty(m, n, device="cuda")

        def run(count):
            torch.cuda.synchronize()
            began = time.perf_counter()
            for _ in range(count):
                torch.mm(left, right, out=out)
            torch.cuda.synchronize()
            return (time.perf_counter() - began) / count * 1e6

        run(5)
        count = int(2000 / run(3)) + 5
        times[m, k, n, form] = min(run(count) for _ in range(5))
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--tiles", action="store_true")
    args = parser.parse_args()
    cases = [(*s, "xy") for s in SHAPES] + [(*s, "xyT") for s in TURNED] + [(*s, "xTy") for s in SUMS]
    words = [str(w) for case in cases for w in (*case, "*" if args.tiles else "-1")]
    lines = subprocess.run([args.program, *words], check=True, capture_output=True, text=True).stdout.splitlines()
    ours = {}
    for line in lines:
        m, k, n, form, tile, us = line.split()
        ours.setdefault((int(m), int(k), int(n), form), {})[int(tile)] = float(us)
    try:
        theirs = torch_times(cases)
    except ImportError:
        theirs = {}
    for case in cases:
        m, k, n, form = case
        rate = lambda us: f"{us:.1f} ({2e-6 * m * k * n / us:.1f})"
        times = " | ".join(rate(us) for us in ours[case].values())
        other = theirs.get(case)
        print(f"| {form} | {m} x {k} x {n} | {times} | {rate(other) if other else '–'} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
