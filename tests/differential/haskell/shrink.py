"""Makes a random program that shows a fault smaller: expressions give way to their parts or to leaves, definitions go.

A candidate need not be a program: who decides whether it is still bad asks GHC, too.
"""

from generate import Generator
from tree import Node

# Kinds of nodes that may simply be left out of their parent, if some of the kind stay.
DROPPED = {"alt": 1, "clause": 1, "bind": 0, "fun": 0, "text": 0, "block": 0, "def": 0, "gen": 0, "cond": 0, "letq": 0, "branch": 1}
LEAVES = {"Int": "1", "Integer": "1", "Small": "1", "Bool": "True", "Char": "'a'", "Double": "1.0", "Ordering": "EQ", "()": "()"}
NOTHINGS = {"Maybe": "Nothing", "Map": "M.empty", "Set": "S.empty"}


def leaf(t):
    """The smallest term of a type, or None."""
    if isinstance(t, str):
        return LEAVES.get(t)
    if t[0] == "[]":
        return "[]"
    if t[0] in NOTHINGS:
        return NOTHINGS[t[0]]
    if t[0] == "IO":
        inner = leaf(t[1])
        return "(return %s)" % inner if inner else None
    if t[0] == "(,)":
        parts = [leaf(u) for u in t[1:]]
        return "(%s)" % ", ".join(parts) if all(parts) else None
    if t[0] == "->":
        inner = leaf(t[2])
        return "(\\_ -> %s)" % inner if inner else None
    return None


def smaller(node):
    """Trees that differ in one place, large steps first."""
    for i, kid in enumerate(node.kids):
        droppable = kid.op in DROPPED and sum(k.op == kid.op for k in node.kids) > DROPPED[kid.op]
        if droppable and not (kid.op == "def" and kid.info[0] == "main"):
            yield node.with_kids(node.kids[:i] + node.kids[i + 1:])
    if node.type is not None:
        if node.op not in ("lit", "var") and (words := leaf(node.type)):
            yield Node("lit", node.type, info=words)
        for below in node.walk():
            if below is not node and below.type == node.type and below.op not in ("lit", "var"):
                yield below
        for below in node.walk():
            if below.type == node.type and below.op == "var" and below is not node:
                yield below
                break
    for i, kid in enumerate(node.kids):
        for new in smaller(kid):
            yield node.with_kids(node.kids[:i] + [new] + node.kids[i + 1:])


def shrink(seed, bad, attempts=250):
    """The text of the smallest program found of which `bad` still holds."""
    tree = Generator(seed).program()
    tried = set()
    again = True
    while again and attempts > 0:
        again = False
        for candidate in smaller(tree):
            text = str(candidate)
            if text in tried:
                continue
            tried.add(text)
            attempts -= 1
            if attempts <= 0:
                break
            if bad(text):
                tree, again = candidate, True
                break
    return str(tree)
