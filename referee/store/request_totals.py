# SPDX-License-Identifier: Apache-2.0
"""Totals of the contestants' requests, counted on from the last count."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the durations that are counted together, in seconds; longer ones follow."""

_UP_TO = ", ".join(f"sum(duration_s <= {bound})" for bound in BUCKETS_S)


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
