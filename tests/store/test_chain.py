# SPDX-License-Identifier: Apache-2.0
"""The chain shows each row that was edited, removed, added or moved past the referee."""

from __future__ import annotations

import sqlite3
from hashlib import sha256

import msgspec
import pytest

from referee.store.answers import insert_answer
from referee.store.chain import broken_links, linked, links, strand_at_newest
from referee.store.images import note_material
from referee.store.requests import Request, insert_requests
from referee.store.schema import NO_LINKS, missing_from_schema
from tests.store.conftest import answer, insert_one_row, new_session
from tests.store.test_schema import FACTS, filled

__all__ = ["filled"]


def tampered(database, *statements):
    """Change rows as somebody does who first drops the triggers; return what the chain tells."""
    connection = without_triggers(database)
    for statement in statements:
        connection.execute(statement)
    return list(broken_links(connection))


def without_triggers(database):
    """Return the connection after all triggers and references are gone."""
    connection = database.connection
    connection.execute("pragma foreign_keys = off")
    connection.execute("pragma ignore_check_constraints = on")
    names = connection.execute("select name from sqlite_master where type = 'trigger'")
    for (name,) in names.fetchall():
        connection.execute(f"drop trigger {name}")
    return connection


def test_every_fact_has_a_link(filled):
    """Each row of each table of facts is in the chain, once or more."""
    for table in FACTS.keys() - NO_LINKS:
        rows = filled.connection.execute(f"select count(*) from {table}").fetchone()[0]
        found = filled.connection.execute(
            "select count(distinct row_id) from chain where subject = :table", {"table": table}
        ).fetchone()[0]
        assert (table, rows) == (table, found)
    assert [] == list(broken_links(filled.connection)) == missing_from_schema(filled.connection)


def test_an_edited_row_shows(filled):
    """The chain covers every column of every table of facts."""
    connection = without_triggers(filled)
    other = {"INTEGER": "{0} + 1", "REAL": "{0} + 0.5", "BLOB": "x'00'", "TEXT": "{0} || 'x'"}
    seen = 0
    for table in sorted(FACTS.keys() - NO_LINKS):
        for row in connection.execute(f"pragma table_info({table})").fetchall():
            if row["pk"]:
                continue
            connection.execute("savepoint whole")
            old = "0" if row["type"] in ("INTEGER", "REAL") else "''"
            change = other[row["type"]].format(f"coalesce({row['name']}, {old})")
            connection.execute(f"update {table} set {row['name']} = {change}")
            found = list(broken_links(connection))
            connection.execute("rollback to whole")
            assert any(fault.startswith(table) for fault in found), (table, row["name"])
            seen += 1
    assert 150 < seen


def test_a_removed_row_shows(filled):
    """A row that is gone is named, also the newest, also together with its links."""
    assert any("requests 1 is gone" in it for it in tampered(filled, "delete from requests"))


def test_the_newest_rows_cannot_vanish_with_their_links(database):
    """Rows that are cut off at the end, links and all, leave their numbers behind."""
    session = new_session(database)
    with database.write() as connection:
        for _ in range(3):
            insert_answer(connection, answer(session))
    found = tampered(
        database,
        "delete from answers where answer_id = 3",
        "delete from chain where subject = 'answers' and row_id = 3",
    )
    assert ["The newest row of answers was 3, and now it is 2."] == found[1:]
    assert found[0].startswith("The newest row of chain was")


def test_rows_that_changed_places_show(database):
    """Two answers whose contents were exchanged are both named."""
    session = new_session(database)
    with database.write() as connection:
        insert_answer(connection, answer(session, rows=1))
        insert_answer(connection, answer(session, rows=2))
    found = tampered(
        database,
        "update answers set answer_id = -1 where answer_id = 1",
        "update answers set answer_id = 1 where answer_id = 2",
        "update answers set answer_id = 2 where answer_id = -1",
    )
    assert ["answers 1", "answers 2"] == [fault[:9] for fault in found]


def test_links_that_changed_places_show(database):
    """A chain whose links were put in another order does not hold."""
    session = new_session(database)
    with database.write() as connection:
        insert_answer(connection, answer(session))
        insert_answer(connection, answer(session))
    last = database.connection.execute("select max(link_id) from chain").fetchone()[0]
    found = tampered(
        database,
        f"update chain set link_id = -1 where link_id = {last}",
        f"update chain set link_id = {last} where link_id = {last - 1}",
        f"update chain set link_id = {last - 1} where link_id = -1",
    )
    assert 2 <= len(found)


def test_a_forged_link_shows_beside_the_rows_that_hold(database):
    """A link whose own digest was changed is named, and so is the one that followed it."""
    with database.write() as connection:
        for text in ("one", "two", "three"):
            insert_one_row(connection, None, text)
    assert [
        "Link 2 (notices 2) does not follow the link before it.",
        "Link 3 (notices 3) does not follow the link before it.",
    ] == tampered(database, "update chain set digest = zeroblob(32) where link_id = 2")


