#!/usr/bin/env python3
"""How soon a limit, Ctrl-C and SIGTERM end a run, wherever it stands.

    latency.py --dfc build/dfc [--engine ENGINE]... [--only NAME] [--rounds N] [--small]

Each subject is a place where a run can be: a hot loop, one operation on huge numbers, a huge `show`, the collector of cycles, the
release of a large structure, output that nobody reads, the compiler, the loading of a graph. Each is ended there, by --timeout (not
where the compiler works or a graph is loaded: the time limit is the run's) and by SIGINT or SIGTERM. The figure is the
time from then to the end of the process, the least of the rounds: what else runs on the machine only adds to it. The promise is
100 ms. Beside it, of signals, the processor time from then on, which other work does not change: the program's own, and the system's,
which gives the process's memory back, about 100 ms a gigabyte. Also how much beyond --max-memory a run takes that asks for all it can get.

--small: quick subjects and one round, to test this program; says nothing of time.
"""

import argparse
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import long_program

LIMIT, INTERRUPTED = 3, 130

SPIN = "spin :: Int -> Int\nspin n = spin (n + 1)\nmain = spin 0\n"
TREE = ("data T = L | N T Int T\nbuild :: Int -> Int -> T\nbuild d n = if d == 0 then L else N (build (d - 1) (2 * n)) n (build (d - 1) (2 * n + 1))\n"
        "total :: T -> Int\ntotal L = 0\ntotal (N l x r) = total l + x + total r\n")
SHARED = "main = let xs = map (* 2) [1 .. %d :: Int] in print (length (filter even xs)) >> print (sum xs)\n"


class Subject:
    def __init__(self, name, text, after, engines=("tagged", "demand", "reference", "expanding"), size=None, **how):
        """`after`: seconds after which the run surely stands there, on a machine that does nothing else."""
        self.name, self.text, self.after, self.engines, self.size, self.how = name, text, after, engines, size, how


SUBJECTS = (
    Subject("hot loop", SPIN, 0.5),
    Subject("calls that grow", "grow :: Int -> Int\ngrow n = 1 + grow (n + 1)\nmain = grow 0\n", 0.5),
    Subject("list that grows", "main = let xs = [1 :: Int ..] in sum xs + length xs\n", 0.5),
    Subject("lazy list that grows", "main = let xs = map (* 2) [1 :: Integer ..] in length xs + length (filter even xs)\n", 2),
    Subject("product of huge numbers", "f :: Int -> Integer -> Integer\nf n x = if n == 0 then x else f (n - 1) (x * x)\nmain = f 40 3 == 0\n", 1.5, size="8G"),
    Subject("quotient of huge numbers", "main = 7 ^ (60000000 :: Int) `div` 3 ^ (50000000 :: Int) == (0 :: Integer)\n", 3, engines=("tagged",)),
    Subject("gcd of huge numbers", "main = gcd (7 ^ (40000000 :: Int)) (3 ^ (50000000 :: Int) + 1) == (0 :: Integer)\n", 3, engines=("tagged",)),
    Subject("show of a huge number", "main = 3 ^ (60000000 :: Int) :: Integer\n", 3, engines=("tagged",)),
    Subject("read of a huge number", "main = length (show (read (replicate 30000000 '7') :: Integer))\n", 3, engines=("tagged",)),
    Subject("show of a huge list", "main = [1 :: Int ..]\n", 1),
    Subject("text that nobody reads", "main = cycle \"text\"\n", 1, unread=True),
    Subject("actions that nobody reads", "main = putStr (cycle \"text\")\n", 1, unread=True, engines=("tagged", "demand")),
    Subject("input that never comes", "main = getLine >>= putStrLn\n", 0.5, waits=True, engines=("tagged", "demand")),
    Subject("tree of 2^22 leaves, then its release", TREE + "main = go 0\ngo :: Int -> Int\ngo n = let t = build 22 n in if total t + total t == 1 then 0 else go (n + 1)\n", 3),
    Subject("products of matrices", "import qualified Tensor as T\na :: Tensor Float [1000, 1000]\na = T.normal 1\n"
            "main = T.sum (go 100000 a) where\n  go :: Int -> Tensor Float [1000, 1000] -> Tensor Float [1000, 1000]\n"
            "  go n x = if n == 0 then x else go (n - 1) (T.matmul x a / 32)\n", 0.5, engines=("tagged",)),
    Subject("one product of matrices", "import qualified Tensor as T\na :: Tensor Float [9000, 9000]\na = T.normal 1\nmain = T.sum (T.matmul a a)\n", 6, engines=("tagged",)),
    Subject("random numbers of one tensor", "import qualified Tensor as T\na :: Tensor Double [500000000]\na = T.normal 1\nmain = T.sum a\n", 2, engines=("tagged",)),
    Subject("show of a tensor", "import qualified Tensor as T\na :: Tensor Double [20000000]\na = T.uniform 1\nmain = a\n", 3, engines=("tagged",)),
    Subject("two threads, hot", "fib :: Int -> Int\nfib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\nmain = fib 60\n", 0.5, engines=("tagged",), threads=2),
    Subject("two threads, a huge number each", "f :: Int -> Integer -> Integer\nf n x = if n == 0 then x else f (n - 1) (x * x)\n"
            "fib :: Int -> Int\nfib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\nmain = (fib 30 + (if f 40 3 == 0 then 1 else 0)) + (fib 30 + (if f 40 5 == 0 then 1 else 0))\n",
            3, engines=("tagged",), threads=2, size="8G"),
)


