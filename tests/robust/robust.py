"""Hostile and huge input: an answer or a clear error, never a crash, a hang or silence.

    python3 robust.py --dfc build/dfc [--only NAME] [--slow]

Every check runs the program in a fresh folder with a 256 KiB stack, as a stranger's shell might. A check states the exit codes
that are right and a text that must appear in what was printed.
"""

import argparse
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

CHECKS = []


def check(slow=False):
    def add(function):
        CHECKS.append((function.__name__, function, slow))
        return function
    return add


class Dfc:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as f:
            f.write(text if isinstance(text, bytes) else text.encode())
        return path

    def run(self, *args, stdin=b"", timeout=120, kill_after=None, limits=()):
        """(exit code, stdout, stderr); a negative code is a signal. `limits`: pairs of a resource and how much there is of it."""
        def limit():
            resource.setrlimit(resource.RLIMIT_STACK, (256 * 1024, 256 * 1024))
            for what, most in limits:
                resource.setrlimit(what, (most, most))
        process = subprocess.Popen([self.path, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, preexec_fn=limit, cwd=self.folder)
        try:
            if kill_after is not None:
                time.sleep(kill_after)
                process.send_signal(signal.SIGINT)
            out, err = process.communicate(stdin, timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise AssertionError("no answer in %d s: %s" % (timeout, " ".join(args)))
        return process.returncode, out.decode(errors="replace"), err.decode(errors="replace")

    def expect(self, codes, text, *args, **kw):
        code, out, err = self.run(*args, **kw)
        codes = codes if isinstance(codes, tuple) else (codes,)
        said = out + err
        assert code in codes, "exit %d instead of %s: %s\n%s" % (code, codes, " ".join(args), said[-1500:])
        assert text in said, "`%s` is not in what was printed by %s:\n%s" % (text, " ".join(args), said[-1500:])
        assert len(said) < 20000 or code == 0, "%d bytes of messages" % len(said)
        return out, err


@check()
def long_conjunction(dfc):
    # Forty thousand operands of && compile in time linear in them.
    chain = " && ".join("x < %d" % n for n in range(2, 40002))
    dfc.expect(0, "True", "run", dfc.file("and.df", "f :: Int -> Bool\nf x = %s\nmain = f 1\n" % chain), timeout=60)


@check()
def table_of_constants(d):
    # Lists of thousands of constants compile in time linear in them.
    rows = ", ".join('(%d, "row %d", %d.5)' % (n, n, n) for n in range(20000))
    source = "table :: [(Int, String, Double)]\ntable = [%s]\nmain = (sum [n | (n, _, _) <- table], [s | (7, s, _) <- table])\n" % rows
    d.expect(0, '(199990000,["row 7"])', "run", d.file("table.df", source), timeout=60)


@check()
def nested_parentheses(d):
    n = 1000000
    d.expect(1, "DF01", "check", d.file("p.df", "main = " + "(" * n + "1" + ")" * n + "\n"))


@check()
def nested_lists_of_let(d):
    d.expect((0, 1), "", "check", d.file("p.df", "main = " + "let x = 1 in " * 200000 + "1\n"))


@check()
def nested_if(d):
    d.expect((0, 1), "", "check", d.file("p.df", "main = " + "if True then 1 else " * 100000 + "1\n"))


@check()
def nested_comments(d):
    n = 300000
    d.expect(0, "7", "run", d.file("p.df", "{-" * n + "-}" * n + "\nmain = 7\n"))


@check()
def open_comment(d):
    d.expect(1, "DF01", "check", d.file("p.df", "main = 1 {- " + "x" * 1000 + "\n"))


@check()
def two_million_terms(d):
    d.expect((0, 1), "", "check", d.file("p.df", "main = " + " + ".join(["1"] * 2000000) + "\n"))


@check()
def ten_thousand_terms(d):
    d.expect(0, "10000", "run", d.file("p.df", "main = " + " + ".join(["1"] * 10000) + "\n"))


@check()
def two_thousand_nested_calls(d):
    source = "f :: Int -> Int\nf x = x + 1\nmain = " + "f (" * 1000 + "0" + ")" * 1000 + "\n"
    d.expect(0, "1000", "run", d.file("p.df", source))


@check()
def line_of_100_megabytes(d):
    d.expect(0, "1", "run", d.file("p.df", "main = 1 -- " + "x" * 100000000 + "\n"))


@check()
def name_of_ten_megabytes(d):
    d.expect((0, 1), "", "check", d.file("p.df", "x" * 10000000 + " = 1\nmain = 1\n"))
    d.expect(1, "xxx ... xxx", "check", d.file("p.df", "main = " + "x" * 10000000 + "\n"))


@check()
def number_of_a_million_digits(d):
    d.expect((0, 1), "", "check", d.file("p.df", "main = " + "7" * 1000000 + "\n"))


@check()
def invalid_utf8(d):
    d.expect(1, "DF01", "check", d.file("p.df", b"main = 1\nx = '\xff\xfe'\n"))
    d.expect((0, 1), "", "check", d.file("q.df", b"-- \xc3\x28\nmain = 1\n"))


@check()
def nul_bytes_and_control(d):
    d.expect(1, "DF01", "check", d.file("p.df", b"main = 1\x00\x01\n"))


@check()
def random_bytes_as_source(d):
    r = random.Random(1)
    for i in range(20):
        d.expect(1, "", "check", d.file("p.df", bytes(r.randrange(256) for _ in range(3000))))


@check()
def random_tokens_as_source(d):
    r = random.Random(2)
    words = "let in if then else case of where do = | -> <- \\ ( ) [ ] { } ; , :: => + - ` 1 'a' \"s\" x Y _ @ ~ ! .. data class instance type infixl module import \n \n  \n    ".split(" ")
    for i in range(150):
        d.expect((0, 1), "", "check", d.file("p.df", " ".join(r.choice(words) for _ in range(r.randrange(1, 120)))))


@check()
def empty_files(d):
    for text in ("", "\n", "-- nothing\n", "module Main where\n", "\ufeff"):
        d.expect((0, 1), "", "check", d.file("p.df", text))
        d.expect(1, "main", "run", d.file("p.df", text))


@check()
def missing_things(d):
    d.expect((1, 2), "nothing.df", "run", "nothing.df")
    d.expect((1, 2), d.folder, "run", d.folder)
    d.expect(2, "", "run")
    d.expect(2, "", "run", "a.df", "b.df", "--no-such-flag")
    d.expect((1, 4), "", "run", d.file("x.graph", ""))


@check()
def graph_files(d):
    source = d.file("p.df", "fact n = if n == 1 then n else n * fact (n - 1)\nmain = (fact 20, fact 3 > 5)\n")
    d.expect(0, "", source, "-o", "p.graph")
    d.expect(0, "(2432902008176640000,True)", "run", "p.graph")
    good = open(os.path.join(d.folder, "p.graph"), "rb").read()
    r = random.Random(3)
    for n in list(range(0, len(good), max(1, len(good) // 60))):
        d.expect(4, "not a valid graph", "run", d.file("t.graph", good[:n]))
    for _ in range(120):
        bad = bytearray(good)
        for _ in range(r.choice((1, 1, 3, 20))):
            bad[r.randrange(len(bad))] = r.randrange(256)
        d.expect((0, 1, 3, 4), "", "run", d.file("t.graph", bytes(bad)), "--timeout=5s", "--max-memory=500M")
    for _ in range(30):
        d.expect(4, "not a valid graph", "run",
                 d.file("t.graph", bytes(r.randrange(256) for _ in range(r.randrange(1, 3000)))))


@check()
def output_that_cannot_be_written(d):
    source = d.file("p.df", "main = 1\n")
    d.expect(1, "no/such", source, "-o", "no/such/place.graph")
    assert not os.path.exists(os.path.join(d.folder, "no"))
    # A full disk, and a file that may not be as large.
    for words in (("--help",), ("--version",), ("explain", "DF0201"), ("run", source), (source, "--emit=tagged"), (source, "-o", "-")):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([d.path, *words], stdout=full, stderr=subprocess.PIPE, cwd=d.folder)
        assert done.returncode == 1 and b"cannot write to standard output" in done.stderr, (words, done)
    before = set(os.listdir(d.folder))
    d.expect(1, "File too large", source, "-o", "large.graph", limits=[(resource.RLIMIT_FSIZE, 100)])
    assert set(os.listdir(d.folder)) == before, "something half-written is left"


@check()
def little_address_space(d):
    with open(d.path, "rb") as file:
        if b"__asan_" in file.read():
            return  # it needs terabytes of addresses
    source = d.file("p.df", "main = 1 + 1\n")
    d.expect(0, "", source, "-o", "p.graph")
    for megabytes in (60, 80, 100, 150):
        for words in (("run", "p.graph"), ("run", source), (source, "-o", "q.graph")):
            d.expect((0, 3), "", *words, limits=[(resource.RLIMIT_AS, megabytes << 20)])


@check()
def system_refuses_memory(d):
    """Under `ulimit -v` the message says what was reached, and not the limit that was not."""
    with open(d.path, "rb") as file:
        if b"__asan_" in file.read():
            return
    most = [(resource.RLIMIT_AS, 300000 << 10)]
    d.file("long.df", "main = let xs = [1 .. 30000000 :: Int] in (sum xs, length xs)\n")
    for engine in ("tagged", "reference", "demand", "expanding"):
        _, err = d.expect(3, "the system gives no more memory", "run", "long.df", "--engine=" + engine, "--threads=1", limits=most)
        assert "limit of" not in err and err.count("error") == 1, err
    source = "xs :: [(Int, String)]\nxs = [" + ", ".join('(%d, "%d")' % (n, n) for n in range(200000)) + "]\nmain = length xs\n"
    _, err = d.expect(3, "the system gives no more memory", d.file("wide.df", source), "-o", "wide.graph", limits=most)
    assert "limit of" not in err and err.count("error") == 1, err


@check()
def closed_pipe(d):
    source = d.file("p.df", "main = 2 ^ 300000\n")
    shell = subprocess.run("'%s' run %s | head -c 10" % (d.path, source), shell=True, capture_output=True, cwd=d.folder)
    assert shell.stderr == b"", shell.stderr
    assert len(shell.stdout) == 10


SPIN = "spin :: Int -> Int\nspin n = spin (n + 1)\nmain = spin 0\n"
GROW = "grow :: Int -> Int\ngrow n = 1 + grow (n + 1)\nmain = grow 0\n"


@check()
def limits(d):
    for engine in ("reference", "tagged"):
        flag = "--engine=" + engine
        spin, grow = d.file("spin.df", SPIN), d.file("grow.df", GROW)
        d.expect(3, "", "run", spin, flag, "--timeout=500ms")
        d.expect(3, "grow", "run", grow, flag, "--max-memory=60M")
        d.expect(3, "", "run", grow, flag, "--timeout=500ms", "--max-memory=8G")
        d.expect(130, "", "run", spin, flag, kill_after=0.7)
        d.expect(3, "", "run", d.file("big.df", "main = 3 ^ (10 ^ 12)\n"), flag, "--timeout=1s", "--max-memory=200M")
        d.expect((0, 3), "", "run", d.file("two.df", "f :: Integer -> Int -> Integer\nf x n = if n == 0 then x else f (x * x) (n - 1)\nmain = f 3 40 == 7\n"),
                 flag, "--timeout=2s", "--max-memory=200M")


@check(slow=True)
def ten_million_live_calls(d):
    source = d.file("p.df", "deep :: Int -> Int\ndeep n = if n == 0 then 0 else 1 + deep (n - 1)\nmain = deep 10000000\n")
    d.expect(0, "10000000", "run", source, timeout=300)


@check(slow=True)
def a_hundred_million_steps(d):
    source = d.file("p.df", "go :: Int -> Int -> Int\ngo n acc = if n == 0 then acc else go (n - 1) (acc + n)\nmain = go 100000000 0\n")
    d.expect(0, "5000000050000000", "run", source, "--max-memory=100M", timeout=300)


@check()
def deep_errors(d):
    source = d.file("p.df", "f :: Int -> Int\nf n = if n == 0 then 1 `div` n else 1 + f (n - 1)\nmain = f 100000\n")
    for engine in ("reference", "tagged"):
        out, err = d.expect(1, "divide by zero", "run", source, "--engine=" + engine)
        assert "p.df:2" in err and len(err.splitlines()) < 80, err


@check()
def inputs(d):
    source = d.file("p.df", "main :: Int -> Double -> (Double, Bool)\nmain n x = (fromIntegral n * x, n > 3)\n")
    d.expect(0, "(10.0,True)", "run", source, "--input", "n=4", "--input", "x=2.5")
    d.expect(0, "(-2.5,False)", "run", source, "--input", "n=-1", "--input", "x=2.5")
    d.expect((1, 2), "x", "run", source, "--input", "n=4")
    d.expect((1, 2), "y", "run", source, "--input", "n=4", "--input", "x=1", "--input", "y=1")
    d.expect((1, 2), "abc", "run", source, "--input", "n=abc", "--input", "x=1")
    d.expect((1, 2), "99999999999999999999", "run", source, "--input", "n=99999999999999999999", "--input", "x=1")


@check()
def repl_through_a_pipe(d):
    def talk(text):
        return d.run("repl", stdin=text.encode())
    code, out, err = talk("1 + 2\nlet x = 5\nx * 2\nit + 1\nf n = if n == 0 then 1 else n * f (n - 1)\nf 20\n:type f\n")
    assert code == 0, (code, out, err)
    for text in ("3\n", "10\n", "11\n", "2432902008176640000\n", "f :: (Eq"):
        assert text in out, (text, out, err)
    code, out, err = talk("1 +\nnope\n'a' + 1\n1 `div` 0\n:nonsense\n(1\n, 2)\n42\n")
    assert "42\n" in out, (code, out, err)
    code, out, err = talk("x")
    assert code in (0, 1)
    talk("\x00\xff\n:quit\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--only")
    parser.add_argument("--slow", action="store_true")
    args = parser.parse_args()
    passed = failed = 0
    for name, function, slow in CHECKS:
        if (args.only and args.only != name) or (slow and not args.slow and not args.only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            begin = time.time()
            try:
                function(Dfc(os.path.abspath(args.dfc), folder))
                passed += 1
                print("ok   %-32s %.1f s" % (name, time.time() - begin), flush=True)
            except AssertionError as fault:
                failed += 1
                print("FAIL %s: %s" % (name, fault), flush=True)
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
