#!/usr/bin/env python3
"""How long it takes before a graph file runs, by part.

    load.py --dfc build/dfc [--nodes N]... [--rounds N] [--instructions] [--small]

A program is generated (long_program.py) whose graph has about N nodes, 100,000 and 400,000 without --nodes, and run again and again
on one thread. The least of the rounds, in milliseconds: start to finish, of that processor time, to read and verify the file, to
prepare (what the engine makes of the graph), to run. Then two programs of one line: `fact 10` from its graph file, and from its source.

--instructions: instructions (callgrind) of the parts instead, in millions, which other work on the machine does not change.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import long_program

NODES_PER_LINE = 50  # of that program, optimised
FACT = "fact :: Integer -> Integer\nfact n = if n == 1 then n else n * fact (n - 1)\nmain = fact 10\n"
HELLO = 'main = putStrLn "Hello, world!"\n'

# Name, and the functions that callgrind shows.
PARTS = (("read the tables", r"MessageLite::ParseFromArray"), ("look at the nodes", r"NodeView::Read"), ("make the nodes", r"Reader::ReadNode"),
         ("verify", r"ir::Verify\["), ("read and verify", r"ir::Deserialize"),
         ("needed parameters", r"tagged::FindStrictParameters"), ("groups of arguments", r"tagged::Group\("), ("events and regions", r"Partition::Run"),
         ("last uses", r"tagged::MarkLastUses"), ("schedules", r"tagged::MakeSchedule"), ("flow of scheduled code", r"ScheduledFlow::Run"),
         ("scheduled code", r"ScheduledMaker::EmitBlock"), ("all scheduled code", r"tagged::MakeScheduled"), ("all preparation", r"df::MakeExecution"),
         ("start to finish", r"PROGRAM TOTALS"))


def compiled(dfc, folder, name, text):
    path = os.path.join(folder, name)
    with open(path + ".df", "w") as file:
        file.write(text)
    subprocess.run([dfc, path + ".df", "--no-warnings", "-o", path + ".graph"], check=True)
    return path + ".graph"


def nodes_of(dfc, graph):
    text = subprocess.run([dfc, graph, "--emit=tagged"], capture_output=True, check=True).stdout.decode()
    return len(re.findall(r"^ *%\d+ = ", text, re.M))


def one_run(args):
    """Milliseconds of one run: start to finish, of the processor, to load, to prepare, to run."""
    began = time.monotonic()
    process = subprocess.Popen(args + ["--stats=times"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    took = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit("exit code %d\n%s" % (process.returncode, said.decode()))
    stats = json.loads(said)
    return [1000 * t for t in (took, usage.ru_utime + usage.ru_stime, *(stats[part + "_seconds"] for part in ("load", "prepare", "run")))]


def times(dfc, name, count, file, rounds):
    runs = [one_run([dfc, "run", file, "--threads=1"]) for _ in range(rounds)]
    print("| %s | %s | %s |" % (name, count, " | ".join("%.1f" % min(run[i] for run in runs) for i in range(5))), flush=True)


def instructions(dfc, folder, graph):
    out = os.path.join(folder, "callgrind")
    subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=" + out, dfc, "run", graph, "--threads=1"], capture_output=True, check=True)
    text = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", out], capture_output=True, check=True).stdout.decode(errors="replace")
    for name, pattern in PARTS:
        found = [int(line.split()[0].replace(",", "")) for line in text.split("\n") if re.search(pattern, line) and line.split()[0].replace(",", "").isdigit()]
        print("| %s | %.0f |" % (name, max(found, default=0) / 1e6), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--nodes", type=int, action="append")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--small", action="store_true", help="a short program, to test this one")
    args = parser.parse_args()
    sizes = [5000] if args.small else args.nodes or [100000, 400000]
    with tempfile.TemporaryDirectory() as folder:
        print("| part | million instructions |\n|---|---|" if args.instructions else
              "| program | nodes | start to finish, ms | processor | load | prepare | run |\n|" + "---|" * 7)
        for size in sizes:
            graph = compiled(args.dfc, folder, "long%d" % size, long_program.program(size // NODES_PER_LINE))
            if args.instructions:
                instructions(args.dfc, folder, graph)
            else:
                times(args.dfc, "long_program.py %d" % (size // NODES_PER_LINE), nodes_of(args.dfc, graph), graph, args.rounds)
        if not args.instructions:
            times(args.dfc, "fact, graph file", nodes_of(args.dfc, compiled(args.dfc, folder, "fact", FACT)), os.path.join(folder, "fact.graph"), args.rounds)
            times(args.dfc, "fact, source", "", os.path.join(folder, "fact.df"), args.rounds)
            compiled(args.dfc, folder, "hello", HELLO)
            times(args.dfc, "hello world, source", "", os.path.join(folder, "hello.df"), args.rounds)


if __name__ == "__main__":
    main()
