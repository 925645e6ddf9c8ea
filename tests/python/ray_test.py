"""dfc on Ray: calls of a loaded graph in actors, workers that actors own, and the loss of both."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

ray = pytest.importorskip("ray")

import dfc
import dfc.ray

SOURCE = """
data Point = Point { px :: Int, py :: Double } deriving (Eq, Show)

fib :: Int -> Int
fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)

move :: Point -> Int -> Point
move p n = p { px = px p + n }

part :: Int -> Int
part n = 100 `div` n
"""


@pytest.fixture(scope="module", autouse=True)
def machine():
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


@pytest.fixture(scope="module")
def program():
    return dfc.compile(SOURCE, export=["fib", "move", "part"])


def test_results_in_order(program):
    assert dfc.ray.map(program, "fib", range(20), actors=2) == [program.fib(n) for n in range(20)]
    assert dfc.ray.map(bytes(program), "fib", iter([5, 6, 7]), actors=2, chunk=2) == [5, 8, 13]
    assert dfc.ray.map(program, "fib", []) == []


def test_actors_for_several_maps(program):
    with dfc.ray.actors(program, "fib", 2) as there:
        assert there.map([1, 2, 3]) == [1, 1, 2] and there.map(range(9), chunk=4) == [program.fib(n) for n in range(9)]
        assert there.map([]) == []


def test_records_there_and_back(program):
    point = program.types.Point(1, 2.0)
    moved = dfc.ray.map(program, "move", [(point, 1), (point, 2)], actors=1)
    assert moved == [program.types.Point(2, 2.0), program.types.Point(3, 2.0)]
    assert type(moved[0]) is program.types.Point


def test_failures_are_those_of_a_call_here(program):
    with pytest.raises(ZeroDivisionError) as raised:
        dfc.ray.map(program, "part", [1, 0, 2], actors=2)
    assert isinstance(raised.value, dfc.errors.DivideByZeroError) and raised.value.path
    with pytest.raises(dfc.Error, match="no entry `nothing`: it has fib, move, part"):
        dfc.ray.map(program, "nothing", [1])
    with pytest.raises(TypeError):
        dfc.ray.map(program, "fib", ["a"], actors=1)
    with pytest.raises(TypeError, match="no setting"):
        dfc.ray.map(program, "fib", [1], thread=3)


def actor_processes(name):
    """Of this machine's actors of a class, as Ray names their processes."""
    said = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True).stdout
    return [int(line.split()[0]) for line in said.splitlines() if "ray::" + name in line]


def test_an_actor_is_killed(program):
    killed = []

    def kill():
        end = time.monotonic() + 60
        while not killed and time.monotonic() < end:
            for pid in actor_processes("_Caller.calls")[:1]:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)
            time.sleep(0.02)

    thread = threading.Thread(target=kill)
    thread.start()
    pieces = [27 + n % 3 for n in range(120)]
    got = dfc.ray.map(program, "fib", pieces, actors=2)
    thread.join()
    assert killed and got == [program.fib(n) for n in pieces]


def test_workers(program, tmp_path):
    single = dfc.compile("fib :: Int -> Int\nfib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\n\nmain :: Int -> Int\nmain n = fib n\n")
    with dfc.ray.cluster(2, threads=1) as cluster:
        assert len(set(cluster.addresses)) == 2
        assert cluster.run(single, "--input", "n=25") == "75025\n"
        with pytest.raises(dfc.RunError, match="no value was given for the input `n`"):
            cluster.run(single)
        # One is killed amid a run: the result is the same, and the next run has another in its place.
        before = cluster.addresses
        actor, worker = cluster.processes[0]
        killing = threading.Timer(0.7, os.kill, (actor, signal.SIGKILL))
        killing.start()
        assert cluster.run(single, "--input", "n=39") == "63245986\n"
        killing.join()  # where the run was over first
        after = cluster.addresses
        assert len(set(after)) == 2 and set(after) != set(before)
        assert cluster.run(single, "--input", "n=24") == "46368\n"
        processes = cluster.processes
    # What actors owned goes with them, however they end.
    end = time.monotonic() + 20
    pids = [worker] + [pid for _, pid in processes]
    while any(os.path.exists("/proc/%d" % pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.1)
    assert not any(os.path.exists("/proc/%d" % pid) for pid in pids)


def test_more_workers_than_processors_is_told():
    with pytest.raises(dfc.Error, match="of 9 workers are there within 8 s: Ray has 4 processors"):
        dfc.ray.cluster(9, wait=8)
