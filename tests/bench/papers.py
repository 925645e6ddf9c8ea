#!/usr/bin/env python3
"""The tables of the papers on recursive networks, repeated: papers.py --dfc build/dfc TABLE [--trees FILE]

Trees a second of processor time on one thread, of which reading the trees is no part. TABLE is one of

  methods   Tables 2 and 3 of "Recursion in static dataflow graphs": a TreeRNN by recursion, by iteration (a loop over the nodes in
            postorder, with a stack) and by unrolling (a program for each tree, compiled and run once)
  shapes    Table 1 of "Improving the expressiveness of deep learning frameworks with recursion" (EuroSys 2018): training of a
            TreeRNN on balanced, random and linear trees
  fold      the synthetic benchmark of "Deep learning with dynamic computation graphs": TreeLSTM, state 1024, 128 leaves, 3.47
            GFLOP a tree, inference; batched by itself, unbatched, and in PyTorch, all nodes of a height at once by hand
  lengths   Figure 11 there: a TreeLSTM by recursion and by iteration, milliseconds a tree by the length of the sentence

The models are those of samples/sentiment. --trees is a treebank, such as the training set of the Stanford Sentiment Treebank, of
which the first --count trees are taken; else random trees are made. The papers' data and machines are others: compare ratios.
"""

import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time

from rates import inputs, rate, sized, timed, torch_answer

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = os.path.join(os.path.dirname(os.path.dirname(HERE)), "samples", "sentiment")


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def sample(model, hidden, words):
    """A sample with these sizes, and without its cases."""
    return re.sub(r"^-- CASE:.*\n", "", sized(read(SAMPLES, model + ".df"), hidden, words), flags=re.M)


def program(model, hidden, words):
    """The sample's model with these sizes, and the main of papers/main.df."""
    text = sample(model, hidden, words)
    text = text[:text.index("-- What a run goes on from")]
    return text + read(HERE, "papers", model + ".df") + "\n" + read(HERE, "papers", "main.df")


# ---------------------------------------------------------------- trees, as nested pairs of words, and as text


def tree_of(words, shape, rng):
    """A tree over these words: `balanced`, `linear`, or `random`."""
    if len(words) == 1:
        return words[0]
    cut = {"balanced": len(words) // 2, "linear": len(words) - 1}.get(shape) or rng.randint(1, len(words) - 1)
    return tree_of(words[:cut], shape, rng), tree_of(words[cut:], shape, rng)


def made(count, lengths, shape, words, seed=1):
    """Trees as text; the same sentences for every shape."""
    sentences, shapes = random.Random(seed), random.Random(seed)

    def text(tree):
        inner = f"w{tree}" if isinstance(tree, int) else f"{text(tree[0])} {text(tree[1])}"
        return f"({shapes.randint(0, 4)} {inner})"

    lines = []
    for _ in range(count):
        length = sentences.randint(*lengths)
        lines.append(text(tree_of([sentences.randint(1, words - 1) for _ in range(length)], shape, shapes)))
    return lines


# ---------------------------------------------------------------- measuring


def measured(dfc, graph, trees, how, what, batch, repeat):
    """Trees a second, and what was computed."""
    path = os.path.join(os.path.dirname(graph), "trees.txt")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(trees) + "\n")
    given = inputs(trees="@" + path, how=f'"{how}"', what=f'"{what}"', batch=batch)
    return rate(lambda n: timed(dfc, graph, "--threads=1", *given, *inputs(rounds=n)), len(trees), repeat, 3)


class Compiled:
    """A graph file of a model, in a folder of its own."""

    def __init__(self, dfc, model, hidden, words):
        self.folder = tempfile.TemporaryDirectory()
        source = os.path.join(self.folder.name, model + ".df")
        with open(source, "w", encoding="utf-8") as file:
            file.write(program(model, hidden, words))
        self.graph = source.replace(".df", ".graph")
        subprocess.run([dfc, source, "--no-warnings", "-o", self.graph], check=True)


def same(first, second):
    a, b = float(first), float(second)
    if abs(a - b) > 1e-4 * abs(a):
        sys.exit(f"recursion and iteration differ: {first} {second}")


