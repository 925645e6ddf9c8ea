#!/usr/bin/env python3
"""What the command line promises: commands, options, sources, inputs, keys. One function per promise. (Where output goes:
command_outputs.py. Limits and signals: command_limits.py. The REPL: repl.py.)

    command_line.py --dfc build/dfc [--only NAME]
"""

import glob
import json
import os
import re
import stat
import subprocess
import time

from promises import main, test

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FACT = "fact n = if n == 1 then n else n * fact (n - 1)\nmain = fact 10\n"


@test
def keys_of_a_cluster(d):
    """A file for its owner only, whole, and never in the place of another one; other keys each time."""
    code, _, err = d.run("keygen", "-o", "probe.key")
    if code == 1 and "libzmq" in err:  # a build, or a machine, without it says so
        return
    assert code == 0, err
    d.expect(0, "keygen", out="")
    path = os.path.join(d.path, "cluster.key")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    text = d.bytes("cluster.key").decode()
    words = [line.split() for line in text.splitlines() if not line.startswith("#")]
    assert [name for name, _ in words] == ["server-public", "server-secret", "client-public", "client-secret", "allowed"], text
    assert all(len(key) == 40 for _, key in words) and words[2][1] == words[4][1], text
    assert len({key for _, key in words}) == 4, text
    assert d.bytes("probe.key").decode() != text
    d.expect(1, "keygen", out="", err="error: `cluster.key` is there already; another key would lock out who has this one")
    assert d.bytes("cluster.key").decode() == text
    d.expect(1, "keygen", "-o", "no/such/folder.key", out="", err="error: cannot write `no/such/folder.key`: No such file or directory")
    d.expect(2, "keygen", "-o", "-", out="", err="a key is for a file, which nobody else can read")
    d.expect(2, "keygen", "mine.key", out="", err="`mine.key` is too many: `dfc keygen` takes options only")
    d.expect(2, "keygn", out="", err="there is no command `keygn`; did you mean `keygen`?")
    d.expect(2, "keygen", "--outptu=x", out="", err="there is no option `--outptu`; did you mean `--output`?")
    out, _ = d.expect(0, "keygen", "--help")
    assert "--output" in out and "cluster.key" in out, out
    assert sorted(os.listdir(d.path)) == ["cluster.key", "probe.key"], os.listdir(d.path)  # nothing half made stays


@test
def help_and_version(d):
    out, _ = d.expect(0, "--help")
    assert "run" in out and "repl" in out and "Exit codes" in out
    out, _ = d.expect(0, "run", "--help")
    assert "--input" in out and "--max-memory" in out
    d.expect(0, "--version")
    begin = time.monotonic()
    for _ in range(5):
        d.run("--version")
    assert (time.monotonic() - begin) / 5 < 0.5


@test
def wrong_usage(d):
    d.file("p.df", FACT)
    for words in ((), ("--nonsense",), ("run",), ("run", "p.df", "q.df"), ("p.df", "--emit=nothing"), ("p.df", "--only=f"),
                  ("run", "p.df", "--engine=magic"), ("run", "p.df", "--device=magic"),
                  ("run", "p.df", "--max-device-memory=lots"), ("run", "p.df", "--timeout=soon"),
                  ("run", "p.df", "--max-memory=lots"), ("run", "p.df", "--max-memory=0"), ("run", "p.df", "--input", "n"),
                  ("run", "p.df", "--trace", "--engine=tagged"), ("-",), ("run", "p.df", "--max-frames=-1"),
                  ("p.df", "--without=nothing")):
        _, err = d.expect(2, *words, out="")
        assert "dfc --help" in err, err


@test
def delays_that_need_nothing_more_are_computed_at_once(d):
    # The first element is a call, so the compiler does not know of any that it is evaluated.
    d.file("p.df", "slow :: Integer -> Integer\nslow n = if n == 0 then 50 else slow (n - 1)\nmain :: IO ()\n"
                   "main = print (sum (last (take 50 (iterate (\\xs -> zipWith max xs (tail xs ++ [0])) (slow 9 : [1 .. 49])))))\n")
    delayed = []
    for more in ((), ("--without=eager",)):
        _, err = d.expect(0, "run", "--stats=json", "p.df", *more, out="2451\n")
        delayed.append(json.loads(err)["delays"])
    assert 0 < delayed[0] < 0.8 * delayed[1], delayed


