"""Training of networks over trees, ours and PyTorch's: trees.py --training.

A TreeLSTM and a TreeRNN with a class at each node, embedding 300; the loss is summed over all nodes of a batch, and each batch is a step of
gradient descent, embeddings included. On one thread each, in processor time, the best of the rounds:

  batched    tests/bench/trees_training.df, plain recursive functions, --batch=auto
  unbatched  the same with --batch=off, on the first trees (--few)
  by hand    PyTorch, all nodes of one height in a batch at once; which nodes these are is worked out before the time is taken; the
             table's gradient is sparse. The better of two forms: states written into one tensor in place, and states in a tensor
             that the tape does not know, whose gradient each level adds to (no copy of it for each level)
  by node    PyTorch, one node after the other, on the first trees

The summed losses of a round must be the same. Also measured: our loss alone, so that a step can be held against it.
"""

import os
import subprocess
import tempfile
import time

from random_trees import class_of, schedule
from rates import cell, differ, inputs, rate, ratio, sized, timed, torch_answer

HERE = os.path.dirname(os.path.abspath(__file__))
EMBEDDING, RATE = 300, 0.0001
MODELS = [("TreeLSTM", 150), ("TreeLSTM", 300), ("TreeRNN", 128)]


# ---------------------------------------------------------------- PyTorch


def waves(scale, k, *shape):
    """As `waves` in the programs."""
    import torch

    n = 1
    for d in shape:
        n *= d
    return (scale * torch.sin(k * torch.arange(n, dtype=torch.float32))).reshape(*shape)


def cells(model):
    """What a leaf and a node compute of rows, given weight and bias first: hidden states, and of a TreeLSTM memories."""
    import torch

    def tree_lstm_leaf(weight, bias, x):
        c, o = torch.addmm(bias, x, weight).chunk(2, 1)
        return torch.sigmoid(o) * torch.tanh(c), c

    def tree_lstm_node(weight, bias, hl, hr, cl, cr):
        i, o, u, fl, fr = torch.addmm(bias, torch.cat((hl, hr), 1), weight).chunk(5, 1)
        c = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(fl) * cl + torch.sigmoid(fr) * cr
        return torch.sigmoid(o) * torch.tanh(c), c

    def tree_rnn_leaf(weight, bias, x):
        return (torch.tanh(torch.addmm(bias, x, weight)),)

    def tree_rnn_node(weight, bias, hl, hr):
        return (torch.tanh(torch.addmm(bias, torch.cat((hl, hr), 1), weight)),)

    return (tree_lstm_leaf, tree_lstm_node) if model == "TreeLSTM" else (tree_rnn_leaf, tree_rnn_node)


