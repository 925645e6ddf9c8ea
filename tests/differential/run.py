"""Random programs: every engine must give what the oracle (evaluate.py) says, result or error.

    python3 run.py --dfc build/dfc [--first 1] [--count 500] [--jobs 2] [--keep FOLDER] [--stop-at N] [--quiet]

For each seed the program is compiled to a graph, as it stands and without optimisation and loops; `reference` runs it in
its own order and in a random one, `tagged` and `demand` once; each answer is compared. Histograms of what the programs
exercise are printed, so that trivial programs show. A program that disagrees is shrunk and printed, and kept in --keep.
"""

import concurrent.futures
import os
import re
import sys
import tempfile

import evaluate
import shrink
from engines import answer, arguments, call_path, execute, histogram
from generate import Generator, program_source

FUEL = 20000
# Compiled how, run how. The first fault in a list is reported.
MODES = [
    ([], ["--engine=reference"]),
    ([], ["--engine=reference", "--seed=7", "--run-dry"]),
    ([], ["--engine=tagged"]),
    ([], ["--engine=demand"]),
    ([], ["--engine=expanding"]),
    ([], ["--engine=expanding", "--queue=lifo"]),
    (["--no-optimize"], ["--engine=tagged"]),
    (["--no-loops"], ["--engine=tagged"]),
]
def first_fault(dfc, functions, want, machine, folder, name):
    """None, or a text that says which mode gave what. Also returns the statistics of one run.

    machine.may_hang: something endless stands beside the failure that the oracle saw, and a run without an end is right too.
    machine.also: other failures that are right, but all modes must give the same.
    """
    may_hang, also = machine.may_hang, machine.also
    path = os.path.join(folder, name + ".df")
    with open(path, "w") as f:
        f.write(program_source(functions))
    stats, compiled, paths, hung = "", {}, {}, False
    for compile_flags, run_flags in MODES:
        key = " ".join(compile_flags)
        if key not in compiled:
            graph = os.path.join(folder, name + str(len(compiled)) + ".graph")
            code, out, err = execute([dfc, path, "-o", graph] + compile_flags)
            if code != 0:
                return "compiling %s: exit %s\n%s" % (key, code, (out + err)[:3000]), stats
            compiled[key] = graph
        if want[0] == "error":
            # What goes on after a failure may never end: a recursion on the failed value that no branch stops.
            run_flags = [f for f in run_flags if f != "--run-dry"]
        flags = run_flags + ["--timeout=%ds" % (1 if may_hang else 10), "--max-memory=1G"]
        if run_flags == ["--engine=reference"]:
            flags.append("--stats")
        code, out, err = execute([dfc, "run", compiled[key]] + flags)
        if "--stats" in flags:
            stats = err
        got = answer(code, out, err)
        if may_hang and got[0] == "exit 3":
            hung = True
            continue
        if got[0] == "error" == want[0]:
            want = got if got[1] in also else want
            also = ()
        if got[0] == "error" == want[0] and (first := paths.setdefault(key, call_path(err))) != call_path(err):
            return "%s %s: the call path is\n%s\nand was\n%s" % (key, " ".join(run_flags), "\n".join(call_path(err)), "\n".join(first)), stats
        if got != want:
            return "%s %s: got %s, want %s" % (key, " ".join(run_flags), got, want), stats
    for graph in compiled.values():
        os.remove(graph)
    return None, stats + ("\nhung: 1" if hung else "")


def check(seed, dfc, folder):
    functions = Generator(seed).program()
    try:
        want, machine = evaluate.run(functions, functions[-1].result, FUEL)
    except evaluate.TooBig:
        return seed, "skipped", None, None
    fault, stats = first_fault(dfc, functions, want, machine, folder, "p%d" % seed)
    counts = {"depth": machine.max_depth, "calls": machine.calls, "error": int(want[0] == "error"),
              "may hang": int(machine.may_hang), "hung": 0}
    for key, value in re.findall(r"^\s*(delayed|of them forced|loop iterations|dead tokens|firings|hung):?\s+([\d,]+)", stats, re.M):
        counts[key] = int(value.replace(",", ""))
    if fault is None:
        os.remove(os.path.join(folder, "p%d.df" % seed))
    return seed, "bad" if fault else "good", fault, counts


def main():
    args = arguments().parse_args()
    good = bad = skipped = 0
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or scratch
        os.makedirs(folder, exist_ok=True)
        with concurrent.futures.ProcessPoolExecutor(args.jobs, initializer=sys.setrecursionlimit,
                                                    initargs=(100000,)) as pool:
            seeds = iter(range(args.first, args.first + args.count))
            waiting = {pool.submit(check, s, args.dfc, folder) for s, _ in zip(seeds, range(4 * args.jobs))}
            while waiting:
                done, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
                for future in done:
                    seed, state, fault, counts = future.result()
                    skipped += state == "skipped"
                    good += state == "good"
                    if counts:
                        rows.append(counts)
                    if state == "bad":
                        bad += 1
                        print("seed %d: %s" % (seed, fault), flush=True)
                        if not args.quiet:
                            small = shrink.shrink(Generator(seed).program(), lambda p: still_bad(p, args.dfc, scratch))
                            print(program_source(small), flush=True)
                    if bad < args.stop_at:
                        for s in seeds:
                            waiting.add(pool.submit(check, s, args.dfc, folder))
                            break
    if not args.quiet and rows:
        for title in ("depth", "calls", "loop iterations", "delayed", "of them forced", "dead tokens", "firings", "error", "may hang", "hung"):
            values = [r[title] for r in rows if title in r]
            if values:
                histogram(title, values)
        print("%d programs were too big for a test" % skipped)
    print("%d passed, %d failed" % (good, bad))
    return 1 if bad or not good else 0


def still_bad(functions, dfc, folder):
    try:
        want, machine = evaluate.run(functions, functions[-1].result, FUEL)
    except evaluate.TooBig:
        return False
    fault, _ = first_fault(dfc, functions, want, machine, folder, "shrink")
    return fault is not None and not fault.startswith("compiling")


if __name__ == "__main__":
    sys.setrecursionlimit(100000)
    sys.exit(main())
