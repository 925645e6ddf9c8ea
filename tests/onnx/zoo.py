#!/usr/bin/env python3
"""`dfc import` on whole models: what the module gives is what ONNX Runtime gives, to 1e-5.

    zoo.py --dfc build/dfc [--python INTERPRETER]                 models that are made here, of ONNX's ops; a test
    zoo.py --dfc build/dfc --torch INTERPRETER [--keep FOLDER]    what torch exports, in both of its ways: torch_models.py, by hand

Exit code 77, which ctest shows as skipped, if the interpreter has no onnx or no onnxruntime.
"""

import argparse
import glob
import os
import subprocess
import sys
import tempfile

from interpreter import go_on_in

CLOSE = 1e-5


def tensor(rng, name, *dims):
    return helper.make_tensor(name, onnx.TensorProto.FLOAT, dims, (rng.standard_normal(dims) * 0.4).astype(numpy.float32).flatten())


def ints(name, values, kind=None):
    values = numpy.asarray(values)
    return helper.make_tensor(name, kind or onnx.TensorProto.INT64, values.shape, values.flatten())


def model(inputs, nodes, constants, outputs=("y",), opset=18):
    floats = (onnx.TensorProto.FLOAT, onnx.TensorProto.INT64)
    ports = [helper.make_tensor_value_info(name, floats[x.dtype == numpy.int64], x.shape) for name, x in inputs.items()]
    results = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph(nodes, "g", ports, results, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9), inputs


def perceptron(rng):
    node = helper.make_node
    return model({"x": rng.standard_normal((5, 4)).astype(numpy.float32)},
                 [node("Gemm", ["x", "w1", "b1"], ["h"], transB=1), node("Relu", ["h"], ["r"]), node("MatMul", ["r", "w2"], ["m"]), node("Add", ["m", "b2"], ["a"]),
                  node("Softmax", ["a"], ["y"])],
                 [tensor(rng, "w1", 8, 4), tensor(rng, "b1", 8), tensor(rng, "w2", 8, 3), tensor(rng, "b2", 3)])


def pictures(rng):
    node = helper.make_node
    positive = helper.make_tensor("var", onnx.TensorProto.FLOAT, [6], [0.5, 1, 1.5, 2, 0.3, 0.7])
    return model({"x": rng.standard_normal((2, 3, 9, 9)).astype(numpy.float32)},
                 [node("Conv", ["x", "k1", "c1"], ["a"], pads=[1, 1, 1, 1]), node("BatchNormalization", ["a", "scale", "bias", "mean", "var"], ["b"]), node("Relu", ["b"], ["c"]),
                  node("MaxPool", ["c"], ["d"], kernel_shape=[2, 2], strides=[2, 2]), node("Conv", ["d", "k2"], ["e"], group=3, strides=[1, 1]),
                  node("AveragePool", ["e"], ["f"], kernel_shape=[2, 2], pads=[1, 0, 0, 1]), node("ConvTranspose", ["f", "k3"], ["g"], strides=[2, 2], output_padding=[1, 0]),
                  node("Resize", ["g", "", "scales"], ["h"], mode="linear"), node("GlobalAveragePool", ["h"], ["i"]), node("Flatten", ["i"], ["j"]), node("Gemm", ["j", "w"], ["y"])],
                 [tensor(rng, "k1", 6, 3, 3, 3), tensor(rng, "c1", 6), tensor(rng, "scale", 6), tensor(rng, "bias", 6), tensor(rng, "mean", 6), positive,
                  tensor(rng, "k2", 6, 2, 2, 2), tensor(rng, "k3", 6, 4, 3, 3), tensor(rng, "w", 4, 5), helper.make_tensor("scales", onnx.TensorProto.FLOAT, [4], [1, 1, 1.5, 2])])


