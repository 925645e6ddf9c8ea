#!/usr/bin/env python3
"""Compiles every sample and many cases of tests/programs to graph files, which onnx must accept (check_onnx.py).

    run.py --dfc build/dfc [--python INTERPRETER]     the interpreter whose onnx module checks; default: this one

Exit code 77, which ctest shows as skipped, if there is no such interpreter or it has no onnx module.
"""

import argparse
import glob
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "harness"))
from case_lines import program_of, read_cases  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--python", default=sys.executable)
    args = parser.parse_args()
    if not os.path.exists(args.python):
        print("there is no " + args.python)
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        files = []
        folders = ("samples", "samples/tensors", "tests/programs", "tests/gradient")
        for path in sorted(path for each in folders for path in glob.glob(os.path.join(ROOT, each, "*.df"))):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for case in read_cases(text)[::4]:
                graph = os.path.join(folder, "%s-%d.graph" % (os.path.basename(path)[:-3], case.line))
                done = subprocess.run([args.dfc, "-", "--no-warnings", "-o", graph], input=program_of(text, case).encode(),
                                      stderr=subprocess.PIPE, timeout=120)
                if done.returncode:
                    sys.exit("%s:%d does not compile\n%s" % (path, case.line, done.stderr.decode()))
                files.append(graph)
        sys.exit(subprocess.run([args.python, os.path.join(HERE, "check_onnx.py"), *files], timeout=600).returncode)


if __name__ == "__main__":
    main()
