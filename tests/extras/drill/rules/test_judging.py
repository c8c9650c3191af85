# SPDX-License-Identifier: Apache-2.0
"""What the operators did is recognised from the record, against the runbook."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from power.energy.verdict import suspect
from referee.extras.drill.rules.faults import BY_NAME, EMERGENCY, FAULTS, HANDS, LEFT_OUT
from referee.extras.drill.rules.judging import (
    CALM,
    HARM,
    NOT_DONE,
    SHORT,
    WELL,
    judge,
    judge_all,
    longest_gap,
)
from referee.extras.drill.rules.record import Act, ClientStop, Injection, RaisedAlarm, Ran, Record

LOST = "The power meter is lost, but the session goes on. Put its cable back."


def session(**changes):
    """Return a session that ran well from second 1000 to 1120."""
    seconds = tuple(float(second) for second in range(1000, 1121))
    facts = {"void_reason": None, "verdict": "VALID", "reasons": (), "failed_requests_s": ()}
    facts |= {"requests_s": seconds, "readings_s": seconds}
    return Ran(1, "Team Elm", 1000.0, 1120.0, **(facts | changes))


def judged(fault, acts=(), shown=(), over_s=1040.0, ran=None, **more):
    """Judge a fault that came in session 1 at second 1020."""
    injection = Injection(fault, 1020.0, 1, over_s, "by hand")
    sessions = (session() if ran is None else ran,)
    record = Record((injection,), tuple(shown), tuple(acts), sessions, **more)
    return judge(injection, record)


def seen(at_s, text=LOST, who="Kim"):
    """Return that somebody pressed Seen."""
    return Act(at_s, who, "alarm seen", None, text)


def test_a_fault_that_is_seen_and_done_is_well_done():
    """Alarm, Seen and the cable each have their seconds after the injection."""
    found = judged(
        "meter-unplugged",
        [seen(1019.0), seen(1024.0), Act(1030.0, "", "hand cable", 1)],
        [RaisedAlarm(1021.5, LOST)],
    )
    assert (1.5, 4.0, 10.0, WELL) == (found.alarm_s, found.seen_s, found.done_s, found.outcome)
    assert ("alarm seen (Kim)", "put the cable of the power meter back") == (
        found.seen_by,
        found.done_by,
    )
    assert () == found.lost


TABLE = [
    # fault, acts, outcome, seen after, done after
    ("meter-unplugged", [], NOT_DONE, None, None),
    ("meter-unplugged", [seen(1022.0)], NOT_DONE, 2.0, None),
    ("meter-unplugged", [seen(1022.0, "The disk is full")], NOT_DONE, None, None),
    ("meter-unplugged", [Act(1025.0, "", "hand cable", 1)], WELL, 5.0, 5.0),
    ("meter-unplugged", [Act(1025.0, "", "hand reset", 1)], HARM, 5.0, None),
    (
        "meter-unplugged",
        [Act(1025.0, "", "hand cable", 1), Act(1039.0, "Kim", "void", 1)],
        HARM,
        5.0,
        5.0,
    ),
    # After its end, to void the session is a decision, and no harm.
    (
        "meter-unplugged",
        [Act(1025.0, "", "hand cable", 1), Act(1041.0, "Kim", "void", 1)],
        WELL,
        5.0,
        5.0,
    ),
    ("meter-unplugged", [Act(1025.0, "Kim", "void", 2)], NOT_DONE, None, None),
    (
        "meter-unplugged",
        [Act(1025.0, "Kim", "void", 1, refused="no reason")],
        NOT_DONE,
        None,
        None,
    ),
    ("meter-stopped", [Act(1030.0, "Kim", "stop", 1)], WELL, 10.0, 10.0),
    ("meter-stopped", [Act(1030.0, "Kim", "void", 1)], WELL, 10.0, 10.0),
    ("on-battery", [Act(1021.0, "Sam", "note", 1)], NOT_DONE, 1.0, None),
    ("on-battery", [Act(1021.0, "Sam", "note", 2)], NOT_DONE, None, None),
    ("on-battery", [Act(1023.0, "", "hand device", 1)], NOT_DONE, 3.0, None),
    ("on-battery", [Act(1090.0, "Kim", "void", 1)], WELL, 70.0, 70.0),
    ("desk-killed", [], CALM, None, None),
    ("desk-killed", [Act(1030.0, "Kim", "stop", 1)], HARM, 10.0, None),
    # The session ran until second 1120.
    ("image-lost", [Act(1030.0, "", "hand copy", 1)], HARM, 10.0, None),
    ("image-lost", [Act(1125.0, "", "hand copy", 1)], WELL, 105.0, 105.0),
    ("image-lost", [Act(1125.0, "Kim", "void", 1)], NOT_DONE, 105.0, None),
    ("power-cut", [Act(1035.0, "", "hand start", 1)], WELL, 15.0, 15.0),
]


@pytest.mark.parametrize(("fault", "acts", "outcome", "seen_s", "done_s"), TABLE)
def test_outcomes(fault, acts, outcome, seen_s, done_s):
    """Acts on the fault's session count, those on others and refused ones do not."""
    found = judged(fault, acts)
    assert (outcome, seen_s, done_s) == (found.outcome, found.seen_s, found.done_s)


def test_what_the_drill_cut_off_is_no_failure():
    """Ctrl-C while a fault lasts leaves its outcome open."""
    assert SHORT == judged("meter-unplugged", over_s=None).outcome


def test_acts_belong_to_the_newest_fault():
    """A deed after the next injection does not count for the fault before."""
    first, second = (Injection("meter-unplugged", at_s, 1, at_s + 5) for at_s in (1010.0, 1050.0))
    record = Record((first, second), (), (Act(1052.0, "", "hand cable", 1),), (session(),))
    assert [NOT_DONE, WELL] == [one.outcome for one in judge_all(record)]


