#!/usr/bin/env python3
"""What the command line promises of limits and signals: what ends a run or a compilation, how soon, with which exit code. One function per
promise.

    command_limits.py --dfc build/dfc [--only NAME]
"""

import json
import os
import re
import signal
import subprocess
import time

from promises import main, test

ENGINES = ("tagged", "reference", "demand", "expanding")
SPIN = "spin :: Int -> Int\nspin n = spin (n + 1)\nmain = spin 0\n"
SOON = 20 if os.environ.get("DFC_SLOW_BUILD") else 1.0  # 100 ms is promised; the machine may have other work
LIMIT = 2 if os.environ.get("DFC_SLOW_BUILD") else 0.3  # seconds, in which a run has begun


@test
def limits(d):
    d.file("spin.df", SPIN)
    d.file("grow.df", "grow :: Int -> Int\ngrow n = 1 + grow (n + 1)\nmain = grow 0\n")
    d.file("lists.df", "main = sum [x * y | x <- [1 :: Int ..], y <- [1 .. x]]\n")
    for engine in ENGINES:
        for file, place in (("spin.df", "at spin.df:2:1 in `spin`"), ("grow.df", "at grow.df:2:"), ("lists.df", "error: ")):
            begin = time.monotonic()
            _, err = d.expect(3, "run", file, "--engine=" + engine, "--timeout=%gs" % LIMIT, out="", err=place)
            # One line: the run did nothing wrong, and who ended it asks for the place and not for the calls around it.
            assert re.fullmatch(r"error: the time limit of %g s is reached at %s:\d+:\d+ in `\w+`\n" % (LIMIT, file), err), (engine, err)
            assert time.monotonic() - begin < LIMIT + SOON + 0.5, (file, engine)
        _, err = d.expect(3, "run", "grow.df", "--engine=" + engine, "--max-memory=50M", out="",
                          err="error: the memory limit of 50 MiB is reached\n  at grow.df:2:")
        assert "more calls" in err, err
        d.expect(3, "run", "grow.df", "--engine=" + engine, "--max-frames=1000", out="",
                 err="error: the limit of 1000 live calls is reached\n  at grow.df:2:")


@test
def compilation_has_limits(d):
    """What ends it says so, with exit code 3; a run gets what is left of the time."""
    d.file("type.df", "main = let { x0 = \\y -> y; %s } in length [x39]\n" % "; ".join("x%d = (x%d, x%d)" % (n, n - 1, n - 1) for n in range(1, 40)))
    d.file("long.df", "xs :: [Int]\nxs = [%s]\nmain = sum xs\n" % ", ".join(map(str, range(500000))))
    for command in (["check", "type.df"], ["run", "type.df"], ["type.df", "-o", "type.graph"], ["type.df", "--emit=core"]):
        begin = time.monotonic()
        _, err = d.expect(3, *command, "--timeout=500ms", out="", err="error[DF0835]: the time limit of 0.5 s is reached while the program is compiled (pass `check`)\n")
        assert "`--timeout` gives it longer" in err and err.count("error") == 1, err
        assert time.monotonic() - begin < 0.5 + SOON + 0.5, command
        _, err = d.expect(3, *[word.replace("type", "long") for word in command], "--max-memory=40M", out="", err="error[DF0835]: the memory limit of ")
        assert "`--max-memory` gives it more" in err and err.count("error") == 1, err
    assert not os.path.exists(os.path.join(d.path, "type.graph"))
    _, err = d.expect(3, "check", "type.df", "--timeout=200ms", "--error-format=json")
    assert json.loads(err)["code"] == "DF0835", err


# Live frames are counted by machine code too, also where it asks the worker something between a call and its end.


@test
def frames_are_counted(d):
    d.file("count.df", """
count :: [String] -> Int
count [] = 0
count (w : ws) = length (filter (`elem` "aeiou") w) + tree 3 w + count ws

tree :: Int -> String -> Int
tree n w = if n == 0 then length (takeWhile (== 'a') w) else tree (n - 1) w + tree (n - 1) w

main = count (words (concatMap (\\i -> "abc" ++ show i ++ " ") [1 .. 2000]))
""")
    _, err = d.expect(0, "run", "count.df", "--max-frames=10000", "--stats=json", "--threads=1", out="18000\n")
    assert 1000 < json.loads(err)["peak_frames"] < 10000, err


