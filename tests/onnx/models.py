#!/usr/bin/env python3
"""Models of `--emit=onnx`: what onnx's checker accepts, and ONNX Runtime computes, is what dfc computes.

    models.py --dfc build/dfc [--python INTERPRETER]     the interpreter whose onnx and onnxruntime modules are used; default: this one
    models.py --dfc build/dfc --cases [--every N]        also the CASE lines of tests/programs, tests/gradient and samples that are models

The programs are the definitions that programs/*.df have a `-- CALL: NAME input=value ..` for, each exported by itself. Int and Bool are compared
exactly, Float and Double to 1e-5 of the value. Of a `-- FAIL:` both have to fail. `-- SIZED:` and `-- MISFIT:` are the same of definitions that leave
sizes open, which dfc runs at those of the inputs. `-- REFUSED: NAME CODE words of the message` is no model. Exit code 77, which ctest shows as skipped, if there is no such
interpreter or it lacks a module.
"""

import argparse
import ast
import glob
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "harness"))
from case_lines import program_of, read_cases  # noqa: E402
from interpreter import go_on_in  # noqa: E402

MOST_RELATIVE = 1e-5
KINDS = ("-- CALL: ", "-- FAIL: ", "-- SIZED: ", "-- MISFIT: ", "-- REFUSED: ")


def close(mine, theirs):
    """None, or what differs. Both are arrays of numpy."""
    if mine.shape != theirs.shape:
        return "shapes %s and %s" % (mine.shape, theirs.shape)
    if mine.dtype != theirs.dtype:
        return "%s and %s" % (mine.dtype, theirs.dtype)
    same = numpy.allclose(mine, theirs, rtol=MOST_RELATIVE, atol=1e-12, equal_nan=True) if mine.dtype.kind == "f" else (mine == theirs).all()
    return None if same else "%s and %s" % (mine, theirs)


class Model:
    def __init__(self, path):
        model = onnx.load(path)
        onnx.checker.check_model(model, full_check=True)
        assert all(opset.domain == "" and opset.version >= 17 for opset in model.opset_import), model.opset_import
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # a failure that is wanted is no news
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        self.types = {i.name: {"tensor(int64)": "int64", "tensor(bool)": "bool", "tensor(float)": "float32", "tensor(double)": "float64"}[i.type]
                      for i in self.session.get_inputs()}
        self.names = [output.name for output in self.session.get_outputs()]

    def run(self, given):
        """name -> array; an exception of the runtime's is a failure of the run."""
        return dict(zip(self.names, self.session.run(None, {name: numpy.array(ast.literal_eval(given[name]), self.types[name]) for name in self.types})))


def inputs_of(given, model, folder):
    """What dfc is given: parts of a record as one file of arrays."""
    whole, parts = {}, {}
    for name, text in given.items():
        head, dot, rest = name.partition(".")
        if dot:
            parts.setdefault(head, {})[rest] = numpy.array(ast.literal_eval(text), model.types[name])
        else:
            whole[name] = text
    for head, arrays in parts.items():
        path = os.path.join(folder, head + ".npz")
        numpy.savez(path, **arrays)
        whole[head] = "@" + path
    return [word for name, text in whole.items() for word in ("--input", "%s=%s" % (name, text))]


def sized(source, name, given, folder):
    """The words that run a definition at the sizes of its inputs: it is what `main` calls."""
    path = os.path.join(folder, "sized.df")
    with open(source, encoding="utf-8") as file, open(path, "w", encoding="utf-8") as made:
        text = file.read()
        signature = next(line for line in text.splitlines() if line.startswith(name + " :: "))
        made.write("%s\nmain%s\nmain %s = %s %s\n" % (text, signature.removeprefix(name), " ".join(given), name, " ".join(given)))
    return [path]


def call(dfc, source, name, words, kind, models, folder):
    """None, or what is wrong with this call."""
    if kind == "REFUSED:":
        done = subprocess.run([dfc, source, "--no-warnings", "--emit=onnx", "--export", name, "-o", os.path.join(folder, "none.onnx")], capture_output=True, timeout=120)
        said = " ".join(done.stderr.decode().split())
        return None if done.returncode == 1 and "[%s]" % words[0] in said and " ".join(words[1:]) in said and os.path.basename(source) in said else "exit code %d: %s" % (done.returncode, said)
    fails = kind in ("FAIL:", "MISFIT:")
    given = dict(word.split("=", 1) for word in words)
    if name not in models:
        path = os.path.join(folder, name + ".onnx")
        done = subprocess.run([dfc, source, "--no-warnings", "--emit=onnx", "--export", name, "-o", path], capture_output=True, timeout=120)
        if done.returncode:
            return "it is no model\n" + done.stderr.decode()
        try:
            models[name] = Model(path)
        except Exception as fault:
            return "it is not loaded: %s" % fault
    model = models[name]
    result = os.path.join(folder, "result.npz")
    what = sized(source, name, given, folder) if kind in ("SIZED:", "MISFIT:") else [source, "--entry", name]
    run = subprocess.run([dfc, "run", *what, "--no-warnings", *inputs_of(given, model, folder), "--output", "@" + result],
                         capture_output=True, timeout=120)
    if run.returncode not in ((1, 2) if kind == "MISFIT:" else (1,) if fails else (0,)):
        return "dfc run: exit code %d\n%s" % (run.returncode, run.stderr.decode())
    try:
        theirs = model.run(given)
    except Exception as fault:  # whatever the runtime says
        return None if fails else "ONNX Runtime: %s" % fault
    if fails:
        return "ONNX Runtime gives %s" % theirs
    with numpy.load(result) as arrays:
        mine = {key: arrays[key] for key in arrays.files}
    if len(mine) != len(theirs):
        return "dfc has %s, ONNX Runtime %s" % (sorted(mine), sorted(theirs))
    for key, array in theirs.items():
        own = mine[key.removeprefix("result.")] if key != "result" else next(iter(mine.values()))
        if fault := close(own, array):
            return "%s: %s" % (key, fault)
    return None


