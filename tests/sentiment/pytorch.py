"""The models of samples/sentiment in PyTorch, node by node, in double precision. See run.py."""

import re

import torch

BATCH = 25


def read_trees(path, rows):
    """Trees up to the first empty line, as (label, word number) or (label, left, right)."""
    numbers = {}

    def tree(tokens, at):
        """The tree whose `(` is tokens[at], and where the tokens behind it begin."""
        label = int(tokens[at + 1])
        if tokens[at + 2] != "(":
            number = numbers.setdefault(tokens[at + 2], len(numbers) + 1)
            return (label, number if number < rows else 0), at + 4
        left, at = tree(tokens, at + 2)
        right, at = tree(tokens, at)
        return (label, left, right), at + 1

    with open(path, encoding="utf-8") as file:
        first = file.read().split("\n\n")[0]
    return [tree(re.findall(r"[()]|[^ ()]+", line), 0)[0] for line in first.split("\n") if line]


def waves(size, k, *shape):
    count = torch.arange(1, 1 + torch.Size(shape).numel(), dtype=torch.float64)
    return (size * torch.sin(k * count)).reshape(shape).requires_grad_()


SHAPES = {
    "treernn": lambda h: ((20000, h), (2 * h, h), (h,), (h, 5), (5,)),
    "rntn": lambda h: ((20000, h), (2 * h, 2 * h * h), (2 * h, h), (h,), (h, 5), (5,)),
    "treelstm": lambda h: ((20000, h), (h, 3 * h), (3 * h,), (2 * h, 5 * h), (5 * h,), (h, 5), (5,)),
}
HIDDEN = {"treernn": 32, "rntn": 16, "treelstm": 32}


def leaf(model, p, word):
    """The state of a leaf; the hidden part is first."""
    x = p[0][word]
    if model != "treelstm":
        return (torch.tanh(x),)
    i, o, u = (x @ p[1] + p[2]).chunk(3)
    c = torch.sigmoid(i) * torch.tanh(u)
    return torch.sigmoid(o) * torch.tanh(c), c


def encode(model, p, tree):
    """The state of a node, the summed loss of all nodes from it on, and their number."""
    loss, count = 0, 1
    if len(tree) == 2:
        state = leaf(model, p, tree[1])
    else:
        left, loss_l, count_l = encode(model, p, tree[1])
        right, loss_r, count_r = encode(model, p, tree[2])
        loss, count = loss_l + loss_r, 1 + count_l + count_r
        x = torch.cat((left[0], right[0]))
        if model == "treernn":
            state = (torch.tanh(x @ p[1] + p[2]),)
        elif model == "rntn":
            state = (torch.tanh(x @ (x @ p[1]).reshape(len(x), -1) + x @ p[2] + p[3]),)
        else:
            i, o, u, fl, fr = (x @ p[3] + p[4]).chunk(5)
            c = torch.sigmoid(i) * torch.tanh(u) + torch.sigmoid(fl) * left[1] + torch.sigmoid(fr) * right[1]
            state = (torch.sigmoid(o) * torch.tanh(c), c)
    scores = state[0] @ p[-2] + p[-1]
    return state, loss - torch.log_softmax(scores, 0)[tree[0]], count


def losses(model, path, steps, rate, sizes):
    torch.set_num_threads(1)
    shapes = SHAPES[model](HIDDEN[model])
    p = [waves(size, k, *shape) for (size, k), shape in zip(sizes, shapes)]
    trees = read_trees(path, shapes[0][0])
    batches = [trees[i:i + BATCH] for i in range(0, len(trees), BATCH)]
    optimiser = torch.optim.Adagrad(p, lr=rate, eps=1e-10)
    result = []
    for step in range(steps):
        parts = [encode(model, p, tree)[1:] for tree in batches[step % len(batches)]]
        loss = sum(part[0] for part in parts) / sum(part[1] for part in parts)
        result.append(loss.item())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return result
