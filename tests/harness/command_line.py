#!/usr/bin/env python3
"""What the command line promises: exit codes, where output goes, files that are whole or not there. One function per promise.
(The REPL: repl.py.)

    command_line.py --dfc build/dfc [--only NAME]
"""

import glob
import json
import os
import pty
import re
import signal
import stat
import subprocess
import time

from promises import main, test

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ENGINES = ("tagged", "reference", "demand", "expanding")
FACT = "fact n = if n == 1 then n else n * fact (n - 1)\nmain = fact 10\n"
SPIN = "spin :: Int -> Int\nspin n = spin (n + 1)\nmain = spin 0\n"


# ---------------------------------------------------------------- keys

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


# ---------------------------------------------------------------- help, versions, usage

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


# ---------------------------------------------------------------- compiling

@test
def output_is_beside_the_source(d):
    os.mkdir(os.path.join(d.path, "sub"))
    d.file("sub/p.df", FACT)
    d.expect(0, "sub/p.df", out="", err="")
    d.expect(0, "run", "sub/p.graph", out="3628800\n")


@test
def a_graph_as_text(d):
    d.file("p.df", FACT)
    text, _ = d.expect(0, "p.df", "--emit=tagged")
    d.file("p.tagged", "-- by hand\n\n" + text)
    d.expect(0, "run", "p.tagged", out="3628800\n")
    d.expect(0, "run", "-", stdin=text, out="3628800\n")
    d.expect(0, "p.tagged", "--emit=tagged", out=text)
    d.expect(0, "p.tagged", "-o", "p.graph")
    d.expect(0, "p.graph", "--emit=tagged", out=text)
    d.file("p.tagged", text.replace("EntryMerge", "EntryMrge", 1))
    d.expect(4, "run", "p.tagged", err="error[DF0501]: not a valid graph: `p.tagged`: line ")
    d.file("p.tagged", text.replace(" = Eq ", " = Add ", 1))
    d.expect(4, "run", "p.tagged", err="error[DF0501]: not a valid graph: `p.tagged`: ")


@test
def texts_without_quotes(d):
    """A shell takes the quotes of "text" away."""
    d.file("p.df", "import qualified Data.Text as T\nmain s t = (s :: String, T.length t)\n")
    for text, shown in (("abc", '"abc"'), ('"abc"', '"abc"'), ("", '""'), ("a\\nb \"c", '"a\\\\nb \\"c"'), ("['a']", '"a"'), ("[a]", '"[a]"'), ("(3 (2 a)", '"(3 (2 a)"'),
                        ("x\ny", '"x\\ny"')):
        d.expect(0, "run", "p.df", "--input", "s=" + text, "--input", "t=" + "four", out="(%s,4)\n" % shown)
    d.expect(2, "run", "p.df", "--input", 's="abc', "--input", "t=x", err="is not a String")
    d.file("q.df", "main s n = (s :: Maybe String, n :: Maybe Int)\n")
    d.expect(0, "run", "q.df", "--input", "s=abc", out='(Just "abc",Nothing)\n')
    d.expect(0, "run", "q.df", "--input", 's=Just "abc"', out='(Just "abc",Nothing)\n')
    d.expect(0, "run", "q.df", "--input", "s=Nothing", out="(Nothing,Nothing)\n")
    d.expect(2, "run", "q.df", "--input", "n=x", err="`x` is not an Int")


@test
def same_source_same_bytes(d):
    d.file("p.df", FACT)
    d.expect(0, "p.df", "-o", "a.graph")
    d.expect(0, "p.df", "-o", "b.graph")
    assert d.bytes("a.graph") == d.bytes("b.graph")


@test
def standard_streams(d):
    d.expect(0, "run", "-", stdin=FACT, out="3628800\n")
    d.expect(0, "-", "-o", "p.graph", stdin=FACT, out="")
    with open(os.path.join(d.path, "p.graph"), "rb") as file:
        graph = file.read()
    d.expect(0, "run", "-", stdin=graph, out="3628800\n")
    done = subprocess.run([d.dfc, "-", "-o", "-"], input=FACT.encode(), capture_output=True)
    assert done.stdout == graph
    d.expect(1, "check", "-", stdin="main = nope\n", err="<stdin>:1:8")


