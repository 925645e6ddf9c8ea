"""Models of `dfc --emit=onnx --with-dfc-op` in ONNX Runtime, by onnxruntime-extensions.

    session = dfc.onnx.session("model.onnx")         an onnxruntime.InferenceSession
    session.run(None, {"n": numpy.array(20)})

Such a model has an op that is a whole graph; it is computed by this package, in the process that has the session. docs/onnx.md.
"""

from __future__ import annotations

import dataclasses
import os
from typing import Any

import numpy
import onnx
import onnxruntime
import onnxruntime_extensions

from . import Program

__all__ = ["register", "session"]

DOMAIN = "ai.onnx.contrib"
PREFIX = "Dfc"
_KINDS = {
    onnx.TensorProto.INT64: (onnxruntime_extensions.PyOp.dt_int64, numpy.int64),
    onnx.TensorProto.BOOL: (onnxruntime_extensions.PyOp.dt_bool, numpy.bool_),
    onnx.TensorProto.FLOAT: (onnxruntime_extensions.PyOp.dt_float, numpy.float32),
    onnx.TensorProto.DOUBLE: (onnxruntime_extensions.PyOp.dt_double, numpy.float64),
}
_known: set[str] = set()  # ops are there once in a process, by a name that says the graph


def _arguments(names: list[str], arrays: list[numpy.ndarray]) -> list[Any]:
    """The parameters: `m.w1` is a part of the first one called `m`, numbered parts are those of a tuple."""
    tree: dict[str, Any] = {}
    for name, array in zip(names, arrays):
        *path, last = name.split(".")
        at = tree
        for part in path:
            at = at.setdefault(part, {})
        array = numpy.asarray(array)
        at[last] = array if array.ndim else array.item()

    def value(node):
        if not isinstance(node, dict):
            return node
        parts = {name: value(part) for name, part in node.items()}
        return tuple(parts.values()) if all(name.isdigit() for name in parts) else parts

    return [value(part) for part in tree.values()]


def _leaves(value: Any) -> list[Any]:
    if dataclasses.is_dataclass(value):
        value = tuple(getattr(value, field.name) for field in dataclasses.fields(value))
    return [leaf for part in value for leaf in _leaves(part)] if isinstance(value, tuple) else [value]


def register(model: onnx.ModelProto, **settings: Any) -> None:
    """Makes the ops of the model known to onnxruntime-extensions. Settings are those of dfc.load."""
    kinds = {port.name: _KINDS[port.type.tensor_type.elem_type] for port in [*model.graph.input, *model.graph.output]}
    for node in model.graph.node:
        if node.domain != DOMAIN or not node.op_type.startswith(PREFIX) or node.op_type in _known:
            continue
        graph = next(attribute.s for attribute in node.attribute if attribute.name == "graph")
        (function,) = Program(graph, **settings).functions.values()
        inputs, outputs = list(node.input), list(node.output)

        def compute(*arrays, function=function, inputs=inputs, outputs=outputs):
            result = _leaves(function(*_arguments(inputs, arrays)))
            made = [numpy.array(leaf, kinds[name][1]) for name, leaf in zip(outputs, result, strict=True)]
            return made[0] if len(made) == 1 else tuple(made)

        onnxruntime_extensions.onnx_op(op_type=node.op_type, inputs=[kinds[name][0] for name in inputs], outputs=[kinds[name][0] for name in outputs])(compute)
        _known.add(node.op_type)


def session(path: str | os.PathLike, options: onnxruntime.SessionOptions | None = None, providers: list[str] | None = None, **settings: Any) -> onnxruntime.InferenceSession:
    """A session of a model that `dfc --emit=onnx` wrote, with or without --with-dfc-op. Settings are those of dfc.load."""
    model = onnx.load(os.fspath(path))
    register(model, **settings)
    options = options or onnxruntime.SessionOptions()
    options.register_custom_ops_library(onnxruntime_extensions.get_library_path())
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=providers or ["CPUExecutionProvider"])
