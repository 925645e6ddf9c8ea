#!/usr/bin/env python3
"""Processes that share the pieces of sums and maps (docs/spread.md) give the bits of one: a training run's state, its log and its output, whoever is lost.

    spread.py --dfc build/dfc [--only NAME]
"""

import json
import os
import random
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "harness"))
from processes import Worker, bytes_of, has_zmq, launched, local_pids, log_of, same
from promises import main, test

SENTIMENT = os.path.join(HERE, "..", "..", "samples", "sentiment")
PARALLEL = os.path.join(HERE, "..", "parallel")
TRAIN = ["--input", "train=@" + os.path.join(SENTIMENT, "reviews.txt")]


def trained(d, name, *words, graph="rnn.graph", env=None, prepare=None, epochs=2):
    """Output, log and state of a training run; its statistics."""
    command = [d.dfc, "run", graph, *TRAIN, "--input", "epochs=%d" % epochs, "--output", "state=@%s.safetensors" % name, "--log=%s.csv" % name,
               "--threads=1", "--stats=json", *words]
    process = subprocess.Popen(command, cwd=d.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    if prepare:
        prepare(process)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, (process.returncode, out, err)
    stats = json.loads([line for line in err.splitlines() if line.startswith("{")][-1])
    return (out, log_of(os.path.join(d.path, name + ".csv")), bytes_of(os.path.join(d.path, name + ".safetensors"))), stats


def compiled(d, model="treernn"):
    d.expect(0, os.path.join(SENTIMENT, model + ".df"), "-o", "rnn.graph")


@test
def training_gives_the_bits_of_one_process(d):
    compiled(d)
    wanted, stats = trained(d, "one")
    assert (stats["spine"], stats["spread_calls"] > 0) == ("everywhere", True), stats
    for number in (2, 3, 5, 7):
        got, stats = trained(d, "p%d" % number, "--local-workers=%d" % number)
        assert got == wanted, "%d processes: another state, log or output" % number
        figures = [process for process in stats["processes"] if process["told"]]
        assert sum(process["shared_calls"] for process in figures) >= number * 10, stats["processes"]
        assert sum(process["pieces_came"] for process in figures) > 0, stats["processes"]
        assert sum(process["far_given"] for process in figures) == 0, stats["processes"]
        # Five chunks: of five processes nobody gets more than three joined sums for a call, of more who makes nothing gets one.
        few = [process for process in figures if process["pieces_again"] == 0]
        assert all(process["pieces_came"] <= 3 * process["shared_calls"] for process in few), stats["processes"]


@test
def killed_and_stopped_workers_cost_no_bit(d):
    compiled(d)
    epochs = 80  # seconds, also where nothing else runs
    wanted, _ = trained(d, "one", epochs=epochs)
    generator = random.Random(3)
    lost = again = 0
    for run in range(5):
        def disturb(process, run=run):
            time.sleep(0.2 + generator.random())
            pids = local_pids(process.pid)
            for pid in generator.sample(pids, min(len(pids), 1 + run % 3)):
                os.kill(pid, signal.SIGKILL if run % 5 != 4 else signal.SIGSTOP)
        try:
            got, stats = trained(d, "kill%d" % run, "--local-workers=4", prepare=disturb, epochs=epochs)
        except AssertionError as fault:
            if fault.args and fault.args[0][0] == 5:  # before the run began: that is said
                continue
            raise
        assert got == wanted, "run %d: another state, log or output" % run
        lost += any(process.get("lost") for process in stats["processes"])
        again += sum(process["pieces_again"] for process in stats["processes"] if process["told"])
    assert lost > 0, "no run noticed that a worker was lost"


@test
def a_run_whose_root_is_lost_goes_on_from_its_state(d):
    compiled(d)
    wanted, _ = trained(d, "one")
    command = [d.dfc, "run", "rnn.graph", *TRAIN, "--input", "epochs=2", "--output", "state=@r.safetensors", "--log=r.csv", "--save-every=1ms", "--threads=1",
               "--local-workers=3"]
    process = subprocess.Popen(command, cwd=d.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until = time.monotonic() + 120
    while time.monotonic() < until and process.poll() is None and not os.path.exists(os.path.join(d.path, "r.safetensors")):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = subprocess.run([*command, "--resume"], cwd=d.path, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert bytes_of(os.path.join(d.path, "r.safetensors")) == wanted[2]


@test
def programs_that_act_do_so_once(d):
    for name in ("spread", "spread_failure", "spread_acts", "spread_input"):
        file = os.path.join(PARALLEL, name + ".df")
        stdin = open(os.path.join(PARALLEL, "spread_input.in")).read() if name == "spread_input" else ""
        wanted = d.run("run", file, "--threads=1", stdin=stdin)
        for number in (2, 3):
            same(d.run("run", file, "--threads=1", "--local-workers=%d" % number, stdin=stdin), wanted)
    _, err = d.expect(0, "run", os.path.join(PARALLEL, "spread_input.df"), "--local-workers=2", "--threads=1", "--stats", stdin="all\n", out="2\n")
    assert "spine" in err and "root" in err.split("spine")[1].split("\n")[0], err


@test
def workers_that_listen_and_launched_ones_share_too(d):
    if not has_zmq(d):
        return
    d.expect(0, "keygen", "-o", "c.key")
    compiled(d)
    wanted, _ = trained(d, "one")
    workers = [Worker(d, "c.key") for _ in range(2)]
    got, stats = trained(d, "listen", "--workers=" + ",".join(worker.address for worker in workers), "--key=c.key")
    for worker in workers:
        worker.end()
    assert got == wanted, "workers that listen: another state, log or output"
    assert sum(process["pieces_came"] for process in stats["processes"] if process["told"]) > 0, stats["processes"]
    # The others need no files.
    words = ["--input", "epochs=2", "--output", "state=@launched.safetensors", "--log=launched.csv", "--rendezvous=" + os.path.join(d.path, "place")]
    processes = [launched(d, 0, 3, "rnn.graph", *TRAIN, *words)]
    processes += [launched(d, rank, 3, "rnn.graph", "--input", "train=@not_there.txt", *words) for rank in (1, 2)]
    done = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], done
    assert done[0][0] == wanted[0] and done[1][0] == done[2][0] == "", done
    assert bytes_of(os.path.join(d.path, "launched.safetensors")) == wanted[2]


if __name__ == "__main__":
    main()
