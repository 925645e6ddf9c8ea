#!/usr/bin/env python3
"""Inputs from .npz and .safetensors files and from texts: arrays.py --dfc build/dfc. Good files and broken ones, made here."""

import argparse
import io
import json
import os
import struct
import subprocess
import sys
import tempfile
import zipfile

MODEL = """import qualified Tensor as T
data Linear = Linear { weight :: Tensor Float [2], bias :: Maybe (Tensor Float [1]) }
data Act = Relu | Leaky Double | Both { left :: Act, right :: Act }
data Model = Model { layers :: [Linear], act :: Act, step :: Int, big :: Integer, name :: String, losses :: [Double], flags :: [Bool] }
main :: Model -> (Int, Double, [(Float, Maybe (Tensor Float [1]))], (Integer, String, [Double], [Bool]))
main m@(Model ls a s b n l f) = (s, value a, [(T.sum (weight x), bias x) | x <- ls], (b, n, l, f))
  where value Relu = 0
        value (Leaky x) = x
        value (Both x y) = 10 * value x + value y
"""


def npy(descr, shape, data):
    text = "{'descr': %s, 'fortran_order': False, 'shape': %s, }\n" % (descr if descr[0] == "[" else "'%s'" % descr, shape)
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode() + data


def shape_text(shape):
    return "(%s)" % "".join("%d," % n for n in shape)


NPY = {"F32": "<f4", "F64": "<f8", "I64": "<i8", "I32": "<i4", "BOOL": "|b1", "U8": "|u1", "F16": "<f2"}
ARRAYS = {
    "layers.0.weight": ("F32", [2], struct.pack("<2f", 1, 2)),
    "layers.0.bias": ("F32", [1], struct.pack("<f", 0.5)),
    "layers.1.weight": ("F32", [2], struct.pack("<2f", 3, 4)),
    "act.Both.left.Leaky.0": ("F64", [], struct.pack("<d", 0.5)),
    "act.Both.right.Relu": ("BOOL", [0], b""),
    "step": ("I64", [], struct.pack("<q", -5)),
    "big": ("I32", [], struct.pack("<i", 7)),
    "name": ("U8", [3], "hé".encode()),
    "losses": ("F64", [2], struct.pack("<2d", 1.5, 0.1)),
    "flags": ("BOOL", [2], b"\1\0"),
}
ANSWER = '(-5,5.0,[(3.0,Just [0.5]),(7.0,Nothing)],(7,"h\\233",[1.5,0.1],[True,False]))'


