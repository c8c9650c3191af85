# SPDX-License-Identifier: Apache-2.0
"""The schema itself enforces the rules, for any program that writes.

Its source is SQL, with one trigger for each rule.
"""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest

from power.meter import Identity
from referee.core.conditions import Difference
from referee.formats.answer_formats import FORM, all_formats
from referee.store.annotations import insert_annotation
from referee.store.answers import insert_answer, insert_empty_answer
from referee.store.condition_reviews import insert_condition_review
from referee.store.finals import insert_finalization, insert_review
from referee.store.images import (
    ImageEntry,
    InputFile,
    Manifest,
    keep_blacklist,
    load_manifest,
    note_material,
    replace_manifest,
)
from referee.store.inputs_in_force import insert_proposed_inputs
from referee.store.notices import Subject, insert_audit, insert_notice
from referee.store.operators import insert_login, insert_logout, insert_operator_change
from referee.store.preflight import (
    StoredFinding,
    StoredOverride,
    insert_finding,
    insert_override,
    insert_override_end,
)
from referee.store.proposals import (
    ProposalEnd,
    ProposedScore,
    insert_decided_ranks,
    insert_proposal,
    insert_proposal_end,
)
from referee.store.publishing import (
    Break,
    insert_break,
    insert_freeze,
    insert_frozen_publication,
)
from referee.store.readings import insert_energy
from referee.store.requests import Request, insert_refused_answers, insert_requests
from referee.store.schema import NO_FACTS
from referee.store.scores import ScoringRun, Snapshot, insert_scoring_run, insert_snapshot
from referee.store.session_addresses import insert_session_address
from referee.store.session_clients import insert_session_clients
from referee.store.shows import insert_show
from referee.store.teams import (
    Registration,
    ensure_team,
    insert_order,
    insert_registration,
    insert_rename,
)
from referee.store.unused_fields import insert_unused_fields
from tests.store.conftest import answer, at, new_session, show
from tests.support.ovic_contests import put_entry

UTC_TEXT = "2026-06-07T12:00:00+00:00"
READING = (
    "insert into readings (session_id, elapsed_s, monotonic_s, utc, boot_id, state, absent, flags)"
    " values (1, 0, 0, '', '', 'START', '{}', '[]')"
)
NOTICE_OF_1_0 = (
    f"insert into notices (session_id, utc, level, text) values (1, '{UTC_TEXT}', 'info', 'hello')"
)
METER = "insert into session_meters (session_id, utc, emulated, settings) values (1, '', 1, '{}')"

FACTS = {
    "sessions": "session_id",
    "session_events": "event_id",
    "answers": "answer_id",
    "fetched_images": "number",
    "requests": "request_id",
    "session_addresses": "seen_id",
    "session_clients": "client_id",
    "refused_answers": "refused_id",
    "unused_fields": "field_id",
    "empty_answers": "empty_id",
    "readings": "reading_id",
    "session_meters": "emulated",
    "energies": "energy_id",
    "score_snapshots": "snapshot_id",
    "scoring_runs": "run_id",
    "shows": "show_id",
    "notices": "notice_id",
    "notice_subjects": "notice_id",
    "audit": "audit_id",
    "teams": "team_id",
    "registrations": "registration_id",
    "team_lanes": "team_lane_id",
    "team_renames": "rename_id",
    "team_logins": "team_login_id",
    "running_orders": "order_id",
    "reviews": "review_id",
    "session_marks": "mark_id",
    "extra_times": "extra_id",
    "proposals": "proposal_id",
    "proposed_inputs": "path",
    "condition_reviews": "condition_review_id",
    "decided_ranks": "old_rank",
    "proposed_scores": "accuracy",
    "proposal_skips": "reason",
    "proposal_ends": "proposal_id",
    "finalizations": "finalization_id",
    "check_findings": "finding_id",
    "found_meters": "finding_id",
    "check_overrides": "override_id",
    "check_override_ends": "override_id",
    "operator_changes": "change_id",
    "operator_logins": "login_id",
    "operator_logouts": "login_id",
    "freezes": "freeze_id",
    "breaks": "break_id",
    "frozen_publications": "publication",
    "public_changes": "nonce",
    "nonces": "row_id",
    "materials": "material_id",
    "blacklists": "blacklist_id",
    "chain": "link_id",
    "ovic_entries": "entry_id",
    "ovic_events": "event_id",
    "migrations": "name",
    "answer_formats": "name",
}


