# SPDX-License-Identifier: Apache-2.0
"""The coach's sentences."""

from __future__ import annotations

import pytest

from referee.extras.coach.rules.best_moment import BestMoment, Moment
from referee.extras.coach.wording import best_words, clock, joules, percent


def best(gain, low):
    """Return a best moment at 7:41 of ten minutes with this gain."""
    top, end = Moment(461.0, 90, 0.5, 0.5, 0.0), Moment(600.0, 100, 0.5, 1.0, 0.0)
    return BestMoment((top, end), top, 400.0, 500.0, gain, low, gain + 0.1)


@pytest.mark.parametrize(
    ("gain", "low", "words"),
    [
        (0.09, 0.02, "9.0 % more score with a logout at 7:41."),
        (27.9, 24.8, "29 times the score with a logout at 7:41."),
        (0.09, -0.01, "No moment is better than the end, within the uncertainty."),
    ],
)
def test_a_moment_is_named_only_beyond_the_uncertainty(gain, low, words):
    """A gain has two digits; what may be chance names no moment."""
    assert words == best_words(best(gain, low))


def test_a_session_without_a_score_is_told_so():
    """There is no best moment of nothing."""
    assert "Without a score above 0 no moment is the best." == best_words(None)


def test_figures_are_short():
    """Joules, shares and times have the digits that people read."""
    assert ("0.745 J", "1800 J") == (joules(0.745 / 3600), joules(0.5))
    assert ("0.6 %", "61 %") == (percent(0.006), percent(0.61))
    assert ("0:01.1", "7:41", "10:00") == (clock(1.1), clock(461.0), clock(599.96))
