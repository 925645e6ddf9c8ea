#!/usr/bin/env python3
"""How runs on several processes end: at once, also for workers; with processes that give other bits refused; with calls that end who has them.

    ends.py --dfc build/dfc [--only NAME]
"""

import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "harness"))
sys.path.insert(0, HERE)
import promises
from workers import FIB, Worker, has_zmq, same

promises.TESTS.clear()  # those of workers.py
from promises import main, test

TICK = os.sysconf("SC_CLK_TCK")
# glibc then takes the functions for processors without fused multiplication and addition, which round otherwise.
WITHOUT_FMA = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-FMA_Usable,-FMA4_Usable,-AVX2_Usable"}


def processor_seconds(pid):
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


@test
def workers_are_free_when_the_run_has_ended(d):
    if not has_zmq(d):
        return
    d.expect(0, "keygen", "-o", "c.key")
    d.file("long.df", FIB % 60)
    d.file("fails.df", "fib :: Int -> Int\nfib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\n"
           "main = (if fib 33 > 0 then error \"no\" else 1) + fib 60\n")
    d.file("short.df", FIB % 20)
    worker = Worker(d, "c.key")
    try:
        words = ["--workers=" + worker.address, "--key=c.key", "--threads=1"]
        for name, more, number, code in (("long.df", [], signal.SIGINT, 130), ("long.df", [], signal.SIGTERM, 130), ("long.df", ["--timeout=2s"], None, 3),
                                         ("fails.df", ["--timeout=20s"], None, 1)):
            root = subprocess.Popen([d.dfc, "run", name, *words, *more], cwd=d.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            before = processor_seconds(worker.process.pid)
            if number:
                until = time.monotonic() + 20
                while time.monotonic() < until and processor_seconds(worker.process.pid) < before + 0.3:
                    time.sleep(0.05)
                root.send_signal(number)
            out, err = root.communicate(timeout=60)
            at_end = processor_seconds(worker.process.pid)
            assert root.returncode == code, (name, more, number, root.returncode, out, err)
            time.sleep(1)
            after = processor_seconds(worker.process.pid) - at_end
            assert after < 0.1, "%s %s: the worker went on for %.2f s of processor time" % (name, more or number, after)
        d.expect(0, "run", "short.df", *words, out="6765\n")
    finally:
        worker.end()


@test
def who_gives_other_bits_is_refused(d):
    if not has_zmq(d):
        return
    d.file("bits.df", "main = print (sum [sin x + exp x + tanh x * log (x + 1) | x <- map (/ 64) [1 .. 4000 :: Double]])\n")
    here, there = d.run("run", "bits.df"), d.run("run", "bits.df", env=WITHOUT_FMA)
    d.expect(0, "keygen", "-o", "c.key")
    worker = Worker(d, "c.key")
    try:
        words = ["run", "bits.df", "--workers=" + worker.address, "--key=c.key", "--threads=1"]
        assert d.run(*words)[:2] == here[:2]
        got = d.run(*words, env=WITHOUT_FMA)
        if here[1] != there[1]:
            assert got[0] == 5 and "libm" in got[2], got
        # The loops over tensors give the same bits with and without.
        assert "kernels" not in got[2], got
    finally:
        worker.end()


@test
def a_call_that_ends_who_has_it_is_computed_by_the_root(d):
    if not has_zmq(d):
        return
    d.expect(0, "keygen", "-o", "c.key")
    # Each half needs more memory than a worker has.
    d.file("large.df", "work :: Int -> Int\nwork k = let xs = [k .. k + 400000] in sum xs - length xs * maximum xs\n"
           "tree :: Int -> Int -> Int\ntree a b = if b - a == 1 then work a else tree a m + tree m b where m = (a + b) `div` 2\nmain = tree 0 32\n")
    wanted = d.run("run", "large.df", "--threads=1")
    assert wanted[0] == 0, wanted
    workers = [Worker(d, "c.key", "--max-memory=3M") for _ in range(3)]
    try:
        words = ["--workers=" + ",".join(worker.address for worker in workers), "--key=c.key", "--threads=1"]
        same(d.run("run", "large.df", *words), wanted)
    finally:
        left = sum("left the run" in worker.end()[1] for worker in workers)
    assert left > 0, "no worker was given what it has no room for"


@test
def runs_in_which_nothing_goes_on_say_so(d):
    fib = "fib :: Int -> Int\nfib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\n"
    programs = {
        "deep.df": fib + "h :: Int -> Int\nh n = if n == 0 then (let x = x + 1 in x) else fib 25 + h (n - 1)\nmain = h 30\n",
        "cells.df": fib + "h :: Int -> Int\nh n = if n == 0 then (let { x = y + fib 20; y = x + fib 21 } in x + y) else fib 24 + h (n - 1) + fib 23\n"
                    "main = print (h 20)\n",
    }
    for name, text in programs.items():
        d.file(name, text)
        wanted = d.run("run", name, "--threads=1")
        assert wanted[0] == 1 and "<<loop>>" in wanted[2], wanted
        for number in (2, 3):
            same(d.run("run", name, "--local-workers=%d" % number, "--threads=1", "--timeout=60s"), wanted)


if __name__ == "__main__":
    main()
