# SPDX-License-Identifier: Apache-2.0
"""The feed's objects: what the CLICS specification asks of them, in each state of an event."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import jsonschema_rs
import pytest

from referee.core.states import EndCause
from referee.service.event.finalizing import finalize, reopen, review_all
from referee.service.scoreboard.feed import START, lines_after
from referee.service.scoreboard.freezing import freeze, thaw
from referee.service.scoreboard.publisher import Publisher
from referee.service.teams.registration_changes import amend, rename, withdraw
from referee.store.readings import energy_of
from tests.support.clics import FIELDS, broken_rules, schema_of, span
from tests.support.fakes import eventually

# What the specification requires and this feed cannot have; docs/feed.md says why.
LEFT_OUT = {"submissions": ["language_id", "files"], "problems": ["max_score"]}
PAGE = Path(__file__).parents[3] / "docs/feed.md"


def held_of(event):
    """Return the lines of the feed now, and what a program holds after them."""
    snapshot = Publisher(event.contest).refresh()
    lines = [json.loads(line) for line in lines_after(snapshot, START)[0]]
    return lines, {(one["type"], one["id"]): one["data"] for one in lines}


def course(event):
    """Let an event go on through everything that its feed can tell, one step after the other."""
    contest = event.contest
    yield
    event.register("ants", organisation="ETH")
    event.register("bees")
    freeze(contest, "Kim")
    yield
    thaw(contest, "Kim")
    running = event.begin("ants")
    yield
    event.contest.clock.advance(20)
    event.desk.steps_of(running).void(running, "Kim", "wrong images")
    yield
    event.play("ants")
    doubtful = [event.play("bees", verdict="INVALID")]
    rename(contest, "bees", "wasps", "Kim")
    amend(contest, "ants", lambda one: replace(one, organisation=""), "left it", "Kim")
    yield
    event.register("crabs", "dogs")
    doubtful.append(event.play("crabs", verdict="SUSPECT", found=0))
    withdraw(contest, "dogs", "ill", "Kim")
    yield
    event.register("eels")
    waiting = event.begin("eels")
    event.contest.clock.advance(20)
    event.desk.steps_of(waiting).end(waiting, EndCause.STOP, "Kim")
    eventually(lambda: energy_of(contest.database.connection, waiting))
    yield
    event.judge(waiting, "VALID")
    yield
    freeze(contest, "Kim")
    event.contest.clock.advance(5)
    yield
    review_all(contest, doubtful, "Kim", "it may stand")
    finalize(contest, ["Ada"])
    yield
    event.contest.clock.advance(5)
    thaw(contest, "Kim")
    yield
    reopen(contest, "Kim", "a late answer")
    yield
    event.contest.clock.advance(5)
    finalize(contest, ["Ada"])
    yield


def faults_of(lines, held):
    """Return what the specification refuses of a feed."""
    found = list(broken_rules(held))
    for one in lines:
        if one["type"] == "contest" and one["id"] is not None:
            found.append("a contest's line has an id")
        if one["data"] is not None:
            schema = schema_of(one["type"], LEFT_OUT.get(one["type"], ()))
            validator = jsonschema_rs.validator_for(schema)
            found += [
                f"{one['type']}: {error.message}" for error in validator.iter_errors(one["data"])
            ]
    return found


@pytest.fixture
def seen(event):
    """Return the lines of each step of an event, and what a program holds then."""
    return [held_of(event) for _ in course(event)]


def test_the_feed_has_what_the_specification_requires(seen):
    """Each object has its fields, and all fit together, at every moment of an event.

    What differs is a verdict of energies, which is no known judgement, and the score of a session
    that has none.
    """
    own = ("VERDICT", "^[A-Z]{2,3}$", '"score" is a required property')
    faults = [fault for step in seen for fault in faults_of(*step)]
    assert [] == [fault for fault in faults if not any(word in fault for word in own)]
    unscored = [data for _, held in seen for data in held.values() if data and "mean_ap" in data]
    assert {None, "INVALID"} == {it["judgement_type_id"] for it in unscored if "score" not in it}
    assert {"VALID", "SUSPECT"} == {it["judgement_type_id"] for it in unscored if "score" in it}


def test_what_is_left_out_is_told(seen):
    """The page names each field that the specification requires and the feed has not."""
    page = PAGE.read_text(encoding="utf-8")
    for kind, names in LEFT_OUT.items():
        for name in names:
            assert f"`{name}`" in page
            assert f"{name}: " in FIELDS[kind]
            assert all(name not in (data or {}) for _, held in seen for data in held.values())


def test_no_number_is_null(seen):
    """A program that reads numbers takes null for an error, and drops the whole line."""
    numbers = ("score", "test_data_count", "ordinal")
    found = [data for _, held in seen for data in held.values() if data]
    assert not [name for data in found for name in numbers if data.get(name, 0) is None]


def test_the_contest_begins_with_the_first_session_and_lasts_to_the_last(seen):
    """A void session was a start too, so the start of an event never changes.

    A session that runs ends at its deadline, until it ends.
    """
    starts = [held["contest", None]["start_time"] for _, held in seen]
    assert [None, None] == starts[:2]
    assert 1 == len(set(starts[2:]))
    lasted = [span(held["contest", None]["duration"]) for _, held in seen]
    assert [600, 20] == [one.total_seconds() for one in lasted[2:4]]
    ends = [data["end_time"] for data in seen[-1][1].values() if data and "lane" in data]
    start = datetime.fromisoformat(starts[-1])
    assert datetime.fromisoformat(max(ends)) - start == lasted[-1]
    assert {"0:10:00.000"} == {held["contest", None]["session_length"] for _, held in seen}


def test_the_end_of_updates_is_the_last_line(seen):
    """Nothing comes behind the state that says so; a freeze that was lifted early is no step."""
    lines, held = seen[-3]
    assert "state" == lines[-1]["type"]
    assert lines[-1]["data"]["end_of_updates"] == held["state", None]["thawed"] is not None
    assert all(one[1]["state", None]["thawed"] is None for one in seen[2:9])
    last = seen[-1][0][-1]["data"]
    assert (None, None) == (last["frozen"], last["thawed"])
    assert last["end_of_updates"] is not None


def test_an_organisation_outlives_the_team_that_names_it(event):
    """It comes before its team, and leaves after it, so no line names what is not there."""
    event.register("ants", organisation="ETH")
    kinds = [one["type"] for one in held_of(event)[0] if one["id"] == "1"]
    amend(event.contest, "ants", lambda one: replace(one, organisation=""), "left it", "Kim")
    after = [one["type"] for one in held_of(event)[0] if one["id"] == "1"]
    assert (["organizations", "teams"], ["teams", "organizations"]) == (kinds, after)
