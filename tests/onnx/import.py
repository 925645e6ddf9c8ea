#!/usr/bin/env python3
"""`dfc import` on the node tests of the onnx package, and on models that are none.

    import.py --dfc build/dfc [--python INTERPRETER]     a part of the node tests, those of OPS, and some hundred damaged models; a test
    import.py --dfc build/dfc --table                    all node tests: which share passes, by op, as a table for docs/onnx.md

A node test passes if the module that its model becomes, run by dfc on its inputs, gives its outputs, as close as the package asks. One that is
refused has to be refused by name, and one that is neither is a failure. Exit code 77, which ctest shows as skipped, if there is no such
interpreter or it has no onnx module.
"""

import argparse
import collections
import concurrent.futures
import os
import random
import subprocess
import sys
import tempfile
import warnings

from interpreter import go_on_in

# Of each of these ops some node tests pass, and none fails.
OPS = ("MatMul", "Gemm", "Softmax", "Transpose", "Conv", "MaxPool", "LSTM", "GRU", "LayerNormalization", "Slice", "Gather", "If", "Loop", "Scan", "TopK", "CumSum", "ScatterND", "Einsum", "Mod", "Attention", "RotaryEmbedding",
       "Resize", "GridSample", "QuantizeLinear", "DequantizeLinear", "QLinearMatMul", "BitShift", "SoftmaxCrossEntropyLoss", "DFT")
# The 60 ops of common models: perceptrons, convolutions, encoders, recurrent layers.
COMMON = """MatMul Gemm Relu Sigmoid Tanh Softmax LogSoftmax LeakyRelu Gelu Conv ConvTranspose BatchNormalization MaxPool AveragePool GlobalAveragePool Flatten Pad Resize
    InstanceNormalization GroupNormalization Clip HardSwish Dropout Add Sub Mul Div Pow Sqrt Exp Log Erf Neg LayerNormalization ReduceMean ReduceSum ReduceMax Transpose Reshape
    Gather Shape Concat Slice Split Squeeze Unsqueeze Expand Where Cast Equal Less Greater Not Constant ConstantOfShape Identity ArgMax LSTM GRU RNN""".split()
DAMAGED = 200
# Inputs of node tests, besides Ints and Bools, that are constants in models.
CONSTANTS = ("scales", "axis", "depth", "start", "limit", "delta", "roi")


def run(command):
    return subprocess.run(command, capture_output=True, timeout=120)


def outcome(dfc, case):
    """("passes" | "refused" | "fails", why) of a node test."""
    inputs, outputs = ([onnx.numpy_helper.to_array(each) if isinstance(each, onnx.TensorProto) else each for each in some] for some in case.data_sets[0])
    how, why = attempt(dfc, case.model, inputs, outputs, case)
    if how != "refused" or "computed while the model runs" not in why and "training mode" not in why:
        return how, why
    # Axes, shapes, scales and the like are inputs of these tests: here they are constants, as in models.
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    kept = []
    for port, value in zip(case.model.graph.input, inputs):
        if getattr(value, "dtype", None) in (numpy.int64, numpy.bool_) or port.name in CONSTANTS or getattr(value, "dtype", None) == numpy.int32 and value.ndim == 0:
            model.graph.initializer.append(onnx.numpy_helper.from_array(value, port.name))
        else:
            kept.append(value)
    return attempt(dfc, model, kept, outputs, case)


def plain(value):
    """Elements of 16 bits and less as Floats, those that are whole numbers as Ints."""
    if "int" in value.dtype.name and value.dtype.kind not in "iu":
        return value.astype(numpy.int64)
    return value.astype(numpy.float32) if value.dtype.kind not in "iufb" or value.dtype.itemsize < 4 and value.dtype.kind == "f" else value


