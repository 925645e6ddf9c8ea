"""Failures, limits, interrupts, threads, and other libraries in one process."""

import os
import signal
import subprocess
import sys
import threading
import time

import dfc
import pytest

SOURCE = """
import qualified Tensor as T

half :: Int -> Int
half n = 10 `div` n

deep :: Int -> Int
deep n = if n == 0 then half n else 1 + deep (n - 1)

named :: Int -> Int
named n = if n > 0 then n else error ("no " ++ show n)

first :: [Int] -> Int
first (x : _) = x

fib :: Int -> Int
fib n = if n < 2 then n else fib (n - 1) + fib (n - 2)

grow :: Int -> Int
grow n = if n < 0 then 0 else 1 + grow (n + 1)

forever :: Int -> Int
forever n = if n < 0 then n else forever (n + 1)

add :: Double -> Double -> Double
add a b = a + b
"""


@pytest.fixture(scope="module")
def program():
    return dfc.compile(SOURCE, export="half deep named first fib grow forever add".split(), name="runs.df")


def test_failures(program):
    with pytest.raises(ZeroDivisionError) as raised:
        program.half(0)
    error = raised.value
    assert isinstance(error, dfc.RunError) and isinstance(error, dfc.Error) and isinstance(error, RuntimeError)
    assert error.message == "divide by zero" and error.kind == "divide by zero"
    assert (error.place.file, error.place.line, error.place.function) == ("runs.df", 5, "half")
    with pytest.raises(dfc.errors.DivideByZeroError) as raised:
        program.deep(3)
    assert [p.function for p in raised.value.path][:2] == ["half", "deep"] and len(raised.value.path) >= 4
    assert "called at runs.df:8" in str(raised.value)
    with pytest.raises(dfc.errors.UserError, match="no -3"):
        program.named(-3)
    with pytest.raises(dfc.errors.NoMatchError):
        program.first([])
    assert program.half(5) == 2


def test_compile_errors(tmp_path):
    with pytest.raises(dfc.CompileError) as raised:
        dfc.compile("f :: Int -> Int\nf x = x + True\n\ng = nowhere\n", export="f")
    diagnostics = raised.value.diagnostics
    assert len(diagnostics) >= 2 and all(d.severity == "error" and d.code.startswith("DF") for d in diagnostics)
    assert diagnostics[0].span.line == 2 and diagnostics[0].span.file == "main.df"
    assert "nowhere" in str(raised.value)
    with pytest.raises(dfc.CompileError):
        dfc.compile("f x = x\n", export="g")
    with pytest.raises(TypeError):
        dfc.compile()
    (tmp_path / "no.graph").write_bytes(b"no graph at all")
    with pytest.raises(dfc.Error, match="no.graph"):
        dfc.load(tmp_path / "no.graph")
    with pytest.raises(FileNotFoundError):
        dfc.load(tmp_path / "none.graph")


def test_limits(program):
    quick = program.with_settings(timeout=0.1)
    began = time.monotonic()
    with pytest.raises(dfc.errors.TimeLimitError):
        quick.forever(1)
    assert time.monotonic() - began < 5
    assert quick.half(2) == 5
    with pytest.raises(MemoryError) as raised:
        program.with_settings(max_memory=20_000_000, engine="tagged").grow(1)
    assert isinstance(raised.value, dfc.errors.MemoryLimitError)
    with pytest.raises(TypeError):
        program.with_settings(speed=3)
    with pytest.raises(TypeError, match="no setting `exports`: did you mean `export`"):
        dfc.compile("f :: Int -> Int\nf x = x", exports=["f"])
    with pytest.raises(dfc.CompileError, match=r'DF0804(.|\n)*export=\["f"\]'):
        dfc.compile("f :: Int -> Int\nf x = x")
    with pytest.raises(ValueError):
        program.with_settings(engine="steam")
    for engine in ("tagged", "reference", "demand"):
        assert program.with_settings(engine=engine).fib(12) == 144


def interrupted_after(program, seconds):
    """How long after Ctrl-C a run goes on."""
    sent = []

    def send():
        time.sleep(seconds)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send)
    try:
        thread.start()
        program.forever(1)
    except KeyboardInterrupt:
        return time.monotonic() - sent[0]
    finally:
        thread.join()


def test_interrupt(program):
    program.half(1)
    late = sorted(interrupted_after(program, seconds) for seconds in (0.005, 0.05, 0.1, 0.2, 0.5))
    assert late[2] < 0.1, late
    assert program.half(1) == 10
    # A handler that does not raise: the call goes on.
    called = []
    time.sleep(0.01)
    before = signal.signal(signal.SIGINT, lambda *_: called.append(1))
    try:
        timer = threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        assert program.fib(27) == 196418
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert called


def test_progress(program):
    """Another thread sees that a call goes on, and the one that gives records how many were asked for."""
    seen = []

    def watch():
        while len(seen) < 2:
            seen.extend(each for each in program.forever.progress() if each.steps > 0)
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    assert program.forever.progress() == []
    thread = threading.Thread(target=watch)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        program.forever(1)
    thread.join()
    assert seen[-1].seconds >= seen[0].seconds >= 0 and seen[-1].steps >= seen[0].steps
    assert program.forever.progress() == []
    total = dfc.compile("total :: [Int] -> Int\ntotal = foldl (+) 0\n", export="total").total
    asked = []

    def numbers():
        for i in range(5):
            asked.append(total.progress()[0].elements)
            yield i
    assert total(numbers()) == 10 and asked == [0, 1, 2, 3, 4]


def test_threads(program):
    """The lock is not held while a graph runs, and runs do not disturb each other."""
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    program.fib(29)
    took = time.monotonic() - began
    done.set()
    thread.join()
    assert took < 0.1 or len([t for t in ticks if began < t < began + took]) >= 2
    wrong = []

    def call(k):
        for i in range(300):
            if program.add(float(i), float(k)) != i + k or program.fib(k) != [0, 1, 1, 2, 3, 5, 8, 13][k]:
                wrong.append((i, k))
            try:
                program.half(0)
                wrong.append("half")
            except ZeroDivisionError:
                pass

    threads = [threading.Thread(target=call, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("order", ["dfc torch onnx onnxruntime", "onnxruntime onnx torch dfc", "torch dfc onnx onnxruntime", "onnx dfc onnxruntime torch"])
def test_import_order(order):
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    names = [name for name in order.split() if name != "torch" or have_torch()]
    program = "\n".join("import " + name for name in names) + """
from onnx import TensorProto, helper
import numpy
graph = helper.make_graph([helper.make_node("Tanh", ["x"], ["y"])], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
                          [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.checker.check_model(model)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
session.run(None, {"x": numpy.zeros(2, "f4")})
program = dfc.compile("main :: Int -> Int\\nmain n = n + 1\\n")
assert onnx.load_from_string(bytes(program)).graph.node and program(1) == 2
print("fine")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=os.environ)
    assert done.stdout == "fine\n", done.stderr


def have_torch():
    import importlib.util
    return importlib.util.find_spec("torch") is not None
