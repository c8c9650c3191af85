# SPDX-License-Identifier: Apache-2.0
"""Pairs of detections and truth boxes: a bounded number at a time gives the same bits."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.scoring import blocks, matching, pairs
from referee.scoring.ilsvrc import evaluate
from referee.scoring.live import LiveScore
from referee.scoring.mistakes.readings import TruthOfImages
from referee.scoring.rules import RULE_SETS


def crowd(seed: int, truths: int, found: int, side: int = 40) -> tuple[GroundTruth, Detections]:
    """Draw many small boxes of one class in one image, of which each reaches several."""
    chance = np.random.default_rng(seed)
    low = chance.integers(0, side, (truths, 2))
    box = np.hstack([low, low + chance.integers(0, 6, (truths, 2))]).astype(float)
    truth = GroundTruth.from_arrays(
        np.ones(truths, int), np.ones(truths, int), box, difficult=chance.random(truths) < 0.1
    )
    near = box[chance.integers(0, truths, found)] + chance.integers(-2, 3, (found, 4))
    confidence = chance.integers(0, 50, found) / 50
    rows = Detections.from_arrays(np.ones(found, int), np.ones(found, int), confidence, near)
    return truth, rows


def bits(truth: GroundTruth, rows: Detections, rules: str, step: int) -> tuple[object, ...]:
    """Return all that a score and its explanation say, the rows in answers of `step`."""
    live = LiveScore(truth, rules)
    for start in range(0, len(rows), step):
        live.add(rows.select(slice(start, start + step)))
    result = live.result()
    fates = result.explain()
    arrays = (fates.fate, fates.truth_row, fates.iou, fates.missed, *live.matched())
    curves = [(c.confidence, c.recall, c.precision) for c in result.curves().values()]
    return (
        (result.ap, result.grouped_ap, result.duplicates, dict(result.ignored)),
        [array.tobytes() for array in arrays],
        [part.tobytes() for curve in curves for part in curve],
    )


@pytest.mark.parametrize("rules", sorted(RULE_SETS))
@pytest.mark.parametrize("most", [1, 7, 100])
def test_few_pairs_at_a_time_give_the_same_bits(rules, most, monkeypatch) -> None:
    """However few pairs are measured at once and choices kept, no bit changes, live too."""
    cases = [crowd(seed, 30, 200) for seed in range(4)]
    whole = [bits(*case, rules, 200) for case in cases]
    monkeypatch.setattr(pairs, "MOST_PAIRS", most)
    monkeypatch.setattr(matching, "_FEW_CHOICES", most)
    monkeypatch.setattr(blocks, "_MOST_WAITING", most)
    assert whole == [bits(*case, rules, 200) for case in cases]
    assert whole == [bits(*case, rules, 17) for case in cases]


def test_runs_have_all_rows_and_no_more_pairs() -> None:
    """Runs cover all rows in order; one has more pairs than allowed only if it is a single row."""
    size = np.array([0, 3, 0, 5, 1, 1, 9, 0, 2, 0])
    for most in (1, 4, 6, 100):
        slices = list(pairs.runs(size, most))
        assert list(range(10)) == [row for run in slices for row in range(10)[run]]
        assert all(size[run].sum() <= most or run.stop - run.start == 1 for run in slices)
    assert [] == list(pairs.runs(np.empty(0, dtype=np.int64), 5))
    row, number = pairs.expand(np.array([4, 0, 7]), np.array([2, 0, 1]))
    assert ([0, 0, 2], [4, 5, 7]) == (row.tolist(), number.tolist())


def peak_bytes(work) -> int:
    """Return how much memory numpy and Python had at most during a piece of work."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("same", [False, True], ids=["small boxes", "one box"])
def test_memory_does_not_grow_with_the_pairs(same, monkeypatch) -> None:
    """Four times the detections of a crowd take four times the rows, and not the pairs' memory.

    Where all truth boxes are one, each detection reaches all, and still nothing grows with pairs.
    """
    monkeypatch.setattr(pairs, "MOST_PAIRS", 2**14)
    monkeypatch.setattr(matching, "_FEW_CHOICES", 2**14)
    monkeypatch.setattr(blocks, "_MOST_WAITING", 2**14)
    truth, rows = crowd(3, 200, 4000, side=2 if same else 60)
    if same:
        truth = GroundTruth.from_arrays([1] * 200, [1] * 200, [[5, 5, 30, 30]] * 200)
        rows = Detections.from_arrays(
            rows.image_id, rows.class_id, rows.confidence, [[5, 5, 30, 30]] * 4000
        )
    few = rows.select(slice(0, 1000))
    peaks = [peak_bytes(lambda some=some: evaluate(truth, some).explain()) for some in (few, rows)]
    one_pair = (
        8  # All 800,000 pairs would take 6.4 MB by their choices alone, 109 MB while measured.
    )
    assert peaks[1] < peaks[0] + 3000 * 500 and peaks[1] < 5_000_000 + 200 * 200 * one_pair


def test_the_readings_of_a_mistake_are_bounded_too(monkeypatch) -> None:
    """What a wrong reading would match is looked at in runs, with the same answer."""
    truth, rows = crowd(1, 30, 200)
    found = TruthOfImages(truth, rows.image_id).pairs(rows.image_id, rows.class_id)
    whole = found.matching(rows.box).tolist()
    monkeypatch.setattr(pairs, "MOST_PAIRS", 41)
    assert whole == found.matching(rows.box).tolist() and any(whole)
