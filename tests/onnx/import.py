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

# Of each of these ops some node tests pass, and none fails.
OPS = ("MatMul", "Gemm", "Softmax", "Transpose", "Conv", "MaxPool", "LSTM", "GRU", "LayerNormalization", "Slice", "Gather")
DAMAGED = 150


def run(command):
    return subprocess.run(command, capture_output=True, timeout=120)


def outcome(dfc, case):
    """("passes" | "refused" | "fails", why) of a node test."""
    inputs, outputs = ([onnx.numpy_helper.to_array(each) if isinstance(each, onnx.TensorProto) else each for each in some] for some in case.data_sets[0])
    how, why = attempt(dfc, case.model, inputs, outputs, case)
    if how != "refused" or "computed while the model runs" not in why:
        return how, why
    # Axes, shapes and the like are inputs of these tests: here they are constants, as in models.
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    kept = []
    for port, value in zip(case.model.graph.input, inputs):
        if getattr(value, "dtype", None) == numpy.int64:
            model.graph.initializer.append(onnx.numpy_helper.from_array(value, port.name))
        else:
            kept.append(value)
    return attempt(dfc, model, kept, outputs, case)


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
            numpy.save(path("%d.npy" % i), numpy.ascontiguousarray(value) if value.ndim else value)
            words += ["--input", "%s=@%s" % (name, path("%d.npy" % i))]
        done = run([dfc, "run", path("Net.df"), "--no-warnings", *words, "--output", "@" + path("out.npz")])
        if done.returncode:
            return "fails", "run: exit code %d\n%s" % (done.returncode, done.stderr.decode()[:1000])
        with numpy.load(path("out.npz")) as arrays:
            got = [arrays[str(i)] for i in range(len(outputs))] if len(outputs) > 1 else [arrays[arrays.files[0]]]
    for mine, want in zip(got, outputs):
        want = numpy.asarray(want)
        if mine.shape != want.shape or not numpy.allclose(mine, want, rtol=case.rtol, atol=max(case.atol, 1e-7), equal_nan=True):
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--only", help="with --table: these ops")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    if args.python != sys.executable:
        if not os.path.exists(args.python):
            print("there is no " + args.python)
            sys.exit(77)
        sys.exit(subprocess.run([args.python, "-B", __file__, "--dfc", args.dfc]).returncode)
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
        print("| op | pass | refused | fail |\n|---|---|---|---|")
        for op, row in sorted(counts.items()):
            if row["passes"] or row["fails"]:
                print("| %s | %d | %d | %d |" % (op, row["passes"], row["refused"], row["fails"]))
        print("refused: " + ", ".join("%s %d" % (op, row["refused"]) for op, row in sorted(counts.items()) if not row["passes"] and not row["fails"]))
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