@pytest.fixture
def filled(database):
    """Return a database with at least one row in every table of facts."""
    with database.write() as connection:
        note_material(connection, "[contest]")
        keep_blacklist(connection, b"2,1\n")
    session_id = new_session(database, "ants", "armed", "started", "ended")
    waiting = new_session(database, "crabs")
    with database.write() as connection:
        insert_answer(connection, answer(session_id))
        sent = Request(session_id, 1.0, UTC_TEXT, "GET", "/image", 200, 1, 1, 0, 9, 0.1, "::1")
        insert_requests(connection, [sent])
        insert_refused_answers(connection, [(session_id, "Nothing was stored.")])
        connection.execute(READING)
        connection.execute(METER)
        insert_energy(
            connection,
            session_id,
            utc=UTC_TEXT,
            energy_wh=1.0,
            uncertainty_wh=None,
            verdict="VALID",
            detail={"reasons": []},
        )
        insert_snapshot(connection, session_id, UTC_TEXT, Snapshot(1, 0.5, 2))
        insert_scoring_run(connection, session_id, at(9), ScoringRun(1, 1, 0.5, 0.5, {}))
        connection.execute(NOTICE_OF_1_0)
        insert_show(connection, show(session_id))
        insert_audit(connection, at(0), "x", "arm", session_id)
        _fill_event(connection, session_id, waiting)
    put_entry(database, "validating")
    # Tables of later referees come last: the links of the rows above are known for ever.
    with database.write() as connection:
        insert_session_address(connection, session_id, "192.0.2.7", UTC_TEXT)
        insert_break(connection, UTC_TEXT, "x", Break("Lunch", UTC_TEXT))
        insert_unused_fields(connection, [(session_id, [("xmin[]", "brackets")])])
        insert_notice(connection, session_id, UTC_TEXT, "alarm", "gone", Subject(image_id=1))
        found = Identity("YOKOGAWA", "WT310E", "C1", "F1")
        told = StoredFinding("meter", "identity", "OK", "", "", "", UTC_TEXT, found)
        insert_finding(connection, told)
        insert_proposed_inputs(connection, 1, {"ground_truth": InputFile("new.json", "0" * 64)})
        longer = Difference("length_s", 120.0, 60.0)
        insert_condition_review(connection, session_id, [longer], at(0), "x", "no time")
        insert_empty_answer(connection, session_id, 1, [7])
        insert_decided_ranks(connection, 1, {session_id: (2, 1)})
        insert_session_clients(connection, [(session_id, "curl/8", UTC_TEXT)])
    return database


def _fill_event(connection, session_id, not_over):
    """Put a row into every table around the sessions."""
    team = ensure_team(connection, "bees", UTC_TEXT)
    registration = Registration(lane="left")
    insert_registration(connection, team, "registered", registration, operator="x", utc=UTC_TEXT)
    insert_rename(connection, team, "wasps", operator="x", utc=UTC_TEXT)
    insert_order(connection, [team], seed="noon", reason="", operator="x", at=at(0))
    insert_annotation(connection, session_id, "seen", at(0), operator="x")
    connection.execute(
        "insert into extra_times (session_id, seconds, reason, operator, utc)"
        " values (:session, 60, 'late', 'x', '')",
        {"session": not_over},
    )
    insert_review(connection, 1, at(0), "x", "looked at the curve")
    proposed = ProposedScore(session_id, 1, 1, 1, 0.4, 0.4, {}, None)
    number = insert_proposal(
        *(connection, at(0), "x", "new truth"),
        chosen={},
        inputs={},
        scores=[proposed],
        skips={session_id: "void"},
    )
    insert_proposal_end(connection, number, ProposalEnd("applied", "agreed", "x", UTC_TEXT))
    insert_finalization(connection, at(0), ["x"], {})
    insert_finding(connection, StoredFinding("meter", "clock", "OK", "", "", "", UTC_TEXT))
    override = StoredOverride(0, "meter", "clock", "", "2026-06-07", "why", "x", UTC_TEXT)
    insert_override_end(connection, insert_override(connection, override), "why", "x", UTC_TEXT)
    change = ("added", "Kim", "operator", "hash")
    insert_operator_change(connection, *change, actor="x", utc=UTC_TEXT)
    insert_logout(connection, insert_login(connection, 1, "::1", UTC_TEXT), UTC_TEXT)
    insert_frozen_publication(connection, insert_freeze(connection, at(0), "frozen", "x"), "{}")


