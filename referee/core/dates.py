# SPDX-License-Identifier: Apache-2.0
"""Days and moments as people write them, from the UTC times that the referee stores."""

from __future__ import annotations

from datetime import UTC, datetime

# The months are not taken from the machine's language: the text around them is English.
_MONTHS = tuple(
    "January February March April May June July August September October November December".split()
)


def day_text(utc: str) -> str:
    """Return the day of a stored time, as '7 June 2026'; a text that is no time stays as it is."""
    moment = _moment(utc)
    return utc if moment is None else _day(moment)


def moment_text(utc: str) -> str:
    """Return a stored time as '7 June 2026, 16:02 UTC'; a text that is no time stays as it is."""
    moment = _moment(utc)
    return utc if moment is None else f"{_day(moment)}, {moment:%H:%M} UTC"


def _moment(utc: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(utc)
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def _day(moment: datetime) -> str:
    return f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"
