# SPDX-License-Identifier: Apache-2.0
"""The intake takes models within their limits, and gives the same model the same entry."""

from __future__ import annotations

from collections import namedtuple
from datetime import timedelta

import pytest

from referee.errors import Refusal, Unavailable
from referee.extras.ovic.rules.entry_states import EntryState
from referee.extras.ovic.submission import intake as module
from referee.extras.ovic.submission.entries import NewEvent, all_entries, record_entry_event
from referee.extras.ovic.submission.intake import day_of, kept_name
from referee.store.finals import insert_finalization
from referee.store.teams import Registration, ensure_team, insert_registration
from tests.support.ovic_contests import UTC, hand_in, make_intake, make_ovic_contest


def codes(intake, *contents, **more):
    """Return for each model its entry's number, or the code of its refusal."""
    found = []
    for content in contents:
        try:
            found.append(hand_in(intake, content, **more).entry.entry_id)
        except Refusal as refusal:
            found.append(refusal.code)
    return found


def test_a_day_takes_so_many_entries_of_each_team_and_task(intake):
    """The limit holds for a team; another team has its own."""
    assert [1, 2, "entries_spent", "entries_spent"] == codes(intake, b"a", b"b", b"c", b"d")
    assert [3, 4, "entries_spent"] == codes(intake, b"a", b"b", b"c", team="bees")
    assert (0, 2) == (
        intake.left_today("ants", "classification"),
        intake.left_today("wasps", "classification"),
    )


def test_the_day_begins_at_midnight_in_utc(intake, clock):
    """One second before midnight the limit holds, and at midnight it begins anew."""
    assert [1, 2, "entries_spent"] == codes(intake, b"a", b"b", b"c")
    left_s = (intake.day_ends() - clock.now().utc).total_seconds()
    clock.advance(left_s - 1)
    with pytest.raises(Refusal, match=r"begins at 0:00 UTC, in 0 h 00 min"):
        hand_in(intake, b"c")
    before = day_of(clock.now())
    clock.advance(1)
    assert before < day_of(clock.now())
    assert [3] == codes(intake, b"c")


def test_the_same_model_is_the_same_entry(intake):
    """A repeat changes nothing and spends nothing, also when the day is spent."""
    first = hand_in(intake, b"a")
    again = hand_in(intake, b"a", name="other.tflite")
    assert (True, False) == (first.new, again.new)
    assert first.entry == again.entry
    assert (1, 1) == (first.left_today, again.left_today)
    assert [2, "entries_spent", 1] == codes(intake, b"b", b"c", b"a")


def test_what_failed_through_the_referee_may_come_again(intake, contest):
    """A failed entry is no reason to refuse its model, and does not count for the day."""
    assert [1, 2] == codes(intake, b"a", b"b")
    with contest.database.write() as connection:
        for kind in ("validating", "failed"):
            record_entry_event(connection, 1, NewEvent(kind, UTC, actor="x"))
    assert [3, "entries_spent"] == codes(intake, b"a", b"c")


def refuse(contest, number, *rules):
    """Let an entry be refused for these rules."""
    failures = [{"rule": rule, "expected": "x", "found": "y"} for rule in rules]
    with contest.database.write() as connection:
        record_entry_event(connection, number, NewEvent("validating", UTC, actor="x"))
        detail = {"failures": failures}
        record_entry_event(connection, number, NewEvent("refused", UTC, actor="x", detail=detail))


def test_a_refusal_for_the_range_of_boxes_alone_does_not_count(intake, contest):
    """The team may try another model; any other rule beside it counts."""
    assert [1, 2, "entries_spent"] == codes(intake, b"a", b"b", b"c")
    refuse(contest, 1, "box_range")
    refuse(contest, 2, "box_range", "score_range")
    assert 1 == intake.left_today("ants", "classification")
    assert [3, "entries_spent"] == codes(intake, b"c", b"d")


def test_refusals_that_do_not_count_have_an_end(intake, contest):
    """As many as the day has entries: nobody asks the hidden images without a bound."""
    for number, content in enumerate((b"a", b"b", b"c", b"d"), 1):
        assert [number] == codes(intake, content)
        refuse(contest, number, "box_range")
    assert ["entries_spent"] == codes(intake, b"e")
    assert 0 == intake.left_today("ants", "classification")


