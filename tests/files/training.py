#!/usr/bin/env python3
"""Results as files, and programs whose value is a list of records: training.py --dfc build/dfc [--only NAME]."""

import fcntl
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "harness"))

from promises import main, test

ENGINES = ("tagged", "reference", "demand", "expanding")
LINE = open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../samples/training/line.df"), encoding="utf-8").read()
POINTS = ("--input", "points=[(0, 1), (1, 3), (2, 5)]")

MODEL = """import qualified Tensor as T
data Linear = Linear { weight :: Tensor Float [2, 3], bias :: Maybe (Tensor Float [3]) }
data Act = Relu | Leaky Double | Both { left :: Act, right :: Act }
data Unit = Unit { first :: Maybe Int, second :: Maybe Int }
data Model = Model { layers :: [Linear], act :: Act, count :: Int, big :: Integer, rate :: Double, name :: String, losses :: [Double],
                     good :: Bool, nested :: [[Linear]], maybes :: [Maybe Int], units :: [Unit], deep :: Maybe (Maybe Int),
                     none :: ((), [()]), nones :: [([()], Maybe ())], few :: [((), Double)] }
main :: Maybe Model -> Model
main model = case model of
  Just m -> m
  Nothing -> Model { layers = [Linear (T.fill 0.1) Nothing, Linear (T.fill (0 / 0)) (Just (negate 0))], act = Both Relu (Leaky 0.1),
                     count = -5, big = 2 ^ 62, rate = 1 / 0, name = "h\\233\\n", losses = [], good = True,
                     nested = [[], [Linear 1 Nothing]], maybes = [Nothing, Just 2],
                     units = [Unit Nothing Nothing, Unit (Just 1) Nothing], deep = Just Nothing,
                     none = ((), [(), ()]), nones = [([], Nothing), ([()], Just ())], few = [((), 1), ((), 2)] }
"""

# A list of records without end, of a state that is not small.
ENDLESS = """import qualified Tensor as T
data Step = Step { step :: Int, loss :: Double, state :: Tensor Float [100000] }
main :: Maybe (Tensor Float [100000]) -> [Step]
main state = go 1 (maybe 0 id state)
  where go n s = let s' = s + 1 in Step n (fromIntegral (floor (T.sum s' / 100000))) s' : go (n + 1) s'
"""


# ---------------------------------------------------------------- results as files

@test
def round_trips(d):
    d.file("p.df", MODEL)
    d.expect(0, "run", "p.df", "--output", "@a.safetensors", "--output", "@a.npz", out="")
    for engine in ENGINES:
        for kind in ("safetensors", "npz"):
            d.expect(0, "run", "p.df", "--input", "model=@a." + kind, "--output", "@b.safetensors", "--output", "@b.npz", "--engine", engine)
            assert d.bytes("a.safetensors") == d.bytes("b.safetensors") and d.bytes("a.npz") == d.bytes("b.npz"), engine
    other = subprocess.run(["/usr/bin/python3", "-c", "import numpy; a = numpy.load('a.npz'); print(a['layers.0.weight'].tolist(), a['count'])"],
                           cwd=d.path, capture_output=True)
    if b"No module" not in other.stderr:
        assert other.stdout.startswith(b"[[0.1") and other.stdout.endswith(b"-5\n"), other


@test
def parts(d):
    d.file("p.df", MODEL)
    d.expect(0, "run", "p.df", "--output", "name=@n.txt", "--output", "act=@a.txt", "--output", "layers=@l.json", "--output",
             "losses=@r.json", "--output", "layers=@l.npz", "--output", "rate=@r.npy", "--output", "maybes=@m.json")
    assert d.bytes("n.txt") == "hé\n".encode()
    assert d.bytes("l.json").startswith(b'[{"weight":[[0.1,0.1,0.1]') and b"null" in d.bytes("l.json")
    assert json.loads(d.bytes("m.json")) == [None, 2]
    d.file("q.df", "main :: (Int, (Double, String))\nmain = (1, (2.5, \"a,b\"))\n")
    d.expect(0, "run", "q.df", "--output", "1.1=@b.txt", "--output", "@all.json", "--output", "@all.txt", out="")
    assert d.bytes("b.txt") == b"a,b" and d.bytes("all.json") == b'[1,[2.5,"a,b"]]\n' and d.bytes("all.txt") == b'(1,(2.5,"a,b"))\n'


