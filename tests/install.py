#!/usr/bin/env python3
"""Installs the build into a fresh prefix, and uses it from there: the program without the source tree, and the CMake package
from samples/embed.

    install.py --dfc build/dfc --build build
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run(*words, **kw):
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, **kw)
    if done.returncode:
        sys.exit("%s: exit code %d\n%s%s" % (" ".join(words), done.returncode, done.stdout, done.stderr))
    return done.stdout


def expect(what, got, wanted):
    if got != wanted:
        sys.exit("%s: got %r instead of %r" % (what, got, wanted))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--build", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        prefix, work = os.path.join(folder, "prefix"), os.path.join(folder, "work")
        os.mkdir(work)
        run("cmake", "--install", args.build, "--prefix", prefix)
        dfc = os.path.join(prefix, "bin/dfc")

        # An empty environment and another folder: nothing of the source tree is in reach.
        shutil.copy(os.path.join(ROOT, "samples/fact.df"), work)
        clean = {"PATH": "/usr/bin:/bin"}
        run(dfc, "fact.df", "-o", "fact.graph", cwd=work, env=clean)
        expect("dfc run", run(dfc, "run", "fact.graph", cwd=work, env=clean), "3628800\n")
        with open(os.path.join(work, "inputs.df"), "w") as file:
            file.write("main :: Int -> Double -> (Int, Double)\nmain n x = (n + 1, x / 2)\n")
        run(dfc, "inputs.df", "-o", "inputs.graph", cwd=work, env=clean)
        linked = run("ldd", dfc)
        if "libLLVM" in linked:
            sys.exit("dfc needs LLVM's shared library:\n" + linked)

        build = os.path.join(folder, "embed")
        run("cmake", "-S", os.path.join(ROOT, "samples/embed"), "-B", build, "-G", "Ninja",
            "-DCMAKE_PREFIX_PATH=" + prefix, "-DCMAKE_BUILD_TYPE=Release")
        run("cmake", "--build", build)
        embed = os.path.join(build, "embed")
        expect("embed fact.graph", run(embed, os.path.join(work, "fact.graph")), "3628800\n")
        expect("embed inputs.graph", run(embed, os.path.join(work, "inputs.graph"), "n=4", "x=5"), "(5,2.5)\n")
        bad = subprocess.run([embed, os.path.join(work, "fact.df")], capture_output=True, text=True)
        expect("embed on a source", bad.returncode, 4)
    print("installed, found, built and run")


if __name__ == "__main__":
    main()
