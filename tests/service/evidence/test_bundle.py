# SPDX-License-Identifier: Apache-2.0
"""The evidence bundle is whole, hashed, and sufficient to compute the score again."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from power.energy.judge import RunFacts, facts_from_json, facts_to_json
from power.meter import Identity, IntegrationState, MeterFlag, MeterSettings, Reading
from power.values import reading_from_json
from referee.core.detections import Detections, pack
from referee.core.instant import shifted
from referee.core.order import to_manifest_ids
from referee.errors import InputError, Refusal
from referee.formats.answers import parse_csv
from referee.scoring.ilsvrc import evaluate
from referee.service.evidence.bundle import MEMBERS, write_bundle
from referee.service.evidence.bundle_file import OPTIONAL
from referee.service.evidence.facts import link_behind
from referee.service.results.final_score import score_session
from referee.service.setup.contest_truth import read_contest_truth
from referee.service.setup.session_images import order_of
from referee.store.answers import Answer, insert_answer
from referee.store.notices import insert_audit, insert_notice
from referee.store.readings import (
    SessionMeter,
    energy_of,
    insert_energy,
    insert_reading,
    insert_session_meter,
)
from referee.store.requests import Request, insert_requests
from referee.store.sessions import create_session, load_session, record_event

ROWS = [
    (1, 1, 0.1 + 0.2, 1.0, 2.0, 10.0, 11.0),
    (2, 1, math.nan, -0.0, 1e-300, math.inf, 5e300),
    (2**62 + 1, -7, 1.0, 1 / 3, 2.0, 3.0, 4.0),
]
DESIGN = set(
    "session.json config.toml images.csv detections.csv answers.csv requests.csv "
    "power.csv meter.jsonl score.json verdict.json".split()
)


@pytest.fixture
def session(contest, meter):
    """Return an ended session with answers, late ones, requests, readings and notices."""
    now = contest.clock.now()
    with contest.database.write() as connection:
        session_id = create_session(
            connection, team="ants, é", length_s=600.0, order_seed=2**64 - 1, now=now
        )
        for kind in ("armed", "started"):
            record_event(connection, session_id, kind, now, actor="x")
        for rows, late in ((ROWS[:2], False), (ROWS[:1], True), (ROWS[2:], False), ([], False)):
            detections = Detections.from_rows(rows)
            row = Answer(
                session_id, 1.25, "then", late, "csv", "::1", len(rows), 0, pack(detections)
            )
            insert_answer(connection, row)
        sent = Request(session_id, 1.0, "then", "GET", "/image", 200, 3, 1, 0, 9, 0.5, "::1")
        insert_requests(connection, [sent])
        insert_reading(connection, session_id, 0.5, meter.read(), "boot")
        insert_notice(connection, session_id, "then", "alarm", "a notice")
        insert_audit(connection, contest.clock.now(), "Kim", "arm", session_id)
        contest.clock.advance(100)
        record_event(
            connection, session_id, "ended", contest.clock.now(), actor="x", cause="logout"
        )
    return load_session(contest.database.connection, session_id)


def bundle(contest, session, tmp_path):
    """Write the bundle and return its members' contents by name."""
    path = tmp_path / "evidence.zip"
    write_bundle(contest, session.session_id, path)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def table(content):
    """Return the rows of a CSV member as objects."""
    return list(csv.DictReader(io.StringIO(content.decode("utf-8"), newline="")))


def score(contest, session):
    """Judge an energy and score the session."""
    with contest.database.write() as connection:
        insert_energy(
            connection,
            session.session_id,
            utc="",
            energy_wh=0.5,
            uncertainty_wh=None,
            verdict="SUSPECT",
            detail={"reasons": ["because"]},
        )
    energy = energy_of(contest.database.connection, session.session_id)
    return score_session(contest, read_contest_truth(contest), session, energy)


def test_members_and_hashes(contest, session, tmp_path):
    """Every member is there, and the manifest has the SHA-256 of each of the others."""
    members = bundle(contest, session, tmp_path)
    assert {"manifest.json", *MEMBERS} == set(members)
    assert set() == DESIGN - set(members)
    digests = json.loads(members["manifest.json"])["sha256"]
    assert set(MEMBERS) == set(digests)
    for name, digest in digests.items():
        assert hashlib.sha256(members[name]).hexdigest() == digest
    assert [] == list(tmp_path.glob("*.part"))