def attempt(dfc, model, inputs, outputs, case):
    with tempfile.TemporaryDirectory() as folder:
        def path(name):
            return os.path.join(folder, name)

        with open(path("m.onnx"), "wb") as file:
            file.write(model.SerializeToString())
        done = run([dfc, "import", path("m.onnx"), "-o", path("Net.df")])
        if done.returncode == 1 and b"[DF0502]" in done.stderr:
            return "refused", done.stderr.decode().split("cannot be imported: ")[1].split("\n")[0]
        if done.returncode:
            return "fails", "import: exit code %d\n%s" % (done.returncode, done.stderr.decode()[:1000])
        words = []
        # The module's names of inputs, in the model's order.
        with open(path("Net.df"), encoding="utf-8") as file:
            names = next(line for line in file if line.startswith("net") and " = " in line).split(" = ")[0].split()[1:]
        if os.path.exists(path("Net.safetensors")):
            words += ["--input", "weights=@" + path("Net.safetensors")]
            names = names[1:]
        for i, (name, value) in enumerate(zip(names, inputs)):
            value = numpy.asarray(value)
            value = plain(value)
            if value.dtype.kind in "iu":
                value = value.astype(numpy.int64)  # Ints of the language, whatever they are in the model
            numpy.save(path("%d.npy" % i), numpy.ascontiguousarray(value) if value.ndim else value)
            words += ["--input", "%s=@%s" % (name, path("%d.npy" % i))]
        done = run([dfc, "run", path("Net.df"), "--no-warnings", *words, "--output", "@" + path("out.npz")])
        if done.returncode:
            return "fails", "run: exit code %d\n%s" % (done.returncode, done.stderr.decode()[:1000])
        with numpy.load(path("out.npz")) as arrays:
            got = [arrays[str(i)] for i in range(len(outputs))] if len(outputs) > 1 else [arrays[arrays.files[0]]]
    for mine, want in zip(got, outputs):
        want, near = numpy.asarray(want), 0
        if want.dtype.kind not in "iufb" or want.dtype.itemsize < 4 and want.dtype.kind == "f":
            # What the model computes in 16 bits is computed in 32 here: as close as a few roundings are.
            near = 2 ** -9 if want.dtype == numpy.float16 else 2 ** -6
            mine, want = mine.astype(numpy.float32), plain(want).astype(numpy.float32)
        # What is 0 but for the rounding of larger numbers is as near as these are.
        some = 1e-7 * max(1, numpy.abs(want[numpy.isfinite(want)]).max(initial=0)) if want.dtype.kind == "f" else 0
        if mine.shape != want.shape or not numpy.allclose(mine, want, rtol=max(case.rtol, near), atol=max(case.atol, some), equal_nan=True):
            return "fails", "%s\nwant\n%s" % (mine, want)
    return "passes", ""


def op_of(case):
    """The op that a node test is of: its node's, or the one that its name begins with, of those that are a function of others."""
    ops = {node.op_type for node in case.model.graph.node}
    return ops.pop() if len(ops) == 1 else "several (expanded)"


