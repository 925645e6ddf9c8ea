#!/usr/bin/env python3
"""Functions on a device give what the reference engine gives: placed.py --dfc build/dfc [--device NAME]

Programs of batching.py with functions on a part that is the simulated device, or --device, by pragma and by a placement; all nodes of others put there or
not by chance; everything on the device but for some functions. What `--stats` counts shows that something was computed there, and something not. Then
what is refused.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

from batching import DESCENT, PRELUDE, PROGRAMS, run

PLACED = "{-# PLACE combine worker 1 #-}\n"

# name, program behind PRELUDE, the pragmas, whether the host has batches of its own
PROGRAMS_PLACED = [
    ("cells of trees", "main = hiddens (trees 20)", PLACED, True),
    ("two functions", "main = hiddens (trees 9)", PLACED + "{-# PLACE encode worker 1 #-}\n", False),
    ("a gradient", DESCENT + """main = case descend 3 (cell, embeddings) of (Cell w b, e) -> (T.sum w, T.sum b, T.sum e)
""", PLACED, True),
    ("a function that fails", """
pick :: Int -> Tensor Float [5]
pick k = if k > 20 then error ("no " ++ show k) else T.index embeddings (k * 3) + waves 2
main = T.sum (pick 1 + pick 4 + pick 3)
""", "{-# PLACE pick worker 1 #-}\n", False),
]

# what is wrong, options, what is said
REFUSED = [
    ("no such device", ["--part", "1=tpu"], "there is no device `tpu`"),
    ("no device", ["--part", "1="], "expected the number of a part"),
    ("no part", ["--part", "x=simulated"], "expected the number of a part"),
    ("part 0", ["--part", "0=simulated"], "`--device=simulated`"),
    ("twice", ["--part", "1=simulated", "--part", "1=cpu"], "part 1 is named twice"),
    ("nothing there", ["--part", "1=simulated", "--part", "2=simulated"], "nothing is placed on part 2"),
    ("too few parts", ["--parts", "2", "--part", "3=simulated"], "a device is to be part 3, and there are 2 parts"),
    ("a part between", ["--part", "1=simulated", "--part", "3=simulated"], "part 2 is no device"),
    ("another engine", ["--part", "1=simulated", "--engine=reference"], "devices are the tagged engine's"),
    ("no batches", ["--part", "1=simulated", "--batch=off"], "`--batch=off` makes none"),
    ("processes", ["--part", "1=simulated", "--local-workers=2"], "other processes do not use"),
    ("a rule of parts", ["--part", "1=simulated", "--recv=scheduled"], "are for parts that are no devices"),
    ("the engine without parts", ["--parts", "2", "--engine=demand"], "a graph that is cut runs on --engine=reference"),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--device", default="simulated")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth of the programs that are cut by chance")
    args = parser.parse_args()
    on, device = f"--part=1={args.device}", f"--device={args.device}"
    failures = runs = 0

    def fail(name, what):
        nonlocal failures
        failures += 1
        print(f"{name}: {what}")

    def compare(name, want, path, *options):
        nonlocal runs
        runs += 1
        got = run(args.dfc, path, *options)
        if got != want:
            fail(f"{name} {options}", f"\n  wanted: {want}\n  got:    {got}")

    with tempfile.TemporaryDirectory() as folder:
        path, graph, places = (os.path.join(folder, name) for name in ("p.df", "p.graph", "p.place"))

        def write(text, *level):
            with open(path, "w") as out:
                out.write(text)
            subprocess.run([args.dfc, path, "--no-warnings", "-o", graph, *level], check=True)
            return run(args.dfc, graph, "--engine=reference")

        for name, text, pragmas, has_more in PROGRAMS_PLACED:
            source = PRELUDE.replace("data Tree", pragmas + "data Tree", 1) + text
            for level in ([], ["-O0"]):
                want = write(source, *level)
                between = [] if args.device == "simulated" else [["--device=simulated"]]  # from one device to another
                for options in (*between, [], ["--batch=3"], ["--batch=1"], [device], ["--without=strips"], ["--threads=3", "--stress=1"]):
                    compare(f"{name} {level}", want, graph, on, *options)
                # All that is placed nowhere is on the device, and what is placed is not.
                compare(f"{name} {level}", want, graph, device, "--part=1=cpu")
            want = write(source)
            stats = [json.loads(run(args.dfc, graph, "--stats=json", *options)[2].splitlines()[-1]) for options in ([on], [device], [device, "--part=1=cpu"])]
            there, all_there, rest_there = (s["batches_away"] for s in stats)
            if want[0] == 0 and not 0 < there <= all_there:
                fail(name, f"{there} batches on the device, {all_there} if all are there")
            if has_more and not (there < stats[0]["batches"] and 0 < rest_there < stats[2]["batches"]):
                fail(name, f"the host has no part of it: {stats}")
            if want[0] == 0 and not (stats[0]["uploaded_bytes"] > 0 and stats[0]["downloaded_bytes"] > 0):
                fail(name, f"nothing went over: {stats[0]}")
        # By a placement file, which goes before the pragma.
        want = write(PRELUDE + "main = hiddens (trees 20)")
        with open(places, "w") as out:
            out.write("encode 1\n")
        compare("a placement", want, graph, "--placement", places, on)
        with open(places, "w") as out:
            out.write("encode 1\ncombine 2\n")
        want = write(PRELUDE.replace("data Tree", PLACED + "data Tree", 1) + "main = hiddens (trees 20)")
        compare("two parts of one device", want, graph, "--placement", places, on, f"--part=2={args.device}")
        # By chance, node by node: groups of ops are cut where their parts differ.
        for number, (name, text, *_) in enumerate(PROGRAMS):
            if number % args.every:
                continue
            want = write(PRELUDE + text)
            for seed in (1, 2):
                compare(name, want, graph, "--parts=3", f"--cut-seed={seed}", on, "--part=2=cpu")
        # What is refused.
        write(PRELUDE.replace("data Tree", PLACED + "data Tree", 1) + "main = hiddens (trees 2)")
        for name, options, said in REFUSED:
            runs += 1
            code, out, err = run(args.dfc, graph, *options)
            if code != 2 or out or said not in err:
                fail(name, f"{options}: {(code, out, err)}")
        write("{-# PLACE f worker 1 #-}\nf :: Int -> Int\nf n = if n < 2 then n else f (n - 1) + f (n - 2)\nmain = f 9\n")
        runs += 1
        code, out, err = run(args.dfc, graph, on)
        if code != 2 or "has no op on tensors" not in err:
            fail("no tensors", f"{(code, out, err)}")
        # A device that is not there is told as it is for the whole run.
        write(PRELUDE.replace("data Tree", PLACED + "data Tree", 1) + "main = hiddens (trees 2)")
        runs += 1
        whole, part = run(args.dfc, graph, "--device=cuda"), run(args.dfc, graph, "--part=1=cuda")
        if whole != part:
            fail("cuda", f"{part} and not {whole}")
        shown = subprocess.run([args.dfc, "place", graph, on], capture_output=True, text=True)
        runs += 1
        if shown.returncode or f"part 1 on {args.device}: " not in shown.stdout:
            fail("dfc place", f"{shown}")
    print(f"{runs} runs, {failures} failures")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