@test
def dumps(d):
    d.file("p.df", FACT)
    for phase in ("tokens", "ast", "core", "functions", "tagged", "dot", "regions"):
        out, _ = d.expect(0, "p.df", "--emit=" + phase)
        assert "fact" in out, phase
        d.expect(0, "p.df", "--emit=" + phase, "-o", "dump.txt", out="")
        assert d.bytes("dump.txt").decode() == out, phase
    assert not os.path.exists(os.path.join(d.path, "p.graph")), "a dump is no compilation"
    d.file("q.df", "pick :: Bool -> Int -> Int\npick c x = if c then x + 1 else 0\n")
    for phase in ("tokens", "ast", "core", "functions", "tagged", "dot", "regions", "lazy"):
        out, _ = d.expect(0, "q.df", "--emit=" + phase, "--only=pick")
        assert "pick" in out or phase == "lazy", "without a main, --only says where to begin"
        d.expect(1, "q.df", "--emit=" + phase, "--only=pock", err="did you mean `pick`?")
    d.expect(1, "q.df", "--emit=tagged", err="main")
    # A compiled graph can be shown, too.
    d.expect(0, "p.df")
    out, _ = d.expect(0, "p.graph", "--emit=tagged")
    assert "Call" in out
    # What the engine makes of it is without what is switched off.
    assert "scheduled code of" in d.expect(0, "p.graph", "--emit=regions")[0]
    assert "scheduled code of" not in d.expect(0, "p.graph", "--emit=regions", "--without=direct")[0]
    d.expect(1, "p.graph", "--emit=tagged", "--only=fcat", err="did you mean `fact`?")
    d.expect(0, "p.graph", "--emit=lazy", out="nothing is lazy\n")
    out, _ = d.expect(0, "p.df", "--emit=ast", "--only=fact")
    assert "main" not in out.split("\n", 1)[1], "the declarations of that name alone"
    d.expect(1, "p.graph", "--emit=core", err="error[DF0815]: `p.graph` is a compiled graph already")


@test
def failed_output_leaves_nothing(d):
    d.file("p.df", FACT)
    d.file("old.graph", "precious")
    d.file("bad.df", "main = nope\n")
    d.expect(1, "bad.df", "-o", "old.graph", err="nope")
    assert d.bytes("old.graph") == b"precious"
    d.expect(1, "p.df", "-o", "no/such/folder.graph", err="cannot write `no/such/folder.graph`")
    os.mkdir(os.path.join(d.path, "folder"))
    d.expect(1, "p.df", "-o", "folder", err="cannot write `folder`")
    d.expect(0, "p.df", "-o", "/dev/null")
    # Neither the source nor a module of it is overwritten, under whatever name.
    d.file("M.df", "module M where\nm = 1\n")
    d.file("q.df", "import M\nmain = m\n")
    os.symlink("p.df", os.path.join(d.path, "link"))
    for source, output in ("p.df", "p.df"), ("p.df", "./p.df"), ("p.df", "link"), ("q.df", "M.df"):
        d.expect(1, source, "-o", output, err=f"cannot write `{output}`: the program is read from it")
    d.expect(1, "run", "p.df", "--trace=p.df", err="the program is read from it")
    assert d.bytes("p.df") == FACT.encode()
    for name in "M.df", "q.df", "link":
        os.unlink(os.path.join(d.path, name))
    assert sorted(os.listdir(d.path)) == ["bad.df", "folder", "old.graph", "p.df"]


@test
def output_keeps_links_and_modes(d):
    d.file("p.df", FACT)
    d.file("real.graph", "old")
    os.chmod(os.path.join(d.path, "real.graph"), 0o600)
    os.symlink("real.graph", os.path.join(d.path, "link.graph"))
    d.expect(0, "p.df", "-o", "link.graph")
    assert os.path.islink(os.path.join(d.path, "link.graph"))
    assert stat.S_IMODE(os.stat(os.path.join(d.path, "real.graph")).st_mode) == 0o600
    d.expect(0, "run", "real.graph", out="3628800\n")


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


# ---------------------------------------------------------------- running

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


SOON = 20 if os.environ.get("DFC_SLOW_BUILD") else 1.0  # 100 ms is promised; the machine may have other work
LIMIT = 2 if os.environ.get("DFC_SLOW_BUILD") else 0.3  # seconds, in which a run has begun


