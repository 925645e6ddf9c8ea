"""The `-- CASE: expression => value` lines of a program, and the program that computes one of them; programs that are
run as a whole."""

import collections
import os
import re

# error: None, or the text that the message must contain ("" for any failure).
# engine: the only one that runs it (`-- CASE tagged: ...`, for what takes others too long), or None.
# prefix: what stands before the expression.
Case = collections.namedtuple("Case", "line expression value error engine prefix")
Case.whole = False
# What a program prints, given `stdin`.
Whole = collections.namedtuple("Whole", "value stdin")
Whole.whole = True

CASE = re.compile(r"^-- CASE(?: (\w+))?:")
ERROR = re.compile(r"^error(?:\s+DF\d+)?(?:\s+\((.*)\))?$")


def read_cases(text):
    cases = []
    for number, line in enumerate(text.split("\n"), 1):
        prefix = CASE.match(line)
        if not prefix:
            continue
        # The last arrow separates: the expression may hold one in a type.
        body = line[prefix.end():]
        at = body.rfind(" => ")
        if at < 0:
            raise ValueError("line %d: `-- CASE: expression => value` is wanted" % number)
        expression, value = body[:at].strip(), body[at + 4:].strip()
        error = ERROR.match(value)
        cases.append(Case(number, expression, value, (error.group(1) or "") if error else None,
                          prefix.group(1), prefix.group(0)))
    return cases


def read_whole(path):
    """[Whole] of a program with a NAME.out beside it, else []."""
    stem = os.path.splitext(path)[0]
    if not os.path.exists(stem + ".out"):
        return []
    stdin = b""
    if os.path.exists(stem + ".in"):
        with open(stem + ".in", "rb") as file:
            stdin = file.read()
    with open(stem + ".out", encoding="utf-8") as file:
        return [Whole(file.read(), stdin)]


def without_main(text):
    """The text with the lines of `main`'s own definition emptied, so that the others keep their places."""
    lines, inside = text.split("\n"), False
    for i, line in enumerate(lines):
        if re.match(r"main\b", line):
            inside = True
        elif line and not line[0].isspace():
            inside = False
        if inside:
            lines[i] = ""
    return "\n".join(lines)


def program_of(text, case):
    """The source whose main is the case's expression."""
    if case.expression == "main":
        return text
    return without_main(text).rstrip("\n") + "\n\nmain = " + case.expression + "\n"
