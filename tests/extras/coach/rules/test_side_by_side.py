# SPDX-License-Identifier: Apache-2.0
"""Two sessions side by side."""

from __future__ import annotations

import pytest

from referee.extras.coach.rules.parts import Phase, where_it_went
from referee.extras.coach.rules.side_by_side import side_by_side
from tests.support.coached import Watts, answered, played_of, truth_of


def session(right, ended_s, images=60):
    """Return a session with so many right answers."""
    truth = truth_of(images)
    answers = [
        answered(truth, image, float(image), right=image <= right) for image in range(1, images + 1)
    ]
    played = played_of(truth, answers, [], Watts((0, 5), ended_s=ended_s), ended_s)
    return played, where_it_went(played)


def test_a_clear_gain_is_ahead_and_seldom_turns():
    """Twice the right answers in the same time: ahead, and the order turns in few contests."""
    sides = side_by_side(session(20, 70.0), session(40, 70.0))
    assert sides.comparison.difference > 0
    assert sides.comparison.interval.low > 0
    assert sides.comparison.turn_probability < 0.05
    assert (pytest.approx(1 / 3), pytest.approx(2 / 3)) == (
        sides.first_mean_ap,
        sides.second_mean_ap,
    )


def test_what_changed_is_told_by_part():
    """Half the time after the last answer is half of that part's energy."""
    sides = side_by_side(session(30, 80.0), session(30, 70.0))
    after = next(one for one in sides.changes if one.phase is Phase.AFTER)
    assert pytest.approx((20.0, 10.0)) == (after.first_s, after.second_s)
    assert pytest.approx((100.0, 50.0)) == (3600 * after.first_wh, 3600 * after.second_wh)


def test_sessions_of_other_images_are_not_compared():
    """Their parts stand side by side, and the scores do not."""
    sides = side_by_side(session(30, 80.0), session(30, 80.0, images=50))
    assert sides.comparison is None
    assert sides.ground_truth_differs