@test
def limits(d):
    d.file("spin.df", SPIN)
    d.file("grow.df", "grow :: Int -> Int\ngrow n = 1 + grow (n + 1)\nmain = grow 0\n")
    d.file("lists.df", "main = sum [x * y | x <- [1 :: Int ..], y <- [1 .. x]]\n")
    for engine in ENGINES:
        for file, place in (("spin.df", "at spin.df:2:1 in `spin`"), ("grow.df", "at grow.df:2:"), ("lists.df", "error: ")):
            begin = time.monotonic()
            _, err = d.expect(3, "run", file, "--engine=" + engine, "--timeout=%gs" % LIMIT, out="", err=place)
            # One line: the run did nothing wrong, and who ended it asks for the place and not for the calls around it.
            assert re.fullmatch(r"error: the time limit of %g s is reached at %s:\d+:\d+ in `\w+`\n" % (LIMIT, file), err), (engine, err)
            assert time.monotonic() - begin < LIMIT + SOON + 0.5, (file, engine)
        _, err = d.expect(3, "run", "grow.df", "--engine=" + engine, "--max-memory=50M", out="",
                          err="error: the memory limit of 50 MiB is reached\n  at grow.df:2:")
        assert "more calls" in err, err
        d.expect(3, "run", "grow.df", "--engine=" + engine, "--max-frames=1000", out="",
                 err="error: the limit of 1000 live calls is reached\n  at grow.df:2:")


@test
def compilation_has_limits(d):
    """What ends it says so, with exit code 3; a run gets what is left of the time."""
    d.file("type.df", "main = let { x0 = \\y -> y; %s } in length [x39]\n" % "; ".join("x%d = (x%d, x%d)" % (n, n - 1, n - 1) for n in range(1, 40)))
    d.file("long.df", "xs :: [Int]\nxs = [%s]\nmain = sum xs\n" % ", ".join(map(str, range(200000))))
    for command in (["check", "type.df"], ["run", "type.df"], ["type.df", "-o", "type.graph"], ["type.df", "--emit=core"]):
        begin = time.monotonic()
        _, err = d.expect(3, *command, "--timeout=500ms", out="", err="error[DF0835]: the time limit of 0.5 s is reached while the program is compiled (pass `check`)\n")
        assert "`--timeout` gives it longer" in err and err.count("error") == 1, err
        assert time.monotonic() - begin < 0.5 + SOON + 0.5, command
        _, err = d.expect(3, *[word.replace("type", "long") for word in command], "--max-memory=40M", out="", err="error[DF0835]: the memory limit of ")
        assert "`--max-memory` gives it more" in err and err.count("error") == 1, err
    assert not os.path.exists(os.path.join(d.path, "type.graph"))
    _, err = d.expect(3, "check", "type.df", "--timeout=200ms", "--error-format=json")
    assert json.loads(err)["code"] == "DF0835", err


# Live frames are counted by machine code too, also where it asks the worker something between a call and its end.
@test
def frames_are_counted(d):
    d.file("count.df", """
count :: [String] -> Int
count [] = 0
count (w : ws) = length (filter (`elem` "aeiou") w) + tree 3 w + count ws

tree :: Int -> String -> Int
tree n w = if n == 0 then length (takeWhile (== 'a') w) else tree (n - 1) w + tree (n - 1) w

main = count (words (concatMap (\\i -> "abc" ++ show i ++ " ") [1 .. 2000]))
""")
    _, err = d.expect(0, "run", "count.df", "--max-frames=10000", "--stats=json", "--threads=1", out="18000\n")
    assert 1000 < json.loads(err)["peak_frames"] < 10000, err


