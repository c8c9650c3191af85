# SPDX-License-Identifier: Apache-2.0
"""A TensorFlow Lite export of YOLO is decoded as an ONNX one."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")

from client_sample.models.detector import ModelDetector
from client_sample.models.lite_rt_runner import LiteRtRunner
from tests.client_sample.models.conftest import settings
from tests.support import tflite_models
from tests.support.detector_heads import ROW, STRETCHED, ULTRALYTICS, rows_of_six

pytestmark = pytest.mark.slow


def test_names_are_read_and_boxes_are_fractions(photograph, tmp_path):
    """The metadata lie in a zip at the end of the file."""
    rows = rows_of_six([side / 64 for side in STRETCHED])
    packed = io.BytesIO()
    packed.write(tflite_models.detector([rows]))
    with zipfile.ZipFile(packed, "a") as archive:
        archive.writestr("metadata.json", json.dumps(ULTRALYTICS | {"names": {"0": "a", "2": "b"}}))
    path = tmp_path / "best.tflite"
    path.write_bytes(packed.getvalue())
    made = ModelDetector(LiteRtRunner(path, 1), settings(fit="stretch"), {})
    assert {0: "a", 2: "b"} == made.names
    assert ROW == pytest.approx(made(1, photograph)[0], abs=0.01)


def test_an_open_size_is_refused(tmp_path):
    """LiteRT would take a picture of one pixel."""
    path = tmp_path / "best.tflite"
    path.write_bytes(tflite_models.open_sides(tflite_models.detector()))
    with pytest.raises(ValueError, match="leaves the size of its input open"):
        LiteRtRunner(path, 1)
