"""What the tests of several processes share: two programs, workers that listen, and who was started by whom."""

import glob
import os
import signal
import subprocess
import time

FIB = "fib :: Int -> Int\nfib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\nmain = print (fib %d)\n"
FIB_37 = "24157817\n"
# Lists, searches, lazy lists whose elements are shared, Integers, failures inside.
PIECES = """data Tree = Leaf | Node Tree Integer Tree
grow :: Int -> Integer -> Tree
grow d k = if d == 0 then Leaf else Node (grow (d - 1) (2 * k)) k (grow (d - 1) (2 * k + 1))
total :: Tree -> Integer
total Leaf = 0
total (Node l k r) = total l + k * k + total r
collatz :: Int -> Int
collatz n = if n == 1 then 0 else 1 + collatz (if even n then n `div` 2 else 3 * n + 1)
longest :: Int -> Int -> (Int, Int)
longest a b = if b - a < 2 then (collatz a, a) else max (longest a m) (longest m b) where m = (a + b) `div` 2
main = (total (grow 15 1), longest 1 60000, sum (map collatz [1 .. 3000]))
"""


def same(got, wanted):
    """A machine that is busy may take a worker for lost, which is a note, and no more."""
    notes = [line for line in got[2].splitlines(keepends=True) if line.startswith("note: ")]
    rest = "".join(line for line in got[2].splitlines(keepends=True) if line not in notes)
    assert (got[0], got[1], rest) == wanted, (got, wanted)


def seconds(command, **more):
    began = time.monotonic()
    done = subprocess.run(command, capture_output=True, timeout=120, **more)
    return done, time.monotonic() - began


class Worker:
    """`dfc worker` at a free port."""

    def __init__(self, d, key, *words):
        self.process = subprocess.Popen([d.dfc, "worker", "--listen", "tcp://127.0.0.1:*", "--key", key, "--threads=1", *words], cwd=d.path,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line.startswith("listening on tcp://127.0.0.1:"), (line, self.process.stderr.read() if not line else "")
        self.address = line.split()[-1]

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=20)
        return self.process.returncode, err


def launched(d, rank, size, file, *words, launcher=("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")):
    """A process that a launcher has started as one of so many."""
    env = {**os.environ, launcher[0]: str(rank), launcher[1]: str(size)}
    return subprocess.Popen([d.dfc, "run", file, "--launched", "--key=c.key", "--threads=1", *words], cwd=d.path, env=env,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def has_zmq(d):
    return d.run("keygen", "-o", "probe.key")[0] == 0


def local_pids(root):
    """The workers that the process has started."""
    pids = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path) as file:
                fields = file.read().rsplit(")", 1)[1].split()
            if int(fields[1]) == root:
                pids.append(int(path.split("/")[2]))
        except (OSError, IndexError):
            pass
    return pids


def ended(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


def log_of(path):
    """The rows of a training run's log: all columns but the seconds, which are the last one."""
    with open(path) as file:
        return [line.rsplit(",", 1)[0] for line in file]


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()