@test
def unknown_commands(d):
    d.file("p.df", FACT)
    d.expect(2, "rnu", "p.df", err="there is no command `rnu`; did you mean `run`?")
    d.expect(2, "frob", "p.df", err="there is no command `frob`")
    d.expect(2, "chekc", err="did you mean `check`?")
    d.expect(2, "run", "p.df", "--engine=foo", err="`--engine foo`: expected `reference`, `tagged`")
    d.expect(2, "run", "p.df", "--device=magic", err="there is no device `magic`; this build has `cpu`, `simulated`")
    d.expect(2, "run", "p.df", "--threads=100000", err="`--threads 100000`: expected a number from 1 to 256, such as `4`")
    d.expect(2, "run", "p.df", "--max-frames=1e5", err="`--max-frames 1e5`: expected a whole number from 1 on, such as `1000`")
    d.expect(2, "run", "p.df", "--batch=-1", err="`--batch -1`: expected `off`, `auto` or a number from 1 to 1048576, such as `64`")
    d.expect(2, "run", "p.df", "--timeout=soon", err="`--timeout soon`: expected a time, such as `10s`")
    d.expect(2, "p.df", "--emit=lzay", err="did you mean `lazy`?")
    d.expect(1, "nofile", err="cannot read `nofile`")
    d.file("rnu", FACT)
    d.expect(0, "rnu", "-o", "rnu.graph")  # a file of that name is a file


@test
def misspelt_options(d):
    """Each is named, in the order of the line, with the one that was meant."""
    d.file("f.df", "main x = x + 1 :: Int\n")
    usage = "\ntry `dfc --help`"
    for words, said in ((("run", "f.df", "x=3", "--inpt"), "there is no option `--inpt`; did you mean `--input`?"),
                        (("run", "f.df", "--inpt", "x=3"), "there is no option `--inpt`; did you mean `--input`?"),
                        (("run", "f.df", "--inpt=x=3"), "there is no option `--inpt`; did you mean `--input`?"),
                        (("run", "--inpt", "x=3", "f.df"), "there is no option `--inpt`; did you mean `--input`?"),
                        (("run", "f.df", "--max-mem=1G"), "there is no option `--max-mem`; did you mean `--max-memory`?"),
                        (("run", "f.df", "--enigne=demand", "--thread=2"),
                         "there is no option `--enigne`; did you mean `--engine`?\ndfc: there is no option `--thread`; did you mean `--threads`?"),
                        (("run", "f.df", "-I", "."), "there is no option `-I`; did you mean `-i`?"),
                        (("run", "f.df", "-input", "x=3"), "there is no option `-input`; did you mean `--input`?"),
                        (("run", "f.df", "--frobnicate"), "there is no option `--frobnicate`" + usage),
                        (("run", "--inptu"), "there is no option `--inptu`; did you mean `--input`?"),
                        (("check", "f.df", "--no-warning"), "did you mean `--no-warnings`?"),
                        (("repl", "--engin=demand"), "did you mean `--engine`?"),
                        (("explain", "DF0120", "--hlep"), "did you mean `--help`?"),
                        (("f.df", "--emti=core"), "there is no option `--emti`; did you mean `--emit`?"),
                        (("check", "f.df", "--input", "x=3"), "`dfc check` has no option `--input`; `dfc run` has it"),
                        (("f.df", "--input", "x=3"), "`dfc FILE` has no option `--input`; `dfc run` has it"),
                        (("run", "f.df", "--emit=core"), "`dfc run` has no option `--emit`; `dfc FILE` and `dfc place` have it"),
                        (("run", "f.df", "a", "b"), "`a`, `b` are too many: `dfc run` takes one FILE"),
                        (("run", "f.df", "b"), "`b` is too many: `dfc run` takes one FILE"),
                        (("explain", "DF0120", "DF0121"), "`DF0121` is too many: `dfc explain` takes one CODE")):
        d.expect(2, *words, out="", err="dfc: " + said if said.startswith(("there", "`")) else said)


