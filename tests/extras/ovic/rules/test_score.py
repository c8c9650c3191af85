# SPDX-License-Identifier: Apache-2.0
"""OVIC's score is the offset from the frontier of 7 April 2020, with its clamp and its limit."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.extras.ovic.rules.score import (
    CLASSIFICATION_2020,
    DETECTION_2020,
    RULES,
    best_score,
    ovic_score,
)


@pytest.mark.parametrize(
    ("rules", "latency_ms", "accuracy"),
    [
        (DETECTION_2020, 24, 19.27),
        (DETECTION_2020, 30, 23.04),
        (DETECTION_2020, 36, 26.12),
        (CLASSIFICATION_2020, 8, 81.89),
        (CLASSIFICATION_2020, 10, 93.01),
        (CLASSIFICATION_2020, 12, 102.10),
    ],
)
def test_the_frontier_has_the_values_of_the_published_constants(rules, latency_ms, accuracy):
    """The natural logarithm gives these values, and classification exceeds 100 % at 12 ms."""
    assert accuracy == pytest.approx(rules.frontier.at(latency_ms), abs=0.005)


@pytest.mark.parametrize(
    ("latency_ms", "clamped_ms", "valid", "reasons"),
    [
        (23.9, 24.0, True, 1),
        (24.0, 24.0, True, 0),
        (30.0, 30.0, True, 0),
        (36.0, 36.0, True, 0),
        (36.1, 36.1, False, 1),
    ],
)
def test_the_edges_of_the_window_of_detection(latency_ms, clamped_ms, valid, reasons):
    """Below 80 % of the target the latency is clamped; above 120 % the entry is invalid."""
    score = ovic_score(DETECTION_2020, 25.0, latency_ms)
    expected = 25.0 - (16.894553358968146 * math.log(clamped_ms) - 34.42191514521174)
    assert (clamped_ms, valid, reasons) == (score.clamped_ms, score.valid, len(score.reasons))
    assert score.metric == (expected if valid else None)


@pytest.mark.parametrize(
    ("latency_ms", "clamped_ms", "valid"),
    [(7.9, 8.0, True), (8.0, 8.0, True), (12.0, 12.0, True), (12.01, 12.01, False)],
)
def test_the_edges_of_the_window_of_classification(latency_ms, clamped_ms, valid):
    """Classification has the same window around 10 ms."""
    score = ovic_score(CLASSIFICATION_2020, 75.0, latency_ms)
    assert (clamped_ms, valid) == (score.clamped_ms, score.valid)


def test_the_metric_may_be_negative_and_the_oddity_is_noted():
    """An entry far below the frontier keeps its negative metric; the rules note the oddity."""
    score = ovic_score(CLASSIFICATION_2020, 75.0, 10.0)
    assert -18.01 == pytest.approx(score.metric, abs=0.01)
    assert "more than 100 %" in RULES["classification"].note
    assert "" == RULES["detection"].note


@pytest.mark.parametrize(
    ("accuracy", "latency_ms"),
    [(-0.1, 30), (100.1, 30), (math.nan, 30), (25, 0), (25, -1), (25, math.nan), (25, math.inf)],
)
def test_impossible_figures_are_refused(accuracy, latency_ms):
    """An accuracy outside 0…100 or a latency that is no positive number raises."""
    with pytest.raises(ValueError, match="is not"):
        ovic_score(DETECTION_2020, accuracy, latency_ms)


@given(st.floats(0, 100), st.floats(0.001, 36), st.floats(0.001, 36))
def test_among_valid_entries_a_faster_one_is_never_worse(accuracy, one_ms, other_ms):
    """At the same accuracy the metric never rises with the latency; below 24 ms it is flat."""
    fast, slow = sorted((one_ms, other_ms))
    metrics = [ovic_score(DETECTION_2020, accuracy, ms).metric for ms in (fast, slow)]
    assert metrics[0] >= metrics[1]
    if slow <= 24:
        assert metrics[0] == metrics[1]


def test_an_entry_keeps_its_best_score_over_builds():
    """The best valid build counts; without a valid one the fastest build stands for the entry."""
    slow, good, fair = (ovic_score(DETECTION_2020, 25, ms) for ms in (37, 28, 31))
    assert good is best_score([slow, fair, good])
    slower = ovic_score(DETECTION_2020, 25, 50)
    assert slow is best_score([slower, slow])
    with pytest.raises(ValueError, match="empty"):
        best_score([])
