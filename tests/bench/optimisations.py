#!/usr/bin/env python3
"""What each optimisation of the compiler is worth: the programs of haskell.py at smaller sizes, compiled without one at a time.

    python3 tests/bench/optimisations.py --dfc build/dfc [--runs 3] [--only NAME] [--instructions] [--models]

A row has, for the program without that optimisation, the ratio of its processor time to that of all optimisations together:
the best of the runs, which are taken in turn. --instructions counts instructions by callgrind in place of time: exact, and
fifty times slower. Start-up is part of each. The last row is the plain translation, -O0. --models: steps of training and losses alone of
tests/bench/trees_training.df, 64 trees at a time, in place of these programs.
"""

import argparse
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from haskell import PROGRAMS, measure, program_text  # noqa: E402
from rates import inputs, sized  # noqa: E402


def switches():
    names = []
    for table in ("lower/options/optimisations.def", "runtime/run/switches.def"):
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..", table), encoding="utf-8") as file:
            names += re.findall(r'^DF_(?:OPTIMISATION|SWITCH)\(\w+, "([^"]+)"', file.read(), re.M)
    return names


def models():
    """As PROGRAMS is used below: a name, the program's text, the options of its inputs."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "trees_training.df"), encoding="utf-8") as file:
        text = file.read()
    for name, model, hidden in (("TreeLSTM", 0, 150), ("TreeRNN", 1, 128)):
        for steps in (True, False):
            yield name + (", training" if steps else ", loss"), sized(text, hidden, 1000), inputs(model=model, steps=steps, count=256, batch=64, rounds=2)


def instructions(words, folder):
    out = os.path.join(folder, "callgrind.out")
    subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=" + out, *words], check=True, capture_output=True)
    with open(out, encoding="utf-8") as file:
        return int(re.search(r"^(?:summary|totals): (\d+)", file.read(), re.M).group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dfc", required=True, type=os.path.abspath)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--models", action="store_true")
    args = parser.parse_args()
    modes = [("all", [])] + [(name, ["--without=" + name]) for name in switches()] + [("-O0", ["-O0"])]
    programs = list(models()) if args.models else [(name, program_text(name, small), []) for name, _, small in PROGRAMS]
    programs = [row for row in programs if args.only in (None, row[0])]
    ratios = {name: [] for name, _ in modes}
    for program, text, given in programs:
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "main.df"), "w", encoding="utf-8") as file:
                file.write(text)
            samples = {mode: [] for mode, _ in modes}
            for mode, flags in modes:
                subprocess.run([args.dfc, "main.df", "--no-warnings", "-o", mode + ".graph", *flags], cwd=folder, check=True)
            printed = set()
            for _ in range(1 if args.instructions else args.runs):
                for mode, flags in modes:
                    words = [args.dfc, "run", "--threads=1", os.path.join(folder, mode + ".graph"), *given, *(flag for flag in flags if flag != "-O0")]
                    if args.instructions:
                        samples[mode].append(instructions(words, folder))
                    else:
                        seconds, _, said = measure(words, folder)
                        samples[mode].append(seconds)
                        printed.add(said)
            if len(printed) > 1 and not args.models:  # -O0 adds gradients in another order
                sys.exit("%s prints different things: %s" % (program, printed))
            for mode, _ in modes:
                ratios[mode].append(min(samples[mode]) / min(samples["all"]))
    print("| without | " + " | ".join(name for name, *_ in programs) + " | geometric mean |")
    print("|---" * (len(programs) + 2) + "|")
    for mode, _ in modes[1:]:
        mean = math.exp(statistics.fmean(map(math.log, ratios[mode])))
        print("| %s | %s | %.2f |" % (mode, " | ".join("%.2f" % ratio for ratio in ratios[mode]), mean))


if __name__ == "__main__":
    main()
