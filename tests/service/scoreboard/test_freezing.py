# SPDX-License-Identifier: Apache-2.0
"""What a freeze hides is told before it is made."""

from __future__ import annotations

import pytest

from referee.service.event.result_entry import ResultEntry
from referee.service.event.results import read_results
from referee.service.scoreboard.freezing import FreezeCount, count_hidden, count_text
from referee.service.teams.registration_changes import withdraw

SCORED = {"session": 1, "verdict": "VALID", "mean_ap": 0.3, "energy_wh": 0.1, "score": 3.0}


@pytest.mark.parametrize(
    ("entry", "hides", "known"),
    [
        ({}, 1, 0),
        (SCORED | {"turn": "ran"}, 0, 1),
        (SCORED | {"turn": "on"}, 1, 0),
        (SCORED | {"mean_ap": None, "score": None}, 1, 0),
        ({"session": 1, "verdict": "INVALID", "turn": "ran"}, 0, 1),
        ({"withdrawn": True}, 0, 0),
        ({"turn": "models only"}, 0, 0),
    ],
)
def test_a_freeze_hides_the_results_that_are_still_to_come(entry, hides, known):
    """A score that is not there yet is one, and a team that runs again has another."""
    assert FreezeCount(hides, known) == count_hidden([ResultEntry(team="ants", **entry)])


def test_the_count_follows_the_event(event):
    """Each result is one less to hide; a void one is to come again."""
    event.register("ants", "bees", "wasps")

    def count():
        found = count_hidden(read_results(event.contest).entries)
        return found.hides, found.known

    assert (3, 0) == count()
    number = event.play("ants")
    assert (2, 1) == count()
    event.play("bees")
    withdraw(event.contest, "wasps", "ill", "Kim")
    assert (0, 2) == count()
    event.desk.steps_of(number).void(number, "Kim", "wrong images")
    assert (1, 1) == count()


def test_a_freeze_that_comes_too_late_says_so():
    """The sentence counts both."""
    assert count_text(FreezeCount(2, 3)) == (
        "From now on it hides 2 results; 3 are public already."
    )
    assert count_text(FreezeCount(1, 1)) == "From now on it hides 1 result; 1 is public already."
    assert count_text(FreezeCount(0, 5)).startswith("It hides nothing: every result is public")
