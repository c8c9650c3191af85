# SPDX-License-Identifier: Apache-2.0
"""A session's bundle alone gives the energy that was judged."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest

from power.energy.verdict import Verdict, finding_to_json, suspect
from power.meter import Identity, IntegrationState, MeterFlag, MeterSettings, Reading
from referee.core.instant import shifted
from referee.errors import InputError
from referee.service.evidence.bundle import write_bundle
from referee.service.evidence.encoding import json_bytes
from referee.service.evidence.rejudge import judge_bundle
from referee.service.results.session_energy import judge_session
from referee.store.readings import SessionMeter, insert_energy, insert_reading, insert_session_meter
from referee.store.sessions import create_session, load_session, record_event
from tests.support.packed_bundles import pack
from tests.support.season_bundles import write

NOON = datetime(2026, 6, 7, 12, tzinfo=UTC)
SECONDS = 20
POWER_W = 6.0
METER = Identity("YOKOGAWA", "WT310E", "C2QJ12345V", "F1.04")
FIXED = MeterSettings(SECONDS, 1.0, voltage_range_v=15.0, current_range_a=1.0)


def reading(second, state=IntegrationState.START, **changes):
    """Return a reading of a constant load of 12 V, at a second of the session."""
    integrated_s = min(second, SECONDS)
    usual = Reading(
        monotonic_s=float(second),
        utc=NOON + timedelta(seconds=second),
        voltage_v=12.0,
        current_a=POWER_W / 12,
        power_w=POWER_W,
        energy_wh=POWER_W * integrated_s / 3600,
        integration_s=float(integrated_s),
        state=state,
        voltage_range_v=15.0,
        current_range_a=1.0,
    )
    return replace(usual, **changes)


def whole_run():
    """Return the readings of a good run, from before its start to the confirmed end."""
    return [
        reading(0, IntegrationState.RESET),
        *(reading(second) for second in range(1, SECONDS)),
        *(reading(second, IntegrationState.TIMEUP) for second in (SECONDS + 1, SECONDS + 3)),
    ]


def with_changes(place, **changes):
    """Return the readings of a good run with one reading changed."""
    readings = whole_run()
    readings[place] = replace(readings[place], **changes)
    return readings


AUTO = replace(FIXED, voltage_range_v=None, current_range_a=None)
REBOOT = (suspect("rebooted", "The laptop was started anew."),)

RUNS = {
    # Each run: its readings, its settings, other findings, and the judge's verdict and codes.
    "good": (whole_run(), FIXED, (), Verdict.VALID, set()),
    "auto range": (
        [replace(row, flags=frozenset({MeterFlag.AUTO_RANGE})) for row in whole_run()],
        AUTO,
        (),
        Verdict.SUSPECT,
        {"auto_range"},
    ),
    "range switched": (
        with_changes(9, current_range_a=2.0),
        AUTO,
        (),
        Verdict.SUSPECT,
        {"auto_range", "range_switched"},
    ),
    "a number missing": (
        with_changes(9, power_w=None, absent={"power_w": "no data"}),
        FIXED,
        (),
        Verdict.SUSPECT,
        {"no_data"},
    ),
    "the laptop was started anew": (whole_run(), FIXED, REBOOT, Verdict.SUSPECT, {"rebooted"}),
    "a peak was cut for a moment": (
        with_changes(9, flags=frozenset({MeterFlag.CURRENT_PEAK_OVER})),
        FIXED,
        (),
        Verdict.INVALID,
        {"peak_over"},
    ),
    "over range for a moment": (
        with_changes(9, power_w=None, absent={"power_w": "over range"}),
        FIXED,
        (),
        Verdict.INVALID,
        {"over_range", "no_data"},
    ),
    "another range for a moment": (
        with_changes(9, voltage_range_v=30.0),
        FIXED,
        (),
        Verdict.INVALID,
        {"range_changed"},
    ),
    "no meter": ([], FIXED, (), Verdict.INVALID, {"no_readings"}),
}


@pytest.fixture
def judged(contest, tmp_path):
    """Return a function that stores and judges a run, and returns the result and the bundle."""

    def judge(readings, settings=FIXED, found=()):
        number = store(contest, readings, settings)
        session = load_session(contest.database.connection, number)
        # This desk's settings and meter differ: the ones stored with the session must count.
        result, detail = judge_session(contest, session, MeterSettings(9), None, found)
        with contest.database.write() as connection:
            insert_energy(
                connection,
                number,
                utc="",
                energy_wh=result.energy_wh,
                uncertainty_wh=result.uncertainty_wh,
                verdict=result.verdict.value,
                detail=detail,
            )
        bundle = tmp_path / "bundle.zip"
        write_bundle(contest, number, bundle)
        return result, bundle

    return judge


def store(contest, readings, settings):
    """Store an ended session with these readings, on a clock other than the session's."""
    now = contest.clock.now()
    with contest.database.write() as connection:
        number = create_session(
            connection, team="ants", length_s=float(SECONDS), order_seed=None, now=now
        )
        end = shifted(now, SECONDS)
        for kind, at, cause in (
            ("armed", now, None),
            ("started", now, None),
            ("ended", end, "deadline"),
        ):
            record_event(connection, number, kind, at, actor="x", cause=cause)
        insert_session_meter(connection, number, "", SessionMeter(False, METER, settings))
        for row in readings:
            late = replace(row, monotonic_s=row.monotonic_s + 7000)
            insert_reading(connection, number, row.monotonic_s, late, "boot")
    return number


