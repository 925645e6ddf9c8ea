"""Peak memory of training, ours and PyTorch's: trees.py --memory.

The models, trees and steps of trees_training.py, one round over the trees, each way in a process of its own. Two figures in MB: the
most that the process had of the machine's memory, and how much of that came after it began, with the program loaded and the
weights made (ours) or torch imported (theirs).
"""

import json
import os
import resource
import subprocess
import sys
import tempfile

import trees_training
from rates import inputs

HERE = os.path.dirname(os.path.abspath(__file__))
WAYS = ("in place", "added to", "by node")  # PyTorch's


def peak_of(command):
    """MB, the most that a process had."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{command}: {status}")
    return usage.ru_maxrss / 1024


def torch_peaks(model, hidden, batch, trees, words, way):
    """What this process has before and at most."""
    import torch

    torch.zeros(1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    trees_training.torch_rates(model, hidden, [batch], trees, words, len(trees), 1, [way])
    return before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def compare(args, words, given):
    print("| model | hidden | batch | way | peak, MB | beyond the start, MB |\n|---|---|---|---|---|---|")
    for model, hidden in [row for row in trees_training.MODELS if row[1] in args.hidden]:
        with tempfile.TemporaryDirectory() as folder:
            graph = trees_training.compiled(args.dfc, "trees_training.df", hidden, words, folder)
            for batch in args.batch:
                for how in ("auto", "off"):
                    begun, peak = (peak_of([args.dfc, "run", graph, "--threads=1", "--batch=" + how, *given,
                                            *inputs(model=int(model != "TreeLSTM"), steps=True, count=args.count, batch=batch, rounds=n)])
                                   for n in (0, 1))
                    print(f"| {model} | {hidden} | {batch} | `--batch={how}` | {peak:.0f} | {peak - begun:.0f} |", flush=True)
                for way in WAYS:
                    done = subprocess.run([args.torch, os.path.join(HERE, "trees.py"), "--dfc", "-", "--memory", "--way", way,
                                           *map(str, trees_training.their_options(args, model, hidden, batch))],
                                          capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
                    if done.returncode == 0:
                        begun, peak = json.loads(done.stdout)
                        print(f"| {model} | {hidden} | {batch} | PyTorch, {way} | {peak:.0f} | {peak - begun:.0f} |", flush=True)
