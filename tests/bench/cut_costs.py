#!/usr/bin/env python3
"""The functions of Table 1 of "Recursion in static dataflow graphs", the graph cut in two, each part in a process of its own: what the cut costs.

    cut_costs.py --dfc build/dfc [--rounds 3]                  small rows on the reference engine
    cut_costs.py --dfc build/dfc --paper [--rows fib,ack] [--cuts function,random] [--patience 60]
                                                               the paper's 27 rows, on the tagged engine too
    cut_costs.py --dfc build/dfc --paper --below               smaller rows, of which each way ends
    cut_costs.py --dfc build/dfc --smoke [--paper]             small rows, one round; every answer is checked

The paper has its table on one machine only, without a cut. Here an engine runs each row in one piece, and in two parts:

  function    the recursive function on part 1, main on part 0: a cut that somebody would choose
  inner       of primes only: `primes` with main, `prime` on part 1, so that each number is asked for elsewhere
  arithmetic  the function on part 0, its sums, differences and comparisons on part 1: each operation is asked for elsewhere
  random      each node on any of the two parts

Wall seconds of the run, the best of the rounds, start-up not included. Tokens that cross are those of both parts in one process: on two, results that no Return wants stay
where they are. Bytes are all that the line carried, the graph too. With --paper every way is one that a user has: the engines reference and tagged, each in one piece, with
both parts in one process, and on two processes. What takes longer than --patience seconds is left out from then on, for that function's larger rows too.
"""

import argparse
import importlib.machinery
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
BELOW = (("fib", 20), ("ack", 3, 3), ("tak", 18, 12, 6), ("primes", 1000))  # where the paper's rows take minutes
SMOKE_PAPER = (("fib", 8), ("ack", 2, 3), ("tak", 6, 4, 2), ("primes", 20))
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
                file.write("%s %d\n" % (scope, kind == "function" or kind == "inner" and scope == "prime"))
                if kind == "arithmetic":
                    file.writelines("%%%s 1\n" % node for node in self.nodes_of(scope, ARITHMETIC))
        return ["--placement", path]

    def run(self, row, rounds, *options, patience=600, stats="json"):
        """The value, the best seconds, and the figures of the last run; None: it takes longer than there is patience for."""
        inputs = [FUNCTIONS.index(row[0]), *row[1:], 0, 0][:4]
        words = [self.dfc, "run", self.graph, "--stats=" + stats, "--timeout=%ds" % patience, *options,
                 *("--input=%s=%d" % pair for pair in zip(("which", "a", "b", "c"), inputs))]
        best, figures, value = None, {}, None
        for _ in range(rounds):
            done = subprocess.run(words, capture_output=True, text=True, timeout=patience + 60)
            if done.returncode == 3:
                return None
            if done.returncode != 0:
                raise SystemExit("%s: %s" % (" ".join(words), done.stderr))
            figures, value = json.loads(done.stderr.splitlines()[-1]), int(done.stdout)
            best = min(best or 1e9, figures["run_seconds"])
        return value, best, figures


def bytes_between(figures):
    return sum(link["bytes_out"] for process in figures.get("processes", []) for link in process["links"])


def messages_between(figures):
    return sum(link["messages_out"] for process in figures.get("processes", []) for link in process["links"])


def label(row):
    return "%s(%s)" % (row[0], ", ".join(map(str, row[1:])))


# Column, engine, whether it is cut, further options.
WAYS = (("tagged, one piece", "tagged", False, ["--threads=1"]), ("tagged, two parts", "tagged", True, ["--parts=2", "--threads=1"]),
        ("tagged, two processes", "tagged", True, ["--local-workers=2", "--threads=1"]),
        ("reference, one piece", "reference", False, []), ("reference, two parts", "reference", True, []),
        ("reference, two processes", "reference", True, ["--local-workers=2"]))


def counts(way, figures):
    """What crossed the cut, as the engine counts it."""
    crossed = {"messages": messages_between(figures), "bytes": bytes_between(figures)}
    if "cut" in figures and "processes" not in figures:
        crossed = {"tokens": figures["cut"]["tokens"], "sent": figures["cut"]["sent"], "dead": figures["cut"]["sent_dead"]}
    elif way.startswith("tagged"):
        crossed["calls"] = sum(process["far_given"] for process in figures.get("processes", []))
    return crossed