def test_the_same_session_gives_the_same_bytes(contest, session, tmp_path):
    """Two bundles are equal to the last byte, whenever and in whatever order they were written."""
    score(contest, session)
    first, second = tmp_path / "first.zip", tmp_path / "second.zip"
    write_bundle(contest, session.session_id, first)
    contest.clock.advance(3600)
    write_bundle(contest, session.session_id, second)
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        entries = archive.infolist()
    assert sorted(entry.filename for entry in entries) == [entry.filename for entry in entries]
    assert {((1980, 1, 1, 0, 0, 0), 0o100644 << 16)} == {
        (entry.date_time, entry.external_attr) for entry in entries
    }
    stored = {entry.filename for entry in entries if entry.compress_type == zipfile.ZIP_STORED}
    assert {"detections.csv", "late_detections.csv"} == stored


def test_a_changed_energy_is_not_exported(contest, session, tmp_path):
    """Whoever drops the triggers and changes a stored energy gets no bundle; a warned one does."""
    score(contest, session)
    connection = contest.database.connection
    connection.execute("drop trigger energies_no_update")
    connection.execute("update energies set energy_wh = 0.25")
    path, told = tmp_path / "evidence.zip", []
    with pytest.raises(Refusal, match="energies 1 is not the row that was stored here"):
        write_bundle(contest, session.session_id, path)
    assert [] == list(tmp_path.glob("evidence*"))
    write_bundle(contest, session.session_id, path, told.append)
    assert 1 == len(told)


def test_facts_hold_each_row_and_its_link(contest, session, tmp_path):
    """facts.jsonl has every stored row of the session; each line's link follows from the row."""
    score(contest, session)
    members = bundle(contest, session, tmp_path)
    lines = [json.loads(line) for line in members["facts.jsonl"].splitlines()]
    before = b""
    for line in lines:
        before = link_behind(line, before)
        assert before.hex() == line["strand"]
    assert ["sessions", "teams", "materials"] == [line["table"] for line in lines[:3]]
    assert members["config.toml"].decode() == lines[2]["row"]["configuration"]
    assert {"answers", "requests", "readings", "energies", "scoring_runs", "audit"} < {
        line["table"] for line in lines
    }


def test_a_bundle_that_cannot_be_written_leaves_nothing(contest, session, tmp_path):
    """A folder in the file's place is one clear sentence, and no half file stays behind."""
    (tmp_path / "evidence.zip").mkdir()
    with pytest.raises(InputError, match="evidence.zip cannot be written: Is a directory"):
        write_bundle(contest, session.session_id, tmp_path / "evidence.zip")
    with pytest.raises(InputError, match="cannot be written: No such file"):
        write_bundle(contest, session.session_id, tmp_path / "none" / "evidence.zip")
    assert [] == list(tmp_path.glob("*.part"))


def test_every_member_is_documented():
    """The bundle's documentation says what each member holds."""
    page = (Path(__file__).parents[3] / "docs/evidence.md").read_text(encoding="utf-8")
    assert [] == [
        name for name in (*MEMBERS, *OPTIONAL, "manifest.json") if f"`{name}`" not in page
    ]


def test_written_before_anything_is_known(contest, tmp_path):
    """A session that never ran has a bundle, with null for what is unknown."""
    with contest.database.write() as connection:
        session_id = create_session(
            connection, team="ants", length_s=1.0, order_seed=None, now=contest.clock.now()
        )
    session = load_session(contest.database.connection, session_id)
    members = bundle(contest, session, tmp_path)
    assert json.loads(members["score.json"]) is None
    assert {"verdict": None, "reasons": []} == json.loads(members["verdict.json"])
    assert "READY" == json.loads(members["session.json"])["state"]
    assert b"" == members["detections.csv"] == members["meter.jsonl"]


def test_detections_can_be_scored_again(contest, session, tmp_path):
    """The bundle holds the posted detections bit for bit, and they give the same score."""
    run = score(contest, session)
    members = bundle(contest, session, tmp_path)
    again = parse_csv(members["detections.csv"])
    assert pack(Detections.from_rows(ROWS)) == pack(again)
    order = order_of(contest.image_count, session.order_seed)
    known = again.with_image_ids(to_manifest_ids(again.image_id, order))
    assert run.accuracy == evaluate(read_contest_truth(contest), known).mean_ap
    assert run.detail == json.loads(members["score.json"])
    assert [ROWS[0][0]] == parse_csv(members["late_detections.csv"]).image_id.tolist()


