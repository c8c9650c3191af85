# SPDX-License-Identifier: Apache-2.0
"""The classifiers of AIoTBench read a picture, preprocess it and name its best class."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

from client_sample.classifiers import (
    ClassifierSettings,
    Pixels,
    lite_rt,
    onnx_runtime,
    py_torch,
)
from tests.support.tiny_classifier import onnx_model, tflite_model

COLOURS = {"red": 1, "green": 2, "blue": 3}
RGB = {"red": (200, 10, 10), "green": (10, 200, 10), "blue": (10, 10, 200)}


@pytest.fixture
def pictures(tmp_path: Path) -> dict[str, Path]:
    """Write a picture of each colour, of a size that no model takes."""
    paths = {}
    for name, colour in RGB.items():
        paths[name] = tmp_path / f"{name}.png"
        Image.new("RGB", (31, 17), colour).save(paths[name])
    return paths


def labels(classify, pictures: dict[str, Path]) -> dict[str, int]:
    """Return the label of each picture."""
    return {name: classify(path) for name, path in pictures.items()}


@pytest.mark.parametrize("kind", ["uint8", "int8", "float32"])
def test_lite_rt_names_the_colour(kind, pictures, tmp_path):
    """A TensorFlow Lite model with each kind of input gives the label of the best output."""
    model = tmp_path / "tiny.tflite"
    model.write_bytes(tflite_model(kind))
    assert COLOURS == labels(lite_rt(model, ClassifierSettings()), pictures)


@pytest.mark.parametrize("shape", [(1, 3, 8, 8), (1, 3, 0, 0)])
def test_onnx_runtime_names_the_colour(shape, pictures, tmp_path):
    """An ONNX model with fixed or open sides gives the label of the best output."""
    pytest.importorskip("onnxruntime", reason="needs the extra [onnx]")
    model = tmp_path / "tiny.onnx"
    model.write_bytes(onnx_model(shape))
    assert COLOURS == labels(onnx_runtime(model, ClassifierSettings(side=9)), pictures)


def test_py_torch_sees_normalised_pictures(pictures, tmp_path, monkeypatch):
    """A TorchScript model gets floats (1, 3, side, side) as ImageNet's models want them."""
    seen = []

    class Network:
        def eval(self):
            return self

        def __call__(self, tensor):
            seen.append(tensor)
            return tensor

    class Tensor(np.ndarray):
        def numpy(self):
            return np.asarray(self).mean(axis=(2, 3))

    torch = ModuleType("torch")
    threads = []
    torch.set_num_threads = threads.append
    torch.inference_mode = nullcontext
    torch.from_numpy = lambda array: array.view(Tensor)
    torch.jit = ModuleType("torch.jit")
    torch.jit.load = lambda path, map_location: Network()
    monkeypatch.setitem(sys.modules, "torch", torch)
    classify = py_torch(tmp_path / "tiny.pt", ClassifierSettings(side=10, threads=3))
    assert COLOURS == labels(classify, pictures)
    assert [3] == threads
    assert ((1, 3, 10, 10), np.float32) == (seen[0].shape, seen[0].dtype)
    expected = (200 / 255 - 0.485) / 0.229
    assert expected == pytest.approx(float(seen[0][0, 0, 5, 5]), rel=1e-6)


@pytest.mark.parametrize(("first", "expected"), [(None, 1), (0, 0), (7, 7)])
def test_the_first_label_can_be_chosen(first, expected, pictures, tmp_path):
    """The label of the first output is 1, or what the settings say."""
    model = tmp_path / "tiny.tflite"
    model.write_bytes(tflite_model())
    assert expected == lite_rt(model, ClassifierSettings(first_label=first))(pictures["red"])


def test_a_model_with_a_background_class_counts_from_zero(tmp_path, monkeypatch):
    """With 1001 outputs the best output's number is the label itself."""
    module = ModuleType("onnxruntime")
    scores = np.zeros((1, 1001), np.float32)
    scores[0, 449] = 1

    class Session:
        def __init__(self, path, options, providers):
            pass

        def get_inputs(self):
            source = ModuleType("input")
            source.name, source.shape = "picture", [1, 3, 4, 4]
            return [source]

        def run(self, names, feeds):
            return [scores]

    module.InferenceSession = Session
    module.SessionOptions = lambda: ModuleType("options")
    monkeypatch.setitem(sys.modules, "onnxruntime", module)
    picture = tmp_path / "a.png"
    Image.new("RGB", (4, 4)).save(picture)
    assert 449 == onnx_runtime(tmp_path / "m.onnx", ClassifierSettings())(picture)
    scores = scores[:, :1000]
    assert 450 == onnx_runtime(tmp_path / "m.onnx", ClassifierSettings())(picture)
    scores = scores.reshape(1, 10, 10, 10)
    with pytest.raises(ValueError, match=r"the shape \(1, 10, 10, 10\), not one score for each"):
        onnx_runtime(tmp_path / "m.onnx", ClassifierSettings())(picture)


def test_the_whole_picture_or_its_middle(tmp_path):
    """Without the crop all of a picture is seen; with it, the middle 87.5 % of its short side."""
    picture = Image.new("RGB", (64, 32))
    picture.paste((255, 255, 255), (18, 2, 46, 30))  # the middle 28 x 28 pixels
    picture.save(tmp_path / "a.png")
    cropped = Pixels(28, 28, crop=True)(tmp_path / "a.png")
    assert ((28, 28, 3), 255) == (cropped.shape, cropped.min())
    whole = Pixels(64, 32, crop=False)(tmp_path / "a.png")
    assert (np.asarray(picture) == whole).all()


def test_grey_pictures_have_three_channels(tmp_path):
    """A grey picture becomes RGB, as some of ImageNet's pictures are grey."""
    Image.new("L", (5, 5), 77).save(tmp_path / "grey.png")
    assert (77 == Pixels(3, 3, crop=False)(tmp_path / "grey.png")).all()


def test_a_model_of_another_form_is_refused(tmp_path):
    """The error says what the model takes, and what a classifier takes."""
    model = tmp_path / "tiny.tflite"
    model.write_bytes(tflite_model(channels=1))
    with pytest.raises(ValueError, match=r"takes uint8 of the shape \(1, 8, 8, 1\), not one"):
        lite_rt(model, ClassifierSettings())


def test_an_onnx_model_of_another_form_is_refused(tmp_path):
    """An ONNX model with the channels last is refused, not fed with noise."""
    pytest.importorskip("onnxruntime", reason="needs the extra [onnx]")
    model = tmp_path / "tiny.onnx"
    model.write_bytes(onnx_model((1, 8, 8, 3)))
    with pytest.raises(ValueError, match=r"takes the shape \[1, 8, 8, 3\], not one picture"):
        onnx_runtime(model, ClassifierSettings())