def paper(bench, table1, arguments):
    """Each row by each cut: milliseconds of each way, and what crossed."""
    rows = [row for row in (SMOKE_PAPER if arguments.smoke else BELOW if arguments.below else table1.PAPER) if row[0] in arguments.rows.split(",")]
    times, crossed, gone, uncut = [], [], set(), {}
    for kind in arguments.cuts.split(","):
        for row in rows:
            if kind == "inner" and row[0] != "primes":
                continue
            cut, took, counted = bench.placement(kind, row[0]), {}, {}
            for way, engine, parts, options in WAYS:
                key = (row[0], way, kind if parts else None)
                if not parts and (row, way) in uncut:
                    took[way] = uncut[row, way]
                    continue
                if key in gone or (engine == "reference" and arguments.only == "tagged") or (engine == "tagged" and arguments.only == "reference"):
                    continue
                chosen = [option for option in cut if option != "--parts=2" or "--parts=2" not in options] if parts else []
                words = ["--engine=" + engine, *chosen, *options]
                got = bench.run(row, arguments.rounds, *words, patience=arguments.patience, stats="times")
                # The tagged engine is slower where it counts.
                counted_run = bench.run(row, 1, *words, patience=arguments.patience) if got and parts else got
                if got is None or counted_run is None:
                    gone.add(key)
                    continue
                if got[0] != table1.expected(row)[0]:
                    sys.exit("%s, %s, %s: %d" % (label(row), kind, way, got[0]))
                took[way] = got[1]
                if parts:
                    counted[way] = counts(way, counted_run[2])
                else:
                    uncut[row, way] = got[1]
                print("%-16s %-10s %-24s %10.1f ms  %s" % (label(row), kind, way, 1e3 * got[1], counted.get(way, "")), file=sys.stderr, flush=True)
            times.append("| %s | %s | %s |" % (label(row), kind, " | ".join("%.3g" % (1e3 * took[way]) if way in took and took[way] < 1 else
                                                                          "%s" % format(round(1e3 * took[way]), ",") if way in took else "–" for way, *_ in WAYS)))
            columns = [(way, name) for way, names in (("tagged, two parts", ("calls",)), ("tagged, two processes", ("messages", "bytes")),
                                                      ("reference, two parts", ("tokens", "sent", "dead")), ("reference, two processes", ("messages", "bytes"))) for name in names]
            crossed.append("| %s | %s | %s |" % (label(row), kind, " | ".join(format(counted[way][name], ",") if way in counted else "–" for way, name in columns)))
    print("| ms | cut | %s |\n%s" % (" | ".join(way for way, *_ in WAYS), "|---" * (2 + len(WAYS)) + "|"))
    print("\n".join(times))
    print("\n| | cut | tagged: calls that go | messages | bytes | reference: tokens | of them sent | of these dead | messages | bytes |\n" + "|---" * 10 + "|")
    print("\n".join(crossed))


def small(bench, arguments):
    """The reference engine alone, small rows."""
    print("| | cut | tokens between parts | one piece, s | two parts in one process, s | on two processes, s | more a token, us | bytes |")
    print("|---|---|---|---|---|---|---|---|")
    for row in SMOKE if arguments.smoke else ROWS:
        wanted, whole, _ = bench.run(row, arguments.rounds, "--engine=reference")
        for kind in ("function", "arithmetic", "random"):
            cut = bench.placement(kind, row[0])
            value, here, counted = bench.run(row, arguments.rounds, *cut)
            far, apart, figures = bench.run(row, arguments.rounds, *cut, "--local-workers=2")
            if not value == far == wanted:
                sys.exit("%s, %s: %d, %d and %d" % (row, kind, wanted, value, far))
            sent = counted["cut"]["sent"]
            more = "%.1f" % (1e6 * (apart - whole) / max(1, sent)) if apart > whole else "–"
            print("| %s | %s | %s | %.3f | %.3f | %.3f | %s | %s |" % (label(row), kind, format(sent, ","), whole, here, apart, more, format(bytes_between(figures), ",")), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--paper", action="store_true", help="all rows of Table 1, on both engines")
    parser.add_argument("--below", action="store_true", help="with --paper: smaller rows than the paper's")
    parser.add_argument("--rows", default=",".join(FUNCTIONS), help="with --paper: of these functions only")
    parser.add_argument("--cuts", default="function,inner,arithmetic,random", help="with --paper: only these cuts")
    parser.add_argument("--only", choices=("tagged", "reference"), help="with --paper: this engine alone")
    parser.add_argument("--patience", type=int, default=60, help="with --paper: seconds after which a run is given up")
    arguments = parser.parse_args()
    if arguments.smoke:
        arguments.rounds = 1
    table1 = importlib.machinery.SourceFileLoader("table1", os.path.join(HERE, "table1")).load_module()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(os.path.abspath(arguments.dfc), folder)
        if arguments.paper:
            paper(bench, table1, arguments)
        else:
            small(bench, arguments)
    print("load %.1f at the beginning, %.1f at the end; %d processors" % (load, os.getloadavg()[0], os.cpu_count()), file=sys.stderr)


if __name__ == "__main__":
    main()
