# SPDX-License-Identifier: Apache-2.0
"""The chain of facts: each stored row is tied by hashes to all rows before it.

A row's digest is the SHA-256 of its MessagePack array: the table's name, then its columns in their
order; a blob counts with its own SHA-256. A link is the SHA-256 of the link before, followed by the
row's digest. Each row has two links: its `strand` follows the rows of its session, its `digest` the
rows of the whole database. Triggers of the schema call the two functions
(`referee/store/schema.py`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import NamedTuple

import msgspec

from referee.store.linked_rows import LinkedRows, Row, key_of

_encode = msgspec.msgpack.Encoder().encode


def row_digest(table: object, *columns: object) -> bytes:
    """Return the digest of a row from its table's name and its columns in order."""
    return packed_digest([table, *[sha256(x).digest() if type(x) is bytes else x for x in columns]])


def packed_digest(row: Sequence[object]) -> bytes:
    """Return the digest of a row in which each blob is replaced by its SHA-256 already."""
    return sha256(_encode(row)).digest()


def linked(digest: bytes, before: bytes | None) -> bytes:
    """Return the link of a row with this digest behind the link `before`; None begins a chain."""
    return sha256((before or b"") + digest).digest()


def register_functions(connection: sqlite3.Connection) -> None:
    """Give a connection the functions that the schema's triggers call."""
    connection.create_function("row_digest", -1, row_digest, deterministic=True)
    connection.create_function("linked", 2, linked, deterministic=True)


class ChainLink(NamedTuple):
    """A link and the row that it stands for; `row` is None if the row is gone.

    `strand` and `digest` are as stored. `columns` names what is in `row`, where a blob stands as
    its SHA-256. `found` is the digest of the row as it is now.
    """

    link_id: int
    session_id: int
    table: str
    row_id: int | str
    strand: bytes
    digest: bytes
    columns: Sequence[str]
    row: Row | None
    found: bytes | None

    @property
    def name(self) -> str:
        """Return what a person looks for."""
        return f"{self.table} {self.row_id}"


def links(connection: sqlite3.Connection, session_id: int | None = None) -> Iterator[ChainLink]:
    """Yield the links of a session, or all links, in order, each with its row."""
    where = "" if session_id is None else " where session_id = :session"
    cursor = connection.cursor()
    cursor.row_factory = None
    rows = LinkedRows(connection, session_id)
    for link in cursor.execute(
        "select link_id, session_id, subject, row_id, strand, digest from chain"
        f"{where} order by link_id",
        {"session": session_id},
    ):
        link_id, session, table, row_id, strand, digest = link
        row, columns = rows.of(table, row_id), rows.names(table)
        now_digest = None if row is None else packed_digest([table, *row])
        yield ChainLink(link_id, session, table, row_id, strand, digest, columns, row, now_digest)


def newest_link(connection: sqlite3.Connection) -> bytes | None:
    """Return the newest link of the whole database, or None before the first."""
    row = connection.execute("select digest from chain order by link_id desc limit 1").fetchone()
    return None if row is None else bytes(row[0])


def has_link(connection: sqlite3.Connection, beginning: bytes) -> bool:
    """Tell whether the whole database has a link that begins with these bytes."""
    row = connection.execute(
        "select exists (select 1 from chain where substr(digest, 1, :bytes) = :beginning)",
        {"bytes": len(beginning), "beginning": beginning},
    ).fetchone()
    return bool(row[0])


def count_links(connection: sqlite3.Connection) -> int:
    """Count the links of the whole database."""
    return int(connection.execute("select count(*) from chain").fetchone()[0])


def strand_at_newest(connection: sqlite3.Connection, session_id: int, table: str) -> bytes | None:
    """Return the session's link at its newest row of a table, or None without such a row."""
    row = connection.execute(
        "select strand from chain where session_id = :session and subject = :table"
        " order by link_id desc limit 1",
        {"session": session_id, "table": table},
    ).fetchone()
    return None if row is None else bytes(row[0])


