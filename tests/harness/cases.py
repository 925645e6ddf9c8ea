#!/usr/bin/env python3
"""Runs programs on every engine and in several modes: their `-- CASE:` lines, or as a whole.

    cases.py --dfc build/dfc [--quick | --alternate] [--every N] [--leaks N] [FILE-OR-FOLDER...]

    -- CASE: fact 5  => 120
    -- CASE: div 1 0 => error (divide by zero)
    -- CASE tagged: sumTo 1000000 0 => 500000500000      on that engine only

A program with a NAME.out beside it is run as it stands; that is what it must print. NAME.in is its standard input. Modules that it
imports are the .hs files of its folder.
The expectations are GHC's outputs; scripts/refresh-ghc checks that. Without --quick the plain translation (-O0) and
calls instead of loops (--no-loops) must give the same; with --alternate each case has one of the two, in turn. A graph is also
written to a file and read back. A mode that makes the same file as one before is not run again. On a build with
AddressSanitizer the search for leaks at the end of a process takes half of its time: --leaks N does it for every Nth case.
"""

import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile

from case_lines import program_of, read_cases, read_whole

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TIMEOUT = 120
WHOLE = "programs/haskell"  # left out unless it is named: a test of its own, in one mode
MODES = ((), ("-O0",), ("--no-loops",))
ENGINES = ("tagged", "reference", "demand", "expanding")


def judge(case, done):
    """None if the run gave what the case says, else what it gave."""
    out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    if case.error is not None:
        if done.returncode == 1 and case.error in err:
            return None
    elif done.returncode == 0 and out == case.value + "\n":
        return None
    return "exit code %d\n%s%s" % (done.returncode, out, err)


def judge_whole(whole, done):
    out = done.stdout.decode("utf-8", "replace")
    if done.returncode == 0 and out == whole.value:
        return None
    got, wanted = out.split("\n"), whole.value.split("\n")
    line = next((i for i, (a, b) in enumerate(zip(got, wanted)) if a != b), min(len(got), len(wanted)))
    return "exit code %d, line %d\n  printed  %s\n  expected %s\n%s" % (
        done.returncode, line + 1, "".join(got[line:line + 1]), "".join(wanted[line:line + 1]),
        done.stderr.decode("utf-8", "replace"))


def without_leaks():
    """The environment of a process that does not search for leaks."""
    given = os.environ.get("ASAN_OPTIONS")
    return {**os.environ, "ASAN_OPTIONS": (given + ":" if given else "") + "detect_leaks=0"}


def run_everywhere(dfc, cwd, source, engines, modes, stdin, judge_run, environment):
    """What is wrong with the runs of one program, on each engine, compiled in each mode."""
    faults, seen = [], set()

    def run(*words, stdin=b""):
        return subprocess.run([dfc, *words], input=stdin, capture_output=True, timeout=TIMEOUT, cwd=cwd, env=environment)

    with tempfile.TemporaryDirectory() as folder:
        graph = os.path.join(folder, "case.graph")
        for mode in modes:
            compiled = run("-", "--no-warnings", "-o", graph, *mode, stdin=source)
            if compiled.returncode:
                faults.append("%s: does not compile\n%s" % (" ".join(mode), compiled.stderr.decode("utf-8", "replace")))
                continue
            with open(graph, "rb") as file:
                made = file.read()
            if made in seen:
                continue
            seen.add(made)
            for engine in engines:
                try:
                    fault = judge_run(run("run", graph, "--engine=" + engine, stdin=stdin))
                except subprocess.TimeoutExpired:
                    fault = "no answer in %d s" % TIMEOUT
                if fault:
                    faults.append("%s: %s" % (" ".join(("--engine=" + engine,) + mode), fault))
    return faults


def check(dfc, path, text, case, modes, environment):
    """All that is wrong with one case, or with a whole program."""
    cwd = os.path.dirname(os.path.abspath(path))  # where a program from the standard input has its modules
    if case.whole:
        faults = run_everywhere(dfc, cwd, text.encode(), ENGINES, modes, case.stdin, lambda done: judge_whole(case, done), environment)
        return ["%s: %s" % (os.path.relpath(path), fault) for fault in faults]
    faults = run_everywhere(dfc, cwd, program_of(text, case).encode(), (case.engine,) if case.engine else ENGINES, modes, b"",
                            lambda done: judge(case, done), environment)
    return ["%s:%d: %s\n  expected %s\n%s" % (os.path.relpath(path), case.line, case.expression, case.value, fault)
            for fault in faults]


def programs(paths):
    for path in paths:
        if os.path.isfile(path):
            yield path
        else:
            for folder, _, names in sorted(os.walk(path)):
                if folder.endswith(WHOLE) and folder != path:
                    continue
                yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(".df"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--also", metavar="OPTION", help="one more mode, with this option")
    parser.add_argument("--quick", action="store_true", help="one mode only")
    parser.add_argument("--alternate", action="store_true", help="two modes, of which the second changes from case to case")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth case only")
    parser.add_argument("--leaks", type=int, default=1, metavar="N", help="search for leaks in every Nth case only")
    parser.add_argument("paths", nargs="*", default=[os.path.join(ROOT, "samples"), os.path.join(ROOT, "tests/programs")])
    args = parser.parse_args()
    dfc = os.path.abspath(args.dfc)
    modes = MODES[:1] if args.quick else MODES
    if args.also:
        modes += ((args.also,),)
    jobs, failures, without = [], [], []
    for path in programs(args.paths):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        cases = read_whole(path) or read_cases(text)
        if not cases:
            without.append(path)
        jobs += [(path, text, case) for case in cases]
    jobs = jobs[:: args.every]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        environments = [os.environ if n % max(args.leaks, 1) == 0 else without_leaks() for n in range(len(jobs))]
        chosen = [(modes[0], modes[1 + n % 2]) if args.alternate else modes for n in range(len(jobs))]
        for faults in pool.map(lambda job, of_it, environment: check(dfc, *job, of_it, environment), jobs, chosen, environments):
            failures += faults
    for fault in failures:
        print("FAIL " + fault)
    for path in without:
        print("FAIL %s has no `-- CASE:` line and no .out" % os.path.relpath(path))
    print("%d cases, %d failures" % (len(jobs), len(failures) + len(without)))
    sys.exit(1 if failures or without or not jobs else 0)


if __name__ == "__main__":
    main()
