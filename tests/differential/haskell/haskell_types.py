"""Types of random Haskell programs, their text, and matching against the schemes of functions.

A type is a word ("Int") or a tuple of a head and its arguments: ("[]", t), ("->", a, b), ("(,)", a, b, ...),
("Maybe", t), (name of a data type, ...). Two heads stand for variables: ("rigid", "a") inside a polymorphic function,
("?", "a") in a scheme. Two types exist only for the generator: "Small" is an Int between 0 and about 8, and
("Stream", t) a list without an end; they keep programs finite.
"""

import re

GROUND = ("Int", "Integer", "Bool", "Char", "Double")
# Heads of types of whose values nothing can be asked but to use them: no class, no pattern, no `seq`.
OPAQUE = ("->", "rigid", "Stream", "St", "IO")
QUALIFIED = {"Map": "M.Map", "Set": "S.Set"}


def text(t, atom=False):
    """The type as Haskell; atom: in parentheses if need be."""
    if isinstance(t, str):
        return "Int" if t == "Small" else t
    head, *args = t
    if head in ("rigid", "?"):
        return args[0]
    if head in ("[]", "Stream"):
        return "[%s]" % text(args[0])
    if head == "(,)":
        return "(%s)" % ", ".join(text(a) for a in args)
    if head == "->":
        whole = "%s -> %s" % (text(args[0], args[0][0] == "->"), text(args[1]))
    elif not args:
        return head
    else:
        whole = " ".join([QUALIFIED.get(head, head)] + [text(a, True) for a in args])
    return "(%s)" % whole if atom else whole


def signature(params, result):
    return text(functions(params, result))


def functions(params, result):
    """The type of a function with these parameters."""
    for p in reversed(params):
        result = ("->", p, result)
    return result


def unfold(t):
    """Parameters and result of a function type."""
    params = []
    while t[0] == "->":
        params.append(t[1])
        t = t[2]
    return params, t


def match(pattern, t, found):
    """Whether `t` is an instance of `pattern`; `found` gets what its variables stand for."""
    if isinstance(pattern, str) or isinstance(t, str):
        if isinstance(pattern, tuple) and pattern[0] == "?":
            return found.setdefault(pattern[1], t) == t
        return pattern == t
    if pattern[0] == "?":
        return found.setdefault(pattern[1], t) == t
    return (pattern[0] == t[0] and len(pattern) == len(t)
            and (pattern[0] == "rigid" and pattern == t or pattern[0] != "rigid"
                 and all(match(p, u, found) for p, u in zip(pattern[1:], t[1:]))))


def substitute(t, found):
    if isinstance(t, str) or t[0] == "rigid":
        return t
    if t[0] == "?":
        return found.get(t[1], t)
    return (t[0],) + tuple(substitute(a, found) for a in t[1:])


def variables(t, head="?"):
    """Names of the variables in a type, in order."""
    if isinstance(t, str):
        return []
    if t[0] == head:
        return [t[1]]
    if t[0] in ("?", "rigid"):
        return []
    return list(dict.fromkeys(v for a in t[1:] for v in variables(a, head)))


def rigid(t):
    """The type of a scheme as it is seen inside the function."""
    return substitute(t, {v: ("rigid", v) for v in variables(t)})


def holds(t, head):
    """Whether a type has a part with this head."""
    return t == head or isinstance(t, tuple) and (t[0] == head or t[0] not in ("?", "rigid")
                                                  and any(holds(a, head) for a in t[1:]))


# ---------------------------------------------------------------- reading


def parse(words):
    """`(a -> b) -> [a] -> Maybe b` as a type of a scheme."""
    tokens = re.findall(r"->|[()\[\],]|[\w']+", words)
    t, rest = _function(tokens)
    assert not rest, words
    return t


def _function(tokens):
    left, rest = _application(tokens)
    if rest and rest[0] == "->":
        right, rest = _function(rest[1:])
        return ("->", left, right), rest
    return left, rest


def _application(tokens):
    head, rest = _atom(tokens)
    args = []
    while rest and rest[0] not in ("->", ")", "]", ","):
        arg, rest = _atom(rest)
        args.append(arg)
    return ((head,) + tuple(args) if args else head), rest


def _atom(tokens):
    first, rest = tokens[0], tokens[1:]
    if first == "[":
        inner, rest = _function(rest)
        return ("[]", inner), rest[1:]
    if first == "(":
        if rest[0] == ")":
            return "()", rest[1:]
        parts = []
        while True:
            part, rest = _function(rest)
            parts.append(part)
            if rest[0] == ")":
                return (parts[0] if len(parts) == 1 else ("(,)",) + tuple(parts)), rest[1:]
            rest = rest[1:]
    return (("?", first) if first[0].islower() else first), rest
