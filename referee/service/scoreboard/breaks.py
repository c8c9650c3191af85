# SPDX-License-Identifier: Apache-2.0
"""The break of an event: the organiser's words and a countdown for the audience, on record.

A break tells nothing of sessions, so it is shown during a freeze, too.
"""

from __future__ import annotations

from datetime import timedelta

from referee.errors import Refusal
from referee.service.scoreboard.freezing import require_name
from referee.service.setup.contest import Contest
from referee.store.database import Connection
from referee.store.notices import insert_audit
from referee.store.publishing import Break, insert_break, insert_break_end, standing_break

_MINUTES_MOST = 24 * 60


def begin_break(contest: Contest, operator: str, text: str, minutes: int) -> Break:
    """Tell the audience of a break of so many minutes; it takes the place of one that stands.

    The same words for as many minutes as are left, within one, change nothing. Raises `Refusal`
    (code `break_wrong`) without words, or for a length that no break has.
    """
    require_name(operator)
    if not text.strip():
        raise Refusal("break_wrong", "Say what the audience is waiting for.")
    if not 1 <= minutes <= _MINUTES_MOST:
        raise Refusal("break_wrong", f"A break lasts 1 to {_MINUTES_MOST} minutes.")
    with contest.database.write() as connection:
        now = contest.clock.now()
        until, before = now.utc + timedelta(minutes=minutes), standing_break(connection)
        planned = Break(text.strip(), until.isoformat(timespec="seconds"))
        if before is not None and before.text == planned.text:
            earliest = (until - timedelta(minutes=1)).isoformat(timespec="seconds")
            if earliest <= before.until_utc <= planned.until_utc:
                return before
        insert_break(connection, now.utc.isoformat(), operator, planned)
        insert_audit(
            connection, now, operator, "begin break", None, f"{minutes} min: {planned.text}"
        )
        return planned


def end_break(contest: Contest, operator: str) -> None:
    """Tell the audience that the break is over; without a break this changes nothing."""
    require_name(operator)
    with contest.database.write() as connection:
        if standing_break(connection) is None:
            return
        now = contest.clock.now()
        insert_break_end(connection, now.utc.isoformat(), operator)
        insert_audit(connection, now, operator, "end break", None)


def break_of(contest: Contest, connection: Connection | None = None) -> Break | None:
    """Return the break that stands, or None."""
    return standing_break(connection or contest.database.connection)
