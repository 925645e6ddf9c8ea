#!/usr/bin/env python3
"""Runs with workers that are stopped and go on: Ctrl-Z, fg and bg at a terminal, SIGTSTP to the root alone, input that does not come, `| head -1`.

    terminal.py --dfc build/dfc [--only NAME]

The answer is that of one process, and nobody who was stopped together with the root is lost. A small shell (Shell) has a terminal of its own: it
starts the run in a group of processes, sees it stop, and gives it the terminal again, as a user's shell does.
"""

import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "harness"))
sys.path.insert(0, HERE)
import promises
from ends import processor_seconds
from processes import FIB, Worker, ended, has_zmq, local_pids

promises.TESTS.clear()  # those of ends.py
from promises import main, test

CTRL_Z = b"\x1a"
ASK = FIB.replace("main = print (fib %d)", "main = do\n  n <- getLine\n  print (fib (read n))\n  m <- getLine\n  print (fib (read m))")
MANY = "fib :: Int -> Int\nfib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\nmain = mapM_ print (map fib (cycle [30 .. 34]))\n"
# Longer than silence is allowed to last (MemberTimes::gone).
LONG = 7


def state(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "X"


def until(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "not within %d s: %s" % (seconds, what)
        time.sleep(0.02)


def foreground(group):
    """Before exec: a process is its own group, which has the terminal."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    os.tcsetpgrp(0, group or os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)


class Shell:
    """A terminal, and a process that leads its session and has one job. What it is told: `f` is fg, `b` is bg."""

    def __init__(self, words, cwd):
        told, self.tell = os.pipe()
        self.told, tell = os.pipe()
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.close(self.tell)
            os.close(self.told)
            self.lead(words, cwd, told, tell)
        os.close(told)
        os.close(tell)
        self.text, self.said = b"", b""
        until(lambda: b"\n" in self.hear(), "the job is started")
        self.job = int(self.said.split()[0])

    @staticmethod
    def lead(words, cwd, told, tell):
        code = 1
        try:
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            job = subprocess.Popen(words, cwd=cwd, preexec_fn=lambda: foreground(0))
            os.write(tell, b"%d\n" % job.pid)
            while True:
                _, status = os.waitpid(job.pid, os.WUNTRACED)
                if not os.WIFSTOPPED(status):
                    break
                os.tcsetpgrp(0, os.getpgrp())
                os.write(tell, b"stopped %d\n" % os.WSTOPSIG(status))
                if os.read(told, 1) == b"f":
                    os.tcsetpgrp(0, job.pid)
                os.killpg(job.pid, signal.SIGCONT)
            code = os.waitstatus_to_exitcode(status)
            os.tcsetpgrp(0, os.getpgrp())
            os.write(tell, b"ended %d\n" % code)
            termios.tcdrain(1)
            os.read(told, 1)  # so that the terminal stays until all was read
        finally:
            os._exit(0 if code == 0 else 1)

    def hear(self):
        """Takes what the job has written and what the shell says; all that it has said."""
        ready = True
        while ready:
            ready, _, _ = select.select([self.terminal, self.told], [], [], 0)
            for one in ready:
                try:
                    got = os.read(one, 65536)
                except OSError:
                    got = b""
                if one == self.terminal:
                    self.text += got
                else:
                    self.said += got
                if not got:
                    return self.said
        return self.said

    def count(self, what):
        return self.hear().count(what)

    def press(self, text):
        os.write(self.terminal, text)

    def stop(self):
        """Ctrl-Z: all of the job are stopped."""
        before = self.count(b"stopped")
        self.press(CTRL_Z)
        until(lambda: self.count(b"stopped") > before, "Ctrl-Z stops the run: %s" % self.text)

    def go_on(self, how=b"f"):
        os.write(self.tell, how)

    def end(self, seconds=120):
        """The exit code, and what is on the terminal, without the echo of Ctrl-Z."""
        until(lambda: b"ended" in self.hear(), "the run ends: %s" % self.text, seconds)
        code = int(self.said.split()[-1])
        os.write(self.tell, b"x")
        os.waitpid(self.pid, 0)
        self.hear()
        os.close(self.terminal)
        return code, self.text.decode(errors="replace").replace("\r\n", "\n").replace("^Z", "")


def computing(pids, seconds=0.1):
    """A busy machine may give the others nothing for long."""
    until(lambda: any(not ended(pid) and processor_seconds(pid) > seconds for pid in pids), "somebody computes")


def right(got, answer, lost=None):
    code, text = got
    assert code == 0 and answer in text.splitlines(), got
    assert lost is None or ("is lost" in text) == lost, got


def local_run(d, name, number=3, more=()):
    shell = Shell([d.dfc, "run", name, "--local-workers=%d" % number, "--threads=1", *more], d.path)
    until(lambda: len(local_pids(shell.job)) == number - 1, "the workers are there")
    return shell, local_pids(shell.job)


@test
def ctrl_z_and_fg_with_local_workers(d):
    d.file("fib.df", FIB % 46)
    for waits in ((0.5, 1.5), (LONG,)):
        shell, workers = local_run(d, "fib.df")
        computing(workers)
        for wait in waits:
            shell.stop()
            assert [state(pid) for pid in (shell.job, *workers)] == ["T"] * 3, "all are stopped"
            before = [processor_seconds(pid) for pid in workers]
            time.sleep(wait)
            assert [processor_seconds(pid) for pid in workers] == before, "nobody computes"
            shell.go_on()
            until(lambda: "T" not in [state(pid) for pid in (shell.job, *workers)], "all go on")
        right(shell.end(), "1836311903", lost=False)
        until(lambda: all(ended(pid) for pid in workers), "the workers end with the run")


@test
def ctrl_z_and_bg(d):
    d.file("fib.df", FIB % 46)
    shell, workers = local_run(d, "fib.df")
    computing(workers)
    shell.stop()
    time.sleep(0.5)
    shell.go_on(b"b")
    right(shell.end(), "1836311903", lost=False)


@test
def ctrl_z_with_a_worker_that_listens(d):
    if not has_zmq(d):
        return
    d.expect(0, "keygen", "-o", "c.key")
    d.file("fib.df", FIB % 46)
    worker = Worker(d, "c.key")
    try:
        # Who is silent for more than five seconds is lost to a worker that goes on.
        for wait in (1.5, LONG):
            before = processor_seconds(worker.process.pid)
            shell = Shell([d.dfc, "run", "fib.df", "--workers=" + worker.address, "--key=c.key", "--threads=1"], d.path)
            until(lambda: processor_seconds(worker.process.pid) > before + 0.1, "the worker computes")
            shell.stop()
            assert state(worker.process.pid) != "T"
            time.sleep(wait)
            shell.go_on()
            right(shell.end(), "1836311903")
        d.expect(0, "run", d.file("short.df", FIB % 20), "--workers=" + worker.address, "--key=c.key", "--threads=1", out="6765\n")
    finally:
        worker.end()


@test
def a_signal_that_stops_the_root_alone(d):
    d.file("fib.df", FIB % 46)
    for number, wait in ((signal.SIGTSTP, 1), (signal.SIGTSTP, LONG), (signal.SIGSTOP, LONG)):
        # In a group of its own: SIGTSTP stops nobody in a group that no process outside it looks after.
        process = subprocess.Popen([d.dfc, "run", "fib.df", "--local-workers=3", "--threads=1"], cwd=d.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, preexec_fn=os.setpgrp)
        until(lambda: len(local_pids(process.pid)) == 2, "the workers are there")
        workers = local_pids(process.pid)
        computing(workers)
        process.send_signal(number)
        until(lambda: state(process.pid) == "T", "the root is stopped")
        time.sleep(wait)
        process.send_signal(signal.SIGCONT)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0 and out == "1836311903\n", (number, wait, process.returncode, out, err)
        until(lambda: all(ended(pid) for pid in workers), "the workers end with the run")


@test
def input_that_does_not_come_while_the_run_is_stopped(d):
    d.file("ask.df", ASK)
    shell, workers = local_run(d, "ask.df", 2)
    time.sleep(0.5)
    shell.stop()
    time.sleep(1)
    shell.go_on()
    time.sleep(LONG)  # longer than silence is allowed to last, and the root waits for its input
    shell.press(b"36\n")
    until(lambda: shell.hear() is not None and b"14930352" in shell.text, "the first answer")
    # In the background who reads the terminal is stopped, and what is typed stays there.
    shell.stop()
    shell.go_on(b"b")
    shell.press(b"37\n")
    until(lambda: shell.count(b"stopped %d" % signal.SIGTTIN) == 1, "the reader in the background is stopped")
    shell.go_on()
    right(shell.end(), "24157817", lost=False)


@test
def a_reader_that_goes_after_ctrl_z(d):
    d.file("many.df", MANY)
    shell = Shell(["sh", "-c", "%s run many.df --local-workers=3 --threads=1 | head -40 | tail -1" % d.dfc], d.path)
    time.sleep(1)
    shell.stop()
    time.sleep(1)
    shell.go_on()
    right(shell.end(), "5702887")


if __name__ == "__main__":
    main()
