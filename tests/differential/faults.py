"""Seeds faults, one at a time, into the compiler and the engines, and counts how many the random programs find.

    python3 faults.py [--programs 300] [--only NAME,NAME..] [--list first|language] [--build FOLDER] [--results FILE] [--jobs 2]
    python3 faults.py --check

Each fault is an edit of one place in the source; a copy of the tree is edited, built and tried, by the programs of both
generators (those of the whole language with GHC's stored answers). At least 95% of each list must be found. A fault whose place
is no longer in the source is an error: the list has to be kept true. `--check` says just whether all places are there, which
ctest does; how lines are broken does not matter. With --results a run that was broken off goes on where it was.
Takes about an hour: not in CI.
"""

import argparse
import filecmp
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from fault_list import FAULTS
from fault_list_language import LANGUAGE_FAULTS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LISTS = {"first": FAULTS, "language": LANGUAGE_FAULTS}


def places(text, old):
    """Where `old` stands in the source, whatever the white space between its words."""
    words = r"\s+".join(re.escape(word) for word in old.split())
    return [m.span() for m in re.finditer(words, text)]


def stale(fault, root=ROOT):
    """Why the fault cannot be seeded, or None."""
    name, path, old, _ = fault
    try:
        with open(os.path.join(root, path)) as f:
            count = len(places(f.read(), old))
    except FileNotFoundError:
        return "%s: there is no %s" % (name, path)
    return None if count == 1 else "%s: its place occurs %d times in %s" % (name, count, path)


def build(tree, jobs):
    """The path of dfc, or None if the edited source does not compile."""
    folder = os.path.join(tree, "build")
    if not os.path.exists(os.path.join(folder, "CMakeCache.txt")):
        subprocess.run(["cmake", "--preset", "release", "-DBUILD_TESTING=OFF"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run(["ninja", "-C", folder, "-j%d" % jobs, "dfc"], capture_output=True, text=True)
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
                return ("language" if run is language else "first order") + ": " + re.sub(r"\s+", " ", words[:150])
    return None


class Tree:
    """A copy of the source in which one fault at a time is seeded."""

    def __init__(self, folder, jobs):
        self.folder, self.jobs = os.path.join(folder, "tree"), jobs
        os.makedirs(self.folder, exist_ok=True)
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, capture_output=True, text=True)
        for path in listed.stdout.splitlines():
            old, new = os.path.join(ROOT, path), os.path.join(self.folder, path)
            # Files that did not change keep their times, so that a folder that is used again builds little.
            if os.path.exists(old) and not (os.path.exists(new) and filecmp.cmp(old, new, shallow=False)):
                os.makedirs(os.path.dirname(new), exist_ok=True)
                shutil.copy(old, new)

    def try_fault(self, fault, programs):
        """found, MISSED or STALE, and the words that go with it."""
        name, path, old, new = fault
        if why := stale(fault, self.folder):
            return "STALE", why
        file = os.path.join(self.folder, path)
        with open(file) as f:
            text = f.read()
        (start, end), = places(text, old)
        with open(file, "w") as f:
            f.write(text[:start] + new.strip() + text[end:])
        try:
            dfc = build(self.folder, self.jobs)
            if dfc is None:
                return "STALE", "does not compile"
            said = found(dfc, programs, self.jobs, fault in LANGUAGE_FAULTS)
            return ("found", said) if said else ("MISSED", "")
        finally:
            with open(file, "w") as f:
                f.write(text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--only", help="names, with commas")
    parser.add_argument("--list", choices=LISTS, help="one of the two lists")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--build", default=None, help="a folder to build in, kept")
    parser.add_argument("--results", help="a file with a line per fault; what stands there is not tried again")
    parser.add_argument("--check", action="store_true", help="only whether the source has the faults' places")
    args = parser.parse_args()
    names = args.only.split(",") if args.only else None
    faults = [f for key, faults in LISTS.items() if args.list in (None, key) for f in faults if not names or f[0] in names]
    if args.check:
        gone = [why for f in faults if (why := stale(f))]
        for why in gone:
            print(why)
        print("%d passed, %d failed" % (len(faults) - len(gone), len(gone)))
        return 1 if gone or not faults else 0

    states = {}
    if args.results and os.path.exists(args.results):
        with open(args.results) as f:
            states = {line.split("\t")[1]: line.split("\t")[0] for line in f}
    with tempfile.TemporaryDirectory() as scratch:
        tree = Tree(args.build or scratch, args.jobs)
        if not names and not states:
            clean = build(tree.folder, args.jobs)
            assert clean, "the tree does not build"
            said = found(clean, args.programs, args.jobs, False)
            assert said is None, "without any fault: " + said
        for fault in faults:
            if fault[0] in states:
                continue
            begun = time.time()
            states[fault[0]], words = tree.try_fault(fault, args.programs)
            line = "%s\t%s\t%s" % (states[fault[0]], fault[0], words)
            print("%s (%d s)" % (line, time.time() - begun), flush=True)
            if args.results:
                with open(args.results, "a") as f:
                    f.write(line + "\n")
    good = True
    for key, listed in LISTS.items():
        tried = [states[f[0]] for f in listed if f in faults]
        caught = tried.count("found")
        if tried:
            print("%s: %d of %d faults found (%.0f%%), %d stale" %
                  (key, caught, len(tried), 100 * caught / len(tried), tried.count("STALE")))
            good &= "STALE" not in tried and caught >= 0.95 * len(tried)
    caught = [states[f[0]] for f in faults].count("found")
    print("%d passed, %d failed" % (caught, len(faults) - caught))
    return 0 if good and faults else 1


if __name__ == "__main__":
    sys.exit(main())