def unrolled(text, training):
    """A program for one tree, of samples/sentiment/treernn.df: a let for each node, no recursion."""
    tree = parse(text)
    lets, words = [], {}

    def visit(node):
        label, inner = node
        if isinstance(inner, str):
            word = words.setdefault(inner, len(words) + 1)
            lets.append(f"h{len(lets)} = tanh (T.index (table m) {word})")
        else:
            left, right = visit(inner[0]), visit(inner[1])
            lets.append(f"h{len(lets)} = tanh (T.vecmat (T.concat h{left} h{right}) (weight m) + bias m)")
        losses.append(f"nodeLoss m {label} h{len(lets) - 1}")
        return len(lets) - 1

    losses = []
    visit(tree)
    body = "\n".join("    " + let for let in lets)
    main = "lossOf (newModel 1)"
    if training:
        main = "case valueAndGrad lossOf (newModel 1) of (value, gradient) -> value + T.sum (weight (sgd 0.01 gradient (newModel 1)))"
    return f"lossOf :: Model -> R\nlossOf m = ({' + '.join(losses)}) / {len(losses)}\n  where\n{body}\n\nmain = {main}\n"


def parse(text):
    """A tree's text as (class, word or (left, right))."""
    tokens = re.findall(r"[()]|[^ ()]+", text)
    at = 0

    def one():
        nonlocal at
        label = int(tokens[at + 1])
        at += 2
        if tokens[at] == "(":
            inner = (one(), one())
        else:
            inner, at = tokens[at], at + 1
        at += 1
        return label, inner

    return one()


