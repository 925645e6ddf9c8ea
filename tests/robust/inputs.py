#!/usr/bin/env python3
"""Every kind of file at every place that reads one: an answer, or what is wrong, within the limits of time and memory.

    inputs.py --dfc build/dfc [--only WORD]

KINDS are regular files, folders, files that are not there, sparse files, devices, and pipes that end, never end, or that nobody
writes into. PLACES are what reads: sources, graphs, inputs by type, states to go on from, modules, the prompt, standard input. Each
pair runs once with --max-memory=100M and, where no answer is expected, --timeout=1s.
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

TIMEOUT, MEMORY = 1, 100 << 20
SLACK = float(os.environ.get("DFC_SLOW_BUILD") and 30 or 10)  # seconds that a busy machine may add
BASE = 64 << 20  # of memory: the program itself, with the compiler

FINE, FAILED, USAGE, LIMIT = 0, 1, 2, 3

LENGTH = "main :: String -> Int\nmain x = length x\n"
PACKED = "import qualified Data.Text as T\nmain :: T.Text -> Int\nmain x = T.length x\n"
LIST = "main :: [Int] -> Int\nmain x = sum x\n"
TENSOR = "import qualified Tensor as T\nmain :: Tensor Float [3] -> Float\nmain x = T.sum x\n"
STATE = ("data S = S { at :: Int }\ndata Step = Step { step :: Int, state :: S }\n"
         "main :: Maybe S -> [Step]\nmain state = [Step (maybe 0 at state) (S 1)]\n")
GET = "main = getContents >>= print . length\n"


def npy():
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"\x00\x00\x80?" * 3


class Place:
    """Where a file is read: the words of the command, of which PATH is the file; what a good file holds, and what is printed then.
    `stdin`: the file is standard input. `endless`: what is repeated where it never ends."""

    def __init__(self, name, words, good, shown, source=None, stdin=False, prompt=None, endless=None, needs_regular=False):
        self.name, self.words, self.shown, self.source = name, words, shown, source
        self.good = good if isinstance(good, bytes) or good is None else good.encode()
        self.stdin, self.prompt, self.needs_regular = stdin, prompt, needs_regular
        self.endless = (endless or "-- no end\n").encode()


PLACES = [
    Place("source", ["run", "PATH"], "main = 41 + 1\n", "42"),
    Place("source on standard input", ["run", "-"], "main = 41 + 1\n", "42", stdin=True),
    Place("graph", ["run", "PATH"], None, "42"),
    Place("text", ["run", "p.df", "--input", "x=@PATH"], "12345", "5", LENGTH),
    Place("packed text", ["run", "p.df", "--input", "x=@PATH"], "12345", "5", PACKED),
    Place("text on standard input", ["run", "p.df", "--input", "x=@-"], "12345", "5", LENGTH, stdin=True),
    Place("text by the name of standard input", ["run", "p.df", "--input", "x=@/dev/stdin"], "12345", "5", LENGTH, stdin=True),
    Place("list", ["run", "p.df", "--input", "x=@PATH"], "[1, 2, 3]", "6", LIST, endless="[1, 2, 3,\n"),
    Place("tensor", ["run", "p.df", "--input", "x=@PATH"], npy(), "3.0", TENSOR),
    Place("state", ["run", "p.df", "--resume=PATH"], "S 7\n", "step=7", STATE),
    Place("standard input of a program", ["run", "p.df"], "12345", "5", GET, stdin=True),
    Place("prompt", ["repl"], "answer = 42 :: Int\n", "42", prompt=":set timeout 1s\n:set max-memory 100M\n:load PATH\nanswer\n"),
    # A module is found as a regular file only: nobody waits for a pipe whose name happens to be that of a module.
    Place("module", ["run", "p.df"], "module M where\nanswer :: Int\nanswer = 42\n", "42", "import M\nmain = answer\n", needs_regular=True),
]


class Writer:
    """Writes into a pipe by its name, from a thread: `bytes` once, or again and again; None: opens it and writes nothing."""

    def __init__(self, path, data, endless=False, pause=0.0):
        self.path, self.data, self.endless, self.pause, self.ended = path, data, endless, pause, False
        self.thread = threading.Thread(target=self.write, daemon=True)
        self.thread.start()

    def write(self):
        try:
            fd = None
            while fd is None and not self.ended:
                try:
                    fd = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK)
                except OSError:
                    time.sleep(0.01)
            if fd is None:
                return
            os.set_blocking(fd, True)
            with os.fdopen(fd, "wb", buffering=0) as out:
                while not self.ended:
                    if self.data is None:
                        time.sleep(0.05)
                        continue
                    out.write(self.data)
                    time.sleep(self.pause)
                    if not self.endless:
                        return
        except OSError:
            pass  # the reader is gone

    def end(self):
        self.ended = True
        self.thread.join(10)


def run(dfc, words, folder, stdin):
    """(exit code, what was printed, seconds, bytes at most)"""
    with tempfile.TemporaryFile() as out:
        began = time.time()
        process = subprocess.Popen([dfc, *words], stdin=stdin, stdout=out, stderr=out, cwd=folder)
        guard = threading.Timer(TIMEOUT + SLACK + 60, process.kill)
        guard.start()
        _, status, usage = os.wait4(process.pid, 0)
        guard.cancel()
        process.returncode = 0
        out.seek(0)
        code = os.waitstatus_to_exitcode(status)
        return code, out.read(20000).decode(errors="replace"), time.time() - began, usage.ru_maxrss * 1024


def try_one(dfc, place, kind, folder):
    """What is wrong; "" if nothing."""
    path = os.path.join(folder, "M.df" if place.name == "module" else "x.graph" if place.name == "graph" else "x")
    if place.source:
        with open(os.path.join(folder, "p.df"), "w") as f:
            f.write(place.source)
    good = place.good
    if good is None:
        with open(os.path.join(folder, "g.df"), "w") as f:
            f.write("main = 41 + 1\n")
        subprocess.run([dfc, "g.df", "-o", "g.graph"], cwd=folder, check=True)
        with open(os.path.join(folder, "g.graph"), "rb") as f:
            good = f.read()
    writer, codes, text = None, (LIMIT,), "limit"
    if kind == "regular":
        codes, text = (FINE,), place.shown
        with open(path, "wb") as f:
            f.write(good)
    elif kind == "missing":
        codes, text = (FAILED, USAGE), "x"
    elif kind == "folder":
        codes, text = (FAILED, USAGE), "directory"
        os.mkdir(path)
    elif kind == "sparse":
        with open(path, "wb") as f:
            f.truncate(1 << 40)
    elif kind == "device":
        os.symlink("/dev/zero", path)
    elif kind == "empty device":
        codes, text = (FINE, FAILED, USAGE, 4), ""
        os.symlink("/dev/null", path)
    else:
        os.mkfifo(path)
        if kind == "pipe":
            codes, text = (FINE,), place.shown
            writer = Writer(path, good)
        elif kind == "slow pipe":
            codes, text = (FINE,), place.shown
            writer = Writer(path, good, pause=0.3)
        elif kind == "endless pipe":
            writer = Writer(path, place.endless * 1000, endless=True)
        elif kind == "dripping pipe":
            writer = Writer(path, place.endless, endless=True, pause=0.02)
        elif kind == "open pipe":
            writer = Writer(path, None)
        else:
            assert kind == "silent pipe", kind
    if place.needs_regular and kind not in ("regular", "sparse"):
        codes, text = (FAILED,), "M"
    if place.needs_regular and kind == "sparse":
        text = ""
        codes = (FAILED, LIMIT)
    stdin = subprocess.DEVNULL
    if place.stdin:
        # A pipe that nobody has opened yet is one whose other end this process holds.
        held = os.open(path, os.O_RDWR) if kind == "silent pipe" else None
        stdin = os.open(path, os.O_RDONLY)
    elif place.prompt:
        with open(os.path.join(folder, "prompt"), "w") as f:
            f.write(place.prompt.replace("PATH", path).replace("1s", "60s" if codes == (FINE,) else "1s"))
        stdin = os.open(os.path.join(folder, "prompt"), os.O_RDONLY)
    try:
        words = [w.replace("PATH", path) for w in place.words]
        if words[0] == "run":
            # What is to be an answer is one on a busy machine, too.
            words += ["--timeout=%ds" % (60 if codes == (FINE,) else TIMEOUT), "--max-memory=%d" % MEMORY]
        code, said, seconds, most = run(dfc, words, folder, stdin)
    finally:
        if stdin != subprocess.DEVNULL:
            os.close(stdin)
        if place.stdin and held is not None:
            os.close(held)
        if writer:
            writer.end()
    if place.prompt:
        # The prompt goes on, and ends with what its last input was: the name that was not loaded.
        if codes != (FINE,):
            codes = (FINE, FAILED, USAGE, LIMIT)
    faults = []
    if code not in codes:
        faults.append("exit code %d, not %s" % (code, codes))
    if text not in said:
        faults.append("`%s` is not in what was printed" % text)
    if text == "limit" and not place.stdin and place.name != "module" and os.path.basename(path) not in said:
        faults.append("the file is not named")
    if codes != (FINE,) and seconds > TIMEOUT + 0.5 + SLACK:
        faults.append("%.1f seconds" % seconds)
    if most > 1.2 * MEMORY + BASE:
        faults.append("%d MB of memory" % (most >> 20))
    return "".join("; " + fault for fault in faults) and "%s, %s: %s\n%s" % (place.name, kind, "; ".join(faults), said[-600:])


KINDS = ["regular", "missing", "folder", "sparse", "device", "empty device", "pipe", "slow pipe", "endless pipe", "dripping pipe",
         "open pipe", "silent pipe"]


def makes_sense(place, kind):
    if place.stdin:
        # The program's own input is read as it comes: of a sparse file, too, more than a second's worth.
        return kind not in ("missing", "folder")
    return True


def interrupts(dfc):
    """A signal ends what waits for a pipe, at once."""
    for words in (["run", "x"], ["run", "p.df", "--input", "x=@x"], ["check", "x"], ["x", "-o", "y.graph"]):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with tempfile.TemporaryDirectory() as folder:
                with open(os.path.join(folder, "p.df"), "w") as f:
                    f.write(LENGTH)
                os.mkfifo(os.path.join(folder, "x"))
                process = subprocess.Popen([dfc, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                           preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
                time.sleep(0.5)
                process.send_signal(number)
                try:
                    process.communicate(timeout=1 + SLACK)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.communicate()
                    yield "%s goes on after signal %d" % (words, number)
                    continue
                if process.returncode != 130:
                    yield "%s ends with %d after signal %d" % (words, process.returncode, number)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--only", default="", help="pairs whose names hold this word")
    args = parser.parse_args()
    dfc = os.path.abspath(args.dfc)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faults, runs = [], 0
    for place in PLACES:
        for kind in KINDS:
            if args.only not in place.name + ", " + kind or not makes_sense(place, kind):
                continue
            runs += 1
            with tempfile.TemporaryDirectory() as folder:
                if fault := try_one(dfc, place, kind, folder):
                    faults.append(fault)
                    print(fault, flush=True)
    if not args.only:
        for fault in interrupts(dfc):
            faults.append(fault)
            print(fault, flush=True)
    print("%d runs, %d faults" % (runs, len(faults)))
    return 1 if faults or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
