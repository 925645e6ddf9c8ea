"""Terms of random programs: a small typed language whose source text is Haskell.

A term is a tuple (op, type, ...). `source` prints it; evaluate.py gives its meaning. Types are "Int", "Integer",
"Bool", "Double", "Char", FUNCTION or a tuple of types.
"""

SCALARS = ("Int", "Integer", "Bool", "Double", "Char")
NUMBERS = ("Int", "Integer", "Double")
FUNCTION = "(Int -> Int)"


def type_source(t):
    return t if isinstance(t, str) else "(" + ", ".join(type_source(e) for e in t) + ")"


def literal_source(t, v):
    if t == "Bool":
        return "True" if v else "False"
    if t == "Char":
        return "'%s'" % v
    text = repr(v)
    return "(%s)" % text if text.startswith("-") else text


def pattern_source(t, v):
    return literal_source(t, v)


class Function:
    """name :: params -> result. `clauses` is [(guard or None, body)]; `where` a list of bindings over all of them."""

    def __init__(self, name, params, result):
        self.name, self.params, self.result = name, params, result  # params: [(name, type)]
        self.clauses, self.where = [], []

    def signature(self):
        return "%s :: %s" % (self.name, " -> ".join(type_source(t) for _, t in self.params) + " -> " + type_source(self.result))

    def source(self, indent=""):
        lines = [indent + self.signature()]
        head = indent + self.name + "".join(" " + p for p, _ in self.params)
        if len(self.clauses) == 1 and self.clauses[0][0] is None:
            lines.append(head + " = " + source(self.clauses[0][1]))
        else:
            lines.append(head)
            for guard, body in self.clauses:
                lines.append("%s  | %s = %s" % (indent, "otherwise" if guard is None else source(guard), source(body)))
        if self.where:
            lines.append(indent + "  where")
            lines += ["%s    %s" % (indent, binding_source(b)) for b in self.where]
        return "\n".join(lines)


def binding_source(b):
    if b[0] == "val":        # ("val", name, type, term)
        return "%s = %s" % (b[1], typed(b[3]))
    if b[0] == "pair":       # ("pair", [names], type, term)
        return "(%s) = %s" % (", ".join(b[1]), typed(b[3]))
    f = b[1]                 # ("fun", Function)
    guards = "".join(" | %s = %s" % ("otherwise" if g is None else source(g), source(e)) for g, e in f.clauses)
    if len(f.clauses) == 1 and f.clauses[0][0] is None:
        guards = " = " + source(f.clauses[0][1])
    return f.signature() + "; " + f.name + "".join(" " + p for p, _ in f.params) + guards


def typed(e):
    """The term with its type written where defaulting could choose another one."""
    return source(e) if e[0] == "var" or (e[0], e[1]) in (("lit", "Bool"), ("lit", "Char")) else "(%s :: %s)" % (source(e), type_source(e[1]))


def source(e):
    """The term as Haskell, in parentheses unless it is an atom."""
    op = e[0]
    if op == "lit":
        return literal_source(e[1], e[2])
    if op == "var":
        return e[2]
    if op == "bin":
        name = e[2]
        if name in ("min", "max", "gcd", "seq"):
            return "(%s %s %s)" % (name, typed(e[3]) if name == "seq" else source(e[3]), source(e[4]))
        if e[3][1] != e[1] or name in ("==", "/=", "<", "<=", ">", ">="):
            return "(%s %s %s)" % (typed(e[3]), name, source(e[4]))
        return "(%s %s %s)" % (source(e[3]), name if not name[0].isalpha() else "`%s`" % name, source(e[4]))
    if op == "un":
        return "(%s %s)" % (e[2], source(e[3]) if e[1] == e[3][1] else typed(e[3]))
    if op == "section":      # ("section", type, operator, operand, argument): right section applied at once
        name = e[2] if not e[2][0].isalpha() else "`%s`" % e[2]
        return "((%s %s) %s)" % (name, source(e[3]), source(e[4]))
    if op == "if":
        return "(if %s then %s else %s)" % (source(e[2]), source(e[3]), source(e[4]))
    if op == "call":
        return "(%s%s)" % (e[2], "".join(" " + source(a) for a in e[3]))
    if op == "lambda":       # ("lambda", type, [(name, type)], body, [args])
        return "((\\%s -> %s)%s)" % (" ".join(p for p, _ in e[2]), source(e[3]), "".join(" " + typed(a) for a in e[4]))
    if op == "fn":           # ("fn", FUNCTION, name, body)
        return "(\\%s -> %s)" % (e[2], source(e[3]))
    if op == "apply":        # ("apply", "Int", function, argument)
        return "(%s %s)" % (typed(e[2]), source(e[3]))
    if op == "let":          # ("let", type, [bindings], body)
        return "(let { %s } in %s)" % ("; ".join(binding_source(b) for b in e[2]), source(e[3]))
    if op == "case":         # ("case", type, scrutinee, [(value, body)], default)
        alts = ["%s -> %s" % (pattern_source(e[2][1], v), source(b)) for v, b in e[3]]
        return "(case %s of { %s; _ -> %s })" % (typed(e[2]), "; ".join(alts), source(e[4]))
    if op == "untuple":      # ("untuple", type, scrutinee, [names], body)
        return "(case %s of { (%s) -> %s })" % (typed(e[2]), ", ".join(e[3]), source(e[4]))
    if op == "tuple":
        return "(%s)" % ", ".join(source(x) for x in e[2])
    if op == "error":
        return "(error \"%s\")" % e[2]
    raise AssertionError(op)
