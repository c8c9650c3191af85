# SPDX-License-Identifier: Apache-2.0
"""Queries for the requests of contestants: totals, refused answers, and which images were sent."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

# How many rows one statement may insert. A few fixed sizes keep the number of statements small.
_AT_ONCE = (100, 50, 20, 10, 5, 2, 1)

BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the durations that are counted together, in seconds; longer ones follow."""

_UP_TO = ", ".join(f"sum(duration_s <= {bound})" for bound in BUCKETS_S)


@dataclass(frozen=True)
class Request:
    """One request of a contestant during a session.

    `elapsed_s` is the session time at which the request was complete. `duration_s` is the time
    from there to the end of the answer. `first_image` and `image_count` name the images that were
    sent, by the contestant's numbers.
    """

    session_id: int
    elapsed_s: float
    utc: str
    method: str
    path: str
    status: int
    first_image: int | None
    image_count: int
    received_bytes: int
    sent_bytes: int
    duration_s: float
    address: str


def insert_requests(connection: sqlite3.Connection, requests: Sequence[Request]) -> None:
    """Add requests in their order, and mark their images as fetched.

    Many rows go into one statement. At each statement the committing thread lets the server's
    other threads run, and that switch costs more than the statement.
    """
    columns = tuple(field.name for field in fields(Request))
    rows = [tuple(vars(request).values()) for request in requests]
    _insert(connection, f"insert into requests ({', '.join(columns)})", rows, "")
    numbers = [
        (request.session_id, number)
        for request in requests
        if request.first_image is not None
        for number in range(request.first_image, request.first_image + request.image_count)
    ]
    fetched = "insert into fetched_images (session_id, number)"
    _insert(connection, fetched, numbers, " on conflict do nothing")


def _insert(
    connection: sqlite3.Connection, into: str, rows: Sequence[tuple[object, ...]], after: str
) -> None:
    """Insert rows with few statements of few different lengths.

    SQLite parses one statement for each length. A statement takes at most 32,766 values.
    """
    start = 0
    while start < len(rows):
        left = len(rows) - start
        count = next(size for size in _AT_ONCE if size <= left)
        part = rows[start : start + count]
        row = f"({', '.join('?' * len(part[0]))})"
        values = [value for values in part for value in values]
        connection.execute(f"{into} values {', '.join([row] * count)}{after}", values)
        start += count


def count_fetched_images(connection: sqlite3.Connection, session_id: int) -> int:
    """Count the distinct images that were sent in a session."""
    row = connection.execute(
        "select count(*) from fetched_images where session_id = :session", {"session": session_id}
    ).fetchone()
    return int(row[0])


def requests_of(connection: sqlite3.Connection, session_id: int) -> list[Request]:
    """Return a session's requests in the order in which they were stored."""
    return [Request(session_id, *row) for row in request_table(connection, session_id)]


def request_table(connection: sqlite3.Connection, session_id: int) -> Iterator[tuple[Any, ...]]:
    """Yield each request of a session as the fields of a `Request` after the session's number."""
    return connection.execute(
        "select elapsed_s, utc, method, path, status, first_image, image_count,"
        " received_bytes, sent_bytes, duration_s, address from requests"
        " where session_id = :session order by request_id",
        {"session": session_id},
    )


def insert_refused_answers(connection: sqlite3.Connection, rows: Sequence[tuple[int, str]]) -> None:
    """Add the session and the reason of each refused answer, in their order."""
    connection.executemany("insert into refused_answers (session_id, reason) values (?, ?)", rows)


def refused_answers_of(connection: sqlite3.Connection, session_id: int) -> list[str]:
    """Return why a session's answers were refused, one reason an answer, in order."""
    rows = connection.execute(
        "select reason from refused_answers where session_id = :session order by refused_id",
        {"session": session_id},
    )
    return [str(row[0]) for row in rows]


@dataclass(frozen=True)
class RequestTotals:
    """Sums over requests with one answer's status in one lane.

    `within` has for each of `BUCKETS_S` the number of requests that took at most that long.
    """

    lane: int
    status: int
    requests: int
    duration_s: float
    images: int
    received_bytes: int
    sent_bytes: int
    within: tuple[int, ...]


def last_request(connection: sqlite3.Connection) -> int:
    """Return the number of the newest request, or 0."""
    row = connection.execute("select coalesce(max(request_id), 0) from requests").fetchone()
    return int(row[0])


def request_totals(
    connection: sqlite3.Connection, after: int, last: int
) -> tuple[RequestTotals, ...]:
    """Return the totals of the requests with numbers above `after`, up to `last`."""
    rows = connection.execute(
        "select lane, status, count(*), sum(duration_s), sum(image_count), sum(received_bytes),"
        f" sum(sent_bytes), {_UP_TO} from requests join sessions using (session_id)"
        " where request_id > :after and request_id <= :last group by lane, status",
        {"after": after, "last": last},
    )
    return tuple(
        RequestTotals(lane, status, requests, duration_s, images, received, sent, tuple(within))
        for lane, status, requests, duration_s, images, received, sent, *within in rows
    )
