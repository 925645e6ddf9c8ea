#!/usr/bin/env python3
"""Processor time of the programs of nofib, GHC's suite of benchmarks, against `ghc -O0` in the same run.

    python3 tests/bench/nofib.py FOLDER --dfc build/dfc [--size fast|norm|slow] [--runs 1] [--only NAME,..] [--without ARG]

FOLDER is a copy of https://gitlab.haskell.org/ghc/nofib, of which nothing is changed: each program of imaginary, spectral and real is
compiled and run in a copy of its own folder, with the arguments, the input and GHC's options that its Makefile names for the size. What
an option turns on that dfc has no option for (`-cpp`) becomes a pragma in front of the sources, for both. Measured are

    dfc       `dfc run` of the graph file, one thread; that compilation is a column of its own
    ghc -O0   what `ghc -O0` has compiled, without that compilation

in turn. Both must print the same and end with the same status, else the program counts as one that does not run. A ratio above 1 says
that dfc is faster. At the end stand the median of the ratios, the programs that are slower than --bound times, and what does not run,
with its first diagnostic. What GHC itself does not take, or what fails there, is listed apart and counts nowhere.
"""

import argparse
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

SUITES = ("imaginary", "spectral", "real")
INFIX = {"fast": "fast", "norm": "", "slow": "slow"}


def make_variables(text):
    """The variables of a Makefile, conditions and rules aside."""
    found = {}
    for name, sign, value in re.findall(r"^(\w+)[ \t]*(\+?=)[ \t]*(.*)$", text.replace("\\\n", " "), re.MULTILINE):
        value = re.sub(r"(^|\s)#.*", "", value).strip()
        found[name] = (found.get(name, "") + " " + value).strip() if sign == "+=" else value
    for name in found:
        found[name] = re.sub(r"\$\((\w+)\)", lambda match: found.get(match.group(1), ""), found[name])
    return found


def shell_words(text):
    """Words of a shell's line; a pattern that no file has stays as it is, as in the shell."""
    return [word[1:-1] if word[:1] in "\"'" and word[-1:] == word[:1] else word for word in re.findall(r"\"[^\"]*\"|'[^']*'|\S+", text)]


class Program:
    """A program of nofib: the path below its folder, and what its Makefile says."""

    def __init__(self, root, path, size):
        self.root, self.path, self.size = root, path, size
        self.name = os.path.basename(path)
        with open(os.path.join(root, path, "Makefile"), encoding="utf-8") as file:
            self.makefile = file.read()
        variables = make_variables(self.makefile)
        self.arguments = shell_words(variables.get({"fast": "FAST", "norm": "NORM", "slow": "SLOW"}[size] + "_OPTS", ""))
        options = shell_words(variables.get("SRC_HC_OPTS", ""))
        self.options = [word for word in options if not word.startswith("-H")]

    def copy(self, to):
        """Copies the folder, and the files of the one above, which some include; gives the copy's path and the main source's name."""
        above = os.path.dirname(os.path.join(self.root, self.path))
        for name in os.listdir(above):
            if os.path.isfile(os.path.join(above, name)):
                shutil.copy(os.path.join(above, name), to)
        folder = os.path.join(to, self.name)
        shutil.copytree(os.path.join(self.root, self.path), folder)
        sources = sorted(name for name in os.listdir(folder) if name.endswith((".hs", ".lhs")))
        if "-cpp" in self.options:
            for name in sources:
                with open(os.path.join(folder, name), "r+", encoding="latin-1") as file:
                    text = file.read()
                    file.seek(0)
                    file.write(("> {-# LANGUAGE CPP #-}\n\n" if name.endswith(".lhs") else "{-# LANGUAGE CPP #-}\n") + text)
        for name in ("Main.hs", "Main.lhs", *sources):
            if name in sources:
                return folder, name
        return None, None

    def input(self, folder):
        """The standard input: a file, or one that the Makefile makes of a template by repeating it."""
        for infix in (INFIX[self.size], ""):
            path = os.path.join(folder, "%s.%sstdin" % (self.name, infix))
            if os.path.exists(path):
                return path
            rule = re.search(r"'\$\$_=\$\$_ x (\d+)' (\S+) > %s\s" % re.escape(os.path.basename(path)), self.makefile + "\n")
            if rule:
                with open(os.path.join(folder, rule.group(2)), "rb") as file, open(path, "wb") as made:
                    made.write(file.read() * int(rule.group(1)))
                return path
        return os.devnull


def programs(root, size):
    for suite in SUITES:
        for folder, folders, files in sorted(os.walk(os.path.join(root, suite))):
            if "Makefile" in files and any(name.endswith((".hs", ".lhs")) for name in files):
                with open(os.path.join(folder, "Makefile"), encoding="utf-8") as file:
                    if "SUBDIRS" not in make_variables(file.read()):
                        yield Program(root, os.path.relpath(folder, root), size)


