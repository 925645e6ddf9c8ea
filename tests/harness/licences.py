#!/usr/bin/env python3
"""docs/licences.md has all that is linked, and a page that lacks something is found out.

    licences.py --build build
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs", "licences.md")


def linked(*words):
    return subprocess.run([sys.executable, "-B", os.path.join(ROOT, "scripts", "linked"), *words], capture_output=True, text=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    args = parser.parse_args()
    if not shutil.which("dpkg") or not os.path.exists(os.path.join(args.build, "build.ninja")):
        print("skipped: it asks dpkg and ninja")
        sys.exit(77)
    done = linked("--build", args.build, "--check", PAGE)
    if done.returncode:
        sys.exit(done.stderr)
    packages = {line.split()[0] for line in linked("--build", args.build).stdout.splitlines()}
    for expected in ("libgmp10", "libeigen3-dev", "llvm-19-dev", "libedit-dev"):
        if expected not in packages:
            sys.exit("%s is linked, and not listed: %s" % (expected, ", ".join(sorted(packages))))
    with tempfile.TemporaryDirectory() as folder:
        with open(PAGE, encoding="utf-8") as file:
            text = file.read()
        less = os.path.join(folder, "less.md")
        with open(less, "w", encoding="utf-8") as file:
            file.write(re.sub(r"`libgmp10`", "", text))
        done = linked("--build", args.build, "--check", less)
        if done.returncode == 0 or "libgmp10" not in done.stderr:
            sys.exit("a page without GMP passes")
        linked("--build", args.build, "--copy", os.path.join(folder, "texts"))
        texts = set(os.listdir(os.path.join(folder, "texts")))
        if not {"libeigen3-dev", "llvm-19-dev", "libedit-dev", "libprotobuf-dev"} <= texts:
            sys.exit("texts are missing: %s" % sorted(texts))
    if "MIT License" not in open(os.path.join(ROOT, "LICENSE"), encoding="utf-8").read():
        sys.exit("LICENSE is not MIT's")


if __name__ == "__main__":
    main()
