"""The sample: a recursive encoder inside a training loop of PyTorch, whose loss falls."""

import importlib.util
import os

import pytest

pytest.importorskip("torch")
SAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "samples")


def test_the_loss_falls():
    spec = importlib.util.spec_from_file_location("train", os.path.join(SAMPLES, "python", "train.py"))
    train = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(train)
    losses = train.train(4, os.path.join(SAMPLES, "sentiment", "reviews.txt"), 80)
    assert losses[-1] < 0.75 * losses[0] and losses[3] < losses[2] < losses[1] < losses[0]
