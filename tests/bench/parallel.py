#!/usr/bin/env python3
"""What several threads give: fib, tak, ack and sieves of lazy lists on all of them, against copies on one thread side by side.

    parallel.py --dfc build/dfc [--threads N] [--rounds N] [--small] [--memory]

The ceiling is measured in the same round: cores may share resources or have neighbours. In each round one after the other run: N
copies with --threads 1 side by side, one run with --threads N, one run with --threads 1 alone. The ceiling is what the copies get
done in a second together: the sum of 1 / seconds of each. Beside it what other work on the machine disturbs less: the processor time
of the run on N threads by that of a copy, and how much of the time its threads were asleep, neither running nor waiting for a
processor (Linux's schedstat, looked at every 5 ms). `undisturbed` is what these two leave of the ceiling. Medians of the rounds.

--memory: the peak memory of fib 40 and tak 27 17 8 instead, on 1 and 2 threads, and on N.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

FIB = "fib :: Int -> Int\nfib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\n"
TAK = ("tak :: Int -> Int -> Int -> Int\n"
       "tak x y z = if y < x then tak (tak (x - 1) y z) (tak (y - 1) z x) (tak (z - 1) x y) else z\n")
ACK = ("ack :: Int -> Int -> Int\n"
       "ack m n = if m == 0 then n + 1 else if n == 0 then ack (m - 1) 1 else ack (m - 1) (ack m (n - 1))\n")
# Independent pieces, each of which forces many delayed calls one after the other.
SIEVES = ("sieve :: [Int] -> [Int]\nsieve [] = []\nsieve (p : xs) = p : sieve [x | x <- xs, x `mod` p /= 0]\n"
          "pieces :: Int -> Int -> Int\npieces lo hi\n  | lo == hi = sum (take 250 (sieve [lo + 2 ..]))\n"
          "  | otherwise = let m = (lo + hi) `div` 2 in pieces lo m + pieces (m + 1) hi\n")
# Name, definition, what is computed (3 s or more on one thread of our machine), and less.
PROGRAMS = (("fib", FIB, "fib 45", "fib 24"), ("tak", TAK, "tak 32 20 8", "tak 14 9 4"), ("ack", ACK, "ack 3 13", "ack 3 5"),
            ("sieves", SIEVES, "pieces 0 799", "pieces 0 3"))
DEEP = (("fib", FIB, "fib 40", "fib 24"), ("tak", TAK, "tak 27 17 8", "tak 14 9 4"))


def compiled(dfc, folder, name, text, expression):
    graph = os.path.join(folder, name + ".graph")
    subprocess.run([dfc, "-", "-o", graph], input=(text + "main = %s\n" % expression).encode(), check=True)
    return graph


def begin(dfc, graph, threads):
    return subprocess.Popen([dfc, "run", graph, "--threads=%d" % threads, "--stats=times"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def end(process):
    """What was printed, and the statistics."""
    out, err = process.communicate()
    if process.returncode:
        sys.exit("exit code %d\n%s" % (process.returncode, err.decode()))
    return out, json.loads(err)


def asleep(process):
    """Until the process ends: the share of the time in which its threads that work neither ran nor waited for a processor."""
    seen = {}
    while process.poll() is None:
        try:
            for thread in os.listdir("/proc/%d/task" % process.pid):
                with open("/proc/%d/task/%s/schedstat" % (process.pid, thread)) as file:
                    run, wait = (int(field) / 1e9 for field in file.read().split()[:2])
                now = time.monotonic()
                seen.setdefault(thread, [now, run + wait])[2:] = [now, run + wait, run]
        except OSError:
            pass  # one has ended meanwhile
        time.sleep(0.005)
    workers = [times for times in seen.values() if times[4] > 0.1 * max(times[4] for times in seen.values())]
    return 1 - sum(last - first for _, first, _, last, _ in workers) / max(1e-9, sum(end - begin for begin, _, end, _, _ in workers))


def one_round(dfc, graph, threads):
    """Seconds of a copy, of the run on all threads, alone; throughput : ceiling; processor time of all threads by that of a copy;
    the share of the time that they slept; what the last two leave of the ceiling."""
    copies = [end(process) for process in [begin(dfc, graph, 1) for _ in range(threads)]]
    process = begin(dfc, graph, threads)
    slept = max(0, asleep(process))
    out, team = end(process)
    alone_out, alone = end(begin(dfc, graph, 1))
    if {out, alone_out, *(copy[0] for copy in copies)} != {out}:
        sys.exit("the runs print different results")
    ceiling = sum(1 / stats["run_seconds"] for _, stats in copies)
    processor = statistics.fmean(stats["run_cpu_seconds"] for _, stats in copies)
    return (threads / ceiling, team["run_seconds"], alone["run_seconds"], 1 / team["run_seconds"] / ceiling,
            team["run_cpu_seconds"] / processor, slept, processor / team["run_cpu_seconds"] * (1 - slept))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--small", action="store_true", help="inputs that take no time, to test this program")
    parser.add_argument("--memory", action="store_true")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.memory:
            print("| program | threads | peak frames | values and frames, KiB | stolen |\n|---|---|---|---|---|")
            for name, text, large, small in DEEP:
                graph = compiled(args.dfc, folder, name, text, small if args.small else large)
                for threads in sorted({1, 2, args.threads}):
                    done = subprocess.run([args.dfc, "run", graph, "--threads=%d" % threads, "--stats=json"], capture_output=True, check=True)
                    stats = json.loads(done.stderr)
                    print("| %s | %d | %d | %.0f | %d |" % (small if args.small else large, threads, stats["peak_frames"],
                                                           stats["peak_bytes"] / 1024, stats["steals"]), flush=True)
            return
        print("| program | each copy, s | %d threads, s | one, s | throughput : ceiling | alone : all threads | processor time | asleep | undisturbed |\n%s|" %
              (args.threads, "|---" * 9))
        for name, text, large, small in PROGRAMS:
            graph = compiled(args.dfc, folder, name, text, small if args.small else large)
            rounds = [one_round(args.dfc, graph, args.threads) for _ in range(args.rounds)]
            copies, team, alone, ceiling, processor, slept, undisturbed = (statistics.median(r[i] for r in rounds) for i in range(7))
            against = statistics.median(r[2] / r[1] for r in rounds)
            print("| %s | %.2f | %.2f | %.2f | %.2f | %.2f | %.3f | %.3f | %.2f |" % (small if args.small else large, copies, team, alone, ceiling, against,
                                                                     processor, slept, undisturbed), flush=True)


if __name__ == "__main__":
    main()