@test
def results_without_a_text(d):
    """A value whose type has no `Show` compiles if it is made of arrays, and can then be written to files."""
    d.file("p.df", "import qualified Tensor as T\ndata P = P { w :: Tensor Float [2], n :: Int }\nmain k = P { w = T.fill k, n = 3 }\n")
    d.expect(0, "p.df", "-o", "p.graph", out="")
    d.expect(0, "check", "p.df", out="")
    d.expect(2, "run", "p.graph", "--input", "k=2", out="", err="error[DF0831]: the result of `p.graph` cannot be printed: its type, `P`, has no `Show` instance")
    d.expect(2, "run", "p.graph", "--input", "k=2", out="", err="`--output @FILE.npz`")
    d.expect(0, "run", "p.graph", "--input", "k=2", "--output", "n=@n.json", out="")
    assert d.bytes("n.json") == b"3\n", d.bytes("n.json")
    d.expect(0, "run", "p.graph", "--input", "k=2", "--output", "@a.npz", out="")
    d.expect(0, "run", "p.df", "--input", "k=2", "--output", "@b.npz", out="")
    assert d.bytes("a.npz") == d.bytes("b.npz")
    d.expect(1, "run", "p.df", "--input", "k=2", out="", err="`dfc run --output @FILE.npz`")
    # The graph's text says it too.
    out, _ = d.expect(0, "p.df", "--emit=tagged")
    assert "unshown\n" in out
    d.file("t.graph", out)
    d.expect(2, "run", "t.graph", "--input", "k=2", err="DF0831")
    for body, why in (("P (Float -> Float)\nmain = P id", "a function"), ("P Char\nmain = P 'a'", "a single character"),
                      ("P (IO ())\nmain = P (print 1)", "an action")):
        d.file("q.df", "data P = " + body + "\n")
        d.expect(1, "q.df", "-o", "q.graph", err="nor can it be written as arrays: it holds " + why)
    for good in ("P String\nmain = P \"a\"", "P [P] Int\nmain = P [P [] 1] 2", "A | B (Maybe Double)\ndata P = P A\nmain = P (B Nothing)"):
        d.file("r.df", "data " + ("" if good.startswith("A") else "P = ") + good.replace("A |", "A = A |", 1) + "\n")
        d.expect(0, "r.df", "-o", "r.graph")
        d.expect(0, "run", "r.graph", "--output", "@r.npz", out="")


@test
def literate_sources(d):
    """Both forms of Haskell 2010, 10.4, as files of every command and as modules; places are those of the file."""
    d.file("Key.lhs", "The module of keys.\n\n> module Key where\n> key :: Int\n> key = 6\n\nThat is all.\n")
    d.file("main.lhs", "A program.\n\\begin{code}\n  import Key\n  main = key * 7\n\\end{code}\nThe end.\n\n> unused = 1 :: Int\n")
    d.expect(0, "run", "main.lhs", out="42\n")
    d.expect(0, "check", "main.lhs", out="")
    d.expect(0, "main.lhs", "-o", "m.graph")
    d.expect(0, "run", "m.graph", out="42\n")
    d.expect(0, "main.lhs")
    d.expect(0, "run", "main.graph", out="42\n")
    d.expect(0, "repl", "main.lhs", stdin="key + unused\n:load Key.lhs\nkey\n:reload\nkey\n", out="7\n6\n6\n")
    d.expect(0, "run", "-", stdin="import Key\nmain = key\n", out="6\n")  # the standard input is plain
    d.expect(1, "run", "-", stdin="> main = 1\n", err="<stdin>:1:1")
    d.expect(1, "run", "-", stdin="import KEY\nmain = key\n", err="there is `Key.lhs`")
    d.file("error.lhs", "ä text\n\n> f :: Int -> Int\n> f x = x\n> main = f 'c'\n")
    d.expect(1, "check", "error.lhs", err=" --> error.lhs:5:12\n")
    d.expect(1, "check", "error.lhs", err="\n5 | > main = f 'c'\n")
    d.file("crlf.lhs", "text\r\n\r\n> main = 1\r\n")
    d.expect(0, "run", "crlf.lhs", out="1\n")
    d.file("tab.lhs", ">main = do\n>\tprint 1\n>       print 2\n")  # the tab stop is that of the file
    d.expect(0, "run", "tab.lhs", out="1\n2\n")
    d.file("script.lhs", "#!/usr/bin/env runghc\n> main = print 3\n")
    d.expect(0, "run", "script.lhs", out="3\n")
    blank = "error[DF0116]: a line of program and a line of text stand beside each other without a blank line between them"
    for text, code, place in (("text\n> main = 1\n", blank, "2:1"), ("> main = 1\ntext\n", blank, "2:1"),
                              ("only text\n", "error[DF0117]", "1:1"), ("", "error[DF0117]", "1:1"),
                              ("a\n\\begin{code}\nmain = 1\n", "error[DF0118]: the `\\begin{code}` here has no `\\end{code}`", "2:1"),
                              ("\\end{code}\n\n> main = 1\n", "error[DF0118]: this `\\end{code}` has no `\\begin{code}`", "1:1")):
        d.file("bad.lhs", text)
        d.expect(1, "check", "bad.lhs", err=code)
        d.expect(1, "check", "bad.lhs", err="bad.lhs:" + place + "\n")


