#!/usr/bin/env python3
"""Networks over trees on a card, ours and PyTorch's: cuda_trees.py --dfc build/dfc [--batch 25 64 256]

Trees a second of elapsed time, best of the rounds, without compiling and loading: the programs of trees.py, of its --training, and of Fold's
benchmark (papers.py). Ours with --device=cuda, and with --device=cpu on one thread; PyTorch on the card, all nodes of a height at
once by hand. What ours prints on both devices has to be the same text.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import papers
import trees
import trees_training
from random_trees import WORDS, make_all
from rates import inputs

HERE = os.path.dirname(os.path.abspath(__file__))


def timed(dfc, path, device, *arguments):
    """Seconds of a run, and what it prints."""
    done = subprocess.run([dfc, "run", path, "--stats=times", f"--device={device}", "--threads=1", *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stderr)["run_seconds"], done.stdout


def rate(dfc, path, device, count, most, rounds, options):
    """Trees a second: the time of one round is taken off that of `most`."""
    few, text = min(timed(dfc, path, device, *options(1)) for _ in range(rounds))
    many, _ = min(timed(dfc, path, device, *options(most)) for _ in range(rounds))
    return (most - 1) * count / (many - few), text


def row(dfc, name, path, count, most, rounds, options, theirs):
    ours, text = rate(dfc, path, "cuda", count, most, rounds, options)
    host, want = rate(dfc, path, "cpu", count, max(2, most // 32), 1, options)
    if text != want:
        print(f"{name}: {text.strip()} on the card, {want.strip()} on the host")
    value = f"{theirs[0]:.0f} | {ours / theirs[0]:.2f}" if theirs else "– | –"
    if theirs and abs(theirs[1] - float(text)) > 1e-3 * abs(float(text)):
        print(f"{name}: PyTorch gives {theirs[1]}, ours {text.strip()}")
    print(f"| {name} | {ours:.0f} | {host:.0f} | {value} |", flush=True)
    return text != want


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--batch", type=int, nargs="+", default=[25, 64, 256])
    parser.add_argument("--count", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--only", nargs="+", default=["inference", "training", "fold"])
    args = parser.parse_args()
    sys.setrecursionlimit(10000)
    try:
        import torch

        torch.set_default_device("cuda")
        torch.backends.cuda.matmul.allow_tf32 = False
        time.process_time = time.perf_counter  # what the functions that measure PyTorch ask for; each ends with a number that the host reads
        there = True
    except ImportError:
        there = False
    bad = 0
    print("| | cuda | one thread of the host | PyTorch by hand, on the card | cuda / by hand |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for hidden in (150, 300) if "inference" in args.only else ():
            graph = trees_training.compiled(args.dfc, "trees.df", hidden, WORDS, folder)
            theirs = trees.torch_rates("TreeLSTM", hidden, args.batch, make_all(args.count), WORDS, 1, args.rounds + 1) if there else {}
            for batch in args.batch:
                bad += row(args.dfc, f"inference, hidden {hidden}, batch {batch}", graph, args.count, 17, args.rounds,
                           lambda n: inputs(count=args.count, batch=batch, rounds=n), theirs.get(f"by hand {batch}"))
        for hidden in (150, 300) if "training" in args.only else ():
            graph = trees_training.compiled(args.dfc, "trees_training.df", hidden, WORDS, folder)
            if there:
                torch.set_grad_enabled(True)
            for batch in args.batch:
                theirs = trees_training.torch_rates("TreeLSTM", hidden, [batch], make_all(args.count), WORDS, 0, args.rounds, ("in place", "added to")) if there else {}
                bad += row(args.dfc, f"training, hidden {hidden}, batch {batch}", graph, args.count, 3, 1,
                           lambda n: inputs(model=0, steps=True, count=args.count, batch=batch, rounds=n), theirs.get(f"by hand {batch}"))
        for batch in (1, 8, 32) if "fold" in args.only else ():
            theirs = papers.torch_by_hand([batch], args.rounds) if there else {}
            bad += row(args.dfc, f"Fold's benchmark, {batch} at once", os.path.join(HERE, "papers", "fold.df"), batch, 1 + 2048 // batch, args.rounds,
                       lambda n: inputs(count=batch, alike=False, rounds=n), theirs.get(batch))
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
