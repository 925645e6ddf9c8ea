#!/usr/bin/env python3
"""What a run on several processes tells: --stats and --trace=FILE have all of them, also one that is lost or stands in one operation.

    reports.py --dfc build/dfc [--only NAME]
"""

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "harness")]
from promises import TESTS, main, test
from workers import FIB, Worker, has_zmq, local_pids

TESTS.clear()  # those of workers.py

ONE, TWO = "--threads=1", "--local-workers=2"


def processes_of(err):
    stats = json.loads(err.splitlines()[-1])
    assert [process["rank"] for process in stats["processes"]] == list(range(len(stats["processes"]))), stats
    return stats["processes"]


def undisturbed(d, *words, out):
    """What a run says that lost nobody: a machine that is busy may take a worker for lost."""
    for _ in range(3):
        _, err = d.expect(0, "run", *words, ONE, out=out)
        if "is lost" not in err and "told nothing" not in err:
            break
    return err


@test
def stats_have_all_processes(d):
    d.file("fib.df", FIB % 38)
    for number in (2, 4):
        processes = processes_of(undisturbed(d, "fib.df", "--local-workers=%d" % number, "--stats=json", out="39088169\n"))
        assert len(processes) == number and all(process["told"] for process in processes), processes
        # What one gave another has taken; who was asked at the end may not have come to it.
        given, taken = (sum(process[key] for process in processes) for key in ("far_given", "far_taken"))
        assert given >= taken > 0 and given - taken <= number, (given, taken)
        for process in processes:
            assert process["peak_bytes"] > 0 and len(process["links"]) == number - 1, process
            for link in process["links"]:
                other, = [row for row in processes[link["rank"]]["links"] if row["rank"] == process["rank"]]
                assert link["bytes_out"] > 0 and other["bytes_in"] > 0 and abs(link["messages_out"] - other["messages_in"]) < 100, (link, other)
        assert any(process["peak_tickets"] > 0 and process["peak_ticket_bytes"] > 0 and process["peak_in_flight_bytes"] > 0 for process in processes), processes


MAP = """import qualified Data.Map as M

table :: Int -> M.Map Int Int
table n = M.fromList [(i, i * i `mod` 1009) | i <- [1 .. n]]

work :: M.Map Int Int -> Int -> Int -> Int -> Int
work m key i acc = if i == 0 then acc else work m (key * 7 + 3) (i - 1) (acc + M.findWithDefault 0 (key `mod` 20000) m)

calls :: M.Map Int Int -> Int -> Int
calls m k = if k == 0 then 0 else work m k 100000 0 + calls m (k - 1)

main = let m = table 20000 in M.size m `seq` calls m 60
"""


@test
def a_map_that_all_calls_hold_goes_once(d):
    d.file("map.df", MAP)
    wanted, _ = d.expect(0, "run", "map.df", ONE)
    given = 0
    for _ in range(5):
        processes = processes_of(undisturbed(d, "map.df", TWO, "--stats=json", out=wanted))
        given = processes[0]["far_given"]
        if given > 3:
            break
    assert given > 3, given
    out = processes[0]["links"][0]["bytes_out"]
    assert 150e3 < out < 300e3, (given, out)  # as what it is it takes 180,000 bytes


@test
def text_fits_a_terminal(d):
    d.file("fib.df", FIB % 36)
    err = undisturbed(d, "fib.df", "--local-workers=8", "--stats", out="14930352\n")
    table = err[err.index("\nprocess "):]
    assert all(len(line) <= 100 for line in table.splitlines() if not re.match(r"\d+ +\S+/\d+", line)), table
    assert table.count("\nfrom 7") == 2 and "to 7" in table and re.search(r"^0 +here$", table, re.M), table
    # Of a run that is over before it asks anybody, too.
    d.file("short.df", FIB % 10)
    err = undisturbed(d, "short.df", "--local-workers=3", "--stats=json", out="55\n")
    assert len(processes_of(err)) == 3 and all(process["told"] for process in processes_of(err)), err
    # Without workers nothing of it is there.
    _, err = d.expect(0, "run", "fib.df", ONE, "--stats")
    assert "process" not in err.replace("of a processor", ""), err


