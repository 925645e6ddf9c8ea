"""How the tests run dfc and read what it says; shared by the two generators."""

import argparse
import collections
import os
import re
import subprocess

ERROR = re.compile(r"^error: (.*)", re.M)


def arguments():
    """The flags that both have."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True, type=os.path.abspath)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", default=None)
    parser.add_argument("--stop-at", type=int, default=5, help="faults after which to stop")
    parser.add_argument("--quiet", action="store_true", help="no shrinking, no histograms")
    return parser


def execute(command, timeout=60, text=""):
    """Exit code, output and errors of a command that is given `text` as its input."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, input=text)
    except subprocess.TimeoutExpired:
        return None, "", "timeout"
    return done.returncode, done.stdout, done.stderr


def answer(code, out, err):
    """What dfc said, in the oracle's terms."""
    if code == 0:
        return ("value", out.strip())
    if code == 1 and (match := ERROR.search(err)):
        return ("error", match.group(1))
    return ("exit %s" % code, (err or out).strip()[:2000])


def call_path(err):
    """The lines below the message of a failure: where, and through which calls."""
    lines = err.splitlines()
    starts = [i for i, line in enumerate(lines) if line.startswith("error:")]
    path = []
    for line in lines[starts[0] + 1:] if starts else ():
        if not line.startswith("  "):
            break
        path.append(line)
    return path


def histogram(title, values):
    bounds = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 1024, 4096, 1 << 60]
    counter = collections.Counter(max(b for b in bounds if b <= v) for v in values)
    print("%-16s %s" % (title, "  ".join("%s:%d" % (b, counter[b]) for b in bounds if counter[b])))
