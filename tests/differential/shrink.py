"""Makes a program that shows a fault smaller: terms are replaced by their parts of the same type, functions dropped."""

import copy

from terms import FUNCTION


def parts(e):
    """(index path, sub-term) of every direct sub-term."""
    op = e[0]
    if op in ("bin", "section"):
        return [((3,), e[3]), ((4,), e[4])]
    if op == "un":
        return [((3,), e[3])]
    if op == "if":
        return [((i,), e[i]) for i in (2, 3, 4)]
    if op == "call":
        return [((3, i), a) for i, a in enumerate(e[3])]
    if op == "lambda":
        return [((3,), e[3])] + [((4, i), a) for i, a in enumerate(e[4])]
    if op == "fn":
        return [((3,), e[3])]
    if op == "apply":
        return [((2,), e[2]), ((3,), e[3])]
    if op == "let":
        found = [((3,), e[3])]
        for i, b in enumerate(e[2]):
            if b[0] == "fun":
                found += [((2, i, 1, "clause", j, k), c[k]) for j, c in enumerate(b[1].clauses) for k in (0, 1)
                          if c[k] is not None]
            else:
                found.append(((2, i, 3), b[3]))
        return found
    if op == "case":
        return [((2,), e[2])] + [((3, i, 1), b) for i, (_, b) in enumerate(e[3])] + [((4,), e[4])]
    if op == "untuple":
        return [((2,), e[2]), ((4,), e[4])]
    if op == "tuple":
        return [((2, i), a) for i, a in enumerate(e[2])]
    return []


def put(node, path, new):
    """The tree with the part at `path` replaced."""
    if not path:
        return new
    if path[0] == "clause":
        f = copy.copy(node)
        f.clauses = list(f.clauses)
        f.clauses[path[1]] = tuple(put(c, path[3:], new) if k == path[2] else c
                                   for k, c in enumerate(f.clauses[path[1]]))
        return f
    items = list(node)
    items[path[0]] = put(items[path[0]], path[1:], new)
    return type(node)(items)


def leaves(t):
    if t == FUNCTION:
        return ("fn", t, "x", ("var", "Int", "x"))
    if not isinstance(t, str):
        return ("tuple", t, [leaves(u) for u in t])
    return ("lit", t, {"Bool": True, "Char": "a", "Double": 1.0}.get(t, 1))


def bound(e, found):
    """Names that a term binds."""
    if e[0] == "let":
        for b in e[2]:
            found |= {b[1]} if b[0] == "val" else set(b[1]) if b[0] == "pair" else {b[1].name}
            if b[0] == "fun":
                found |= {p for p, _ in b[1].params}
    elif e[0] == "untuple":
        found |= set(e[3])
    elif e[0] == "fn":
        found.add(e[2])
    elif e[0] == "lambda":
        found |= {p for p, _ in e[2]}
    return found


def used(e, found):
    if e[0] in ("var", "call"):
        found.add(e[2])
    for _, p in parts(e):
        used(p, found)
    return found


def smaller(e):
    """Candidates for a term, small ones first."""
    leaf = leaves(e[1])
    if e != leaf and e[0] not in ("lit", "var"):
        yield leaf
    names = bound(e, set())
    for _, p in parts(e):
        if p[1] == e[1] and not (used(p, set()) & names):
            yield p
    for path, p in parts(e):
        for q in smaller(p):
            yield put(e, path, q)


def programs(functions):
    for i, f in enumerate(functions):
        for j, (guard, body) in enumerate(f.clauses):
            if len(f.clauses) > 1 and guard is not None:
                yield replace(functions, i, clauses=f.clauses[:j] + f.clauses[j + 1:])
            for k, e in ((1, body), (0, guard)):
                if e is None:
                    continue
                for q in smaller(e):
                    new = tuple(q if n == k else c for n, c in enumerate(f.clauses[j]))
                    yield replace(functions, i, clauses=f.clauses[:j] + [new] + f.clauses[j + 1:])
        for j, b in enumerate(f.where):
            yield replace(functions, i, where=f.where[:j] + f.where[j + 1:])
            for q in smaller(b[3]):
                yield replace(functions, i, where=f.where[:j] + [b[:3] + (q,)] + f.where[j + 1:])
        if f.name != "main":
            yield functions[:i] + functions[i + 1:]


def replace(functions, i, **fields):
    f = copy.copy(functions[i])
    for name, value in fields.items():
        setattr(f, name, value)
    return functions[:i] + [f] + functions[i + 1:]


def shrink(functions, bad, attempts=400):
    """The smallest program found, within that many attempts, of which `bad` still holds."""
    again = True
    while again and attempts > 0:
        again = False
        for candidate in programs(functions):
            attempts -= 1
            if attempts <= 0:
                break
            try:
                if bad(candidate):
                    functions, again = candidate, True
                    break
            except KeyError:  # a dropped name is still used: not a program
                continue
    return functions