@test
def explains_diagnostics(d):
    out, _ = d.expect(0, "explain", "df0201")
    assert "not in scope" in out and "For example:" in out and "error[DF0201]" in out, out
    assert d.expect(0, "explain", "UnboundName")[0] == out
    d.expect(2, "explain", "DF9999", err="DF9999")
    # Each has an example, or a few words.
    for table in glob.glob(os.path.join(ROOT, "lang", "diag", "*.def")):
        for code in re.findall(r"^DF_DIAG\((DF\d+)", open(table).read(), re.M):
            assert d.expect(0, "explain", code)[0].count("\n") > 3, code


@test
def unreadable_sources(d):
    d.expect(1, "check", "missing.df", err="cannot read `missing.df`")
    d.expect(1, "check", ".", err="it is a directory")
    with open(os.path.join(d.path, "huge.df"), "wb") as file:
        file.truncate(4 << 30)
    d.expect(1, "check", "huge.df", err="error[DF0803]: `huge.df` is longer than")
    d.expect(1, "run", "missing.graph", err="cannot read `missing.graph`")


@test
def programs_of_several_files(d):
    for folder in ("app", "app/Shapes", "elsewhere"):
        os.mkdir(os.path.join(d.path, folder))
    d.file("app/Shapes/Area.hs", "module Shapes.Area (area) where\nimport Shapes.Unit\narea :: Int -> Int\narea n = n * n * unit\n")
    d.file("app/Shapes/Unit.df", "module Shapes.Unit where\nunit :: Int\nunit = 2\n")
    d.file("app/Main.hs", "module Main (main) where\nimport Shapes.Area\nmain :: IO ()\nmain = print (area 3)\n")
    d.expect(0, "run", "app/Main.hs", out="18\n")
    d.expect(0, "run", os.path.join(d.path, "app", "Main.hs"), out="18\n")
    d.expect(0, "run", "elsewhere/../app/Main.hs", out="18\n")
    d.expect(0, "check", "app/Main.hs", out="")
    d.expect(0, "check", "app/Shapes/Unit.df", out="")
    # The graph holds everything.
    d.expect(0, "app/Main.hs", "-o", "main.graph")
    d.expect(0, "run", "main.graph", out="18\n")
    # A program from the standard input has its modules in the current folder.
    d.file("Here.hs", "module Here where\nhere = 5\n")
    d.expect(0, "run", "-", stdin="import Here\nmain = here\n", out="5\n")
    d.expect(1, "run", "-", stdin="import Shapes.Area\nmain = area 3\n", err="there is no module `Shapes.Area`")
    # A module by itself: the folder is the one in which its name begins, from wherever it is asked for.
    d.file("app/Shapes/Both.hs", "module Shapes.Both where\nimport Shapes.Area\nimport Top\nboth = top + area 2\n")
    d.file("app/Top.hs", "module Top where\nimport Shapes.Unit\ntop = unit\n")
    d.expect(0, "check", "app/Shapes/Both.hs")
    d.expect(0, "check", os.path.join(d.path, "app/Shapes/Both.hs"))
    d.expect(0, "repl", "app/Shapes/Both.hs", stdin="both\n", out="10\n")
    there = subprocess.run([d.dfc, "repl", "Both.hs"], cwd=os.path.join(d.path, "app/Shapes"), input=b"both\n", capture_output=True)
    assert there.stdout == b"10\n", there
    # More folders, as of a package with app/ and src/.
    os.makedirs(os.path.join(d.path, "src/Data"))
    d.file("src/Lib.hs", "module Lib where\nimport Shapes.Unit\nimport Data.Own\nlib = unit + own\n")
    d.file("src/Data/Own.hs", "module Data.Own where\nown :: Int\nown = 40\n")
    d.file("app/Start.hs", "import Lib\nmain = lib\n")
    d.expect(0, "run", "-isrc", "app/Start.hs", out="42\n")
    d.expect(0, "run", "app/Start.hs", "-i", "src", out="42\n")
    d.expect(0, "check", "--modules=elsewhere", "--modules=src/", "app/Start.hs")
    d.expect(0, "app/Start.hs", "-isrc", "--emit=core", "--only=lib", out="lib :: Int\nlib = (+) @Int unit own\n")
    d.expect(0, "repl", "-isrc", "-iapp", stdin="import Lib\nlib\n:load app/Start.hs\nlib + 1\n", out="42\n43\n")
    d.expect(1, "run", "app/Start.hs", err="there is no module `Lib`")
    d.expect(2, "run", "-inowhere", "app/Start.hs", err="nowhere")
    # Names of files are those of modules, capitals included.
    d.file("src/Data/lower.hs", "module Data.Lower where\n")
    d.expect(1, "run", "-", "-isrc", stdin="import Data.Lower\nmain = 1\n", err="there is `src/Data/lower.hs`")
    # .df before .hs; a folder is no module.
    d.file("Here.df", "module Here where\nhere = 6\n")
    d.expect(0, "run", "-", stdin="import Here\nmain = here\n", out="6\n")
    d.expect(1, "run", "-", stdin="import Elsewhere\nmain = 1\n", err="there is no module")
    # The main file's own name is the library's unless its header says so.
    d.file("Fold.df", "import Fold\nmain = 3\n")
    d.expect(0, "run", "Fold.df", out="3\n")
    d.file("Fold.df", "module Fold where\nimport Fold\nmain = 3\n")
    d.expect(1, "run", "Fold.df", err="modules that import each other are not supported")
    d.file("Bad.hs", "module Bad where\nx = \"")
    with open(os.path.join(d.path, "Bad.hs"), "ab") as file:
        file.write(b"\xff\"\n")
    d.expect(1, "run", "-", stdin="import Bad\nmain = x\n", err="Bad.hs:2:6")