@test
def interrupts(d):
    d.file("spin.df", SPIN)
    for number in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen([d.dfc, "run", "spin.df"], cwd=d.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(1)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
        assert process.returncode == 130, (process.returncode, err)
        assert err == b"error: interrupted at spin.df:2:1 in `spin`\n" and out == b"", err
    # As on every engine, however many calls are live; as JSON the path is there.
    d.file("grow.df", "grow :: Int -> Int\ngrow n = 1 + grow (n + 1)\nmain = grow 0\n")
    for engine in ENGINES:
        code, out, err, _ = seconds_to_end(d, signal.SIGINT, "grow.df", "--engine=" + engine, "--max-memory=4G", after=LIMIT)
        assert code == 130 and re.fullmatch(rb"error: interrupted at grow.df:2:\d+ in `grow`\n", err), (engine, code, err)
    code, out, err, _ = seconds_to_end(d, signal.SIGINT, "grow.df", "--error-format=json", after=LIMIT)
    assert code == 130 and json.loads(err)["message"] == "interrupted" and len(json.loads(err)["path"]) > 3, err


def seconds_to_end(d, number, *words, after=1.0):
    """Runs, sends a signal; the exit code, what was printed, and how long it took to end."""
    process = subprocess.Popen([d.dfc, "run", *words], cwd=d.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(after)
    begin = time.monotonic()
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err, time.monotonic() - begin


@test
def inside_one_operation(d):
    """Limits and signals reach a run that stands in one multiplication, division or conversion of a huge Integer."""
    d.file("power.df", "f :: Int -> Integer -> Integer\nf n x = if n == 0 then x else f (n - 1) (x * x)\nmain = f 40 3 == 0\n")
    d.file("divide.df", "main = let x = 7 ^ (2 ^ 26 :: Int) in gcd (x * x) (x * (x + 1)) == (0 :: Integer)\n")
    d.file("show.df", "main = (1, 3 ^ (2 ^ 28 :: Int))\n")
    for engine in ENGINES:
        for file in ("power.df", "divide.df", "show.df"):
            begin = time.monotonic()
            _, err = d.expect(3, "run", file, "--engine=" + engine, "--timeout=400ms")
            assert "the time limit of 0.4 s is reached" in err, err
            assert time.monotonic() - begin < 0.4 + SOON + 0.5, (file, engine)
        code, _, err, seconds = seconds_to_end(d, signal.SIGINT, "power.df", "--engine=" + engine)
        assert code == 130 and b"interrupted" in err and seconds < SOON, (engine, code, err, seconds)
    code, out, err, seconds = seconds_to_end(d, signal.SIGTERM, "show.df", after=3)
    assert code == 130 and out.startswith(b"(1,") and b"interrupted" in err and seconds < SOON, (code, out[:40], err, seconds)
    # The prompt goes on.
    d.expect(3, "repl", stdin=":load power.df\n:set timeout 400ms\nf 40 3 == 0\n:unset timeout\n1 + 1\n", out="2\n", err="time limit")


@test
def inside_one_tensor_op(d):
    """The same in one op on large tensors, which says where it stands; only the watchdog, a second late, would not know."""
    head = "import qualified Tensor as T\na :: Tensor Float [%s]\na = T.normal 1\nmain = "
    d.file("product.df", head % "9000, 9000" + "T.sum (T.matmul a a)\n")
    d.file("random.df", head % "400000000" + "T.sum a\n")
    d.file("shown.df", head % "60000000" + "a\n")
    for file, engine, how in (("product.df", "tagged", "--threads=2"), ("product.df", "tagged", "--batch=off"), ("product.df", "reference", "--batch=off"),
                              ("random.df", "tagged", "--threads=1"), ("shown.df", "tagged", "--threads=1")):
        _, err = d.expect(3, "run", file, "--engine=" + engine, how, "--timeout=2s")
        assert re.match(r"error: the time limit of 2 s is reached at %s:\d+:\d+ in `(main|a)`\n" % file, err), (file, engine, how, err)
    # The prompt goes on.
    d.expect(3, "repl", stdin=":load product.df\n:set timeout 2s\nmain\n:unset timeout\n1 + 1\n", out="2\n", err="time limit")


@test
def no_room(d):
    """A power that no memory holds is refused at once, before it is worked on."""
    d.file("power.df", "main = 2 ^ (10 ^ 12 :: Int) == (0 :: Integer)\n")
    for engine in ENGINES:
        begin = time.monotonic()
        _, err = d.expect(3, "run", "power.df", "--engine=" + engine)
        assert "the memory limit of" in err and "power.df:1:" in err, err
        assert time.monotonic() - begin < SOON, engine


@test
def nobody_reads(d):
    """A run that is stopped while it writes into a full pipe ends, too."""
    d.file("long.df", "main = 7 ^ 3000000\n")
    process = subprocess.Popen([d.dfc, "run", "long.df"], cwd=d.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(3)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 130
    process.communicate()


@test
def reports(d):
    d.file("p.df", FACT)
    _, err = d.expect(0, "run", "p.df", "--stats", out="3628800\n")
    assert "calls" in err and "seconds to load" in err, err
    for engine in ENGINES:
        out, err = d.expect(0, "run", "--stats=json", "p.df", "--engine=" + engine, out="3628800\n")
        stats = json.loads(err)
        assert stats["engine"] == engine and stats["calls"] >= 10 and stats["deepest_tag"] >= 9, stats
        assert stats["peak_frames"] > 0 and stats["peak_bytes"] > 0 and stats["firings"] > 10, stats
        assert all(0 <= stats[phase + "_seconds"] < 60 for phase in ("load", "prepare", "run")), stats
    d.expect(2, "run", "p.df", "--stats=xml", err="`text`, `json` or `times`")
    _, err = d.expect(0, "run", "p.df", "--stats=times", out="3628800\n")
    assert "calls" not in err and json.loads(err)["run_cpu_seconds"] > 0, err
    _, err = d.expect(0, "run", "p.df", "--trace", out="3628800\n")
    assert "Mul" in err
    d.expect(0, "run", "p.df", "--seed=5", "--run-dry", out="3628800\n")
    for mode in ("-O0", "--no-optimize", "--no-loops"):
        d.expect(0, "run", "p.df", mode, out="3628800\n")
    d.file("g.df", "import Gradient\nf n x = if n == (0 :: Int) then x else f (n - 1) (x * x :: Double)\nmain = grad (f 2) 3\n")
    for kind in ("paired", "recompute", "table"):
        d.expect(0, "run", "g.df", "--gradient=" + kind, out="108.0\n")
    d.expect(2, "run", "g.df", "--gradient=tape", err="--gradient")
    # Calls that were begun when the failure was found are given up, in code that counts too.
    d.file("fails.df", "f :: Int -> Int\nf n\n  | n <= 0 = if n == 5 then error \"a\" else n `quot` n\n"
                       "  | otherwise = (n `quot` (n - n)) + f (n `div` 2)\nmain = (3 :: Int, f 2)\n")
    d.expect(1, "run", "fails.df", "--stats", out="(3,\n", err="error: divide by zero\n  at fails.df:4:20 in `f`")


def within_each_other(spans):
    ends = []
    for span in sorted(spans, key=lambda span: (span["ts"], -span["dur"])):
        while ends and ends[-1] <= span["ts"] + 0.001:
            ends.pop()
        assert not ends or span["ts"] + span["dur"] <= ends[-1] + 0.01, ("not within what is around it", span)
        ends.append(span["ts"] + span["dur"])


@test
def timelines(d):
    """--trace=FILE: spans by function that lie within each other, bounded, also of a run that a limit ends."""
    d.file("p.df", "fib :: Int -> Int\nfib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\nmain = fib 23\n")
    d.file("spin.df", SPIN)
    for engine in ENGINES:
        d.expect(0, "run", "p.df", "--engine=" + engine, "--trace=t.json", out="28657\n")
        trace = json.loads(d.bytes("t.json"))
        spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        assert spans[0]["name"] == "main" and sum(span["name"] == "fib" for span in spans) > 20, spans[:3]
        assert any(span.get("args", {}).get("at") == "p.df:2:30" for span in spans), "the place of the call"
        assert trace["otherData"]["worker 0 moments"] > 5, trace["otherData"]
        within_each_other(spans)
    # A track per thread; under stress the second one surely gets work, if there is some for a while.
    d.file("longer.df", "fib :: Int -> Int\nfib n = if n < 2 then n else fib (n - 1) + fib (n - 2)\nmain = fib 31\n")
    d.expect(0, "run", "longer.df", "--threads=2", "--stress=1", "--trace=t.json", out="1346269\n")
    spans = [event for event in json.loads(d.bytes("t.json"))["traceEvents"] if event["ph"] == "X"]
    tracks = [[span for span in spans if span["tid"] == worker] for worker in (0, 1)]
    assert all(any(span["name"] == "fib" for span in track) for track in tracks), spans[:3]
    for track in tracks:
        within_each_other(track)
    # Batches have a track of their own: their ops, and how many calls had them computed together.
    d.file("waves.df", "import qualified Tensor as T\nrow :: Int -> Tensor Float [4]\nrow n = if n == 0 then 1 else tanh (row (n - 1) * 0.5)\n"
                       "main = T.sum (foldr (+) 0 [row (n `mod` 30) | n <- [1 .. 300]])\n")
    d.expect(0, "run", "waves.df", "--trace=t.json")
    trace = json.loads(d.bytes("t.json"))
    track, = [event["tid"] for event in trace["traceEvents"] if event["ph"] == "M" and event["args"]["name"] == "batches"]
    waves = [event for event in trace["traceEvents"] if event["ph"] == "X" and event["tid"] == track]
    assert len(waves) == trace["otherData"]["batches"] and max(wave["args"]["rows"] for wave in waves) >= 100, waves[:3]
    assert any(wave["name"].endswith("Tanh") for wave in waves), waves[:3]
    within_each_other(waves)
    d.expect(3, "run", "spin.df", "--timeout=500ms", "--trace=t.json")
    assert len(d.bytes("t.json")) < 5e6 and json.loads(d.bytes("t.json"))["traceEvents"]
    d.expect(1, "run", "p.df", "--trace=no/such/folder.json", out="", err="cannot write `no/such/folder.json`")
    d.expect(0, "run", "p.df", "--trace=t.json")
    assert sorted(os.listdir(d.path)) == ["longer.df", "p.df", "spin.df", "t.json", "waves.df"]


@test
def closed_pipes(d):
    d.file("p.df", "main = 3 ^ 20000\n")
    done = subprocess.run("'%s' run p.df | head -c 5" % d.dfc, shell=True, cwd=d.path, capture_output=True)
    assert done.stdout == b"26613" and done.stderr == b"", done
    done = subprocess.run("'%s' run p.df > /dev/full" % d.dfc, shell=True, cwd=d.path, capture_output=True)
    assert done.returncode == 1 and b"cannot write" in done.stderr, done


@test
def json_errors(d):
    """One object a line, of every command that compiles or runs; docs/errors.md is the schema."""
    d.file("types.df", "f :: Int -> Bool\nf n = n + 1\nmain = widht 3\n")
    d.file("warns.df", "f :: Bool -> Int\nf True = 1\nmain = f True\n")
    d.file("fails.df", "half :: Int -> Int\nhalf n = 10 `div` n\nmain = half 0\n")
    d.file("syntax.df", "f x = (x\n")
    places = {"file", "line", "column", "end_line", "end_column", "begin", "end"}

    def objects(err):
        rows = [json.loads(line) for line in err.splitlines()]
        for row in rows:
            assert row["severity"] in ("error", "warning") and row["message"], row
            for note in row.get("notes", []):
                assert note["message"] and (set(note) == {"message"} or set(note) == places | {"message"}), note
        return rows

    for words in (("check", "types.df"), ("run", "types.df"), ("types.df",)):
        _, err = d.expect(1, *words, "--error-format=json")
        clash, name = objects(err)
        assert clash["code"] == "DF0220" and (clash["line"], clash["column"], clash["end_column"]) == (2, 7, 12), clash
        assert clash["notes"][0]["line"] == 1 and places <= set(clash), clash
        assert name["name"] == "UnboundName" and name["file"] == "types.df", name
    _, err = d.expect(1, "check", "syntax.df", "--error-format=json")
    assert [row["name"] for row in objects(err)] == ["Unclosed"]
    out, err = d.expect(0, "run", "warns.df", "--error-format=json")
    assert out == "1\n" and [row["severity"] for row in objects(err)] == ["warning"]
    for engine in ENGINES:
        _, err = d.expect(1, "run", "fails.df", "--engine=" + engine, "--error-format=json")
        (row,) = objects(err)
        assert row["phase"] == "run" and row["message"] == "divide by zero" and row["line"] == 2, row
        assert "half" in row["path"][0], row
    _, err = d.expect(1, "check", "nowhere.df", "--error-format=json")
    assert objects(err)[0]["code"] == "DF0801"
    _, err = d.expect(1, "run", "fails.df", "--error-format=text")
    assert err.startswith("error: divide by zero")


@test
def a_time_limit_may_end_the_reading_of_a_graph(d):
    d.file("large.df", "\n".join("f%d :: Int -> Int\nf%d n = if n == 0 then %d else f%d (n - 1) + n" % (i, i, i, (i + 1) % 400) for i in range(400)) + "\nmain = print (f0 3)\n")
    d.expect(0, "large.df", "-o", "large.graph")
    for milliseconds in (2, 4, 6, 8, 12, 16):
        code, _, err = d.run("run", "large.graph", "--timeout=%dms" % milliseconds)
        assert code == 0 or (code == 3 and "the time limit of" in err), (milliseconds, code, err)


@test
def colour_only_on_a_terminal(d):
    d.file("p.df", "main = nope\n")
    _, _, err = d.run("check", "p.df", env={"TERM": "xterm"})
    assert "\033" not in err

    def on_terminal(env):
        reader, writer = pty.openpty()
        subprocess.run([d.dfc, "check", "p.df"], cwd=d.path, stderr=writer, env={**os.environ, "TERM": "xterm", **env})
        os.close(writer)
        return os.read(reader, 100000)

    environment = dict(os.environ)
    os.environ.pop("NO_COLOR", None)
    try:
        assert b"\033[" in on_terminal({})
        assert b"\033" not in on_terminal({"NO_COLOR": "1"})
        assert b"\033" not in on_terminal({"TERM": "dumb"})
    finally:
        os.environ.update(environment)


if __name__ == "__main__":
    main()