def test_every_table_is_a_fact_or_known_not_to_be(database):
    """Every table is listed as a fact or as an exception."""
    rows = database.connection.execute("select name from sqlite_master where type = 'table'")
    assert FACTS.keys() | NO_FACTS == {row[0] for row in rows if row[0] != "sqlite_sequence"}


@pytest.mark.parametrize("table", FACTS)
def test_facts_are_never_changed(filled, table):
    """No row of a fact can be updated or deleted."""
    before = [tuple(row) for row in filled.connection.execute(f"select * from {table}")]
    assert before
    key = FACTS[table]
    for statement in (
        f"update {table} set {key} = {key}",
        f"delete from {table}",
        f"update {table} set {key} = 1",
    ):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"), filled.write() as link:
            link.execute(statement)
    after = [tuple(row) for row in filled.connection.execute(f"select * from {table}")]
    assert before == after


@pytest.mark.parametrize(
    "table",
    "answers refused_answers unused_fields empty_answers notice_subjects "
    "session_addresses session_clients readings scoring_runs energies session_meters shows "
    "registrations reviews proposals proposed_scores proposal_ends proposed_inputs "
    "condition_reviews decided_ranks ovic_entries ovic_events blacklists teams "
    "migrations".split(),
)
def test_facts_are_never_replaced(filled, table):
    """An insert under an existing number is refused."""
    with pytest.raises(sqlite3.IntegrityError), filled.write() as connection:
        connection.execute(f"insert into {table} select * from {table}")


def insert_raw_answer(connection, **values):
    """Insert an answer without the code that packs it."""
    row = {"late": 0, "form": "form", "row_count": 2, "flagged": 0, "blob": b"\0" * 112} | values
    connection.execute(
        "insert into answers (session_id, elapsed_s, utc, late, format, address, row_count,"
        " flagged_count, content) values (1, 0, '', :late, :form, '', :row_count, :flagged,"
        " :blob)",
        row,
    )


@pytest.mark.parametrize(
    "values",
    [
        {"row_count": -1},
        {"flagged": 3},
        {"flagged": -1},
        {"late": 2},
        {"form": "xml"},
        {"blob": "text"},
    ],
)
def test_answers_that_cannot_be(database, values):
    """The schema refuses impossible counts, flags, formats and contents."""
    new_session(database)
    with pytest.raises(sqlite3.IntegrityError), database.write() as connection:
        insert_raw_answer(connection, **values)


def test_answers_of_every_format_are_taken(database):
    """The migrations name exactly the formats that the server takes."""
    rows = database.connection.execute("select name from answer_formats")
    names = [FORM, *(one.name for one in all_formats())]
    assert sorted(names) == sorted(row[0] for row in rows)
    new_session(database)
    with database.write() as connection:
        for name in names:
            insert_raw_answer(connection, form=name)


def test_answer_edges_are_taken(database):
    """An answer may have no rows, or only flagged rows."""
    new_session(database)
    with database.write() as connection:
        insert_raw_answer(connection, row_count=0, blob=b"")
        insert_raw_answer(connection, flagged=2)
    assert 2 == database.connection.execute("select count(*) from answers").fetchone()[0]


def test_facts_need_their_session(database):
    """A fact of a missing session is refused."""
    with pytest.raises(sqlite3.IntegrityError), database.write() as connection:
        insert_raw_answer(connection)


