#!/usr/bin/env python3
"""Runs the programs of tests/io as their `-- RUN:` comments say, on every engine, from the source and from graph files that
the optimising, the plain and the loop-free translation wrote. The outputs are GHC's; scripts/refresh-ghc checks that.

    io.py --dfc build/dfc [--quick] [FILE-OR-FOLDER...]
"""

import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile

from io_runs import read_runs

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIMEOUT = 120
MODES = ((), ("-O0",), ("--no-loops",))
GRANTS = ("--allow-read=.", "--allow-write=.", "--allow-env")  # of a folder of each run's own
ENGINES = ("tagged", "reference", "demand", "expanding")


def judge(run, done):
    """None if it went as the comments say, else what happened."""
    error = done.stderr.decode("utf-8", "replace")
    if done.returncode == run.code and done.stdout == run.stdout and done.stderr.startswith(run.stderr):
        message = error[len(run.stderr.decode()):]
        if run.error in message and bool(run.error) == bool(message):
            return None
    return "exit code %d, wanted %d (%s)\n%r\nwanted\n%r\n%s" % (done.returncode, run.code, run.error, done.stdout,
                                                               run.stdout, error)


def check(dfc, path, run, modes):
    faults = []

    def attempt(name, *words):
        try:
            with tempfile.TemporaryDirectory() as own:
                done = subprocess.run([dfc, *words, "--", *run.arguments], input=run.stdin, capture_output=True,
                                      timeout=TIMEOUT, cwd=own)
            fault = judge(run, done)
        except subprocess.TimeoutExpired:
            fault = "no answer in %d s" % TIMEOUT
        if fault:
            faults.append("%s:%d: %s: %s" % (os.path.relpath(path), run.line, name, fault))

    attempt("source", "run", "--no-warnings", path)
    with tempfile.TemporaryDirectory() as folder:
        graph = os.path.join(folder, os.path.splitext(os.path.basename(path))[0] + ".graph")
        for mode in modes:
            compiled = subprocess.run([dfc, path, "--no-warnings", "-o", graph, *mode], capture_output=True, timeout=TIMEOUT)
            if compiled.returncode:
                faults.append("%s: %s: does not compile\n%s" % (path, " ".join(mode), compiled.stderr.decode()))
                continue
            for engine in ENGINES:
                attempt(" ".join((engine,) + mode), "run", graph, "--engine=" + engine, *GRANTS)
    return faults


def programs(paths):
    for path in paths:
        if os.path.isfile(path):
            yield os.path.abspath(path)
        else:
            yield from (os.path.join(path, name) for name in sorted(os.listdir(path)) if name.endswith(".df"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--quick", action="store_true", help="one mode only")
    parser.add_argument("paths", nargs="*", default=[os.path.join(ROOT, "tests/io")])
    args = parser.parse_args()
    dfc = os.path.abspath(args.dfc)
    jobs, failures = [], []
    for path in programs(args.paths):
        with open(path, encoding="utf-8") as file:
            runs = read_runs(file.read())
        if not runs:
            failures.append("%s has no `-- RUN:` line" % os.path.relpath(path))
        jobs += [(path, run) for run in runs]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for faults in pool.map(lambda job: check(dfc, *job, MODES[:1] if args.quick else MODES), jobs):
            failures += faults
    for fault in failures:
        print("FAIL " + fault)
    print("%d runs, %d failures" % (len(jobs), len(failures)))
    sys.exit(1 if failures or not jobs else 0)


if __name__ == "__main__":
    main()
