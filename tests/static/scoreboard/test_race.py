# SPDX-License-Identifier: Apache-2.0
"""The race line of a running session beside the leader's."""

from __future__ import annotations

from typing import Any

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser

LEADER = {"team": "ants", "points": [[10, 1.0], [20, 2.0], [100, 4.0]]}


def session(second: float | None, score: float | None) -> dict[str, Any]:
    """Return a running session of 100 s."""
    return {"session": 9, "elapsed_s": second, "score": score, "length_s": 100}


@pytest.mark.parametrize(("second", "score"), [(9.9, None), (10, 1.0), (19, 1.0), (20, 2.0)])
def test_a_course_keeps_its_score_until_the_next(
    scripts: Scripts, second: float, score: float | None
) -> None:
    """Nothing is read from points that come later."""
    assert score == scripts.call("scoreboard/race.js", "scoreAt", LEADER["points"], second)


@pytest.mark.parametrize(
    ("second", "score", "pace"),
    [
        (50, 3.5, {"ahead": True, "text": "+1.50", "team": "ants"}),
        (50, 2.0, {"ahead": True, "text": "+0.00", "team": "ants"}),
        (50, 1.25, {"ahead": False, "text": "−0.75", "team": "ants"}),
        (5, 1.25, None),
        (50, None, None),
        (None, None, None),
    ],
)
def test_the_pace_is_that_of_the_same_second(
    scripts: Scripts, second: float | None, score: float | None, pace: dict[str, Any] | None
) -> None:
    """A team that will lose may lead at its second; without both scores there is no pace."""
    found = scripts.call("scoreboard/race.js", "raceOf", session(second, score), [], LEADER, 4)
    assert pace == found["pace"]


def test_the_line_ends_where_the_session_is(scripts: Scripts) -> None:
    """The newest score is its last point, and stored points of later seconds are left out."""
    course = [[10, 1.0], [40, 2.0], [60, 3.0]]
    found = scripts.call("scoreboard/race.js", "raceOf", session(50, 3.0), course, LEADER, 4)
    assert "M10.00 75.00L40.00 50.00L50.00 25.00" == found["own"]
    assert "M10.00 75.00L20.00 50.00L100.00 0.00" == found["other"]
    assert ({"x": 50, "y": 25}, "4.0") == (found["at"], found["top"])


def test_without_a_leader_or_a_score_there_is_no_line(scripts: Scripts) -> None:
    """The first session races alone, and one whose meter is silent keeps the line that it had."""
    alone = scripts.call("scoreboard/race.js", "raceOf", session(50, 3.0), [], None, 4)
    assert ("", None) == (alone["other"], alone["pace"])
    silent = scripts.call("scoreboard/race.js", "raceOf", session(50, None), [[10, 1.0]], None, 4)
    assert ("M10.00 75.00", {"x": 10, "y": 75}) == (silent["own"], silent["at"])
    nothing = scripts.call("scoreboard/race.js", "raceOf", session(None, None), [], None, 4)
    assert ("", None) == (nothing["own"], nothing["at"])


@pytest.mark.parametrize(
    ("score", "early", "leader", "top"),
    [(3.0, 1.0, LEADER, 6), (9.0, 1.0, None, 10), (1.0, 500.0, None, 2), (None, 1.0, None, 2)],
)
def test_all_lines_have_one_scale(
    scripts: Scripts, score: float | None, early: float, leader: dict[str, Any] | None, top: float
) -> None:
    """All that run and the leader fit; the wild scores of the first seconds choose nothing."""
    courses = [{"session": 9, "points": [[2, early], [30, 1.0]]}]
    race = {"courses": courses, "leader": leader}
    assert top == scripts.call("scoreboard/race.js", "topOf", [session(50, score)], race)
