# SPDX-License-Identifier: Apache-2.0
"""The coach's sentences."""

from __future__ import annotations

import pytest

from referee.extras.coach.rules.best_moment import BestMoment
from referee.extras.coach.rules.moments import Moment
from referee.extras.coach.rules.parts import DearImage
from referee.extras.coach.wording import best_words, clock, dear_words, joules, percent


def best(gain, low, images=100):
    """Return a best moment at 7:41 of ten minutes with this gain; it may be one at 8:20, too."""
    top, late, end = (Moment(at_s, images, 0.5, at_s / 600, 0.0) for at_s in (461.0, 500.0, 600.0))
    return BestMoment((top, late, end), top, top, late, gain, low, gain + 0.1)


BETWEEN = "the best moment lies between 7:41 and 8:20"


@pytest.mark.parametrize(
    ("gain", "low", "words"),
    [
        (0.09, 0.02, f"9.0 % more score with a logout at 7:41; {BETWEEN}."),
        (27.9, 24.8, f"29 times the score with a logout at 7:41; {BETWEEN}."),
        (0.09, -0.01, "No moment is better than the end, within the uncertainty."),
    ],
)
def test_a_moment_is_named_only_beyond_the_uncertainty(gain, low, words):
    """A gain has two digits; what may be chance names no moment."""
    assert words == best_words(best(gain, low), 100)


def test_a_session_without_a_score_is_told_so():
    """There is no best moment of nothing, and who answered nothing is told that."""
    assert "The score is 0, so no moment is better than another." == best_words(None, 3)
    assert "No image was answered in time, so there is no score to raise." == best_words(None, 0)


def test_an_image_has_the_number_by_which_it_was_fetched():
    """In a shuffled session the number in the ground truth stands beside it."""
    words = "image 7 (number 99 of the ground truth): 36 J (4 s, 500x375, 1 box)"
    assert words == dear_words(DearImage(99, 7, 0.01, 4.0, (500, 375), 1))
    assert "image 7: 36 J (4 s, 2 boxes)" == dear_words(DearImage(7, 7, 0.01, 4.0, None, 2))


def test_figures_are_short():
    """Joules, shares and times have the digits that people read."""
    assert ("0.745 J", "1800 J") == (joules(0.745 / 3600), joules(0.5))
    assert ("0.6 %", "61 %") == (percent(0.006), percent(0.61))
    assert ("0:01.1", "7:41", "10:00") == (clock(1.1), clock(461.0), clock(599.96))
