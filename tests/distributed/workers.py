#!/usr/bin/env python3
"""Runs on several processes give what one process gives: with workers here, workers that listen, launched ones, lost ones, and none.

    workers.py --dfc build/dfc [--only NAME]

Everything listens in folders of its own or on loopback, and ends by itself. tests/distributed/kill.py kills more often, and longer.
"""

import os
import random
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "harness"))
from processes import FIB, FIB_37, PIECES, Worker, ended, has_zmq, launched, local_pids, same, seconds
from promises import main, test


@test
def local_workers_give_what_one_process_gives(d):
    d.file("pieces.df", PIECES)
    d.file("fib.df", FIB % 37)
    wanted = d.run("run", "pieces.df", "--threads=1")
    assert wanted[0] == 0, wanted
    for number in (2, 3):
        same(d.run("run", "pieces.df", "--local-workers=%d" % number, "--threads=1"), wanted)
    given = 0
    for _ in range(3):
        _, err = d.expect(0, "run", "fib.df", "--local-workers=2", "--threads=1", "--stats", out=FIB_37)
        given += int(err.split("given far")[1].split()[0])
    assert given > 0, "nothing was given"


@test
def failures_and_their_call_paths_are_the_same(d):
    d.file("bad.df", "f :: Int -> Int\nf n = if n < 2 then n else if n == 3 then 10 `div` (n - 3) else f (n - 1) + f (n - 2)\nmain = f 32\n")
    d.file("loop.df", "fib :: Int -> Int\nfib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\nmain = let x = fib 30 + y; y = x + 1 in x\n")
    d.file("exit.df", "import System.Exit\nfib :: Int -> Int\nfib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\nmain = print (fib 34) >> exitWith (ExitFailure 7)\n")
    for name in ("bad.df", "loop.df", "exit.df"):
        wanted = d.run("run", name, "--threads=1")
        for number in (2, 3):
            same(d.run("run", name, "--threads=1", "--local-workers=%d" % number), wanted)


@test
def only_the_root_acts(d):
    d.file("io.df", "fib :: Int -> Int\nfib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\n"
           "main = do\n  a <- getLine\n  print (fib (read a))\n  b <- getContents\n  print (length (lines b), fib 33)\n")
    text = "34\n" + "line\n" * 1000
    wanted = d.run("run", "io.df", "--threads=1", stdin=text)
    assert wanted[0] == 0
    same(d.run("run", "io.df", "--threads=1", "--local-workers=3", stdin=text), wanted)
    # A stream stays a stream: constant memory.
    d.file("stream.df", "main = print (sum [1 .. 3000000 :: Int])\n")
    d.expect(0, "run", "stream.df", "--local-workers=2", "--threads=1", "--max-memory=64M", out="4500001500000\n")


