#!/usr/bin/env python3
"""What a process holds of messages on their way, where a consumer is ten times slower than the producer.

    memory.py --dfc build/dfc [--rounds 12]

The root of a run gets large results of a worker, and is stopped nine tenths of the time. What a process has beside its values is at most what a link may
have on its way (its credit, here an eighth of --max-memory), the calls that are kept for tickets, and 5 %. The processes' memory as the system has it is
shown beside it: a packet that is made, or read, is there twice for a moment. tests/unit/members has the same without an engine, at the credit.
"""

import argparse
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

# A tree whose leaves are made in less time than they are sent. The root walks through them.
PROGRAM = """data Tree = Leaf ![Int] | Node !Tree !Tree
make :: Int -> Int -> Tree
make a b = if b - a == 1 then Leaf (fill 2000 (a * 1000003) []) else Node (make a m) (make m b) where m = (a + b) `div` 2
fill :: Int -> Int -> [Int] -> [Int]
fill n k xs = if n == 0 then xs else let y = k * 6364136223846793005 + n in y `seq` fill (n - 1) y (y : xs)
total :: Tree -> Int
total (Leaf xs) = sum xs
total (Node a b) = total a + total b
rounds :: Int -> Int -> Int
rounds n s = if n == 0 then s else rounds (n - 1) (s + total (make (n * 512) (n * 512 + 512)))
main = print (rounds %d 0)
"""
MEMORY = 256 << 20
CREDIT = MEMORY // 8  # of the root; a worker has half of the memory


def workers_of(root):
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as file:
                if int(file.read().rsplit(")", 1)[1].split()[1]) == root:
                    yield int(path.split("/")[2])
        except (OSError, IndexError):
            pass


def resident(pid, key="VmHWM"):
    """Bytes, or 0 if the process is gone."""
    try:
        with open("/proc/%d/status" % pid) as file:
            return next(int(line.split()[1]) << 10 for line in file if line.startswith(key))
    except (OSError, StopIteration):
        return 0


def slow(process, stop):
    """Nine tenths of the time the process is stopped."""
    while not stop.is_set() and process.poll() is None:
        process.send_signal(signal.SIGSTOP)
        time.sleep(0.09)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.01)
    if process.poll() is None:
        process.send_signal(signal.SIGCONT)


def run(dfc, file, slowly, memory=MEMORY):
    command = [dfc, "run", file, "--threads=1", "--stats=json", "--local-workers=2", "--max-memory=%d" % memory]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)
    stop = threading.Event()
    stopping = threading.Thread(target=slow, args=(process, stop))
    if slowly:
        stopping.start()
    peaks = {}

    def look():
        while process.poll() is None:
            for pid in [process.pid, *workers_of(process.pid)]:
                peaks[pid] = max(peaks.get(pid, 0), resident(pid))
            time.sleep(0.05)

    looking = threading.Thread(target=look)
    looking.start()
    out, err = process.communicate(timeout=300)
    stop.set()
    looking.join()
    if slowly:
        stopping.join()
    assert process.returncode == 0, (process.returncode, err)
    return out, json.loads(err.splitlines()[-1]), peaks


def mib(bytes_):
    return bytes_ / (1 << 20)


def compare(name, process, peak, base, credit):
    """One row. The packets of results are as large as all that was on its way at once, at most."""
    flying, tickets, values = process["peak_in_flight_bytes"], process["peak_ticket_bytes"], process["peak_bytes"]
    print("%-6s %8.1f %8.2f %8.2f %8.1f %8d %8.1f %8.1f" % (
        name, mib(credit), mib(flying), mib(tickets), mib(values), process["peak_tickets"], mib(peak - base), mib(values + credit + tickets) * 1.05))
    assert flying <= 1.05 * credit, "more on its way than the credit"
    assert peak - base <= 1.05 * (values + credit + tickets + flying), "the process has more than it counts"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--rounds", type=int, default=12)
    args = parser.parse_args()
    dfc = os.path.abspath(args.dfc)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "trees.df")
        with open(file, "w") as source:
            source.write(PROGRAM % args.rounds)
        small = os.path.join(folder, "small.df")
        with open(small, "w") as source:
            source.write("fib :: Int -> Int\nfib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\nmain = print (fib 44)\n")
        _, _, bases = run(dfc, small, slowly=False)
        alone = subprocess.run([dfc, "run", file, "--threads=1"], capture_output=True, text=True, check=True).stdout
        out, stats, peaks = run(dfc, file, slowly=True)
        assert out == alone, (out, alone)
        assert len(stats["processes"]) == 2 and all(process["told"] for process in stats["processes"]), stats["processes"]
        assert sum(process["far_given"] for process in stats["processes"]) > 0, "nothing was given away"
        print("MiB      credit   on way  tickets   values   number   memory  allowed")
        root, worker = sorted(peaks)  # the root is the older one
        compare("root", stats["processes"][0], peaks[root], bases[min(bases)], CREDIT)
        compare("worker", stats["processes"][1], peaks[worker], bases[max(bases)], CREDIT // 2)
        # With little memory a process holds back before it is at its limit, and the result is the same.
        tight, stats, _ = run(dfc, file, slowly=True, memory=64 << 20)
        assert tight == alone, (tight, alone)
        print("with 64 MiB %d requests were held back" % sum(process.get("far_held_back", 0) for process in stats["processes"]))
    print("ok")


if __name__ == "__main__":
    sys.exit(main())
