# SPDX-License-Identifier: Apache-2.0
"""Answers, requests, readings and scores as rows: reading returns what was written."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from power.meter import ElementValues, Identity, IntegrationState, MeterFlag, Reading
from referee.store.answers import (
    AnswerCounts,
    answers_after,
    count_answers,
    insert_answer,
    newest_answer_id,
)
from referee.store.notices import (
    Subject,
    alarm_notices,
    audit_of,
    insert_audit,
    insert_notice,
    notices_of,
    recent_notices,
)
from referee.store.preflight import StoredFinding, insert_finding, newest_findings
from referee.store.readings import (
    EnergyRecord,
    energy_of,
    insert_energy,
    insert_reading,
    newest_reading,
    readings_of,
)
from referee.store.requests import Request, count_fetched_images, insert_requests, requests_of
from referee.store.scores import (
    ScoringRun,
    Snapshot,
    insert_scoring_run,
    insert_snapshot,
    newest_scoring_run,
    newest_snapshot,
)
from referee.store.shows import insert_show, last_frame, shows_of
from referee.store.watching import recent_power
from tests.store.conftest import NOON, answer, at, insert_one_row, new_session, show

UTC_TEXT = NOON.isoformat()


def test_answers_are_read_back_in_order(database):
    """Answers come back by ascending number with every detection, late ones too."""
    session_id, other = new_session(database), new_session(database, "bees")
    with database.write() as connection:
        stored = [
            answer(session_id, 3, flagged=1),
            answer(other, 1),
            answer(session_id, 0),
            answer(session_id, 2, late=True),
        ]
        numbers = [insert_answer(connection, one) for one in stored]
    assert [1, 2, 3, 4] == numbers
    found = list(answers_after(database.connection, session_id))
    assert [1, 3, 4] == [one.answer_id for one in found]
    assert [False, False, True] == [one.late for one in found]
    assert stored[0].content == found[0].content
    plain = replace(found[0], answer_id=0)
    assert stored[0] == plain
    assert [3, 4] == [one.answer_id for one in answers_after(database.connection, session_id, 1)]
    limited = answers_after(database.connection, session_id, 1, limit=1)
    assert [3] == [one.answer_id for one in limited]


def test_late_answers_are_counted_apart(database):
    """Late answers are left out of the counts of answers and detections."""
    session_id = new_session(database)
    assert AnswerCounts(0, 0, 0, 0) == count_answers(database.connection, session_id)
    assert 0 == newest_answer_id(database.connection, session_id)
    with database.write() as connection:
        insert_answer(connection, answer(session_id, 3, flagged=2))
        insert_answer(connection, answer(session_id, 4))
        insert_answer(connection, answer(session_id, 5, late=True, flagged=5))
    assert AnswerCounts(2, 7, 1, 2) == count_answers(database.connection, session_id)
    assert 2 == newest_answer_id(database.connection, session_id)


def request(session_id, first, count):
    """Return a request that sent these images."""
    return Request(
        session_id, 1.0, UTC_TEXT, "GET", "/image", 200, first, count, 10, 9000, 0.002, "10.0.0.2"
    )


def test_fetched_images_are_counted_once(database):
    """An image that was sent twice, alone or in an archive, counts once."""
    session_id, other = new_session(database), new_session(database, "bees")
    with database.write() as connection:
        requests = (
            request(session_id, 5, 1),
            request(session_id, 5, 1),
            request(session_id, 1, 100),
            request(session_id, None, 0),
            request(other, 300, 1),
        )
        insert_requests(connection, requests)
    assert 100 == count_fetched_images(database.connection, session_id)
    assert 1 == count_fetched_images(database.connection, other)
    assert [5, 5, 1, None] == [
        row.first_image for row in requests_of(database.connection, session_id)
    ]
    assert request(session_id, 5, 1) == requests_of(database.connection, session_id)[0]


@pytest.mark.parametrize("count", [0, 1, 99, 100, 377])
def test_however_many_requests_are_inserted_at_once(database, count):
    """Any number of rows, none included, arrives once, whole and in order."""
    session_id = new_session(database)
    requests = [request(session_id, number, 1) for number in range(1, count + 1)]
    with database.write() as connection:
        insert_requests(connection, requests)
    assert requests == requests_of(database.connection, session_id)
    assert count == count_fetched_images(database.connection, session_id)


def reading(**values):
    """Return a reading with every field set."""
    whole = Reading(
        monotonic_s=1000.25,
        utc=NOON,
        voltage_v=5.0001,
        current_a=0.1,
        power_w=0.5,
        energy_wh=1e-9,
        integration_s=7.0,
        state=IntegrationState.START,
        flags=frozenset({MeterFlag.OVER_RANGE, MeterFlag.AUTO_RANGE}),
        voltage_range_v=15.0,
        current_range_a=0.5,
        power_factor=0.98,
        frequency_hz=50.02,
        voltage_peak_v=7.1,
        current_peak_a=0.14,
        elements=(ElementValues(1, 0.3, 6e-10), ElementValues(3, 0.2, None)),
    )
    return replace(whole, **values)


def test_readings_are_read_back_whole(database):
    """Absent values keep their reasons; flags, ranges, peaks and elements come back."""
    session_id = new_session(database)
    lacking = reading(power_w=None, energy_wh=None, absent={"power_w": "over", "energy_wh": "over"})
    with database.write() as connection:
        insert_reading(connection, session_id, 0.25, reading(), "boot")
        insert_reading(connection, session_id, 1.25, lacking, "boot")
    assert [(0.25, reading()), (1.25, lacking)] == readings_of(database.connection, session_id)
    assert lacking == newest_reading(database.connection, session_id)
    assert newest_reading(database.connection, session_id + 1) is None


def test_the_course_of_the_power_never_runs_backwards(database):
    """A reading that was stored after a later one stands at its time, and is news all the same."""
    session_id = new_session(database)
    with database.write() as connection:
        for second in (19.5, 20.4, 20.3):
            insert_reading(connection, session_id, second, reading(), "boot")
    found = recent_power(database.connection, session_id, 0, 10)
    assert [(1, 19.5), (3, 20.3), (2, 20.4)] == [(one.reading_id, one.elapsed_s) for one in found]
    assert [3] == [one.reading_id for one in recent_power(database.connection, session_id, 2, 10)]
    assert [3, 2] == [one.reading_id for one in recent_power(database.connection, session_id, 0, 2)]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_reading_that_is_not_finite(database, value):
    """NaN is stored as missing, and infinity as infinity."""
    session_id = new_session(database)
    with database.write() as connection:
        insert_reading(connection, session_id, 0.0, reading(power_w=value), "boot")
    found = newest_reading(database.connection, session_id).power_w
    assert (None if value != value else value) == found


def test_the_reason_that_decides_comes_first():
    """An INVALID energy tells first why it is INVALID; equal reasons keep their order."""
    severities = ("VALID", "SUSPECT", "INVALID", "SUSPECT")
    found = [{"code": "", "severity": it, "text": f"{n} {it}"} for n, it in enumerate(severities)]
    detail = {"findings": found, "reasons": [one["text"] for one in found]}
    energy = EnergyRecord(1, 1, UTC_TEXT, None, None, "INVALID", detail)
    assert ["2 INVALID", "1 SUSPECT", "3 SUSPECT", "0 VALID"] == energy.reasons
    assert ["old"] == replace(energy, detail={"reasons": ["old"]}).reasons


def store_energy(database, session_id, energy_wh):
    """Store a judged energy."""
    with database.write() as connection:
        insert_energy(
            connection,
            session_id,
            utc=UTC_TEXT,
            energy_wh=energy_wh,
            uncertainty_wh=0.001,
            verdict="VALID",
            detail={"reasons": ["ä"]},
        )


def test_newest_energy_and_run_count(database):
    """Each new judgement or score adds a row, and the newest is shown."""
    session_id = new_session(database)
    assert energy_of(database.connection, session_id) is None
    assert newest_scoring_run(database.connection, session_id) is None
    assert newest_snapshot(database.connection, session_id) is None
    for energy_wh in (1.0, 0.1 + 0.2):
        store_energy(database, session_id, energy_wh)
    energy = energy_of(database.connection, session_id)
    assert (2, 0.1 + 0.2, "VALID", ["ä"]) == (
        energy.energy_id,
        energy.energy_wh,
        energy.verdict,
        energy.detail["reasons"],
    )
    runs = [ScoringRun(1, 1, 0.1, 0.1, {}), ScoringRun(2, 2, 1 / 3, None, {"ap": {"1": None}})]
    snapshots = [Snapshot(1, None, 0), Snapshot(9, 1 / 3, 7)]
    with database.write() as connection:
        for run, snapshot in zip(runs, snapshots, strict=True):
            insert_scoring_run(connection, session_id, at(90), run)
            insert_snapshot(connection, session_id, UTC_TEXT, snapshot)
    assert runs[1] == newest_scoring_run(database.connection, session_id)
    assert snapshots[1] == newest_snapshot(database.connection, session_id)


def test_notices_and_audit(database):
    """Notices come newest first for the console, and in order for the evidence."""
    session_id = new_session(database)
    with database.write() as connection:
        for number in range(25):
            insert_notice(connection, session_id, UTC_TEXT, "warning", f"notice {number}")
        insert_notice(connection, None, UTC_TEXT, "alarm", "the meter is lost")
        insert_audit(connection, at(0), "Kim", "void", session_id, "why")
    newest = recent_notices(database.connection)
    assert (20, "the meter is lost") == (len(newest), newest[0].text)
    own = notices_of(database.connection, session_id)
    assert [f"notice {n}" for n in range(25)] == [notice.text for notice in own]
    expected = {"utc": UTC_TEXT, "operator": "Kim", "role": "referee", "action": "void"}
    expected["detail"] = "why"
    assert [expected] == audit_of(database.connection, session_id)


def test_a_notice_is_read_back_with_its_subject(database):
    """Each notice says what it is about; one of 1.0 has no row that does."""
    session_id = new_session(database)
    with database.write() as connection:
        insert_one_row(connection, session_id, "of 1.0")
        insert_notice(connection, session_id, UTC_TEXT, "alarm", "gone", Subject(image_id=7))
        insert_notice(connection, session_id, UTC_TEXT, "info", "of no special thing")
        insert_notice(connection, None, UTC_TEXT, "alarm", "lost", Subject(lane="left"))
    own = [None, Subject(7), Subject()]
    assert own == [notice.subject for notice in notices_of(database.connection, session_id)]
    assert [Subject(7), Subject(lane="left")] == [
        notice.subject for notice in alarm_notices(database.connection)
    ]


def test_a_found_meter_is_read_back_as_it_was_found(database):
    """A serial number that looks like a sentence stays a serial number."""
    meter = Identity("", "a, b", "1, serial 2", "")
    told = StoredFinding("meter", "identity", "OK", "any words", "", "", UTC_TEXT, meter)
    with database.write() as connection:
        insert_finding(connection, told)
    assert [told] == newest_findings(database.connection)


def test_shows_are_read_back_in_order(database):
    """Shows keep their order; a failed one has no paint, and frames count over all sessions."""
    first, second = new_session(database, "ants"), new_session(database, "bees")
    assert 0 == last_frame(database.connection)
    failed = replace(show(first, 2, painted_s=None, outcome="hidden"), frame=None, announced_s=None)
    shows = [show(first, 3), failed, replace(show(second), frame=9)]
    with database.write() as connection:
        for one in shows:
            insert_show(connection, one)
    assert shows[:2] == shows_of(database.connection, first)
    assert shows[2:] == shows_of(database.connection, second)
    assert 9 == last_frame(database.connection)


@pytest.mark.parametrize("wrong", [{"painted_s": None}, {"outcome": "hidden"}, {"frame": None}])
def test_a_show_is_painted_or_is_not(database, wrong):
    """The schema refuses a paint without its time, a failure with one, and one without a frame."""
    session_id = new_session(database, "ants")
    with pytest.raises(sqlite3.IntegrityError), database.write() as connection:
        insert_show(connection, replace(show(session_id), **wrong))
