"""The tree of a random Haskell program and its text.

One kind of node for all: `op` says what it is, `type` the type of an expression (None for what is none), `kids` the parts,
`info` the rest. Patterns are text. The tree keeps just what the shrinker needs.
"""

import haskell_types


class Node:
    __slots__ = ("op", "type", "kids", "info")

    def __init__(self, op, type=None, kids=(), info=None):
        self.op, self.type, self.kids, self.info = op, type, list(kids), info

    def __str__(self):
        return TEXT[self.op](self, *self.kids)

    def with_kids(self, kids):
        return Node(self.op, self.type, kids, self.info)

    def walk(self):
        """This node and all below it."""
        yield self
        for kid in self.kids:
            yield from kid.walk()


def operator(name):
    return not (name[0].isalnum() or name[0] in "_")


def prefix(name):
    return "(%s)" % name if operator(name) else name


def joined(nodes, separator=", "):
    return separator.join(map(str, nodes))


def call(node, *args):
    name, infix = node.info
    if len(args) == 2 and (infix or operator(name)):
        return "(%s %s %s)" % (args[0], name if operator(name) else "`%s`" % name, args[1])
    return "(%s)" % " ".join([prefix(name)] + [str(a) for a in args]) if args else prefix(name)


def choices(node, arrow):
    """The guarded alternatives of a clause or a case: ` = e`, ` | g = e | h, p <- x = e`."""
    parts = []
    for branch in node.kids:
        *quals, body = branch.kids
        parts.append(" %s%s %s" % ("| %s " % joined(quals) if quals else "", arrow, body))
    return "".join(parts)


def clause(node, name, indent=None):
    """One equation; info holds its patterns. indent: where definitions stand on lines of their own."""
    rhs, *where = node.kids
    head = " ".join([prefix(name)] + node.info) + choices(rhs, "=")
    if not where:
        return head
    if indent is None:
        return "%s where { %s }" % (head, joined(where, "; "))
    inner = "\n" + indent + "    "
    return head + "\n" + indent + "  where" + "".join(inner + str(w) for w in where)


def function(node, *clauses):
    """A local function."""
    name, signature = node.info
    return "; ".join(["%s :: %s" % (prefix(name), signature)] + [clause(c, name) for c in clauses])


def definition(node, *clauses):
    """A function of the top level or of a class, on lines of its own; an instance's method has no signature."""
    name, signature, indent = node.info
    lines = ["%s%s :: %s" % (indent, prefix(name), signature)] if signature else []
    return "\n".join(lines + [indent + clause(c, name, indent) for c in clauses])


def update(node, record, *values):
    return "(%s { %s })" % (record, ", ".join("%s = %s" % p for p in zip(node.info, values)))


def record(node, *values):
    constructor, fields = node.info
    return "(%s { %s })" % (constructor, ", ".join("%s = %s" % p for p in zip(fields, values)))


def sequence(node, *kids):
    """[a ..], [a, b ..], [a .. c], [a, b .. c]; info: whether there is a step, and an end."""
    step, end = node.info
    kids = list(kids)
    last = " " + str(kids.pop()) if end else ""
    return "[%s ..%s]" % (joined(kids), last)


TEXT = {
    "lit": lambda n: n.info,
    "var": lambda n: n.info,
    "call": call,
    "apply": lambda n, *k: "(%s)" % joined(k, " "),
    "ann": lambda n, e: "(%s :: %s)" % (e, haskell_types.text(n.type)),
    "lam": lambda n, e: "(\\%s%s -> %s)" % (" " if n.info[0][0] in "~!" else "", " ".join(n.info), e),
    "lamcase": lambda n, *alts: "(\\case { %s })" % joined(alts, "; "),
    "if": lambda n, c, t, e: "(if %s then %s else %s)" % (c, t, e),
    "case": lambda n, e, *alts: "(case %s of { %s })" % (e, joined(alts, "; ")),
    "alt": lambda n, rhs: n.info + choices(rhs, "->"),
    "let": lambda n, *k: "(let { %s } in %s)" % (joined(k[:-1], "; "), k[-1]),
    "bind": lambda n, e: "%s = %s" % (n.info, e),
    "fun": function,
    "list": lambda n, *k: "[%s]" % joined(k),
    "tuple": lambda n, *k: "(%s)" % joined(k),
    "enum": sequence,
    "chain": lambda n, *k: "(%s)" % "".join(str(x) + " %s " % o for x, o in zip(k, n.info + [""])).rstrip(),
    "comp": lambda n, e, *quals: "[%s | %s]" % (e, joined(quals)),
    "gen": lambda n, e: "%s <- %s" % (n.info, e),
    "cond": lambda n, e: str(e),
    "letq": lambda n, *k: "let { %s }" % joined(k, "; "),
    "do": lambda n, *k: "(do { %s })" % joined(k, "; "),
    "record": record,
    "update": update,
    "lsect": lambda n, e: "(%s %s)" % (e, n.info if operator(n.info) else "`%s`" % n.info),
    "rsect": lambda n, e: "(%s %s)" % (n.info if operator(n.info) else "`%s`" % n.info, e),
    "def": definition,
    "text": lambda n: n.info,
    "block": lambda n, *k: "\n".join([n.info] + [str(d) for d in k]),
    "program": lambda n, *k: n.info + "\n" + "\n\n".join(map(str, k)) + "\n",
}


def plain(body):
    """The right-hand side that is one expression."""
    return Node("rhs", None, [Node("branch", None, [body])])
