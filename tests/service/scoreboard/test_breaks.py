# SPDX-License-Identifier: Apache-2.0
"""A break is told to the audience, also during a freeze, and stays on record."""

from __future__ import annotations

import json

import pytest

from referee.errors import Refusal
from referee.service.scoreboard.breaks import begin_break, break_of, end_break
from referee.service.scoreboard.freezing import freeze


def told(event):
    """Return the break as the public has it."""
    return json.loads(event.publisher.refresh().live)["break"]


def acts(event):
    """Return who did what to the break, as the audit has it."""
    rows = event.contest.database.connection.execute("select operator, action, detail from audit")
    return [tuple(row) for row in rows if "break" in row[1]]


def test_a_break_is_told_until_it_is_over(event):
    """The public reads words and end at once; the second of two breaks takes the first's place."""
    assert told(event) is None
    first = begin_break(event.contest, "Kim", " Lunch ", 30)
    assert {"text": "Lunch", "until_utc": first.until_utc} == told(event)
    begin_break(event.contest, "Ada", "Fire drill", 5)
    assert "Fire drill" == told(event)["text"]
    end_break(event.contest, "Kim")
    assert told(event) is None
    assert break_of(event.contest) is None
    assert [
        ("Kim", "begin break", "30 min: Lunch"),
        ("Ada", "begin break", "5 min: Fire drill"),
        ("Kim", "end break", ""),
    ] == acts(event)


def test_a_repeat_changes_nothing(event):
    """Two presses are one break; the same words later are another one, with a later end."""
    first = begin_break(event.contest, "Kim", "Lunch", 30)
    event.contest.clock.advance(20)
    assert first == begin_break(event.contest, "Kim", "Lunch", 30)
    event.contest.clock.advance(600)
    assert first.until_utc < begin_break(event.contest, "Kim", "Lunch", 30).until_utc
    for _ in range(2):
        end_break(event.contest, "Kim")
    assert ["begin break", "begin break", "end break"] == [action for _, action, _ in acts(event)]


@pytest.mark.parametrize(
    ("operator", "text", "minutes"),
    [(" ", "Lunch", 5), ("Kim", " ", 5), ("Kim", "Lunch", 0), ("Kim", "Lunch", 1441)],
)
def test_a_break_needs_a_name_words_and_a_length(event, operator, text, minutes):
    """What is refused leaves no trace."""
    with pytest.raises(Refusal):
        begin_break(event.contest, operator, text, minutes)
    assert told(event) is None


def test_a_freeze_shows_a_break_and_nothing_else(event):
    """The words are the organiser's own; hidden sessions change no byte of them."""
    event.register("ants", "bees")
    event.play("ants")
    freeze(event.contest, "Kim")
    begin_break(event.contest, "Kim", "The ceremony begins after this", 10)
    before = event.publisher.refresh()
    assert "The ceremony begins after this" in before.live
    number = event.begin("bees")
    event.answer(number, [1, 2])
    event.score()
    event.contest.clock.advance(30)
    after = event.publisher.refresh()
    assert (before.view, before.live, before.race) == (after.view, after.live, after.race)