@pytest.mark.parametrize("name", RUNS)
def test_energy_verdict_and_findings_come_from_the_bundle_alone(judged, name):
    """The zip holds everything that the verdict rests on, momentary flags included."""
    readings, settings, found, verdict, codes = RUNS[name]
    result, bundle = judged(readings, settings, found)
    again = judge_bundle(bundle)
    assert result == again
    assert verdict is again.verdict
    assert codes <= {finding.code for finding in again.findings}
    with zipfile.ZipFile(bundle) as members:
        told = json.loads(members.read("verdict.json"))
    assert (told["verdict"], told["energy_wh"]) == (again.verdict.value, again.energy_wh)
    assert told["uncertainty_wh"] == again.uncertainty_wh
    assert told["findings"] == [finding_to_json(finding) for finding in again.findings]


def test_readings_that_were_stored_in_another_order(judged):
    """A reading that was stored late still stands at its own second."""
    readings = whole_run()
    result, bundle = judged(readings)
    with zipfile.ZipFile(bundle) as members:
        everything = {name: members.read(name) for name in members.namelist()}
    lines = everything["readings.jsonl"].splitlines(keepends=True)
    everything["readings.jsonl"] = b"".join([lines[5], *lines[:5], *lines[6:]])
    told = json.loads(everything["manifest.json"])
    told["sha256"]["readings.jsonl"] = sha256(everything["readings.jsonl"]).hexdigest()
    del told["envelope"]
    pack(bundle, everything | {"manifest.json": json_bytes(told)})
    assert result == judge_bundle(bundle)


def test_a_session_without_an_energy_is_not_judged(contest, tmp_path):
    """A session without an energy is refused, with the missing facts."""
    number = store(contest, whole_run(), FIXED)
    write_bundle(contest, number, tmp_path / "bundle.zip")
    with pytest.raises(InputError, match="the run had not ended yet"):
        judge_bundle(tmp_path / "bundle.zip")


def test_a_session_without_a_recorded_meter_is_not_judged(contest, tmp_path):
    """A session without a recorded meter is refused rather than guessed at."""
    with contest.database.write() as connection:
        number = create_session(
            connection, team="ants", length_s=1.0, order_seed=None, now=contest.clock.now()
        )
    write_bundle(contest, number, tmp_path / "bundle.zip")
    with pytest.raises(InputError, match="does not say what measured"):
        judge_bundle(tmp_path / "bundle.zip")


@pytest.mark.parametrize("content", [b"", b"not a zip", None])
def test_what_is_no_bundle_is_named(tmp_path, content):
    """A missing file or a file that is no bundle is an error that names it."""
    path = tmp_path / "odd.zip"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match="odd.zip"):
        judge_bundle(path)


@pytest.mark.parametrize(
    ("run", "line"),
    [
        (b"[]", b"{}"),
        (b'{"facts": {}}', b"{}"),
        (b'{"facts": 5}', b"[]"),
        (b"{", b""),
        (b"null", b"null"),
    ],
)
def test_damaged_members_are_refused(tmp_path, run, line):
    """A malformed member is refused in one sentence, without a traceback."""
    path = tmp_path / "odd.zip"
    write(path, {"run.json": run, "readings.jsonl": line})
    with pytest.raises(InputError, match="odd.zip"):
        judge_bundle(path)
