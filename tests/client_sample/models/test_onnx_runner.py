# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime runs a file of each family, and says what it cannot run."""

from __future__ import annotations

import sys

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="needs the extra [onnx]")
pytest.importorskip("onnx", reason="needs the extra [test-all]")

from client_sample.models.detector import ModelDetector
from client_sample.models.onnx_runner import OnnxRunner
from tests.client_sample.models.conftest import settings
from tests.support.detector_heads import FAMILIES, ROW, ULTRALYTICS, yolo8
from tests.support.onnx_models import write_model


def load(path, **given):
    """Return a detector of a file."""
    return ModelDetector(OnnxRunner(path, 1, "cpu"), settings(**given), {})


@pytest.mark.parametrize("family", FAMILIES)
def test_a_file_of_each_family_gives_its_box(family, photograph, tmp_path):
    """Shapes, names and metadata come out of the file as they went in."""
    outputs, metadata, given = FAMILIES[family]
    path = write_model(tmp_path / "best.onnx", outputs(), metadata)
    assert ROW == pytest.approx(load(path, **given)(1, photograph)[0], abs=0.01)


@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8"])
@pytest.mark.parametrize(
    "shape",
    [("batch", 3, 64, 64), (1, 64, 64, 3), ("batch", 3, "height", "width"), (3, 64, 64)],
    ids=["batch", "nhwc", "open", "no batch"],
)
def test_every_form_of_input_is_fed(dtype, shape, photograph, tmp_path):
    """Open lengths, both orders and each type of numbers; an open size is that of the metadata."""
    output = yolo8().astype(np.float16 if dtype == "float16" else np.float32)
    path = write_model(tmp_path / "best.onnx", [("y", output)], ULTRALYTICS, shape, dtype)
    assert ROW == pytest.approx(load(path)(1, photograph)[0], abs=0.2)


def test_what_runs_the_model_is_told(tmp_path):
    """The provider that executes it and the number of threads."""
    runner = OnnxRunner(write_model(tmp_path / "a.onnx", [("y", yolo8())]), 2, "cpu")
    assert runner.engine.endswith("CPUExecutionProvider, 2 threads")


@pytest.mark.parametrize("provider", ["cuda", "tensorrt", "coreml", "nnapi", "qnn"])
def test_a_provider_that_is_not_there_is_refused(provider, tmp_path, monkeypatch):
    """A fall back to the processor would be another measurement, so there is none."""
    monkeypatch.setattr("onnxruntime.get_available_providers", lambda: ["CPUExecutionProvider"])
    with pytest.raises(ValueError, match=f"has no provider {provider}, only cpu"):
        OnnxRunner(write_model(tmp_path / "a.onnx", [("y", yolo8())]), 0, provider)


def test_files_that_cannot_be_loaded_say_what_to_do(tmp_path):
    """A part of a file, and one that is newer than the library."""
    path = write_model(tmp_path / "a.onnx", [("y", yolo8())], ir_version=99)
    with pytest.raises(ValueError, match="newer than this ONNX Runtime"):
        OnnxRunner(path, 0, "cpu")
    path.write_bytes(b"version https://git-lfs")
    with pytest.raises(ValueError, match="no ONNX file"):
        OnnxRunner(path, 0, "cpu")


def test_without_onnx_runtime_the_error_names_the_extra(tmp_path, monkeypatch):
    """The client starts without the library, and says what to install."""
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ImportError, match=r"pip install onnxruntime .*the extra 'onnx'"):
        OnnxRunner(tmp_path / "a.onnx", 0, "cpu")
