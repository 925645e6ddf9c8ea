#!/usr/bin/env python3
"""valueAndGrad of the mean of a batch's losses beside that loss alone: value_and_grad.py --dfc build/dfc --trees dev.txt [--repeat 5]

The models are those of samples/sentiment, with the sizes of SIZES and 1,000 words; the weights are the same for all batches, and there is no step of descent. Each
batch's loss is looked at before the next begins. The loss alone, both, and reading the trees run in turn on one thread; of the least processor times of each the ratio
is told.
"""

import argparse
import json
import os
import re
import subprocess
import tempfile

SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples", "sentiment")
SIZES = {"treelstm": 150, "treernn": 128, "rntn": 25}
BATCHES = (1, 10, 25, 64)
# Of each weight's gradient an element is looked at, so that all of it is computed.
MAIN = """
both :: Bool -> [Tree Int] -> R
both False trees = objective trees weights
both True trees = let (v, g) = valueAndGrad (objective trees) weights in v + 1e-9 * (%s)

weights :: Model
weights = newModel 1

total :: Bool -> [[Tree Int]] -> R -> R
total _ [] sum' = sum'
total gradient (b : bs) sum' = let v = both gradient b in if v > 1e30 then v else total gradient bs (sum' + v)

main :: String -> Int -> Maybe Bool -> R
main text batch gradient = maybe (fromIntegral (sum (map size trees))) (\\g -> total g (batches batch trees) 0) gradient
  where trees = numberWords 1000 (fst (readTrees text))
"""


def program(model):
    with open(os.path.join(SAMPLES, model + ".df"), encoding="utf-8") as file:
        text = file.read()
    text = text[:text.index("-- ---------------------------------------------------------------- training")]
    text = re.sub(r"(?m)^-- CASE.*\n", "", text)
    text = re.sub(r"type Words = \d+", "type Words = 1000", text)
    text = re.sub(r"type H = \d+", "type H = %d" % SIZES[model], text)
    fields = re.findall(r"(\w+) :: Tensor R \[([^\]]*)\]", text[text.index("data Model"):text.index("newModel ::")])
    return text + MAIN % " + ".join(("T.index (%s g) 0 T.! 0" if "," in shape else "(%s g) T.! 0") % name for name, shape in fields)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dfc", required=True)
    parser.add_argument("--trees", required=True, help="a tree a line")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trees = os.path.join(folder, "trees.txt")
        with open(args.trees, encoding="utf-8") as file, open(trees, "w", encoding="utf-8") as few:
            few.writelines(file.readlines()[:args.count])

        def seconds(graph, batch, *inputs):
            done = subprocess.run([args.dfc, "run", graph, "--input", "text=@" + trees, "--input", "batch=%d" % batch, *inputs, "--threads=1", "--stats=json"],
                                  capture_output=True, check=True)
            return json.loads(done.stderr)["run_cpu_seconds"]

        print("| model | hidden | batch | loss, s | valueAndGrad, s | ratio |\n|---|---|---|---|---|---|")
        for model, hidden in SIZES.items():
            source, graph = (os.path.join(folder, model + end) for end in (".df", ".graph"))
            with open(source, "w", encoding="utf-8") as file:
                file.write(program(model))
            subprocess.run([args.dfc, source, "-o", graph], check=True)
            for batch in BATCHES:
                ways = ([], ["--input", "gradient=False"], ["--input", "gradient=True"])
                runs = [[seconds(graph, batch, *way) for way in ways] for _ in range(args.repeat)]
                reading, loss, both = (min(column) for column in zip(*runs))
                print("| %s | %d | %d | %.3f | %.3f | %.2f |" % (model, hidden, batch, loss - reading, both - reading, (both - reading) / (loss - reading)), flush=True)


if __name__ == "__main__":
    main()