def begin(args, how, unread):
    return subprocess.Popen(args, stdin=subprocess.PIPE if how.get("waits") else subprocess.DEVNULL,
                            stdout=subprocess.PIPE if unread else subprocess.DEVNULL, stderr=subprocess.PIPE)


def processor(process):
    """Milliseconds so far: the program's, the system's."""
    with open("/proc/%d/stat" % process.pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return [int(ticks) * 1000 / os.sysconf("SC_CLK_TCK") for ticks in fields[11:13]]


def ended(process, since, wanted, before=None):
    """Milliseconds since `since`, processor time since `before`, and what is wrong."""
    killer = threading.Timer(60, process.kill)
    killer.start()
    _, status, usage = os.wait4(process.pid, 0)
    killer.cancel()
    took = (time.monotonic() - since) * 1000
    process.returncode = os.waitstatus_to_exitcode(status)
    said = process.stderr.read().decode(errors="replace").strip().split("\n")[0]
    used = before and [max(0, usage.ru_utime * 1000 - before[0]), max(0, usage.ru_stime * 1000 - before[1])]
    return took, used, "" if process.returncode == wanted else "exit code %d: %s" % (process.returncode, said)


def catches(process, number):
    """Whether the process is over, or past the first milliseconds, in which it has no handler of its own and just ends."""
    try:
        with open("/proc/%d/status" % process.pid) as file:
            return int(re.search(r"^SigCgt:\s*(\w+)", file.read(), re.M)[1], 16) >> (number - 1) & 1 or process.poll() is not None
    except OSError:
        return True


def by_signal(args, how, after, number):
    process = begin(args, how, how.get("unread"))
    time.sleep(after)
    while not catches(process, number):
        time.sleep(0.0005)
    if process.poll() is not None:
        return None, None, "it was over before"
    before = processor(process)
    os.kill(process.pid, number)  # send_signal would wait for a process that has ended just now, and then `ended` could not
    took, used, wrong = ended(process, time.monotonic(), INTERRUPTED, before)
    return (None, None, "it was over before") if process.returncode == 0 else (took, used, wrong)


def by_timeout(args, how, after, start):
    """The limit counts from the start of the run, which comes `start` seconds after that of the process."""
    began = time.monotonic()
    process = begin(args + ["--timeout=%dms" % (after * 1000)], how, how.get("unread"))
    return ended(process, began + start + after, LIMIT)


def start_up(args):
    """Seconds from the start of the process to that of the run, for a program that does nothing there."""
    times = []
    for _ in range(3):
        began = time.monotonic()
        subprocess.run(args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
        times.append(time.monotonic() - began)
    return min(times)


def report(name, how, results):
    times = [took for took, _, _ in results if took is not None]
    used = [parts for _, parts, _ in results if parts]
    faults = sorted({fault for _, _, fault in results if fault})
    print("| %s | %s | %s | %s |%s" % (name, how, "%.0f" % max(0, min(times)) if times else "–",
                                       "%.0f + %.0f" % tuple(min(used, key=sum)) if used else "", " " + "; ".join(faults) if faults else ""), flush=True)
    return bool(faults)


def run_subjects(args, folder):
    faults = 0
    nothing = os.path.join(folder, "nothing.df")
    open(nothing, "w").write("main = 1 :: Int\n")
    start = start_up([args.dfc, "run", nothing])
    for subject in SUBJECTS:
        if args.only and args.only not in subject.name:
            continue
        path = os.path.join(folder, "subject.df")
        open(path, "w").write(subject.text)
        for engine in subject.engines:
            if args.engine and engine not in args.engine:
                continue
            after = 0.3 if args.small else subject.after
            command = [args.dfc, "run", path, "--no-warnings", "--engine=" + engine, "--threads=%d" % subject.how.get("threads", 1),
                       "--max-memory=" + (subject.size or "12G")]
            name = "%s, %s" % (subject.name, engine)
            faults += report(name, "time", [by_timeout(command, subject.how, after, start) for _ in range(args.rounds)])
            faults += report(name, "SIGINT", [by_signal(command, subject.how, after, signal.SIGINT) for _ in range(args.rounds)])
    return faults


def run_files(args, folder):
    """A long program: while it is compiled, while its graph is read, prepared and run."""
    source, graph = os.path.join(folder, "long.df"), os.path.join(folder, "long.graph")
    open(source, "w").write(long_program.program(300 if args.small else 20000))
    began = time.monotonic()
    subprocess.run([args.dfc, source, "--no-warnings", "-o", graph], check=True)
    compiled = time.monotonic() - began
    began = time.monotonic()
    subprocess.run([args.dfc, "run", graph], check=True, stdout=subprocess.DEVNULL)
    loaded = time.monotonic() - began
    faults = 0
    for number, name in ((signal.SIGINT, "SIGINT"), (signal.SIGTERM, "SIGTERM")):
        for share in (0.1, 0.3, 0.5, 0.7, 0.9):
            results = [by_signal([args.dfc, source, "--no-warnings", "-o", graph + "2"], {}, compiled * share, number) for _ in range(args.rounds)]
            faults += report("compiler, %d %% of its time" % (share * 100), name, results) and not args.small
            results = [by_signal([args.dfc, "run", graph], {}, loaded * share, number) for _ in range(args.rounds)]
            faults += report("loading and preparing, %d %%" % (share * 100), name, results) and not args.small
    for engine in args.engine or ("tagged", "demand", "reference", "expanding"):
        results = [by_timeout([args.dfc, "run", graph, "--engine=" + engine], {}, 0.01, loaded) for _ in range(1)]
        report("preparing, %s (time from the end of loading is not known: upper bound)" % engine, "time", results)
    return faults


MEMORY = (("calls that grow", SUBJECTS[1].text), ("list that grows", SUBJECTS[2].text), ("product of huge numbers", SUBJECTS[4].text),
          ("show of a huge number", "main = 3 ^ (400000000 :: Int) :: Integer\n"), ("power", "main = 2 ^ (10 ^ 12 :: Int) :: Integer\n"))


def run_memory(args, folder):
    faults = 0
    size = 256 << 20
    for name, text in MEMORY[:2] if args.small else MEMORY:
        if args.only and args.only not in name:
            continue
        path = os.path.join(folder, "memory.df")
        open(path, "w").write(text)
        for engine in args.engine or ("tagged", "demand", "reference", "expanding"):
            began = time.monotonic()
            process = begin([args.dfc, "run", path, "--no-warnings", "--threads=1", "--engine=" + engine, "--max-memory=%d" % size, "--timeout=60s"], {}, False)
            said = process.stderr.read().decode()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            fault = "" if process.returncode == LIMIT and "memory limit" in said else "exit code %d: %s" % (process.returncode, said[:200])
            faults += bool(fault)
            print("| %s, %s | --max-memory=256M | %.1f s, peak %d MiB | |%s" %
                  (name, engine, time.monotonic() - began, usage.ru_maxrss >> 10, " " + fault if fault else ""), flush=True)
    return faults


def run_repl(args):
    """Ctrl-C amid a release in the REPL: milliseconds to the message, and to the answer of what is asked next."""
    faults = 0
    text = "1\n:{\n%sgo :: Int -> Int\ngo n = let t = build %d n in if total t + total t == 1 then 0 else go (n + 1)\n:}\n2\ngo 0\n" % (TREE, 8 if args.small else 22)
    for number in range(args.rounds):
        process = subprocess.Popen([args.dfc, "repl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        killer = threading.Timer(60, process.kill)
        killer.start()
        process.stdin.write(text.encode())
        process.stdout.readline()
        process.stdout.readline()  # the definitions are there, and what comes next is the run
        time.sleep(2 + 0.37 * number)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        message = process.stderr.readline()
        said = time.monotonic() - began
        process.stdin.write(b"6 * 7\n")
        answer = process.stdout.readline()
        answered = time.monotonic() - began
        process.stdin.close()
        process.wait()
        killer.cancel()
        fault = "" if message.startswith(b"error: interrupted") and answer == b"42\n" else " %r %r" % (message, answer)
        faults += bool(fault)
        print("| REPL, a tree that is released | SIGINT | %.0f to the message, %.0f to the next answer | |%s" % (1000 * said, 1000 * answered, fault), flush=True)
    return faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--engine", action="append")
    parser.add_argument("--only")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", action="store_true")
    args = parser.parse_args()
    if args.small:
        args.rounds, args.engine = 1, args.engine or ["tagged"]
    args.dfc = os.path.abspath(args.dfc)
    with tempfile.TemporaryDirectory() as folder:
        print("| where it stands | ended by | ms to the end of the process | ms of a processor, the program's + the system's |\n|---|---|---|---|")
        faults = run_subjects(args, folder) + run_memory(args, folder)
        if not args.only or args.only == "REPL":
            faults += run_repl(args)
        if not args.only or args.only == "files":
            faults += run_files(args, folder)
    sys.exit(faults != 0)


if __name__ == "__main__":
    main()