def attention(rng):
    """An encoder's layer whose shapes are computed in the model, as exporters write them."""
    node, width, heads = helper.make_node, 8, 2
    nodes = [node("Gather", ["words", "ids"], ["x"]), node("Shape", ["ids"], ["shape"]), node("Gather", ["shape", "zero"], ["batch"]), node("Gather", ["shape", "one"], ["steps"]),
             node("Unsqueeze", ["batch", "axis0"], ["batch1"]), node("Unsqueeze", ["steps", "axis0"], ["steps1"]),
             node("Concat", ["batch1", "steps1", "split"], ["by_heads"], axis=0), node("Concat", ["batch1", "steps1", "all"], ["joined"], axis=0)]
    for name in "qkv":
        nodes += [node("MatMul", ["x", "w" + name], [name + "0"]), node("Reshape", [name + "0", "by_heads"], [name + "1"]),
                  node("Transpose", [name + "1"], [name], perm=[0, 2, 3, 1] if name == "k" else [0, 2, 1, 3])]
    nodes += [node("MatMul", ["q", "k"], ["s0"]), node("Cast", ["last"], ["last_float"], to=onnx.TensorProto.FLOAT), node("Sqrt", ["last_float"], ["root"]), node("Div", ["s0", "root"], ["s1"]),
              # Who comes later is not seen.
              node("Range", ["zero", "steps", "one"], ["counted"]), node("Unsqueeze", ["counted", "axis0"], ["columns"]), node("Unsqueeze", ["counted", "one1"], ["rows"]),
              node("Greater", ["columns", "rows"], ["later"]), node("Expand", ["later", "joined2"], ["mask"]), node("Where", ["mask", "least", "s1"], ["s2"]), node("Softmax", ["s2"], ["p"], axis=-1),
              node("MatMul", ["p", "v"], ["o0"]), node("Transpose", ["o0"], ["o1"], perm=[0, 2, 1, 3]), node("Reshape", ["o1", "joined"], ["o2"]), node("Add", ["o2", "x"], ["o3"]),
              node("LayerNormalization", ["o3", "scale", "shift"], ["n"]), node("MatMul", ["n", "up"], ["u"]), node("Div", ["u", "root2"], ["e0"]), node("Erf", ["e0"], ["e1"]),
              node("Add", ["e1", "unit"], ["e2"]), node("Mul", ["u", "e2"], ["e3"]), node("Mul", ["e3", "half"], ["g"]), node("MatMul", ["g", "down"], ["d"]), node("Add", ["d", "n"], ["z"]),
              node("Slice", ["z", "begin", "end", "axis1"], ["first"]), node("Squeeze", ["first", "axis1"], ["y"])]
    # What torch's older exporter writes around Expand: -1 becomes the operand's own size.
    nodes[-24:-24] = [node("Concat", ["batch1", "minus", "steps1", "steps1"], ["wanted"], axis=0), node("Shape", ["wanted"], ["rank"]),
                      node("ConstantOfShape", ["rank"], ["ones"], value=helper.make_tensor("v", onnx.TensorProto.INT64, [1], [1])), node("Equal", ["wanted", "minus"], ["open"]),
                      node("Where", ["open", "ones", "wanted"], ["joined2"])]

    def number(name, value):
        return helper.make_tensor(name, onnx.TensorProto.FLOAT, [], [value])
    constants = [tensor(rng, "words", 11, width), ints("zero", 0), ints("one", 1), ints("axis0", [0]), ints("axis1", [1]), ints("one1", [1]), ints("begin", [0]), ints("end", [1]), ints("minus", [-1]),
                 ints("split", [heads, width // heads]), ints("all", [width]), ints("last", width // heads), number("least", -numpy.inf), number("root2", 2 ** 0.5), number("unit", 1), number("half", 0.5),
                 tensor(rng, "scale", width), tensor(rng, "shift", width), tensor(rng, "up", width, 2 * width), tensor(rng, "down", 2 * width, width)]
    constants += [tensor(rng, "w" + name, width, width) for name in "qkv"]
    return model({"ids": rng.integers(0, 11, (2, 5))}, nodes, constants)


def recurrent(kind, gates, **more):
    def made(rng):
        node, two = helper.make_node, 2 if more.get("direction") == "bidirectional" else 1
        states = ["last", "cell"] if kind == "LSTM" else ["last"]
        return model({"x": rng.standard_normal((6, 2, 3)).astype(numpy.float32)},
                     [node(kind, ["x", "w", "r", "b"], ["all", *states], hidden_size=4, **more), node("Transpose", ["all"], ["t"], perm=[2, 0, 1, 3]),
                      node("Reshape", ["t", "flat"], ["f"]), node("MatMul", ["f", "o"], ["y"])],
                     [tensor(rng, "w", two, 4 * gates, 3), tensor(rng, "r", two, 4 * gates, 4), tensor(rng, "b", two, 8 * gates), ints("flat", [0, 0, -1]), tensor(rng, "o", 4 * two, 2)],
                     outputs=["y", *states])
    return made


def choices(rng):
    """A branch that the input decides, and loops: of known length, over a sequence."""
    node, value = helper.make_node, helper.make_tensor_value_info
    kind = onnx.TensorProto

    def graph(nodes, name, inputs, outputs):
        def shape(port):
            return [] if port in ("i", "c", "c2") else [3] if port in ("h", "row", "h2", "seen") else None
        return helper.make_graph(nodes, name, *([value(port, of, shape(port)) for port, of in ports] for ports in (inputs, outputs)))
    yes = graph([node("Mul", ["x", "x"], ["t"])], "yes", [], [("t", kind.FLOAT)])
    no = graph([node("Neg", ["x"], ["e"])], "no", [], [("e", kind.FLOAT)])
    body = graph([node("Identity", ["c"], ["c2"]), node("Cast", ["i"], ["f"], to=kind.FLOAT), node("Add", ["s", "f"], ["s1"]), node("Mul", ["s1", "w"], ["s2"]), node("ReduceSum", ["s2"], ["part"], keepdims=0)],
                 "body", [("i", kind.INT64), ("c", kind.BOOL), ("s", kind.FLOAT)], [("c2", kind.BOOL), ("s2", kind.FLOAT), ("part", kind.FLOAT)])
    step = graph([node("Add", ["h", "row"], ["h1"]), node("Tanh", ["h1"], ["h2"]), node("Identity", ["h2"], ["seen"])], "step", [("h", kind.FLOAT), ("row", kind.FLOAT)],
                 [("h2", kind.FLOAT), ("seen", kind.FLOAT)])
    return model({"x": rng.standard_normal((4, 3)).astype(numpy.float32)},
                 [node("ReduceSum", ["x"], ["sum"], keepdims=0), node("Greater", ["sum", "nought"], ["up"]), node("If", ["up"], ["a"], then_branch=yes, else_branch=no),
                  node("Loop", ["rounds", "", "a"], ["b", "parts"], body=body), node("Scan", ["h0", "b"], ["h", "y"], body=step, num_scan_inputs=1)],
                 [ints("rounds", 3), tensor(rng, "w", 3), tensor(rng, "h0", 3), helper.make_tensor("nought", kind.FLOAT, [], [0])], outputs=["y", "parts", "h"])


def rounds(start):
    """Loops of which the model computes how often they go round: by a number, by a condition, by both, one in the other; of a number in halves."""
    def make(rng):
        node, value, kind = helper.make_node, helper.make_tensor_value_info, onnx.TensorProto

        def graph(nodes, name, inputs, outputs):
            return helper.make_graph(nodes, name, *([value(port, of, shape) for port, of, shape in ports] for ports in (inputs, outputs)))
        head = [("i", kind.INT64, []), ("c", kind.BOOL, [])]
        # Collatz: until n is 1, with the steps counted.
        turn = graph([node("Mod", ["n", "two"], ["odd"]), node("Equal", ["odd", "zero"], ["even"]), node("If", ["even"], ["next"],
                      then_branch=graph([node("Div", ["n", "two"], ["half"])], "half", [], [("half", kind.INT64, [])]),
                      else_branch=graph([node("Mul", ["n", "three"], ["n3"]), node("Add", ["n3", "one"], ["more"])], "more", [], [("more", kind.INT64, [])])),
                      node("Add", ["steps", "one"], ["steps1"]), node("Greater", ["next", "one"], ["on"])], "turn",
                     [("i", kind.INT64, []), ("c", kind.BOOL, []), ("n", kind.INT64, []), ("steps", kind.INT64, [])], [("on", kind.BOOL, []), ("next", kind.INT64, []), ("steps1", kind.INT64, [])])
        inner = graph([node("Identity", ["c3"], ["c4"]), node("Add", ["u", "w"], ["u1"])], "inner", [("j", kind.INT64, []), ("c3", kind.BOOL, []), ("u", kind.FLOAT, [3])],
                      [("c4", kind.BOOL, []), ("u1", kind.FLOAT, [3])])
        outer = graph([node("Loop", ["i", "c", "s"], ["t"], body=inner), node("Tanh", ["t"], ["t1"]), node("ReduceSum", ["t1"], ["total"], keepdims=0), node("Less", ["total", "limit"], ["on2"])],
                      "outer", head + [("s", kind.FLOAT, [3])], [("on2", kind.BOOL, []), ("t1", kind.FLOAT, [3])])
        nodes = [node("Loop", ["", "yes", "x", "zero"], ["last", "steps"], body=turn), node("Cast", ["steps"], ["y"], to=kind.FLOAT), node("Loop", ["x", "yes", "h0"], ["z"], body=outer),
                 node("Loop", ["", "no", "x", "zero"], ["same", "never"], body=turn), node("Cast", ["same"], ["v"], to=kind.FLOAT),
                 node("Cast", ["z"], ["z16"], to=kind.FLOAT16), node("Cast", ["z16"], ["u"], to=kind.FLOAT)]
        return model({"x": numpy.array(start, numpy.int64)}, nodes, [ints("one", 1), ints("two", 2), ints("three", 3), ints("zero", 0), tensor(rng, "w", 3), tensor(rng, "h0", 3),
                     helper.make_tensor("yes", kind.BOOL, [], [True]), helper.make_tensor("no", kind.BOOL, [], [False]), helper.make_tensor("limit", kind.FLOAT, [], [2.5])], outputs=["y", "z", "v", "u"])
    return make


def halves(rng):
    """Weights of 16 bits of both kinds; numbers that are rounded to 16 bits: ties, the smallest, beyond the largest."""
    node, kind = helper.make_node, onnx.TensorProto
    weights = [helper.make_tensor("w", kind.FLOAT16, [5, 2], rng.standard_normal(10).astype(numpy.float16)), helper.make_tensor("b", kind.BFLOAT16, [2], [0.1, -300.0])]
    nodes = [node("Cast", ["w"], ["w32"], to=kind.FLOAT), node("Cast", ["b"], ["b32"], to=kind.FLOAT), node("MatMul", ["x", "w32"], ["m"]), node("Add", ["m", "b32"], ["y"]),
             node("Cast", ["edges"], ["e16"], to=kind.FLOAT16), node("Cast", ["e16"], ["e"], to=kind.FLOAT), node("Cast", ["edges"], ["ebf"], to=kind.BFLOAT16), node("Cast", ["ebf"], ["f"], to=kind.FLOAT)]
    edges = numpy.array([1 + 2 ** -11, 1 + 3 * 2 ** -11, -1 - 2 ** -8, 65519.0, 65520.0, -1e30, 6e-8, 2.9e-8, -6.1e-5, 3e-5, numpy.inf, numpy.nan, 0, 1 / 3, 3.3e38], numpy.float32)
    return model({"x": rng.standard_normal((3, 5)).astype(numpy.float32), "edges": edges}, nodes, weights, outputs=["y", "e", "f"])


def whole_numbers(rng):
    """Ints of 32 and 8 bits come back to their range; those of 64 are divided towards zero."""
    node, kind = helper.make_node, onnx.TensorProto
    nodes = [node("Cast", ["x"], ["small"], to=kind.INT32), node("Mul", ["small", "large"], ["wide"]), node("Cast", ["wide"], ["f1"], to=kind.FLOAT),
             node("Cast", ["x"], ["byte"], to=kind.UINT8), node("Add", ["byte", "bytes"], ["sum"]), node("Cast", ["sum"], ["f2"], to=kind.FLOAT),
             node("Div", ["x", "three"], ["q"]), node("Mod", ["x", "three"], ["m"]), node("Cast", ["q"], ["f3"], to=kind.FLOAT), node("Cast", ["m"], ["f4"], to=kind.FLOAT),
             node("Concat", ["f1", "f2", "f3", "f4"], ["y"], axis=0)]
    return model({"x": numpy.array([-7, -1, 0, 5, 250, 70000])}, nodes, [ints("large", [100000] * 6, kind.INT32), ints("bytes", [200] * 6, kind.UINT8), ints("three", [3])])


def quantised(rng):
    """A convolution and a product of numbers that were made small, as tools that quantise models write them."""
    node, kind = helper.make_node, onnx.TensorProto

    def of(name, code, *values, dims=()):
        return helper.make_tensor(name, code, dims, values)

    bytes_of = [int(x) for x in rng.integers(-100, 100, 54)]
    return model({"x": rng.standard_normal((2, 3, 6, 6)).astype(numpy.float32)},
                 [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["d"]), node("DequantizeLinear", ["k", "ks", "kz"], ["kd"], axis=0),
                  node("Conv", ["d", "kd"], ["c"]), node("Relu", ["c"], ["r"]), node("Flatten", ["r"], ["f"]), node("DynamicQuantizeLinear", ["f"], ["fq", "fs", "fz"]),
                  node("MatMulInteger", ["fq", "w", "fz", "wz"], ["m"]), node("Cast", ["m"], ["mf"], to=kind.FLOAT), node("Mul", ["fs", "ws"], ["both"]), node("Mul", ["mf", "both"], ["y"])],
                 [of("s", kind.FLOAT, 0.02), of("z", kind.UINT8, 120), helper.make_tensor("k", kind.INT8, [2, 3, 3, 3], bytes_of), of("ks", kind.FLOAT, 0.01, 0.02, dims=[2]),
                  of("kz", kind.INT8, 0, 3, dims=[2]), helper.make_tensor("w", kind.INT8, [32, 4], [int(x) for x in rng.integers(-120, 120, 128)]), of("wz", kind.INT8, -2), of("ws", kind.FLOAT, 0.03)])


def sampled(rng):
    """A picture in another size by cubic sums, and at places that are computed."""
    node = helper.make_node
    return model({"x": rng.standard_normal((2, 3, 7, 5)).astype(numpy.float32), "places": rng.uniform(-1.3, 1.3, (2, 4, 6, 2)).astype(numpy.float32)},
                 [node("Resize", ["x", "", "scales"], ["a"], mode="cubic", cubic_coeff_a=-0.5, coordinate_transformation_mode="half_pixel"),
                  node("GridSample", ["a", "places"], ["b"], mode="linear", padding_mode="border", align_corners=1),
                  node("GridSample", ["x", "places"], ["c"], mode="cubic", padding_mode="reflection"), node("GridSample", ["x", "places"], ["d"], mode="nearest"),
                  node("LpPool", ["b"], ["e"], kernel_shape=[2, 3], p=2), node("ReduceMean", ["c"], ["f"]), node("Add", ["e", "f"], ["g"]), node("ReduceMax", ["d"], ["h"]), node("Mul", ["g", "h"], ["y"])],
                 [helper.make_tensor("scales", onnx.TensorProto.FLOAT, [4], [1, 1, 2, 1.6])], opset=20)


def one_op(rng):
    """Attention as one op, with turned places, fewer heads of keys, and a frontier."""
    node = helper.make_node
    return model({"q": rng.standard_normal((2, 5, 24)).astype(numpy.float32), "k": rng.standard_normal((2, 5, 12)).astype(numpy.float32), "v": rng.standard_normal((2, 5, 12)).astype(numpy.float32)},
                 [node("RotaryEmbedding", ["q", "c", "s", "at"], ["qr"], num_heads=4), node("RotaryEmbedding", ["k", "c", "s", "at"], ["kr"], num_heads=2, interleaved=1),
                  node("Attention", ["qr", "kr", "v"], ["y"], q_num_heads=4, kv_num_heads=2, is_causal=1)],
                 [tensor(rng, "c", 7, 3), tensor(rng, "s", 7, 3), ints("at", [[0, 1, 2, 3, 4], [2, 3, 4, 5, 6]])], opset=23)


def functions(rng):
    """Functions of the model's own, one in the other, with attributes; an operand that a call leaves out."""
    node, own = helper.make_node, "here"
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid(own, 1)]
    leaky = node("LeakyRelu", ["a"], ["r"])
    leaky.attribute.append(onnx.AttributeProto(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT))
    bend = helper.make_function(own, "Bend", ["x"], ["y"], [node("Mul", ["x", "x"], ["x2"]), node("Sub", ["x", "x2"], ["a"]), leaky, node("Bounded", ["r", "", "x2"], ["y"], domain=own)], opsets, ["slope"])
    proto, inputs = model({"x": rng.standard_normal((3, 4)).astype(numpy.float32)},
                          [node("Bend", ["x"], ["a"], domain=own, slope=0.3), node("ReduceMax", ["a"], ["r"], keepdims=0), node("Bounded", ["x", "", "r"], ["y"], domain=own)], [])
    bounded = helper.make_function(own, "Bounded", ["a", "low", "high"], ["r"], [node("Min", ["a", "high"], ["r"])], opsets)
    proto.functions.extend([bounded, bend])
    proto.opset_import.append(helper.make_opsetid(own, 1))
    return proto, inputs


