#!/usr/bin/env python3
"""The tagged engine on several threads gives what it gives on one: results, messages, call paths, exit codes.

    stress.py --dfc build/dfc [--seeds 1,2,3] [FILE...]

Each program runs with one thread, then with 2 and 3 under stress (RunOptions::stress): the workers ask and are asked at every
few steps, of anybody, give away whatever they can, and read their mail late, in an order that follows from the seed. Without
files: the samples, parallel, and some of programs/haskell. At the end some program must have been shared, or nothing
was tested.
"""

import argparse
import concurrent.futures
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.abspath(__file__))
THREADS = (2, 3)
TIMEOUT = 120


def run(dfc, path, *flags):
    stdin = os.path.splitext(path)[0] + ".in"
    with open(stdin if os.path.exists(stdin) else os.devnull, "rb") as given:
        done = subprocess.run([dfc, "run", *flags, path], stdin=given, capture_output=True, timeout=TIMEOUT)
    return done.returncode, done.stdout, done.stderr


def check(dfc, path, seeds):
    """What is wrong with the runs of one program; how often work was stolen in one of them."""
    wanted = run(dfc, path, "--threads", "1")
    for seed in seeds:
        for threads in THREADS:
            flags = ["--threads", str(threads), "--stress", str(seed)]
            got = run(dfc, path, *flags)
            if got != wanted:
                return "%s %s: exit code %d\n%s%s\nwith one thread: %d\n%s%s" % (
                    path, " ".join(flags), got[0], got[1].decode(), got[2].decode(), wanted[0], wanted[1].decode(), wanted[2].decode()), 0
    counted = run(dfc, path, "--threads", "2", "--stress", "1", "--stats")[2].decode()
    stolen = re.search(r"^stolen\s+(\d+)", counted, re.M)
    return None, int(stolen.group(1)) if stolen else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    files = args.files or (sorted(glob.glob(os.path.join(ROOT, "..", "samples", "*.df"))) +
                           sorted(glob.glob(os.path.join(ROOT, "parallel", "*.df"))) +
                           sorted(glob.glob(os.path.join(ROOT, "programs", "haskell", "*.df")))[::4])
    seeds = [int(seed) for seed in args.seeds.split(",")]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        results = list(pool.map(lambda path: check(args.dfc, path, seeds), files))
    faults = [fault for fault, _ in results if fault]
    for fault in faults:
        print(fault)
    stolen = sum(count for _, count in results)
    print("%d programs, %d faults; work was stolen %d times in one of their runs" % (len(files), len(faults), stolen))
    sys.exit(bool(faults) or not stolen)


if __name__ == "__main__":
    main()
