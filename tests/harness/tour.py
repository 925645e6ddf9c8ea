#!/usr/bin/env python3
"""Runs every command of the tour in README.md and the pages of docs/, and compares what it prints.

    tour.py --dfc build/dfc [--update] [FILE.md...]

A block that begins with ```console holds commands, `$ command`, each followed by its output (both streams, as they come).
After a command that starts the REPL, lines `dfc> ...` are typed into it. All blocks of a page run in one folder, in which
samples/ lies and to which `dfc` is on the path. --update writes the real output into the page.
"""

import argparse
import difflib
import glob
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROMPT = "dfc> "


def execute(folder, command, typed):
    done = subprocess.run(["bash", "-c", command], cwd=folder, input="".join(line + "\n" for line in typed).encode(),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
                          env={**os.environ, "PATH": folder + "/bin:" + os.environ["PATH"], "NO_COLOR": "1"})
    return done.stdout.decode("utf-8", "replace").rstrip("\n").split("\n") if done.stdout.strip() else []


def run_block(folder, lines):
    """The block with the output that its commands really have."""
    out, i = [], 0
    while i < len(lines):
        if not lines[i].startswith("$ "):
            raise ValueError("a command `$ ...` is wanted instead of " + lines[i])
        command = lines[i][2:]
        out.append(lines[i])
        i += 1
        typed = []
        while i < len(lines) and not lines[i].startswith("$ "):
            if lines[i].startswith(PROMPT):
                typed.append(lines[i][len(PROMPT):])
            i += 1
        if not typed:
            out += execute(folder, command, [])
            continue
        # What each line adds to the output of those before it.
        before = []
        for n in range(len(typed)):
            after = execute(folder, command, typed[:n + 1])
            if after[:len(before)] != before:
                raise ValueError("the output of %s changes with later lines" % command)
            out += [PROMPT + typed[n]] + after[len(before):]
            before = after
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("pages", nargs="*", default=[os.path.join(ROOT, "README.md")] + sorted(glob.glob(ROOT + "/docs/**/*.md", recursive=True)))
    args = parser.parse_args()
    commands = failed = 0
    for page in args.pages:
        with open(page, encoding="utf-8") as file:
            lines = file.read().split("\n")
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "bin"))
            os.symlink(os.path.abspath(args.dfc), os.path.join(folder, "bin/dfc"))
            shutil.copytree(os.path.join(ROOT, "samples"), os.path.join(folder, "samples"))
            result, i = [], 0
            while i < len(lines):
                result.append(lines[i])
                i += 1
                if result[-1] != "```console":
                    continue
                end = lines.index("```", i)
                block = run_block(folder, lines[i:end])
                commands += sum(line.startswith("$ ") for line in block)
                result += block
                i = end
        if result != lines:
            if args.update:
                with open(page, "w", encoding="utf-8") as file:
                    file.write("\n".join(result))
            else:
                failed += 1
                print("\n".join(difflib.unified_diff(lines, result, page, "what really happens", lineterm="", n=1)))
    print("%d commands, %d pages that differ" % (commands, failed))
    sys.exit(1 if failed or not commands else 0)


if __name__ == "__main__":
    main()
