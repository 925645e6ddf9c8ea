"""What the comments of a program in tests/io say about its runs.

    -- RUN: 8 'a b'           a run with these arguments of the program
    -- IN: text              a line of its standard input; `-- IN|` is one without an end of line
    -- OUT: text             a line of its standard output; `-- OUT|` is one without an end of line
    -- ERR: text             a line of what it writes on standard error itself; `-- ERR|` is one without an end of line
    -- EXIT: 1 (text)        its exit code, if not 0, and what its standard error contains

IN, OUT, ERR and EXIT belong to the RUN before them. In texts `\\xhh` is a byte and `\\\\` a backslash.
"""

import re
import shlex

LINE = re.compile(r"^-- (RUN|IN|OUT|ERR|EXIT)([:|])(?: (.*))?$")
EXIT = re.compile(r"^(\d+)(?: \((.*)\))?$")


class Run:
    def __init__(self, line, arguments):
        self.line, self.arguments = line, arguments
        self.stdin, self.stdout, self.stderr, self.code, self.error = b"", b"", b"", 0, ""


def to_bytes(text):
    return re.sub(rb"\\(x[0-9a-f]{2}|\\)",
                  lambda m: b"\\" if m[1] == b"\\" else bytes([int(m[1][1:], 16)]), text.encode())


def to_text(data):
    """A line of bytes as a comment holds it."""
    text = data.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", lambda m: "\\x%02x" % ord(m[0]), text)


def read_runs(text):
    runs = []
    for number, line in enumerate(text.split("\n"), 1):
        found = LINE.match(line)
        if not found:
            continue
        kind, end, rest = found[1], "\n" if found[2] == ":" else "", found[3] or ""
        if kind == "RUN":
            runs.append(Run(number, shlex.split(rest)))
        elif kind == "IN":
            runs[-1].stdin += to_bytes(rest) + end.encode()
        elif kind == "OUT":
            runs[-1].stdout += to_bytes(rest) + end.encode()
        elif kind == "ERR":
            runs[-1].stderr += to_bytes(rest) + end.encode()
        else:
            code = EXIT.match(rest)
            runs[-1].code, runs[-1].error = int(code[1]), code[2] or ""
    return runs


def outcome_lines(stdout, stderr, code, error):
    """The OUT, ERR and EXIT comments of such a run."""
    lines = []
    for kind, written in (("OUT", stdout), ("ERR", stderr)):
        for line in written.splitlines(True):
            whole = line.endswith(b"\n")
            text = to_text(line.rstrip(b"\n"))
            lines.append("-- " + kind + (": " if whole else "| ") + text if text else "-- " + kind + (":" if whole else "|"))
    if code:
        lines.append("-- EXIT: %d" % code + (" (%s)" % error if error else ""))
    return lines


def with_outcomes(text, outcomes):
    """The program with the OUT, ERR and EXIT lines of its runs replaced, each by what outcome_lines made of it."""
    lines, kept, at = text.split("\n"), [], -1
    for line in lines:
        found = LINE.match(line)
        kind = found[1] if found else None
        if kind in ("OUT", "ERR", "EXIT"):
            continue
        if kind != "IN" and at >= 0 and outcomes[at] is not None:
            kept += outcomes[at]
            outcomes[at] = None
        if kind == "RUN":
            at += 1
        kept.append(line)
    return "\n".join(kept)
