# SPDX-License-Identifier: Apache-2.0
"""Queries for answers: the posts of contestants, in the order in which they were stored."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    """One stored post.

    `elapsed_s` is the session time at which the server read its last byte. `format` is form, json
    or csv. `content` holds the rows as the session's track packs them.
    """

    session_id: int
    elapsed_s: float
    utc: str
    late: bool
    format: str
    address: str
    row_count: int
    flagged_count: int
    content: bytes
    answer_id: int = 0


@dataclass(frozen=True)
class AnswerCounts:
    """The counts of a session; `answers`, `detections` and `flagged` leave out late answers."""

    answers: int
    detections: int
    late_answers: int
    flagged: int


def keep_formats(connection: sqlite3.Connection, names: Iterable[str]) -> None:
    """Add the names of answer formats that the database does not know yet."""
    rows = connection.execute("select name from answer_formats")
    for name in sorted({*names} - {row[0] for row in rows}):
        connection.execute("insert into answer_formats values (:name)", {"name": name})


def insert_answer(connection: sqlite3.Connection, answer: Answer) -> int:
    """Add an answer and return its new number; `answer.answer_id` is ignored."""
    cursor = connection.execute(
        "insert into answers (session_id, elapsed_s, utc, late, format, address, row_count,"
        " flagged_count, content) values (:session, :elapsed_s, :utc, :late, :format, :address,"
        " :row_count, :flagged_count, :content)",
        {
            "session": answer.session_id,
            "elapsed_s": answer.elapsed_s,
            "utc": answer.utc,
            "late": int(answer.late),
            "format": answer.format,
            "address": answer.address,
            "row_count": answer.row_count,
            "flagged_count": answer.flagged_count,
            "content": answer.content,
        },
    )
    return int(cursor.lastrowid or 0)


def formats_of(connection: sqlite3.Connection, session_id: int) -> list[str]:
    """Return the formats of a session's answers, by name."""
    rows = connection.execute(
        "select distinct format from answers where session_id = :session order by format",
        {"session": session_id},
    )
    return [row[0] for row in rows]


def insert_empty_answer(
    connection: sqlite3.Connection, session_id: int, answer_id: int, numbers: Sequence[int]
) -> None:
    """Add the images, by the contestant's numbers, for which an answer without rows was posted."""
    connection.executemany(
        "insert into empty_answers (session_id, answer_id, number) values (?, ?, ?)",
        [(session_id, answer_id, number) for number in numbers],
    )


def images_answered_empty(connection: sqlite3.Connection, session_id: int) -> list[int]:
    """Return the images that have an answer in time without rows, by the contestant's numbers."""
    rows = connection.execute(
        "select distinct number from empty_answers join answers using (answer_id)"
        " where empty_answers.session_id = :session and late = 0 order by number",
        {"session": session_id},
    )
    return [int(row[0]) for row in rows]


def answers_after(
    connection: sqlite3.Connection, session_id: int, answer_id: int = 0, *, limit: int = -1
) -> Iterator[Answer]:
    """Yield the session's answers above `answer_id` in ascending order, late answers included."""
    rows = connection.execute(
        "select * from answers where session_id = :session and answer_id > :after"
        " order by answer_id limit :limit",
        {"session": session_id, "after": answer_id, "limit": limit},
    )
    for row in rows:
        yield Answer(
            session_id=row["session_id"],
            elapsed_s=row["elapsed_s"],
            utc=row["utc"],
            late=bool(row["late"]),
            format=row["format"],
            address=row["address"],
            row_count=row["row_count"],
            flagged_count=row["flagged_count"],
            content=row["content"],
            answer_id=row["answer_id"],
        )


def answer_table(connection: sqlite3.Connection, session_id: int) -> Iterator[Sequence[object]]:
    """Yield number, time, UTC, late, format, address, rows and flagged rows of each answer."""
    return connection.execute(
        "select answer_id, elapsed_s, utc, late, format, address, row_count, flagged_count"
        " from answers where session_id = :session order by answer_id",
        {"session": session_id},
    )


def contents_of(
    connection: sqlite3.Connection, session_id: int, *, late: bool
) -> Iterator[tuple[int, bytes]]:
    """Yield rows and content of each answer in time, or of each late one, in ascending order."""
    return connection.execute(
        "select row_count, content from answers where session_id = :session and late = :late"
        " order by answer_id",
        {"session": session_id, "late": int(late)},
    )


def newest_answer_id(connection: sqlite3.Connection, session_id: int) -> int:
    """Return the number of the session's newest answer in time, or 0 if there is none."""
    row = connection.execute(
        "select max(answer_id) from answers where session_id = :session and late = 0",
        {"session": session_id},
    ).fetchone()
    return int(row[0] or 0)


def count_late_answers(connection: sqlite3.Connection, session_id: int) -> int:
    """Count a session's late answers; an index of late answers makes this cheap."""
    row = connection.execute(
        "select count(*) from answers where session_id = :session and late = 1",
        {"session": session_id},
    ).fetchone()
    return int(row[0])


def count_stored_detections(connection: sqlite3.Connection, session_id: int) -> int:
    """Count a session's detections, late answers included."""
    row = connection.execute(
        "select coalesce(sum(row_count), 0) from answers where session_id = :session",
        {"session": session_id},
    ).fetchone()
    return int(row[0])


def count_empty_answers(connection: sqlite3.Connection, session_id: int) -> int:
    """Count a session's answers in time that have no row."""
    row = connection.execute(
        "select count(*) from answers where session_id = :session and late = 0 and row_count = 0",
        {"session": session_id},
    ).fetchone()
    return int(row[0])


def count_answers(connection: sqlite3.Connection, session_id: int) -> AnswerCounts:
    """Count the answers and detections of a session."""
    row = connection.execute(
        "select count(*) filter (where late = 0) as answers,"
        " coalesce(sum(row_count) filter (where late = 0), 0) as detections,"
        " count(*) filter (where late = 1) as late_answers,"
        " coalesce(sum(flagged_count) filter (where late = 0), 0) as flagged"
        " from answers where session_id = :session",
        {"session": session_id},
    ).fetchone()
    return AnswerCounts(row["answers"], row["detections"], row["late_answers"], row["flagged"])
