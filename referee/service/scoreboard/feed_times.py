# SPDX-License-Identifier: Apache-2.0
"""Moments and durations as the CLICS contest API writes them, and the event's own two."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from referee.core.instant import Instant
from referee.core.states import SessionFacts


def start_of(sessions: Iterable[SessionFacts]) -> datetime | None:
    """Return when the event began: with the first session, void or not; so it never changes."""
    return min((one.started.utc for one in sessions if one.started is not None), default=None)


def until_last_end(start: datetime, sessions: Iterable[SessionFacts]) -> str | None:
    """Return the time from the start to the last end; a session that runs ends at its deadline."""
    ends = [
        session.started.utc + timedelta(seconds=session.length_s)
        if session.ended is None
        else session.ended.utc
        for session in sessions
        if session.started is not None
    ]
    return since(start, max([start, *ends]))


def absolute_time(at: Instant | datetime | None) -> str | None:
    """Return a moment: ISO 8601 with milliseconds, in UTC; None for one that has not come."""
    if at is None:
        return None
    moment = _utc(at).astimezone(UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def since(start: datetime | None, at: Instant | datetime | None) -> str | None:
    """Return the time from the start, exactly as the two absolute times tell it.

    It is negative where somebody has set the laptop's clock back.
    """
    if start is None or at is None:
        return None
    return relative_time((_whole(_utc(at)) - _whole(start)) / timedelta(seconds=1))


def relative_time(seconds: float) -> str:
    """Return a duration: h:mm:ss.sss, with a minus before a negative one."""
    whole = round(1000 * seconds)
    minutes, milliseconds = divmod(abs(whole), 60_000)
    hours, minutes = divmod(minutes, 60)
    text = f"{hours}:{minutes:02d}:{milliseconds // 1000:02d}.{milliseconds % 1000:03d}"
    return f"-{text}" if whole < 0 else text


def _utc(at: Instant | datetime) -> datetime:
    return at.utc if isinstance(at, Instant) else at


def _whole(at: datetime) -> datetime:
    """Return a moment cut to milliseconds, as `absolute_time` writes it."""
    return at.replace(microsecond=at.microsecond // 1000 * 1000)
