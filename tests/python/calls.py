#!/usr/bin/env python3
"""What a call from Python costs, of a graph that has been called: the least of a hundred rounds, in microseconds. ONNX Runtime beside one of them.

    calls.py [--calls 50]
"""

import argparse
import os
import sys
import time

import dfc
import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
from three_ops import onnx_runtime  # noqa: E402

SOURCE = """
import Tensor (vecmat)

add :: Double -> Double -> Double
add a b = a + b

three :: Tensor Float [4] -> Tensor Float [4, 4] -> Tensor Float [4] -> Tensor Float [4]
three x w b = tanh (vecmat x w + b)

million :: Tensor Float [1000000] -> Tensor Float [1000000]
million x = negate x
"""


def least(call, calls):
    """Of many short rounds, so that some are not interrupted where others compute too."""
    call()
    best = float("inf")
    for _ in range(100):
        began = time.perf_counter()
        for _ in range(calls):
            call()
        best = min(best, (time.perf_counter() - began) / calls)
    return best * 1e6


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=50)
    calls = parser.parse_args().calls
    program = dfc.compile(SOURCE, export=["add", "three", "million"], threads=1)
    x, w, b = numpy.full(4, 0.5, "f4"), numpy.full((4, 4), 0.1, "f4"), numpy.zeros(4, "f4")
    much = numpy.ones(1_000_000, "f4")
    add, three, million = program.add, program.three, program.million
    print("a + b                      %8.2f" % least(lambda: add(1.5, 2.0), calls))
    print("three ops                  %8.2f" % least(lambda: three(x, w, b), calls))
    try:
        other = onnx_runtime(x, w, b)
    except ImportError:
        print("three ops, ONNX Runtime    is not installed")
    else:
        assert numpy.allclose(other()[0], three(x, w, b))
        print("three ops, ONNX Runtime    %8.2f" % least(other, calls))
    print("1 M floats in and out      %8.2f" % least(lambda: million(much), 2))
    print("a copy of them by numpy    %8.2f" % least(much.copy, 2))


if __name__ == "__main__":
    main()
