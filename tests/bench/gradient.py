#!/usr/bin/env python3
"""The paired gradient beside two others (docs/gradients.md): the naive one, which computes the forward pass of each call anew, and
one whose forward pass keeps its activations in a concurrent hash table.

    gradient.py --dfc build/dfc [--repeat 5]

A recursion n deep, and a balanced tree of n leaves. The naive gradient computes each call of the recursion once per level above
it, so that its work grows with n times the depth. All run in turn on one thread; the table has the best processor time of each, the forward
pass's beside them, and the peaks of memory that the engine counts. All gradients must give the same bits.
"""

import argparse
import json
import os
import subprocess
import tempfile

PROGRAMS = {
    "recursion": """f :: Int -> Double -> Double
f n x = if n == 0 then x else sin (f (n - 1) x) * x + 0.5
""",
    "tree": """f :: Int -> Double -> Double
f n x = if n <= 1 then x else let m = n `div` 2 in tanh (f m (x * 0.9) + x * f (n - m) (x * 1.1))
""",
}
SIZES = {"recursion": (10, 100, 1000, 4000), "tree": (16, 256, 4096, 65536)}
KINDS = (("forward", []), ("paired", []), ("recompute", ["--gradient=recompute"]), ("table", ["--gradient=table"]))


def run(dfc, graph, n):
    done = subprocess.run([dfc, "run", graph, "--threads=1", "--input", "n=%d" % n, "--stats=json"], capture_output=True, check=True)
    stats = json.loads(done.stderr)
    return done.stdout, stats["run_cpu_seconds"], stats["peak_bytes"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    print("%-10s %8s" % ("program", "n") + "".join("%14s" % (kind + " ms") for kind, _ in KINDS) + "".join("%14s" % (kind + " MB") for kind, _ in KINDS))
    with tempfile.TemporaryDirectory() as folder:
        for name, text in PROGRAMS.items():
            graphs = []
            for kind, flags in KINDS:
                source = os.path.join(folder, "%s_%s.df" % (name, kind))
                with open(source, "w", encoding="utf-8") as file:
                    body = "f n 0.7" if kind == "forward" else "grad (f n) 0.7"
                    file.write("import Gradient\n\n" + text + "\nmain :: Int -> Double\nmain n = " + body + "\n")
                graphs.append(source[:-3] + ".graph")
                subprocess.run([args.dfc, source, "-o", graphs[-1], *flags], check=True)
            for n in SIZES[name]:
                best, peaks = [float("inf")] * len(KINDS), [0] * len(KINDS)
                for _ in range(args.repeat):
                    answers = []
                    for k, graph in enumerate(graphs):
                        answer, seconds, peaks[k] = run(args.dfc, graph, n)
                        answers.append(answer)
                        best[k] = min(best[k], seconds)
                    if len(set(answers[1:])) != 1:
                        raise SystemExit("%s, n = %d: %s" % (name, n, answers[1:]))
                print("%-10s %8d" % (name, n) + "".join("%14.3f" % (1000 * t) for t in best) + "".join("%14.2f" % (p / 1e6) for p in peaks), flush=True)



if __name__ == "__main__":
    main()
