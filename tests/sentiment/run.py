#!/usr/bin/env python3
"""The models of samples/sentiment train as they do in PyTorch: run.py --dfc build/dfc [--update]

The same trees, weights and optimiser; the loss before each of 100 steps, in Double to 1e-8 of PyTorch's, in Float the first one to
1e-5. PyTorch's figures are in answers.json, so that a run needs no PyTorch; `--update` computes them anew (pytorch.py). On every
engine, and on the simulated device, the bits of a few steps are the same. As it stands each sample learns, and a run that goes on from a saved
state prints what one run prints; the state and the log of a run do not depend on threads, batches or the engine.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "samples", "sentiment")
REVIEWS = os.path.join(SAMPLES, "reviews.txt")
ANSWERS = os.path.join(HERE, "answers.json")
STEPS = 100
ENGINES = ("tagged", "reference", "demand", "expanding")
# By model its optimiser's rate, and the amplitudes and frequencies of the waves that its weights are, in the order of its fields.
# (An RNTN with large weights is chaotic: rounding grows tenfold at each step, in any program.)
MODELS = {"treernn": (0.05, ((0.2, 0.7), (0.2, 1.1), (0.2, 0.3), (0.2, 0.9), (0.2, 0.4))),
          "rntn": (0.01, ((0.2, 0.7), (0.01, 1.3), (0.2, 1.1), (0.2, 0.3), (0.2, 0.9), (0.2, 0.4))),
          "treelstm": (0.05, ((0.2, 0.7), (0.2, 1.3), (0.2, 0.2), (0.2, 1.1), (0.2, 0.3), (0.2, 0.9), (0.2, 0.4)))}

MAIN = """
waves :: R -> R -> Tensor R s
waves size k = T.fill size * sin (T.fill k * T.convert (T.iota + 1))

lossesOf :: [[Tree Int]] -> Int -> Adagrad Model -> [R]
lossesOf (trees : rest) n state = if n == 0 then [] else let (state', value) = step state trees in value : lossesOf rest (n - 1) state'

main :: String -> Int -> [R]
main text count = lossesOf (concat (replicate count (batches 25 trees))) count (startAdagrad model)
  where
    model = Model %s
    trees = numberWords (T.length (table model)) (fst (readTrees text))
"""


def program(model, real):
    """The sample with other weights and a main that prints losses."""
    with open(os.path.join(SAMPLES, model + ".df"), encoding="utf-8") as file:
        text = file.read()
    rate, waves = MODELS[model]
    assert "adagrad %s gradient" % rate in text, "another rate than in pytorch.py"
    text = text[:text.index("-- What a run goes on from")] + MAIN % " ".join("(waves %s %s)" % wave for wave in waves)
    return re.sub(r"^type R = Float$", "type R = " + real, text, flags=re.M)


def losses(dfc, model, real, steps, *options):
    path = os.path.join(os.environ.get("TMPDIR", "/tmp"), "dfc-sentiment-%d.df" % os.getpid())
    with open(path, "w", encoding="utf-8") as file:
        file.write(program(model, real))
    try:
        done = subprocess.run([dfc, "run", path, *options, "--input", "text=@" + REVIEWS, "--input", "count=%d" % steps],
                              capture_output=True, timeout=600)
    finally:
        os.remove(path)
    if done.returncode:
        sys.exit("%s in %s: exit code %d\n%s" % (model, real, done.returncode, done.stderr.decode()))
    return json.loads(done.stdout)


def resumes(dfc, model, folder):
    """The sample as it stands: three epochs in one run, and two and one more from the saved state, print the same."""
    sample, state = os.path.join(SAMPLES, model + ".df"), os.path.join(folder, model + ".safetensors")

    def lines(epochs, *options):
        command = [dfc, "run", sample, "--input", "train=@" + REVIEWS, "--input", "epochs=%d" % epochs, *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if done.returncode:
            sys.exit("%s: exit code %d\n%s" % (model, done.returncode, done.stderr))
        return [line.replace("total=2", "total=3") for line in done.stdout.splitlines()]

    whole, parts = lines(3), lines(2, "--output", "state=@" + state) + lines(3, "--resume=" + state)
    figures = [dict(word.split("=") for word in line.split()) for line in whole]
    learnt = len(whole) == 3 and float(figures[2]["loss"]) < float(figures[0]["loss"]) and all(0 < float(line["dev_binary"]) < 1 for line in figures)
    if whole == parts and learnt:
        return True
    print("%s: run as it stands:\n  %s\nin two parts:\n  %s" % (model, "\n  ".join(whole), "\n  ".join(parts)))
    return False


def same_files(dfc, model, folder):
    """The state of an epoch, and its log but for the seconds, are the same bytes whatever computes it: the chunk alone says how a batch is added up."""
    sample = os.path.join(SAMPLES, model + ".df")
    files = {}
    for options in (("--threads=1",), ("--threads=3",), ("--threads=2", "--stress=3"), ("--batch=off",), ("--batch=3",),
                    *(("--engine=" + engine,) for engine in ENGINES[1:])):
        state, log = os.path.join(folder, "state.safetensors"), os.path.join(folder, "log.csv")
        command = [dfc, "run", sample, "--input", "train=@" + REVIEWS, "--input", "epochs=1", "--output", "state=@" + state, "--log=" + log, *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if done.returncode:
            sys.exit("%s %s: exit code %d\n%s" % (model, options, done.returncode, done.stderr))
        with open(state, "rb") as file:
            written = file.read()
        with open(log, encoding="utf-8") as file:
            rows = [line.rsplit(",", 1) for line in file.read().splitlines()]
        assert rows[0][1] == "seconds" and len(rows) == 2
        files[options] = (written, [row[0] for row in rows])
        os.remove(log)
    odd = [options for options, got in files.items() if got != files[("--threads=1",)]]
    if odd:
        print("%s: another state or log with %s" % (model, odd))
    return not odd


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    if args.update:
        import pytorch  # only here: PyTorch is not needed to run the tests
        with open(ANSWERS, "w", encoding="utf-8") as file:
            json.dump({model: pytorch.losses(model, REVIEWS, STEPS, *MODELS[model]) for model in MODELS}, file, indent=0)
            file.write("\n")
    with open(ANSWERS, encoding="utf-8") as file:
        answers = json.load(file)
    faults = 0
    for model, wanted in answers.items():
        got = losses(args.dfc, model, "Double", STEPS)
        worst = max(abs(a - b) for a, b in zip(got, wanted))
        first = abs(losses(args.dfc, model, "Float", 1)[0] - wanted[0])
        runs = {engine: losses(args.dfc, model, "Float", 3, "--engine=" + engine) for engine in ENGINES}
        runs["simulated device"] = losses(args.dfc, model, "Float", 3, "--device=simulated")
        same = all(run == runs["tagged"] for run in runs.values())
        print("%s: %d steps, loss %.4f to %.4f, at most %.1e from PyTorch; the first in Float %.1e; engines %s" % (
            model, len(got), got[0], got[-1], worst, first, "agree" if same else "differ: %s" % runs))
        with tempfile.TemporaryDirectory() as folder:
            same = resumes(args.dfc, model, folder) and same
            same = same_files(args.dfc, model, folder) and same
        faults += len(got) != STEPS or worst > 1e-8 or first > 1e-5 or not same
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
