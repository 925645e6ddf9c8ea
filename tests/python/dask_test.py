"""dfc on Dask: calls of a loaded graph in its workers, workers of a run that its actors own, and the loss of both."""

import os
import signal
import threading
import time

import pytest

distributed = pytest.importorskip("distributed")

import dfc
import dfc.dask

SOURCE = """
fib :: Int -> Int
fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)

add :: Int -> Int -> Int
add a b = a + b

part :: Int -> Int
part n = 100 `div` n
"""


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def program():
    return dfc.compile(SOURCE, export=["fib", "add", "part"])


def test_results_in_order(program, client):
    assert dfc.dask.map(program, "fib", range(20), client=client) == [program.fib(n) for n in range(20)]
    assert dfc.dask.map(program, "add", [(1, 2), (3, 4), (5, 6)], chunk=2) == [3, 7, 11]
    assert dfc.dask.map(program, "fib", []) == []


def test_failures_are_those_of_a_call_here(program, client):
    with pytest.raises(dfc.errors.DivideByZeroError) as raised:
        dfc.dask.map(program, "part", [1, 0, 2])
    assert raised.value.path
    with pytest.raises(dfc.Error, match="no entry `nothing`"):
        dfc.dask.map(program, "nothing", [1])


def test_a_worker_is_killed(program, client):
    pids = list(client.run(os.getpid).values())
    pieces = [31 + n % 3 for n in range(60)]
    killing = threading.Timer(0.5, os.kill, (pids[0], signal.SIGKILL))
    killing.start()
    assert dfc.dask.map(program, "fib", pieces) == [program.fib(n) for n in pieces]
    killing.join()  # where the pieces were done first
    # Until another is in its place, which the next test needs.
    end = time.monotonic() + 60
    while time.monotonic() < end:
        there = list(client.run(os.getpid, on_error="ignore").values())
        if len(there) == 2 and pids[0] not in there:
            return
        time.sleep(0.1)
    assert False, "no worker in the place of the one that was killed"


def test_workers_of_a_run(client):
    program = dfc.compile("fib :: Int -> Int\nfib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\n\nmain :: Int -> Int\nmain n = fib n\n")
    with dfc.dask.cluster(2, threads=1) as cluster:
        assert len(set(cluster.addresses)) == 2
        assert cluster.run(program, "--input", "n=25") == "75025\n"
        processes = cluster.processes
        os.kill(processes[0][0], signal.SIGKILL)
        client.wait_for_workers(2, timeout=60)
        assert cluster.run(program, "--input", "n=24") == "46368\n"
    end = time.monotonic() + 20
    while any(os.path.exists("/proc/%d" % pid) for _, pid in processes) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(os.path.exists("/proc/%d" % pid) for _, pid in processes)
