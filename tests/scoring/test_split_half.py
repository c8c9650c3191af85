# SPDX-License-Identifier: Apache-2.0
"""The mAPs of halves and quarters of the images."""

from __future__ import annotations

import math

import numpy as np
import pytest

from referee.core.detections import Detections
from referee.scoring import split_half
from referee.scoring.ilsvrc import evaluate
from referee.scoring.rules import DEVKIT, REFEREE_2015
from referee.scoring.split_half import draw_halves
from tests.support.devkit_reference import reference_score
from tests.support.scoring_cases import make_detections, make_truth


def contest(seed, images=30, quality=0.7):
    """Return ids, truth and rows of a contest in which some detections are right."""
    chance = np.random.default_rng(seed)
    truth, rows = [], []
    for image in range(1, images + 1):
        for _ in range(chance.integers(0, 4)):
            x, y = (int(corner) for corner in chance.integers(0, 200, 2))
            box = (x, y, x + 40, y + 30)
            truth.append((image, int(chance.integers(1, 4)), box))
            shift = 0 if chance.random() < quality else 60
            moved = (x + shift, y, x + shift + 40, y + 30)
            rows.append((image, truth[-1][1], round(float(chance.random()), 1), moved))
            rows.append((image, int(chance.integers(1, 4)), round(float(chance.random()), 1), box))
    return list(range(1, images + 1)), [1, 2, 3], truth, rows


def result_of(seed, images=30, rules=DEVKIT):
    """Return the result of such a contest."""
    ids, classes, truth, rows = contest(seed, images)
    return evaluate(make_truth(ids, classes, truth), make_detections(rows), rules)


def mean_ap_of(chosen, classes, truth, rows, rules):
    """Return the mAP of the chosen images by the slow reference, NaN without a truth box."""
    truth = [box for box in truth if box[0] in chosen]
    rows = [row for row in rows if row[0] in chosen]
    ap, mean_ap, _, _ = reference_score(chosen, classes, truth, [], rows, rules)
    if not truth:
        return math.nan
    if rules.missing_as_zero:
        return sum(value for value in ap.values() if value is not None) / len(classes)
    return mean_ap


@pytest.mark.parametrize("rules", [DEVKIT, REFEREE_2015])
@pytest.mark.parametrize("long_runs", [False, True])
def test_each_part_has_the_map_of_its_images(monkeypatch, rules, long_runs):
    """Halves and quarters score like contests of their images, with counters of either width."""
    ids, classes, truth, rows = contest(1, images=8)
    if long_runs:
        monkeypatch.setattr(split_half, "_MOST_OF_16_BITS", 0)
    result = evaluate(make_truth(ids, classes, truth), make_detections(rows), rules)
    drawn = draw_halves(result, draws=20, seed=5)
    chance = np.random.default_rng(5)
    for of_halves, of_quarters in zip(drawn.halves, drawn.quarters, strict=True):
        quarter = chance.permutation(np.arange(8) % 4)
        for part, value in enumerate(of_quarters):
            chosen = [image for image in ids if quarter[image - 1] == part]
            expected = mean_ap_of(chosen, classes, truth, rows, rules)
            assert expected == pytest.approx(value, abs=1e-12, nan_ok=True)
        for part, value in enumerate(of_halves):
            chosen = [image for image in ids if quarter[image - 1] // 2 == part]
            expected = mean_ap_of(chosen, classes, truth, rows, rules)
            assert expected == pytest.approx(value, abs=1e-12, nan_ok=True)


def test_same_seed_gives_the_same_draws():
    """The same seed gives the same draws, for any number of them and any block."""
    result = result_of(2)
    first, second = draw_halves(result, 150, seed=3), draw_halves(result, 23, seed=3)
    assert first.quarters[:23].tolist() == second.quarters.tolist()
    assert first.halves.tolist() != draw_halves(result, 150, seed=4).halves.tolist()


def test_progress_reaches_the_end():
    """The caller hears how many draws are done, up to the last."""
    told = []
    draw_halves(result_of(1, 5), 150, progress=lambda done, total: told.append((done, total)))
    assert [(64, 150), (128, 150), (150, 150)] == told


def test_without_detections():
    """Without detections each part's mAP is 0, or NaN where it has no truth box."""
    truth = make_truth([1, 2], [1, 2], [(1, 1, (0, 0, 9, 9))])
    drawn = draw_halves(evaluate(truth, Detections.empty()), 9)
    assert [{0.0}] * 9 == [set(row[~np.isnan(row)]) for row in drawn.halves]
    assert np.isnan(drawn.halves).sum(axis=1).tolist() == [1] * 9
    assert [0.0, 0.0] == drawn.parts.tolist()


def test_parts_say_which_image_lifts_map():
    """An image whose boxes were found lifts mAP, one whose boxes were missed lowers it as much."""
    truth = make_truth([1, 2, 3], [1], [(1, 1, (0, 0, 9, 9)), (2, 1, (0, 0, 9, 9))])
    result = evaluate(truth, make_detections([(1, 1, 0.5, (0, 0, 9, 9))]))
    assert [0.25, -0.25, 0.0] == draw_halves(result, 1).parts.tolist()


def test_differences_are_of_the_same_draws():
    """A solution minus itself is 0, half of it is half, and other draws are refused."""
    drawn = draw_halves(result_of(1), 20)
    assert not drawn.minus(drawn).halves.any()
    assert (drawn.halves / 2).tolist() == drawn.minus(drawn.times(0.5)).halves.tolist()
    for other in (
        draw_halves(result_of(1), 21),
        draw_halves(result_of(1), 20, seed=1),
        draw_halves(result_of(1, images=31), 20),
    ):
        with pytest.raises(ValueError, match="the same images, seed and number of draws"):
            drawn.minus(other)
