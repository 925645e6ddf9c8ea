"""Random Haskell programs: every engine, in every mode, must give what GHC gives.

    python3 run.py --dfc build/dfc [--first 1] [--count 500] [--jobs 2] [--keep FOLDER] [--stop-at N] [--quiet]
                   [--answers FILE | --store FILE]

Programs are made in pieces of 50, of which GHC evaluates each in one run; --store writes GHC's answers to a file, for the
programs that pass, and --answers takes them from one, so that no GHC is needed. Each program is compiled to a graph, as it stands, without
optimisation and without loops, and run on each engine, and once more without a file between. A program that disagrees is
shrunk, printed, and kept in --keep. What GHC refuses (a program in a few hundred whose types are ambiguous), dfc must refuse.
"""

import concurrent.futures
import hashlib
import json
import os
import re
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import ghc
import shrink
from engines import answer, arguments, call_path, execute, histogram
from generate import Generator

PIECE = 50
# Compiled how, run how. The first fault in a list is reported.
MODES = [
    ([], ["--engine=reference"]),
    ([], ["--engine=tagged"]),
    ([], ["--engine=demand"]),
    ([], ["--engine=expanding"]),
    (["--no-optimize"], ["--engine=tagged"]),
    (["--no-optimize"], ["--engine=demand"]),
    (["--no-loops"], ["--engine=tagged"]),
    (None, ["--engine=tagged"]),  # no file between
]
LIMITS = ["--timeout=20s", "--max-memory=1G", "--no-warnings"]
SAMPLED = 10  # of so many programs one is traced, for the histograms


def first_fault(dfc, text, want, folder, name, traced=False):
    """(None or which mode gave what, whether dfc's error is another than GHC's, the statistics of one run)."""
    path = os.path.join(folder, name + ".df")
    with open(path, "w") as f:
        f.write(text)
    if want[0] == "refused":
        code, out, err = execute([dfc, "check", path])
        return (None if code == 1 else "accepted, or not refused well: exit %s\n%s\nGHC says: %s" % (code, err[:1000], want[1])), False, ""
    stats, compiled, paths, said, action = "", {}, {}, None, ghc.is_action(text)
    for compile_flags, run_flags in MODES:
        key = None if compile_flags is None else " ".join(compile_flags)
        if key is not None and key not in compiled:
            graph = os.path.join(folder, "%s.%d.graph" % (name, len(compiled)))
            code, out, err = execute([dfc, path, "--no-warnings", "-o", graph] + compile_flags)
            if code != 0:
                return "compiling %s: exit %s\n%s" % (key, code, (out + err)[:3000]), False, stats
            compiled[key] = graph
        counted = run_flags == ["--engine=reference"]
        code, out, err = execute([dfc, "run", path if key is None else compiled[key]] + run_flags + LIMITS +
                                 (["--stats"] + ["--trace"] * traced if counted else []), text=ghc.INPUT)
        if counted:
            stats = err
            err = re.sub(r"^%.*\n", "", err, flags=re.M)
        got = answer(code, out, err)
        if action and got[0] in ("value", "error"):
            got = (got[0], ghc.written(out, got[1] if got[0] == "error" else ""))
        said = said or got
        if got[0] == "error" == want[0] and (first := paths.setdefault(key or "", call_path(err))) != call_path(err):
            return ("%s %s: the call path is\n%s\nand was\n%s" % (key, " ".join(run_flags), "\n".join(call_path(err)), "\n".join(first)),
                    False, stats)
        # Which of several failures is reported is left open by Haskell, but dfc reports the same one always.
        if want[0] == "error" == said[0]:
            wrong = got != said or action and not begins(want[1], got[1])
        else:
            wrong = got != want
        if wrong:
            return "%s %s: got %s, want %s" % (key, " ".join(run_flags), got, said if want[0] == got[0] == "error" else want), False, stats
    for graph in compiled.values():
        os.remove(graph)
    os.remove(path)
    return None, said != want, stats


def begins(want, got):
    """Whether GHC's output of an action that fails is how dfc's begins: GHC may lose what stands before the failure in its text."""
    return json.loads(got)[0].startswith(json.loads(want)[0])


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def generated(first, count):
    return {seed: str(Generator(seed).program()) for seed in range(first, first + count)}


def read_answers(path):
    """{seed: (digest of the program, answer)} of a file of stored answers."""
    with open(path) as f:
        rows = [line.rstrip("\n").split("\t") for line in f]
    return {int(seed): (mark, (kind, text.replace("\\t", "\t"))) for seed, mark, kind, text in rows}


class Tally:
    def __init__(self):
        self.good = self.bad = self.big = self.other_error = self.refused = 0  # refused: of the good ones
        self.rows = []


