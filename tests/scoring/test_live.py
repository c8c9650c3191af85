# SPDX-License-Identifier: Apache-2.0
"""The live score is the final score of the answers so far, bit for bit."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.core.detections import Detections
from referee.scoring import live as live_module
from referee.scoring.ilsvrc import evaluate
from referee.scoring.live import LiveScore
from referee.scoring.rules import DEVKIT, REFEREE_2015
from tests.support.scoring_cases import contests, make_detections, make_truth


@pytest.mark.slow
@given(contests(), st.data())
@settings(max_examples=100)
def test_live_equals_final_in_any_order_and_split(contest, data):
    """For any order and size of answers each result equals that of all rows so far."""
    truth = contest.ground_truth()
    rules = data.draw(st.sampled_from([DEVKIT, REFEREE_2015]))
    rows = make_detections(data.draw(st.permutations(contest.rows)))
    cuts = data.draw(st.lists(st.integers(0, len(rows)), max_size=8).map(sorted))
    live = LiveScore(truth, rules)
    for start, end in zip([0, *cuts], [*cuts, len(rows)], strict=True):
        live.add(rows.select(np.arange(start, end)))
        if data.draw(st.booleans()):
            assert evaluate(truth, rows.select(np.arange(end)), rules) == live.result()
    assert evaluate(truth, rows, rules) == live.result()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_row_by_row_equals_final(seed):
    """Thousands of one-row answers with crowded images and ties give the score of one answer."""
    chance = np.random.default_rng(seed)
    n = 2000
    corner = chance.integers(0, 60, (n, 2))
    box = np.concatenate([corner, corner + chance.integers(5, 40, (n, 2))], axis=1)
    truth = make_truth(
        range(1, 6), [1, 2], [(int(i % 5) + 1, int(i % 2) + 1, box[i].tolist()) for i in range(200)]
    )
    rows = Detections(
        chance.integers(1, 6, n),
        chance.integers(1, 3, n),
        chance.integers(0, 12, n) / 12,
        box.astype(np.float64),
    )
    live = LiveScore(truth)
    for row in range(n):
        live.add(rows.select(np.array([row])))
        if row % 97 == 0:
            live.result()
    assert evaluate(truth, rows) == live.result()


def test_results_do_not_change_afterwards():
    """A result is a snapshot, so later answers change neither it nor its curves nor its fates."""
    truth = make_truth([1], [1], [(1, 1, (0, 0, 9, 9))])
    live = LiveScore(truth)
    live.add(make_detections([(1, 1, 0.5, (0, 0, 9, 9))]))
    before = live.result()
    live.add(make_detections([(1, 1, 0.9, (50, 50, 59, 59)), (1, 1, 0.8, (0, 0, 9, 9))]))
    assert (1.0, 0.5) == (before.mean_ap, live.result().mean_ap)
    assert [1.0] == before.precision_recall(1).precision.tolist()
    assert 1 == len(before.explain().fate)


def test_without_answers_the_score_is_zero():
    """Before the first answer every class with ground truth has AP 0."""
    result = LiveScore(make_truth([1], [1, 2], [(1, 1, (0, 0, 9, 9))])).result()
    assert ({1: 0.0, 2: None}, 0.0, 0) == (result.ap, result.mean_ap, result.detections)


def test_empty_answers_change_nothing():
    """An answer without rows changes nothing."""
    live = LiveScore(make_truth([1], [1], [(1, 1, (0, 0, 9, 9))]))
    live.add(Detections.empty())
    assert (0.0, 0) == (live.result().mean_ap, live.result().detections)


@pytest.mark.parametrize("rows_at_a_time", [1, 3, 1000])
def test_large_answers_are_taken_in_parts(monkeypatch, rows_at_a_time):
    """The number of rows worked on at a time does not change the result."""
    monkeypatch.setattr(live_module, "_ROWS_AT_A_TIME", rows_at_a_time)
    truth = make_truth([1, 2], [1], [(1, 1, (0, 0, 9, 9)), (2, 1, (0, 0, 9, 9))])
    rows = [(image, 1, 0.5, (0, 0, 9, edge)) for image in (2, 1, 9) for edge in (9, 8, 30)]
    result = evaluate(truth, make_detections(rows))
    assert (2, 4, 3) == (result.true_positives, result.duplicates, result.ignored["unknown_image"])
    assert (1 + 2 / 4) / 2 == result.mean_ap


def test_threads_that_share_the_work_change_nothing(monkeypatch):
    """Two threads that work ahead on blocks and classes give the bits of one."""
    monkeypatch.setattr(live_module, "_ROWS_AT_A_TIME", 50)
    chance = np.random.default_rng(5)
    corner = chance.integers(0, 40, (1000, 2))
    box = np.concatenate([corner, corner + chance.integers(5, 40, (1000, 2))], axis=1)
    truth = make_truth(
        range(1, 6), [1, 2, 3], [(i % 5 + 1, i % 3 + 1, box[i].tolist()) for i in range(60)]
    )
    rows = Detections(
        chance.integers(0, 6, 1000),
        chance.integers(0, 4, 1000),
        chance.integers(0, 12, 1000) / 12,
        box.astype(np.float64),
    )
    with ThreadPoolExecutor(2) as threads:
        shared = evaluate(truth, rows, mapped=threads.map)
    alone = evaluate(truth, rows)
    assert alone == shared