def npz(arrays, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, (element, shape, data) in arrays.items():
            archive.writestr(name + ".npy", npy(NPY[element], shape_text(shape), data))
    return out.getvalue()


def safetensors(arrays, places=None, text=None, rest=b"", length=None):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, (element, shape, bytes_) in arrays.items():
        header[name] = {"dtype": element, "shape": shape, "data_offsets": [len(data), len(data) + len(bytes_)]}
        data += bytes_
    for name, place in (places or {}).items():
        header[name]["data_offsets"] = place
    text = text if text is not None else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data + rest


def changed(**changes):
    arrays = dict(ARRAYS)
    for name, array in changes.items():
        name = name.replace("_", ".")
        if array is None:
            del arrays[name]
        else:
            arrays[name] = array
    return arrays


def one(header, data=b""):
    return safetensors({}, text=header.encode(), rest=data)


# what is wrong with the model's arrays, a part of the message
WRONG = [
    (changed(step=None), "`step` is missing, which is to be an Int"),
    (changed(layers_0_weight=None), "`layers.0.weight` is missing, which is to be a Tensor Float [2]"),
    (changed(layers_0_weight=None, layers_0_bias=None, layers_1_weight=None), "`layers` is missing, which is to be a [Linear]: elements are `layers.0`, .. (none: BOOL of the shape [0])"),
    (changed(more=("F32", [], b"\0\0\0\0")), "the file has an array `more`, for which the type has no field; it has to be saved with the arrays of the type alone: `"),
    (changed(layers_3_weight=("F32", [2], b"\0" * 8)), "the file has an array `layers.3.weight`, for which the type has no field"),
    (changed(step=None, stepp=ARRAYS["step"]), "`step` is missing, which is to be an Int; the file has an array `stepp`, for which the type has no field"),
    (changed(layers_0_weight=("F32", [1], b"\0" * 4)), "with the shape [1], and a Tensor Float [2] is expected"),
    (changed(layers_0_weight=("F64", [2], b"\0" * 16)), "with the shape [2], and a Tensor Float [2] is expected"),
    (changed(layers_0_weight=("F16", [2], b"\0" * 4)), "`layers.0.weight` is an array of"),
    (changed(act_Relu=("BOOL", [0], b"")), "`act` is two constructors of Act at once"),
    (changed(act_Both_right_Relu=None), "`act.Both.right` is missing, which is to be an Act: `act.Both.right.Relu` or"),
    (changed(name=("U8", [1], b"\xff")), "`name`: byte 0 is not part of a UTF-8 text"),
    (changed(flags=("BOOL", [1], b"\2")), "neither 0 nor 1"),
    ({}, "`m` is missing, which is to be a Model"),
    # Names that are nearly right.
    (changed(step=None, stepp=ARRAYS["step"]), "the file has an array `stepp`, for which the type has no field: is `step` meant?"),
    (changed(layers_0_bias=None, layers_0_bais=ARRAYS["layers.0.bias"]), "the file has an array `layers.0.bais`, for which the type has no field: is `layers.0.bias` meant?"),
    (changed(**{"act_Both_right_Relu": None, "act_Both_right_relu": ARRAYS["flags"]}), "the file has an array `act.Both.right.relu`, for which the type has no field: is `act.Both.right.Relu` meant?"),
    (changed(layers_3_weight=ARRAYS["layers.1.weight"]), "the file has an array `layers.3.weight`, for which the type has no field: elements are numbered without a gap, and there is no `layers.2`"),
    (changed(step=None, module_step=ARRAYS["step"]), "the file has an array `module.step`, for which the type has no field: is `step` meant?"),
    ({name.replace("layers", "layer"): array for name, array in ARRAYS.items()}, "the file has an array `layer.0.weight`, for which the type has no field: is `layers.0.weight` meant?"),
    ({"model." + name: array for name, array in ARRAYS.items()},
     "the names of all arrays in the file begin with `model.`, and `layers` is looked for, not `model.layers`: save them without it, in Python as "
     "{name.removeprefix('model.'): array for name, array in arrays.items()}"),
    ({"a.b." + name: array for name, array in ARRAYS.items()}, "the names of all arrays in the file begin with `a.b.`, and"),
]
# elements of `layers.0.weight`, what the message advises in a .npz, and in a .safetensors file
CONVERSIONS = [
    ("<f2", "F16", "is expected: write it with .astype('<f4')", "is expected: write it with .float() in PyTorch, .astype('<f4') in numpy"),
    ("|V2", "BF16", "is expected: write it with .astype('<f4')", "is expected: write it with .float() in PyTorch\n"),
    ("|i1", "F8_E4M3", "is expected: write it with .astype('<f4')", "is expected: write it with .float() in PyTorch\n"),
    ("|O", "I16", "its elements are Python objects; make an array of numbers with numpy.array(rows, dtype='<f4')", "write it with .float() in PyTorch,"),
    ("[('x', '<f4', (2,)), ('y', [('z', '<i8')])]", "U16", "its elements have several fields; save each as an array of its own", "write it with .float() in PyTorch,"),
    ("<c8", "C64", "write its .real.astype('<f4')", "write its .real.float() in PyTorch, .real.astype('<f4') in numpy"),
]
# name, file, a part of the message
BROKEN = [
    ("length", safetensors(ARRAYS, length=1 << 40), "its header is too long"),
    ("long header", safetensors(ARRAYS, length=1 << 20), "its header is longer than the file"),
    ("overlap", safetensors(ARRAYS, places={"big": [0, 4]}), "does not begin where the array before it ends"),
    ("hole", safetensors(ARRAYS, places={"flags": [49, 51]}), "does not begin where the array before it ends"),
    ("backwards", safetensors(ARRAYS, places={"big": [8, 4]}), "the place of `big` is none"),
    ("far", safetensors(ARRAYS, places={"big": [1 << 62, (1 << 62) + 4]}), "does not begin where the array before it ends"),
    ("short", safetensors(ARRAYS)[:-1], "ends behind the file"),
    ("rest", safetensors(ARRAYS, rest=b"x"), "it is longer than its arrays"),
    ("size", safetensors(changed(losses=("F64", [2], b"\0" * 15))), "15 bytes of elements of `losses`, want 16"),
    ("no JSON", one("{nonsense"), "its header is no JSON"),
    ("two values", one("{} {}"), "its header is no JSON"),
    ("negative", one('{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,0]}}'), "not that of a safetensors file"),
    ("fraction", one('{"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}}', b"\0" * 4), "not that of a safetensors file"),
    ("huge", one('{"a":{"dtype":"F32","shape":[99999999999,99999999999],"data_offsets":[0,0]}}'), "too many elements"),
    ("no shape", one('{"a":{"dtype":"F32","data_offsets":[0,0]}}'), "`a` lacks its elements, shape or place"),
    ("twice a key", one('{"a":{"dtype":"F32","dtype":"F32","shape":[0],"data_offsets":[0,0]}}'), "not that of a safetensors file"),
    ("twice a name", one('{"a":%s,"a":%s}' % (('{"dtype":"F32","shape":[0],"data_offsets":[0,0]}',) * 2)), "two arrays `a`"),
    ("deep", one("{" + '"a":{' * 100000), "not that of a safetensors file"),
    ("rank", one('{"a":{"dtype":"F32","shape":[%s],"data_offsets":[0,4]}}' % ",".join("1" * 9), b"\0" * 4), "8 dimensions"),
    ("cut zip", npz(ARRAYS)[:-10], "the file is damaged"),
    ("changed zip", npz(ARRAYS, zipfile.ZIP_DEFLATED).replace(npz(ARRAYS, zipfile.ZIP_DEFLATED)[60:90], b"\0" * 30), "the file is damaged"),
    ("other zip", b"PK\5\6" + bytes(18), "`m` is missing, which is to be a Model"),
    ("no text", b"\x08\x08\x12\x03dfc\xf3 nonsense", "and no UTF-8 text"),
    ("no format", b"\0\1\2\3 nonsense", "no .npy, .npz or .safetensors file"),
]


def zip_with(name, data):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, data)
    return out.getvalue()