def compare(dfc, name, path, inputs, folder):
    """None, or what is wrong."""
    module = os.path.join(folder, "Net.df")
    weights = os.path.join(folder, "Net.safetensors")
    for old in (module, weights):
        if os.path.exists(old):
            os.remove(old)
    done = subprocess.run([dfc, "import", path, "-o", module], capture_output=True, text=True, timeout=300)
    if done.returncode:
        return done.stderr
    with open(module, encoding="utf-8") as file:
        names = next(line for line in file if line.startswith("net") and " = " in line).split(" = ")[0].split()[1:]
    words = []
    if names and names[0] == "weights":
        words, names = ["--input", "weights=@" + weights], names[1:]
    for port, x in zip(names, inputs.values()):
        numpy.save(os.path.join(folder, port + ".npy"), x)
        words += ["--input", "%s=@%s.npy" % (port, os.path.join(folder, port))]
    out = os.path.join(folder, "out.npz")
    done = subprocess.run([dfc, "run", module, "--no-warnings", *words, "--output", "@" + out], capture_output=True, text=True, timeout=300)
    if done.returncode:
        return done.stderr
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    wanted = session.run(None, {port.name: x for port, x in zip(session.get_inputs(), inputs.values())})
    with numpy.load(out) as arrays:
        got = [arrays[str(i)] for i in range(len(wanted))] if len(wanted) > 1 else [arrays[arrays.files[0]]]
    for i, (mine, want) in enumerate(zip(got, wanted)):
        if mine.shape != want.shape or not numpy.allclose(mine, want, rtol=CLOSE, atol=CLOSE, equal_nan=True):
            return "result %d is\n%s\nand ONNX Runtime has\n%s" % (i, mine, want)
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--torch", help="an interpreter with torch, onnx and onnxscript")
    parser.add_argument("--keep", help="where the models of torch are to be left")
    args = parser.parse_args()
    go_on_in(args.python, __file__, "--dfc", args.dfc)
    try:
        global numpy, onnx, helper, onnxruntime
        import numpy
        import onnx
        import onnxruntime
        from onnx import helper
    except ImportError as missing:
        print("%s in %s" % (missing, sys.executable))
        sys.exit(77)
    dfc, failed, count = os.path.abspath(args.dfc), 0, 0
    made = {"perceptron": perceptron, "pictures": pictures, "attention": attention, "lstm": recurrent("LSTM", 4), "both_ways": recurrent("LSTM", 4, direction="bidirectional"),
            "gru": recurrent("GRU", 3, linear_before_reset=1), "rnn": recurrent("RNN", 1, direction="reverse"), "choices": choices, "functions": functions, "whole_numbers": whole_numbers,
            "rounds_27": rounds(27), "rounds_2": rounds(2), "halves": halves, "quantised": quantised, "sampled": sampled, "one_op": one_op}
    with tempfile.TemporaryDirectory() as folder:
        cases = []
        if args.torch:
            zoo = args.keep or os.path.join(folder, "torch")
            os.makedirs(zoo, exist_ok=True)
            if not glob.glob(os.path.join(zoo, "*.npz")):
                subprocess.run([args.torch, os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_models.py"), zoo], check=True, stdout=subprocess.DEVNULL)
            for path in sorted(glob.glob(os.path.join(zoo, "*.onnx"))):
                with numpy.load(path[:-5] + ".npz") as arrays:
                    cases.append((os.path.basename(path)[:-5], path, {"x": arrays["x"]}))
        else:
            for name, make in made.items():
                proto, inputs = make(numpy.random.default_rng(3))
                path = os.path.join(folder, name + ".onnx")
                # Of one the weights are in a file beside it.
                onnx.save(proto, path, save_as_external_data=name == "perceptron", location="weights.bin", size_threshold=0)
                cases.append((name, path, inputs))
        for name, path, inputs in cases:
            wrong = compare(dfc, name, path, inputs, folder)
            count += 1
            if wrong:
                failed += 1
                print("FAIL %s: %s" % (name, wrong))
            elif args.torch:
                print("as ONNX Runtime: " + name)
    print("%d of %d models give what ONNX Runtime gives" % (count - failed, count))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