@pytest.mark.parametrize(
    ("gone", "told"),
    [
        ({2}, "Link 2 of the chain is gone."),
        ({1}, "Link 1 of the chain is gone."),
        ({2, 3}, "Links 2 to 3 of the chain are gone."),
    ],
)
def test_a_row_that_vanished_with_its_link_leaves_a_gap(database, gone, told):
    """Whoever also computes every later link anew cannot close the gap in their numbers."""
    with database.write() as connection:
        for text in ("one", "two", "three", "four"):
            insert_one_row(connection, None, text)
    connection = without_triggers(database)
    for number in gone:
        connection.execute(f"delete from notices where notice_id = {number}")
        connection.execute(f"delete from chain where link_id = {number}")
    strand = digest = None
    for link in list(links(connection)):
        strand, digest = linked(link.found, strand), linked(link.found, digest)
        connection.execute(
            "update chain set strand = ?, digest = ? where link_id = ?",
            (strand, digest, link.link_id),
        )
    assert [told] == list(broken_links(connection))


def test_a_row_past_the_chain_shows(database):
    """A row that was inserted without its trigger is named."""
    session = new_session(database)
    with database.write() as connection:
        insert_one_row(connection, session, "one")
    note = (
        "insert into notices (session_id, utc, level, text) values (1, '', 'info', 'all is well')"
    )
    assert ["notices 2 was added past the chain."] == tampered(database, note)


def test_fetched_images_are_those_of_the_requests(database):
    """An image that nobody asked for shows, although its row has no link."""
    session = new_session(database)
    sent = Request(session, 1.0, "then", "GET", "/image", 200, 3, 2, 0, 9, 0.5, "::1")
    with database.write() as connection:
        insert_requests(connection, [sent])
    assert [] == list(broken_links(database.connection))
    found = tampered(database, "insert into fetched_images values (1, 9)")
    assert ["The fetched images of session 1 are not those of its requests."] == found


def test_a_dropped_trigger_shows(database):
    """A schema without a trigger, or with a table less, is told."""
    database.connection.execute("drop trigger answers_no_update")
    assert ["trigger answers_no_update"] == missing_from_schema(database.connection)


def test_a_program_without_the_functions_adds_no_fact(database):
    """Another program that opens the file cannot insert a row past the chain by accident."""
    other = sqlite3.connect(database.path)
    try:
        with pytest.raises(sqlite3.OperationalError, match="no such function"):
            other.execute("insert into notices (utc, level, text) values ('', 'info', '')")
    finally:
        other.close()


def test_a_session_has_a_chain_of_its_own(database):
    """A session's links begin with its row, its team and its material, and no other's follow."""
    with database.write() as connection:
        note_material(connection, "[contest]")
    ants, bees = new_session(database, "ants"), new_session(database, "bees")
    with database.write() as connection:
        insert_one_row(connection, bees, "bees")
        insert_one_row(connection, ants, "ants")
        insert_one_row(connection, None, "nobody")
    assert ["sessions", "teams", "materials", "notices"] == [
        link.table for link in links(database.connection, ants)
    ]


def test_links_are_what_the_documentation_says(database):
    """Anybody can compute a link with a MessagePack library and SHA-256."""
    with database.write() as connection:
        insert_one_row(connection, None, "one")
        insert_one_row(connection, None, "two")
    before = b""
    for number, text in ((1, "one"), (2, "two")):
        row = ["notices", number, None, "then", "info", text]
        before = sha256(before + sha256(msgspec.msgpack.encode(row)).digest()).digest()
    assert before == strand_of_newest(database)
    assert None is strand_at_newest(database.connection, 7, "notices")


# Links of the rows of `filled`. Bundles and printed slips rest on them, so none ever changes.
LINKS = {
    24: "e06dda23c8734b33b55decedebd5edc1a517487cf34a6c103d977185a376897d",
    45: "6212d823ac9de4453a73efc1b7e9503018cfecf0d49408571957bacf16c57cb2",
    47: "bf4c11e7da4f5906950ddc90e6c8c68d51e097ce82f6a1f9be325334642b44b2",
}


def test_the_same_facts_have_the_same_links_for_ever(filled):
    """Order and value of the digests of one row of each table are those of the first referee."""
    found = filled.connection.execute("select link_id, digest from chain order by link_id")
    digests = {link_id: digest.hex() for link_id, digest in found}
    assert {link: digests[link] for link in LINKS} == LINKS
    assert {"proposed_scores 1/1", "proposal_skips 1/1"} < {
        link.name for link in links(filled.connection, 0)
    }


def strand_of_newest(database):
    """Return the newest link of the event's own chain."""
    *_, last = links(database.connection, 0)
    return last.strand
