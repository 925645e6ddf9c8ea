#!/usr/bin/env python3
"""Somebody hostile at the port of a worker, and of a launched root, amid a run: the run takes no notice.

    hostile.py --dfc build/dfc [--only NAME]

He sends garbage and halves of greetings, holds 1,000 connections open, has another cluster's key, plays back what he recorded of this run and of one
before, and is a second root. tests/unit/zmq and tests/unit/net do the same to nodes without an engine, and forge messages.
"""

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "harness"))
from processes import FIB, Worker, has_zmq, launched
from promises import main, test
from relay import Relay

# What a ZeroMQ connection with keys begins with.
GREETING = b"\xff\0\0\0\0\0\0\0\x01\x7f\x03\x00CURVE" + bytes(47)
MANY = 1000


class Hostile:
    """Connections to a port, and who keeps them."""

    def __init__(self, port, recorded=()):
        self.port, self.recorded, self.open = port, list(recorded), []
        self.random = random.Random(port)
        self.said = 0

    def connect(self):
        one = socket.socket()
        one.settimeout(0.5)
        try:
            one.connect(("127.0.0.1", self.port))
        except OSError:
            one.close()
            return None
        return one

    def say(self, data, stay):
        one = self.connect()
        if not one:
            return
        try:
            one.sendall(data)
            self.said += 1
        except OSError:
            pass
        if stay:
            self.open.append(one)
        else:
            one.close()

    def attack(self):
        for i in range(200):
            data = self.random.randbytes(self.random.randrange(1, 2000))
            self.say((data, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", GREETING[:self.random.randrange(len(GREETING))], GREETING + data)[i % 4], i % 3 == 0)
        # Half open: connected, and silent.
        for _ in range(MANY):
            if one := self.connect():
                self.open.append(one)
        for data in self.recorded:
            for end in (len(data), len(data) // 2, 200):
                self.say(bytes(data[:end]), True)

    def close(self):
        for one in self.open:
            one.close()
        self.open = []


def under_attack(d, start, port, recorded=(), more=()):
    """The run that `start` begins, with all that is hostile at the port; the commands of `more` too. (exit code, output, errors, what the others said)"""
    process = start()
    time.sleep(1.0)
    others = [subprocess.Popen(words, cwd=d.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for words in more]
    hostile = Hostile(port, recorded() if callable(recorded) else recorded)
    thread = threading.Thread(target=hostile.attack)
    thread.start()
    out, err = process.communicate(timeout=200)
    thread.join()
    amid = len(hostile.open)
    hostile.close()
    said = []
    for other in others:
        other.send_signal(signal.SIGTERM)
        said.append(other.communicate(timeout=60))
    assert hostile.said > 100 and amid > MANY // 2, (hostile.said, amid)
    return process.returncode, out, err, said


@test
def a_worker_under_attack(d):
    if not has_zmq(d):
        return
    d.run("keygen", "-o", "c.key")
    d.run("keygen", "-o", "other.key")
    d.file("short.df", FIB % 32)
    d.file("fib.df", FIB % 49)
    worker = Worker(d, "c.key")
    number = int(worker.address.rsplit(":", 1)[1])
    line = Relay(("127.0.0.1", number), record=1 << 20)
    try:
        words = [d.dfc, "run", "--threads=1", "--key=c.key"]
        over = "--workers=" + line.address
        # One run before, to be recorded.
        done = subprocess.run([*words, "short.df", over], cwd=d.path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and done.stdout == "2178309\n", done

        def start():
            return subprocess.Popen([*words, "fib.df", over, "--stats=json"], cwd=d.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

        direct = "--workers=" + worker.address
        more = ([d.dfc, "run", "short.df", direct, "--key=other.key"], [*words, "short.df", direct])
        code, out, err, said = under_attack(d, start, number, lambda: [bytes(data) for data in line.recorded], more)
        assert code == 0 and out == "7778742049\n" and "is lost" not in err, (code, out, err)
        assert "works for another run" in said[1][1], said
        assert said[0][0] == "", said
        # And the worker serves the next run.
        done = subprocess.run([*words, "short.df", direct], cwd=d.path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0 and done.stdout == "2178309\n", done
    finally:
        line.close()
        code, err = worker.end()
    assert code == 130, (code, err)
    assert "note: " in err, err  # somebody was named


@test
def a_launched_root_under_attack(d):
    if not has_zmq(d):
        return
    d.run("keygen", "-o", "c.key")
    d.file("fib.df", FIB % 49)
    number = random.Random(os.getpid()).randrange(20000, 30000)
    processes = []

    def start():
        for rank in (1, 0):
            processes.append(launched(d, rank, 2, "fib.df", "--rendezvous=127.0.0.1:%d" % number))
        return processes[1]

    code, out, err, _ = under_attack(d, start, number)
    assert code == 0 and out == "7778742049\n" and "is lost" not in err, (code, out, err)
    processes[0].communicate(timeout=20)
    assert processes[0].returncode == 0, processes[0].returncode


if __name__ == "__main__":
    main()
