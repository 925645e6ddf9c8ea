#!/usr/bin/env python3
"""Arrays of numpy as inputs: npy.py --dfc build/dfc. The files are made here, byte by byte, good ones and broken ones."""

import argparse
import os
import struct
import subprocess
import sys
import tempfile

PROGRAM = """import qualified Tensor as T
main :: Tensor %s -> Tensor %s
main x = x
"""


def npy(descr, shape, data, version=1, order="False", header=None):
    text = header or "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, order, shape)
    size = struct.pack("<H" if version == 1 else "<I", len(text) + 1)
    return b"\x93NUMPY" + bytes([version, 0]) + size + text.encode("latin-1") + b"\n" + data


FLOATS = struct.pack("<6f", 1, 2, 3, 4.5, -5, 6)
INTS = struct.pack("<3q", 1, -2, 3)
# name, type or program, file, what is printed or a part of the message
CASES = [
    ("floats", "Float [2, 3]", npy("<f4", "(2, 3)", FLOATS), "[[1.0,2.0,3.0],[4.5,-5.0,6.0]]"),
    ("version 2", "Float [2, 3]", npy("<f4", "(2, 3)", FLOATS, 2), "[[1.0,2.0,3.0],[4.5,-5.0,6.0]]"),
    ("doubles", "Double [1]", npy("<f8", "(1,)", struct.pack("<d", 0.1)), "[0.1]"),
    ("no dimensions", "Double []", npy("<f8", "()", struct.pack("<d", -0.5)), "-0.5"),
    ("ints", "Int [3]", npy("<i8", "(3,)", INTS), "[1,-2,3]"),
    ("small ints", "Int [3]", npy("<i4", "(3,)", struct.pack("<3i", 1, -2, 3)), "[1,-2,3]"),
    ("truth values", "Bool [2]", npy("|b1", "(2,)", b"\0\1"), "[False,True]"),
    ("no elements", "Int [0, 3]", npy("<i8", "(0, 3)", b""), "[]"),
    ("column-major vector", "Int [3]", npy("<i8", "(3,)", INTS, order="True"), "[1,-2,3]"),
    ("sizes of a main without a signature", "f :: Tensor Float [n] -> Tensor Float [n]\nf x = x\nmain x = f x\n", npy("<f4", "(6,)", FLOATS),
     "[1.0,2.0,3.0,4.5,-5.0,6.0]"),
    ("other shape", "Float [3, 2]", npy("<f4", "(2, 3)", FLOATS), "the shape [2, 3], and a Tensor Float [3, 2] is expected"),
    ("other elements", "Double [2, 3]", npy("<f4", "(2, 3)", FLOATS), "a Tensor Double [2, 3] is expected: write it with .astype('<f8')"),
    ("big-endian", "Float [2, 3]", npy(">f4", "(2, 3)", FLOATS), "an array of `>f4`"),
    ("column-major", "Float [2, 3]", npy("<f4", "(2, 3)", FLOATS, order="True"), "column-major"),
    ("cut short", "Float [2, 3]", npy("<f4", "(2, 3)", FLOATS[:-1]), "23 bytes of elements, want 24"),
    ("too long", "Float [2, 3]", npy("<f4", "(2, 3)", FLOATS + b"x"), "25 bytes of elements, want 24"),
    ("no array", "Int [3]", b"PK\3\4 something else", "Not a zip archive"),
    ("empty", "Int [3]", b"", "the file is empty"),
    ("only a beginning", "Int [3]", b"\x93NUMPY\1\0\xff", "no array of numpy"),
    ("version 9", "Int [3]", npy("<i8", "(3,)", INTS, 9), "version 9"),
    ("long header", "Int [3]", b"\x93NUMPY\2\0\xff\xff\xff\xff{}", "its header is longer than the file"),
    ("negative dimension", "Int [3]", npy("<i8", "(-3,)", INTS), "its header is not numpy's"),
    ("huge dimension", "Int [3]", npy("<i8", "(99999999999999999999,)", INTS), "its header is not numpy's"),
    ("many dimensions", "Int [3]", npy("<i8", "(1, 1, 1, 1, 1, 1, 1, 1, 3)", INTS), "its header is not numpy's"),
    ("no shape", "Int [3]", npy("", "", INTS, header="{'descr': '<i8', 'fortran_order': False}"), "its header is not numpy's"),
    ("two shapes", "Int [3]", npy("", "", INTS, header="{'descr': '<i8', 'fortran_order': False, 'shape': (3,), 'shape': (3,)}"),
     "its header is not numpy's"),
    ("structure", "Int [3]", npy("", "", INTS, header="{'descr': [('a', '<i8')], 'fortran_order': False, 'shape': (3,)}"),
     "its elements have several fields"),
    ("code", "Int [3]", npy("", "", INTS, header="__import__('os')"), "its header is not numpy's"),
    ("bad truth value", "Bool [2]", npy("|b1", "(2,)", b"\0\2"), "neither 0 nor 1"),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    args = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        program, array = os.path.join(folder, "main.df"), os.path.join(folder, "x.npy")
        for name, type, data, want in CASES:
            with open(program, "w", encoding="utf-8") as file:
                file.write(type if "\n" in type else PROGRAM % (type, type))
            with open(array, "wb") as file:
                file.write(data)
            done = subprocess.run([args.dfc, "run", program, "--input", "x=@" + array], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=120)
            out, err = done.stdout.decode(), done.stderr.decode()
            if (done.returncode == 0 and out == want + "\n") or (done.returncode == 2 and want in err):
                continue
            failures += 1
            print("%s: exit code %d\n%s%s  want: %s" % (name, done.returncode, out, err, want))
    print("%d files, %d failures" % (len(CASES), failures))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
