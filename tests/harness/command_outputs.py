#!/usr/bin/env python3
"""What the command line promises of its outputs: files that are whole or not there, streams, dumps, reports, timelines, errors as JSON. One
function per promise.

    command_outputs.py --dfc build/dfc [--only NAME]
"""

import json
import os
import pty
import signal
import stat
import subprocess
import time

from promises import main, test

ENGINES = ("tagged", "reference", "demand", "expanding")
FACT = "fact n = if n == 1 then n else n * fact (n - 1)\nmain = fact 10\n"
SPIN = "spin :: Int -> Int\nspin n = spin (n + 1)\nmain = spin 0\n"
SOON = 20 if os.environ.get("DFC_SLOW_BUILD") else 1.0  # 100 ms is promised; the machine may have other work


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
