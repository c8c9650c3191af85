# SPDX-License-Identifier: Apache-2.0
"""The alarms of the red bar: each is on record once, and so is who saw it first."""

from __future__ import annotations

import pytest

from referee.errors import Refusal
from referee.service.board.alarms import AlarmRecord, key_of
from referee.service.board.shown import ShownAlarm
from tests.support.contests import make_contest
from tests.support.fakes import FakeClock

LOST = ShownAlarm(lane="left", text="The power meter is lost.\n Put its cable back.")
KEY = key_of("left", "The power meter is lost. Put its cable back.")


@pytest.fixture
def bar(tmp_path):
    """Return the red bar of a contest, with a clock that the test moves."""
    contest = make_contest(tmp_path, FakeClock())

    class Bar:
        clock = contest.clock
        waiting = []
        record = AlarmRecord(contest.clock, waiting.append)

        def show(self, *alarms):
            """Show these alarms, and return who has seen each."""
            found = self.record.follow(alarms, self.clock.now())
            return [one.seen for one in found]

        def audit(self):
            """Write what waits, and return who did what."""
            with contest.database.write() as connection:
                for write in self.waiting:
                    write(connection)
            self.waiting.clear()
            rows = connection.execute("select operator, action, detail from audit")
            return [tuple(row) for row in rows]

    yield Bar()
    contest.database.close()


def test_an_alarm_that_stands_is_on_record_once(bar):
    """However often the board is made, the audit has the alarm once, with its lane."""
    assert [None] == bar.show(LOST)
    bar.clock.advance(2.9)
    assert [None] == bar.show(LOST)
    text = "left: The power meter is lost. Put its cable back."
    assert [("referee", "alarm", text)] == bar.audit()


def test_the_first_who_sees_an_alarm_is_on_record(bar):
    """All boards name that person, and a second press changes nothing."""
    bar.show(LOST)
    bar.record.see([KEY], "Kim")
    bar.record.see([KEY], "Sam")
    assert ["Kim"] == bar.show(LOST)
    assert ["alarm", "alarm seen"] == [action for _, action, _ in bar.audit()]


def test_an_alarm_that_comes_again_must_be_seen_again(bar):
    """After three seconds without it, the same words are another alarm."""
    bar.show(LOST)
    bar.record.see([KEY], "Kim")
    bar.clock.advance(3.0)
    assert [None] == bar.show(LOST)
    assert ["alarm", "alarm seen", "alarm"] == [action for _, action, _ in bar.audit()]


def test_an_alarm_that_is_over_cannot_be_seen(bar):
    """The desk says so, and nothing goes on record; of several alarms those count that stand."""
    with pytest.raises(Refusal, match="alarm is over"):
        bar.record.see([KEY], "Kim")
    assert [] == bar.audit()
    bar.show(LOST)
    bar.record.see([key_of("", "another"), KEY], "Kim")
    assert ["Kim"] == bar.show(LOST)
