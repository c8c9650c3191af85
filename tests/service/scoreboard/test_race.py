# SPDX-License-Identifier: Apache-2.0
"""The race: the courses of running sessions beside that of the leader."""

from __future__ import annotations

import json

import pytest

from referee.core.states import EndCause
from referee.service.scoreboard.freezing import freeze, thaw
from referee.service.scoreboard.publisher import Publisher
from referee.service.scoreboard.race import NO_RACE, course_of, energies_of
from referee.store.answers import Answer, insert_answer
from referee.store.courses import energy_course
from referee.tracks.loading import load_track
from tests.support.fakes import eventually


def race(event):
    """Return the race as the public has it."""
    return json.loads(event.publisher.refresh().race)


def test_a_course_has_a_score_where_both_halves_are_known():
    """Each step has the newest accuracy over the newest energy; before both there is none."""
    accuracies = [(3.0, 0.1), (9.0, 0.2), (14.0, 0.3)]
    energies = [(1.0, 0.01), (4.0, 0.02), (9.5, 0.04), (14.5, 0.05), (21.0, 9.0)]
    points = course_of(load_track("network"), accuracies, energies, 5.0, 17.0)
    assert [(5.0, 5.0), (10.0, 5.0), (15.0, 6.0)] == points


def test_a_course_ends_with_its_session():
    """A reading of after the end is not in it, and the last step ends where the session does."""
    points = course_of(load_track("network"), [(1.0, 0.1)], [(1.0, 0.1), (6.0, 0.2)], 5.0, 5.5)
    assert [(5.0, 1.0), (5.5, 1.0)] == points
    assert [] == course_of(load_track("network"), [], [(1.0, 0.1)], 5.0, 5.0)


def test_an_energy_counts_from_its_update_on(event):
    """A reading comes up to an update later, and its energy belongs to the update."""
    event.register("ants")
    number = begun(event, "ants")
    connection = event.contest.database.connection
    (came_s, energy_wh, counted_s), *_ = energy_course(connection, number, 600.0)
    ((moment_s, same_wh), *_) = energies_of(connection, number, 600.0)
    assert energy_wh == same_wh
    assert counted_s - 1.0 < moment_s <= came_s


def begun(event, team):
    """Let a session run that has answered within 30 s, and whose meter has been read at 40 s."""
    number = event.begin(team)
    clock, database = event.contest.clock, event.contest.database
    event.answer(number, [1, 2])
    event.score()
    clock.advance(40)
    eventually(
        lambda: database.connection.execute(
            "select 1 from readings where session_id = :n and energy_wh > 0", {"n": number}
        ).fetchone()
    )
    return number


def test_nobody_races_alone_in_an_empty_event(event):
    """While nobody runs there is no race; the first to run has no leader before it."""
    assert json.loads(NO_RACE) == race(event)
    event.register("ants")
    number = begun(event, "ants")
    found = race(event)
    assert found["leader"] is None
    assert [number] == [one["session"] for one in found["courses"]]
    second, score = found["courses"][0]["points"][-1]
    assert (40.0, True) == (second, score > 0)


def test_the_leaders_course_is_told_beside_the_running_ones(event):
    """It is the course of the first in the public ranking; a new publisher tells the same."""
    event.register("ants", "bees")
    first = begun(event, "ants")
    event.desk.steps_of(first).end(first, EndCause.STOP, "Kim")
    event.settle(first)
    event.judge(first, "VALID")
    begun(event, "bees")
    found = race(event)
    assert ("ants", first) == (found["leader"]["team"], found["leader"]["session"])
    assert found["leader"]["points"]
    assert found == json.loads(Publisher(event.contest).refresh().race)


def test_a_freeze_tells_no_race(event):
    """From the freeze to the thaw the race has the same bytes as in an event where nobody runs."""
    event.register("ants")
    number = begun(event, "ants")
    assert race(event)["courses"]
    freeze(event.contest, "Kim")
    assert NO_RACE == event.publisher.refresh().race
    late = Answer(number, 41.0, "", False, "form", "", 0, 0, b"")
    with event.contest.database.write() as connection:
        insert_answer(connection, late)
    event.contest.clock.advance(30)
    assert NO_RACE == event.publisher.refresh().race
    thaw(event.contest, "Kim")
    event.contest.clock.advance(1)
    assert race(event)["courses"]


@pytest.mark.parametrize("frozen", [False, True])
def test_a_step_without_news_is_read_once(event, frozen, monkeypatch):
    """Two hundred pages wait for one answer, and the database is asked once in five seconds."""
    event.register("ants")
    begun(event, "ants")
    if frozen:
        freeze(event.contest, "Kim")
    asked = []
    real = course_of
    monkeypatch.setattr(
        "referee.service.scoreboard.race.course_of",
        lambda *given: asked.append(given) or real(*given),
    )
    for _ in range(4):
        event.contest.clock.advance(1)
        event.publisher.refresh()
    assert len(asked) == (0 if frozen else 1)
