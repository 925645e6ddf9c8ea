"""Trees for benchmarks: the random ones that tests/bench/*.df make, made again; a treebank's; and the order in which hand-written batching computes
them. A leaf is the number of its word, a node a pair."""

import itertools
import re

WORDS = 1000


class Leaf(int):
    """A treebank's leaf: its word, and its class as `label`."""


class Node(tuple):
    """A treebank's node: its two children, and its class as `label`."""


def class_of(tree):
    """From 0 to 4. Random trees have none of their own: a leaf's comes from its word."""
    return getattr(tree, "label", tree % 5 if isinstance(tree, int) else 3)


def read_treebank(path, count):
    """The first `count` trees of a file with a tree a line, `(3 (2 It) (4 ..))`, and how many words there are; these are numbered as they come."""
    words = {}

    def read(tokens):
        label = int(next(tokens)[1:])
        token = next(tokens)
        if token[0] != "(":
            next(tokens)  # )
            made = Leaf(words.setdefault(token, len(words)))
        else:
            left = read(itertools.chain((token,), tokens))
            made = Node((left, read(tokens)))
            next(tokens)
        made.label = label
        return made

    with open(path, encoding="utf-8") as file:
        trees = [read(iter(re.findall(r"\(\d|\)|[^() \t\n]+", line))) for line in file if line.strip()][:count]
    return trees, len(words)


def codes(trees):
    """As the programs take them, parents first: a leaf is its word times five and its class, a node -1 less its class."""
    for tree in trees:
        if isinstance(tree, int):
            yield tree * 5 + class_of(tree)
        else:
            yield -1 - class_of(tree)
            yield from codes(tree)


def following(seed):
    return (seed * 1103515245 + 12345) % 2147483648


def make(leaves, seed):
    """As `make` in trees.df: a leaf is its word, a node a pair."""
    seed = following(seed)
    if leaves == 1:
        return seed // 65536 % WORDS, seed
    left = 1 + seed // 65536 % (leaves - 1)
    a, seed = make(left, seed)
    b, seed = make(leaves - left, seed)
    return (a, b), seed


def make_all(count, seed=7):
    trees = []
    for _ in range(count):
        seed = following(seed)
        tree, seed = make(20 + seed // 65536 % 21, seed)
        trees.append(tree)
    return trees


def children(tree):
    """The two children of a tree as `make` has it, or None."""
    return None if isinstance(tree, int) else tree


def schedule(part, children=children):
    """The nodes of these trees height by height, leaves first, in the order in which they are numbered. Returns the nodes, for each further
    height the numbers of left and of right children, the numbers of the roots, and the number with which each height begins."""
    levels = []

    def visit(tree):
        height, pair = 0, children(tree)
        if pair:
            pair = (visit(pair[0]), visit(pair[1]))
            height = 1 + max(pair[0][0], pair[1][0])
        while len(levels) <= height:
            levels.append([])
        levels[height].append((tree, pair))
        return height, len(levels[height]) - 1

    roots = [visit(tree) for tree in part]
    first = [0]
    for level in levels:
        first.append(first[-1] + len(level))
    number = lambda place: first[place[0]] + place[1]
    steps = [([number(left) for _, (left, _) in level], [number(right) for _, (_, right) in level]) for level in levels[1:]]
    return [tree for level in levels for tree, _ in level], steps, [number(root) for root in roots], first