# What an optimiser keeps of a map of weights has the tangents of its keys, which are () for each character.
@test
def gradients_with_units(d):
    d.file("m.df", """import Gradient
import Optim
import qualified Data.Map as M
data Model = Model { weights :: M.Map String Double, size :: Int, pair :: (Int, Double) }
data Step = Step { step :: Int, loss :: Double, state :: Adam Model }
cost :: Model -> Double
cost m = sum [(w - 1) ^ 2 | w <- M.elems (weights m)] + snd (pair m) ^ 2
main :: Maybe (Adam Model) -> Int -> [Step]
main state n = go (maybe (startAdam (Model (M.fromList [("up", 1), ("down", 2)]) 3 (4, 5))) id state)
  where
    go s | adamSteps s >= n = []
         | otherwise = let (l, g) = valueAndGrad cost (adamWeights s); s' = adam 0.1 g s in Step (adamSteps s') l s' : go s'
""")
    d.expect(0, "run", "m.df", "--input", "n=5", "--output", "state=@all.npz")
    d.expect(0, "run", "m.df", "--input", "n=2", "--output", "state=@a.npz")
    d.expect(0, "run", "m.df", "--input", "n=5", "--resume=a.npz", "--output", "state=@a.npz")
    assert d.bytes("a.npz") == d.bytes("all.npz")


@test
def refused_outputs(d):
    d.file("p.df", MODEL)
    d.expect(2, "run", "p.df", "--output", "@a.bin", err="DF0825")
    d.expect(2, "run", "p.df", "--output", "nam=@a.txt", err="the parts of a Model are `layers`, `act`")
    d.expect(2, "run", "p.df", "--output", "name.x=@a.txt", err="a [Char] has no parts with names")
    d.expect(2, "run", "p.df", "--output", "name", err="is not of the form NAME=@FILE")
    d.expect(2, "run", "p.df", "--output", "@a.npy", err="a .npy file holds one array, and")
    d.file("c.df", "main :: (Char, ())\nmain = ('c', ())\n")
    d.expect(1, "run", "c.df", "--output", "@a.npz", err="`a.npz`: `0` is of type Char, which no array holds")
    d.file("unit.df", "main :: ()\nmain = ()\n")
    d.expect(1, "run", "unit.df", "--output", "@a.npz", err="is of type (), which no array holds")
    d.file("big.df", "main :: Integer\nmain = 2 ^ 64\n")
    d.expect(1, "run", "big.df", "--output", "@a.npz", err="beyond 64 bits")
    d.file("act.df", "main = putStrLn \"x\"\n")
    d.expect(2, "run", "act.df", "--output", "@a.txt", err="the program is an action")
    d.file("q.df", "main = 1 :: Int\n")
    d.expect(2, "run", "q.df", "--log=a.csv", err="`--log` is for a program whose value is a list of records")
    d.expect(2, "run", "q.df", "--save-every=1s", err="`--save-every` is for")
    d.expect(2, "run", "p.df", "--log=a.log", err="neither .csv nor .jsonl")
    d.expect(2, "run", "q.df", "--resume=q.df", err="the program has no input `state`")
    # Said before anything is computed.
    d.file("r.df", "data R = R { n :: Int, state :: Double }\nmain = [R n (fromIntegral n) | n <- [1 .. 3]]\n")
    before = sorted(os.listdir(d.path))
    for option in ("--output=state=@no/a.npz", "--output=@p.df/a.json", "--trace=no/a.json", "--log=no/a.csv"):
        d.expect(1, "run", "r.df", option, out="", err="cannot write `")
    assert sorted(os.listdir(d.path)) == before, os.listdir(d.path)
    d.file("own.df", "newtype N = N Int\ninstance Show N where show _ = \"n\"\nmain = N 3\n")
    d.expect(0, "own.df")
    d.expect(2, "run", "own.graph", "--output", "@a.json", err="DF0827")
    d.expect(0, "run", "own.df", "--output", "@a.json")
    assert d.bytes("a.json") == b"3\n"


