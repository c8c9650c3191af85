# SPDX-License-Identifier: Apache-2.0
"""What the audience reads of a session that is on: words, clock, and its place among the others."""

from __future__ import annotations

from typing import Any

import pytest

from tests.static.conftest import Scripts

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("session", "text"),
    [
        ({"state": "ARMED"}, "getting ready"),
        ({"state": "RUNNING"}, "running"),
        ({"state": "RUNNING", "marks": ["EMULATED"]}, "running · EMULATED"),
        ({"state": "RUNNING", "old": True}, "running"),
        ({"state": "ENDED"}, "ended, energy being judged"),
        ({"state": "RUNNING", "lane_name": "A"}, "lane A · running"),
        (
            {"state": "ENDED", "lane_name": "A", "old": True},
            "lane A · ended, energy being judged",
        ),
    ],
)
def test_a_session_in_words(scripts: Scripts, session: dict[str, Any], text: str) -> None:
    """With lanes it names its own; a lost meter is no headline, and what marks a score is."""
    assert text == scripts.call("scoreboard/running.js", "words", {"marks": []} | session)


@pytest.mark.parametrize(
    ("state", "remaining_s", "passed_s", "text", "last"),
    [
        ("RUNNING", 75, 0, "1:15", False),
        ("RUNNING", 75, 1.5, "1:14", False),
        ("RUNNING", 11, 0.9, "0:11", False),
        ("RUNNING", 11, 1, "0:10", True),
        ("RUNNING", 1, 5, "0:00", True),
        ("ARMED", 5, 3, "0:05", False),
    ],
)
def test_the_clock_goes_down(
    scripts: Scripts, state: str, remaining_s: float, passed_s: float, text: str, last: bool
) -> None:
    """Between two events it goes on by itself, and the last ten seconds are marked."""
    session = {"state": state, "remaining_s": remaining_s}
    shown = scripts.call("scoreboard/running.js", "clockOf", session, passed_s)
    assert {"text": text, "last": last} == shown


def running(
    session: int, team: str, score: float | None, passed_s: float = 300, state: str = "RUNNING"
) -> dict[str, Any]:
    """Return a session of 600 s that is on."""
    return {
        **{"session": session, "team": team, "score": score, "state": state},
        **{"elapsed_s": passed_s, "length_s": 600},
    }


RANKED = [
    {"team": "ants", "rank": 1, "score": 9.0, "session": 1},
    {"team": "bees", "rank": 2, "score": 5.0, "session": 2},
    {"team": "moths", "rank": None, "score": 7.0, "session": 3},
    {"team": "flies", "rank": None, "score": None, "session": None},
]


@pytest.mark.parametrize(
    ("score", "place", "distance", "other"),
    [
        (12.0, "1st", "3.0 ahead of", "ants"),
        (9.0, "1st", "0.00 ahead of", "ants"),
        (8.5, "2nd", "0.50 behind", "ants"),
        (4.0, "3rd", "1.00 behind", "bees"),
        (0.0, "3rd", "5.00 behind", "bees"),
    ],
)
def test_a_running_team_has_a_place_among_the_others(
    scripts: Scripts, score: float, place: str, distance: str, other: str
) -> None:
    """It is the place if the session ended now, with the way to the next one."""
    on = running(9, "wasps", score)
    found = scripts.call("scoreboard/running.js", "placeOf", on, RANKED, [on])
    assert (place, distance, other) == (found["text"], found["distance"], found["other"])


@pytest.mark.parametrize(
    "on",
    [
        running(9, "wasps", None),
        running(9, "wasps", 99.0, passed_s=29),
        running(9, "wasps", 99.0, state="ARMED"),
    ],
)
def test_too_little_is_no_place(scripts: Scripts, on: dict[str, Any]) -> None:
    """Without a score, and in the first twentieth of the time, nobody has a place or leads."""
    body = "return [m.placeOf(a[0], a[1], [a[0]]), m.leaderOf(a[1], [a[0]])]"
    assert [None, "ants"] == scripts.run("scoreboard/running.js", body, on, RANKED)


def test_those_who_run_at_once_are_compared(scripts: Scripts) -> None:
    """Their scores so far count, and an earlier result of their own does not."""
    on = [running(8, "ants", 4.0), running(9, "wasps", 6.0)]
    body = "return [...a[1].map((one) => m.placeOf(one, a[0], a[1])), m.leaderOf(a[0], a[1])]"
    ants, wasps, leader = scripts.run("scoreboard/running.js", body, RANKED, on)
    assert ("3rd", "1.00 behind", "bees") == (ants["text"], ants["distance"], ants["other"])
    assert ("1st", "1.00 ahead of", "bees") == (wasps["text"], wasps["distance"], wasps["other"])
    assert "wasps" == leader


def test_who_is_alone_is_first(scripts: Scripts) -> None:
    """The first session of an event has nobody to be compared with, and nobody leads before it."""
    on = running(1, "ants", 4.0)
    body = "return [m.placeOf(a[0], [], [a[0]]), m.leaderOf([], [])]"
    found, leader = scripts.run("scoreboard/running.js", body, on)
    assert ("1st", "", "", None) == (found["text"], found["distance"], found["other"], leader)


@pytest.mark.parametrize(
    ("number", "text"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (13, "13th")]
    + [(21, "21st"), (40, "40th"), (111, "111th")],
)
def test_a_place_as_people_say_it(scripts: Scripts, number: int, text: str) -> None:
    """English has its exceptions."""
    assert text == scripts.call("scoreboard/running.js", "ordinal", number)