def test_a_void_model_does_not_come_back(intake, contest):
    """A model that an operator took out stays out."""
    hand_in(intake, b"a")
    with contest.database.write() as connection:
        record_entry_event(connection, 1, NewEvent("voided", UTC, actor="x", text="two accounts"))
    again = hand_in(intake, b"a")
    assert (1, EntryState.VOID, "two accounts") == (
        again.entry.entry_id,
        again.entry.state,
        again.entry.text,
    )


def test_a_team_that_withdrew_hands_nothing_in(intake, contest):
    """A withdrawn team is refused in a sentence, and may hand in again when it returns."""
    for kind, found in [("withdrawn", "team_withdrawn"), ("returned", 1)]:
        with contest.database.write() as connection:
            team = ensure_team(connection, "ants", UTC)
            insert_registration(connection, team, kind, Registration(), operator="Kim", utc=UTC)
        assert [found] == codes(intake, b"a")


@pytest.mark.parametrize(
    ("task", "size", "code"),
    [
        ("classification", 1 << 20, None),
        (None, 10, None),
        ("classification", None, None),
        ("classification", (1 << 20) + 1, "model_too_large"),
        ("classification", 0, "model_empty"),
        ("detection", 10, "task_unknown"),
        ("", 10, "task_unknown"),
    ],
)
def test_what_the_intake_says_before_the_bytes_come(intake, task, size, code):
    """Tasks that are closed, and models that are empty or too large, are refused at once."""
    if code is None:
        assert "classification" == intake.require_acceptable(task, size).name
    else:
        with pytest.raises(Refusal) as caught:
            intake.require_acceptable(task, size)
        assert code == caught.value.code


def test_models_leave_room_for_sessions(intake, monkeypatch):
    """A model is refused where it would take the room that a session needs."""
    monkeypatch.setattr(module, "free_bytes", lambda config: 2**28 + 1000)
    intake.require_acceptable(None, 1000)
    with pytest.raises(Unavailable, match="no room for models"):
        intake.require_acceptable(None, 1001)


def test_a_commit_that_fails_makes_no_entry(intake, contest, monkeypatch):
    """Where the transaction fails nothing is acknowledged and nothing is stored."""
    Broken = namedtuple("Broken", "day_of")

    def fail(now):
        raise Unavailable("the disk is full")

    monkeypatch.setattr(module, "day_of", Broken(fail).day_of)
    with pytest.raises(Unavailable):
        hand_in(intake, b"a")
    assert [] == all_entries(contest.database.connection)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("m.tflite", "m.tflite"),
        ("../../etc/passwd", "passwd"),
        ("C:\\models\\m.tflite", "m.tflite"),
        ("a\nb\x1b[31m", "a?b?[31m"),
        ("", "model.tflite"),
        ("x" * 300, "x" * 100),
    ],
)
def test_a_file_name_is_for_people_alone(name, kept):
    """Of a name its last part is kept, printable and short."""
    assert kept == kept_name(name)


def test_final_results_close_the_intake(intake, contest):
    """No new model is taken after the approval; a model that is known keeps its entry."""
    first = hand_in(intake, b"a")
    with contest.database.write() as connection:
        insert_finalization(connection, contest.clock.now(), ["Ada"], {})
    assert [first.entry.entry_id, "entries_closed"] == codes(intake, b"a", b"b")


def test_after_the_close_no_model_comes(tmp_path, clock):
    """The close itself is too late; a model that came before is the same entry still."""
    closes = clock.now().utc + timedelta(seconds=60)
    contest = make_ovic_contest(tmp_path, clock, closes=closes.isoformat())
    intake = make_intake(contest)
    first = hand_in(intake, b"a")
    clock.advance(59.5)
    hand_in(intake, b"b")
    clock.advance(0.5)
    assert [first.entry.entry_id, "entries_closed"] == codes(intake, b"a", b"c")
    with pytest.raises(Refusal, match="models were taken until .* UTC"):
        hand_in(intake, b"c")
    contest.database.close()