def unrolled_rate(dfc, trees, hidden, words, training):
    """Trees a second where each tree is a program of its own: compiled, loaded, run once."""
    text = sample("treernn", hidden, words)
    model, _, rest = text.partition("-- The state of a node")
    classes = rest[rest.index("-- ------"):rest.index("-- The mean of all")]
    text = model + classes
    began = os.times()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tree.df")
        for tree in trees:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text + unrolled(tree, training))
            done = subprocess.run([dfc, "run", "--no-warnings", path], capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
    ended = os.times()
    return len(trees) / (ended.children_user + ended.children_system - began.children_user - began.children_system)


# ---------------------------------------------------------------- the tables


def methods(args, trees):
    compiled = Compiled(args.dfc, "treernn", args.hidden or 128, args.words)
    print("| TreeRNN | batch | recursion | iteration | unrolling | recursion / iteration |\n|---|---|---|---|---|---|")
    for what in ("inference", "training"):
        plain = unrolled_rate(args.dfc, trees[:args.unroll], args.hidden or 128, args.words, what == "training")
        for batch in args.batch:
            ours, value = measured(args.dfc, compiled.graph, trees, "recursion", what, batch, args.rounds)
            loop, other = measured(args.dfc, compiled.graph, trees, "iteration", what, batch, args.rounds)
            same(value, other)
            print(f"| {what} | {batch} | {ours:.0f} | {loop:.0f} | {plain:.1f} | {ours / loop:.2f} |", flush=True)


def shapes(args, trees):
    compiled = Compiled(args.dfc, "treernn", args.hidden or 128, args.words)
    print("| training, batch | balanced | random | linear |\n|---|---|---|---|")
    sets = [made(args.count, (20, 40), shape, args.words) for shape in ("balanced", "random", "linear")]
    for batch in args.batch:
        rates = [measured(args.dfc, compiled.graph, trees, "recursion", "training", batch, args.rounds)[0] for trees in sets]
        print(f"| {batch} | " + " | ".join(f"{r:.0f}" for r in rates) + " |", flush=True)


def lengths(args, trees):
    compiled = Compiled(args.dfc, "treelstm", args.hidden or 150, args.words)
    print("| words | recursion, inference | iteration, inference | recursion, training | iteration, training |\n|---|---|---|---|---|")
    for length in (10, 20, 50, 100, 200):
        some = made(max(4, 800 // length), (length, length), "random", args.words)
        row = [1000 / measured(args.dfc, compiled.graph, some, how, what, 1, args.rounds)[0]
               for what in ("inference", "training") for how in ("recursion", "iteration")]
        print(f"| {length} | " + " | ".join(f"{ms:.2f}" for ms in row) + " |", flush=True)


SIZE, LEAVES = 1024, 128


def torch_by_hand(batches, rounds):
    """Trees a second in PyTorch on one thread: a product for all nodes of one height in a batch of trees of different shapes."""
    import torch
    from random_trees import make, schedule

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)

    def waves(scale, k, *shape):
        return (scale * torch.sin(k * torch.arange(shape[0] * shape[1], dtype=torch.float32))).reshape(*shape)

    table, leaf_w, node_w = waves(1, 0.37, 1000, SIZE), waves(0.05, 0.7, SIZE, 3 * SIZE), waves(0.05, 0.9, 2 * SIZE, 5 * SIZE)
    rates = {}
    for batch in batches:
        made, seed = [], 7
        for _ in range(batch):
            tree, seed = make(LEAVES, seed)
            made.append(tree)
        nodes, steps, roots, first = schedule(made)
        words, roots = torch.tensor(nodes[:first[1]]), torch.tensor(roots)
        steps = [(torch.tensor(left), torch.tensor(right)) for left, right in steps]

        def run():
            h, c = torch.empty(first[-1], SIZE), torch.empty(first[-1], SIZE)
            i, o, u = (table.index_select(0, words) @ leaf_w).chunk(3, 1)
            c[:first[1]] = torch.sigmoid(i) * torch.tanh(u)
            h[:first[1]] = torch.sigmoid(o) * torch.tanh(c[:first[1]])
            for k, (left, right) in enumerate(steps, 1):
                at = slice(first[k], first[k + 1])
                both = torch.cat((h.index_select(0, left), h.index_select(0, right)), 1)
                i, o, u, fl, fr = (both @ node_w).chunk(5, 1)
                c[at] = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(fl) * c.index_select(0, left) + torch.sigmoid(fr) * c.index_select(0, right)
                h[at] = torch.sigmoid(o) * torch.tanh(c[at])
            return h.index_select(0, roots).sum().item()

        best, value = None, 0.0
        for _ in range(rounds + 1):
            began = time.process_time()
            value = run()
            took = time.process_time() - began
            best = took if best is None else min(best, took)
        rates[batch] = (batch / best, value)
    return rates


def fold(args, _):
    """Ours, with and without batching, on trees of one shape and of different shapes, beside PyTorch."""
    path = os.path.join(HERE, "papers", "fold.df")

    def ours(batch, alike, how):
        def run(n):
            seconds, text = timed(args.dfc, path, "--threads=1", f"--batch={how}", *inputs(count=batch, alike=alike, rounds=n))
            return seconds, float(text)

        # Enough trees that the time which their weights take to make is small beside theirs.
        return rate(run, batch, args.rounds, 1 + max(2, 32 // batch))

    theirs = torch_answer(args.torch, __file__, "fold", "--as-torch", "--rounds", args.rounds, "--batch", *args.batch)
    plain, _ = ours(1, False, "off")
    print("| trees at once | one shape | all shapes | unbatched | PyTorch by hand, all shapes | all shapes / by hand |\n|---|---|---|---|---|---|")
    for batch in args.batch:
        alike, _ = ours(batch, True, "auto")
        mixed, value = ours(batch, False, "auto")
        hand = theirs.get(str(batch))
        if hand and abs(hand[1] - value) > 1e-3 * max(1, abs(value)):
            sys.exit(f"values differ: {value} and {hand[1]}")
        print(f"| {batch} | {alike:.1f} | {mixed:.1f} | {plain:.1f} | " + (f"{hand[0]:.1f} | {mixed / hand[0]:.2f} |" if hand else "– | – |"), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", choices=("methods", "shapes", "lengths", "fold"))
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--trees", help="a treebank")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--unroll", type=int, default=10, help="so many of the trees are unrolled")
    parser.add_argument("--words", type=int, default=4000)
    parser.add_argument("--hidden", type=int)
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 5, 10, 25])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--torch", default=sys.executable, help="an interpreter that has torch, for `fold`")
    parser.add_argument("--as-torch", action="store_true", help=argparse.SUPPRESS)  # print PyTorch's rates as JSON
    args = parser.parse_args()
    sys.setrecursionlimit(10000)
    if args.as_torch:
        print(json.dumps(torch_by_hand(args.batch, args.rounds)))
        return
    trees = read(args.trees).splitlines()[:args.count] if args.trees else made(args.count, (10, 30), "random", args.words)
    {"methods": methods, "shapes": shapes, "lengths": lengths, "fold": fold}[args.table](args, trees)


if __name__ == "__main__":
    main()
