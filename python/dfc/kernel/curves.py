"""Curves as SVG: one panel for each quantity over steps or epochs. Of the kernel and of scripts/plot-log; needs nothing but Python."""

import math

COLOURS = ("#0060a8", "#c8500a", "#2a7f3c", "#7a3fa0", "#a01840", "#5a5a00")
LEFT, RIGHT, TOP, WIDTH, HEIGHT, GAP = 70, 24, 34, 640, 220, 54
LEAVE_OUT = ("seconds", "total", "trees", "examples", "samples")
MOST_MARKS = 60  # of points; with more a line says it alone


def panels_of(names):
    """Lists of columns that belong together: loss and dev_loss, but not loss and accuracy."""
    panels = {}
    for name in names:
        panels.setdefault(name.split("_")[-1], []).append(name)
    return list(panels.values())


def ticks(low, high, most, whole=False):
    """Round numbers from low to high: multiples of 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(max(high - low, 1e-300) / most))
    step = next(power * factor for factor in (1, 2, 5, 10, 20) if (high - low) / (power * factor) <= most)
    if whole:
        step = max(step, 1)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [i * step for i in range(first, last + 1)]


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def label(value):
    return "%g" % (0 if abs(value) < 1e-12 else value)


class Picture:
    def __init__(self, title, panels, logs, x):
        self.out = []
        self.height = TOP + len(panels) * (HEIGHT + GAP)
        self.width = LEFT + WIDTH + RIGHT
        self.text(LEFT, 20, title, "font-size='15' font-weight='bold'")
        for i, names in enumerate(panels):
            self.panel(TOP + i * (HEIGHT + GAP), names, logs, x)

    def text(self, x, y, text, more=""):
        self.out.append("<text x='%.1f' y='%.1f' %s>%s</text>" % (x, y, more, escape(text)))

    def line(self, x1, y1, x2, y2, colour):
        self.out.append("<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='%s'/>" % (x1, y1, x2, y2, colour))

    def panel(self, top, names, logs, x):
        curves = [(log + " " + name if len(logs) > 1 else name, [(row.get(x), row.get(name)) for row in rows])
                  for log, rows in logs for name in names if any(name in row for row in rows)]
        curves = [curve for curve in curves if any(usable(a) and usable(b) for a, b in curve[1])]
        finite = [(a, b) for _, points in curves for a, b in points if usable(a) and usable(b)]
        if not finite:
            return
        (x0, x1), (y0, y1) = (spread([p[i] for p in finite], i == 1) for i in (0, 1))
        place_x = lambda a: LEFT + (a - x0) / (x1 - x0) * WIDTH
        place_y = lambda b: top + HEIGHT - (b - y0) / (y1 - y0) * HEIGHT
        for tick in ticks(y0, y1, 6):
            self.line(LEFT, place_y(tick), LEFT + WIDTH, place_y(tick), "#e4e4e4")
            self.text(LEFT - 8, place_y(tick) + 4, label(tick), "text-anchor='end'")
        whole = all(p[0] == int(p[0]) for p in finite)
        for tick in ticks(x0, x1, 10, whole):
            self.line(place_x(tick), top + HEIGHT, place_x(tick), top + HEIGHT + 4, "#888")
            self.text(place_x(tick), top + HEIGHT + 17, label(tick), "text-anchor='middle'")
        self.line(LEFT, top + HEIGHT, LEFT + WIDTH, top + HEIGHT, "#888")
        self.line(LEFT, top, LEFT, top + HEIGHT, "#888")
        self.text(LEFT + WIDTH, top + HEIGHT + 33, x, "text-anchor='end' font-style='italic'")
        at = LEFT
        for i, (name, points) in enumerate(curves):
            colour = COLOURS[i % len(COLOURS)]
            self.curve([(place_x(a), place_y(b)) if usable(a) and usable(b) else None for a, b in points], colour)
            self.out.append("<rect x='%d' y='%d' width='14' height='4' fill='%s'/>" % (at, top + HEIGHT + 28, colour))
            self.text(at + 19, top + HEIGHT + 34, name)
            at += 19 + 7 * len(name) + 22

    # A value that is missing or not finite leaves a gap; a Maybe that is there in some rows alone is one curve all the same.
    def curve(self, points, colour):
        there = [p for p in points if p]
        self.out.append("<polyline fill='none' stroke='%s' stroke-width='1.8' stroke-linejoin='round' points='%s'/>" %
                        (colour, " ".join("%.1f,%.1f" % p for p in there)))
        if len(there) <= MOST_MARKS:
            self.out.extend("<circle cx='%.1f' cy='%.1f' r='2.6' fill='%s'/>" % (a, b, colour) for a, b in there)

    def svg(self):
        return ("<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' viewBox='0 0 %d %d' font-family='sans-serif' "
                "font-size='12' fill='#222'>\n<rect width='100%%' height='100%%' fill='white'/>\n%s\n</svg>\n" %
                (self.width, self.height, self.width, self.height, "\n".join(self.out)))


def usable(value):
    return value is not None and math.isfinite(value)


def spread(values, room):
    """The ends of an axis; with some room above and below."""
    low, high = min(values), max(values)
    if low == high:
        low, high = low - (abs(low) * 0.1 or 1), high + (abs(high) * 0.1 or 1)
    margin = (high - low) * 0.05 if room else 0
    return (0 if 0 <= low and low - margin < 0 else low - margin), high + margin


def columns_of(rows):
    """Names of the columns that have a number somewhere, in their order."""
    names = []
    for row in rows:
        names += [name for name in row if name not in names and usable(row[name])]
    return names


def abscissa(names):
    """The column over which the others are drawn, or None."""
    return next((name for name in ("epoch", "step", "seconds") if name in names), None)


def ordinates(names, x):
    """The columns that are drawn if nobody says which: all but those that count."""
    return [name for name in names if name not in LEAVE_OUT + (x, "epoch", "step")]