def test_tables(contest, session, tmp_path):
    """Each of answers, requests, images and readings has its table."""
    members = bundle(contest, session, tmp_path)
    answers = table(members["answers.csv"])
    assert ["2", "1", "1", "0"] == [row["detections"] for row in answers]
    assert ["0", "1", "0", "0"] == [row["late"] for row in answers]
    (request,) = table(members["requests.csv"])
    assert ("/image", "3") == (request["path"], request["first_image"])
    images = table(members["images.csv"])
    order = order_of(contest.image_count, session.order_seed).tolist()
    assert order == [int(row["image_id"]) for row in images]
    assert ["1", "2", "3", "4"] == [row["number"] for row in images]
    assert contest.images[order[0] - 1].sha256 == images[0]["sha256"]
    old = "elapsed_s,utc,voltage_v,current_a,power_w,energy_wh,integration_s,state"
    new = "power_factor,frequency_hz,voltage_peak_v,current_peak_a"
    lines = members["power.csv"].decode().splitlines()
    assert f"{old},{new}" == lines[0]
    assert lines[1].startswith("0.5,2026-06-07T12:00:00+00:00,5.0,1.0,5.0,0.0,0.0,RESET")


def test_readings_are_whole(contest, session, tmp_path):
    """readings.jsonl has each reading with its ranges, flags and missing numbers."""
    taken = Reading(
        monotonic_s=5001.5,
        utc=datetime(2026, 6, 7, 12, 0, 1, tzinfo=UTC),
        voltage_v=None,
        current_a=0.5,
        power_w=6.0,
        energy_wh=1 / 3,
        integration_s=1.0,
        state=IntegrationState.START,
        absent={"voltage_v": "over range"},
        flags=frozenset({MeterFlag.OVER_RANGE}),
        voltage_range_v=15.0,
        current_range_a=1.0,
    )
    with contest.database.write() as connection:
        insert_reading(connection, session.session_id, 1.5, taken, "boot")
    lines = bundle(contest, session, tmp_path)["readings.jsonl"].splitlines()
    told = [json.loads(line) for line in lines]
    assert [0.5, 1.5] == [line.pop("elapsed_s") for line in told]
    assert taken == reading_from_json(told[1])


@pytest.mark.parametrize("emulated", [False, True])
def test_what_measured_is_told(contest, session, tmp_path, emulated):
    """run.json has the meter's identity and settings, and names an emulated meter as such."""
    settings = MeterSettings(600, 0.5, voltage_range_v=15.0, current_range_a=None)
    identity = Identity("YOKOGAWA", "WT310E", "C2QJ12345V", "F1.04")
    with contest.database.write() as connection:
        meter = SessionMeter(emulated, identity, settings)
        insert_session_meter(connection, session.session_id, "then", meter)
    members = bundle(contest, session, tmp_path)
    run = json.loads(members["run.json"])
    facts = facts_from_json(run["facts"])
    assert (identity, settings, None) == (facts.identity, facts.settings, facts.session_s)
    assert emulated is run["emulated"] is json.loads(members["session.json"])["emulated"]


def test_a_session_without_a_recorded_meter(contest, session, tmp_path):
    """A session without a recorded meter has null in run.json."""
    members = bundle(contest, session, tmp_path)
    assert {"emulated": None, "facts": None} == json.loads(members["run.json"])
    assert json.loads(members["session.json"])["emulated"] is None


def test_facts_of_the_run_stand_in_one_member(contest, session, tmp_path):
    """run.json holds the input of the verdict; verdict.json holds the verdict, with its codes."""
    facts = facts_to_json(RunFacts(None, MeterSettings(600), session_s=100.0))
    found = [{"code": "no_readings", "severity": "INVALID", "text": "The meter was never read."}]
    with contest.database.write() as connection:
        insert_energy(
            connection,
            session.session_id,
            utc="",
            energy_wh=None,
            uncertainty_wh=None,
            verdict="INVALID",
            detail={"reasons": ["x"], "findings": found, "facts": facts, "emulated": False},
        )
    members = bundle(contest, session, tmp_path)
    verdict = json.loads(members["verdict.json"])
    assert facts == json.loads(members["run.json"])["facts"]
    assert (found, False, None) == (verdict["findings"], "facts" in verdict, verdict["energy_wh"])


