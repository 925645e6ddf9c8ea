#!/usr/bin/env python3
"""What a step of training costs on several processes that share a batch (docs/spread.md): processor time of the root, and bytes that it sends.

    spread_steps.py --dfc build/dfc [--processes 1,2,3,4] [--steps 20] [--batch 64] [--chunk 16]

The TreeLSTM of samples/sentiment with 300 numbers a node and a table of 2,000 words, on random trees of 10 to 30 words. A step is the difference of a run of so many
and one of two, divided. Processor time, as the machine may have less processors than there are processes; the state at the end is compared.
"""

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLE = os.path.join(HERE, "..", "..", "samples", "sentiment", "treelstm.df")


def tree(generator, words):
    label = generator.randrange(5)
    if words == 1:
        return "(%d w%d)" % (label, min(int(generator.expovariate(1 / 300)), 1999))
    left = generator.randint(1, words - 1)
    return "(%d %s %s)" % (label, tree(generator, left), tree(generator, words - left))


def run(args, folder, steps, processes):
    """Seconds of the root's processor, bytes that it sent, the state's digest."""
    generator = random.Random(7)
    with open(os.path.join(folder, "train.txt"), "w") as file:
        for _ in range(args.batch * steps):
            file.write(tree(generator, generator.randint(10, 30)) + "\n")
    command = [args.dfc, "run", "model.graph", "--input", "train=@train.txt", "--input", "epochs=1", "--output", "state=@state.safetensors", "--threads=1",
               "--stats=json", "--local-workers=%d" % processes]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    stats = json.loads([line for line in done.stderr.splitlines() if line.startswith("{")][-1])
    sent = sum(link["bytes_out"] for link in stats["processes"][0]["links"]) if processes > 1 else 0
    with open(os.path.join(folder, "state.safetensors"), "rb") as file:
        return stats["run_cpu_seconds"], sent, hashlib.sha256(file.read()).hexdigest()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dfc", required=True, type=os.path.abspath)
    parser.add_argument("--processes", default="1,2,3,4")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--chunk", type=int, default=16)
    args = parser.parse_args()
    with open(SAMPLE) as file:
        text = file.read()
    for old, new in (("type Words = 20000", "type Words = 2000"), ("type H = 32", "type H = 300"), ("chunk = 5", "chunk = %d" % args.chunk),
                     ("batches 25 known", "batches %d known" % args.batch),
                     ("(fineGrained (judged m known))", "0")):  # what is trained on is judged by everybody, and grows with the steps
        if old not in text:
            sys.exit("the sample has no `%s`" % old)
        text = text.replace(old, new)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "model.df"), "w") as file:
            file.write(text)
        subprocess.run([args.dfc, "model.df", "-o", "model.graph"], cwd=folder, check=True)
        first, states = None, {}
        print("processes  ms a step  of one  MB sent by the root, a step")
        for processes in map(int, args.processes.split(",")):
            few, many = run(args, folder, 2, processes), run(args, folder, args.steps, processes)
            step, sent = (many[0] - few[0]) / (args.steps - 2), (many[1] - few[1]) / (args.steps - 2)
            first = first or step
            if states.setdefault("state", many[2]) != many[2]:
                sys.exit("%d processes: another state" % processes)
            print("%9d %10.1f %7.2f %8.2f" % (processes, step * 1e3, first / step, sent / 1e6), flush=True)


if __name__ == "__main__":
    main()