@test
def interrupts(d):
    d.file("spin.df", SPIN)
    for number in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen([d.dfc, "run", "spin.df"], cwd=d.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
        assert process.returncode == 130, (process.returncode, err)
        assert err == b"error: interrupted at spin.df:2:1 in `spin`\n" and out == b"", err
    # As on every engine, however many calls are live; as JSON the path is there.
    d.file("grow.df", "grow :: Int -> Int\ngrow n = 1 + grow (n + 1)\nmain = grow 0\n")
    for engine in ENGINES:
        code, out, err, _ = seconds_to_end(d, signal.SIGINT, "grow.df", "--engine=" + engine, "--max-memory=4G", after=LIMIT)
        assert code == 130 and re.fullmatch(rb"error: interrupted at grow.df:2:\d+ in `grow`\n", err), (engine, code, err)
    code, out, err, _ = seconds_to_end(d, signal.SIGINT, "grow.df", "--error-format=json", after=LIMIT)
    assert code == 130 and json.loads(err)["message"] == "interrupted" and len(json.loads(err)["path"]) > 3, err


def seconds_to_end(d, number, *words, after=1.0):
    """Runs, sends a signal; the exit code, what was printed, and how long it took to end."""
    process = subprocess.Popen([d.dfc, "run", *words], cwd=d.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(after)
    begin = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err, time.monotonic() - begin


@test
def inside_one_operation(d):
    """Limits and signals reach a run that stands in one multiplication, division or conversion of a huge Integer."""
    d.file("power.df", "f :: Int -> Integer -> Integer\nf n x = if n == 0 then x else f (n - 1) (x * x)\nmain = f 40 3 == 0\n")
    d.file("divide.df", "main = let x = 7 ^ (2 ^ 26 :: Int) in gcd (x * x) (x * (x + 1)) == (0 :: Integer)\n")
    d.file("show.df", "main = (1, 3 ^ (2 ^ 28 :: Int))\n")
    for engine in ENGINES:
        for file in ("power.df", "divide.df", "show.df"):
            begin = time.monotonic()
            _, err = d.expect(3, "run", file, "--engine=" + engine, "--timeout=400ms")
            assert "the time limit of 0.4 s is reached" in err, err
            assert time.monotonic() - begin < 0.4 + SOON + 0.5, (file, engine)
        code, _, err, seconds = seconds_to_end(d, signal.SIGINT, "power.df", "--engine=" + engine)
        assert code == 130 and b"interrupted" in err and seconds < SOON, (engine, code, err, seconds)
    code, out, err, seconds = seconds_to_end(d, signal.SIGTERM, "show.df", after=3)
    assert code == 130 and out.startswith(b"(1,") and b"interrupted" in err and seconds < SOON, (code, out[:40], err, seconds)
    # The prompt goes on.
    d.expect(3, "repl", stdin=":load power.df\n:set timeout 400ms\nf 40 3 == 0\n:unset timeout\n1 + 1\n", out="2\n", err="time limit")


@test
def inside_one_tensor_op(d):
    """The same in one op on large tensors, which says where it stands; only the watchdog, a second late, would not know."""
    head = "import qualified Tensor as T\na :: Tensor Float [%s]\na = T.normal 1\nmain = "
    d.file("product.df", head % "9000, 9000" + "T.sum (T.matmul a a)\n")
    d.file("random.df", head % "400000000" + "T.sum a\n")
    d.file("shown.df", head % "60000000" + "a\n")
    for file, engine, how in (("product.df", "tagged", "--threads=2"), ("product.df", "tagged", "--batch=off"), ("product.df", "reference", "--batch=off"),
                              ("random.df", "tagged", "--threads=1"), ("shown.df", "tagged", "--threads=1")):
        _, err = d.expect(3, "run", file, "--engine=" + engine, how, "--timeout=2s")
        assert re.match(r"error: the time limit of 2 s is reached at %s:\d+:\d+ in `(main|a)`\n" % file, err), (file, engine, how, err)
    # The prompt goes on.
    d.expect(3, "repl", stdin=":load product.df\n:set timeout 2s\nmain\n:unset timeout\n1 + 1\n", out="2\n", err="time limit")


@test
def a_time_limit_may_end_the_reading_of_a_graph(d):
    d.file("large.df", "\n".join("f%d :: Int -> Int\nf%d n = if n == 0 then %d else f%d (n - 1) + n" % (i, i, i, (i + 1) % 400) for i in range(400)) + "\nmain = print (f0 3)\n")
    d.expect(0, "large.df", "-o", "large.graph")
    for milliseconds in (2, 4, 6, 8, 12, 16):
        code, _, err = d.run("run", "large.graph", "--timeout=%dms" % milliseconds)
        assert code == 0 or (code == 3 and "the time limit of" in err), (milliseconds, code, err)


if __name__ == "__main__":
    main()
