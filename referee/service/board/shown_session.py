# SPDX-License-Identifier: Apache-2.0
"""The choice of the session for the console's big card."""

from __future__ import annotations

from collections.abc import Sequence

from referee.core.instant import Instant, seconds_between
from referee.core.states import SessionState, state_of
from referee.store.sessions import SessionRecord

_LIVE = (SessionState.ARMED, SessionState.RUNNING)
_OVER = (SessionState.ENDED, SessionState.SCORED, SessionState.SEALED)


def shown_session(sessions: Sequence[SessionRecord], now: Instant) -> SessionRecord | None:
    """Return the session for the big card; `sessions` are ordered with the newest first.

    The live session has priority. After its end its result stays on the card until the operator
    arms another session. Otherwise the card shows the oldest READY session, which is next in line,
    or else the newest session. None means that there is no session.
    """
    live = [one for one in sessions if state_of(one.facts, now) in _LIVE]
    if live:
        return live[0]
    over = [one for one in sessions if state_of(one.facts, now) in _OVER]
    last = max(over, key=_start_order, default=None)
    if last is not None and not any(_armed_after(one, last) for one in sessions):
        return last
    ready = [one for one in sessions if state_of(one.facts, now) is SessionState.READY]
    if ready:
        return ready[-1]
    return sessions[0] if sessions else None


def _start_order(session: SessionRecord) -> tuple[float, int]:
    started = session.facts.started
    return (0.0 if started is None else started.utc.timestamp(), session.session_id)


def _armed_after(session: SessionRecord, last: SessionRecord) -> bool:
    """Tell whether `session` was armed after the start of `last`.

    A lane has one live session at a time, so `session` was then armed after the end of `last`.
    """
    armed, started = session.facts.armed, last.facts.started
    if session is last or armed is None or started is None:
        return False
    return seconds_between(started, armed) > 0.0
