# SPDX-License-Identifier: Apache-2.0
"""One device at a time: a second address of a session is told once, or refused."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.core.states import EndCause
from referee.errors import Refusal
from referee.service.entry.devices import OneDevice
from referee.store.notices import notices_of
from referee.store.session_addresses import addresses_of_session
from referee.store.sessions import load_session
from tests.support.fakes import running_desk
from tests.support.prompt_journal import PromptJournal

FIRST, MAPPED, SECOND = "10.0.0.2", "::ffff:10.0.0.2", "10.0.0.9"


@pytest.fixture
def running(contest, meter):
    """Return the desk and the running session of an event, begun through a server of IPv6."""
    with running_desk(contest, meter) as desk:
        number = desk.new_session("ants", "Kim")
        desk.steps_of(number).arm(number, "Kim")
        number = desk.begin("ants", MAPPED)
        yield desk, load_session(contest.database.connection, number)


def rule_of(contest, **keys):
    """Return the rule of a process of the contest server under these keys of [contest]."""
    section = replace(contest.config.contest, **keys)
    changed = replace(contest, config=replace(contest.config, contest=section))
    return OneDevice(changed, PromptJournal(contest.database))


def told(contest, level):
    """Return the texts of a level about a second address of session 1."""
    notices = notices_of(contest.database.connection, 1)
    return [it.text for it in notices if it.level == level and "requests from" in it.text]


def test_the_first_address_is_that_of_the_login(contest, running):
    """It is on record from the start, and its own requests are nothing to tell of."""
    rule = rule_of(contest)
    rule.require(running[1], FIRST)
    rule.require(running[1], MAPPED)
    assert [FIRST] == addresses_of_session(contest.database.connection, 1)
    assert [] == told(contest, "alarm")


def test_a_second_address_is_one_alarm_of_all_processes(contest, running):
    """It is served, and however many requests and processes see it, operators hear of it once."""
    for rule in (rule_of(contest), rule_of(contest)):
        for address in (SECOND, FIRST, SECOND):
            rule.require(running[1], address)
    assert [FIRST, SECOND] == addresses_of_session(contest.database.connection, 1)
    (text,) = told(contest, "alarm")
    assert text == (
        "Session 1 of 'ants' began from 10.0.0.2, and now gets requests from 10.0.0.9 too. It is "
        "served. One device may take part at a time: look which device that is."
    )


def test_a_second_address_is_refused_where_the_rules_say_so(contest, running):
    """The refusal names both addresses; the first one goes on."""
    rule = rule_of(contest, second_address="refuse")
    with pytest.raises(Refusal, match=f"began from {FIRST}.* comes from {SECOND}") as refused:
        rule.require(running[1], SECOND)
    assert "other_device" == refused.value.code
    rule.require(running[1], FIRST)
    assert "It is refused." in told(contest, "alarm")[0]


def test_a_rehearsal_only_warns(contest, running):
    """Whoever rehearses with a laptop and a board is served, and no bar turns red."""
    rule_of(contest, second_address="refuse", mode="practice").require(running[1], SECOND)
    assert [] == told(contest, "alarm")
    assert 1 == len(told(contest, "warning"))


def test_a_session_that_is_over_may_be_looked_at_from_anywhere(contest, running):
    """After the end another device is no second contestant."""
    desk, session = running
    desk.steps_of(session.session_id).end(session.session_id, EndCause.STOP, "Kim")
    over = load_session(contest.database.connection, session.session_id)
    rule_of(contest, second_address="refuse").require(over, SECOND)
    assert [FIRST] == addresses_of_session(contest.database.connection, 1)


def test_a_flood_of_addresses_is_bounded(contest, running):
    """A thousand addresses of one network card fill neither the console nor the disk."""
    rule = rule_of(contest)
    for last in range(1000):
        rule.require(running[1], f"2001:db8::{last:x}")
    assert 20 == len(told(contest, "alarm"))
