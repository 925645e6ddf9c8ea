#!/usr/bin/env python3
"""Programs that others wrote, beside GHC: draws them from a folder of checkouts by a rule, and counts which run unchanged.

docs/programs.md tells the rule and the figures; the programs stay where they are, in a folder OWNER+NAME for each repository.

    public.py draw ROOT --half A >> drawn.tsv        GHC alone says which of the files are programs
    public.py run ROOT drawn.tsv --dfc build/dfc     GHC and dfc, one line for each program and a count
"""
import argparse
import hashlib
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile

SEED = "dfc-programs "
PER_REPOSITORY = 3          # programs of one repository in one half
TRIES = 8                   # files of one repository in one half that GHC is asked about
GHC_SECONDS = 5             # what the program compiled with -O0 may take
DFC_SECONDS = 20            # what dfc may take, with compiling
MOST_OUTPUT = 16 << 20
PACKAGES = """base array containers mtl transformers text bytestring parsec vector random unordered-containers hashable split
    pretty directory filepath time deepseq HUnit QuickCheck hspec""".split()
# Concurrency, Template Haskell and foreign functions are excluded by name.
EXCLUDED = re.compile(r"Control\.Concurrent|Control\.Parallel|GHC\.Conc|\bSTM\b|forkIO|TemplateHaskell|QuasiQuotes|"
                      r"\bforeign\s+(im|ex)port\b|\bimport\s+Foreign\b|System\.Process|unsafePerformIO")
TIMES = re.compile(rb"(?<=Finished in )[0-9.]+(?= seconds)")    # Hspec's
MAIN = re.compile(r"^(?:> ?)?main\s*(?:::|=|\|)", re.M)
MODULE = re.compile(r"^(?:> ?)?module\s+([A-Z][\w.']*)", re.M)


class Program:
    """One drawn file, with the folder and the input that it runs with."""

    def __init__(self, root, repository, path, folder=".", stdin="-"):
        self.root, self.repository, self.path = pathlib.Path(root), repository, path
        self.folder, self.stdin = folder, stdin

    @property
    def checkout(self):
        return self.root / self.repository.replace("/", "+")

    @property
    def key(self):
        return hashlib.sha256((SEED + self.repository + "/" + self.path).encode()).hexdigest()

    @property
    def half(self):
        return "A" if int(self.key[0], 16) < 8 else "B"

    def text(self):
        return (self.checkout / self.path).read_bytes().decode("utf-8", "replace")

    def search_folders(self):
        """Where modules are looked for: the folders above the file, and what is called src, lib or app in them."""
        folders, folder = [], pathlib.PurePosixPath(self.path).parent
        for above in [folder, *folder.parents]:
            folders += [above] + [above / name for name in ("src", "lib", "app") if (self.checkout / above / name).is_dir()]
        return list(dict.fromkeys(str(f) for f in folders))


def candidates(root, half):
    """The files with a `main`, in the order of their hashes, those of each repository apart."""
    for checkout in sorted(pathlib.Path(root).iterdir()):
        repository, found = checkout.name.replace("+", "/", 1), []
        for file in checkout.rglob("*"):
            if file.suffix not in (".hs", ".lhs") or file.is_symlink() or not file.is_file():
                continue
            program = Program(root, repository, file.relative_to(checkout).as_posix())
            text = program.text()
            if program.half == half and MAIN.search(text) and not EXCLUDED.search(text) and not {"\t", "\n"} & set(program.path):
                found.append(program)
        yield sorted(found, key=lambda p: p.key)[:TRIES]


