#!/usr/bin/env python3
"""Inference of networks over trees, ours and PyTorch's, in trees a second: trees.py --dfc build/dfc [--batch 1 10 25 64] [--trees train.txt]

A binary TreeLSTM and a TreeRNN, embedding 300, over the first trees of a treebank, or random trees of 20 to 40 leaves (tests/bench/trees.df
makes them; here they are made again). On one thread each, best of the rounds, in processor time (so that other work on the machine counts
little):

  batched    tests/bench/trees.df, plain recursive functions, with --batch=auto: a batch of trees after the other
  unbatched  the same with --batch=off, on the first trees (--few)
  by hand    PyTorch, all nodes of one height in a batch of trees at once; which nodes these are is worked out before the time is
             taken, and is the best case for it: gates in one product, states in one tensor, no gradients recorded
  by node    PyTorch, one node after the other, on the first trees

The values are compared. --training measures steps of training instead (trees_training.py), --memory their peak memory (trees_memory.py).
--torch PYTHON says which interpreter has torch; without torch ours runs alone.
"""

import argparse
import functools
import json
import os
import sys
import tempfile
import time

import trees_memory
import trees_training
from random_trees import WORDS, codes, make_all, read_treebank, schedule
from rates import cell, differ, inputs, rate, ratio, timed, torch_answer
from trees_training import waves

EMBEDDING = 300


# ---------------------------------------------------------------- PyTorch


def torch_rates(model, hidden, batches, trees, words, few, rounds):
    """(Trees a second, value) by way. `few`: how many trees are computed node by node."""
    import torch

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    lstm = model == "TreeLSTM"
    widths = (2 * hidden, 5 * hidden) if lstm else (hidden, hidden)
    leaf_w, leaf_b = waves(0.1, 0.7, EMBEDDING, widths[0]), waves(0.1, 1.1, widths[0])
    node_w, node_b = waves(0.1, 0.9, 2 * hidden, widths[1]), waves(0.1, 1.3, widths[1])
    embeddings = waves(1, 0.37, words, EMBEDDING)
    leaf_of, node_of = trees_training.cells(model)
    leaf, node = functools.partial(leaf_of, leaf_w, leaf_b), functools.partial(node_of, node_w, node_b)

    def by_node(tree):
        if isinstance(tree, int):
            return leaf(embeddings[tree : tree + 1])
        return node(*(s for pair in zip(by_node(tree[0]), by_node(tree[1])) for s in pair))

    def planned(part):
        nodes, steps, roots, first = schedule(part)
        return torch.tensor(nodes[:first[1]]), [(torch.tensor(l), torch.tensor(r)) for l, r in steps], torch.tensor(roots), first

    def by_hand(plan):
        leaves, steps, roots, first = plan
        states = [torch.empty(first[-1], hidden) for _ in range(1 + lstm)]
        for k in range(len(first) - 1):
            if k == 0:
                new = leaf(embeddings.index_select(0, leaves))
            else:
                new = node(*(s.index_select(0, at) for s in states for at in steps[k - 1]))
            for state, rows in zip(states, new):
                state[first[k] : first[k + 1]] = rows
        return states[0].index_select(0, roots).sum().item()

    def best(work, count):
        seconds = value = None
        for _ in range(rounds):
            began = time.process_time()
            value = work()
            took = time.process_time() - began
            seconds = took if seconds is None else min(seconds, took)
        return count / seconds, value

    rates = {"by node": best(lambda: sum(by_node(t)[0].sum().item() for t in trees[:few]), few)}
    for batch in batches:
        plans = [planned(trees[i : i + batch]) for i in range(0, len(trees), batch)]
        rates[f"by hand {batch}"] = best(lambda: sum(by_hand(plan) for plan in plans), len(trees))
    return rates


# ---------------------------------------------------------------- ours


def our_rate(dfc, graph, model, batch, count, given, rounds, how):
    def run(n):
        seconds, text = timed(dfc, graph, "--threads=1", f"--batch={how}", *given,
                              *inputs(model=int(model != "TreeLSTM"), count=count, batch=batch, rounds=n))
        return seconds, float(text)

    return rate(run, count, rounds, 4)


def compare(args, trees, words, given):
    """Prints a table; the number of values that differ."""
    bad = 0
    print("| model | hidden | batch | batched | unbatched | PyTorch by hand | PyTorch by node | batched / by hand |\n|---|---|---|---|---|---|---|---|")
    few = min(args.few, len(trees))
    for model, hidden in trees_training.MODELS:
        with tempfile.TemporaryDirectory() as folder:
            graph = trees_training.compiled(args.dfc, "trees.df", hidden, words, folder)
            for batch in args.batch:
                theirs = torch_answer(args.torch, __file__, *trees_training.their_options(args, model, hidden, batch))
                ours = our_rate(args.dfc, graph, model, batch, len(trees), given, args.rounds, "auto")
                off = our_rate(args.dfc, graph, model, 1, few, given, args.rounds, "off")
                hand, node = theirs.get(f"by hand {batch}"), theirs.get("by node")
                bad += differ(ours, (hand,)) + differ(off, (node,))
                print(f"| {model} | {hidden} | {batch} | {cell(ours)} | {cell(off)} | {cell(hand)} | {cell(node)} | {ratio(ours, hand)} |", flush=True)
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--hidden", type=int, nargs="+", default=[150, 300], help="with --memory: of these rows only")
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 10, 25, 64])
    parser.add_argument("--trees", help="a file with a tree a line, (3 (2 It) (4 ..)), in place of random trees")
    parser.add_argument("--count", type=int, default=256, help="how many trees")
    parser.add_argument("--few", type=int, default=64, help="how many of them without batches")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--torch", default=sys.executable)
    parser.add_argument("--training", action="store_true", help="steps of training")
    parser.add_argument("--memory", action="store_true", help="peak memory of steps of training")
    parser.add_argument("--as-torch", type=int, help=argparse.SUPPRESS)  # the hidden size: print PyTorch's rates as JSON
    parser.add_argument("--model", help=argparse.SUPPRESS)
    parser.add_argument("--way", help=argparse.SUPPRESS)
    args = parser.parse_args()
    sys.setrecursionlimit(10000)
    trees, words = read_treebank(args.trees, args.count) if args.trees else (make_all(args.count), WORDS)
    if args.as_torch:
        model = args.model, args.as_torch
        if args.memory:
            answer = trees_memory.torch_peaks(*model, args.batch[0], trees, words, args.way)
        elif args.training:
            answer = trees_training.torch_rates(*model, args.batch, trees, words, args.few, args.rounds)
        else:
            answer = torch_rates(*model, args.batch, trees, words, args.few, args.rounds)
        print(json.dumps(answer))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        given = []
        if args.trees:
            with open(os.path.join(folder, "codes"), "w") as out:
                print(list(codes(trees)), file=out)
            given = ["--input", f"given=@{out.name}"]
        if args.memory:
            trees_memory.compare(args, words, given)
            return 0
        return (trees_training if args.training else sys.modules[__name__]).compare(args, trees, words, given) > 0


if __name__ == "__main__":
    sys.exit(main())