@test
def nothing_is_left_behind(d):
    folder = os.path.join(d.path, "tmp")
    os.mkdir(folder)
    env = {**os.environ, "TMPDIR": folder, "XDG_RUNTIME_DIR": folder}
    d.file("fib.df", FIB % 60)
    d.file("short.df", FIB % 30)
    subprocess.run([d.dfc, "run", "short.df", "--local-workers=3"], cwd=d.path, env=env, check=True, capture_output=True)
    assert os.listdir(folder) == []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        process = subprocess.Popen([d.dfc, "run", "fib.df", "--local-workers=3", "--threads=1"], cwd=d.path, env=env, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        time.sleep(1.5)
        workers = local_pids(process.pid)
        assert len(workers) == 2, workers
        process.send_signal(number)
        code = process.wait(timeout=20)
        assert code == (-9 if number == signal.SIGKILL else 130), code
        until = time.monotonic() + 10
        while time.monotonic() < until and not all(ended(pid) for pid in workers):
            time.sleep(0.05)
        assert all(ended(pid) for pid in workers), "workers outlive their root after signal %d" % number
        until = time.monotonic() + 5
        while os.listdir(folder) and time.monotonic() < until:
            time.sleep(0.05)
        assert os.listdir(folder) == [], "left after signal %d: %s" % (number, os.listdir(folder))
    done, took = seconds([d.dfc, "run", "fib.df", "--local-workers=2", "--timeout=1s"], cwd=d.path, env=env)
    assert done.returncode == 3 and took < 10 and b"time limit" in done.stderr, (done, took)


@test
def a_socket_that_comes_late_is_left_by_nobody(d):
    # The root has gone, and so has another of its workers, which had its socket after the root had looked.
    folder = os.path.join(d.path, "sockets")
    os.mkdir(folder, 0o700)
    ends = os.pipe()
    worker = subprocess.Popen([d.dfc, "worker", "--listen", "ipc://%s/1" % folder, "--threads", "1", "--alive", str(ends[0])], pass_fds=[ends[0]],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    os.close(ends[0])
    until = time.monotonic() + 20
    while not os.listdir(folder) and time.monotonic() < until:
        time.sleep(0.01)
    assert os.listdir(folder) == ["1"], os.listdir(folder)
    d.file(os.path.join(folder, "2"), "")
    os.close(ends[1])
    _, err = worker.communicate(timeout=20)
    assert worker.returncode == 0 and err == b"" and not os.path.exists(folder), (worker.returncode, err)


@test
def killed_workers_cost_no_result(d):
    d.file("fib.df", FIB % 46)
    generator = random.Random(7)
    lost = runs = 0
    while runs < 4:
        process = subprocess.Popen([d.dfc, "run", "fib.df", "--local-workers=3", "--threads=1", "--stats=json"], cwd=d.path, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        time.sleep(0.4 + generator.random())
        for pid in local_pids(process.pid)[:generator.choice((1, 2))]:
            os.kill(pid, signal.SIGKILL)
        out, err = process.communicate(timeout=100)
        if process.returncode == 5:  # so busy a machine that the run had not begun: that is said
            continue
        assert process.returncode == 0 and out == "1836311903\n", (process.returncode, out, err)
        runs += 1
        lost += "is lost" in err
    assert lost > 0, "no run noticed that a worker was lost"


@test
def a_stopped_worker_is_lost(d):
    d.file("fib.df", FIB % 42)
    for wait in (0.6, 2, 5):
        process = subprocess.Popen([d.dfc, "run", "fib.df", "--local-workers=2", "--threads=1"], cwd=d.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(wait)
        for pid in local_pids(process.pid):
            os.kill(pid, signal.SIGSTOP)
        out, err = process.communicate(timeout=100)
        if process.returncode != 5:  # the run had not begun
            break
    assert process.returncode == 0 and out == "267914296\n", (process.returncode, out, err)


@test
def a_reader_that_goes(d):
    d.file("many.df", "fib :: Int -> Int\nfib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\nmain = mapM_ print (map fib (cycle [20 .. 25]))\n")
    done = subprocess.run("%s run many.df --local-workers=2 --threads=1 | head -1" % d.dfc, shell=True, cwd=d.path, capture_output=True, timeout=60)
    assert done.stdout == b"6765\n", done


LARGE = """import qualified Tensor as T

f :: Tensor Float [%d] -> Int -> Float
f t n = if n < 2 then t T.! n else f t (n - 1) + f t (n - 2)

-- A tensor that all calls look at, and one that each call gives.
g :: Tensor Float [%d] -> Int -> Tensor Float [%d]
g t n = if n == 0 then t * T.fill 0.5 else h (g t (n - 1)) (g (t + T.fill (f t 21 * 1e-9)) (n - 1))

h :: Tensor Float [%d] -> Tensor Float [%d] -> Tensor Float [%d]
h a b = a + b

main :: Float
main = T.sum (g (T.convert T.iota * T.fill 1e-3) %d)
"""


@test
def large_values_go(d):
    # More than is taken before it is read; more than is on its way at once.
    for number, depth in ((1 << 20, 6), (20 << 20, 3)):
        file = d.file("large%d.df" % number, LARGE % ((number,) * 6 + (depth,)))
        wanted = d.run("run", file, "--threads=1")
        for more in ((), ("--max-memory=3G",)):
            same(d.run("run", file, "--local-workers=2", "--threads=1", *more), wanted)


@test
def workers_that_listen_serve_one_run_after_the_other(d):
    if not has_zmq(d):
        return
    d.expect(0, "keygen", "-o", "c.key", out="")
    d.file("fib.df", FIB % 37)
    d.file("pieces.df", PIECES)
    wanted = d.run("run", "pieces.df", "--threads=1")
    workers = [Worker(d, "c.key") for _ in range(2)]
    try:
        addresses = "--workers=" + ",".join(worker.address for worker in workers)
        for _ in range(2):
            d.expect(0, "run", "fib.df", addresses, "--key=c.key", "--threads=1", out=FIB_37)
            same(d.run("run", "pieces.df", addresses, "--key=c.key", "--threads=1"), wanted)
        # Graph files, and what the engine is told to leave out.
        d.expect(0, "fib.df", "-o", "fib.graph")
        d.expect(0, "run", "fib.graph", addresses, "--key=c.key", "--threads=1", "--without=native,words", out=FIB_37)
        # One run at a time.
        first = subprocess.Popen([d.dfc, "run", d.file("long.df", FIB % 49), addresses, "--key=c.key", "--threads=1"], cwd=d.path, stdout=subprocess.PIPE)
        time.sleep(1)
        d.expect(5, "run", "fib.df", addresses, "--key=c.key", err="works for another run")
        first.kill()
        first.wait()
    finally:
        codes = [worker.end() for worker in workers]
    assert all(code == 130 for code, _ in codes), codes


@test
def what_is_missing_or_does_not_fit_is_named(d):
    if not has_zmq(d):
        return
    d.file("fib.df", FIB % 30)
    d.expect(0, "keygen", "-o", "c.key")
    d.expect(0, "keygen", "-o", "other.key")
    d.expect(5, "run", "fib.df", "--workers=tcp://127.0.0.1:7000", err="open to everybody who works on this machine")
    d.expect(2, "worker", "--listen=tcp://127.0.0.1:*", err="this needs a key")
    d.expect(2, "worker", "--listen=tcp://0.0.0.0:*", err="this needs a key")
    d.expect(2, "run", "fib.df", "--local-workers=2", "--engine=demand", err="the engine demand runs in one process")
    d.expect(2, "run", "fib.df", "--local-workers=2", "--device=simulated", err="device `simulated`")
    d.expect(2, "run", "fib.df", "--local-workers=0")
    d.expect(2, "run", "fib.df", "--workers=tcp://a:1", "--key=none.key", err="none.key")
    os.chmod(os.path.join(d.path, "c.key"), 0o644)
    d.expect(2, "run", "fib.df", "--workers=tcp://127.0.0.1:7000", "--key=c.key", err="chmod 600")
    os.chmod(os.path.join(d.path, "c.key"), 0o600)
    d.expect(2, "run", "fib.df", "--launched", "--local-workers=2", err="somebody else has started")
    d.expect(5, "run", "fib.df", "--launched", err="nothing in the environment says", env={name: "" for name in ()})
    worker = Worker(d, "c.key")
    try:
        done, took = seconds([d.dfc, "run", "fib.df", "--workers=" + worker.address, "--key=other.key"], cwd=d.path)
        assert done.returncode == 5 and took < 28 and b"it has another key" in done.stderr and done.stderr.count(b"\n") < 4, (done, took)
    finally:
        _, err = worker.end()
    assert 1 <= err.count("the key of another cluster") < 5, err


@test
def a_worker_at_its_limit_leaves(d):
    if not has_zmq(d):
        return
    d.expect(0, "keygen", "-o", "c.key")
    d.file("lists.df", "work :: Int -> Int\nwork k = let xs = [k .. k + 300000] in sum xs - length xs * maximum xs\n"
           "tree :: Int -> Int -> Int\ntree a b = if b - a == 1 then work a else tree a m + tree m b where m = (a + b) `div` 2\nmain = tree 0 48\n")
    wanted = d.run("run", "lists.df", "--threads=1")
    worker = Worker(d, "c.key", "--max-memory=3M")
    try:
        got = d.run("run", "lists.df", "--workers=" + worker.address, "--key=c.key", "--threads=1")
        assert got[:2] == wanted[:2], (got, wanted)
    finally:
        worker.end()


@test
def launched_processes_find_each_other(d):
    if not has_zmq(d):
        return
    d.expect(0, "keygen", "-o", "c.key")
    d.file("fib.df", FIB % 37)
    d.file("other.df", FIB % 36)

    def launch(files, *words, **launcher):
        processes = [launched(d, rank, len(files), files[rank], *words, **launcher) for rank in reversed(range(len(files)))]
        return [(process.communicate(timeout=60), process.returncode) for process in processes][::-1]

    got = launch(["fib.df"] * 3, "--rendezvous", os.path.join(d.path, "place"))
    assert got[0][0][0] == FIB_37 and all(code == 0 for _, code in got), got
    assert all(said[0] == "" for said, _ in got[1:]), got
    assert not os.path.exists(os.path.join(d.path, "place"))
    port = random.Random(os.getpid()).randrange(20000, 30000)
    got = launch(["fib.df"] * 2, "--rendezvous", "127.0.0.1:%d" % port, launcher=("SLURM_PROCID", "SLURM_NTASKS"))
    assert got[0][0][0] == FIB_37 and got[1][1] == 0, got
    got = launch(["fib.df", "other.df"], "--rendezvous", os.path.join(d.path, "place"))
    assert [code for _, code in got] == [5, 5] and "graph" in got[0][0][1] and "graph" in got[1][0][1], got
    d.expect(5, "run", "fib.df", "--launched", env={"RANK": "3", "WORLD_SIZE": "2"}, err="RANK=3 and WORLD_SIZE=2 are no place")
    d.expect(5, "run", "fib.df", "--launched", env={"PMIX_RANK": "0"}, err="set DFC_SIZE")


if __name__ == "__main__":
    main()
