"""Models with an op of dfc in ONNX Runtime. Left out where onnx, onnxruntime or onnxruntime-extensions are not installed, or there is no `dfc` to make models."""

import os
import subprocess

import numpy
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
pytest.importorskip("onnxruntime_extensions")
DFC = os.environ.get("DFC", os.path.join(os.path.dirname(__file__), "..", "..", "build", "dfc"))
if not os.access(DFC, os.X_OK):
    pytest.skip("no " + DFC, allow_module_level=True)

SOURCE = """module Model where

import qualified Tensor as T

fact :: Int -> Int
fact n = if n == 0 then 1 else n * fact (n - 1)

data Line = Line { slope :: Tensor Float [2], offset :: Float }

-- A tree of calls, a record, a pair.
summed :: Line -> Int -> (Float, Tensor Float [2])
summed l n = (go n, slope l * 2)
  where go k = if k <= 1 then offset l else go (k - 1) + go (k - 2)

plain :: Int -> Int
plain n = n + 1
"""


def model(tmp_path, name):
    source = tmp_path / "model.df"
    source.write_text(SOURCE)
    path = tmp_path / (name + ".onnx")
    subprocess.run([DFC, str(source), "--no-warnings", "--emit=onnx", "--with-dfc-op", "--export", name, "-o", str(path)], check=True)
    return path


def test_recursion(tmp_path):
    import dfc.onnx
    session = dfc.onnx.session(model(tmp_path, "fact"))
    assert session.run(None, {"n": numpy.array(10)}) == [3628800]
    assert dfc.onnx.session(model(tmp_path, "fact")).run(None, {"n": numpy.array(0)}) == [1]


def test_parts(tmp_path):
    import dfc.onnx
    session = dfc.onnx.session(model(tmp_path, "summed"))
    number, tensor = session.run(["result.0", "result.1"], {"l.slope": numpy.array([1, 2], "float32"), "l.offset": numpy.array(0.5, "float32"), "n": numpy.array(6)})
    assert number == 6.5 and number.dtype == numpy.float32
    assert (tensor == [2, 4]).all()


def test_standard_ops_need_no_op(tmp_path):
    import dfc.onnx
    import onnx
    path = model(tmp_path, "plain")
    assert all(not node.domain for node in onnx.load(str(path)).graph.node)
    assert dfc.onnx.session(path).run(None, {"n": numpy.array(1)}) == [2]
