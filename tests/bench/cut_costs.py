#!/usr/bin/env python3
"""The functions of Table 1 of "Recursion in static dataflow graphs", the graph cut in two, each part in a process of its own: what the cut costs.

    cut_costs.py --dfc build/dfc [--rounds 3] [--markdown]
    cut_costs.py --dfc build/dfc --smoke     the smallest row, every answer checked

The paper has its table on one machine only, without a cut. Here the reference engine runs each row in one piece, and in two parts:

  function    the recursive function on part 1, main on part 0: a cut that somebody would choose
  arithmetic  the function on part 0, its sums, differences and comparisons on part 1: each operation is asked for elsewhere
  random      each node on any of the two parts

Wall seconds of the run, the best of the rounds, start-up not included. Tokens that cross are those of both parts in one process: on two, results that no Return wants stay
where they are. Bytes are all that the line carried, the graph too.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FUNCTIONS = ("fib", "ack", "tak", "primes")
ROWS = (("fib", 18), ("ack", 2, 40), ("tak", 12, 8, 4), ("primes", 300))
SMOKE = (("fib", 8),)
ARITHMETIC = ("Add", "Sub", "Mul", "Mod", "Eq", "Ne", "Lt", "Le", "Gt", "Ge", "Rem")


class Bench:
    def __init__(self, dfc, folder):
        self.dfc, self.folder = dfc, folder
        self.graph = os.path.join(folder, "bench.graph")
        source = os.path.join(HERE, "peers", "bench.df")
        # Nothing is inlined into main: the function is to be a function.
        subprocess.run([dfc, source, "-o", self.graph, "-O0"], check=True)
        self.text = subprocess.run([dfc, source, "--emit=tagged", "-O0"], check=True, capture_output=True, text=True).stdout

    def nodes_of(self, scope, ops):
        """The nodes of a scope, and of loops in it, with these ops."""
        inside, found = False, []
        for line in self.text.splitlines():
            if line.startswith("scope "):
                inside = re.match(r"scope %s(\.loop)?\b" % re.escape(scope), line) is not None
            node = re.match(r"  %(\d+) = (\w+)", line)
            if inside and node and node.group(2) in ops:
                found.append(node.group(1))
        return found

    def placement(self, kind, function):
        """The options of a cut."""
        if kind == "random":
            return ["--cut-seed=1", "--parts=2"]
        path = os.path.join(self.folder, "%s_%s.place" % (kind, function))
        with open(path, "w", encoding="utf-8") as file:
            scopes = [name for name in (*FUNCTIONS, "prime") if re.search(r"^function %s\b" % name, self.text, re.M)]
            for scope in scopes:
                file.write("%s %d\n" % (scope, kind == "function"))
                if kind == "arithmetic":
                    file.writelines("%%%s 1\n" % node for node in self.nodes_of(scope, ARITHMETIC))
        return ["--placement", path]

    def run(self, row, rounds, *options):
        """The value, the best seconds, and the figures of the last run."""
        inputs = [FUNCTIONS.index(row[0]), *row[1:], 0, 0][:4]
        words = [self.dfc, "run", self.graph, "--stats=json", *options, *("--input=%s=%d" % pair for pair in zip(("which", "a", "b", "c"), inputs))]
        best, figures, value = None, {}, None
        for _ in range(rounds):
            done = subprocess.run(words, capture_output=True, text=True, timeout=600)
            if done.returncode != 0:
                raise SystemExit("%s: %s" % (" ".join(words), done.stderr))
            figures, value = json.loads(done.stderr.splitlines()[-1]), int(done.stdout)
            best = min(best or 1e9, figures["run_seconds"])
        return value, best, figures


def bytes_between(figures):
    return sum(link["bytes_out"] for process in figures.get("processes", []) for link in process["links"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--smoke", action="store_true")
    arguments = parser.parse_args()
    print("| | cut | tokens between parts | one piece, s | two parts in one process, s | on two processes, s | more a token, us | bytes |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(arguments.dfc), folder)
        for row in SMOKE if arguments.smoke else ROWS:
            rounds = 1 if arguments.smoke else arguments.rounds
            wanted, whole, _ = bench.run(row, rounds, "--engine=reference")
            for kind in ("function", "arithmetic", "random"):
                cut = bench.placement(kind, row[0])
                value, here, counted = bench.run(row, rounds, *cut)
                far, apart, figures = bench.run(row, rounds, *cut, "--local-workers=2")
                if not value == far == wanted:
                    sys.exit("%s, %s: %d, %d and %d" % (row, kind, wanted, value, far))
                sent = counted["cut"]["sent"]
                name = "%s(%s)" % (row[0], ", ".join(map(str, row[1:])))
                more = "%.1f" % (1e6 * (apart - whole) / max(1, sent)) if apart > whole else "–"
                print("| %s | %s | %s | %.3f | %.3f | %.3f | %s | %s |" % (name, kind, format(sent, ","), whole, here, apart, more, format(bytes_between(figures), ",")),
                      flush=True)


if __name__ == "__main__":
    main()
