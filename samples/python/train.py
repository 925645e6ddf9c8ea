"""A recursive encoder in dfc inside a PyTorch training loop: sentences of a small treebank, and how friendly each is.

    python samples/python/train.py [--epochs 12] [--trees FILE] [--first 500]

The tree goes into the graph as it is; PyTorch sees a layer with three parameters. Its head, its loss and its optimiser are PyTorch's.
"""

import argparse
import os
import re
import time

import dfc
import dfc.torch
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
WORDS, SIZE, CLASSES = 200, 16, 5


def read(line, words):
    """The label of the whole sentence, and its tree: ("Leaf", word) or ("Node", left, right)."""
    tokens = re.findall(r"[()]|[^\s()]+", line)
    at = 0

    def phrase():
        nonlocal at
        at += 2  # "(" and the label
        if tokens[at] == "(":
            tree = ("Node", phrase(), phrase())
        else:
            # All words beyond the first ones are one.
            tree = ("Leaf", words.setdefault(tokens[at], min(len(words), WORDS - 1)))
            at += 1
        at += 1
        return tree

    return int(tokens[1]), phrase()


class Classifier(torch.nn.Module):
    def __init__(self, program):
        super().__init__()
        self.encoder = dfc.torch.Module(program.encode, program.backEncode, words=torch.randn(WORDS, SIZE) * 0.5,
                                        weight=torch.randn(2 * SIZE, SIZE) / (2 * SIZE) ** 0.5, bias=torch.zeros(SIZE))
        self.head = torch.nn.Linear(SIZE, CLASSES)

    def forward(self, tree):
        return self.head(self.encoder(tree))


def train(epochs, trees, first):
    """The mean loss of each epoch."""
    torch.manual_seed(0)
    words = {}
    with open(trees) as file:
        sentences = [read(line, words) for line in file if line.strip()][:first]
    program = dfc.compile(path=os.path.join(HERE, "encoder.df"), export=["encode", "backEncode"], threads=1)
    model = Classifier(program)
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    losses = []
    for epoch in range(epochs):
        began, total, right = time.perf_counter(), 0.0, 0
        for label, tree in sentences:
            optimizer.zero_grad()
            scores = model(tree)
            loss = torch.nn.functional.cross_entropy(scores[None], torch.tensor([label]))
            loss.backward()
            optimizer.step()
            total += loss.item()
            right += int(scores.argmax()) == label
        losses.append(total / len(sentences))
        print("epoch %d: loss %.4f, %d of %d right, %.2f s" % (epoch + 1, losses[-1], right, len(sentences), time.perf_counter() - began))
    return losses


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--trees", default=os.path.join(HERE, "..", "sentiment", "reviews.txt"))
    parser.add_argument("--first", type=int, default=500)
    options = parser.parse_args()
    train(options.epochs, options.trees, options.first)
