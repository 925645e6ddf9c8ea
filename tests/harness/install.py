#!/usr/bin/env python3
"""Installs the build into a fresh prefix, and uses it from there: the program without the source tree, and the CMake package
from samples/embed.

    install.py --dfc build/dfc --build build
"""

import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


WEIGHTS = "import Tensor (vecmat)\n\ndata Affine = Affine { weight :: Tensor Float [2, 3], bias :: Tensor Float [3] }\n\n"
MODEL = WEIGHTS + """main :: Affine -> Tensor Float [2] -> Tensor Float [3]
main w x = vecmat x (weight w) + bias w
"""


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
        # What dfc trained, another program uses: parameters from a file, the result to one.
        with open(os.path.join(work, "model.df"), "w", encoding="utf-8") as file:
            file.write(MODEL)
        model = os.path.join(work, "model.graph")
        run(dfc, os.path.join(work, "model.df"), "-o", model)
        with open(os.path.join(work, "weights.df"), "w", encoding="utf-8") as file:
            file.write(WEIGHTS + "main = Affine [[0, 1, 2], [3, 4, 5]] 0\n")
        state, y, z = (os.path.join(work, name) for name in ("w.safetensors", "y.npy", "z.npy"))
        run(dfc, "run", os.path.join(work, "weights.df"), "--output", "@" + state)
        expect("embed with parameters", run(embed, model, "w=@" + state, "x=[1,2]"), "[6.0,9.0,12.0]\n")
        run(embed, model, "w=@" + state, "x=[1,2]", "--output=" + y)
        run(dfc, "run", model, "--input", "w=@" + state, "--input", "x=[1,2]", "--output", "@" + z)
        expect("the same file", open(y, "rb").read(), open(z, "rb").read())
        bad = subprocess.run([embed, model, "w=@" + model, "x=[1,2]"], capture_output=True, text=True)
        expect("embed with a file of another kind", bad.returncode, 1)
        # The same from C, with nothing but the compiler.
        call = os.path.join(work, "call")
        library = os.path.dirname(glob.glob(os.path.join(prefix, "**", "libdfc.so"), recursive=True)[0])
        run("cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I" + os.path.join(prefix, "include"), os.path.join(ROOT, "samples/embed/call.c"),
            "-L" + library, "-ldfc", "-Wl,-rpath," + library, "-o", call)
        expect("call fact.graph", run(call, os.path.join(work, "fact.graph")), "3628800\n")
        expect("call inputs.graph", run(call, os.path.join(work, "inputs.graph"), "n=4", "x=5"), "(5,2.5)\n")
        bad = subprocess.run([call, os.path.join(work, "inputs.graph"), "m=4"], capture_output=True, text=True)
        expect("call without such an input", (bad.returncode, bad.stderr), (1, "error 9: there is no input `m`\n"))
        # Nothing of the library is seen but what its headers name.
        shown = [line.split()[-1] for line in run("nm", "-D", "--defined-only", os.path.join(library, "libdfc.so")).splitlines()]
        strange = [name for name in shown if not name.startswith(("dfc_", "_ZN2df", "_ZNK2df", "_ZTI", "_ZTS", "_ZTV"))]
        expect("symbols of libdfc", strange, [])
        with open(os.path.join(prefix, "include/dfc/dfc.h"), encoding="utf-8") as file:
            declared = set(re.findall(r"^\S.*?\b(dfc_\w+)\(", re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S), re.M))
        expect("functions of dfc.h that libdfc lacks", sorted(declared - {"dfc_release", "dfc_next"} - {name.split("@")[0] for name in shown}), [])
        bad = subprocess.run([embed, os.path.join(work, "fact.df")], capture_output=True, text=True)
        expect("embed on a source", bad.returncode, 4)
    print("installed, found, built and run")


if __name__ == "__main__":
    main()