def test_session_and_verdict(contest, session, tmp_path):
    """session.json and verdict.json tell moments, seed, notices, audit, inputs and energy."""
    score(contest, session)
    members = bundle(contest, session, tmp_path)
    told = json.loads(members["session.json"])
    assert ("ants, é", "SCORED", "logout", str(2**64 - 1)) == (
        load_session(contest.database.connection, 1).team,
        told["state"],
        told["end_cause"],
        told["order_seed"],
    )
    assert session.facts.started.monotonic_s == told["moments"]["started"]["monotonic_s"]
    assert told["moments"]["voided"] is None
    assert ["a notice"] == [notice["text"] for notice in told["notices"]]
    assert ["arm"] == [row["action"] for row in told["audit"]]
    truth = (contest.config.images.ground_truth).read_bytes()
    assert hashlib.sha256(truth).hexdigest() == told["inputs"]["ground_truth"]["sha256"]
    verdict = json.loads(members["verdict.json"])
    assert ("SUSPECT", 0.5, ["because"]) == (
        verdict["verdict"],
        verdict["energy_wh"],
        verdict["reasons"],
    )
    assert contest.config.path.read_bytes() == members["config.toml"]


def test_no_secret_leaves_the_referee(contest, session, tmp_path):
    """A bundle holds neither a key nor a token."""
    everything = b"".join(bundle(contest, session, tmp_path).values())
    for key in (contest.secrets.token_key, contest.secrets.console_key):
        assert key.hex().encode() not in everything


def test_meter_log_around_the_session(contest, session, tmp_path):
    """meter.jsonl has whole lines, from before the arming to after the end."""
    armed, ended = session.facts.armed, session.facts.ended
    times = [shifted(armed, -60), armed, ended, shifted(ended, 3600)]
    lines = [json.dumps({"utc": at.utc.isoformat(), "n": n}) for n, at in enumerate(times)]
    contest.config.wire_log_of(1).write_text("\n".join([*lines, '{"utc": "20', "[]", "5", ""]))
    kept = bundle(contest, session, tmp_path)["meter.jsonl"].decode().splitlines()
    assert [1, 2] == [json.loads(line)["n"] for line in kept]


def test_meter_log_of_a_clock_that_is_set(contest, session, tmp_path):
    """Lines of the session stay in its bundle, and others out, whatever the wall clock says."""
    armed = session.facts.armed
    ends_s = session.facts.ended.monotonic_s - armed.monotonic_s

    def line(at_s, set_by_s):
        at = shifted(armed, at_s)
        told = {"utc": shifted(at, set_by_s).utc.isoformat(), "monotonic_s": at.monotonic_s}
        return json.dumps(told | {"n": at_s})

    before, begin = [line(-60, 0)], [line(0, 0), line(1, 0)]
    then, after = [line(2, -86400), line(ends_s, 86400)], [line(ends_s + 200, -ends_s)]
    log = contest.config.wire_log_of(1)
    log.write_text("\n".join([*before, *begin, *then, *after, ""]))
    kept = bundle(contest, session, tmp_path)["meter.jsonl"].decode().splitlines()
    assert [*begin, *then] == kept


def test_meter_log_begins_with_the_newest_identity(contest, session, tmp_path):
    """How the link was opened hours before stands first, with late replies, and nothing else.

    A reply to a question before the range is left out: it would pass for the reply to `*IDN?`.
    """
    armed = session.facts.armed

    def line(before_s, event, text):
        utc = shifted(armed, -before_s).utc.isoformat()
        return json.dumps({"utc": utc, "event": event, "text": text})

    old = [line(9000, "open", "x"), line(9000, "sent", "*IDN?"), line(9000, "received", "old")]
    opening = [line(7200, "open", "x"), line(7200, "sent", ""), line(7200, "sent", "*IDN?")]
    opening += [line(7200, "received", "late"), line(7200, "received", "YOKOGAWA,WT310,1,F1")]
    rest = [line(7199, "sent", ":RATE?"), line(7199, "received", "0.1"), line(60, "sent", "*IDN?")]
    rest += [line(31, "sent", ":STATus:ERRor?"), line(29, "received", "0")]
    session_lines = [line(1, "sent", ":RATE?"), line(0, "received", "0.1")]
    log = contest.config.wire_log_of(1)
    log.write_text("\n".join([*old, *opening, *rest, *session_lines, ""]))
    kept = bundle(contest, session, tmp_path)["meter.jsonl"].decode().splitlines()
    assert [*opening, *session_lines] == kept


def test_unknown_session(contest, tmp_path):
    """A session number that does not exist leaves no file."""
    with pytest.raises(Refusal):
        write_bundle(contest, 9, tmp_path / "evidence.zip")
    assert not list(tmp_path.glob("*.zip*"))


def test_written_again_replaces_the_file(contest, session, tmp_path):
    """A later bundle replaces the file and adds the newer facts."""
    assert json.loads(bundle(contest, session, tmp_path)["score.json"]) is None
    run = score(contest, session)
    assert run.score == json.loads(bundle(contest, session, tmp_path)["score.json"])["score"]
