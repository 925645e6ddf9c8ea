#!/usr/bin/env python3
"""Workers are killed at random times, very often; the result is that of one process. A campaign, not a test of every change.

    kill.py --dfc build/dfc [--runs 300] [--first SEED] [--how random|two|recovery|all] [--only fib|pieces|shared]

random: of three workers one to three get SIGKILL, or SIGSTOP and later SIGCONT, at random times, two of them together now and then. two: two of four get
SIGKILL at once. recovery: of four one gets SIGKILL, and another one while what it had is computed again, which begins about a second later; now and then a
third. all: in turn. The last figures are in docs/far-calls.md.
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
from processes import FIB, PIECES, local_pids

# Processes that share sums: each step waits for all of them.
SHARED = """import Spread
work :: Double -> Double -> Double
work p x = go (400 :: Int) x where go n y = if n == 0 then p * y else go (n - 1) (sin (y + p))
descend :: Int -> Double -> Double
descend n p = if n == 0 then p else let (r, g) = sumSpread 4 work p [1 .. 32] in descend (n - 1) (p - 0.00001 * g)
main = (descend 150 0.3, sum (map length (mapSpread 8 show [1 .. 3000 :: Int])))
"""
# Some seconds each: most kills come amid the run.
PROGRAMS = {"fib": FIB % 42, "shared": SHARED, "pieces": PIECES.replace("grow 15", "grow 17").replace("60000", "600000").replace("3000]", "30000]")}


# How soon a loss is noticed: MemberTimes::closed, and a little.
NOTICED = 1.0


def act(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def disturb(how, pids, length, generator):
    """Kills some of the processes of a run that takes about so long."""
    generator.shuffle(pids)
    if how == "random":
        for pid in pids[:generator.randint(1, 3)]:
            if generator.random() < 0.7:
                time.sleep(generator.random() * length)
            if generator.random() < 0.8:
                act(pid, signal.SIGKILL)
            else:
                act(pid, signal.SIGSTOP)
                time.sleep(generator.random() * length)
                act(pid, signal.SIGCONT)
        return
    time.sleep(0.3 + generator.random() * length * 0.6)
    for pid in pids[:2 if how == "two" else generator.choice((2, 2, 3))]:
        act(pid, signal.SIGKILL)
        time.sleep(generator.choice((0, 0, 0.05)) if how == "two" else NOTICED + generator.random() * 0.6)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dfc", required=True, type=os.path.abspath)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--how", choices=("random", "two", "recovery", "all"), default="random")
    parser.add_argument("--only", choices=sorted(PROGRAMS))
    args = parser.parse_args()
    faults = lost = twice = 0
    with tempfile.TemporaryDirectory() as folder:
        wanted, times = {}, {}
        programs = {name: text for name, text in PROGRAMS.items() if args.only in (None, name)}
        for name, text in programs.items():
            with open(os.path.join(folder, name + ".df"), "w") as file:
                file.write(text)
            began = time.monotonic()
            wanted[name] = subprocess.run([args.dfc, "run", name + ".df", "--threads=1"], cwd=folder, capture_output=True, check=True).stdout
            times[name] = time.monotonic() - began
        for seed in range(args.first, args.first + args.runs):
            generator = random.Random(seed)
            name = generator.choice(sorted(programs))
            how = ("random", "two", "recovery")[seed % 3] if args.how == "all" else args.how
            workers = 3 if how == "random" else 4
            process = subprocess.Popen([args.dfc, "run", name + ".df", "--threads=1", "--local-workers=%d" % (workers + 1)], cwd=folder, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            pids = []
            for _ in range(200):
                pids = local_pids(process.pid)
                if len(pids) == workers:
                    break
                time.sleep(0.01)
            disturb(how, pids, times[name], generator)
            try:
                out, err = process.communicate(timeout=120)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = b"", b"it hangs"
            lost += b"is lost" in err
            twice += err.count(b"is lost") > 1
            early = process.returncode == 5 and b"" == out  # before the run began: that is said, and is right
            if not early and (process.returncode != 0 or out != wanted[name]):
                faults += 1
                print("seed %d, %s, %s: exit code %s\n%s%s" % (seed, how, name, process.returncode, out.decode(), err.decode()), flush=True)
    print("%d runs, %d of them lost a worker, %d more than one, %d faults" % (args.runs, lost, twice, faults))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
