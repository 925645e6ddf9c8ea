"""Processes that a test starts through others: whoever is left of them is found and ended, also when its parents have gone."""

import ctypes
import os
import signal
import time

PR_SET_CHILD_SUBREAPER = 36


def adopt():
    """From now on orphans of this process's children become its own children."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def read(pid, name):
    try:
        with open("/proc/%d/%s" % (pid, name), "rb") as file:
            return file.read()
    except OSError:
        return b""


def parents():
    """{process: its parent}, of all that live."""
    found = {}
    for name in os.listdir("/proc"):
        fields = read(int(name), "stat").rsplit(b")", 1)[-1].split() if name.isdigit() else []
        if len(fields) > 1 and fields[0] not in (b"Z", b"X"):
            found[int(name)] = int(fields[1])
    return found


def descendants(root=None):
    """All processes below one, which is this one if none is named."""
    of, below = parents(), {root or os.getpid()}
    while True:
        more = {pid for pid, parent in of.items() if parent in below} - below
        if not more:
            return sorted(below - {root or os.getpid()})
        below |= more


def command(pid):
    return read(pid, "cmdline").split(b"\0")


def variable(pid, name):
    """Of the environment with which the process was started; None if it has it not."""
    for entry in read(pid, "environ").split(b"\0"):
        if entry.startswith(name.encode() + b"="):
            return entry.split(b"=", 1)[1].decode()
    return None


def end_all(patience=5.0):
    """Ends what is left below this process. How many were left."""
    left = descendants()
    for number in (signal.SIGTERM, signal.SIGKILL):
        for pid in descendants():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass
        until = time.monotonic() + patience
        while time.monotonic() < until and descendants():
            time.sleep(0.05)
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    return len(left)
