# SPDX-License-Identifier: Apache-2.0
"""Settling: after a session's end it stops the meter, reads the final energy, and has it judged."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from power.energy.moments import START_OFF_S
from power.energy.verdict import (
    Finding,
    invalid,
    suspect,
)
from power.follow import LOST_METER_S
from power.meter import IntegrationStart, IntegrationStop
from referee.core.instant import Instant, seconds_between
from referee.core.states import EndCause
from referee.errors import Unavailable
from referee.service.desk.logbook import Logbook
from referee.service.desk.metering import LinkState, Metering
from referee.service.desk.watched_thread import WatchedThread
from referee.service.results.session_energy import judge_session, seconds_run
from referee.service.setup.contest import Contest
from referee.store.readings import (
    insert_energy,
    session_meter_of,
)
from referee.store.sessions import SessionRecord, latest_started, unsettled_sessions

LINK_PATIENCE_S = LOST_METER_S
"""How long the desk waits for a meter that is lost at the end; its integrator keeps the energy."""

# After the deadline the meter's own timer gets this long to stop the integration. The timer is more
# exact than a stop command.
_TIMER_GRACE_S = 0.3
_LOOK_S = 1.0
_STOP_WAIT_S = 5.0
_FINISH_S = 20.0
_CLOSE_S = 15.0

_log = logging.getLogger(__name__)

# A START that was written at another time is that of another session.
_SAME_S = 1e-3


class _Stopped(Exception):
    """The desk is being stopped, so the session stays as it is."""


class Settling:
    """The thread `settling` of a lane: it gives each ended session its judged energy.

    The database holds the work: the lane's ended sessions without an energy. So the thread tries
    again when settling has failed, and continues the work of an earlier desk. It uses the meter
    only for the session that started last, because the meter's energy belongs to that session.
    `alarm` gets a sentence about what goes wrong. `slept_s` tells how long the laptop slept since
    the start of the session that started last. After `end_readings` no reading of a session is
    stored. `judged` is called when an energy is in the database.
    """

    def __init__(
        self,
        contest: Contest,
        lane: int,
        metering: Metering,
        logbook: Logbook,
        alarm: Callable[[str], object],
        *,
        slept_s: Callable[[], float],
        end_readings: Callable[[int], object],
        judged: Callable[[], object],
    ) -> None:
        self._contest = contest
        self._lane = lane
        self._metering = metering
        self._logbook = logbook
        self._alarm = alarm
        self._slept_s = slept_s
        self._end_readings = end_readings
        self._judged = judged
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self._progress = threading.Condition()
        self._meter_told: set[int] = set()
        self._trouble = ""
        self._thread = WatchedThread("settling", self._run, self._stopping, alarm)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """End the thread; the next start settles the remaining sessions."""
        self._stopping.set()
        self._wake.set()
        self._thread.join(_CLOSE_S)

    def wake(self) -> None:
        """Check at once, because a session has ended."""
        self._wake.set()

    def wait_for_stop(self, session_id: int) -> None:
        """Wait until the meter has got the command to stop, but at most five seconds."""
        with self._progress:
            self._progress.wait_for(lambda: session_id in self._meter_told, _STOP_WAIT_S)

    def finish(self) -> None:
        """Wait until every ended session is settled; the next reset would erase its energy.

        Raises `Unavailable` after 20 seconds, when the meter or the disk does not answer.
        """
        with self._progress:
            done = self._progress.wait_for(lambda: not self.unsettled(), _FINISH_S)
        if not done:
            raise Unavailable(
                "The energy of the session before is not fetched yet, because the meter or the "
                "disk does not answer. Check both, and try again."
            )

    def unsettled(self) -> list[SessionRecord]:
        """Return the lane's ended sessions without an energy."""
        return unsettled_sessions(self._contest.database.connection, self._lane)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wake.clear()
            try:
                for session in self.unsettled():
                    self._settle(session)
                self._trouble = ""
            except _Stopped:
                return
            except Exception as error:
                self._tell_trouble(error)
            with self._progress:
                self._progress.notify_all()
            self._wake.wait(_LOOK_S)

    def _tell_trouble(self, error: Exception) -> None:
        """Raise one alarm for repeated failures with the same text."""
        if str(error) == self._trouble:
            return
        self._trouble = str(error)
        _log.error("an ended session could not be settled", exc_info=error)
        self._alarm(f"An ended session has no energy yet: {error}")

    def _settle(self, session: SessionRecord) -> None:
        slept_s = min(self._slept_s(), seconds_run(session))
        fetched, stop = self._fetch(session)
        self._end_readings(session.session_id)
        self._logbook.flush()
        status = self._metering.status
        result, detail = judge_session(
            self._contest,
            session,
            self._metering.settings,
            status.identity,
            fetched,
            slept_s,
            stopped_s(
                session.facts.started, self._contest.clock.now(), self._metering.last_start, stop
            ),
        )
        with self._contest.database.write() as connection:
            insert_energy(
                connection,
                session.session_id,
                utc=self._contest.clock.now().utc.isoformat(),
                energy_wh=result.energy_wh,
                uncertainty_wh=result.uncertainty_wh,
                verdict=result.verdict.value,
                detail=detail,
            )
        self._judged()
        energy = "none" if result.energy_wh is None else f"{result.energy_wh:.6f} Wh"
        self._logbook.notify(
            session.session_id, "info", f"Energy {energy}, {result.verdict.value}."
        )

    def _fetch(self, session: SessionRecord) -> tuple[list[Finding], IntegrationStop | None]:
        """Stop the meter and store its final readings; return the findings on the way.

        The second value says when our STOP ended the integration, if it did.
        """
        if self._metering.status.link is LinkState.NONE:
            self._told(session.session_id)
            return [], None
        if latest_started(self._contest.database.connection, self._lane) != session.session_id:
            text = "The final energy was not read before the next session used the meter."
            return [suspect("meter_used_again", text)], None
        if session.facts.end_cause is EndCause.DEADLINE:
            self._pause(_TIMER_GRACE_S)
        now = self._contest.clock.now
        begun, session_s = now(), seconds_run(session)
        stop: IntegrationStop | None = None
        while True:
            try:
                self._metering.stop()
                stop = self._metering.last_stop or stop
                self._told(session.session_id)
                for reading in self._metering.read_final(self._pause, session_s):
                    self._logbook.keep(session, reading)
                return self._replaced(session), stop
            except Unavailable as error:
                # A contestant who logs out must not wait for a lost meter.
                self._told(session.session_id)
                if seconds_between(begun, now()) > LINK_PATIENCE_S:
                    text = f"The meter could not be read at the end: {error}"
                    return [suspect("not_read_at_end", text)], stop
                self._pause(_LOOK_S)

    def _replaced(self, session: SessionRecord) -> list[Finding]:
        """Return the finding that another meter answers at the end than at the start."""
        began = session_meter_of(self._contest.database.connection, session.session_id)
        now = self._metering.status.identity
        if began is None or began.identity is None or now is None:
            return []
        # A meter in another command mode tells another model.
        if now.serial == began.identity.serial:
            return []
        text = (
            f"Another meter answers at the end than at the start: {now.model} {now.serial}, not "
            f"{began.identity.model} {began.identity.serial}."
        )
        return [invalid("meter_replaced", text)]

    def _pause(self, seconds: float) -> None:
        if self._stopping.wait(seconds):
            raise _Stopped

    def _told(self, session_id: int) -> None:
        with self._progress:
            self._meter_told.add(session_id)
            self._progress.notify_all()


def stopped_s(
    started: Instant | None,
    now: Instant,
    start: IntegrationStart | None,
    stop: IntegrationStop | None,
) -> tuple[float, float] | None:
    """Return how long after START the desk's STOP came, at least and at most; None without one.

    A session counts from when START had been written, and the meter began a little before. `start`
    is the last one that this desk has sent; after a restart an earlier desk has sent it. A STOP of
    another boot has another clock.
    """
    if stop is None or started is None or started.boot_id != now.boot_id:
        return None
    written_s = started.monotonic_s
    if start is None or abs(start.written_s - written_s) > _SAME_S:
        start = IntegrationStart(written_s - START_OFF_S, written_s, written_s)
    return stop.after(start)
