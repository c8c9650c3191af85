# SPDX-License-Identifier: Apache-2.0
"""What a bundle tells of how its session was run is what the event itself compares."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from referee.core.conditions import NOTHING_KNOWN, UNKNOWN, unknown_conditions
from referee.service.event.conditions import conditions_of
from referee.service.event.told_conditions import (
    TELLING_MEMBERS,
    conditions_in_bundle,
    not_told_text,
    read_conditions,
    some_of,
)
from referee.service.evidence.bundle import write_bundle
from referee.store.readings import energy_of
from referee.store.scores import newest_scoring_run
from referee.store.sessions import load_session
from tests.support.packed_bundles import unpack


@pytest.fixture
def played(event, tmp_path):
    """Return an event, and the members of the bundle of its session."""
    event.register("ants")
    number = event.play("ants")
    write_bundle(event.contest, number, tmp_path / "session.zip")
    return event, unpack(tmp_path / "session.zip")


def of_event(event, number=1):
    """Return a session's conditions as the event compares them."""
    connection = event.contest.database.connection
    session = load_session(connection, number)
    energy, run = energy_of(connection, number), newest_scoring_run(connection, number)
    return conditions_of(event.contest.track, connection, session, energy, run)


def test_a_bundle_tells_what_its_event_compares(played):
    """Every condition is in the bundle, and equal to the one of the stored rows."""
    event, members = played
    told = conditions_in_bundle(event.contest.track, members)
    assert (of_event(event), ()) == (told, unknown_conditions(told))
    assert told == read_conditions(json.loads(json.dumps(asdict(told))))


def test_a_session_without_a_meter_has_none(played):
    """Its settings in `run.json` are those of no meter, so the facts decide, as in the event."""
    event, members = played
    lines = members["facts.jsonl"].splitlines(keepends=True)
    without = [line for line in lines if b"session_meters" not in line]
    assert len(lines) == len(without) + 1
    told = conditions_in_bundle(event.contest.track, members | {"facts.jsonl": b"".join(without)})
    assert ("none", None) == (told.meter, told.mode)


def test_extra_time_is_read_from_the_facts(played):
    """The length is that without the extra time, which an operator gave as a fact of its own."""
    event, members = played
    session = json.loads(members["session.json"])
    row = {"extra_id": 1, "session_id": 1, "seconds": 60}
    line = json.dumps({"table": "extra_times", "row": row, "strand": ""})
    given = members | {
        "session.json": json.dumps(session | {"length_s": session["length_s"] + 60}).encode(),
        "facts.jsonl": members["facts.jsonl"] + line.encode() + b"\n",
    }
    told = conditions_in_bundle(event.contest.track, given)
    assert (of_event(event).length_s, 60.0) == (told.length_s, told.extra_s)


@pytest.mark.parametrize(
    ("member", "unknown"),
    [
        ("facts.jsonl", "extra time"),
        ("run.json", "meter, meter mode"),
        ("config.toml", "shuffling"),
    ],
)
def test_what_a_bundle_lacks_is_unknown(played, member, unknown):
    """It is told in words, and is no difference."""
    event, members = played
    del members[member]
    told = conditions_in_bundle(event.contest.track, members)
    assert unknown == not_told_text(told)


def test_the_members_are_all_that_it_reads(played):
    """Whoever reads these members of a bundle has all conditions."""
    event, members = played
    some = {name: members[name] for name in TELLING_MEMBERS}
    assert of_event(event) == conditions_in_bundle(event.contest.track, some)


@pytest.mark.parametrize(
    "value", [[1], {"a": 1}, "a\nb", "x" * 201, True], ids=["list", "table", "line", "long", "yes"]
)
def test_a_strangers_value_is_unknown(value):
    """A value that is none of a condition is not compared, and reaches no table."""
    told = read_conditions(asdict(NOTHING_KNOWN) | {"meter": value, "length_s": value})
    assert (UNKNOWN, UNKNOWN) == (told.meter, told.length_s)
    assert NOTHING_KNOWN == read_conditions(None)


def test_many_names_are_cut():
    """A remark names the first ones, and counts the others."""
    assert "1, 2, 3, 4, 5 and 2 others" == some_of(list("1234567"))
    assert "1, 2" == some_of(["1", "2"])
