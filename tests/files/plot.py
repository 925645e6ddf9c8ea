#!/usr/bin/env python3
"""What scripts/plot-log draws: plot.py. Needs no dfc."""

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/plot-log")
SVG = "{http://www.w3.org/2000/svg}"
LOG = "epoch,total,loss,dev_loss,accuracy,seconds\n1,3,1.5,1.75,0.25,0.5\n2,3,0.75,NaN,0.5,1\n3,3,0.5,1.25,,1.5\n"
LINES = '{"step":1,"loss":2,"name":"a","seconds":1}\n{"step":2,"loss":null,"name":"b","seconds":2}\n{"step":3,"loss":1,"name":"<","seconds":3}\n'
failures = 0


def check(what, good):
    global failures
    if not good:
        failures += 1
        print("FAIL " + what)


def plot(folder, *words):
    return subprocess.run([sys.executable, SCRIPT, *words], cwd=folder, capture_output=True, text=True)


def points(picture):
    """Of each curve its points."""
    return [[tuple(map(float, p.split(","))) for p in line.get("points").split()]
            for line in xml.parse(picture).getroot().iter(SVG + "polyline")]


def main():
    with tempfile.TemporaryDirectory() as folder:
        def file(name, text):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as out:
                out.write(text)
        out = os.path.join(folder, "a.svg")
        file("run.csv", LOG)
        file("run.jsonl", LINES)
        file("empty.csv", "epoch,loss\n")
        done = plot(folder, "run.csv", "a.svg", "--title", "<a & b>")
        check("a CSV: " + done.stderr, done.returncode == 0)
        curves = points(out)
        check("a curve for each column", [len(curve) for curve in curves] == [3, 2, 2])
        check("epochs go to the right", [p[0] for p in curves[0]] == sorted(p[0] for p in curves[0]))
        check("less is lower", curves[0][0][1] < curves[0][1][1] < curves[0][2][1])
        check("loss and dev_loss share an axis", curves[1][0][1] < curves[0][0][1])
        check("accuracy stands below", min(p[1] for p in curves[2]) > max(p[1] for p in curves[0]))
        texts = [text.text for text in xml.parse(out).getroot().iter(SVG + "text")]
        check("title and names", {"<a & b>", "loss", "dev_loss", "accuracy", "epoch"} <= set(texts) and "total" not in texts)
        check("whole epochs", {"1", "2", "3"} <= set(texts) and "1.5" not in texts[texts.index("accuracy") - 4:])
        done = plot(folder, "run.jsonl", "a.svg", "--x", "seconds", "--y", "loss")
        check("JSON lines: " + done.stderr, done.returncode == 0 and [len(curve) for curve in points(out)] == [2])
        done = plot(folder, "run.csv", "run.jsonl", "a.svg", "--x", "seconds", "--y", "loss")
        texts = [text.text for text in xml.parse(out).getroot().iter(SVG + "text")]
        check("two logs", len(points(out)) == 2 and {"run loss"} <= set(texts))
        for words, message in ((("none.csv", "a.svg"), "cannot read none.csv"), (("empty.csv", "a.svg"), "has no rows"),
                               (("run.csv", "a.png"), "OUT.svg"), (("run.csv", "a.svg", "--y", "los"), "no column los"),
                               (("run.csv", "a.svg", "--x", "day"), "no column day")):
            done = plot(folder, *words)
            check("%s: %s" % (words, done.stderr), done.returncode == 1 and message in done.stderr and "Traceback" not in done.stderr)
    print("%d failures" % failures)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
