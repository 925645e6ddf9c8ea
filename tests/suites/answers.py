#!/usr/bin/env python3
"""Writes anew what GHC gives for the programs of this folder: NAME.expected. Needs ghc with the packages hspec, HUnit and QuickCheck.

    tests/suites/answers.py
"""

import glob
import os
import re
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def answer(done):
    """Exit code and both streams as one text. How long it took is nobody's."""
    text = "exit %d\n=== output\n%s=== errors\n%s" % (done.returncode, done.stdout.decode(), done.stderr.decode())
    return re.sub(r"Finished in [0-9.]+ seconds", "Finished in .. seconds", text)


def main():
    for path in sorted(glob.glob(os.path.join(HERE, "*.hs"))):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "program")
            subprocess.run(["ghc", "-v0", "-outputdir", folder, "-o", program, os.path.basename(path)], cwd=HERE, check=True)
            words = [] if "Test.Hspec" not in open(path).read() else ["--seed", "1"]
            done = subprocess.run([program, *words], cwd=folder, capture_output=True)
        with open(path[:-3] + ".expected", "w", newline="") as file:
            file.write(answer(done))


if __name__ == "__main__":
    main()