# What a program's text exercises: a pattern for each.
WRITTEN = {"data types": r"^(?:data|newtype) ", "classes": r"^class ", "instances": r"^instance ", "functions": r"^[a-z]\w+ :: ",
           "alternatives": r"(?:; |\{ )[^;{}]*?->", "guards": r" \| ", "lambdas": r"\\", "knots": r"\([xs]\d+, y\d+\) = |s\d+ = \(\(",
           "maps and sets": r"\b[MS]\.\w", "actions": r"\b(?:print|putStrLn|putStr|getLine)\b",
           "without an end": r"repeat|iterate|\.\.\]", "irrefutable": r"~", "seq and bang": r"seq|\$!|[ (]![a-z]", "errors": r'error "'}
# What a run did: of --stats, and of a sample's --trace.
DONE = ("firings", "calls", "loop iterations", "delayed", "of them forced", "deepest tag")
TRACED = {"constructed": r"^%\d+ Construct", "closures made": r"^%\d+ Construct .*-> [a-z]", "matched": r"^%\d+ Match",
          "fields read": r"^%\d+ Field", "forced": r"^%\d+ Force"}


def counts(text, stats, traced):
    """What one program exercises."""
    row = {key: len(re.findall(pattern, text, re.M)) for key, pattern in WRITTEN.items()}
    for key, value in re.findall(r"^(%s)\s+([\d,]+)$" % "|".join(DONE), stats, re.M):
        row[key] = int(value.replace(",", ""))
    if traced:
        row.update((key, len(re.findall(pattern, stats, re.M))) for key, pattern in TRACED.items())
    return row


def main():
    parser = arguments()
    parser.add_argument("--answers", help="GHC's answers, stored")
    parser.add_argument("--store", help="where to write GHC's answers, of the programs that pass")
    args = parser.parse_args()
    stored = read_answers(args.answers) if args.answers else None
    tally, kept = Tally(), []
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool, \
            concurrent.futures.ProcessPoolExecutor(1, initializer=sys.setrecursionlimit, initargs=(100000,)) as maker:
        folder = args.keep or scratch
        os.makedirs(folder, exist_ok=True)
        for first in range(args.first, args.first + args.count, PIECE):
            programs = maker.submit(generated, first, min(PIECE, args.first + args.count - first)).result()
            if stored is not None:
                stale = [s for s, text in programs.items() if s in stored and stored[s][0] != digest(text)]
                if stale:
                    print("the stored answers are not those of this generator: store them anew with --store")
                    return 1
                answers = {s: stored[s][1] for s in programs if s in stored}
            else:
                answers = ghc.answers(programs)
            todo = {s: want for s, want in answers.items() if want[0] != "big"}
            tally.big += len(answers) - len(todo)
            done = {pool.submit(first_fault, args.dfc, programs[s], want, folder, "p%d" % s, not args.quiet and s % SAMPLED == 0): s
                    for s, want in todo.items()}
            for future in concurrent.futures.as_completed(done):
                s = done[future]
                want = todo[s]
                fault, other, stats = future.result()
                tally.good += fault is None
                tally.refused += want[0] == "refused" and fault is None
                tally.other_error += other
                row = counts(programs[s], stats, not args.quiet and s % SAMPLED == 0)
                row["error"] = int(want[0] == "error")
                tally.rows.append(row)
                if not fault:
                    kept.append((s, digest(programs[s]), *want))
                else:
                    tally.bad += 1
                    print("seed %d: %s" % (s, fault), flush=True)
                    if not args.quiet:
                        print(shrink.shrink(s, lambda text: still_bad(text, args.dfc, scratch, fault)), flush=True)
            if tally.bad >= args.stop_at:
                break
    if args.store:
        with open(args.store, "w") as f:
            f.writelines("%d\t%s\t%s\t%s\n" % (s, mark, kind, text.replace("\t", "\\t")) for s, mark, kind, text in sorted(kept))
    if not args.quiet and tally.rows:
        for title in (*WRITTEN, *DONE, *TRACED, "error"):
            histogram(title, [row[title] for row in tally.rows if title in row])
        print("%d programs were too big for a test; %d failed in another way than in GHC" % (tally.big, tally.other_error))
    print("%d passed, %d failed%s" % (tally.good, tally.bad, ", refused by GHC and dfc %d" % tally.refused if tally.refused else ""))
    # Where too many are refused, the generator is wrong.
    return 1 if tally.bad or tally.refused > 3 + tally.good // 50 or not tally.good else 0


def still_bad(text, dfc, folder, fault):
    """Whether a smaller program fails in the same way: where compiling failed or not."""
    path = os.path.join(folder, "small.df")
    with open(path, "w") as f:
        f.write(text)
    if not fault.startswith("compiling") and execute([dfc, path, "--no-warnings", "-o", path + ".graph"])[0] != 0:
        return False
    if os.path.exists(path + ".graph"):
        os.remove(path + ".graph")
    want = ghc.answers({0: text})[0]
    if want[0] == "big" or (want[0] == "refused") != fault.startswith("accepted"):
        return False
    now, _, _ = first_fault(dfc, text, want, folder, "small")
    return now is not None and now.startswith("compiling") == fault.startswith("compiling")


if __name__ == "__main__":
    sys.setrecursionlimit(100000)
    sys.exit(main())
