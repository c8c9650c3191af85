# SPDX-License-Identifier: Apache-2.0
"""The control desk: everything that must exist once, that is the start and the end of a session."""

from __future__ import annotations

import logging
import secrets
import threading
from collections.abc import Callable, Mapping
from typing import Any

from power.meter import IntegrationStart, Reading
from referee.core.instant import Instant, seconds_between
from referee.core.states import (
    EndCause,
    SessionEvent,
    SessionState,
    remaining_s,
    require,
    state_of,
)
from referee.errors import RefereeError, Refusal, Unavailable
from referee.service.desk.logbook import DeskRecord
from referee.service.desk.metering import LinkState, Metering, MeterStatus
from referee.service.desk.settling import Settling
from referee.service.preflight.blockers import blockers
from referee.service.setup.clock import shifted
from referee.service.setup.contest import Contest
from referee.store.database import Connection
from referee.store.notices import insert_audit
from referee.store.sessions import (
    SessionRecord,
    all_sessions,
    create_session,
    latest_of_team,
    latest_started,
    live_session,
    load_session,
    record_event,
)

# The clock thread looks into the database at least this often.
_LOOK_S = 0.5
# A login is given up before START when preparing took this long: whoever waits for it on the
# desk's socket must still be there to be told that the session has begun.
_LOGIN_S = 25.0
_CLOSE_S = 15.0

_log = logging.getLogger(__name__)


