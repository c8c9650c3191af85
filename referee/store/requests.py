# SPDX-License-Identifier: Apache-2.0
"""Rows of requests that contestants made, and of the images that were sent to them."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass


@dataclass(frozen=True)
class Request:
    """Hold one request of a session's contestant.

    `elapsed_s` is when it was complete, `duration_s` how long the answer took from there.
    `first_image` and `image_count` name the images that were sent, by the contestant's numbers.
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


def insert_request(connection: sqlite3.Connection, request: Request) -> None:
    """Add a request, and mark the images it sent as fetched."""
    connection.execute(
        "insert into requests (session_id, elapsed_s, utc, method, path, status, first_image,"
        " image_count, received_bytes, sent_bytes, duration_s, address) values (:session_id,"
        " :elapsed_s, :utc, :method, :path, :status, :first_image, :image_count,"
        " :received_bytes, :sent_bytes, :duration_s, :address)",
        vars(request),
    )
    if request.first_image is not None:
        numbers = range(request.first_image, request.first_image + request.image_count)
        connection.executemany(
            "insert into fetched_images (session_id, number) values (?, ?) on conflict do nothing",
            [(request.session_id, number) for number in numbers],
        )


def count_fetched_images(connection: sqlite3.Connection, session_id: int) -> int:
    """Count the different images that were sent in a session."""
    row = connection.execute(
        "select count(*) from fetched_images where session_id = :session", {"session": session_id}
    ).fetchone()
    return int(row[0])


def requests_of(connection: sqlite3.Connection, session_id: int) -> list[Request]:
    """Return a session's requests in the order in which they were stored."""
    rows = connection.execute(
        "select session_id, elapsed_s, utc, method, path, status, first_image, image_count,"
        " received_bytes, sent_bytes, duration_s, address from requests"
        " where session_id = :session order by request_id",
        {"session": session_id},
    )
    return [Request(*row) for row in rows]