@test
def a_failed_run_leaves_the_old_file(d):
    d.file("a.json", "old")
    d.file("p.df", "main = (1 :: Int, if length \"ab\" > 1 then error \"no\" else 2 :: Int)\n")
    d.expect(1, "run", "p.df", "--output", "@a.json", err="no")
    assert d.bytes("a.json") == b"old" and sorted(os.listdir(d.path)) == ["a.json", "p.df"]


# ---------------------------------------------------------------- records

@test
def records_are_lines(d):
    d.file("p.df", """data R = R { n :: Int, x :: Double, name :: String, best :: Maybe Int, more :: [Int] }
main = [R 1 0.5 "a,\\"b\\"" Nothing [1], R 2 (0 / 0) "c" (Just 3) []]
""")
    want = 'n=1 x=0.5 name="a,\\"b\\""\nn=2 x=NaN name="c" best=3\n'
    for engine in ENGINES:
        d.expect(0, "run", "p.df", "--engine", engine, out=want)
    d.expect(0, "p.df")
    d.expect(0, "run", "p.graph", "--log=r.csv", out=want)
    lines = d.bytes("r.csv").decode().splitlines()
    assert lines[0] == "n,x,name,best,seconds" and lines[1].startswith('1,0.5,"a,""b""",,0.') and lines[2].startswith("2,NaN,c,3,0."), lines
    d.expect(0, "run", "p.graph", "--log=r.jsonl", out=want)
    rows = [json.loads(line) for line in d.bytes("r.jsonl").decode().splitlines()]
    assert [r["x"] for r in rows] == [0.5, None] and rows[0]["name"] == 'a,"b"' and rows[1]["best"] == 3, rows
    # At a prompt it is a value like others.
    d.file("q.df", "data P = P { a :: Int } deriving Show\nmain = [P 1]\n")
    d.expect(0, "run", "q.df", out="a=1\n")
    out, _ = d.expect(0, "repl", "q.df", stdin="main\n")
    assert "[P {a = 1}]" in out


@test
def resuming_gives_the_same(d):
    d.file("line.df", LINE)
    whole, _ = d.expect(0, "run", "line.df", *POINTS, "--input", "steps=6", "--output", "state=@whole.safetensors", "--log=whole.csv")
    first, _ = d.expect(0, "run", "line.df", *POINTS, "--input", "steps=2", "--output", "state=@state.npz", "--log=log.csv")
    second, _ = d.expect(0, "run", "line.df", *POINTS, "--input", "steps=6", "--resume=state.npz", "--log=log.csv", "--output",
                         "state=@state.safetensors")
    assert (first + second).replace("total=2", "total=6") == whole
    assert d.bytes("state.safetensors") == d.bytes("whole.safetensors")
    cut = [re.sub(r",[^,]*,[0-9.]*$", "", line).split(",")[0] for line in d.bytes("log.csv").decode().splitlines()]
    assert cut == ["step", "1", "2", "3", "4", "5", "6"], cut
    d.file("other.csv", "a,b\n1,2\n")
    d.expect(1, "run", "line.df", *POINTS, "--input", "steps=6", "--resume=state.npz", "--log=other.csv", err="it has other columns")
    assert d.bytes("other.csv") == b"a,b\n1,2\n"
    # Without a file: from where the state is written to.
    out, _ = d.expect(0, "run", "line.df", *POINTS, "--input", "steps=7", "--resume", "--output", "state=@state.safetensors")
    assert out.startswith("step=7 ") and out.count("\n") == 1, out
    d.expect(2, "run", "line.df", *POINTS, "--input", "steps=7", "--resume", err="goes on from that of `--output state=@FILE`, which is not given")


