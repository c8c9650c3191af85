# SPDX-License-Identifier: Apache-2.0
"""Queries for the view of a running session: its readings, its traffic, its flagged answers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TRAFFIC_MOST = 1000


@dataclass(frozen=True)
class PowerSample:
    """The power of one reading; `power_w` is None if the meter gave no number."""

    reading_id: int
    elapsed_s: float
    power_w: float | None


def recent_power(
    connection: sqlite3.Connection, session_id: int, after: int, limit: int, step_s: float = 0.0
) -> list[PowerSample]:
    """Return the session's newest readings with a number above `after`, by session time.

    The numbers need not rise: what is read at the end is stored after readings that came later.
    A `step_s` above 0 keeps one reading of each such time.
    """
    one_of_each = " group by cast(elapsed_s / :step_s as integer)" if step_s > 0.0 else ""
    number = "max(reading_id)" if step_s > 0.0 else "reading_id"
    rows = connection.execute(
        f"select {number}, elapsed_s, power_w from readings where session_id = :session"
        f" and reading_id > :after{one_of_each} order by 1 desc limit :limit",
        {"session": session_id, "after": after, "limit": limit, "step_s": step_s},
    ).fetchall()
    return sorted((PowerSample(*row) for row in rows), key=lambda one: one.elapsed_s)


@dataclass(frozen=True)
class RecentTraffic:
    """What a session's contestant has done lately: counts, since when, and when it asked last.

    `images` came after `images_since_s`, and `answers` after `answers_since_s`, session times.
    `last_request_s` is the session time of the newest request, or None before the first.
    """

    images: int
    answers: int
    last_request_s: float | None
    images_since_s: float
    answers_since_s: float


def recent_traffic(
    connection: sqlite3.Connection, session_id: int, since_s: float
) -> RecentTraffic:
    """Return the traffic since a session time.

    Of each kind the newest thousand rows are read. Where they do not reach back to `since_s`, they
    count from the oldest of them on.
    """
    requests = connection.execute(
        "select elapsed_s, image_count from requests where session_id = :session"
        " order by request_id desc limit :most",
        {"session": session_id, "most": _TRAFFIC_MOST},
    ).fetchall()
    answers = connection.execute(
        "select elapsed_s, 1 from answers where session_id = :session"
        " order by answer_id desc limit :most",
        {"session": session_id, "most": _TRAFFIC_MOST},
    ).fetchall()
    (images, images_since_s), (answered, answers_since_s) = (
        _counted_since(rows, since_s) for rows in (requests, answers)
    )
    last_s = max((elapsed_s for elapsed_s, _ in requests), default=None)
    return RecentTraffic(images, answered, last_s, images_since_s, answers_since_s)


def _counted_since(rows: Sequence[tuple[float, int]], since_s: float) -> tuple[int, float]:
    """Return the sum of counts after a time, and that time, which is later if rows are missing."""
    if len(rows) == _TRAFFIC_MOST:
        since_s = max(since_s, min(elapsed_s for elapsed_s, _ in rows))
    return sum(count for elapsed_s, count in rows if elapsed_s > since_s), since_s


def work_times(
    connection: sqlite3.Connection, session_id: int, since_s: float = 0.0
) -> list[float]:
    """Return the session times of the images that were sent or shown, and of answers in time."""
    rows = connection.execute(
        "select elapsed_s from requests where session_id = :session and image_count > 0"
        " and elapsed_s >= :since"
        " union all select elapsed_s from answers where session_id = :session and late = 0"
        " and elapsed_s >= :since order by 1",
        {"session": session_id, "since": since_s},
    )
    return [row[0] for row in rows]


def flagged_answers(
    connection: sqlite3.Connection, session_id: int, after: int, limit: int
) -> Iterator[tuple[int, bytes]]:
    """Yield the number and content of each answer in time that has flagged rows.

    Only answers with a number above `after` are returned, at most `limit`.
    """
    rows = connection.execute(
        "select answer_id, content from answers where session_id = :session"
        " and answer_id > :after and late = 0 and flagged_count > 0"
        " order by answer_id limit :limit",
        {"session": session_id, "after": after, "limit": limit},
    )
    for row in rows:
        yield row["answer_id"], row["content"]