@test
def graphs_that_are_none(d):
    """What is wrong with the file, and what to do."""
    anew = "hint: `dfc FILE.df -o NAME.graph` makes it from its source"
    d.expect(4, "run", d.file("a.graph", b"\x08\x07 nothing of the kind"), err=anew)
    d.expect(4, "run", d.file("b.graph", ""), err="error[DF0501]: not a valid graph: `b.graph`: it is empty")
    d.expect(4, "run", d.file("c.graph", FACT), err="hint: the name of a source ends in `.df`")
    d.expect(0, d.file("d.df", FACT))
    d.expect(4, "run", d.file("d.graph", d.bytes("d.graph")[:500]), err=anew)
    d.expect(4, "run", "-", stdin=b"\x08", err="error[DF0501]: not a valid graph: `<stdin>`: ")


@test
def errors_and_main(d):
    d.expect(1, "run", d.file("a.df", "main = 1 `div` (0 :: Int)\n"), out="", err="divide by zero")
    d.expect(1, "run", d.file("b.df", "f x = x + 1\n"), out="", err="main")
    d.expect(1, "run", d.file("c.df", "main = (1, error \"half\")\n"), err="half")
    d.expect(0, "check", "b.df", out="", err="")
    _, err = d.expect(1, "check", d.file("e.df", "f = nope1\ng = nope2\n"))
    assert "nope1" in err and "nope2" in err, "all errors in one run"


@test
def inputs(d):
    d.file("p.df", "main :: Int -> Double -> (Double, Bool)\nmain n x = (fromIntegral n * x, n > 3)\n")
    d.expect(0, "p.df")
    for file in ("p.df", "p.graph"):
        d.expect(0, "run", file, "--input", "n=4", "--input", "x=2.5", out="(10.0,True)\n")
        d.expect(0, "run", file, "--input=x=2.5", "--input=n=-1", out="(-2.5,False)\n")
        _, err = d.expect(2, "run", file, out="")
        assert "`n` of type `Int`" in err and "`x` of type `Double`" in err, err
        _, err = d.expect(2, "run", file, "--input", "n=4", "--input", "x=1", "--input", "y=1")
        assert "`y`" in err and "`n` (Int)" in err, err
        d.expect(2, "run", file, "--input", "n=4.5", "--input", "x=1", err="input `n`")
        d.expect(2, "run", file, "--input", "n=4", "--input", "n=4", "--input", "x=1", err="twice")
        # Numbers as `read` takes them.
        d.expect(0, "run", file, "--input", "n=0x10", "--input", "x=0o17", out="(240.0,True)\n")
        d.expect(0, "run", file, "--input", "n=-0XfF", "--input", "x=1e1", out="(-2550.0,False)\n")
        for wrong in ("1_000", "0x", "0o8", "0b1", "+4", "1.0"):
            d.expect(2, "run", file, "--input", "n=" + wrong, "--input", "x=1", err="`%s` is not an Int" % wrong)
    # Names also where main is a lambda; a character needs no quotes, which a shell would take.
    d.file("q.df", "main :: Int -> Char -> (Int, Char)\nmain n = (\\c -> (n, c))\n")
    d.expect(0, "run", "q.df", "--input", "n=1", "--input", "c=a", out="(1,'a')\n")


if __name__ == "__main__":
    main()