LOSSES = [
    ({}, []),
    ({"failed_requests_s": (1019.0, 1021.0, 1041.0)}, ["1 request answered with an error"]),
    ({"requests_s": (1018.0, 1031.0)}, ["13 s without a request"]),
    ({"readings_s": (1019.5, 1040.0)}, ["20 s without a reading"]),
    ({"void_reason": "the cable"}, ["session 1 (void: the cable)"]),
    ({"verdict": None}, ["session 1 has no energy"]),
    (
        {"verdict": "INVALID", "reasons": (suspect("no_load", "It was 0 W."),)},
        ["energy INVALID: It was 0 W"],
    ),
]


@pytest.mark.parametrize(("changes", "texts"), LOSSES)
def test_what_was_lost(changes, texts):
    """Requests, readings, energy and session, as far as the fault lasted."""
    lost = judged("meter-unplugged", ran=session(**changes)).lost
    assert len(texts) == len(lost)
    assert all(text in told for text, told in zip(texts, lost, strict=True))


def test_clients_that_stopped_are_lost_time():
    """Only stops in the fault's session and after it count."""
    stops = (ClientStop(1010.0, 1), ClientStop(1025.0, 1), ClientStop(1026.0, 2))
    assert ("the team had to start its client again, 1 time",) == judged("junk", stops=stops).lost


def test_an_energy_that_nobody_measured_is_told():
    """A VALID verdict does not tell that the device ran on its battery."""
    assert ("20 s of the device's energy, which nobody measured",) == judged("on-battery").lost


def two(first, second, ran, **more):
    """Return what two faults of one session cost, the second 30 s after the first."""
    faults = (Injection(first, 1020.0, 1, 1080.0), Injection(second, 1050.0, 1, 1070.0))
    return [list(it.lost) for it in judge_all(Record(faults, (), (), (ran,), **more))]


def test_damage_of_the_next_fault_is_not_charged_to_the_one_before():
    """Requests, gaps and stops after the next injection are the next fault's."""
    quiet = tuple(second for second in session().requests_s if not 1051 <= second <= 1068)
    ran = session(failed_requests_s=(1055.0,), requests_s=quiet)
    stops = (ClientStop(1056.0, 1), ClientStop(1057.0, 1))
    junk, killed = two("junk", "server-killed", ran, stops=stops)
    assert [] == junk
    assert [
        "1 request answered with an error of the referee",
        "the team had to start its client again, 2 times",
        "19 s without a request of the team",
    ] == killed


VERDICTS = [
    ("junk", "on-battery", suspect("no_load_at_work", "Nothing for 20 s."), [False, True]),
    ("image-lost", "meter-unplugged", suspect("gap", "Gaps: 1."), [False, True]),
    ("image-lost", "junk", suspect("images_missing", "Gone: 3."), [True, False]),
    # No fault of this session is known for it, so each may be why.
    ("flood", "junk", suspect("suspended", "It slept for 9 s."), [True, True]),
]


@pytest.mark.parametrize(("first", "second", "reason", "charged"), VERDICTS)
def test_reason_of_a_verdict_is_charged_to_the_fault_that_brings_it(first, second, reason, charged):
    """Where a session had several faults, each is charged with the reasons that it can bring."""
    lost = two(first, second, session(verdict="INVALID", reasons=(reason,)))
    assert charged == [any(reason.text.rstrip(".") in it for it in one) for one in lost]


def test_void_session_is_charged_to_the_fault_that_asks_for_it():
    """A session that was void for the battery was not lost by junk."""
    junk, battery = two("junk", "on-battery", session(void_reason="a battery"))
    assert (False, True) == tuple("session 1 (void: a battery)" in lost for lost in (junk, battery))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_row_of_the_runbook_is_about_the_fault(fault):
    """The row of the emergency page that a fault names speaks of what happens."""
    rows = re.findall(r"\d+", fault.section) if EMERGENCY in fault.section else []
    assert bool(rows) == (fault.name in _WORDS)
    text = (Path(__file__).parents[4] / EMERGENCY).read_text(encoding="utf-8")
    for number in rows:
        (row,) = re.findall(rf"^\| {number} \| .*$", text, re.MULTILINE)
        assert _WORDS[fault.name] in row.casefold()


_WORDS = {
    **{"meter-unplugged": "cable", "meter-off": "meter", "meter-stopped": "no longer integrates"},
    **{"on-battery": "battery", "flood": "flood", "wifi-drop": "wi-fi", "other-team": "login"},
    **{"image-lost": "images are missing", "disk-full": "disk", "desk-killed": "desk"},
    **{"power-cut": "power cut"},
}


@pytest.mark.parametrize(
    ("times", "gap"),
    [((), 10.0), ((0.0, 10.0), 10.0), ((1.0, 2.0, 5.0, 9.5), 4.5), ((-3.0, 12.0), 15.0)],
)
def test_gaps_reach_to_the_events_around(times, gap):
    """A gap begins at the last event before the fault and ends at the first one after it."""
    assert gap == longest_gap(times, 0.0, 10.0)


def test_each_fault_teaches():
    """Each has its sentences, known deeds, a pattern that compiles, and an end."""
    console = {"stop", "void", "note"}
    assert len(BY_NAME) == len(FAULTS)
    for fault in FAULTS:
        assert all((fault.line, fault.injected, fault.over, fault.seen, fault.do)), fault.name
        assert {*fault.deeds, *fault.harm} <= HANDS.keys() | console, fault.name
        assert not set(fault.deeds) & set(fault.harm), fault.name
        assert 0 < fault.lasts_s <= 120
        re.compile(fault.alarm)
    assert not LEFT_OUT.keys() & BY_NAME.keys()
