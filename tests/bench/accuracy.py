#!/usr/bin/env python3
"""Does training reach what PyTorch's reaches: accuracy.py --dfc build/dfc --train train.txt --dev dev.txt [--seeds 5] [--epochs 5]

samples/sentiment/MODEL.df is trained as it stands, from --seeds different first weights, and the same model in PyTorch with the same
optimiser, batches, order of trees and distributions of first weights (the random numbers differ). Per epoch: the share of held-out trees
whose root is classified right, the mean over the seeds and the standard deviation. --log FILE.csv is for scripts/plot-log.

PyTorch (--torch PYTHON) computes all nodes of one height in a batch of trees at once, in Float like the sample. Times are of the processor, without
reading the trees here, and without reading and planning there; the sample also judges the trees it trains on.
"""

import argparse
import csv
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

from rates import inputs, timed

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BATCH, ROWS, RATE = 25, 20000, 0.05


# ---------------------------------------------------------------- PyTorch


def torch_run(model, train_path, dev_path, seed, epochs):
    """The share of held-out roots that are right after each epoch, and the seconds of processor time it all took."""
    import torch
    from random_trees import schedule

    sys.path.insert(0, os.path.join(ROOT, "tests", "sentiment"))
    import pytorch

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    hidden = pytorch.HIDDEN[model]

    def drawn(shape, table):
        if len(shape) == 1:
            return torch.zeros(shape)
        if table:
            return 0.1 * torch.randn(shape)
        return (torch.rand(shape) - 0.5) * 2 / (shape[0] * shape[1]) ** 0.5  # `evenly` of NN

    p = [drawn(shape, i == 0).requires_grad_() for i, shape in enumerate(pytorch.SHAPES[model](hidden))]
    with tempfile.NamedTemporaryFile("w", suffix=".txt", delete=False, encoding="utf-8") as file:
        for path in (train_path, dev_path):
            with open(path, encoding="utf-8") as text:
                file.write(text.read().strip("\n") + "\n")
    trees = pytorch.read_trees(file.name, ROWS)
    os.remove(file.name)
    with open(train_path, encoding="utf-8") as text:
        count = sum(1 for line in text if line.strip())
    train, dev = trees[:count], trees[count:]

    def plan(part):
        """The words, by height the numbers of the children, the classes of all nodes, the numbers of the roots."""
        nodes, steps, roots, first = schedule(part, lambda tree: tree[1:] if len(tree) == 3 else None)
        words, labels = [tree[1] for tree in nodes[:first[1]]], [tree[0] for tree in nodes]
        return torch.tensor(words), [(torch.tensor(l), torch.tensor(r)) for l, r in steps], torch.tensor(labels), torch.tensor(roots)

    def states(words, steps):
        x = p[0].index_select(0, words)
        if model == "treelstm":
            i, o, u = torch.addmm(p[2], x, p[1]).chunk(3, 1)
            c = torch.sigmoid(i) * torch.tanh(u)
            h = torch.sigmoid(o) * torch.tanh(c)
        else:
            h = c = torch.tanh(x)
        for left, right in steps:
            both = torch.cat((h.index_select(0, left), h.index_select(0, right)), 1)
            if model == "treelstm":
                i, o, u, fl, fr = torch.addmm(p[4], both, p[3]).chunk(5, 1)
                new = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(fl) * c.index_select(0, left) + torch.sigmoid(fr) * c.index_select(0, right)
                h, c = torch.cat((h, torch.sigmoid(o) * torch.tanh(new))), torch.cat((c, new))
            elif model == "treernn":
                h = torch.cat((h, torch.tanh(torch.addmm(p[2], both, p[1]))))
            else:
                square = torch.bmm(both.unsqueeze(1), (both @ p[1]).reshape(len(both), both.shape[1], -1)).squeeze(1)
                h = torch.cat((h, torch.tanh(square + both @ p[2] + p[3])))
        return h

    optimiser = torch.optim.Adagrad(p, lr=RATE, eps=1e-10)
    batches = [plan(train[i:i + BATCH]) for i in range(0, len(train), BATCH)]
    held_out = [plan(dev[i:i + 250]) for i in range(0, len(dev), 250)]
    curve, began = [], time.process_time()
    for _ in range(epochs):
        for words, steps, labels, _roots in batches:
            loss = torch.nn.functional.cross_entropy(states(words, steps) @ p[-2] + p[-1], labels)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        with torch.no_grad():
            right = 0
            for words, steps, labels, roots in held_out:
                scores = states(words, steps).index_select(0, roots) @ p[-2] + p[-1]
                right += (scores.argmax(1) == labels.index_select(0, roots)).sum().item()
        curve.append(right / len(dev))
    return curve, time.process_time() - began


# ---------------------------------------------------------------- ours


def our_run(dfc, model, train_path, dev_path, seed, epochs):
    with open(os.path.join(ROOT, "samples", "sentiment", model + ".df"), encoding="utf-8") as file:
        text = file.read().replace("(newModel 1)", f"(newModel {seed})")
    text = re.sub(r"^-- CASE:.*\n", "", text, flags=re.M)
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, model + ".df")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        def run(n):
            return timed(dfc, source, "--no-warnings", "--threads=1", *inputs(train="@" + train_path, dev="@" + dev_path, epochs=n))
        (reading, _), (seconds, text) = run(0), run(epochs)
    return [float(value) for value in re.findall(r"dev_accuracy=(\S+)", text)], seconds - reading


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--train", required=True)
    parser.add_argument("--dev", required=True)
    parser.add_argument("--model", choices=("treernn", "rntn", "treelstm"), default="treelstm")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--log")
    parser.add_argument("--torch", default=sys.executable)
    parser.add_argument("--as-torch", type=int, help=argparse.SUPPRESS)  # a seed: print PyTorch's curve as JSON
    args = parser.parse_args()
    sys.setrecursionlimit(10000)
    if args.as_torch is not None:
        print(json.dumps(torch_run(args.model, args.train, args.dev, args.as_torch, args.epochs)))
        return
    runs = {"dfc": [], "PyTorch": []}
    for seed in range(1, args.seeds + 1):
        runs["dfc"].append(our_run(args.dfc, args.model, args.train, args.dev, seed, args.epochs))
        done = subprocess.run([args.torch, __file__, *sys.argv[1:], "--as-torch", str(seed)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        runs["PyTorch"].append(json.loads(done.stdout))
        print(f"seed {seed}: " + ", ".join(f"{name} {100 * run[-1][0][-1]:.1f} % in {run[-1][1]:.1f} s" for name, run in runs.items()), flush=True)
    rows = []
    print("| epoch | dfc, % right | PyTorch, % right |\n|---|---|---|")
    for epoch in range(args.epochs):
        row = [epoch + 1]
        for name in runs:
            values = [100 * curve[epoch] for curve, _ in runs[name]]
            row += [statistics.mean(values), statistics.pstdev(values)]
        rows.append(row)
        print("| %d | %.1f ± %.1f | %.1f ± %.1f |" % tuple(row), flush=True)
    if args.log:
        with open(args.log, "w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["epoch", "dfc_right", "PyTorch_right"], *([row[0], row[1], row[3]] for row in rows)])


if __name__ == "__main__":
    main()
