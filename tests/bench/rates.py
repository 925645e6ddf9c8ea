"""What benchmarks of trees beside PyTorch share: runs of ours by processor time, PyTorch in an interpreter of its own, a table's cells."""

import json
import os
import re
import subprocess
import sys


def timed(dfc, program, *arguments):
    """Seconds of processor time that the run takes, without compiling and loading, and what it prints. Ends the benchmark if it fails."""
    done = subprocess.run([dfc, "run", program, "--stats=times", *arguments], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stderr)["run_cpu_seconds"], done.stdout


def sized(text, hidden, words):
    """A program with these sizes."""
    text = re.sub(r"^type H = .*$", f"type H = {hidden}", text, flags=re.M)
    return re.sub(r"^type Words = .*$", f"type Words = {words}", text, flags=re.M)


def inputs(**values):
    """Options that give these inputs."""
    return [word for name, value in values.items() for word in ("--input", f"{name}={value}")]


def rate(run, count, rounds, most):
    """Trees a second, and what a round gives: `run(n)` takes (seconds, value) for n rounds of `count` trees. The least times of one round
    and of `most` are subtracted, so that what comes before the first tree does not count."""
    few, value = min(run(1) for _ in range(rounds))
    many, _ = min(run(most) for _ in range(rounds))
    return (most - 1) * count / (many - few), value


def torch_answer(torch, script, *arguments):
    """What a script prints as JSON in the interpreter that has torch, on one thread; {} if it fails."""
    done = subprocess.run([torch, script, "--dfc", "-", *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    return json.loads(done.stdout) if done.returncode == 0 else {}


def cell(rate):
    """Of (trees a second, value)."""
    return f"{rate[0]:.0f}" if rate else "–"


def ratio(rate, other):
    return f"{rate[0] / other[0]:.2f}" if other else "–"


def differ(ours, others):
    """How many of `others` have another value than ours, which is said."""
    wrong = [other[1] for other in others if other and abs(other[1] - ours[1]) > 2e-4 * abs(ours[1])]
    for value in wrong:
        print(f"values differ: {ours[1]} and {value}")
    return len(wrong)
