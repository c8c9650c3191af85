# SPDX-License-Identifier: Apache-2.0
"""The report of a session as JSON: what scripts read stands first."""

from __future__ import annotations

import math

import pytest

from referee.extras.coach.report import Report
from referee.extras.coach.rules.best_moment import BestMoment
from referee.extras.coach.rules.moments import Moment
from referee.extras.coach.rules.parts import where_it_went
from referee.extras.coach.rules.played import Served
from tests.support.coached import Watts, answered, played_of, truth_of


def report(best):
    """Return the report of a session of one image, with this best moment."""
    truth = truth_of(1)
    watts = Watts((0, 5), ended_s=60)
    played = played_of(truth, [answered(truth, 1, 9.0)], [Served(5.0, 1.0, (1,))], watts, 60.0)
    return Report(3, "ants", (), best, where_it_went(played), (), {}).to_json()


def moment(at_s):
    """Return a moment of a session."""
    return Moment(at_s, 40, 0.5, 0.1, 0.001)


@pytest.mark.parametrize(("gain_high", "told"), [(0.3, 0.3), (math.inf, None)])
def test_the_best_stop_is_the_best_moment(gain_high, told):
    """It is no end of its interval; a gain without a bound is null, since JSON has no infinity."""
    low, best, high, end = map(moment, (100.0, 200.0, 300.0, 600.0))
    found = BestMoment((low, best, high, end), best, low, high, 0.2, 0.1, gain_high)
    names = ("best_stop_s", "gain", "gain_low", "gain_high")
    assert [200.0, 0.2, 0.1, told] == [report(found)[name] for name in names]


def test_a_session_without_a_score_has_no_best_stop():
    """The names are there all the same."""
    found = report(None)
    assert found["best_stop_s"] is found["gain"] is found["gain_low"] is found["gain_high"] is None
    assert pytest.approx(300 / 3600) == sum(
        found["energy_wh"][name] for name in ("before", "waiting", "working", "after")
    )
