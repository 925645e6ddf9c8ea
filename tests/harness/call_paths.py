#!/usr/bin/env python3
"""The message and the call path of a failure are the same whatever is switched off, at each level and on each engine.

    call_paths.py --dfc build/dfc [--update] [FILE...]

A test is a .df file of tests/call_paths that fails for each of the inputs below it; what it then says stands there:

    -- INPUT: "2\\n"                        the standard input, as JSON
    -- error: divide by zero
    --   at share.df:1:15 in `share`

--update writes that anew, as `dfc run FILE` says it; `git diff` is the review.
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys

HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "call_paths")
INPUT = "-- INPUT: "
OFF = ("inline", "match", "higher-order", "float-in", "fuse", "demand", "parts", "fields", "speculate", "delayed-calls", "eager", "words",
       "group", "direct", "move", "full-delays")
SWITCHES = [[], ["-O0"], ["-O0", "--engine=reference"], ["--without=inline,higher-order,fuse"]] + [["--without=" + name] for name in OFF]
SWITCHES += [["--engine=" + engine] for engine in ("reference", "demand", "expanding")]
# All of them for so many inputs of a program, the first ones for the others.
FULLY, FIRST = 3, 4
# What fails once the root has answered stands where the action is named if that was inlined, and at `main` if not (docs/io.md): of these only the
# message is compared.
ASK = ("commands.df", "questions.df", "state_over_actions.df")
# Without loops tail calls are counted as far as they are known: not in the middle of a long path.
NO_LOOPS = ["--no-loops"]


def read(path):
    """The program's text, and (input, the lines said) for each input."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith(INPUT)), len(lines))
    cases = []
    for line in lines[first:]:
        if line.startswith(INPUT):
            cases.append((json.loads(line[len(INPUT):]), []))
        else:
            cases[-1][1].append(line[3:])
    return "\n".join(lines[:first]), cases


def says(dfc, name, text, switches):
    """The lines from the message on."""
    done = subprocess.run([dfc, "run", name, "--no-warnings", "--timeout=60s"] + switches, cwd=HERE, input=text, capture_output=True,
                          text=True, timeout=120, check=False)
    if done.returncode != 1:
        return ["exit code %d" % done.returncode] + done.stderr.splitlines()
    return done.stderr.splitlines()


def check(dfc, name, text, want, switches):
    got = says(dfc, name, text, switches)
    if got == want or name in ASK and got[:1] == want[:1]:
        return None
    return "%s with the input %s %s\n%s\nexpected\n%s" % (name, json.dumps(text), " ".join(switches), "\n".join(got), "\n".join(want))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dfc", required=True, type=os.path.abspath)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    names = [os.path.basename(f) for f in args.files] or sorted(f for f in os.listdir(HERE) if f.endswith(".df"))
    jobs = []
    for name in names:
        path = os.path.join(HERE, name)
        program, cases = read(path)
        if not cases:
            sys.exit("%s: no `%s`" % (path, INPUT.strip()))
        if args.update:
            cases = [(text, says(args.dfc, name, text, [])) for text, _ in cases]
            with open(path, "w", encoding="utf-8") as file:
                file.write(program + "\n")
                for text, said in cases:
                    file.write(INPUT + json.dumps(text) + "\n" + "".join("-- %s\n" % line for line in said))
        for number, (text, want) in enumerate(cases):
            loops = [] if any("more calls" in line or re.search(r"after .*\d\d tail calls", line) for line in want) else [NO_LOOPS]
            jobs += [(args.dfc, name, text, want, switches) for switches in (SWITCHES if number < FULLY else SWITCHES[:FIRST]) + loops]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [fault for fault in pool.map(lambda job: check(*job), jobs) if fault]
    for fault in faults[:20]:
        print(fault + "\n")
    print("%d programs, %d runs, %d faults" % (len(names), len(jobs), len(faults)))
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
