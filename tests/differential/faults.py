"""Seeds faults, one at a time, into the transform, the analysis and the engines, and counts how many the random programs find.

    python3 faults.py [--programs 300] [--only NAME] [--build FOLDER]

Each fault is an edit of one place in the source; a copy of the tree is edited, built and tried. At least 95% must be found.
A fault whose place is no longer in the source is an error: the list has to be kept true. Takes about half an hour: not in CI.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

from fault_list import FAULTS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def build(tree, folder):
    """The path of dfc, or None if the edited source does not compile."""
    if not os.path.exists(os.path.join(folder, "CMakeCache.txt")):
        subprocess.run(["cmake", "-G", "Ninja", "-S", tree, "-B", folder, "-DCMAKE_BUILD_TYPE=Release",
                        "-DCMAKE_CXX_FLAGS_RELEASE=-O1", "-DBUILD_TESTING=OFF"], check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run(["ninja", "-C", folder, "dfc"], capture_output=True, text=True)
    if done.returncode:
        print(done.stdout[-3000:])
        return None
    return os.path.join(folder, "dfc")


def found(dfc, programs):
    """The first line of what the random programs said, or None if they saw nothing."""
    run = os.path.join(ROOT, "tests", "differential", "run.py")
    first = 1
    for count in (40, programs - 40):  # most faults show at once
        done = subprocess.run([sys.executable, run, "--dfc", dfc, "--first", str(first), "--count", str(count),
                               "--stop-at", "1", "--quiet"], capture_output=True, text=True)
        if done.returncode:
            return (done.stdout.splitlines() or ["?"])[0][:150]
        first += count
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--only")
    parser.add_argument("--build", default=None, help="a folder to build in, kept")
    args = parser.parse_args()
    caught, missed, stale = [], [], []
    with tempfile.TemporaryDirectory() as scratch:
        tree = os.path.join(args.build or scratch, "tree")
        shutil.rmtree(tree, ignore_errors=True)
        shutil.copytree(ROOT, tree, ignore=lambda path, names: [n for n in names if path == ROOT and
                                                               (n == ".git" or n.startswith("build"))])
        folder = os.path.join(args.build or scratch, "out")
        os.makedirs(folder, exist_ok=True)
        clean = build(tree, folder)
        assert clean, "the tree does not build"
        said = found(clean, args.programs)
        assert said is None, "without any fault: " + said
        for name, path, old, new in FAULTS:
            if args.only and args.only != name:
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
            dfc = build(tree, folder)
            if dfc is None:
                stale.append(name)
                print("STALE  %s: does not compile" % name, flush=True)
            else:
                said = found(dfc, args.programs)
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
