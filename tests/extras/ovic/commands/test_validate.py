# SPDX-License-Identifier: Apache-2.0
"""`referee ovic validate` prints each failure, and its exit code is the answer."""

from __future__ import annotations

import json

import pytest

from referee.cli import main

pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")
pytestmark = pytest.mark.slow


@pytest.fixture
def ten_boxes(tmp_path):
    """Write a detector of ten boxes."""
    from tests.support import tflite_models

    path = tmp_path / "ten.tflite"
    path.write_bytes(tflite_models.detector(boxes=10))
    return str(path)


def test_a_broken_rule_is_told_and_may_be_relaxed(ten_boxes, capsys):
    """Ten boxes break a rule and exit with 1; with `--boxes 10` the model is valid."""
    command = ["ovic", "validate", ten_boxes, "--task", "detection", "--slower", "1e6"]
    assert 1 == main([*command, "--json"])
    expected = {"rule": "number_of_boxes", "expected": "100 boxes", "found": "10 boxes"}
    assert {"valid": False, "failures": [expected]} == json.loads(capsys.readouterr().out)
    assert 1 == main(command)
    assert "number_of_boxes: expected 100 boxes; found 10 boxes." in capsys.readouterr().out
    assert 0 == main([*command, "--boxes", "10", "--json"])
    assert {"valid": True, "failures": []} == json.loads(capsys.readouterr().out)


def test_a_missing_model_is_wrong_use(tmp_path, capsys):
    """A name without a file exits with 2."""
    assert 2 == main(["ovic", "validate", str(tmp_path / "none"), "--task", "detection"])
    assert "is no file" in capsys.readouterr().err