@test
def a_failure_keeps_what_was_saved(d):
    d.file("p.df", """data R = R { n :: Int, state :: Double }
main = [R n (if n == 4 then error "four" else fromIntegral n) | n <- [1 ..]]
""")
    d.expect(1, "run", "p.df", "--output", "state=@s.json", out="n=1\nn=2\nn=3\n", err="four")
    assert not os.path.exists(os.path.join(d.path, "s.json"))
    d.expect(1, "run", "p.df", "--output", "state=@s.json", "--save-every=1ms", err="four")


def start(d, *words, **kw):
    return subprocess.Popen([d.dfc, "run", *words], cwd=d.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kw)


@test
def a_stopped_run_saves_the_last_state(d):
    d.file("p.df", ENDLESS)
    d.expect(0, "p.df")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU):
        for engine in ENGINES if number in (signal.SIGINT, signal.SIGTERM) else ENGINES[:1]:
            run = start(d, "p.graph", "--output", "state=@s.npy", "--engine", engine,
                        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
            for _ in range(3):
                last = run.stdout.readline()
            run.send_signal(number)
            out, err = run.communicate(timeout=60)
            assert run.returncode == 130, (run.returncode, err)
            assert b"s.npy has the state after" in err, err
            count = int(re.search(rb"after (\d+) records", err)[1])
            printed = [int(step) for step in re.findall(rb"^step=(\d+) ", last + out, re.M)]
            assert printed[-1] == count or len(printed) == 1, (printed, count)
            # Each element counts the records; so does the loss of the record after it.
            out = start(d, "p.graph", "--resume=s.npy", "--timeout=20s", "--engine", engine)
            line = out.stdout.readline().decode()
            out.kill()
            out.communicate()
            assert line.startswith("step=1 loss=%d.0" % (count + 1)), (line, count)


@test
def nohup_goes_on(d):
    d.file("p.df", ENDLESS)
    run = start(d, "p.df", "--output", "state=@s.npy", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    for _ in range(3):
        run.stdout.readline()
    run.send_signal(signal.SIGHUP)
    for _ in range(50):
        assert run.stdout.readline().startswith(b"step=")
    run.send_signal(signal.SIGTERM)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 130 and b"s.npy has the state after" in err, (run.returncode, err)


# Beside the target is what a process that was killed has left; what somebody still writes, and what is another's, stays.
@test
def what_killed_writers_left_goes(d):
    d.file("p.df", "main = [1.5, 2 :: Double]\n")
    left, held = "a.json.dfc-aB3dE6", "a.json.dfc-Held12"
    others = ["a.json.dfc-aB3dE", "a.json.dfc-aB3dE67", "a.json.dfc-aB3-E6", "b.json.dfc-aB3dE6", "a.json.aB3dE6"]
    for name in [left, held] + others:
        d.file(name, "half")
    os.symlink("p.df", os.path.join(d.path, "a.json.dfc-linked"))
    with open(os.path.join(d.path, held), "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        d.expect(0, "run", "p.df", "--output", "@a.json")
        assert sorted(os.listdir(d.path)) == sorted(others + [held, "a.json", "a.json.dfc-linked", "p.df"]), os.listdir(d.path)
    d.expect(0, "run", "p.df", "--output", "@a.json")
    assert held not in os.listdir(d.path)
    # Of writers that are killed at any moment nothing is left in the end, and the file is whole.
    d.file("q.df", ENDLESS)
    d.expect(0, "q.df")
    for pause in (0.01, 0.03, 0.05, 0.02, 0.04):
        run = start(d, "q.graph", "--output", "state=@s.npy", "--save-every=1ms")
        for _ in range(3):
            run.stdout.readline()
        time.sleep(pause)
        run.kill()
        run.communicate()
    d.expect(3, "run", "q.graph", "--output", "state=@s.npy", "--timeout=200ms")
    assert not [name for name in os.listdir(d.path) if name.startswith("s.npy.")], os.listdir(d.path)
    name = "n" * 245 + ".json"  # nearly as long as a name may be
    d.expect(0, "run", "p.df", "--output", "@" + name)
    assert d.bytes(name) == b"[1.5,2.0]\n"


@test
def a_reader_that_goes_costs_no_state(d):
    d.file("p.df", ENDLESS)
    run = start(d, "p.df", "--output", "state=@s.npy")
    for _ in range(3):
        run.stdout.readline()
    run.stdout.close()
    err = run.stderr.read().decode()
    assert run.wait(timeout=60) == -signal.SIGPIPE and "s.npy has the state after" in err, (run.returncode, err)
    assert len(d.bytes("s.npy")) > 1000
    # A log's row that was cut off goes when the run resumes.
    for log in ("a.csv", "a.jsonl"):
        d.expect(3, "run", "p.df", "--output", "state=@s.npy", "--log", log, "--timeout=300ms")
        whole = d.bytes(log)
        d.file(log, whole.decode()[:-3])
        d.expect(3, "run", "p.df", "--resume=s.npy", "--log", log, "--timeout=300ms")
        rows = d.bytes(log).decode().split("\n")[:-1]
        assert len(rows) >= whole.count(b"\n") and all(row.count(",") == rows[0].count(",") for row in rows), rows
        assert log == "a.csv" or all(json.loads(row) for row in rows)
    # Nor does a log that grows too large.
    if os.path.exists("/dev/full"):
        os.symlink("/dev/full", os.path.join(d.path, "full.csv"))
        _, err = d.expect(1, "run", "p.df", "--output", "state=@t.npy", "--log=full.csv", err="cannot write `full.csv`")
        assert "t.npy has the state after 1 record" in err and len(d.bytes("t.npy")) > 1000, err


@test
def time_limits_save_too(d):
    d.file("p.df", ENDLESS)
    _, err = d.expect(3, "run", "p.df", "--output", "state=@s.npy", "--timeout=500ms", err="s.npy has the state after")
    d.expect(3, "run", "p.df", "--timeout=100ms", "--save-every=10ms", "--output", "state=@t.npz")
    assert len(d.bytes("t.npz")) > 400000


@test
def memory_does_not_grow(d):
    d.file("p.df", ENDLESS)
    d.expect(0, "p.df")
    run = start(d, "p.graph", "--output", "state=@s.npy", "--max-memory=4M")
    for _ in range(2000):
        line = run.stdout.readline()
    assert line.startswith(b"step=2000 "), line
    run.send_signal(signal.SIGINT)
    run.communicate(timeout=60)


@test
def nothing_is_written_of_no_records(d):
    d.file("p.df", "data R = R { state :: Int }\nmain = [R n | n <- [1 .. 0]]\n")
    d.expect(0, "run", "p.df", "--output", "state=@s.npz", err="s.npz: not written, since the list has no records")
    assert not os.path.exists(os.path.join(d.path, "s.npz"))


@test
def a_terminal_has_a_progress_line(d):
    # 80 columns: the last figures have no room, how fast it goes and how long it takes have.
    d.file("p.df", """data R = R { step :: Int, total :: Int, trees :: Int, loss, first_figure, second_figure, third_figure :: Double }
main = [R n 200 25 (1 / fromIntegral n) 0.125 0.125 0.125 | n <- [1 .. 200]]
""")
    reader, writer = pty.openpty()
    run = subprocess.Popen([d.dfc, "run", "p.df"], cwd=d.path, stdout=writer, stderr=writer)
    os.close(writer)
    text = b""
    while True:
        try:
            piece = os.read(reader, 4096)
        except OSError:
            break
        if not piece:
            break
        text += piece
    run.wait()
    os.close(reader)
    lines = text.decode().split("\r\x1b[K")
    assert len(lines) == 200 and "step 7/200  loss 0.1429" in lines[6] and "trees/s" in lines[6] and " left" in lines[6], lines[:8]
    assert "first_figure 0.125" in lines[6] and "third_figure" not in lines[6] and len(lines[6]) < 80, lines[6]
    assert lines[-1].endswith("\r\n") and "left" not in lines[-1], lines[-1]


if __name__ == "__main__":
    main()
