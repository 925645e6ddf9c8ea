#!/usr/bin/env python3
"""Campaigns: lives in the simulated network and fuzzers, for as long as one likes; then how many there were.

    campaign.py --minutes 60 [--simulator build/tests/unit/net/net_simulate] [--fuzzers build/fuzz/tests/fuzz] [--first SEED] [--jobs 1]

The simulator runs seeds from --first on, in pieces of 1,000; fuzz_wire and fuzz_packet run with the seeds of tests/fuzz/corpus. What is not there
is left out. Every fault is printed as it comes, with its seed or its input. Everything runs with nice 19. The figures of docs/far-calls.md and docs/wire.md are this script's.
"""

import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PIECE = 1000


def simulate(program, first, until, tell):
    """Seeds from `first` on until the time is over. How many, how many failed."""
    seeds = failed = 0
    while time.monotonic() < until:
        done = subprocess.run(["nice", "-n", "19", program, str(PIECE), str(first + seeds)], capture_output=True, text=True)
        found = re.search(r"^(\d+) seeds, (\d+) failed", done.stdout, re.M)
        if not found:
            tell("seeds from %d on: exit code %d\n%s%s" % (first + seeds, done.returncode, done.stdout, done.stderr))
            return seeds, failed + 1
        for line in done.stdout.splitlines():
            if line.startswith("seed "):
                tell(line)
        seeds += int(found.group(1))
        failed += int(found.group(2))
    return seeds, failed


def fuzz(program, corpus, folder, until, tell):
    """Executions until the time is over. How many, whether something was found."""
    own = os.path.join(folder, os.path.basename(program))
    os.makedirs(own, exist_ok=True)
    seconds = max(1, int(until - time.monotonic()))
    flags = ["-max_total_time=%d" % seconds, "-print_final_stats=1", "-rss_limit_mb=3000", "-artifact_prefix=" + own + "-"]
    done = subprocess.run(["nice", "-n", "19", program, own, corpus, *flags], capture_output=True, text=True, errors="replace")
    found = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    if done.returncode:
        tell("%s: exit code %d\n%s" % (program, done.returncode, done.stderr[-4000:]))
        for path in glob.glob(own + "-*"):
            shutil.copy(path, os.getcwd())
            tell("the input is " + os.path.basename(path))
    return int(found.group(1)) if found else 0, int(done.returncode != 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--simulator", default=os.path.join(ROOT, "build/tests/unit/net/net_simulate"))
    parser.add_argument("--fuzzers", default=os.path.join(ROOT, "build/fuzz/tests/fuzz"))
    parser.add_argument("--first", type=int, default=1000000)
    parser.add_argument("--jobs", type=int, default=1, help="of the simulator")
    args = parser.parse_args()
    until = time.monotonic() + 60 * args.minutes
    lock, rows = threading.Lock(), {}

    def tell(text):
        with lock:
            print(text, flush=True)

    def count(name, work, *words):
        done, faults = work(*words, until, tell)
        with lock:
            before = rows.get(name, (0, 0))
            rows[name] = before[0] + done, before[1] + faults

    threads = []
    with tempfile.TemporaryDirectory() as folder:
        if os.path.exists(args.simulator):
            for job in range(args.jobs):
                threads.append(threading.Thread(target=count, args=("lives in the simulated network", simulate, args.simulator, args.first + job * 10000000)))
        for name in ("wire", "packet"):
            program = os.path.join(args.fuzzers, "fuzz_" + name)
            if os.path.exists(program):
                corpus = os.path.join(ROOT, "tests/fuzz/corpus", name)
                threads.append(threading.Thread(target=count, args=("executions of fuzz_" + name, fuzz, program, corpus, folder)))
        if not threads:
            sys.exit("there is neither the simulator nor a fuzzer")
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for name, (done, faults) in rows.items():
        print("%d %s, %d faults" % (done, name, faults))
    sys.exit(any(faults for _, faults in rows.values()))


if __name__ == "__main__":
    main()