@test
def a_lost_worker_is_named_in_stats(d):
    d.file("fib.df", FIB % 46)
    for _ in range(4):
        process = subprocess.Popen([d.dfc, "run", "fib.df", "--local-workers=3", ONE, "--stats=json"], cwd=d.path, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        time.sleep(1.2)
        for pid in local_pids(process.pid)[:1]:
            os.kill(pid, signal.SIGKILL)
        _, err = process.communicate(timeout=100)
        if process.returncode != 5:  # so busy a machine that the run had not begun
            break
    assert process.returncode == 0, err
    processes = processes_of(err)
    lost = next(row for row in processes if "lost" in row)
    assert not lost["told"] and ("connection ended" in lost["lost"] or "nothing heard" in lost["lost"]), lost
    assert all(row["told"] for row in processes if "lost" not in row), processes


@test
def who_stands_in_one_operation_is_shown_and_not_lost(d):
    if not has_zmq(d):
        return
    d.expect(0, "keygen", "-o", "c.key")
    # One operation of some seconds, in calls that are given away. The root has as long to do.
    d.file("long.df", "big :: Int -> Int\nbig k = if length (show (3 ^ (9000000 + k))) > 4 then k else 0\n"
           "tree :: Int -> Int -> Int\ntree a b = if b - a == 1 then big a else tree a m + tree m b where m = (a + b) `div` 2\nmain = print (tree 0 4)\n")
    worker = Worker(d, "c.key")
    try:
        out, err = d.expect(0, "run", "long.df", "--workers=" + worker.address, "--key=c.key", ONE, "--stats=json", out="6\n")
        assert "is lost" not in err, err
        assert max(process["longest_still_ms"] for process in processes_of(err)) > 300, err
    finally:
        worker.end()


def spans_of(events):
    return [event for event in events if event["ph"] == "X"]


@test
def traces_have_all_processes_on_one_axis(d):
    d.file("fib.df", FIB % 38)
    for words in ((TWO,), ("--members=3",), ("--local-workers=3",)):
        undisturbed(d, "fib.df", *words, "--trace=t.json", out="39088169\n")
        trace = json.loads(d.bytes("t.json"))
        events = trace["traceEvents"]
        pids = {event["pid"] for event in events}
        number = int(words[0][-1])
        assert pids == set(range(1, number + 1)), (pids, words, trace["otherData"])
        whole, = [span for span in spans_of(events) if span["name"] == "main"]
        assert whole["pid"] == 1, whole
        end = whole["ts"] + whole["dur"]
        # All of them within the run of the root, but for what their clocks may be off.
        off = max([trace["otherData"].get("process %d microseconds by which it may be off" % rank, 0) for rank in range(number)])
        assert off < 100000, off
        for span in spans_of(events):
            assert -off - 1000 <= span["ts"] + span["dur"] <= end + off + 200000, (span, end, off)
        # Arrows have two ends, in different processes, and go forwards.
        ends = {}
        for event in events:
            if event["ph"] in "sf":
                ends.setdefault(event["id"], {})[event["ph"]] = event
        assert ends and all(set(pair) == {"s", "f"} for pair in ends.values()), list(ends.items())[:3]
        for pair in ends.values():
            assert pair["s"]["pid"] != pair["f"]["pid"] and pair["s"]["name"] == pair["f"]["name"], pair
            assert pair["f"]["ts"] - pair["s"]["ts"] > -2 * off - 100, pair
        assert {pair["s"]["name"] for pair in ends.values()} == {"call", "result"}
        done = subprocess.run([sys.executable, os.path.join(HERE, "..", "..", "scripts", "draw-trace"), "t.json", "t.svg"], cwd=d.path, capture_output=True, text=True)
        assert done.returncode == 0 and b"1: worker 0" in d.bytes("t.svg"), done
        assert len(d.bytes("t.json")) < 20e6


@test
def a_terminal_shows_the_processes_with_each_record(d):
    d.file("log.df", "fib :: Int -> Int\nfib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\n"
           "data Row = Row { step :: Int, total :: Int, value :: Int }\nmain = [Row n 3 (fib (30 + n)) | n <- [1 .. 3]]\n")
    mine, other = pty.openpty()
    process = subprocess.Popen([d.dfc, "run", "log.df", "--local-workers=3", ONE], cwd=d.path, stdout=other, stderr=subprocess.PIPE)
    os.close(other)
    text = b""
    while select.select([mine], [], [], 60)[0]:
        try:
            got = os.read(mine, 4096)
        except OSError:  # the other end is closed
            break
        if not got:
            break
        text += got
    assert process.wait(timeout=60) == 0, process.stderr.read()
    assert b"step 3/3" in text and b"3 processes" in text, text


if __name__ == "__main__":
    main()
