#!/usr/bin/env python3
"""Inference of a TreeLSTM over random trees, ours and PyTorch's, in trees a second: trees.py --dfc build/dfc [--hidden 150 300] [--batch 1 10 25 64]

Binary TreeLSTM, embedding 300, random trees of 20 to 40 leaves (tests/bench/trees.df makes them; here they are made again). On one
thread each, best of the rounds, in processor time (so that other work on the machine counts little):

  batched    tests/bench/trees.df, a plain recursive function, with --batch=auto: a batch of trees after the other
  unbatched  the same with --batch=off
  by hand    PyTorch, all nodes of one height in a batch of trees at once; which nodes these are is worked out before the time is
             taken, and is the best case for it: gates in one product, states in one tensor, no gradients recorded
  by node    PyTorch, one node after the other

The values of all four are compared. --training measures steps of training instead (trees_training.py), --memory their peak memory
(trees_memory.py). --torch PYTHON says which interpreter has torch; without torch ours runs alone.
"""

import argparse
import json
import os
import re
import sys
import tempfile
import time

import trees_memory
import trees_training
from random_trees import WORDS, make_all, schedule
from rates import cell, differ, inputs, rate, ratio, timed, torch_answer

HERE = os.path.dirname(os.path.abspath(__file__))
EMBEDDING = 300


# ---------------------------------------------------------------- PyTorch


def torch_rates(hidden, batches, count, rounds, one_by_one=True):
    import torch

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)

    def waves(scale, k, *shape):
        n = 1
        for d in shape:
            n *= d
        return (scale * torch.sin(k * torch.arange(n, dtype=torch.float32))).reshape(*shape)

    leaf_w, leaf_b = waves(0.1, 0.7, EMBEDDING, 2 * hidden), waves(0.1, 1.1, 2 * hidden)
    node_w, node_b = waves(0.1, 0.9, 2 * hidden, 5 * hidden), waves(0.1, 1.3, 5 * hidden)
    embeddings = waves(1, 0.37, WORDS, EMBEDDING)
    trees = make_all(count)

    def leaf(x):
        c, o = torch.addmm(leaf_b, x, leaf_w).chunk(2, 1)
        return torch.sigmoid(o) * torch.tanh(c), c

    def node(hl, cl, hr, cr):
        i, o, u, fl, fr = torch.addmm(node_b, torch.cat((hl, hr), 1), node_w).chunk(5, 1)
        c = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(fl) * cl + torch.sigmoid(fr) * cr
        return torch.sigmoid(o) * torch.tanh(c), c

    def by_node(tree):
        if isinstance(tree, int):
            return leaf(embeddings[tree : tree + 1])
        return node(*by_node(tree[0]), *by_node(tree[1]))

    def planned(part):
        nodes, steps, roots, first = schedule(part)
        return torch.tensor(nodes[:first[1]]), [(torch.tensor(l), torch.tensor(r)) for l, r in steps], torch.tensor(roots), first

    def by_hand(plan):
        words, steps, roots, first = plan
        h, c = torch.empty(first[-1], hidden), torch.empty(first[-1], hidden)
        h[: first[1]], c[: first[1]] = leaf(embeddings.index_select(0, words))
        for k, (left, right) in enumerate(steps, 1):
            at = slice(first[k], first[k + 1])
            h[at], c[at] = node(
                h.index_select(0, left), c.index_select(0, left), h.index_select(0, right), c.index_select(0, right)
            )
        return h.index_select(0, roots).sum().item()

    def best(work):
        seconds = value = None
        for _ in range(rounds):
            began = time.process_time()
            value = work()
            took = time.process_time() - began
            seconds = took if seconds is None else min(seconds, took)
        return count / seconds, value

    rates = {"by node": best(lambda: sum(by_node(t)[0].sum().item() for t in trees))} if one_by_one else {}
    for batch in batches:
        plans = [planned(trees[i : i + batch]) for i in range(0, count, batch)]
        rates[f"by hand {batch}"] = best(lambda: sum(by_hand(plan) for plan in plans))
    return rates


# ---------------------------------------------------------------- ours


def our_rate(dfc, path, batch, count, rounds, how):
    def run(n):
        seconds, text = timed(dfc, path, "--threads=1", f"--batch={how}", *inputs(count=count, batch=batch, rounds=n))
        return seconds, float(text)

    return rate(run, count, rounds, 4)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--hidden", type=int, nargs="+", default=[150, 300])
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 10, 25, 64])
    parser.add_argument("--count", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--torch", default=sys.executable)
    parser.add_argument("--as-torch", type=int, help=argparse.SUPPRESS)  # the hidden size: print PyTorch's rates as JSON
    parser.add_argument("--training", action="store_true", help="steps of training, of a TreeLSTM and a TreeRNN")
    parser.add_argument("--memory", action="store_true", help="peak memory of steps of training")
    parser.add_argument("--model", help=argparse.SUPPRESS)
    parser.add_argument("--way", help=argparse.SUPPRESS)
    args = parser.parse_args()
    sys.setrecursionlimit(10000)
    if args.memory and args.as_torch:
        print(json.dumps(trees_memory.torch_peaks(args.model, args.as_torch, args.batch[0], make_all(args.count), args.way)))
        return 0
    if args.memory:
        trees_memory.compare(args)
        return 0
    if args.training and args.as_torch:
        print(json.dumps(trees_training.torch_rates(args.model, args.as_torch, args.batch, make_all(args.count), args.rounds)))
        return 0
    if args.training:
        return trees_training.compare(args) > 0
    if args.as_torch:
        print(json.dumps(torch_rates(args.as_torch, args.batch, args.count, args.rounds)))
        return 0
    with open(os.path.join(HERE, "trees.df")) as text:
        program = text.read()
    bad = 0
    print("| hidden | batch | batched | unbatched | PyTorch by hand | PyTorch by node | batched / by hand |\n|---|---|---|---|---|---|---|")
    for hidden in args.hidden:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trees.df")
            with open(path, "w") as out:
                out.write(re.sub(r"Cell 300 150", f"Cell {EMBEDDING} {hidden}", program))
            theirs = torch_answer(args.torch, __file__, "--as-torch", hidden, "--count", args.count, "--rounds", args.rounds,
                                  "--batch", *args.batch)
            off = our_rate(args.dfc, path, 1, args.count, args.rounds, "off")
            for batch in args.batch:
                ours = our_rate(args.dfc, path, batch, args.count, args.rounds, "auto")
                hand, node = theirs.get(f"by hand {batch}"), theirs.get("by node")
                bad += differ(ours, (off, hand, node))
                print(f"| {hidden} | {batch} | {cell(ours)} | {cell(off)} | {cell(hand)} | {cell(node)} | {ratio(ours, hand)} |", flush=True)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
