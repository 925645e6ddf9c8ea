"""dfc beside what else has LLVM, protobuf or ONNX in it, in one process: in every order, and each of them works."""

import importlib.util
import itertools
import subprocess
import sys

import pytest

OTHERS = [name for name in ("torch", "onnx", "onnxruntime") if importlib.util.find_spec(name)]

USE = """
if "torch" in orders:
    import torch
    assert float(torch.ones(3).sum()) == 3
if "onnx" in orders:
    import onnx, onnx.helper as h
    node = h.make_node("Add", ["a", "a"], ["b"])
    port = lambda name: h.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2])
    model = h.make_model(h.make_graph([node], "g", [port("a")], [port("b")]), opset_imports=[h.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    if "onnxruntime" in orders:
        import numpy, onnxruntime
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        assert session.run(None, {"a": numpy.ones(2, "f4")})[0].tolist() == [2, 2]
import dfc
assert dfc.compile("main = 6 * 7")() == 42
assert dfc.compile("f :: Int -> Int\\nf x = x + 1\\n", export="f").f(1) == 2
"""


@pytest.mark.skipif(not OTHERS, reason="none of torch, onnx and onnxruntime is there")
@pytest.mark.parametrize("order", list(itertools.permutations(["dfc", *OTHERS])), ids=" ".join)
def test_every_order(order):
    text = "orders = %r\n" % (order,) + "".join("import %s\n" % name for name in order) + USE
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