class Runner:
    """Runs commands in a fresh copy of a checkout, bounded in time and output, as a user without rights where that is possible."""

    def __init__(self):
        self.alone = (["unshare", "-n", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
                      if os.geteuid() == 0 and shutil.which("setpriv") and shutil.which("unshare") else [])

    def copy(self, program, into):
        work = pathlib.Path(into) / "w"
        shutil.copytree(program.checkout, work, symlinks=True)
        os.chmod(into, 0o777)
        for folder, folders, files in os.walk(work):
            os.chmod(folder, 0o777)
            for name in files:
                if not os.path.islink(os.path.join(folder, name)):
                    os.chmod(os.path.join(folder, name), 0o666)
        return work

    def run(self, command, work, folder=".", stdin="-", seconds=60):
        """(exit code or None where the time is up, standard output, standard error)"""
        environment = {"PATH": os.environ["PATH"], "HOME": str(work), "LANG": "C.UTF-8", "TMPDIR": str(work)}
        bound = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_OUTPUT, MOST_OUTPUT))
        with open(os.devnull if stdin == "-" else work / stdin, "rb") as given, tempfile.TemporaryFile() as out, \
                tempfile.TemporaryFile() as err:
            process = subprocess.Popen(self.alone + command, cwd=work / folder, stdin=given, stdout=out, stderr=err,
                                       env=environment, preexec_fn=bound, start_new_session=True)
            try:
                code = process.wait(seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()
                code = None
            out.seek(0), err.seek(0)
            return code, TIMES.sub(b"_", out.read()), err.read()


def compile_by_ghc(runner, program, work):
    """GHC's executable, by the name that GHC would give it, or None where GHC refuses it."""
    module = MODULE.search(program.text())
    name = module.group(1) if module else "Main"
    made = work / ".made" / pathlib.PurePosixPath(program.path).stem
    command = ["ghc", "-v0", "-O0", "-w", "-hide-all-packages", *[x for p in PACKAGES for x in ("-package", p)],
               "-outputdir", str(work / ".objects"), "-o", str(made), "-with-rtsopts=-M2g",
               *["-i" + f for f in program.search_folders()], program.path]
    if name != "Main":
        command += ["-main-is", name]
    for folder in (".objects", ".made"):
        os.mkdir(work / folder)
        os.chmod(work / folder, 0o777)
    code, _, _ = runner.run(command, work, seconds=120)
    return made if code == 0 and made.exists() else None


def oracle(runner, program, twice):
    """What the program gives with GHC, as (exit code, output), or None. With `twice` the folder and the input are looked for, and
    what gives something else the second time is no program to compare."""
    with tempfile.TemporaryDirectory() as temporary:
        work = runner.copy(program, temporary)
        executable = compile_by_ghc(runner, program, work)
        if not executable:
            return None
        if not twice:
            return runner.run([str(executable)], work, program.folder, program.stdin, 4 * GHC_SECONDS)[:2]
        here = str(pathlib.PurePosixPath(program.path).parent)
        stem = str(pathlib.PurePosixPath(program.path).with_suffix(""))
        inputs = [f for f in (stem + ".in", stem + ".txt", here + "/input.txt", here + "/input") if (work / f).is_file()]
        for folder in dict.fromkeys((here, ".")):
            for stdin in ["-"] + inputs:
                first = runner.run([str(executable)], work, folder, stdin, GHC_SECONDS)
                if first[0] == 0 and runner.run([str(executable)], work, folder, stdin, GHC_SECONDS)[:2] == first[:2]:
                    program.folder, program.stdin = folder, stdin
                    return first[:2]
        return None


def draw(arguments, runner):
    for files in candidates(arguments.root, arguments.half):
        drawn = 0
        for program in files:
            if drawn < PER_REPOSITORY and oracle(runner, program, twice=True) is not None:
                drawn += 1
                print(program.half, program.repository, program.path, program.folder, program.stdin, sep="\t", flush=True)


def remembered(runner, program, folder):
    """The oracle's answer, kept in a folder from run to run where there is one."""
    name = hashlib.sha256(repr((program.key, program.folder, program.stdin, program.text())).encode()).hexdigest()
    kept = pathlib.Path(folder or "/nowhere") / name
    if kept.is_file():
        code, _, output = kept.read_bytes().partition(b" ")
        return int(code), output
    expected = oracle(runner, program, twice=False)
    if folder and expected and expected[0] is not None:
        kept.parent.mkdir(exist_ok=True)
        kept.write_bytes(b"%d " % expected[0] + expected[1])
    return expected


def verdict(runner, program, dfc, folder):
    """(what came of it, the first line that says why)"""
    expected = remembered(runner, program, folder)
    if expected is None or expected[0] != 0:
        return "not with GHC", ""
    with tempfile.TemporaryDirectory() as temporary:
        work = runner.copy(program, temporary)
        command = [dfc, "run", os.path.join(work, program.path), *[x for f in program.search_folders() for x in ("-i", str(work / f))]]
        code, output, errors = runner.run(command, work, program.folder, program.stdin, DFC_SECONDS)
    lines = errors.decode("utf-8", "replace").replace(str(work) + "/", "").splitlines()
    why = next((line for line in lines if "error" in line), lines[0] if lines else "")
    if (code, output) == expected:
        return "same", ""
    if code is None:
        return "too slow", ""
    if code != 0:
        return "refused" if re.search(r"error\[DF", why) else "failed", why
    return "WRONG", ""


def run(arguments, runner):
    counts, dfc = {}, os.path.abspath(arguments.dfc)
    for line in open(arguments.list, encoding="utf-8"):
        fields = line.rstrip("\n").split("\t")
        if fields[0] not in arguments.half or (arguments.only and arguments.only not in line):
            continue
        program = Program(arguments.root, *fields[1:5])
        what, why = verdict(runner, program, dfc, arguments.keep)
        counts[what] = counts.get(what, 0) + 1
        print(what, program.repository, program.path, why, sep="\t", flush=True)
    tried = sum(n for what, n in counts.items() if what != "not with GHC")
    print(f"{counts.get('same', 0)} of {tried} run unchanged:", counts, file=sys.stderr)
    return 0 if counts.get("same", 0) == tried else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    drawing = actions.add_parser("draw")
    running = actions.add_parser("run")
    drawing.add_argument("root")
    drawing.add_argument("--half", choices=("A", "B"), required=True)
    running.add_argument("root")
    running.add_argument("list")
    running.add_argument("--dfc", default="build/dfc")
    running.add_argument("--half", choices=("A", "B", "AB"), default="AB")
    running.add_argument("--keep", metavar="DIR", help="where GHC's answers are kept for the next run")
    running.add_argument("--only", default="", help="of the list the lines with this text")
    arguments = parser.parse_args()
    return draw(arguments, Runner()) if arguments.action == "draw" else run(arguments, Runner())


if __name__ == "__main__":
    sys.exit(main())
