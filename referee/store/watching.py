# SPDX-License-Identifier: Apache-2.0
"""Queries for the view of a running session: its readings, its traffic, its flagged answers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
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
    """What a session's contestant has done lately: counts, and when it asked last.

    `last_request_s` is the session time of the newest request, or None before the first.
    """

    images: int
    answers: int
    last_request_s: float | None


def recent_traffic(
    connection: sqlite3.Connection, session_id: int, since_s: float
) -> RecentTraffic:
    """Return the traffic since a session time; of each kind the newest thousand rows are read."""
    requests = connection.execute(
        "select elapsed_s, image_count from requests where session_id = :session"
        " order by request_id desc limit :most",
        {"session": session_id, "most": _TRAFFIC_MOST},
    ).fetchall()
    answers = connection.execute(
        "select elapsed_s from answers where session_id = :session"
        " order by answer_id desc limit :most",
        {"session": session_id, "most": _TRAFFIC_MOST},
    ).fetchall()
    return RecentTraffic(
        images=sum(row["image_count"] for row in requests if row["elapsed_s"] > since_s),
        answers=sum(row["elapsed_s"] > since_s for row in answers),
        last_request_s=max((row["elapsed_s"] for row in requests), default=None),
    )


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
