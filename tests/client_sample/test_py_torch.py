# SPDX-License-Identifier: Apache-2.0
"""Real PyTorch runs TorchScript models; these tests are skipped where it is not installed."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from client_sample import aiotbench
from client_sample.classifiers import ClassifierSettings, py_torch

torch = pytest.importorskip("torch", reason="needs PyTorch, which no extra brings")

# What models make of a tensor (1, 3, side, side). A mean for each colour is what a fit one gives.
FIT = {
    "scores": "return x.mean((2, 3))",
    "open sides": "return x.mean((2, 3), keepdim=True)",
    "auxiliary": "return x.mean((2, 3)), x",
}
UNFIT = {
    "map": ("return x", "it gives the shape (1, 3, 224, 224), not one score for each class"),
    "dict": ("return {'out': x}", "it gives a dict, not a tensor of scores"),
    "one": ("return x.mean()", "it gives the shape (), not one score for each class"),
    "another size": ("return x.reshape(1, 7)", "is invalid for input of size 150528"),
}


def save(path: Path, body: str) -> Path:
    """Write a TorchScript model whose method `forward` has this body."""
    # A class of its own, because TorchScript compiles each class once.
    scripted = torch.jit.script(type("Tiny", (torch.nn.Module,), {})())
    scripted.define(f"def forward(self, x):\n    {body}\n")
    scripted.save(str(path))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make a folder with a red, a green and a blue picture and their labels."""
    for name, colour in (("a1", (200, 0, 0)), ("a2", (0, 200, 0)), ("a3", (0, 0, 200))):
        Image.new("RGB", (20, 10), colour).save(tmp_path / f"{name}.png")
    (tmp_path / "labels.csv").write_text("a1.png,1\na2.png,2\na3.png,3\n")
    return tmp_path


def run(folder: Path, model: Path) -> int:
    """Run the command line on the folder."""
    places = ["--images", folder, "--labels", folder / "labels.csv", "--log", folder / "log.csv"]
    return aiotbench.main([f"mo_py={model}", *map(str, places)])


@pytest.mark.parametrize("body", FIT.values(), ids=FIT)
def test_a_torch_script_model_names_the_colour(body, folder):
    """The label is that of the best score; scores for training beside them do not matter."""
    classify = py_torch(save(folder / "tiny.pt", body), ClassifierSettings(side=8))
    assert [1, 2, 3] == [classify(folder / f"a{number}.png") for number in (1, 2, 3)]


def test_a_run_logs_what_the_model_says(folder):
    """The whole command logs the right label of each picture."""
    assert 0 == run(folder, save(folder / "tiny.pt", FIT["scores"]))
    lines = (folder / "log.csv").read_text().splitlines()[1:]
    assert ["1,mo_py,1,1", "2,mo_py,2,2", "3,mo_py,3,3"] == [
        line.rpartition(",")[0] for line in lines
    ]
    assert "torch = " in (folder / "log.toml").read_text()


@pytest.mark.parametrize(("body", "sentence"), UNFIT.values(), ids=UNFIT)
def test_a_model_that_gives_no_scores_is_found_before_the_run(body, sentence, folder, capsys):
    """One line says what the model gives, and no log is made."""
    assert 1 == run(folder, save(folder / "tiny.pt", body))
    said = capsys.readouterr().err.splitlines()
    assert sentence in said[-1] and said[-1].startswith("aiotbench: mo_py cannot classify")
    assert not (folder / "log.csv").exists()


@pytest.mark.parametrize("kind", ["nothing", "text", "weights", "pickled", "half"])
def test_a_file_that_is_no_torch_script_is_refused(kind, folder, capsys):
    """The error says which form of file PyTorch wants."""
    model = folder / "tiny.pt"
    if kind == "weights":
        torch.save(torch.nn.Linear(2, 2).state_dict(), str(model))
    elif kind == "pickled":
        torch.save(torch.nn.Linear(2, 2), str(model))
    else:
        whole = save(model, FIT["scores"]).read_bytes()
        model.write_bytes({"nothing": b"", "text": b"x", "half": whole[: len(whole) // 2]}[kind])
    assert 1 == run(folder, model)
    assert (
        "tiny.pt cannot be used for mo_py: PyTorch wants a TorchScript" in capsys.readouterr().err
    )
