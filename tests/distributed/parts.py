#!/usr/bin/env python3
"""A graph that is cut, each part in a process of its own, gives what it gives in one piece.

    parts.py --dfc build/dfc [--only NAME]
    parts.py --dfc build/dfc --all            every program of the tests that ends soon enough, 2 and 3 processes, by both rules of Recv

Cuts put each node on any part. What is compared is the exit code, what is printed, and errors with their call paths.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "harness"))
import cut
from processes import FIB, Worker, has_zmq, launched, local_pids, same
from promises import main, test


def notes_out(text):
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("note: "))


def whole_and_parts(runner, graph, processes, seed, stdin=b"", more=()):
    """The run in one piece, and with a part on each of so many processes; None in place of the first if it takes long."""
    command = ["run", graph, "--timeout=%gs" % (10 * cut.SLOW)]
    whole = runner.run(*command, "--engine=reference", stdin=stdin)
    if whole.returncode == 3:
        return None, None
    done = runner.run("run", graph, "--local-workers=%d" % processes, "--cut-seed=%d" % seed, "--timeout=60s", *more, stdin=stdin)
    return ((one.returncode, one.stdout, notes_out(one.stderr.decode("utf-8", "replace"))) for one in (whole, done))


@test
def the_programs_of_the_model(d):
    runner = cut.Runner(d.dfc, d.path)
    programs = sorted(glob.glob(os.path.join(cut.MODEL, "*.tagged"))) + [runner.source("delayed")]
    assert len(programs) == 68
    for number, graph in enumerate(programs):
        processes = (2, 3, 5)[number % 3] if number % 4 == 0 else 2
        whole, parts = whole_and_parts(runner, graph, processes, number + 1, more=("--recv=scheduled",) if number % 5 == 0 else ())
        assert parts == whole, (graph, processes, number + 1, parts, whole)


@test
def the_examples_of_the_paper(d):
    runner = cut.Runner(d.dfc, d.path)
    for seed, name in enumerate(cut.PAPER):
        whole, parts = whole_and_parts(runner, runner.source(name), 3, seed + 1)
        assert parts == whole, (name, parts, whole)


@test
def placements_and_pragmas(d):
    d.file("fact.df", "{-# PLACE fact worker 1 #-}\nfact :: Int -> Int\nfact n = if n == 1 then n else n * fact (n - 1)\nmain = print (fact 20)\n")
    d.expect(0, "run", "fact.df", "--parts=2", "--local-workers=2", out="2432902008176640000\n")
    d.file("fact.place", "fact 0\nfact:3:34 1\n")
    _, err = d.expect(0, "run", "fact.df", "--placement=fact.place", "--local-workers=2", "--stats", out="2432902008176640000\n")
    # The product stands on part 1: its operands go there, and its value comes back, of each of twenty calls.
    assert int(re.search(r"^sent +(\d+)", err, re.M).group(1)) >= 19, err
    # More parts than processes: part p is that of process p modulo their number.
    d.expect(0, "run", "fact.df", "--parts=5", "--cut-seed=3", "--local-workers=2", out="2432902008176640000\n")
    code, _, err = d.run("run", "fact.df", "--parts=2", "--local-workers=3")
    assert code == 2 and "there are 3 processes, and 2 parts" in err, (code, err)
    code, _, err = d.run("run", "fact.df", "--parts=2", "--local-workers=2", "--losses=1", "--seed=1")
    assert code == 2 and "--losses" in err, (code, err)
    d.file("table.df", "import Gradient\nf :: Int -> Double -> Double\nf n w = if n == 0 then w else tanh (w * f (n - 1) w)\nmain = print (valueAndGrad (f 3) (0.5 :: Double))\n")
    wanted = d.run("run", "table.df", "--gradient=table")
    assert wanted[0] == 0
    code, _, err = d.run("run", "table.df", "--gradient=table", "--cut-seed=3", "--local-workers=2")
    assert code == 2 and "a table of activations cannot go to another process" in err, (code, err)


@test
def failures_and_their_call_paths(d):
    d.file("bad.df", "f :: Int -> Int\nf n = if n < 2 then n else if n == 3 then 10 `div` (n - 3) else f (n - 1) + f (n - 2)\nmain = print (f 9)\n")
    d.file("loop.df", "f :: Int -> Int\nf n = if n < 2 then n else f (n - 1) + f (n - 2)\nmain = let x = f 6 + y; y = x + 1 in print x\n")
    d.file("deep.df", "f :: Int -> Int\nf n = if n == 0 then error \"at the bottom\" else 1 + f (n - 1)\nmain = print (f 3000)\n")
    d.file("lazy.df", "main = print (take 3 (map (\\x -> 6 `div` x) [3, 2, 1, 0]), length [1 `div` 0, 2], head [7, 1 `div` (0 :: Int)])\n")
    d.file("exit.df", "import System.Exit\nmain = print (sum [1 .. 10 :: Int]) >> exitWith (ExitFailure 7)\n")
    for name in ("bad.df", "loop.df", "deep.df", "lazy.df", "exit.df"):
        wanted = d.run("run", name, "--engine=reference")
        for number, seed in ((2, 1), (3, 2), (3, 3)):
            same(d.run("run", name, "--local-workers=%d" % number, "--cut-seed=%d" % seed), wanted)


@test
def who_asks_stays_in_one_process(d):
    """An action that goes on with an answer holds a token, which no packet takes: refused before anything runs."""
    for number, text in enumerate(("main = do\n  a <- getLine\n  print (read a + 1 :: Int)\n", "main = interact (\\s -> head (lines s) ++ \"\\n\")\n")):
        d.file("asks%d.df" % number, text)
        code, out, err = d.run("run", "asks%d.df" % number, "--local-workers=3", "--cut-seed=1", stdin="34\n")
        assert code == 2 and not out and "asks its surroundings" in err, (code, out, err)
        wanted = d.run("run", "asks%d.df" % number, "--engine=reference", stdin="34\n")
        assert d.run("run", "asks%d.df" % number, "--parts=3", "--cut-seed=1", stdin="34\n")[:2] == wanted[:2] == (0, wanted[1]), wanted


@test
def texts_that_are_read_as_they_are_looked_at(d):
    """Their rests stand with the root, whoever looks at them."""
    d.file("a.txt", "one line and\n" * 4000)
    words = ["--input=a=@a.txt", '--input=p=(3, Just "abcdefgh")']
    d.file("text.df", "main :: String -> (Int, Maybe String) -> (Int, Int, String)\nmain a p = (length (lines a), fst p, maybe \"\" (reverse . take 5) (snd p))\n")
    wanted = d.run("run", "text.df", *words)
    assert wanted[:2] == (0, "(4000,3,\"edcba\")\n"), wanted
    for seed in (1, 2, 3):
        same(d.run("run", "text.df", *words, "--local-workers=%d" % (2 + seed % 2), "--cut-seed=%d" % seed), wanted)


@test
def large_values(d):
    d.file("large.df", "import qualified Tensor as T\nf :: Tensor Float [300, 400] -> Tensor Float [300, 400]\nf x = x * x + x\n"
           "g :: Integer -> Integer\ng n = if n == 0 then 1 else 3 * g (n - 1)\n"
           "main = print (T.sum (f (T.fill 0.5)), g 300, length (show (g 300)), sum (map fromIntegral [1 .. 2000 :: Int]) :: Integer)\n")
    wanted = d.run("run", "large.df", "--engine=reference")
    assert wanted[0] == 0, wanted
    for seed in (1, 2):
        same(d.run("run", "large.df", "--local-workers=2", "--cut-seed=%d" % seed), wanted)


@test
def a_part_that_is_lost_ends_the_run(d):
    d.file("fib.df", FIB % 60)
    for number in (signal.SIGKILL, signal.SIGTERM):
        process = subprocess.Popen([d.dfc, "run", "fib.df", "--local-workers=3", "--cut-seed=2"], cwd=d.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(1.5)
        workers = local_pids(process.pid)
        assert len(workers) == 2, workers
        os.kill(workers[0], number)
        out, err = process.communicate(timeout=30)
        assert process.returncode == 5, (process.returncode, err)
        assert re.search(r"^error: part [12] of the graph is lost with its process$", err, re.M), err
        assert out == ""


@test
def workers_that_listen_have_parts_in_their_order(d):
    if not has_zmq(d):
        return
    assert d.run("keygen", "-o", "c.key")[0] == 0
    workers = [Worker(d, "c.key") for _ in range(2)]
    try:
        d.file("f.df", "f :: Int -> Int\nf n = if n == 0 then 0 else n + f (n - 1)\ng :: Int -> Int\ng n = if n == 0 then 1 else f n + g (n - 1)\nmain = print (g 20)\n")
        d.file("f.place", "main 0\nf 1\ng 2\n")
        command = ["run", "f.df", "--placement=f.place", "--workers=" + ",".join(w.address for w in workers), "--key=c.key"]
        for _ in range(2):  # they are free again
            _, err = d.expect(0, *command, "--stats", out="1541\n")
            ports = [w.address.rsplit(":", 1)[1] for w in workers]
            assert all(re.search(r"^%d .*:%s\)" % (rank + 1, port), err, re.M) for rank, port in enumerate(ports)), err
    finally:
        for worker in workers:
            worker.end()


@test
def launched_processes_have_parts(d):
    if not has_zmq(d):
        return
    assert d.run("keygen", "-o", "c.key")[0] == 0
    d.file("fact.df", "fact :: Int -> Int\nfact n = if n == 1 then n else n * fact (n - 1)\nmain = print (fact 20)\n")
    words = ("--rendezvous=./place", "--cut-seed=4")
    processes = [launched(d, rank, 3, "fact.df", *words) for rank in range(3)]
    ended = [process.communicate(timeout=60) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], ended
    assert [out for out, _ in ended] == ["2432902008176640000\n", "", ""], ended


@test
def a_loop_that_goes_there_and_back(d):
    d.file("loop.df", "{-# PLACE step worker 1 #-}\nstep :: Int -> Int\nstep s = (s * 7 + 3) `mod` 1000\n"
           "go :: Int -> Int -> Int\ngo n s = if n == 0 then s else go (n - 1) (step s)\nmain = print (go 2000 1)\n")
    wanted = d.run("run", "loop.df", "--engine=tagged")
    same(d.run("run", "loop.df", "--parts=2", "--local-workers=2", "--max-memory=64M"), wanted)


@test
def a_table_is_trained_on_a_process_of_its_own(d):
    sample = os.path.join(cut.ROOT, "samples", "cut", "table.df")
    wanted = d.run("run", sample, "--threads=1")
    assert wanted[0] == 0 and "(0.6" in wanted[1], wanted
    code, out, err = d.run("run", sample, "--placement=" + sample[:-2] + "place", "--local-workers=2", "--stats=json")
    assert (code, out) == wanted[:2], (code, out, err, wanted)
    figures = json.loads(err.splitlines()[-1])
    went = [link["bytes_out"] for process in figures["processes"] for link in process["links"]]
    # 150 steps, and the graph: all of it is as much as two tables of 128,000 bytes.
    assert len(went) == 2 and sum(went) < 128000 * 4, figures["processes"]
    done = d.run("run", sample, "--cut-seed=1", "--local-workers=2", "--stats=json")
    assert done[:2] == wanted[:2]
    assert sum(link["bytes_out"] for process in json.loads(done[2].splitlines()[-1])["processes"] for link in process["links"]) > 128000 * 150
    d.file("bad.place", "type Tensor Float [2000, 17] 1\n")
    code, _, err = d.run("run", sample, "--placement=bad.place", "--local-workers=2")
    assert code == 2 and "nothing in the graph is of the type" in err, (code, err)


def check_all(dfc):
    """Every program of the tests that ends soon enough."""
    with tempfile.TemporaryDirectory() as folder:
        runner = cut.Runner(os.path.abspath(dfc), folder)
        subjects = sorted(glob.glob(os.path.join(cut.MODEL, "*.tagged"))) + [runner.source(name) for name in cut.PAPER] + list(cut.programs_of_tests())
        checked = left_out = 0
        differ = []

        def one(item):
            number, path = item
            stdin = b""
            if os.path.exists(path[: -len(".df")] + ".in"):
                with open(path[: -len(".df")] + ".in", "rb") as file:
                    stdin = file.read()
            graph = runner.compiled(path) if path.endswith(".df") else path
            if not graph:
                return None
            faults = []
            for processes, rule in ((2, "by-name"), (3, "scheduled")):
                try:
                    whole, parts = whole_and_parts(runner, graph, processes, number + 1, stdin, ("--recv=" + rule,))
                except subprocess.TimeoutExpired:
                    return None
                if whole is None or parts[0] == 3:
                    return None
                if parts != whole:
                    faults.append("%s on %d processes, --cut-seed=%d --recv=%s\n  wanted %r\n  got    %r" % (path, processes, number + 1, rule, whole, parts))
            return faults

        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            for faults in pool.map(one, enumerate(subjects)):
                if faults is None:
                    left_out += 1
                else:
                    checked += 1
                    differ += faults
        print("\n".join(differ))
        print("%d programs, %d left out since they take long or do not run by themselves, %d runs differ" % (checked, left_out, len(differ)))
        return not differ


if __name__ == "__main__":
    if "--all" in sys.argv:
        parser = argparse.ArgumentParser()
        parser.add_argument("--dfc", required=True)
        parser.add_argument("--all", action="store_true")
        sys.exit(0 if check_all(parser.parse_args().dfc) else 1)
    main()
