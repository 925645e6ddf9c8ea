#!/usr/bin/env python3
"""Small models, each trained for a few steps in every way that a run has: models.py --dfc build/dfc

The files *.df beside this one define `start`, parameters of some type, and `cost`. Engines, batches, threads, the simulated device and the other gradients must
print the same costs, and the same derivative in a direction; that is held against forward mode and differences, as random_programs.py does.
"""

import argparse
import glob
import os
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gradient"))

from random_programs import fault_of, numbers_of

PRELUDE = """import Gradient
import Optim
import qualified Tensor as T

waves :: Double -> Tensor Double s
waves k = sin (T.fill k * T.convert (T.iota + 1))

"""
MAIN = """
descent :: Int -> Model -> [Double]
descent n m = if n == 0 then [] else c : descent (n - 1) (plus m (scaled (-0.02) d))
  where (c, d) = valueAndGrad cost m

-- The value and the derivative along d: reverse mode, forward mode, differences.
check :: (Model -> Double) -> Model -> Tangent Model -> [Double]
check f p d = [value, backward, forward, difference 1e-4, difference 1e-5]
  where
    (value, forward) = jvp f p d
    backward = grad (\\t -> f (plus p (scaled t d))) 0
    difference h = (f (plus p (scaled h d)) - f (plus p (scaled (negate h) d))) / (2 * h)

main :: [[Double]]
main = [descent 5 start, check cost start (grad cost start)]
"""
WAYS = [["--engine=reference"], ["--engine=demand"], ["--batch=off"], ["--batch=8", "--threads=1"], ["--threads=2"], ["--threads=3", "--batch=3"],
        ["--threads=4", "--stress=1"], ["--device=simulated"], ["--device=simulated", "--batch=2"], ["--gradient=table"],
        ["--gradient=table", "--engine=reference"], ["--gradient=recompute"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dfc", required=True)
    args = parser.parse_args()
    failures = runs = 0
    for path in sorted(glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "*.df"))):
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines(keepends=True)
        # Imports stand in front of the prelude's definitions.
        imports = [line for line in lines if line.startswith("import ")]
        text = "".join(imports) + PRELUDE + "".join(line for line in lines if line not in imports) + MAIN

        def run(*options):
            done = subprocess.run([args.dfc, "run", "-", *options], input=text, capture_output=True, text=True, timeout=300)
            return done.stdout + done.stderr

        want, name = run(), os.path.basename(path)
        faults = ["%s: %s" % (way, got) for way in WAYS if (got := run(*way)) != want]
        runs += 1 + len(WAYS)
        if not want.startswith("[["):
            faults.append(want)
        elif not faults:
            costs, row = numbers_of(want)
            if fault := fault_of(row):
                faults.append(fault)
            if costs[-1] >= costs[0]:
                faults.append("the cost does not fall: %s" % costs)
        for fault in faults:
            print("%s: %s" % (name, fault))
        failures += len(faults)
    print("%d runs, %d failures" % (runs, failures))
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