def node_tests(dfc, wanted):
    from onnx.backend.test.case.node import collect_testcases
    warnings.simplefilter("ignore")  # of numpy, about the cases' own arithmetic
    cases = [case for case in collect_testcases(None) if case.data_sets and (wanted is None or op_of(case) in wanted)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(zip(cases, pool.map(lambda case: outcome(dfc, case), cases)))


def damaged(dfc, seed):
    """Models of which bytes were changed, or parts are absurd: an answer or a clear error, within limits."""
    chance = random.Random(seed)
    from onnx import TensorProto, helper
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)

    def model(nodes, constants=(), inputs=(x,)):
        return helper.make_model(helper.make_graph(nodes, "g", list(inputs), [y], list(constants)), opset_imports=[helper.make_opsetid("", 18)])

    ints = [helper.make_tensor("k", TensorProto.INT64, [2], [0, 0])]

    def of_ints(values):
        return [helper.make_tensor("k", TensorProto.INT64, [len(values)], values)]

    big = 2 ** 62

    def outside(key, value):
        return onnx.StringStringEntryProto(key=key, value=value)

    def calling(name, operands):
        """Functions that call themselves, or are called with what they do not take."""
        own = [helper.make_opsetid("", 18), helper.make_opsetid("here", 1)]
        made = model([node(name, operands, ["y"], domain="here")])
        made.functions.extend([helper.make_function("here", "f", ["a"], ["b"], [node("f", ["a"], ["b"], domain="here")], own), helper.make_function("here", "g", ["a", "k"], ["b"], [node("Add", ["a", "k"], ["b"])], own)])
        return made

    def one(name, kind):
        return helper.make_tensor_value_info(name, kind, [])
    wide = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, big, 4])
    short = TensorProto(name="k", data_type=TensorProto.FLOAT, dims=[1000, 1000], raw_data=b"abcd")
    node = helper.make_node
    seeds = [
        model([node("Reshape", ["x", "k"], ["y"])], of_ints([big, -1])), model([node("Expand", ["x", "k"], ["y"])], of_ints([big, big, 2, 3])),
        model([node("Tile", ["x", "k"], ["y"])], of_ints([big, big])), model([node("ConstantOfShape", ["k"], ["y"])], of_ints([-5, big])),
        model([node("Slice", ["x", "k", "k", "k", "k"], ["y"])], ints), model([node("Gather", ["x", "k"], ["y"], axis=77)], ints),
        model([node("Transpose", ["x"], ["y"], perm=[0, 0])]), model([node("Transpose", ["x"], ["y"], perm=[1, -9223372036854775808])]),
        model([node("MaxPool", ["x"], ["y"], kernel_shape=[big, big])], inputs=[wide]), model([node("Relu", ["x"], ["y"])], inputs=[wide]),
        model([node("MatMul", ["x", "k"], ["y"])], [short]), model([node("Relu", ["z"], ["y"])]), model([node("Relu", ["y"], ["y"])]),
        model([node("Pad", ["x", "k"], ["y"])], of_ints([big, big, big, big])), model([node("Split", ["x"], ["y"], num_outputs=-3)]),
        model([node("Squeeze", ["x", "k"], ["y"])], of_ints([-big])), model([node("Softmax", ["x"], ["y"], axis=big)]),
        model([node("LSTM", ["x", "x", "x"], ["y"], hidden_size=big)]), model([node("Conv", ["x", "x"], ["y"], group=0)]),
        model([node("Range", ["k", "k", "k"], ["y"])], [helper.make_tensor("k", TensorProto.INT64, [0], [])]),
        model([node("TopK", ["x", "k"], ["y", "i"])], of_ints([big, 1])), model([node("TopK", ["x", "k"], ["y", "i"], axis=0)], of_ints([2])), model([node("Trilu", ["x", "k"], ["y"])], of_ints([-big])),
        model([node("CumSum", ["x", "k"], ["y"])], of_ints([big])), model([node("GatherElements", ["x", "k"], ["y"], axis=1)], [helper.make_tensor("k", TensorProto.INT64, [1, 2], [-big, big])]),
        model([node("GatherND", ["x", "k"], ["y"], batch_dims=big)], ints), model([node("GatherND", ["x", "k"], ["y"])], of_ints([1, big])), model([node("ScatterND", ["x", "k", "x"], ["y"])], ints),
        model([node("OneHot", ["k", "k", "k"], ["y"], axis=-big)], of_ints([big, big])), model([node("Einsum", ["x"], ["y"], equation="ij->ji")]), model([node("Einsum", ["x", "x"], ["y"], equation="a,,->->b")]),
        model([node("DepthToSpace", ["x"], ["y"], blocksize=big)]), model([node("Resize", ["x", "", "", "k"], ["y"])], of_ints([big, big])), model([node("Mod", ["k", "k"], ["y"])], ints),
        model([node("Div", ["k", "k"], ["y"])], of_ints([-2 ** 63, -1])), model([node("EyeLike", ["x"], ["y"], k=-big, dtype=TensorProto.UINT8)]), model([node("Pad", ["x", "k"], ["y"], mode="reflect")], of_ints([0, big, 0, big])),
        model([node("ConvTranspose", ["x", "x"], ["y"], strides=[big])], inputs=[helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 2, 3])]),
        model([node("Relu", ["k"], ["y"])], [TensorProto(name="k", data_type=TensorProto.FLOAT, dims=[2], data_location=TensorProto.EXTERNAL, external_data=[outside("location", "../m.onnx")])]),
        model([node("Relu", ["k"], ["y"])], [TensorProto(name="k", data_type=TensorProto.FLOAT, dims=[2], data_location=TensorProto.EXTERNAL, external_data=[outside("location", "m.onnx"), outside("length", str(big))])]),
        model([node("Loop", ["k", ""], ["y"], body=helper.make_graph([node("Identity", ["c"], ["d"])], "b", [one("i", TensorProto.INT64), one("c", TensorProto.BOOL)], [one("d", TensorProto.BOOL)]))], of_ints([big])),
        model([node("Scan", ["x"], ["y"], num_scan_inputs=-big, body=helper.make_graph([], "b", [one("i", TensorProto.FLOAT)], [one("i", TensorProto.FLOAT)]))]),
        model([node("Attention", ["x", "x", "x"], ["y"], q_num_heads=big, kv_num_heads=0)]), model([node("Attention", ["w", "w", "w"], ["y"], left_window_size=big)], inputs=[wide]),
        model([node("RotaryEmbedding", ["x", "x", "x"], ["y"], num_heads=-1)]), model([node("GridSample", ["x", "x"], ["y"])]), model([node("DFT", ["x", "k"], ["y"])], of_ints([big])),
        model([node("HannWindow", ["k"], ["y"])], of_ints([big])), model([node("Col2Im", ["x", "k", "k"], ["y"])], of_ints([big, big])), model([node("CenterCropPad", ["x", "k"], ["y"])], of_ints([big, -1])),
        model([node("Resize", ["x", "", "", "k"], ["y"], mode="cubic")], of_ints([big, big])), model([node("BitShift", ["k", "k"], ["y"], direction="LEFT")], of_ints([-1, big])),
        model([node("QuantizeLinear", ["x", "x"], ["y"], axis=big, block_size=-1)]), model([node("QLinearMatMul", ["x"] * 8, ["y"])]), model([node("LpPool", ["x"], ["y"], kernel_shape=[big], p=big)]),
        model([node("AffineGrid", ["x", "k"], ["y"])], of_ints([big])), model([node("NegativeLogLikelihoodLoss", ["x", "k"], ["y"])], ints), model([node("Einsum", ["x"], ["y"], equation="...,.")]),
        model([node("TensorScatter", ["x", "x", "k"], ["y"], axis=0)], ints), model([node("ScatterND", ["x", "k", "x"], ["y"], reduction="mul")], ints),
        model([node("Relu", ["k"], ["y"])], [TensorProto(name="k", data_type=23, dims=[3], raw_data=b"a")]), model([node("Add", ["k", "k"], ["y"])], [TensorProto(name="k", data_type=22, dims=[big], raw_data=b"a")]),
        calling("f", ["x"]), calling("g", ["x"]), calling("g", ["x", "x", "x"]),
        model([node("Add", [], ["y"])]), model([node("Concat", ["x", "k"], ["y"], axis=1)], ints), model([]),
    ]
    nested = node("If", ["x"], ["y"], then_branch=helper.make_graph([node("Relu", ["x"], ["y"])], "t", [], [y]))
    seeds.append(model([nested]))
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.onnx")
        for k in range(len(seeds) + DAMAGED):
            data = bytearray(seeds[k % len(seeds)].SerializeToString())
            if k >= len(seeds):
                for _ in range(chance.randint(1, 4)):
                    at = chance.randrange(len(data))
                    kind = chance.randrange(3)
                    if kind == 0:
                        data[at] = chance.randrange(256)
                    elif kind == 1:
                        del data[at:at + chance.randint(1, 8)]
                    else:
                        data[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 8)))
                    if not data:
                        data = bytearray(b"\0")
            with open(path, "wb") as file:
                file.write(data)
            done = run([dfc, "import", path, "--max-memory=1G", "--timeout=20s", "-o", os.path.join(folder, "Net.df")])
            refused = done.returncode == 1 and b"error[DF0502]" in done.stderr
            module = done.returncode == 0 and run([dfc, "check", os.path.join(folder, "Net.df")])
            if not refused and (not module or module.returncode):
                failed += 1
                kept = os.path.join(tempfile.gettempdir(), "damaged-%d-%d.onnx" % (seed, k))
                with open(kept, "wb") as file:
                    file.write(data)
                print("FAIL %s: exit code %d\n%s" % (kept, done.returncode, (done.stderr + (module.stderr if module else b"")).decode(errors="replace")[:2000]))
    print("damaged models: %d of %d refused or imported" % (len(seeds) + DAMAGED - failed, len(seeds) + DAMAGED))
    return failed


