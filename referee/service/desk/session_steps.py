# SPDX-License-Identifier: Apache-2.0
"""The steps of a session: it is made, armed, ended, declared void, or given more time.

The session clock ends it at its deadline.
"""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

from referee.core.instant import Instant
from referee.core.states import (
    EndCause,
    SessionEvent,
    SessionState,
    end_to_record,
    remaining_s,
    require,
    state_of,
)
from referee.errors import Refusal, Unavailable
from referee.service.desk.lane import Lane
from referee.service.desk.logbook import Logbook
from referee.service.desk.metering import LinkState
from referee.service.desk.readiness import Readiness
from referee.service.desk.watched_thread import WatchedThread
from referee.service.preflight.contest_checks import blockers
from referee.service.setup.clock import Clock
from referee.service.setup.config import LENGTH_MOST_S
from referee.service.setup.contest import Contest
from referee.service.setup.finality import require_provisional
from referee.store.annotations import insert_extra_time
from referee.store.database import Connection
from referee.store.notices import insert_audit
from referee.store.sessions import (
    SessionRecord,
    all_sessions,
    create_session,
    load_session,
    record_event,
)

_TIMER_RUNS = (
    "The meter's timer ends the measurement of session {} with its present length, and cannot be "
    "moved while it runs. Time after that would have no energy. Let the session end, or void it, "
    "and give the extra time to the team's next session before its login."
)

# The clock reads the database at least this often.
_LOOK_S = 0.5
_CLOSE_S = 15.0

_log = logging.getLogger(__name__)


def make_session(
    contest: Contest, connection: Connection, team: str, lane: int, now: Instant
) -> int:
    """Add a session as configured; a shuffled one gets a secret random image order."""
    settings = contest.config.contest
    return create_session(
        connection,
        team=team,
        lane=lane,
        length_s=float(settings.seconds),
        order_seed=secrets.randbits(64) if settings.shuffle else None,
        now=now,
        track=contest.track.name,
    )


def make_by_hand(contest: Contest, team: str, operator: str, lane: int) -> int:
    """Make a session for a team in a lane, with its audit, and return its number.

    Raises `Refusal` if the team already has a READY session (code `session_ready`).
    """
    now = contest.clock.now()
    with contest.database.write() as connection:
        require_provisional(connection)
        for session in all_sessions(connection):
            ready = state_of(session.facts, contest.clock.now()) is SessionState.READY
            if session.team == team and ready:
                raise Refusal(
                    "session_ready",
                    f"Session {session.session_id} of '{team}' is READY: arm that one, or void it "
                    "first.",
                )
        session_id = make_session(contest, connection, team, lane, now)
        detail = f"team {team}" + (f", lane {lane}" if len(contest.config.lanes) > 1 else "")
        insert_audit(connection, now, operator, "new session", session_id, detail)
    return session_id


class Arming:
    """The arming of sessions in a desk's lanes; a caller holds the lock of the session's lane."""

    def __init__(self, contest: Contest, lanes: Sequence[Lane], readiness: Readiness) -> None:
        self._contest = contest
        self._lanes = lanes
        self._readiness = readiness

    def arm(self, lane: Lane, session_id: int, operator: str) -> None:
        """Prepare the lane's meter and let a session's team log in, as `ControlDesk.arm` says."""
        session = load_session(self._contest.database.connection, session_id)
        state = state_of(session.facts, self._contest.clock.now())
        if require(state, SessionEvent.ARM) is state:
            return
        live = lane.live()
        if live is not None:
            raise self._busy(live)
        self._require_team_free(session)
        lane.require_display()
        self._readiness.require(lane.number)
        lane.prepare(session.facts.length_s)
        with self._contest.database.write() as connection:
            self._require_team_free(session)
            _record_armed(connection, session_id, self._contest.clock.now(), operator)
        lane.expect_images(session_id)

    def arm_new(self, lane: Lane, team: str, operator: str) -> SessionRecord:
        """Prepare the lane's meter, then make an armed session; a failure makes no session."""
        obstacles = blockers(self._contest)
        if obstacles:
            raise Refusal("not_ready", " ".join(obstacles), tuple(obstacles))
        lane.prepare(float(self._contest.config.contest.seconds))
        now = self._contest.clock.now()
        with self._contest.database.write() as connection:
            session_id = make_session(self._contest, connection, team, lane.number, now)
            _record_armed(connection, session_id, now, operator)
        lane.expect_images(session_id)
        return load_session(self._contest.database.connection, session_id)

    def _require_team_free(self, session: SessionRecord) -> None:
        """Raise `Refusal` if a session of the same team is live in another lane."""
        for lane in self._lanes:
            live = lane.live()
            if live is not None and live.team == session.team and lane.number != session.lane:
                raise self._busy(live, f" in lane '{lane.name}'")

    def _busy(self, live: SessionRecord, where: str = "") -> Refusal:
        state = state_of(live.facts, self._contest.clock.now()).value
        return Refusal(
            "other_session_live",
            f"Session {live.session_id} of '{live.team}' is {state}{where}: stop or void it first.",
        )


def _record_armed(connection: Connection, session_id: int, now: Instant, operator: str) -> None:
    record_event(connection, session_id, "armed", now, actor=operator)
    insert_audit(connection, now, operator, "arm", session_id)