def torch_rates(model, hidden, batches, trees, words, few, rounds, ways=("in place", "added to", "by node")):
    """(Trees a second, losses) by way and batch; of several ways by hand, the best one's. `few`: how many trees are computed node by node."""
    import torch

    torch.set_num_threads(1)
    lstm = model == "TreeLSTM"

    def parameters():
        widths = (2 * hidden, 5 * hidden) if lstm else (hidden, hidden)
        made = [waves(1, 0.37, words, EMBEDDING), waves(0.1, 0.3, hidden, 5), torch.zeros(5),
                waves(0.1, 0.7, EMBEDDING, widths[0]), waves(0.1, 1.1, widths[0]),
                waves(0.1, 0.9, 2 * hidden, widths[1]), waves(0.1, 1.3, widths[1])]
        return [p.requires_grad_() for p in made]

    leaf_of, node_of = cells(model)

    def leaf(p, x):
        return leaf_of(p[3], p[4], x)

    def node(p, *states):
        return node_of(p[5], p[6], *states)

    def embed(p, words):
        return torch.nn.functional.embedding(words, p[0], sparse=True)

    def loss(p, h, labels):
        return torch.nn.functional.cross_entropy(torch.addmm(p[2], h, p[1]), labels, reduction="sum")

    def by_node(p, part):
        def encode(tree):
            if isinstance(tree, int):
                state = leaf(p, embed(p, torch.tensor([tree])))
                return state, loss(p, state[0], torch.tensor([class_of(tree)]))
            (left, a), (right, b) = encode(tree[0]), encode(tree[1])
            state = node(p, *(s for pair in zip(left, right) for s in pair))
            return state, a + b + loss(p, state[0], torch.tensor([class_of(tree)]))

        return sum(encode(tree)[1] for tree in part)

    def planned(part):
        """Words, by height the numbers of left and right children, where each height begins, classes."""
        nodes, steps, _, first = schedule(part)
        labels = torch.tensor([class_of(tree) for tree in nodes])
        return torch.tensor(nodes[:first[1]]), [(torch.tensor(l), torch.tensor(r)) for l, r in steps], first, labels

    def in_place(p, plan):
        words, steps, first, labels = plan
        states = [torch.empty(first[-1], hidden) for _ in range(1 + lstm)]
        for k in range(len(first) - 1):
            if k == 0:
                new = leaf(p, embed(p, words))
            else:
                new = node(p, *(s.index_select(0, at) for s in states for at in steps[k - 1]))
            for state, rows in zip(states, new):
                state[first[k] : first[k + 1]] = rows
        return loss(p, states[0], labels)

    class Put(torch.autograd.Function):
        @staticmethod
        def forward(ctx, token, rows, buffer, gradient, begin, end):
            buffer[begin:end] = rows
            ctx.of = gradient, begin, end
            return token.clone()

        @staticmethod
        def backward(ctx, token):
            gradient, begin, end = ctx.of
            return token, gradient[begin:end], None, None, None, None

    class Take(torch.autograd.Function):
        @staticmethod
        def forward(ctx, token, buffer, gradient, at):
            ctx.of = gradient, at
            return buffer.index_select(0, at)

        @staticmethod
        def backward(ctx, rows):
            gradient, at = ctx.of
            gradient.index_add_(0, at, rows)
            return torch.zeros(()), None, None, None

    class All(torch.autograd.Function):
        @staticmethod
        def forward(ctx, token, buffer, gradient):
            ctx.gradient = gradient
            return buffer

        @staticmethod
        def backward(ctx, rows):
            ctx.gradient.copy_(rows)
            return torch.zeros(()), None, None

    def added_to(p, plan):
        words, steps, first, labels = plan
        states = [(torch.empty(first[-1], hidden), torch.zeros(first[-1], hidden)) for _ in range(1 + lstm)]
        token = torch.zeros((), requires_grad=True)  # what orders the levels for the tape
        for k in range(len(first) - 1):
            if k == 0:
                new = leaf(p, embed(p, words))
            else:
                new = node(p, *[Take.apply(token, *state, at) for state in states for at in steps[k - 1]])
            for state, rows in zip(states, new):
                token = Put.apply(token, rows, *state, first[k], first[k + 1])
        return loss(p, All.apply(token, *states[0]), labels)

    def best(work, parts, count):
        seconds = None
        for _ in range(rounds):
            p, total = parameters(), 0.0
            began = time.process_time()
            for part in parts:
                value = work(p, part)
                value.backward()
                total += value.item()
                with torch.no_grad():
                    for weight in p:
                        weight.add_(weight.grad, alpha=-RATE)
                        weight.grad = None
            took = time.process_time() - began
            seconds = took if seconds is None else min(seconds, took)
        return count / seconds, total

    rates = {}
    for batch in batches:
        plans = [planned(trees[i : i + batch]) for i in range(0, len(trees), batch)]
        by_hand = [best(work, plans, len(trees)) for way, work in (("in place", in_place), ("added to", added_to)) if way in ways]
        if by_hand:
            rates[f"by hand {batch}"] = max(by_hand)
        if "by node" in ways:
            rates[f"by node {batch}"] = best(by_node, [trees[i : min(i + batch, few)] for i in range(0, few, batch)], few)
    return rates


# ---------------------------------------------------------------- ours


def compiled(dfc, source, hidden, words, folder):
    """The path of the graph of a program that stands here, with these sizes."""
    path, graph = (os.path.join(folder, "sized" + end) for end in (".df", ".graph"))
    with open(os.path.join(HERE, source)) as text, open(path, "w") as out:
        out.write(sized(text.read(), hidden, words))
    subprocess.run([dfc, path, "-o", graph], check=True)
    return graph


def their_options(args, model, hidden, batch):
    """Of trees.py, for PyTorch's part of a row."""
    words = ["--as-torch", hidden, "--model", model, "--batch", batch, "--count", args.count, "--few", args.few, "--rounds", args.rounds]
    return words + (["--trees", args.trees] if args.trees else [])


def our_rate(dfc, graph, model, steps, batch, count, given, rounds, how):
    """Of steps, or of the loss alone: trees a second, and the losses of a round."""

    def run(n):
        sizes = inputs(model=int(model != "TreeLSTM"), steps=steps, count=count, batch=batch, rounds=n)
        seconds, text = timed(dfc, graph, "--threads=1", f"--batch={how}", *given, *sizes)
        return seconds, float(text)

    return rate(run, count, rounds, 3)


def compare(args, trees, words, given):
    """Prints a table; the number of values that differ."""
    bad = 0
    print("| model | hidden | batch | batched | unbatched | PyTorch by hand | PyTorch by node | batched / by hand | step / loss |")
    print("|---|---|---|---|---|---|---|---|---|")
    few = min(args.few, len(trees))
    for model, hidden in MODELS:
        with tempfile.TemporaryDirectory() as folder:
            graph = compiled(args.dfc, "trees_training.df", hidden, words, folder)
            for batch in args.batch:
                theirs = torch_answer(args.torch, os.path.join(HERE, "trees.py"), "--training", *their_options(args, model, hidden, batch))
                ours = our_rate(args.dfc, graph, model, True, batch, len(trees), given, args.rounds, "auto")
                off = our_rate(args.dfc, graph, model, True, batch, few, given, args.rounds, "off")
                loss = our_rate(args.dfc, graph, model, False, batch, len(trees), given, args.rounds, "auto")
                hand, node = theirs.get(f"by hand {batch}"), theirs.get(f"by node {batch}")
                bad += differ(ours, (hand,)) + differ(off, (node,))
                print(f"| {model} | {hidden} | {batch} | {cell(ours)} | {cell(off)} | {cell(hand)} | {cell(node)} | {ratio(ours, hand)} | "
                      f"{loss[0] / ours[0]:.1f} |", flush=True)
    return bad