def tables(counts):
    """The section of docs/onnx.md."""
    def cells(op):
        return "%s | %d | %s" % (op, counts[op]["passes"], counts[op]["refused"] or "")
    third = len(COMMON) // 3
    print("| op | pass | refused | op | pass | refused | op | pass | refused |\n|---|---|---|---|---|---|---|---|---|")
    for row in zip(COMMON[:third], COMMON[third:2 * third], COMMON[2 * third:]):
        print("| %s |" % " | ".join(map(cells, row)))
    common = [counts[op] for op in COMMON]
    print("together: %d pass, %d refused" % (sum(row["passes"] for row in common), sum(row["refused"] for row in common)))
    others = [(op, row) for op, row in sorted(counts.items()) if op not in COMMON]
    print("all: " + ", ".join("%s %d" % (op, row["passes"]) for op, row in others if not row["refused"]))
    print("some: " + ", ".join("%s %d of %d" % (op, row["passes"], row["passes"] + row["refused"]) for op, row in others if row["passes"] and row["refused"]))
    print("none: " + ", ".join(op for op, row in others if not row["passes"]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--only", help="with --table: these ops")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    go_on_in(args.python, __file__, "--dfc", args.dfc)
    try:
        global numpy, onnx
        import numpy
        import onnx
        import onnx.numpy_helper
    except ImportError as missing:
        print("%s in %s" % (missing, sys.executable))
        sys.exit(77)
    dfc = os.path.abspath(args.dfc)
    results = node_tests(dfc, set(args.only.split(",")) if args.only else None if args.table else set(OPS))
    counts = collections.defaultdict(collections.Counter)
    for case, (how, why) in results:
        counts[op_of(case)][how] += 1
        if how == "fails" or args.verbose and how == "refused":
            print("%s %s (%s): %s" % (how, case.name, op_of(case), why))
    total = collections.Counter(how for _, (how, _) in results)
    if args.table:
        tables(counts)
    print("onnx %s: %d node tests: %d pass, %d are refused by name, %d fail" % (onnx.__version__, len(results), total["passes"], total["refused"], total["fails"]))
    failed = total["fails"]
    if not args.table and not args.only:
        for op in OPS:
            if not counts[op]["passes"]:
                failed += 1
                print("FAIL %s: no node test passes" % op)
        failed += damaged(dfc, 7)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