def check_programs(dfc, folder):
    failed = calls = programs = 0
    for source in sorted(glob.glob(os.path.join(HERE, "programs", "*.df"))):
        models = {}
        with open(source, encoding="utf-8") as file:
            lines = [line.split() for line in file if line.startswith(KINDS)]
        for _, kind, name, *words in lines:
            calls += 1
            if fault := call(dfc, source, name, words, kind, models, folder):
                failed += 1
                print("FAIL %s: %s %s: %s" % (os.path.basename(source), name, " ".join(words), fault))
        programs += len(models)
    print("onnx %s, onnxruntime %s: %d programs, %d of %d calls as dfc has them" %
          (onnx.__version__, onnxruntime.__version__, programs, calls - failed, calls))
    return failed


def value_of(text):
    """The leaves of a value as Haskell shows it, or None if it is no tuple, list or number."""
    def leaves(value):
        if isinstance(value, tuple):
            return [leaf for part in value for leaf in leaves(part)]
        return [value]

    try:
        return leaves(ast.literal_eval(text.replace("Infinity", "1e999")))
    except (ValueError, SyntaxError):
        return None


def check_cases(dfc, folder, every):
    """Each case that is a model: the run's results are the case's."""
    failed = models = refused = lacking = 0
    paths = sorted(path for each in ("samples", "samples/tensors", "tests/programs", "tests/programs/tensors", "tests/gradient")
                   for path in glob.glob(os.path.join(ROOT, each, "*.df")))
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for case in read_cases(text)[::every]:
            model = os.path.join(folder, "case.onnx")
            done = subprocess.run([dfc, "-", "--no-warnings", "--emit=onnx", "-i", os.path.dirname(path), "-o", model], input=program_of(text, case).encode(),
                                  capture_output=True, timeout=120)
            if done.returncode:
                if done.returncode != 1 or b"[DF04" not in done.stderr:
                    failed += 1
                    print("FAIL %s:%d: exit code %d\n%s" % (path, case.line, done.returncode, done.stderr.decode()))
                refused += 1
                continue
            wanted = None if case.error is not None else value_of(case.value)
            try:
                loaded = Model(model)
            except Exception as fault:  # a model by the checker's word, with an op that this runtime lacks
                if "NOT_IMPLEMENTED" not in str(fault):
                    failed += 1
                    print("FAIL %s:%d: it is not loaded: %s" % (path, case.line, fault))
                lacking += 1
                continue
            try:
                given = list(loaded.run({}).values())
            except Exception as fault:
                given = fault
            models += 1
            if case.error is not None:
                fault = None if isinstance(given, Exception) else "gives %s and has to fail" % given
            elif isinstance(given, Exception):
                fault = str(given)
            elif wanted is None or len(wanted) != len(given):
                fault = None if wanted is None else "%s, want %s" % (given, wanted)
            else:
                faults = [close(numpy.array(want, got.dtype), got) for want, got in zip(wanted, given)]
                fault = next((each for each in faults if each), None)
            if fault:
                failed += 1
                print("FAIL %s:%d: %s: %s" % (path, case.line, case.expression, fault))
    print("cases: %d are models, %d of these as stored; %d more have an op that ONNX Runtime lacks; %d are refused" % (models, models - failed, lacking, refused))
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--cases", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    args = parser.parse_args()
    go_on_in(args.python, __file__, "--dfc", args.dfc, *(["--cases", "--every", str(args.every)] if args.cases else []))
    try:
        global numpy, onnx, onnxruntime
        import numpy
        import onnx
        import onnxruntime
    except ImportError as missing:
        print("%s in %s" % (missing, sys.executable))
        sys.exit(77)
    dfc = os.path.abspath(args.dfc)
    with tempfile.TemporaryDirectory() as folder:
        failed = check_programs(dfc, folder)
        if args.cases:
            failed += check_cases(dfc, folder, args.every)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
