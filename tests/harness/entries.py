#!/usr/bin/env python3
"""Graphs with several entries: one file, each entry of it on every engine as its source gives it.

    entries.py --dfc build/dfc
"""

import argparse
import os
import subprocess
import sys
import tempfile

SOURCE = """import Gradient (valueAndGrad)
import Tensor (vecmat)
import qualified Data.Map as Map

data Model = Model { weight :: Tensor Double [2, 2], bias :: Tensor Double [2] }

-- Two entries share this one.
layer :: Model -> Tensor Double [2] -> Tensor Double [2]
layer m x = tanh (vecmat x (weight m) + bias m)

predict :: Model -> Tensor Double [2] -> Tensor Double [2]
predict = layer

loss :: Model -> Tensor Double [2] -> Double
loss m x = sum [ y * y | y <- [1, 2, 3 :: Double] ] + real (layer m x)
  where real _ = 0.5

valueAndGradSquare :: Double -> (Double, Double)
valueAndGradSquare = valueAndGrad (\\x -> x * x + 3 * x)

counted :: [Int] -> [(Int, Int)]
counted xs = Map.toList (Map.fromListWith (+) [ (x, 1) | x <- xs ])

origin :: (Int, Integer)
origin = (7, 2 ^ 70)

-- Errors tell the place.
part :: Int -> Int -> Int
part whole by = 100 * (whole `quot` by)

main :: Int
main = 1
"""

MODEL = "m=Model {weight = [[1, 0], [0.5, 1]], bias = [0, -1]}"
CALLS = [
    ("predict", ["arg1=" + MODEL[2:], "arg2=[0.5, 1]"], 0, "[0.7615941559557649,0.0]\n"),
    ("loss", [MODEL, "x=[0.5, 1]"], 0, "14.5\n"),
    ("valueAndGradSquare", ["arg1=2"], 0, "(10.0,7.0)\n"),
    ("counted", ["xs=[3,1,3]"], 0, "[(1,1),(3,2)]\n"),
    ("origin", [], 0, "(7,1180591620717411303424)\n"),
    ("part", ["whole=7", "by=2"], 0, "300\n"),
    ("part", ["whole=7", "by=0"], 1, ""),
    ("part", ["whole=7"], 2, ""),
    ("main", [], 2, ""),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dfc", required=True)
    args = parser.parse_args()
    faults = 0

    def expect(what, got, wanted):
        nonlocal faults
        if got != wanted:
            print("%s: got %r instead of %r" % (what, got, wanted))
            faults += 1

    with tempfile.TemporaryDirectory() as folder:
        source, graph, again = (os.path.join(folder, name) for name in ("m.df", "m.graph", "again.graph"))
        with open(source, "w", encoding="utf-8") as file:
            file.write(SOURCE)
        names = ",".join(dict.fromkeys(call[0] for call in CALLS if call[0] != "main"))
        subprocess.run([args.dfc, source, "--export", names, "-o", graph], check=True)
        for entry, inputs, code, out in CALLS:
            words = ["--entry", entry] + [w for i in inputs for w in ("--input", i)]
            said = {}
            for engine in ("tagged", "reference", "demand", "expanding"):
                done = subprocess.run([args.dfc, "run", graph, "--engine", engine] + words, capture_output=True, text=True)
                expect("%s on %s" % (entry, engine), (done.returncode, done.stdout), (code, out))
                said[engine] = done.stderr
            expect(entry + ", what engines say", set(said.values()), {said["tagged"]})
            if entry == "part" and code == 1:
                expect("the error", "divide by zero" in said["tagged"] and "m.df:29:" in said["tagged"], True)
            if entry != "main":
                done = subprocess.run([args.dfc, "run", source] + words, capture_output=True, text=True)
                expect(entry + " of the source", (done.returncode, done.stdout), (code, out))
        done = subprocess.run([args.dfc, "run", graph], capture_output=True, text=True)
        expect("no entry", (done.returncode, "`--entry NAME` runs one of: predict, loss" in done.stderr), (2, True))
        # The text of the graph is the graph.
        text = subprocess.run([args.dfc, graph, "--emit=tagged"], capture_output=True, text=True, check=True).stdout
        with open(os.path.join(folder, "m.tagged"), "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run([args.dfc, os.path.join(folder, "m.tagged"), "-o", again], check=True)
        back = subprocess.run([args.dfc, again, "--emit=tagged"], capture_output=True, text=True, check=True).stdout
        expect("the graph again", back == text, True)
    if faults:
        sys.exit("%d faults" % faults)
    print("every entry gives what its source gives")


if __name__ == "__main__":
    main()
