#!/usr/bin/env python3
"""What a process holds of messages on their way, where a consumer is ten times slower than the producer.

    memory.py --dfc build/dfc [--rounds 12]

The root of a run gets large results of a worker, and is stopped nine tenths of the time. What both processes have beside their values is at most what a
link may have on its way (its credit, here an eighth of --max-memory), twice where it comes in: not taken, and not read; and the calls that are kept for
tickets; with 5 %.
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


def run(dfc, file, slowly):
    command = [dfc, "run", file, "--threads=1", "--stats=json", "--local-workers=2", "--max-memory=%d" % MEMORY]
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
        empty = os.path.join(folder, "empty.df")
        with open(empty, "w") as source:
            source.write("main = print 1\n")
        alone = subprocess.run([dfc, "run", file, "--threads=1"], capture_output=True, text=True, check=True).stdout
        out, stats, peaks = run(dfc, file, slowly=True)
        assert out == alone, (out, alone)
        assert len(stats["processes"]) == 2 and all(process["told"] for process in stats["processes"]), stats["processes"]
        worst = 0
        for process in stats["processes"]:
            flying, tickets = process["peak_in_flight_bytes"], process["peak_ticket_bytes"]
            worst = max(worst, flying)
            print("process %d: on their way %.2f MiB at most, tickets %d of %.2f MiB, values %.1f MiB; gave %d, took %d, held back %d" % (
                process["rank"], mib(flying), process["peak_tickets"], mib(tickets), mib(process["peak_bytes"]), process["far_given"], process["far_taken"],
                process["far_held_back"]))
        print("credit %.1f MiB; memory of the processes at most %s MiB" % (mib(CREDIT), ", ".join("%.1f" % mib(peak) for peak in peaks.values())))
        largest = 64 << 20  # of one packet
        assert worst <= 1.05 * (2 * CREDIT + largest), worst
        given = sum(process["far_given"] for process in stats["processes"])
        assert given > 0, "nothing was given away"
    print("ok")


if __name__ == "__main__":
    sys.exit(main())
