"""Pictures of a session: graphs, by Graphviz where it is there, and plots of records."""

from __future__ import annotations

import html
import math
import shutil
import subprocess
from typing import Any

from . import curves

DRAWING_TAKES = 20  # seconds, at most
LARGEST = 200_000  # characters of a graph that is drawn: Graphviz takes minutes for more


def graph(dot: str) -> str | None:
    """The graph as SVG, or None where nothing can draw it."""
    program = shutil.which("dot")
    if not program or len(dot) > LARGEST:
        return None
    try:
        done = subprocess.run([program, "-Tsvg"], input=dot, capture_output=True, text=True, timeout=DRAWING_TAKES)
    except subprocess.TimeoutExpired:
        return None
    return done.stdout[done.stdout.index("<svg"):] if done.returncode == 0 and "<svg" in done.stdout else None


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf  # which is not drawn


def plot(value: Any, title: str) -> str | None:
    """A list of records, of numbers or of pairs of them, as SVG; None of what has nothing to draw."""
    if not isinstance(value, list) or not value:
        return None
    if all(isinstance(row, dict) for row in value):
        rows = [{name: _number(cell) for name, cell in row.items()} for row in value]
    elif all(isinstance(row, list) and len(row) == 2 for row in value):
        rows = [{"x": _number(a), "y": _number(b)} for a, b in value]
    else:
        rows = [{"value": _number(cell)} for cell in value]
    names = curves.columns_of(rows)
    x = curves.abscissa(names) or ("x" if "x" in names else None)
    if x is None:
        x = "place in the list"
        rows = [{**row, x: float(i)} for i, row in enumerate(rows)]
    chosen = curves.ordinates(names, x)
    if not chosen:
        return None
    return curves.Picture(title, curves.panels_of(chosen), [(title, rows)], x).svg()


def table(value: Any, most: int = 20) -> str | None:
    """A list of records as a table of HTML, its first rows."""
    if not isinstance(value, list) or not value or not all(isinstance(row, dict) for row in value):
        return None
    names = list(dict.fromkeys(name for row in value for name in row))
    cell = lambda kind, text: "<%s>%s</%s>" % (kind, html.escape(str(text)), kind)
    rows = ["<tr>%s</tr>" % "".join(cell("td", row.get(name, "")) for name in names) for row in value[:most]]
    if len(value) > most:
        rows.append('<tr><td colspan="%d">and %d more</td></tr>' % (len(names), len(value) - most))
    return "<table><tr>%s</tr>%s</table>" % ("".join(cell("th", name) for name in names), "".join(rows))
