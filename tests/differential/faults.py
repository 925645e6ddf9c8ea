"""Seeds faults, one at a time, into the compiler and the engines, and counts how many the random programs find.

    python3 faults.py [--programs 300] [--only NAME,NAME..] [--build FOLDER] [--jobs 2]

Each fault is an edit of one place in the source; a copy of the tree is edited, built and tried, by the programs of both
generators (those of the whole language with GHC's stored answers). At least 95% must be found. A fault whose place is no longer
in the source is an error: the list has to be kept true. Takes about half an hour: not in CI.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

from fault_list import FAULTS
from fault_list_language import LANGUAGE_FAULTS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def build(tree):
    """The path of dfc, or None if the edited source does not compile."""
    folder = os.path.join(tree, "build")
    if not os.path.exists(os.path.join(folder, "CMakeCache.txt")):
        subprocess.run(["cmake", "--preset", "release", "-DBUILD_TESTING=OFF"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run(["ninja", "-C", folder, "-j2", "dfc"], capture_output=True, text=True)
    if done.returncode:
        print(done.stdout[-3000:])
        return None
    return os.path.join(folder, "dfc")


def found(dfc, programs, jobs, whole_language):
    """The generator that saw something and the first line of what it said, or None."""
    folder = os.path.join(ROOT, "tests", "differential")
    language = [os.path.join(folder, "haskell", "run.py"), "--answers", os.path.join(folder, "haskell", "answers.txt")]
    first_order = [os.path.join(folder, "run.py")]
    order = (language, first_order) if whole_language else (first_order, language)
    for first, count in ((1, 50), (51, programs - 50)):  # most faults show at once
        for run in order:
            done = subprocess.run([sys.executable, *run, "--dfc", dfc, "--first", str(first), "--count", str(count), "--stop-at", "1",
                                   "--jobs", str(jobs), "--quiet"], capture_output=True, text=True)
            if done.returncode:
                words = (done.stdout.splitlines() or done.stderr.splitlines()[-1:] or ["?"])[0]
                return ("language" if run is language else "first order") + ": " + words[:150]
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--only", help="names, with commas")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--build", default=None, help="a folder to build in, kept")
    args = parser.parse_args()
    caught, missed, stale = [], [], []
    with tempfile.TemporaryDirectory() as scratch:
        tree = os.path.join(args.build or scratch, "tree")
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(ROOT, tree, ignore=lambda path, names: [n for n in names if path == ROOT and
                                                               (n == ".git" or n.startswith("build"))])
        clean = build(tree)
        assert clean, "the tree does not build"
        only = args.only.split(",") if args.only else None
        if not only:
            said = found(clean, args.programs, args.jobs, False)
            assert said is None, "without any fault: " + said
        for name, path, old, new in FAULTS + LANGUAGE_FAULTS:
            if only and name not in only:
                continue
            file = os.path.join(tree, path)
            with open(file) as f:
                text = f.read()
            if text.count(old) != 1:
                stale.append(name)
                print("STALE  %s: its place occurs %d times in %s" % (name, text.count(old), path), flush=True)
                continue
            with open(file, "w") as f:
                f.write(text.replace(old, new))
            dfc = build(tree)
            if dfc is None:
                stale.append(name)
                print("STALE  %s: does not compile" % name, flush=True)
            else:
                said = found(dfc, args.programs, args.jobs, (name, path, old, new) in LANGUAGE_FAULTS)
                (caught if said else missed).append(name)
                print("%s %s%s" % ("found " if said else "MISSED", name, ": " + re.sub(r"\s+", " ", said) if said else ""),
                      flush=True)
            with open(file, "w") as f:
                f.write(text)
    total = len(caught) + len(missed)
    print("%d of %d faults found (%.0f%%), %d stale" % (len(caught), total, 100 * len(caught) / max(total, 1), len(stale)))
    enough = total and not stale and len(caught) >= 0.95 * total
    print("%d passed, %d failed" % (len(caught), len(missed) + len(stale)))
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