def strands_of(connection: sqlite3.Connection, session_id: int, table: str) -> list[bytes]:
    """Return the session's links at the rows of a table, in their order."""
    rows = connection.execute(
        "select strand from chain where session_id = :session and subject = :table"
        " order by link_id",
        {"session": session_id, "table": table},
    )
    return [bytes(row[0]) for row in rows]


def broken_links(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield a sentence for each row that is not as it was stored; none means that all holds.

    Whoever changes a row and computes every link after it anew stays unseen here. The signature of
    a bundle and the printed slip show it.
    """
    strands: dict[int, bytes] = {}
    before: bytes | None = None
    last_id = 0
    for link in links(connection):
        if link.link_id != last_id + 1:
            yield _gone(last_id + 1, link.link_id - 1)
        yield from _faults(link, strands.get(link.session_id), before)
        last_id, before, strands[link.session_id] = link.link_id, link.digest, link.strand
    yield from _without_link(connection)
    yield from _gone_at_the_end(connection)
    yield from _strange_fetches(connection)


def _gone(first: int, last: int) -> str:
    if first == last:
        return f"Link {first} of the chain is gone."
    return f"Links {first} to {last} of the chain are gone."


def strand_fault(link: ChainLink, before: bytes | None) -> str | None:
    """Return what is wrong with a row behind the link `before` of its session, or None."""
    now_digest = link.found
    if now_digest is None:
        return f"{link.name} is gone: a row was deleted."
    if linked(now_digest, before) != link.strand:
        return f"{link.name} is not the row that was stored here: it, or its place, was changed."
    return None


def _faults(link: ChainLink, strand: bytes | None, before: bytes | None) -> Iterator[str]:
    fault, now_digest = strand_fault(link, strand), link.found
    if fault is not None:
        yield fault
    elif now_digest is not None and linked(now_digest, before) != link.digest:
        yield f"Link {link.link_id} ({link.name}) does not follow the link before it."


def _without_link(connection: sqlite3.Connection) -> Iterator[str]:
    for table in linked_tables(connection):
        for row in connection.execute(
            f"select {key_of(connection, table)} from {table} except"
            " select row_id from chain where subject = :table",
            {"table": table},
        ):
            yield f"{table} {row[0]} was added past the chain."


def _gone_at_the_end(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield the tables whose newest rows are gone, together with their links."""
    counted = {row[0]: row[1] for row in connection.execute("select * from sqlite_sequence")}
    for table in ("chain", *linked_tables(connection)):
        newest = connection.execute(
            f"select coalesce(max({key_of(connection, table)}), 0) from {table}"
        ).fetchone()[0]
        if table in counted and newest != counted[table]:
            yield f"The newest row of {table} was {counted[table]}, and now it is {newest}."


def _strange_fetches(connection: sqlite3.Connection) -> Iterator[str]:
    """Yield the sessions whose fetched images are not those of their requests."""
    asked: dict[int, set[int]] = {}
    for session, first, count in connection.execute(
        "select session_id, first_image, image_count from requests where first_image is not null"
    ):
        asked.setdefault(session, set()).update(range(first, first + count))
    noted: dict[int, set[int]] = {}
    for session, number in connection.execute("select session_id, number from fetched_images"):
        noted.setdefault(session, set()).add(number)
    for session in sorted(asked.keys() | noted.keys()):
        if asked.get(session, set()) != noted.get(session, set()):
            yield f"The fetched images of session {session} are not those of its requests."


def linked_tables(connection: sqlite3.Connection) -> list[str]:
    """Return the tables whose rows have links, by name."""
    rows = connection.execute(
        "select tbl_name from sqlite_master where type = 'trigger'"
        " and name = tbl_name || '_join_the_chain' and tbl_name != 'new_links' order by 1"
    )
    linked_names = {row[0] for row in rows}
    # A table whose trigger somebody dropped is still known by its links.
    linked_names |= {row[0] for row in connection.execute("select distinct subject from chain")}
    known = {row[0] for row in connection.execute("select name from sqlite_master")}
    return sorted(linked_names & known)
