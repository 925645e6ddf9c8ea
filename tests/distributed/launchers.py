#!/usr/bin/env python3
"""dfc under real launchers: Slurm, Open MPI, torchrun. The output is that of one process, also if a process is killed amid the run.

    launchers.py --dfc build/dfc [--only slurm,openmpi,torchrun] [--install] [--torchrun PROGRAM]

What a launcher needs is looked for on PATH; one that is not there is skipped, with a text (all skipped: exit code 77). --install asks apt for
Slurm and Open MPI first. Slurm runs here with two nodes, daemons and keys of its own (slurm_here.py). Everything ends with the test: whoever
is left is ended, and a fault.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CLUSTER = os.path.join(HERE, "..", "..", "samples", "cluster")
sys.path.insert(0, HERE)
import family
import slurm_here
from processes import FIB, PIECES

BOUND = 100  # seconds of one launch, beside some times what one process takes, which it may be in the end
SHORT, LONG = "fib 37", "fib 47"
# As root Open MPI wants to be told twice.
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


class Place:
    """A folder with programs, a key, and what one process prints."""

    def __init__(self, dfc, folder):
        self.dfc, self.folder = dfc, folder
        texts = {SHORT: FIB % 37, LONG: FIB % 47, "pieces": PIECES,
                 "fails": "f :: Int -> Int\nf n = if n < 2 then n else if n == 3 then 10 `div` (n - 3) else f (n - 1) + f (n - 2)\nmain = f 32\n"}
        self.graph, self.wanted = {}, {}
        self.bound = BOUND
        for name, text in texts.items():
            self.graph[name] = os.path.join(folder, name.replace(" ", "") + ".graph")
            subprocess.run([dfc, "-", "--no-warnings", "-o", self.graph[name]], input=text.encode(), check=True)
            began = time.monotonic()
            done = subprocess.run([dfc, "run", self.graph[name], "--threads=1"], capture_output=True)
            self.bound = max(self.bound, BOUND + 4 * (time.monotonic() - began))
            self.wanted[name] = (done.returncode, done.stdout)
        self.key = os.path.join(folder, "cluster.key")
        done = subprocess.run([dfc, "keygen", "-o", self.key], capture_output=True)
        if done.returncode:
            print("skipped: no keys can be made here: %s" % done.stderr.decode().strip())
            sys.exit(77)
        # The scripts of samples/cluster find dfc on PATH.
        os.symlink(dfc, os.path.join(folder, "dfc"))
        self.env = {**os.environ, **AS_ROOT, "PATH": folder + ":" + os.environ["PATH"], "TMPDIR": folder}
        for name in ("SLURM_PROCID", "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "JOB_COMPLETION_INDEX"):
            self.env.pop(name, None)

    def run_words(self, name, *more):
        return [self.dfc, "run", self.graph[name], "--launched", "--key", self.key, "--threads=1", *more]


def members(rank_name):
    """{rank: process} of the dfc that are below this process."""
    found = {}
    for pid in family.descendants():
        words = family.command(pid)
        if os.path.basename(words[0]).startswith(b"dfc") and b"--launched" in words and (rank := family.variable(pid, rank_name)) is not None:
            found[int(rank)] = pid
    return found


def launch(place, command, rank_name, size, kill=None, env=None, cwd=None):
    """Runs; kills the process of the rank `kill` once all have been there for a while. (exit code, output, errors, whether one was killed)"""
    process = subprocess.Popen(command, env={**place.env, **(env or {})}, cwd=cwd or place.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    killed = False
    if kill is not None:
        until, since = time.monotonic() + 60, None
        while time.monotonic() < until and process.poll() is None and not killed:
            there = members(rank_name)
            since = since or (time.monotonic() if len(there) == size else None)
            if since and time.monotonic() > since + 1.5 and kill in there:
                os.kill(there[kill], signal.SIGKILL)
                killed = True
            time.sleep(0.1)
    try:
        out, err = process.communicate(timeout=place.bound)
    except subprocess.TimeoutExpired:
        left = [b" ".join(family.command(pid)).decode(errors="replace")[-150:] for pid in family.descendants(process.pid)]
        for pid in (process.pid, *family.descendants(process.pid)):
            os.kill(pid, signal.SIGKILL)
        out, err = process.communicate()
        err += ("it hangs: %s" % left).encode()
    return process.returncode, out, err.decode(errors="replace"), killed


def same(place, name, got, code=0):
    right = got[1] == place.wanted[name][1] and (code is None or got[0] == code)
    assert right, "%s: exit code %s\n%s\n%s" % (name, got[0], got[1].decode(errors="replace"), got[2])


# ---------------------------------------------------------------- Slurm

def slurm(place, tell):
    with tempfile.TemporaryDirectory(prefix="dfc-slurm-") as folder:
        here = slurm_here.Slurm(folder)
        try:
            env, srun = here.env, slurm_here.where("srun")
            tell("%d nodes" % len(here.nodes))
            wide = [srun, "-N", str(len(here.nodes)), "-n", "4"]

            def run(name, *options, **more):
                return launch(place, [*wide, *options, *place.run_words(name)], "SLURM_PROCID", 4, env=env, **more)

            for name in (SHORT, "pieces"):
                same(place, name, run(name))
            got = run("fails")
            same(place, "fails", got, code=1)
            tell("equal, also in failure")
            # Whoever is killed is missed by nobody but srun, which ends with its signal.
            got = run(LONG, "--kill-on-bad-exit=0", "--no-kill", kill=2)
            assert got[3], "nobody was killed"
            same(place, LONG, got, code=None)
            assert "is lost" in got[2], got[2]
            tell("a killed process costs no result; srun ends with %d" % got[0])
            got = run(LONG, "--kill-on-bad-exit=1", kill=2)
            tell("with --kill-on-bad-exit=1: exit code %d, %s" % (got[0], "the same output" if got[1] == place.wanted[LONG][1] else "no output"))
            # The script that users have.
            words = [slurm_here.where("sbatch"), "--wait", "-N", str(len(here.nodes)), os.path.join(CLUSTER, "slurm.sh"), place.graph[SHORT], place.key]
            done = subprocess.run(words, env={**place.env, **env}, cwd=place.folder, capture_output=True, text=True, timeout=place.bound)
            written = [name for name in os.listdir(place.folder) if name.startswith("dfc-") and name.endswith(".out")]
            said = "".join(open(os.path.join(place.folder, name)).read() for name in written)
            assert done.returncode == 0 and said.encode() == place.wanted[SHORT][1], (done, said, here.logs())
            tell("samples/cluster/slurm.sh")
        except AssertionError:
            print(here.logs())
            raise
        finally:
            here.end()


# ---------------------------------------------------------------- Open MPI

def openmpi(place, tell):
    mpirun = [shutil.which("mpirun"), "--oversubscribe", "-n", "3"]
    many = iter(range(100))

    def run(name, *options, **more):
        at = os.path.join(place.folder, "place%d" % next(many))
        got = launch(place, [*mpirun, *options, *place.run_words(name, "--rendezvous", at)], "OMPI_COMM_WORLD_RANK", 3, **more)
        assert not os.path.exists(at) or more.get("kill") is not None, "the file of the place is left"
        return got

    for name in (SHORT, "pieces"):
        same(place, name, run(name))
    same(place, "fails", run("fails"), code=1)
    tell("equal, also in failure")
    got = run(LONG, "--enable-recovery", kill=1)
    assert got[3], "nobody was killed"
    same(place, LONG, got, code=None)
    assert "is lost" in got[2], got[2]
    tell("a killed process costs no result with --enable-recovery; mpirun ends with %d" % got[0])
    got = run(LONG, kill=1)
    tell("without: exit code %d, %s" % (got[0], "the same output" if got[1] == place.wanted[LONG][1] else "no output"))
    got = launch(place, ["sh", os.path.join(CLUSTER, "openmpi.sh"), "2", place.graph[SHORT], place.key], "OMPI_COMM_WORLD_RANK", 2)
    same(place, SHORT, got)
    got = launch(place, ["sh", os.path.join(CLUSTER, "openmpi.sh"), "2", place.graph[LONG], place.key], "OMPI_COMM_WORLD_RANK", 2, kill=1)
    same(place, LONG, got, code=None)
    tell("samples/cluster/openmpi.sh, also with a kill")


# ---------------------------------------------------------------- torchrun

def torchrun(place, tell, program):
    def run(name, *options, **more):
        port = random.Random(os.getpid() + time.time_ns()).randrange(20000, 30000)
        return launch(place, [program, "--nnodes=1", "--nproc-per-node=3", "--master-addr=127.0.0.1", "--master-port=%d" % port, *options, "--no-python",
                              *place.run_words(name, "--rendezvous", "127.0.0.1:%d" % (port + 1))], "RANK", 3, **more)

    same(place, SHORT, run(SHORT))
    same(place, "pieces", run("pieces"))
    tell("equal")
    # It ends all if one ends badly, and starts all anew: nothing else can be asked of it.
    got = run(LONG, "--max-restarts=2", kill=1)
    assert got[3], "nobody was killed"
    same(place, LONG, got)
    tell("a killed process: all are started anew, with the same output")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dfc", required=True, type=os.path.abspath)
    parser.add_argument("--only", default="slurm,openmpi,torchrun")
    parser.add_argument("--install", action="store_true", help="ask apt for what is missing")
    parser.add_argument("--torchrun", default=shutil.which("torchrun"))
    args = parser.parse_args()
    wanted = args.only.split(",")
    if args.install:
        packages = list(slurm_here.PACKAGES) * ("slurm" in wanted) + ["openmpi-bin"] * ("openmpi" in wanted)
        subprocess.run(["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages], check=True,
                       env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    lacks = {"slurm": ", ".join(slurm_here.missing()), "openmpi": "" if shutil.which("mpirun") else "mpirun", "torchrun": "" if args.torchrun else "torchrun"}
    runs = {"slurm": slurm, "openmpi": openmpi, "torchrun": lambda place, tell: torchrun(place, tell, args.torchrun)}
    family.adopt()
    faults = ran = 0
    with tempfile.TemporaryDirectory(prefix="dfc-launch-") as folder:
        place = None
        for name in wanted:
            if lacks[name]:
                print("skipped %s: %s is not here" % (name, lacks[name]), flush=True)
                continue
            place = place or Place(args.dfc, folder)
            ran += 1
            began = time.monotonic()
            try:
                runs[name](place, lambda text: print("     %s: %s" % (name, text), flush=True))
                # Slurm's own helpers take a moment to go.
                until = time.monotonic() + 10
                while family.descendants() and time.monotonic() < until:
                    time.sleep(0.1)
                left = [b" ".join(family.command(pid)).decode() for pid in family.descendants()]
                assert not left, "left: %s" % left
                print("ok   %s, %.0f s" % (name, time.monotonic() - began), flush=True)
            except (AssertionError, subprocess.TimeoutExpired) as fault:
                faults += 1
                print("FAIL %s: %s" % (name, fault), flush=True)
            family.end_all()
    sys.exit(1 if faults else 0 if ran else 77)


if __name__ == "__main__":
    main()
