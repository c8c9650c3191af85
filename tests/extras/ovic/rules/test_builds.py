# SPDX-License-Identifier: Apache-2.0
"""Of an entry's measurements the best valid one counts, and no measurement takes a score away."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.extras.ovic.rules.builds import BuildMeasurement, builds_of, counting
from referee.extras.ovic.rules.score import DETECTION_2020, best_score, ovic_score


def measured(accuracy, latency_ms, data="aa"):
    """Return a measurement."""
    return BuildMeasurement("a build", "", accuracy, latency_ms, data)


@pytest.mark.parametrize(
    ("figures", "counts"),
    [
        ([(25.0, 30.0)], 0),
        ([(25.0, 30.0), (25.0, 28.0), (25.0, 29.0)], 1),  # a better build
        ([(25.0, 30.0), (25.0, 33.0)], 0),  # a regression
        ([(25.0, 40.0), (25.0, 35.0)], 1),  # valid beats too slow
        ([(25.0, 35.0), (25.0, 40.0)], 0),
        ([(25.0, 41.0), (25.0, 40.0), (25.0, 42.0)], 1),  # the fastest of the invalid
        ([(25.0, 24.0), (25.0, 20.0)], 0),  # equal to the rules: the first
        ([(25.0, 30.0), (26.0, 30.0)], 1),  # the accuracy may differ, too
    ],
)
def test_the_best_valid_measurement_counts(figures, counts):
    """The highest metric counts, of equals the first, and without a valid one the fastest."""
    builds = builds_of(DETECTION_2020, [measured(*pair) for pair in figures])
    assert [n == counts for n in range(len(figures))] == [build.counts for build in builds]


def test_accuracies_on_other_data_do_not_count():
    """After the ground truth changed, what was measured on the earlier one stays on record."""
    builds = builds_of(
        DETECTION_2020, [measured(99, 30, "old"), measured(25, 30, "new"), measured(24, 30, "new")]
    )
    assert [(False, False), (True, True), (True, False)] == [
        (build.comparable, build.counts) for build in builds
    ]


def test_a_struck_measurement_never_counts():
    """The best of the others does, and the data are those of the last that stands."""
    wrong = replace(measured(25, 24, "other machine's data"), struck="a wrong machine")
    builds = builds_of(DETECTION_2020, [measured(25, 30), measured(25, 29), wrong])
    assert [False, True, False] == [build.counts for build in builds]
    assert [True, True, False] == [build.comparable for build in builds]
    with pytest.raises(ValueError, match="no measurement stands"):
        builds_of(DETECTION_2020, [wrong])


FIGURES = st.lists(st.tuples(st.integers(0, 100), st.integers(1, 60)), min_size=1, max_size=8)


@given(FIGURES)
def test_another_measurement_never_lowers_a_score(figures):
    """The score that counts is that of `score --latency-ms …`, and only rises."""
    before = None
    for end in range(1, len(figures) + 1):
        score = counting(builds_of(DETECTION_2020, [measured(*it) for it in figures[:end]])).score
        assert score == best_score([ovic_score(DETECTION_2020, *it) for it in figures[:end]])
        if before is not None and before.metric is not None:
            assert score.metric is not None and score.metric >= before.metric
        before = score
