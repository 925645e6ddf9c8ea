#!/usr/bin/env python3
"""Golden tests: one small program each, with what dfc prints about it written below it.

    golden.py --dfc build/dfc [--update] [FILE-OR-FOLDER...]

A test is a .df file whose first line says what to run, from the file's own folder, %s being its name:

    -- RUN: dfc %s --emit=core --only=f        no shell; exactly one command
    -- IN: fact 5                              lines of standard input, if any
    f x = x + 1
    -- EXIT: 1                                 the exit code, if it is not 0
    -- ERR: ...                                standard error, line by line
    -- OUT: ...                                standard output, line by line

--update writes the EXIT, ERR and OUT lines anew at the end of each file; `git diff` is the review.
"""

import argparse
import concurrent.futures
import difflib
import os
import shlex
import subprocess
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
EXPECTATIONS = ("-- EXIT:", "-- ERR:", "-- OUT:")
TIMEOUT = 120
INTERNAL = 70  # dfc's own fault: never an expectation


def field(line, name):
    """What stands after `-- NAME:` and one blank."""
    rest = line[len("-- " + name + ":"):]
    return rest[1:] if rest.startswith(" ") else rest


def split(text):
    """The program, and the expectations below it."""
    lines = text.split("\n")
    program = [line for line in lines if not line.startswith(EXPECTATIONS)]
    expected = [line.rstrip() for line in lines if line.startswith(EXPECTATIONS)]
    return "\n".join(program).rstrip("\n") + "\n", expected


def run(dfc, path, program):
    """The expectation lines that the command really gives."""
    commands = [field(line, "RUN") for line in program.split("\n") if line.startswith("-- RUN:")]
    if len(commands) != 1:
        raise ValueError("needs exactly one line `-- RUN: dfc ...`")
    words = shlex.split(commands[0])
    if not words or words[0] != "dfc":
        raise ValueError("the command has to begin with dfc")
    words = [dfc] + [word.replace("%s", os.path.basename(path)) for word in words[1:]]
    stdin = "".join(field(line, "IN") + "\n" for line in program.split("\n") if line.startswith("-- IN:"))
    done = subprocess.run(words, cwd=os.path.dirname(path), input=stdin.encode(), capture_output=True, timeout=TIMEOUT,
                          env={**os.environ, "NO_COLOR": "1"})

    if done.returncode == INTERNAL or done.returncode < 0:
        raise ValueError("exit code %d\n%s" % (done.returncode, done.stderr.decode("utf-8", "replace")))

    def lines(name, data):
        text = data.decode("utf-8", "backslashreplace")
        if text.endswith("\n"):
            text = text[:-1]
        return [("-- %s: %s" % (name, line)).rstrip() for line in text.split("\n")] if text else []

    result = ["-- EXIT: %d" % done.returncode] if done.returncode else []
    return result + lines("ERR", done.stderr) + lines("OUT", done.stdout)


def check(dfc, path, update):
    """None if the test passes, else what is wrong."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    program, expected = split(text)
    try:
        actual = run(dfc, path, program)
        if update:
            # Messages about the end of the file move with the lines below the program: a few rounds settle that.
            for _ in range(4):
                new = program + "\n" * bool(actual) + "".join(line + "\n" for line in actual)
                if new == text:
                    return None
                with open(path, "w", encoding="utf-8") as file:
                    file.write(new)
                text, expected, actual = new, actual, run(dfc, path, program)
            return "the output changes with every run"
    except (ValueError, subprocess.TimeoutExpired) as error:
        return str(error)
    if actual == expected:
        return None
    return "\n".join(difflib.unified_diff(expected, actual, "expected", "actual", lineterm="", n=2))


def tests(paths):
    for path in paths:
        if os.path.isfile(path):
            yield os.path.abspath(path)
        for folder, _, names in sorted(os.walk(path)):
            for name in sorted(names):
                if name.endswith(".df"):
                    yield os.path.abspath(os.path.join(folder, name))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("paths", nargs="*", default=[os.path.join(TESTS, "golden")])
    args = parser.parse_args()
    dfc = os.path.abspath(args.dfc)
    files = list(tests(args.paths))
    if not files:
        sys.exit("no golden tests under " + ", ".join(args.paths))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, fault in zip(files, pool.map(lambda path: check(dfc, path, args.update), files)):
            if fault:
                failed += 1
                print("FAIL %s\n%s\n" % (os.path.relpath(path), fault))
    print("%d of %d golden tests pass" % (len(files) - failed, len(files)))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
