# SPDX-License-Identifier: Apache-2.0
"""The rule about the date of the laptop's clock.

Nothing that is there can come from the future. No file can prove that a clock is not ahead, on a
network without a time server. But an event is prepared in weeks: where nothing was made for half a
year, the clock may have jumped, and a person is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from referee.service.preflight.finding import CheckResult, fail, ok, warn

_KEY = ("machine", "date")
# Files from another computer may be off by its time zone.
_SLACK = timedelta(hours=26)
_LONG_AGO = timedelta(days=548)
_IDLE = timedelta(days=183)
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
    """The clock's time, and what is known to be older: the program, and what the event has.

    `set_by_network` is the last time at which a time server has set this clock, if a file tells.
    """

    now: datetime
    program: Dated | None
    event: Sequence[Dated]
    set_by_network: Dated | None = None


def date_finding(facts: DateFacts) -> CheckResult:
    """Judge the date: a clock that runs behind what exists is wrong, one far ahead may be."""
    known = [*facts.event, *(dated for dated in (facts.program, facts.set_by_network) if dated)]
    today = f"{facts.now:%Y-%m-%d}"
    if not known:
        return ok(*_KEY, f"{today}; there is nothing to compare it with")
    newest = max(known, key=lambda dated: dated.made)
    if newest.made - facts.now > _SLACK:
        text = f"the clock says {today}, but {newest.what} is of {newest.made:%Y-%m-%d}"
        return fail(*_KEY, text, _REMEDY)
    gap = _gap(facts)
    if gap is not None:
        return warn(*_KEY, f"the clock says {today}; {gap}", f"If that date is wrong: {_REMEDY}")
    return ok(*_KEY, f"{today}; the newest thing here is {newest.what}")


def _gap(facts: DateFacts) -> str | None:
    """Return between what and what the clock may have jumped ahead, or None."""
    now = Dated("today", facts.now)
    event = [*sorted(facts.event, key=lambda dated: dated.made), now]
    steps = [(before, after, _IDLE) for before, after in pairwise(event)]
    steps += [(dated, now, _IDLE) for dated in [facts.set_by_network] if dated is not None]
    steps += [(dated, now, _LONG_AGO) for dated in [facts.program] if dated is not None]
    for before, after, most in steps:
        if after.made - before.made > most:
            days = (after.made - before.made).days
            told = "today" if after is now else f"{after.what}, {after.made:%Y-%m-%d},"
            return f"{before.what} is of {before.made:%Y-%m-%d}, and {told} is {days} days later"
    return None
