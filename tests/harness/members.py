#!/usr/bin/env python3
"""Every program of the tests runs once with several members, and gives what it gives in one process: output, errors, exit code.

    members.py --dfc build/dfc [--members 2] [--every N] [--random N] [--first SEED] [--stress 2,0] [--minutes M] [--jobs 2]

The programs: samples, programs with all their cases, gradient, call_paths, io with its arguments and input, parallel, and random ones of both generators
(differential). Each is compiled, run in one process, and once for each number of --stress with members as threads of one process (docs/far-calls.md): a number that is
not 0 makes them ask and give at every few steps, 0 leaves them as users have them. --every N: every Nth program only; --minutes: those that
there is time for, drawn at random. stress.py runs fewer, in more schedules.
"""

import argparse
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import tempfile
import time

from case_lines import program_of, read_cases, read_whole
from io_runs import read_runs
from stress import LIMIT, ROOT, TIMEOUT, generated, GENERATE

FOLDERS = ("../samples", "programs", "gradient", "call_paths", "io", "parallel", "training")


class Program:
    def __init__(self, name, text, stdin=b"", arguments=(), folder=None):
        self.name, self.text, self.stdin, self.arguments, self.folder = name, text, stdin, list(arguments), folder


def programs():
    for top in FOLDERS:
        for folder, _, names in sorted(os.walk(os.path.join(ROOT, top))):
            for name in sorted(names):
                if name.endswith(".df"):
                    yield from of_file(os.path.join(folder, name))


def of_file(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    name, folder = os.path.relpath(path, ROOT), os.path.dirname(path)
    for run in read_runs(text):
        yield Program("%s:%d" % (name, run.line), text.encode(), run.stdin, run.arguments, folder)
    if whole := read_whole(path):
        yield Program(name, text.encode(), whole[0].stdin, (), folder)
        return
    for case in read_cases(text):
        if case.engine in (None, "tagged"):
            yield Program("%s:%d" % (name, case.line), program_of(text, case).encode(), b"", (), folder)


def check(dfc, program, members, stresses):
    """(a fault or None, how often work was given, whether it was run at all)"""
    with tempfile.TemporaryDirectory() as folder:
        graph = os.path.join(folder, "program.graph")

        def run(*flags):
            done = subprocess.run([dfc, "run", *flags, graph, *(["--", *program.arguments] if program.arguments else [])], input=program.stdin,
                                  capture_output=True, timeout=TIMEOUT, cwd=folder)
            return done.returncode, done.stdout, done.stderr

        compiled = subprocess.run([dfc, "-", "--no-warnings", "-o", graph], input=program.text, capture_output=True, timeout=TIMEOUT, cwd=program.folder or folder)
        if compiled.returncode:
            return None, 0, False  # other tests see to that
        wanted = run("--threads=1", LIMIT)
        if wanted[0] == 3:
            return None, 0, False
        given = 0
        def shown(code, out, err):
            return "exit code %d\n%s%s" % (code, out.decode(errors="replace"), err.decode(errors="replace"))

        for stress in stresses:
            flags = ["--threads=1", "--members=%d" % members] + (["--stress=%d" % stress] if stress else [])
            code, out, err = run(*flags, "--stats=json")
            # The statistics end what stands on standard error, behind whatever the program wrote there.
            at = err.find(b"{", err.rstrip(b"\n").rfind(b"\n") + 1)
            got, stats = (code, out, err[:at]), err[at:]
            if got != wanted:
                return "%s, %s: %s\nin one process: %s" % (program.name, " ".join(flags), shown(code, out, err), shown(*wanted)), given, True
            found = json.loads(stats)
            # None of a graph that gives nothing away.
            given += found.get("far_given", 0) + sum(process.get("shared_calls", 0) for process in found.get("processes", []))
    return None, given, True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dfc", required=True, type=os.path.abspath)
    parser.add_argument("--members", type=int, default=2)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--random", type=int, default=500, help="how many programs of each generator")
    parser.add_argument("--first", type=int, default=1, help="the first seed of the generators")
    parser.add_argument("--stress", default="2,0")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    stresses = [int(number) for number in args.stress.split(",")]
    todo = list(programs())[:: args.every]
    for generator in GENERATE if args.random else ():
        todo += [Program(name, text, stdin) for name, text, stdin in generated(generator, args.first, args.random)]

    began = time.monotonic()
    if args.minutes:
        random.Random(args.first).shuffle(todo)

    def judge(program):
        if args.minutes and time.monotonic() > began + 60 * args.minutes:
            return None, 0, False
        try:
            return check(args.dfc, program, args.members, stresses)
        except subprocess.TimeoutExpired as fault:
            return "%s: no end: %s" % (program.name, " ".join(fault.cmd)), 0, True

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(judge, todo))
    faults = [fault for fault, _, _ in results if fault]
    for fault in faults:
        print(fault)
    given = sum(count for _, count, _ in results)
    print("%d programs, %d of them gave or shared something, %d times in all; %d left out; %d faults; %.0f s" % (
        sum(ran for _, _, ran in results), sum(count > 0 for _, count, _ in results), given, sum(not ran for _, _, ran in results), len(faults),
        time.monotonic() - began))
    sys.exit(bool(faults) or not given)


if __name__ == "__main__":
    main()
