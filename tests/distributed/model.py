#!/usr/bin/env python3
"""The model of tickets, members and losses (tickets.pml), searched whole by spin; and faults put into it, each of which must be found.

    model.py [--full] [--memory MB]

Without --full one loss and smaller calls, some seconds: the test of every change. Skipped (exit code 77) where spin or a C compiler is missing. The figures
in docs/far-calls.md are those of the first.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BUGS = {1: "what a lost member had is not computed again", 2: "which results have come is forgotten", 3: "only one end learns of a cut",
        4: "a result that cannot go is dropped"}


def search(settings, memory, depth, optimize="-O0"):
    """Of one model: what spin's verifier says. To compile it costs more than a small search."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["-D%s=%d" % row for row in settings.items()]
        made = subprocess.run(["spin", *words, "-a", os.path.join(HERE, "tickets.pml")], cwd=folder, capture_output=True, text=True)
        if made.returncode or not os.path.exists(os.path.join(folder, "pan.c")):
            sys.exit("spin: %s%s" % (made.stdout, made.stderr))
        subprocess.run(["cc", optimize, "-w", "-DSAFETY", "-DCOLLAPSE", "-DVECTORSZ=2048", "-DMEMLIM=%d" % memory, "-o", "pan", "pan.c"], cwd=folder, check=True)
        began = time.monotonic()
        done = subprocess.run(["./pan", "-m%d" % depth, "-w24"], cwd=folder, capture_output=True, text=True)
        took = time.monotonic() - began
    found = {name: re.search(pattern, done.stdout) for name, pattern in
             {"states": r"([\d.e+]+) states, stored", "errors": r"errors: (\d+)", "memory": r"([\d.]+)\s+total actual memory", "what": r"pan:1: (.*)"}.items()}
    whole = "max search depth too small" not in done.stdout and "out of memory" not in done.stdout
    if not found["errors"] or (found["errors"].group(1) == "0" and not whole):
        sys.exit("the search was cut short:\n" + done.stdout[-2000:])
    return int(found["errors"].group(1)), int(float(found["states"].group(1))), float(found["memory"].group(1)), took, found["what"].group(1) if found["what"] else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--memory", type=int, default=3500, help="MB")
    args = parser.parse_args()
    for name in ("spin", "cc"):
        if not shutil.which(name):
            print("skipped: %s is not here" % name)
            sys.exit(77)
    small = {"MEMBERS": 3, "BRANCHES": 2, "DEPTH": 0, "LOSSES": 1, "ASKS": 1, "GIVES": 2}
    sizes = [small] + [{**small, "LOSSES": 2}, {**small, "DEPTH": 1}] * args.full
    faults = 0
    for settings in sizes:
        errors, states, memory, took, what = search(settings, args.memory, 20000, "-O1" if settings != small else "-O0")
        print("%s: %d states, %.0f MB, %.0f s, %d errors %s" % (" ".join("%s=%d" % row for row in settings.items()), states, memory, took, errors, what), flush=True)
        faults += errors != 0
    for bug in BUGS:
        errors, states, memory, took, what = search({**small, "DEPTH": 1, "BUG": bug}, args.memory, 20000)
        print("bug %d, %s: %s after %d states %s" % (bug, BUGS[bug], "found" if errors else "NOT FOUND", states, what), flush=True)
        faults += errors == 0
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
