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


def test_the_notebook_runs():
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    folder = os.path.join(SAMPLES, "python")
    notebook = nbformat.read(os.path.join(folder, "encoder.ipynb"), as_version=4)
    nbclient.NotebookClient(notebook, kernel_name="python3", timeout=300, resources={"metadata": {"path": folder}}).execute()
    assert "image/svg+xml" in notebook.cells[-1].outputs[0]["data"]
