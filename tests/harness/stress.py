#!/usr/bin/env python3
"""The tagged engine under stress, on several threads too, gives what it gives on one: results, messages, call paths, exit codes.

    stress.py --dfc build/dfc [--members] [--seeds 1,2,3] [--quick] [--cases N] [--random N] [--first N] [FILE...]

Each program is compiled, run on one thread, then on 1 to 4 under stress (RunOptions::stress): the workers ask and are asked
at every few steps, of anybody, give away whatever they can, and read their mail late, and the collector of cycles comes when it is
not due, in an order that follows from the seed.
Without files: the samples, parallel, some of programs/haskell, a part of the cases of programs, and random programs of both
generators (differential). With --members they run on two and three members of one process (docs/far-calls.md): messages overtake each other, and members
are lost. What takes one thread too long is left out. At the end some program must have been shared, or
nothing was tested.

In a build with ThreadSanitizer this is the test for races: what that reports is a fault too.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile

from case_lines import program_of, read_cases

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TIMEOUT = 300
LIMIT = "--timeout=10s"  # of one thread, which a sanitizer makes ten times slower
SANITIZER = "exitcode=66 halt_on_error=0 second_deadlock_stack=1"

# What a generator makes, as JSON: a process of its own, because both have modules of the same names.
GENERATE = {
    "differential": """
import evaluate
from generate import Generator, program_source
programs = []
for seed in range(FIRST, FIRST + COUNT):
    functions = Generator(seed).program()
    try:
        machine = evaluate.run(functions, functions[-1].result, 20000)[1]
    except evaluate.TooBig:
        continue
    if not machine.may_hang:
        programs.append(("first order, seed %d" % seed, program_source(functions)))
""",
    "differential/haskell": """
from generate import Generator
programs = [("language, seed %d" % seed, str(Generator(seed).program())) for seed in range(FIRST, FIRST + COUNT)]
""",
}


def generated(folder, first, count):
    code = "import json, sys\nsys.setrecursionlimit(100000)\nFIRST, COUNT = %d, %d\n%s\njson.dump(programs, sys.stdout)" % (
        first, count, GENERATE[folder])
    where = os.path.join(ROOT, folder)
    done = subprocess.run([sys.executable, "-B", "-c", code], cwd=where, env={**os.environ, "PYTHONPATH": where},
                          capture_output=True, check=True)
    return [(name, text.encode(), b"3 14\nhello, world\n-7\n\nlast") for name, text in json.loads(done.stdout)]


def from_file(path):
    stdin = os.path.splitext(path)[0] + ".in"
    with open(path, "rb") as f:
        text = f.read()
    if not os.path.exists(stdin):
        return os.path.relpath(path), text, b""
    with open(stdin, "rb") as f:
        return os.path.relpath(path), text, f.read()


def cases(every):
    """Each `every`th case of the programs."""
    found = []
    for path in sorted(glob.glob(os.path.join(ROOT, "programs", "*.df"))):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for case in read_cases(text):
            if case.engine in (None, "tagged"):
                found.append(("%s:%d" % (os.path.relpath(path), case.line), program_of(text, case).encode(), b""))
    return found[::every]


def run(dfc, graph, stdin, *flags):
    """Exit code, output, errors."""
    options = " ".join(filter(None, (os.environ.get("TSAN_OPTIONS"), SANITIZER)))
    done = subprocess.run([dfc, "run", *flags, graph], input=stdin, capture_output=True, timeout=TIMEOUT,
                          env={**os.environ, "TSAN_OPTIONS": options})
    return done.returncode, done.stdout, done.stderr


def check(dfc, program, seeds, ways, counted):
    """What is wrong with the runs of one program in each of the ways; how often work was stolen, or `counted`; whether it was run at all."""
    name, text, stdin = program
    with tempfile.TemporaryDirectory() as folder:
        graph = os.path.join(folder, "program.graph")
        compiled = subprocess.run([dfc, "-", "--no-warnings", "-o", graph], input=text, capture_output=True, timeout=TIMEOUT)
        if compiled.returncode:
            return None, 0, False  # the tests of the language see to that
        wanted = run(dfc, graph, stdin, "--threads=1", LIMIT)
        if wanted[0] == 3:
            return None, 0, False
        stolen = 0
        for seed in seeds:
            for way in ways:
                flags = [*way, "--stress=%d" % seed]
                code, out, err = run(dfc, graph, stdin, *flags, "--stats=json")
                # The statistics are the last line of what stands on standard error.
                said, _, stats = err.rstrip(b"\n").rpartition(b"\n")
                got = code, out, said + b"\n" if said else b""
                if got != wanted:
                    return "%s, %s: exit code %d\n%s%s\nwith one thread: %d\n%s%s" % (
                        name, " ".join(flags), code, out.decode(), err.decode(), wanted[0], wanted[1].decode(),
                        wanted[2].decode()), stolen, True
                found = json.loads(stats)
                stolen += found[counted] + sum(process.get("shared_calls", 0) for process in found.get("processes", []))
    return None, stolen, True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dfc", required=True, type=os.path.abspath)
    parser.add_argument("--members", action="store_true", help="several members, not several threads of one")
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--quick", action="store_true", help="one seed, on 3 threads, of fewer programs")
    parser.add_argument("--cases", type=int, default=20, help="each Nth case of the programs")
    parser.add_argument("--random", type=int, default=60, help="how many programs of each generator")
    parser.add_argument("--first", type=int, default=1, help="the first seed of the generators")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    part = 4 if args.quick else 1
    programs = [from_file(path) for path in args.files]
    if not programs:
        paths = glob.glob(os.path.join(ROOT, "parallel", "*.df"))
        paths += sorted(glob.glob(os.path.join(ROOT, "..", "samples", "*.df")))[::part]
        paths += sorted(glob.glob(os.path.join(ROOT, "programs", "haskell", "*.df")))[::4 * part]
        programs = [from_file(path) for path in paths] + cases(args.cases * part)
        for folder in GENERATE:
            programs += generated(folder, args.first, args.random // part)
    all_seeds = [int(seed) for seed in args.seeds.split(",")]
    seeds, threads = (all_seeds[:1], (1, 3)) if args.quick else (all_seeds, (1, 2, 3, 4))
    ways, counted = [["--threads=%d" % number] for number in threads], "steals"
    if args.members:
        ways, counted = [["--threads=1", "--members=2"], ["--threads=2", "--members=3"]], "far_given"
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        # Those of parallel with all seeds: they surely share something, however little the others do on a busy machine.
        results = list(pool.map(lambda program: check(args.dfc, program, all_seeds if "parallel" in program[0] else seeds, ways, counted),
                                programs))
    faults = [fault for fault, _, _ in results if fault]
    for fault in faults:
        print(fault)
    stolen = sum(count for _, count, _ in results)
    print("%d programs, %d faults; work was %s %d times" % (sum(ran for _, _, ran in results), len(faults), "given to another member, or shared," if args.members else "stolen", stolen))
    sys.exit(bool(faults) or not stolen)


if __name__ == "__main__":
    main()
