"""What tests of the program's outside share: a folder in which dfc runs, and the list of promises that are tried.

A test file imports `test` and `main` from here; each function under `@test` is one promise and gets a Folder.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import traceback

TESTS = []


def test(function):
    TESTS.append(function)
    return function


class Folder:
    """A fresh folder in which dfc runs."""

    def __init__(self, dfc, path):
        self.dfc, self.path = dfc, path

    def file(self, name, text):
        with open(os.path.join(self.path, name), "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return name

    def bytes(self, name):
        with open(os.path.join(self.path, name), "rb") as file:
            return file.read()

    def modules(self):
        """The names of the library's modules, as the source has them."""
        library = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "stdlib")
        found = [os.path.relpath(os.path.join(folder, file), library) for folder, _, files in os.walk(library) for file in files]
        return [path[:-3].replace(os.sep, ".") for path in found if path.endswith(".df")]

    def run(self, *words, stdin=b"", env=None):
        done = subprocess.run([self.dfc, *words], cwd=self.path, input=stdin if isinstance(stdin, bytes) else stdin.encode(),
                              capture_output=True, timeout=120, env={**os.environ, **(env or {})})
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")

    def expect(self, code, *words, out=None, err="", **kw):
        """Runs; the exit code and the whole standard output must be right, standard error must contain `err`."""
        got, got_out, got_err = self.run(*words, **kw)
        said = "dfc %s: exit code %d\n%s%s" % (" ".join(words), got, got_out, got_err)
        assert got == code, "wanted exit code %d; %s" % (code, said)
        assert out is None or got_out == out, "wanted the output %r; %s" % (out, said)
        assert err in got_err, "wanted %r on standard error; %s" % (err, said)
        return got_out, got_err


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--only")
    args = parser.parse_args()
    failed = 0
    for function in TESTS:
        if args.only and args.only != function.__name__:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                function(Folder(os.path.abspath(args.dfc), folder))
                print("ok   " + function.__name__, flush=True)
            except Exception:  # every fault is shown, the others are still tried
                failed += 1
                print("FAIL %s\n%s" % (function.__name__, traceback.format_exc()), flush=True)
    sys.exit(1 if failed else 0)
