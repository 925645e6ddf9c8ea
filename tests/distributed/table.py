#!/usr/bin/env python3
"""A table of embeddings that lives on a worker of its own, trained (samples/cut/words.df): state, log and output are those of one process, and the table stays where it is.

    table.py --dfc build/dfc [--only NAME]
"""

import json
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "harness"))
from processes import bytes_of, local_pids, log_of
from promises import main, test

SAMPLES = os.path.join(HERE, "..", "..", "samples")
TRAIN = ["--input", "train=@" + os.path.join(SAMPLES, "sentiment", "reviews.txt")]
WORDS, STEPS = 2000, 5  # of an epoch
CALLS = ["--local-workers=2", "--threads=1"]
PARTS = ["--local-workers=2", "--placement=" + os.path.join(SAMPLES, "cut", "words.place")]


def compiled(d, words=WORDS):
    with open(os.path.join(SAMPLES, "cut", "words.df")) as file:
        d.file("words.df", file.read().replace("type Words = %d\n" % WORDS, "type Words = %d\n" % words))
    d.expect(0, "words.df", "-o", "words.graph")


def command(d, name, epochs, *words):
    return [d.dfc, "run", "words.graph", *TRAIN, "--input", "epochs=%d" % epochs, "--output", "state=@%s.safetensors" % name, "--log=%s.csv" % name, "--stats=json", *words]


def trained(d, name, epochs, *words, prepare=None):
    """Output, log and state; what --stats counts."""
    process = subprocess.Popen(command(d, name, epochs, *words), cwd=d.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if prepare:
        prepare(process)
    out, err = process.communicate(timeout=200)
    assert process.returncode == 0, (process.returncode, out, err)
    stats = json.loads([line for line in err.splitlines() if line.startswith("{")][-1])
    return (out, log_of(os.path.join(d.path, name + ".csv")), bytes_of(os.path.join(d.path, name + ".safetensors"))), stats


def sent(stats):
    """Bytes from the root, and from the worker."""
    return [process["links"][0]["bytes_out"] for process in stats["processes"]]


def of_an_epoch(d, *words):
    """Bytes that one epoch more sends, each way."""
    return [more - less for more, less in zip(sent(trained(d, "a", 4, *words)[1]), sent(trained(d, "b", 2, *words)[1]))]


@test
def calls_give_the_bits_of_one_process(d):
    compiled(d)
    wanted, _ = trained(d, "one", 3, "--threads=1")
    assert len(wanted[1]) == 4 and "loss=0.6" in wanted[0], wanted[:2]
    got, stats = trained(d, "two", 3, *CALLS)
    assert got == wanted, "another state, log or output"
    assert [process["far_given"] for process in stats["processes"]] == [3, 3 * STEPS], stats["processes"]
    assert [process["far_kept_back"] for process in stats["processes"]] == [0, 0], stats["processes"]
    # In one process, its members as threads.
    assert trained(d, "members", 3, "--engine=tagged", "--parts=2", "--placement=" + d.file("rest.place", "* 0\n"), "--threads=1")[0] == wanted


@test
def parts_give_the_bits_of_one_process(d):
    compiled(d)
    wanted, _ = trained(d, "one", 2, "--threads=1")
    assert trained(d, "two", 2, *PARTS)[0] == wanted, "another state, log or output"


@test
def the_table_stays_where_it_is(d):
    """It goes with an epoch's record, once each way, and not with a step: what a step sends does not grow with it."""
    for words in (WORDS, 4 * WORDS):
        table = words * 16 * 4
        compiled(d, words)
        # The table and the sums of its squared gradients: two epochs' worth.
        there, back = ((sum_of / 2 - 2 * table) / STEPS for sum_of in of_an_epoch(d, *CALLS))
        assert 10000 < there < 30000 and 10000 < back < 30000, (words, there, back)
    compiled(d)
    there, back = (sum_of / 2 / STEPS for sum_of in of_an_epoch(d, *PARTS))
    # A table for each step would be twice that: its sums of squares go where it goes.
    assert there < WORDS * 64 and back - 2 * WORDS * 64 / STEPS < WORDS * 64, (there, back)


def kill_after(d, name):
    """Kills the worker when the first state is written."""
    def kill(process):
        until = time.monotonic() + 60
        while time.monotonic() < until and process.poll() is None and not os.path.exists(os.path.join(d.path, name + ".safetensors")):
            time.sleep(0.005)
        for pid in local_pids(process.pid):
            os.kill(pid, signal.SIGKILL)
    return kill


@test
def a_call_whose_worker_is_killed_is_made_again(d):
    """The root has what the pass began with, and makes it: no bit is other."""
    compiled(d)
    epochs = 60
    wanted, _ = trained(d, "one", epochs, "--threads=1")
    got, stats = trained(d, "two", epochs, *CALLS, "--save-every=1ms", prepare=kill_after(d, "two"))
    assert got == wanted, "another state, log or output"
    assert stats["processes"][1].get("lost"), stats["processes"]


@test
def a_part_that_is_killed_ends_the_run_and_it_can_be_resumed(d):
    compiled(d)
    epochs = 8
    wanted, _ = trained(d, "one", epochs, "--threads=1")
    words = [*command(d, "two", epochs, *PARTS), "--save-every=1ms"]
    process = subprocess.Popen(words, cwd=d.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    kill_after(d, "two")(process)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 5 and "error: part 1 of the graph is lost with its process\n" in err, (process.returncode, out, err)
    done = subprocess.run([*words, "--resume"], cwd=d.path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert bytes_of(os.path.join(d.path, "two.safetensors")) == wanted[2]
    assert log_of(os.path.join(d.path, "two.csv")) == wanted[1]


if __name__ == "__main__":
    main()
