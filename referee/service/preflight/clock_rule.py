# SPDX-License-Identifier: Apache-2.0
"""The rule about the date of the laptop's clock: nothing that is there can come from the future."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from referee.service.preflight.finding import CheckResult, fail, ok, warn

_KEY = ("machine", "date")
# Files from another computer may be off by its time zone.
_SLACK = timedelta(hours=26)
_LONG_AGO = timedelta(days=548)
_REMEDY = (
    "Set the laptop's clock, and check again. Sessions are timed by another clock, but evidence, "
    "certificates and the meter's calibration go by this date."
)


@dataclass(frozen=True)
class Dated:
    """A thing that was made at a time; `what` is how a sentence calls it."""

    what: str
    made: datetime


@dataclass(frozen=True)
class DateFacts:
    """The clock's time, and what is known to be older: the program, and what the event has."""

    now: datetime
    program: Dated | None
    event: Sequence[Dated]


def date_finding(facts: DateFacts) -> CheckResult:
    """Judge the date: a clock that runs behind what exists is wrong, one far ahead may be."""
    known = [*facts.event, *([] if facts.program is None else [facts.program])]
    today = f"{facts.now:%Y-%m-%d}"
    if not known:
        return ok(*_KEY, f"{today}; there is nothing to compare it with")
    newest = max(known, key=lambda dated: dated.made)
    if newest.made - facts.now > _SLACK:
        text = f"the clock says {today}, but {newest.what} is of {newest.made:%Y-%m-%d}"
        return fail(*_KEY, text, _REMEDY)
    for dated in (newest, facts.program):
        if dated is not None and facts.now - dated.made > _LONG_AGO:
            text = (
                f"the clock says {today}, and {dated.what} is of {dated.made:%Y-%m-%d}: years ago"
            )
            return warn(*_KEY, text, f"If that date is wrong: {_REMEDY}")
    return ok(*_KEY, f"{today}; the newest thing here is {newest.what}")