@pytest.mark.parametrize(
    ("verdict", "energy_wh", "allowed"),
    [
        ("VALID", 1.0, True),
        ("SUSPECT", 1.0, True),
        ("INVALID", 1.0, True),
        ("INVALID", None, True),
        ("VALID", None, False),
        ("SUSPECT", None, False),
        ("FINE", 1.0, False),
    ],
)
def test_a_good_verdict_has_an_energy(database, verdict, energy_wh, allowed):
    """Only an INVALID energy may be missing, and no fourth verdict exists."""
    session_id = new_session(database)

    def store():
        with database.write() as connection:
            insert_energy(
                connection,
                session_id,
                utc=UTC_TEXT,
                energy_wh=energy_wh,
                uncertainty_wh=None,
                verdict=verdict,
                detail={"reasons": []},
            )

    if allowed:
        store()
    else:
        with pytest.raises(sqlite3.IntegrityError):
            store()


def test_not_a_number_is_never_stored_as_detail(database):
    """NaN in an energy's detail is an error, since JSON has no NaN."""
    session_id = new_session(database)
    with pytest.raises(ValueError, match="JSON"), database.write() as connection:
        insert_energy(
            connection,
            session_id,
            utc=UTC_TEXT,
            energy_wh=1.0,
            uncertainty_wh=None,
            verdict="VALID",
            detail={"cross_check_wh": float("nan")},
        )
    assert 0 == database.connection.execute("select count(*) from energies").fetchone()[0]


IMAGE = ImageEntry(1, 5, "/x/1.jpg", "image/jpeg", 10, 0, "0" * 64, 4, 3)


def test_manifest_is_replaced_whole(database):
    """A new manifest replaces the old one whole."""
    first = Manifest((IMAGE,), {1: "cat"}, {"ground_truth": InputFile("/x", "1" * 64)})
    with database.write() as connection:
        replace_manifest(connection, first)
        replace_manifest(connection, Manifest((), {2: "dog"}, {}))
    counts = [
        database.connection.execute(f"select count(*) from {table}").fetchone()[0]
        for table in ("images", "classes", "inputs")
    ]
    assert [0, 1, 0] == counts


MATERIAL = Manifest((IMAGE,), {1: "cat"}, {"ground_truth": InputFile("/x", "1" * 64)})


@pytest.fixture
def used(database):
    """Return a database with a manifest and a session that was run with it."""
    with database.write() as connection:
        replace_manifest(connection, MATERIAL)
    new_session(database)
    return database


@pytest.mark.parametrize(
    "statement",
    [
        "update images set sha256 = '1' || substr(sha256, 2)",
        "update images set source_id = 6, path = '/y'",
        "update images set width = width + 1",
        "delete from images",
        "insert or replace into images select * from images",
        "insert into images select 2, 6, path, media_type, 1, 0, sha256, 1, 1 from images",
        "update classes set name = 'dog'",
        "delete from classes",
        "insert or replace into classes values (1, 'dog')",
        "insert into classes values (2, 'dog')",
        "update inputs set sha256 = '2' || substr(sha256, 2)",
        "delete from inputs",
        "insert or replace into inputs select * from inputs",
    ],
)
def test_the_material_of_sessions_stays(used, statement):
    """No program changes what a session was run with: images, classes and input files."""
    with pytest.raises(sqlite3.IntegrityError, match="while there are sessions"):
        with used.write() as connection:
            connection.execute(statement)
    assert MATERIAL == load_manifest(used.connection)


def test_files_of_the_same_contents_move_beside_sessions(used):
    """Other paths and times of equal files are stored while there are sessions."""
    image = replace(IMAGE, path="/y/1.jpg", modified_ns=7)
    moved = Manifest((image,), {1: "cat"}, {"ground_truth": InputFile("/y", "1" * 64)})
    with used.write() as connection:
        replace_manifest(connection, moved)
    assert moved == load_manifest(used.connection)


@pytest.mark.parametrize("name", ["", "x" * 101])
def test_team_names_are_bounded(database, name):
    """A team has a name of 1 to 100 characters."""
    with pytest.raises(sqlite3.IntegrityError):
        new_session(database, name)
