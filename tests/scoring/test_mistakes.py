# SPDX-License-Identifier: Apache-2.0
"""Classic mistakes are recognised by what the score would be without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.scoring.mistakes import find_mistakes

IMAGES, CLASSES = 12, 6
SIZES = {image: (500, 375) for image in range(1, IMAGES + 1)}


def contest(seed: int = 3) -> tuple[GroundTruth, Detections]:
    """Return ground truth of a few boxes an image, and detections that find most of them."""
    random = np.random.default_rng(seed)
    image = np.repeat(np.arange(1, IMAGES + 1), 4)
    klass = random.integers(1, CLASSES + 1, len(image))
    corner = random.integers(0, 200, (len(image), 2)).astype(float)
    size = random.integers(40, 170, (len(image), 2)).astype(float)
    box = np.concatenate([corner, corner + size - 1], axis=1)
    truth = GroundTruth(
        image_ids=np.arange(1, IMAGES + 1),
        class_ids=np.arange(1, CLASSES + 1),
        box_image_id=image,
        box_class_id=klass,
        box=box,
        blacklist=np.empty((0, 2), dtype=np.int64),
        class_names={},
    )
    found = random.random(len(image)) < 0.8
    detections = Detections(image, klass, random.random(len(image)), box.copy()).select(found)
    return truth, detections


def without_scale(d: Detections, side: float) -> Detections:
    """Return boxes in pixels of a square input of this side."""
    return replace(d, box=d.box * side / np.array([500, 375, 500, 375]))


def to_widths(d: Detections) -> Detections:
    """Return boxes as x, y, width, height."""
    return replace(d, box=np.concatenate([d.box[:, :2], d.box[:, 2:] - d.box[:, :2] + 1], axis=1))


MISTAKES: dict[str, Callable[[Detections], Detections]] = {
    "classes_off_by_one": lambda d: replace(d, class_id=d.class_id - 1),
    "x_y_swapped": lambda d: replace(d, box=np.ascontiguousarray(d.box[:, [1, 0, 3, 2]])),
    "width_height_sent": to_widths,
    "boxes_normalised": lambda d: without_scale(d, 1.0),
    "boxes_in_network_input": lambda d: without_scale(d, 300.0),
}


@pytest.mark.parametrize("code", MISTAKES)
def test_a_mistake_is_named_first_with_the_score_without_it(code: str) -> None:
    """Each classic mistake is the first that is named, and its repair gives the honest score."""
    truth, honest = contest()
    found = find_mistakes(truth, MISTAKES[code](honest), SIZES)
    assert found[0].code == code
    assert found[0].repaired_mean_ap is not None
    assert found[0].repaired_mean_ap > 0.6


def test_an_honest_answer_has_no_mistake() -> None:
    """Nothing is suspected of detections that are right."""
    truth, honest = contest()
    assert find_mistakes(truth, honest, SIZES) == ()


def test_no_detections_have_no_mistake() -> None:
    """There is nothing to suspect in an empty answer."""
    truth, _ = contest()
    assert find_mistakes(truth, Detections.empty(), SIZES) == ()


def test_equal_confidences_are_told() -> None:
    """A detector that always sends the same confidence is warned, whatever its score."""
    truth, honest = contest()
    same = replace(honest, confidence=np.full(len(honest), 0.5))
    assert [m.code for m in find_mistakes(truth, same, SIZES)] == ["confidences_equal"]


def test_detections_of_unknown_images_are_no_obstacle() -> None:
    """Rows of images that do not exist are left out of the suspicion."""
    truth, honest = contest()
    stray = replace(honest, image_id=np.full(len(honest), 999))
    both = Detections.concatenate([stray, MISTAKES["x_y_swapped"](honest)])
    assert find_mistakes(truth, both, SIZES)[0].code == "x_y_swapped"
