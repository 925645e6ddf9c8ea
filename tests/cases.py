#!/usr/bin/env python3
"""Runs the `-- CASE:` lines of programs on every engine and in several modes.

    cases.py --dfc build/dfc [--quick] [FILE-OR-FOLDER...]

    -- CASE: fact 5  => 120
    -- CASE: div 1 0 => error (divide by zero)
    -- CASE tagged: sumTo 1000000 0 => 500000500000      on that engine only

The expectations are GHC's outputs; scripts/refresh-ghc checks that. Without --quick the plain translation (-O0) and
calls instead of loops (--no-loops) must give the same; a graph is also written to a file and read back.
"""

import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile

from case_lines import program_of, read_cases

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TIMEOUT = 120
MODES = ((), ("-O0",), ("--no-loops",))
ENGINES = ("tagged", "reference", "demand")


def judge(case, done):
    """None if the run gave what the case says, else what it gave."""
    out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    if case.error is not None:
        if done.returncode == 1 and case.error in err:
            return None
    elif done.returncode == 0 and out == case.value + "\n":
        return None
    return "exit code %d\n%s%s" % (done.returncode, out, err)


def check(dfc, path, text, case, modes):
    """All that is wrong with one case."""
    faults = []

    def run(*words, stdin=b""):
        return subprocess.run([dfc, *words], input=stdin, capture_output=True, timeout=TIMEOUT)

    source = program_of(text, case).encode()
    with tempfile.TemporaryDirectory() as folder:
        graph = os.path.join(folder, "case.graph")
        for mode in modes:
            compiled = run("-", "--no-warnings", "-o", graph, *mode, stdin=source)
            if compiled.returncode:
                faults.append("%s: does not compile\n%s" % (" ".join(mode), compiled.stderr.decode("utf-8", "replace")))
                continue
            for engine in (case.engine,) if case.engine else ENGINES:
                try:
                    fault = judge(case, run("run", graph, "--engine=" + engine))
                except subprocess.TimeoutExpired:
                    fault = "no answer in %d s" % TIMEOUT
                if fault:
                    faults.append("%s: %s" % (" ".join(("--engine=" + engine,) + mode), fault))
    return ["%s:%d: %s\n  expected %s\n%s" % (os.path.relpath(path), case.line, case.expression, case.value, fault)
            for fault in faults]


def programs(paths):
    for path in paths:
        if os.path.isfile(path):
            yield path
        else:
            for folder, _, names in sorted(os.walk(path)):
                yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(".df"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--quick", action="store_true", help="one mode only")
    parser.add_argument("paths", nargs="*", default=[os.path.join(ROOT, "samples"), os.path.join(ROOT, "tests/programs")])
    args = parser.parse_args()
    dfc = os.path.abspath(args.dfc)
    jobs, failures, without = [], [], []
    for path in programs(args.paths):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        cases = read_cases(text)
        if not cases:
            without.append(path)
        jobs += [(path, text, case) for case in cases]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for faults in pool.map(lambda job: check(dfc, *job, MODES[:1] if args.quick else MODES), jobs):
            failures += faults
    for fault in failures:
        print("FAIL " + fault)
    for path in without:
        print("FAIL %s has no `-- CASE:` line" % os.path.relpath(path))
    print("%d cases, %d failures" % (len(jobs), len(failures) + len(without)))
    sys.exit(1 if failures or without or not jobs else 0)


if __name__ == "__main__":
    main()
