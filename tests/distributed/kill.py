#!/usr/bin/env python3
"""Workers are killed at random times, very often; the result is that of one process. A campaign, not a test of every change.

    kill.py --dfc build/dfc [--runs 300] [--first SEED]

Each run has four processes; one to three of the workers get SIGKILL, or SIGSTOP and later SIGCONT, at random times, two of them together now and then. Its
last figure is in docs/far-calls.md.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from workers import FIB, PIECES, local_pids

# Some seconds each: most kills come amid the run.
PROGRAMS = {"fib": FIB % 42, "pieces": PIECES.replace("grow 15", "grow 17").replace("60000", "600000").replace("3000]", "30000]")}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dfc", required=True, type=os.path.abspath)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--first", type=int, default=1)
    args = parser.parse_args()
    faults = lost = 0
    with tempfile.TemporaryDirectory() as folder:
        wanted, times = {}, {}
        for name, text in PROGRAMS.items():
            with open(os.path.join(folder, name + ".df"), "w") as file:
                file.write(text)
            began = time.monotonic()
            wanted[name] = subprocess.run([args.dfc, "run", name + ".df", "--threads=1"], cwd=folder, capture_output=True, check=True).stdout
            times[name] = time.monotonic() - began
        for seed in range(args.first, args.first + args.runs):
            generator = random.Random(seed)
            name = generator.choice(sorted(PROGRAMS))
            process = subprocess.Popen([args.dfc, "run", name + ".df", "--threads=1", "--local-workers=4"], cwd=folder, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            pids = []
            for _ in range(200):
                pids = local_pids(process.pid)
                if len(pids) == 3:
                    break
                time.sleep(0.01)
            generator.shuffle(pids)
            for pid in pids[:generator.randint(1, 3)]:
                if generator.random() < 0.7:
                    time.sleep(generator.random() * times[name])
                try:
                    if generator.random() < 0.8:
                        os.kill(pid, signal.SIGKILL)
                    else:
                        os.kill(pid, signal.SIGSTOP)
                        time.sleep(generator.random() * times[name])
                        os.kill(pid, signal.SIGCONT)
                except ProcessLookupError:
                    pass
            try:
                out, err = process.communicate(timeout=120)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = b"", b"it hangs"
            lost += b"is lost" in err
            early = process.returncode == 5 and b"" == out  # before the run began: that is said, and is right
            if not early and (process.returncode != 0 or out != wanted[name]):
                faults += 1
                print("seed %d, %s: exit code %s\n%s%s" % (seed, name, process.returncode, out.decode(), err.decode()), flush=True)
    print("%d runs, %d of them lost a worker, %d faults" % (args.runs, lost, faults))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