def end_session(contest: Contest, lane: Lane, session_id: int, cause: EndCause, actor: str) -> None:
    """End a running session of a lane, as `ControlDesk.end` says; the caller has its lock."""
    session = load_session(contest.database.connection, session_id)
    require(state_of(session.facts, contest.clock.now()), SessionEvent.END)
    lane.clear_display(session_id)
    if session.facts.ended is None and session.facts.started is not None:
        with contest.database.write() as connection:
            # The time of the end is read inside the transaction. So an answer that was committed
            # earlier arrived before the end, and a later commit sees the end.
            now = contest.clock.now()
            at, why = end_to_record(session.facts, now, cause)
            record_event(connection, session_id, "ended", at, actor=actor, cause=why.value)
            if cause is EndCause.STOP:
                insert_audit(connection, now, actor, "stop", session_id)
    lane.settling.wake()


def void_session(contest: Contest, lane: Lane, session_id: int, operator: str, reason: str) -> None:
    """Declare a session of a lane void, and stop it if it runs; the caller has the lane's lock."""
    if not reason.strip():
        raise Refusal("reason_missing", "Voiding a session needs a reason. Give one.")
    session = load_session(contest.database.connection, session_id)
    state = state_of(session.facts, contest.clock.now())
    if state is SessionState.VOID:
        return
    require(state, SessionEvent.ABORT)
    if session.facts.started is not None and session.facts.ended is None:
        # The session runs, or the clock has not recorded its deadline yet.
        end_session(contest, lane, session_id, EndCause.STOP, operator)
    if state is SessionState.ARMED:
        # A lost meter must not keep anybody from voiding. Its timer ends the integration.
        with suppress(Unavailable):
            lane.stop_lost_start(session_id)
    now = contest.clock.now()
    with contest.database.write() as connection:
        require_provisional(connection)
        record_event(connection, session_id, "voided", now, actor=operator, cause=reason)
        insert_audit(connection, now, operator, "void", session_id, reason=reason)
    lane.clear_display(session_id)


def extend(
    contest: Contest,
    lane: Lane,
    session_id: int,
    operator: str,
    *,
    seconds: int,
    reason: str,
    seen_length_s: float,
) -> None:
    """Give a session of a lane more time, as `ControlDesk.extend` says; the caller has its lock."""
    if not reason.strip():
        raise Refusal("reason_missing", "Extra time needs a reason. Give one.")
    session = load_session(contest.database.connection, session_id)
    state = require(state_of(session.facts, contest.clock.now()), SessionEvent.EXTEND)
    length_s = session.facts.length_s
    if seen_length_s != length_s:
        raise Refusal(
            "length_moved",
            f"Session {session_id} has {length_s:.0f} s by now, not {seen_length_s:.0f} s. "
            "Look again.",
        )
    if not 0 < seconds <= LENGTH_MOST_S - length_s:
        raise Refusal("seconds_wrong", f"Give 1 to {LENGTH_MOST_S - length_s:.0f} seconds more.")
    if state is SessionState.RUNNING and lane.metering.status.link is not LinkState.NONE:
        raise Refusal("timer_runs", _TIMER_RUNS.format(session_id))
    if state is SessionState.ARMED:
        lane.prepare(length_s + seconds)
    with contest.database.write() as connection:
        require_provisional(connection)
        # The time is read inside the transaction: extra time revives no session.
        now = contest.clock.now()
        require(state_of(session.facts, now), SessionEvent.EXTEND)
        insert_extra_time(connection, session_id, seconds, now, operator=operator, reason=reason)
        detail = f"{seconds} s"
        insert_audit(connection, now, operator, "extra time", session_id, detail, reason=reason)


def standing_after(contest: Contest, session: SessionRecord) -> int | None:
    """Return the number of the team's newest later session that is not void, or None."""
    for other in all_sessions(contest.database.connection):
        later = other.session_id > session.session_id and other.team == session.team
        if later and other.facts.voided is None:
            return other.session_id
    return None


class SessionClock:
    """The thread `session-clock`: it ends each lane's session when the session's time is over.

    It reads the live sessions from the database each time, so a restart loses nothing.
    """

    def __init__(
        self, clock: Clock, lanes: Sequence[Lane], end: Callable[[int], None], logbook: Logbook
    ) -> None:
        self._clock = clock
        self._lanes = lanes
        self._end = end
        self._logbook = logbook
        self._changed = threading.Event()
        self._stopping = threading.Event()
        self._troubled: set[int] = set()
        self._thread = WatchedThread("session-clock", self._run, self._stopping, logbook.alarm)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def look_now(self) -> None:
        """Check at once, because a session has begun."""
        self._changed.set()

    def close(self) -> None:
        """End the thread; sessions continue."""
        self._stopping.set()
        self._changed.set()
        self._thread.join(_CLOSE_S)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._changed.clear()
            self._changed.wait(min(self._look_after(lane) for lane in self._lanes))

    def _look_after(self, lane: Lane) -> float:
        """End the lane's session if its time is over; return the seconds until the next check."""
        try:
            wait_s = self._end_if_due(lane)
        except Exception as error:
            # The disk fails or is full. The next check tries again.
            _log.exception("the clock could not look after lane %d", lane.number)
            if lane.number not in self._troubled:
                self._troubled.add(lane.number)
                self._logbook.alarm(f"The end of a session could not be recorded: {error}")
            return _LOOK_S
        self._troubled.discard(lane.number)
        return wait_s

    def _end_if_due(self, lane: Lane) -> float:
        live = lane.live()
        if live is None or live.facts.started is None:
            return _LOOK_S
        left = remaining_s(live.facts, self._clock.now())
        if left <= 0.0:
            self._end(live.session_id)
            return _LOOK_S
        return min(left, _LOOK_S)