class ControlDesk:
    """Arm, begin, end and void sessions, one at a time.

    All state is in the database and the meter, so a desk that was killed and started again goes
    on where it was. Threads: `session-clock` ends sessions at their deadline, `meter` belongs to
    `metering`, `settling` fetches the final energy.
    """

    def __init__(
        self, contest: Contest, make_metering: Callable[[ReadingSink, LinkSink], Metering]
    ) -> None:
        self._contest = contest
        self._lock = threading.RLock()
        self._changed = threading.Event()
        self._stopping = threading.Event()
        self._record = DeskRecord(contest)
        # The session whose readings are kept, from its start until its energy has been judged.
        self._measured: SessionRecord | None = None
        self._prepared_for: int | None = None
        self.metering = make_metering(self._keep_reading, self._link_changed)
        self._settling = Settling(contest, self.metering, self._record)
        self._clock_thread = threading.Thread(
            target=self._run_clock, name="session-clock", daemon=True
        )

    def start(self) -> None:
        """Take up what an earlier desk left, then start the threads."""
        self._measured = self._to_measure()
        self.metering.start_thread()
        self._settling.start()
        self._clock_thread.start()

    def close(self) -> None:
        """End the threads; a running session and the meter's integration go on."""
        self._stopping.set()
        self._changed.set()
        if self._clock_thread.is_alive():
            self._clock_thread.join(_CLOSE_S)
        self._settling.close()
        self.metering.close()
        self._record.close()

    def new_session(self, team: str, operator: str) -> int:
        """Make a session for a team and return its number.

        Raises `Refusal` (code `session_ready`) while the team has one that was not armed yet.
        """
        now = self._contest.clock.now()
        with self._contest.database.write() as connection:
            for session in all_sessions(connection):
                if session.team == team and self._state(session) is SessionState.READY:
                    raise Refusal(
                        "session_ready",
                        f"Session {session.session_id} of '{team}' is READY: arm that one, or "
                        "void it first.",
                    )
            session_id = self._create(connection, team, now)
            self._audit(connection, now, operator, "new session", session_id, f"team {team}")
        return session_id

    def arm(self, session_id: int, operator: str) -> None:
        """Prepare the meter and let the session's team log in; a repeat changes nothing.

        Raises `Refusal` where the state forbids it or another session is armed or running, and
        `Unavailable` when the meter cannot be prepared; then the session stays READY.
        """
        with self._lock:
            session = load_session(self._contest.database.connection, session_id)
            state = self._state(session)
            if require(state, SessionEvent.ARM) is state:
                return
            live = live_session(self._contest.database.connection)
            if live is not None:
                raise Refusal(
                    "other_session_live",
                    f"Session {live.session_id} of '{live.team}' is {self._state(live).value}: "
                    "stop or void it first.",
                )
            found = blockers(self._contest)
            if found:
                raise Refusal("not_ready", " ".join(found), tuple(found))
            self._prepare(session)
            now = self._contest.clock.now()
            with self._contest.database.write() as connection:
                record_event(connection, session_id, "armed", now, actor=operator)
                self._audit(connection, now, operator, "arm", session_id, "")

    def begin(self, team: str, address: str) -> int:
        """Start the armed session of a team that has logged in, and return its number.

        While the session runs a repeat returns the same number and does nothing else. In practice
        every login makes and arms a session by itself. Raises `Refusal` when it is not this
        team's turn, `Unavailable` when the meter does not start; then nothing has begun.
        """
        asked = self._contest.clock.now()
        with self._lock:
            session = self._session_of(team)
            if session is None or not self._may_begin(session):
                session = self._session_for_login(team, session)
            if self._state(session) is SessionState.RUNNING:
                return session.session_id
            if self._prepared_for != session.session_id:
                self._prepare(session)
            if seconds_between(asked, self._contest.clock.now()) > _LOGIN_S:
                raise Unavailable("Preparing the power meter took too long; log in again.")
            # Whatever comes next, the meter has to be prepared again before another start.
            self._prepared_for = None
            integration = self.metering.start()
            now = self._contest.clock.now()
            started = now
            if integration is not None:
                started = shifted(now, integration.written_s - now.monotonic_s)
            with self._contest.database.write() as connection:
                record_event(connection, session.session_id, "started", started, actor=team)
            self._record.notify(
                session.session_id, "info", _login_text(team, address, now, integration)
            )
            self._measured = load_session(self._contest.database.connection, session.session_id)
            self._changed.set()
            return session.session_id

    def end(self, session_id: int, cause: EndCause, actor: str) -> None:
        """End a running session and stop the meter; a repeat changes nothing.

        The end is recorded before the meter is touched. A meter that cannot be reached stops by
        its own timer; its energy is fetched, and judged, as soon as it answers again.
        """
        with self._lock:
            database = self._contest.database
            session = load_session(database.connection, session_id)
            require(self._state(session), SessionEvent.END)
            if session.facts.ended is None and session.facts.started is not None:
                deadline = shifted(session.facts.started, session.facts.length_s)
                with database.write() as connection:
                    # The end is taken inside the transaction: an answer whose transaction came
                    # before has a last byte before it, one that comes after sees it.
                    now = self._contest.clock.now()
                    late = seconds_between(deadline, now) >= 0
                    record_event(
                        connection,
                        session_id,
                        "ended",
                        deadline if late else now,
                        actor=actor,
                        cause=(EndCause.DEADLINE if late else cause).value,
                    )
                    if cause is EndCause.STOP:
                        self._audit(connection, now, actor, "stop", session_id, "")
            self._settling.wake()

    def void(self, session_id: int, operator: str, reason: str) -> None:
        """Declare a session void, with a reason that is kept; a running one is stopped."""
        if not reason.strip():
            raise Refusal("reason_missing", "A session is voided with a reason: please give one.")
        with self._lock:
            session = load_session(self._contest.database.connection, session_id)
            state = self._state(session)
            if state is SessionState.VOID:
                return
            require(state, SessionEvent.ABORT)
            if session.facts.started is not None and session.facts.ended is None:
                # It runs, or its deadline has passed and the clock has not recorded that yet.
                self.end(session_id, EndCause.STOP, operator)
            now = self._contest.clock.now()
            with self._contest.database.write() as connection:
                record_event(connection, session_id, "voided", now, actor=operator, cause=reason)
                self._audit(connection, now, operator, "void", session_id, reason)

    def state(self, session_id: int) -> SessionState:
        """Return a session's state now; raises `Refusal` (code `session_unknown`)."""
        return self._state(load_session(self._contest.database.connection, session_id))

    def handle(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Serve one request of the contest server (see `desk_link`)."""
        if request.get("action") == "begin":
            return {"session": self.begin(str(request["team"]), str(request["address"]))}
        if request.get("action") == "logout":
            session_id = int(request["session"])
            team = load_session(self._contest.database.connection, session_id).team
            self.end(session_id, EndCause.LOGOUT, team)
            self._settling.wait_for_stop(session_id)
            return {"session": session_id}
        raise Refusal("action_unknown", f"The desk knows no action '{request.get('action')}'.")

    def _state(self, session: SessionRecord) -> SessionState:
        return state_of(session.facts, self._contest.clock.now())

    def _session_of(self, team: str) -> SessionRecord | None:
        """Return the team's live session, else its newest one, which may be for later."""
        live = live_session(self._contest.database.connection)
        if live is not None and live.team == team:
            return live
        return latest_of_team(self._contest.database.connection, team)

    def _may_begin(self, session: SessionRecord) -> bool:
        return self._state(session) in (SessionState.ARMED, SessionState.RUNNING)

    def _session_for_login(self, team: str, latest: SessionRecord | None) -> SessionRecord:
        """Return a freshly armed session in practice; refuse in an event."""
        if self._contest.config.contest.mode != "practice":
            over = latest is not None and latest.facts.started is not None
            raise Refusal(
                "session_over" if over else "not_armed",
                (
                    "Your session is over; only the operator can arm another one."
                    if over
                    else "It is not your turn yet: the operator has not armed your session."
                ),
            )
        self._require_free_for_practice()
        now = self._contest.clock.now()
        with self._contest.database.write() as connection:
            session_id = self._create(connection, team, now)
        try:
            self.arm(session_id, "practice")
        except RefereeError as error:
            self.void(session_id, "practice", f"it could not be armed: {error}")
            raise
        return load_session(self._contest.database.connection, session_id)

    def _require_free_for_practice(self) -> None:
        live = live_session(self._contest.database.connection)
        if live is None:
            return
        state = self._state(live)
        if state is SessionState.RUNNING:
            left = remaining_s(live.facts, self._contest.clock.now())
            raise Refusal(
                "other_session_live",
                f"A session of '{live.team}' is running; it ends in {left:.0f} s at the latest.",
            )
        if state is SessionState.ARMED:
            self.void(live.session_id, "practice", "its login did not succeed")
        else:
            self.end(live.session_id, EndCause.DEADLINE, "practice")

    def _create(self, connection: Connection, team: str, now: Instant) -> int:
        settings = self._contest.config.contest
        return create_session(
            connection,
            team=team,
            length_s=float(settings.seconds),
            order_seed=secrets.randbits(64) if settings.shuffle else None,
            now=now,
        )

    def _prepare(self, session: SessionRecord) -> None:
        self._settling.finish()
        self.metering.prepare(int(session.facts.length_s))
        self._prepared_for = session.session_id

    def _audit(
        self,
        connection: Connection,
        now: Instant,
        operator: str,
        action: str,
        session_id: int,
        detail: str,
    ) -> None:
        insert_audit(
            connection,
            utc=now.utc.isoformat(),
            operator=operator,
            action=action,
            session_id=session_id,
            detail=detail,
        )

    def _to_measure(self) -> SessionRecord | None:
        """Return the session that was started last, if its energy is still to be judged."""
        connection = self._contest.database.connection
        newest = latest_started(connection)
        if newest is None or self._settling.is_settled(newest):
            return None
        return load_session(connection, newest)

    def _keep_reading(self, reading: Reading) -> None:
        measured = self._measured
        if measured is None:
            return
        if self._settling.is_settled(measured.session_id):
            self._measured = None
        else:
            self._record.keep(measured, reading)

    def _link_changed(self, status: MeterStatus) -> None:
        measured = self._measured
        session_id = None if measured is None else measured.session_id
        if status.link is LinkState.OK and status.text:
            text = f"The power meter cannot be read until the session ends: {status.text}"
            self._record.notify(session_id, "alarm", text)
            return
        if status.link is LinkState.OK:
            self._record.notify(session_id, "info", "The power meter answers.")
            return
        # A meter that was away may have been switched off, or may be another one.
        self._prepared_for = None
        self._record.notify(session_id, "alarm", f"The power meter is lost: {status.text}")

    def _run_clock(self) -> None:
        troubled = False
        while not self._stopping.is_set():
            wait_s = _LOOK_S
            try:
                wait_s = min(_LOOK_S, self._end_if_due())
                troubled = False
            except Exception as error:
                # A disk that fails or is full: the clock must live on and try again.
                _log.exception("the clock could not look after the session")
                if not troubled:
                    self._record.notify(
                        None, "alarm", f"The end of a session is not recorded: {error}"
                    )
                troubled = True
            self._changed.wait(wait_s)
            self._changed.clear()

    def _end_if_due(self) -> float:
        """End the live session if its time is over; return the seconds until it will be."""
        live = live_session(self._contest.database.connection)
        if live is None or live.facts.started is None:
            return _LOOK_S
        left = remaining_s(live.facts, self._contest.clock.now())
        if left <= 0.0:
            self.end(live.session_id, EndCause.DEADLINE, "clock")
            return _LOOK_S
        return left


ReadingSink = Callable[[Reading], None]
LinkSink = Callable[[MeterStatus], None]


def _login_text(team: str, address: str, now: Instant, start: IntegrationStart | None) -> str:
    if start is None:
        return f"'{team}' logged in from {address}; there is no meter."
    return (
        f"'{team}' logged in from {address}; the meter's START was confirmed "
        f"{start.confirmed_s - start.sent_s:.3f} s after it was sent, and the login is answered "
        f"{now.monotonic_s - start.written_s:.3f} s after the start."
    )