def measure(words, folder, stdin, patience):
    """(seconds of processor time, exit status, what it printed, what it said)"""
    def bound():
        resource.setrlimit(resource.RLIMIT_CPU, (int(patience), int(patience) + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with open(stdin, "rb") as source, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(words, stdin=source, stdout=out, stderr=err, cwd=folder, preexec_fn=bound)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = 0  # has been waited for
        out.seek(0)
        err.seek(0)
        return usage.ru_utime + usage.ru_stime, os.waitstatus_to_exitcode(status), out.read(), err.read().decode(errors="replace")


def first_said(text):
    """The first diagnostic of a text, in one line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for number, line in enumerate(lines):
        if "error" in line:
            return line if re.search(r"error\S*\s+\S", line) else " ".join(lines[number:number + 2])
    return lines[0] if lines else "nothing said"


def compare(program, dfc, runs, patience, without):
    """(kind, what to say): `row` with figures, or `dfc` or `ghc` with why there are none"""
    with tempfile.TemporaryDirectory() as place:
        folder, main = program.copy(place)
        built = subprocess.run(["ghc", "-O0", "-v0", "-w", *program.options, "-outputdir", "made", "-o", "with_ghc", main], cwd=folder,
                               capture_output=True, text=True, errors="replace")
        if built.returncode:
            return "ghc", first_said(built.stderr)
        stdin = program.input(folder)
        compile_words = [dfc, main, "--no-warnings", "-o", "with_dfc.graph", *without]
        seconds, status, _, said = measure(compile_words, folder, os.devnull, 120)
        if status:
            return "dfc", first_said(said) if status > 0 else "compilation takes more than 120 s"
        commands = {"ghc": ["./with_ghc", *program.arguments],
                    "dfc": [dfc, "run", "with_dfc.graph", "--threads=1", "--allow-read=.", "--allow-write=.", "--allow-env", "--",
                            *program.arguments]}
        samples = {label: [] for label in commands}
        for _ in range(runs):
            for label, words in commands.items():
                limit = patience / 3 if label == "ghc" else max(patience, 20 * samples["ghc"][0][0])
                samples[label].append(measure(words, folder, stdin, limit))
                if samples["ghc"][0][1] < 0:
                    return "ghc", "ends by signal %d" % -samples["ghc"][0][1]
        ghc, ours = samples["ghc"][0], samples["dfc"][0]
        if ours[1] < 0:
            return "dfc", "takes more than %.0f s, ghc %.2f" % (max(patience, 20 * ghc[0]), ghc[0])
        if (ours[1] != 0) != (ghc[1] != 0):
            return "dfc", "ends with %d, ghc's with %d: %s" % (ours[1], ghc[1], first_said(ours[3] or ghc[3]))
        if ours[2] != ghc[2] and not (ghc[1] and ours[2].startswith(ghc[2])):
            return "dfc", "prints something else"
        return "row", (statistics.median(row[0] for row in samples["dfc"]), seconds, statistics.median(row[0] for row in samples["ghc"]))


def report(rows, kinds, bound):
    ratios = {path: ghc / ours for path, (ours, _, ghc) in rows.items()}
    if ratios:
        print("\n%d programs run; the median of ghc -O0 : dfc is %.2f" % (len(ratios), statistics.median(ratios.values())))
        slow = sorted((path for path in ratios if ratios[path] * bound < 1), key=ratios.get)
        print("slower than %g times: %d%s" % (bound, len(slow), "".join("\n  %s (%.1f)" % (path, 1 / ratios[path]) for path in slow)))
    for kind, title in (("dfc", "do not run"), ("ghc", "do not run by GHC")):
        print("%d %s%s" % (len(kinds[kind]), title, "".join("\n  %s: %s" % entry for entry in kinds[kind])))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", help="nofib")
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--size", choices=tuple(INFIX), default="norm")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--only", help="names of programs, or of their paths' beginnings, with commas between")
    parser.add_argument("--bound", type=float, default=4)
    parser.add_argument("--patience", type=float, default=60, help="seconds after which a run is given up; dfc has 20 times what ghc took, too")
    parser.add_argument("--without", action="append", default=[], help="handed to the compiler, as in --without=--without=fuse")
    args = parser.parse_args()
    if not shutil.which("ghc"):
        sys.exit("GHC is not installed")
    root = os.path.abspath(args.folder)
    if not os.path.isdir(os.path.join(root, SUITES[0])):
        sys.exit("%s is no copy of nofib" % args.folder)
    rows, kinds = {}, {"dfc": [], "ghc": []}
    print("| program | dfc | compilation | ghc -O0 | ghc -O0 : dfc |\n|---|---|---|---|---|")
    for program in programs(root, args.size):
        if args.only and not any(program.name == name or program.path.startswith(name) for name in args.only.split(",")):
            continue
        kind, what = compare(program, os.path.abspath(args.dfc), args.runs, args.patience, args.without)
        if kind == "row":
            rows[program.path] = what
            print("| %s | %.3f s | %.2f s | %.3f s | %.2f |" % (program.path, *what, what[2] / what[0]), flush=True)
        else:
            kinds[kind].append((program.path, what))
            print("%s: %s: %s" % (program.path, kind, what), file=sys.stderr, flush=True)
    report(rows, kinds, args.bound)


if __name__ == "__main__":
    main()
