# SPDX-License-Identifier: Apache-2.0
"""The reference's own models, built as the page for participants says, keep the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.extras.ovic.judging.confined import Limits
from referee.extras.ovic.judging.dataset import Dataset, images_in
from referee.extras.ovic.judging.entry import Trial, accuracy_of
from referee.extras.ovic.judging.validation import validated
from referee.extras.ovic.rules.model_rules import ModelRules

pytest.importorskip("ai_edge_litert", reason="needs the extra [litert]")

DATA = Path(__file__).parents[4] / "../shared/data"
COCO, IMAGENET = DATA / "coco-tiny", DATA / "imagenet-val-100"
# Each validation starts a process that imports LiteRT.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not DATA.is_dir(), reason="the real models are not here"),
]
# A slow machine must not fail a test of other rules.
PATIENT = 1e6


@pytest.fixture
def models():
    """Return the maker of models; its import needs LiteRT."""
    from tests.support import reference_models

    return reference_models


@pytest.mark.parametrize("regular", [False, True], ids=["fast", "regular"])
@pytest.mark.parametrize("name", ["mobilenetv1", "efficientdet-lite0"])
def test_a_detector_of_the_reference_is_valid(name, regular, models, tmp_path):
    """Boxes that the post-processing leaves beyond the image are told, on photographs too."""
    model = tmp_path / "model.tflite"
    model.write_bytes(models.detector(name, use_regular_nms=regular))
    rules = ModelRules("detection")
    found = validated(model, rules, slower=PATIENT, images=images_in(COCO / "images"))
    assert [] == found.failures
    assert 11 * 100 == found.overhang.of
    assert found.overhang.boxes > 0 and 0.1 < found.overhang.most < 1
    (failure,) = validated(model, ModelRules("detection", overhang=0.0), slower=PATIENT).failures
    assert "box_range" == failure.rule


def test_a_classifier_with_a_column_of_zeros_is_valid(models, tmp_path):
    """EfficientNet-Lite0 with a background as the page says it is valid."""
    model = tmp_path / "model.tflite"
    model.write_bytes(models.classifier_with_background("efficientnet_lite0"))
    assert [] == validated(model, ModelRules("classification"), slower=PATIENT).failures


def test_a_threshold_of_the_export_is_named_as_a_count(models, tmp_path):
    """Fewer boxes are one failure: what the memory held behind them is not judged."""
    model = tmp_path / "model.tflite"
    model.write_bytes(models.detector("efficientdet-lite0", nms_score_threshold=0.3))
    (failure,) = validated(model, ModelRules("detection"), slower=PATIENT).failures
    assert "count" == failure.rule


@pytest.mark.parametrize(
    ("name", "boxes", "percent"),
    [("mobilenetv1", 10, 20.3656), ("efficientdet-lite0", 25, 30.1501)],
)
def test_the_score_cuts_boxes_off_at_the_image(name, boxes, percent):
    """The AP is that of the published answers of the same models, which end at the image."""
    rules, truth = ModelRules("detection", boxes=boxes), COCO / "annotations.json"
    model = DATA / "models" / f"{name}.tflite"
    trial = Trial(model, rules, 1.0, Limits(seconds=300))
    found = accuracy_of(trial, Dataset(COCO / "images", truth))
    assert percent == pytest.approx(found.percent, abs=1e-4)
    assert found.overhang is not None and found.overhang.boxes > 0
