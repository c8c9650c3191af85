# SPDX-License-Identifier: Apache-2.0
"""The sample answers that the organisers of 2015-2019 shipped score as they should."""

from __future__ import annotations

import numpy as np
import pytest

from referee.core.ground_truth import GroundTruth
from referee.formats.detections_file import read_detections
from referee.scoring.detection_outcomes import Fate
from referee.scoring.ilsvrc import evaluate
from referee.scoring.live import LiveScore
from tests.support.scoring_cases import make_detections

IMAGES = 20_121


@pytest.fixture
def answers(shared_data):
    """Return the 49,013 rows of the sample client."""
    return read_detections(shared_data / "lpirc/golden_output.csv")


def make_truth(answers):
    """Take every third well-formed box of the answers as truth, moved by a few pixels."""
    box = np.round(answers.box)
    usable = np.flatnonzero((box[:, 2] > box[:, 0] + 5) & (box[:, 3] > box[:, 1] + 5))[::3]
    moved = box[usable] + np.random.default_rng(0).integers(-4, 5, (len(usable), 1))
    return GroundTruth(
        image_ids=np.arange(1, IMAGES + 1),
        class_ids=np.arange(1, 201),
        box_image_id=answers.image_id[usable],
        box_class_id=answers.class_id[usable],
        box=moved,
        blacklist=np.empty((0, 2), dtype=np.int64),
        class_names={},
    )


@pytest.mark.slow
def test_official_answers_are_scored_without_complaint(answers):
    """Every row is taken, and the 1,692 inverted ones are counted."""
    result = evaluate(make_truth(answers), answers)
    assert (49_013, 49_013) == (result.detections, result.scored)
    assert (1_692, 0) == (result.inverted, result.coordinate_not_finite)
    assert 200 == result.classes_with_ground_truth
    assert 0.2 < result.mean_ap < 0.9
    fates = result.explain()
    assert result.true_positives == fates.count(Fate.TRUE_POSITIVE)
    # An inverted box whose corners are less than a pixel apart still has an extent.
    malformed = fates.count(Fate.MALFORMED)
    assert 1_623 <= malformed <= 1_692


@pytest.mark.slow
def test_official_answers_arrive_one_by_one(answers):
    """The answers score the same when they arrive image by image."""
    truth = make_truth(answers)
    live = LiveScore(truth)
    starts = np.flatnonzero(np.diff(answers.image_id, prepend=0))
    for start, end in zip(starts, [*starts[1:], len(answers)], strict=True):
        live.add(answers.select(slice(int(start), int(end))))
    assert evaluate(truth, answers) == live.result()


def test_corrupted_class_ids_are_ignored_and_counted(answers):
    """Classes up to 205, from the sample client's --score option, change no denominator."""
    truth = make_truth(answers)
    stray = make_detections([(1, klass, 0.99, (0, 0, 50, 50)) for klass in range(201, 206)])
    honest = evaluate(truth, answers)
    live = LiveScore(truth)
    live.add(answers)
    live.add(stray)
    assert (honest.mean_ap, 5) == (
        live.result().mean_ap,
        live.result().ignored["class_out_of_range"],
    )