BROKEN += [
    ("readme in a zip", zip_with("README", b"hello"), "an entry `README`, which is no array"),
    ("no array in a zip", zip_with("a.npy", b"hello, this is text"), "`a`: the file is no array of numpy"),
    ("long header in a zip", zip_with("a.npy", b"\x93NUMPY\2\0\xff\xff\xff\x0f{}"), "`a`: the file is damaged"),
    ("checksum", zip_with("a.npy", npy("<i8", "(1,)", b"ABCDEFGH")).replace(b"ABCDEFGH", b"ABCDEFGX"), "is missing"),
]

# the type of the input x, the file, what is printed or a part of the message
SINGLE = [
    ("Tensor Int [2]", npz({"x": ("I64", [2], struct.pack("<2q", 1, 2))}), "[1,2]"),
    ("Tensor Int [2]", npz({"other": ("I64", [2], struct.pack("<2q", 1, 2))}), "[1,2]"),
    ("Tensor Int [1]", zip_with("a.npy", npy("<i8", "(1,)", b"ABCDEFGH")).replace(b"ABCDEFGH", b"ABCDEFGX"), "`a` cannot be unpacked"),
    ("[Int]", safetensors({"x": ("I64", [2], struct.pack("<2q", 1, 2))}), "[1,2]"),
    ("[[Int]]", safetensors({"0": ("I64", [1], struct.pack("<q", 1)), "1": ("I64", [0], b"")}), "[[1],[]]"),
    ("[Tensor Int []]", safetensors({"x": ("BOOL", [0], b"")}), "[]"),
    # Rows of one array.
    ("[Tensor Int [2]]", npz({"x": ("I64", [3, 2], struct.pack("<6q", *range(6)))}), "[[0,1],[2,3],[4,5]]"),
    ("[Tensor Int [1, 2]]", npz({"x": ("I32", [2, 1, 2], struct.pack("<4i", *range(4)))}), "[[[0,1]],[[2,3]]]"),
    ("[[[Bool]]]", safetensors({"x": ("BOOL", [2, 1, 2], b"\1\0\0\1")}), "[[[True,False]],[[False,True]]]"),
    ("[Tensor Int [2]]", npz({"x": ("I64", [0, 2], b"")}), "[]"),
    ("[[Double]]", npz({"x": ("F64", [3, 0], b"")}), "[[],[],[]]"),
    ("[Tensor Int [2]]", npz({"x": ("I64", [2, 3], struct.pack("<6q", *range(6)))}),
     "an array of `<i8` with the shape [2, 3], and a [Tensor Int [2]] is expected"),
    ("Tensor Int [3, 2]", npz({"x": ("I64", [2, 3], struct.pack("<6q", *range(6)))}), "rows and columns have changed places, so write numpy.ascontiguousarray(array.T)"),
    ("Tensor Int [3, 2]", safetensors({"x": ("I64", [2, 3], struct.pack("<6q", *range(6)))}), "as in the weight of PyTorch's Linear, so write array.T.contiguous()"),
    ("[Tensor Int [2]]", npz({"x": ("F64", [1, 2], struct.pack("<2d", 1, 2))}), "a [Tensor Int [2]] is expected"),
    ("[[Int]]", npz({"x": ("I64", [2], struct.pack("<2q", 1, 2))}), "a [[Int]] is expected"),
    ("[(Int, Int)]", npz({"x": ("I64", [2, 2], struct.pack("<4q", *range(4)))}), "is expected"),
    ("[[Int]]", npz({"x": ("I64", [1 << 40, 0], b"")}), "a [[Int]] is expected"),
    ("(Int, Double)", npz({"0": ("I64", [], struct.pack("<q", 1)), "1": ("F64", [], struct.pack("<d", 2))}), "(1,2.0)"),
    ("Maybe Int", npz({"x": ("I64", [], struct.pack("<q", 1))}), "Just 1"),
    ("Char", npz({"x": ("I64", [], struct.pack("<q", 1))}), "is of type Char, which no array holds"),
    ("[(Int, Maybe Int)]", b"[(1, Nothing), (2, Just 3)]\n", "[(1,Nothing),(2,Just 3)]"),
    ("Tensor Int [2]", b"[1, 2]\n", "[1,2]"),
    ("Tensor Int [2]", b"[1, 2, 3]", "`[1, 2, 3]` is not a Tensor Int [2]: `]` behind 2 elements is expected before `, 3]`"),
    ("Tensor Int [2]", b"[1]", "`,` and element 2 of 2 is expected before `]`"),
    ("[(Int, Maybe Int)]", b"[(1, Nothing),\n (2, Just x)]\n", "is not a [(Int, Maybe Int)]: an Int is expected before `x)]` in line 2"),
    ("[(Int, Maybe Int)]", b"[(1, Nothing)", "`,` or `]` is expected at the end"),
    ("[Int]", b"nonsense", "`nonsense` is not a [Int]\n"),
    ("(Int, Double)", npy("<i8", "(2,)", struct.pack("<2q", 1, 2)), "the file has one array without a name, and the parts of a (Int, Double) are arrays with names"),
    ("String", 'a "b"\n'.encode(), '"a \\"b\\"\\n"'),
    ("Maybe String", b"ab", 'Just "ab"'),
    ("String", b"", '""'),
    ("String", b"ab\xc3", "byte 2 is not part of a UTF-8 text"),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    args = parser.parse_args()
    failures = count = 0
    with tempfile.TemporaryDirectory() as folder:
        program, graph, data = (os.path.join(folder, name) for name in ("main.df", "main.graph", "x.bin"))

        def compile_(text):
            with open(program, "w", encoding="utf-8") as file:
                file.write(text)
            subprocess.run([args.dfc, program, "-o", graph], check=True, timeout=120)

        def expect(what, name, bytes_, want, *options):
            nonlocal failures, count
            count += 1
            with open(data, "wb") as file:
                file.write(bytes_)
            done = subprocess.run([args.dfc, "run", graph, "--input", name + "=@" + data, *options], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=120)
            out, err = done.stdout.decode(), done.stderr.decode()
            if (done.returncode == 0 and out == want + "\n") or (done.returncode == 2 and want in err):
                return
            failures += 1
            print("%s: exit code %d\n%s%s  want: %s" % (what, done.returncode, out, err, want))

        compile_(MODEL)
        for engine in ("tagged", "reference", "demand", "expanding"):
            expect("npz", "m", npz(ARRAYS), ANSWER, "--engine", engine)
        expect("deflated npz", "m", npz(ARRAYS, zipfile.ZIP_DEFLATED), ANSWER)
        expect("safetensors", "m", safetensors(ARRAYS), ANSWER)
        for arrays, want in WRONG:
            expect("npz: " + want, "m", npz(arrays), want)
            expect("safetensors: " + want, "m", safetensors(arrays), want)
        for numpy, torch, advice, torch_advice in CONVERSIONS:
            NPY["other"] = numpy
            expect(numpy, "m", npz(changed(layers_0_weight=("other", [2], b"\0" * 4))), advice)
            expect(torch, "m", safetensors(changed(layers_0_weight=(torch, [2], b"\0" * 4))), torch_advice)
        for name, bytes_, want in BROKEN:
            expect(name, "m", bytes_, want)
        for type_, bytes_, want in SINGLE:
            compile_("import Tensor (Element)\nmain :: %s -> %s\nmain x = x\n" % (type_, type_))
            expect(type_, "x", bytes_, want)
        # Dimensions that main leaves open are bound by what it is given.
        with open(program, "w", encoding="utf-8") as file:
            file.write("import qualified Tensor as T\nmain :: Tensor Float [m, n] -> Tensor Float [n] -> Tensor Float [2 * m]\n"
                       "main a x = let y = T.matvec a x in T.concat y y\n")
        matrix = npz({"a": ("F32", [1, 2], struct.pack("<2f", 1, 2))})
        for a, x, code, want in ((matrix, "[3, 4]", 0, "[11.0,11.0]"), (b"[[1, 2], [3, 4], [5, 6]]", "[1, 0]", 0, "[1.0,3.0,5.0,1.0,3.0,5.0]"),
                                 (matrix, "[3]", 2, "`[3]` is not a Tensor Float [2]"), (b"[1, 2]", "[3, 4]", 2, "`[1, 2]` is not a"),
                                 (npz({"a": ("F32", [1, 1], struct.pack("<f", 2)), "x": ("F32", [1], struct.pack("<f", 3))}), "@" + data, 0, "[6.0,6.0]"),
                                 (npz({"a": ("F32", [1, 1], struct.pack("<f", 2)), "x": ("F32", [1], struct.pack("<f", 3)),
                                       "y": ("F32", [1], struct.pack("<f", 3))}), "@" + data, 2, "the value of the input `a`: the file has an array `y`, for which the type has no field"),
                                 (npz({"b": ("F32", [1, 1], struct.pack("<f", 2)), "x": ("F32", [1], struct.pack("<f", 3))}), "@" + data, 1, "it holds no array `a`, but `b`, `x`"),
                                 (npz({"a": ("F32", [1, 1], struct.pack("<f", 2)), "y": ("F32", [1], struct.pack("<f", 3))}), "[3]", 2, "the file has an array `y`, for which the type has no field"),
                                 (matrix, "@no such file", 2, "cannot read `no such file`: No such file"),
                                 (b"nothing", "[3]", 1, "nothing says how large the input `a` is: `%s`: it is neither a .npy, .npz or .safetensors file nor nested" % data),
                                 (b"\x93NUMPY\1\0\xff\xff{}", "[3]", 1, "the file is damaged: its header is longer than the file")):
            count += 1
            with open(data, "wb") as file:
                file.write(a)
            done = subprocess.run([args.dfc, "run", program, "--input", "a=@" + data, "--input", "x=" + x], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=120)
            if done.returncode != code or want not in (done.stderr if code else done.stdout).decode():
                failures += 1
                print("%s, %s: exit code %d\n%s%s  want: %s" % (a, x, done.returncode, done.stdout.decode(), done.stderr.decode(), want))
    print("%d files, %d failures" % (count, failures))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
