# SPDX-License-Identifier: Apache-2.0
"""After a session's end: stop the meter, fetch its final energy, and judge it."""

from __future__ import annotations

import logging
import math
import threading
from dataclasses import replace

from power.energy.judge import EnergyResult, Verdict, judge_energy
from power.follow.schedule import LOST_METER_S
from referee.core.instant import seconds_between
from referee.core.states import EndCause
from referee.errors import Unavailable
from referee.service.desk.logbook import DeskRecord
from referee.service.desk.metering import LinkState, Metering
from referee.service.setup.contest import Contest
from referee.store.readings import (
    boots_of,
    energy_of,
    insert_energy,
    readings_of,
)
from referee.store.sessions import SessionRecord, latest_started, unsettled_sessions

LINK_PATIENCE_S = LOST_METER_S
"""A meter that is lost at the end is waited for this long; its integrator keeps the energy."""

# The meter's own timer was set to the session's length: it is given this long past the deadline
# to end by itself, which is the more exact end.
_TIMER_GRACE_S = 0.3
_LOOK_S = 1.0
_STOP_WAIT_S = 5.0
_FINISH_S = 20.0
_CLOSE_S = 15.0

_log = logging.getLogger(__name__)


class _Stopped(Exception):
    """Leave a session as it is, because the desk is being stopped."""


class Settling:
    """Own the thread `settling`, which gives every ended session its judged energy.

    What is to be done stands in the database: ended sessions without an energy. So a session
    whose settling failed, or that an earlier desk left, is taken up again by itself. The meter
    is touched only for the session that was started last; what it shows belongs to no other.
    """

    def __init__(self, contest: Contest, metering: Metering, record: DeskRecord) -> None:
        self._contest = contest
        self._metering = metering
        self._record = record
        self._stopping = threading.Event()
        self._wake = threading.Event()
        self._progress = threading.Condition()
        self._meter_told: set[int] = set()
        self._trouble = ""
        self._thread = threading.Thread(target=self._run, name="settling", daemon=True)

    def start(self) -> None:
        """Begin to look for ended sessions."""
        self._thread.start()

    def close(self) -> None:
        """End the thread; what is not settled will be at the next start."""
        self._stopping.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(_CLOSE_S)

    def wake(self) -> None:
        """Look now: a session has ended."""
        self._wake.set()

    def is_settled(self, session_id: int) -> bool:
        """Tell whether the session's energy has been judged, so that readings no longer count."""
        return energy_of(self._contest.database.connection, session_id) is not None

    def wait_for_stop(self, session_id: int) -> None:
        """Wait, five seconds at most, until the meter has been told to stop."""
        with self._progress:
            self._progress.wait_for(lambda: session_id in self._meter_told, _STOP_WAIT_S)

    def finish(self) -> None:
        """Wait until nothing is left to settle: the next session's reset would erase it.

        Raises `Unavailable` after 20 seconds, which is when the meter or the disk does not
        answer.
        """
        connection = self._contest.database.connection
        with self._progress:
            done = self._progress.wait_for(lambda: not unsettled_sessions(connection), _FINISH_S)
        if not done:
            raise Unavailable(
                "The energy of the session before is not fetched yet: the meter or the disk does "
                "not answer. Look at them, and try again."
            )

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._wake.clear()
            try:
                for session in unsettled_sessions(self._contest.database.connection):
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
        """Raise the alarm once for each kind of trouble; it is tried again every second."""
        if str(error) == self._trouble:
            return
        self._trouble = str(error)
        _log.error("an ended session could not be settled", exc_info=error)
        self._record.notify(None, "alarm", f"An ended session has no energy yet: {error}")

    def _settle(self, session: SessionRecord) -> None:
        trouble = self._fetch(session)
        self._record.flush()
        result = self._judge(session)
        reasons = [finding.text for finding in result.findings]
        verdict = result.verdict
        if trouble is not None:
            reasons.insert(0, trouble)
        if boots_of(self._contest.database.connection, session.session_id) > 1:
            reasons.insert(0, "The referee's laptop was started anew during the session.")
            verdict = verdict if verdict is Verdict.INVALID else Verdict.SUSPECT
        with self._contest.database.write() as connection:
            insert_energy(
                connection,
                session.session_id,
                utc=self._contest.clock.now().utc.isoformat(),
                energy_wh=result.energy_wh,
                uncertainty_wh=result.uncertainty_wh,
                verdict=verdict.value,
                detail=_detail(result, reasons),
            )
        energy = "none" if result.energy_wh is None else f"{result.energy_wh:.6f} Wh"
        self._record.notify(session.session_id, "info", f"Energy {energy}, {verdict.value}.")

    def _fetch(self, session: SessionRecord) -> str | None:
        """Stop the meter and store its final readings; return a text where that cannot be."""
        if self._metering.status.link is LinkState.NONE:
            self._told(session.session_id)
            return None
        if latest_started(self._contest.database.connection) != session.session_id:
            return "The final energy was not read before the next session used the meter."
        if session.facts.end_cause is EndCause.DEADLINE:
            self._pause(_TIMER_GRACE_S)
        now = self._contest.clock.now
        begun = now()
        while True:
            try:
                self._metering.stop()
                self._told(session.session_id)
                for reading in self._metering.read_final(self._pause, _length_s(session)):
                    self._record.keep(session, reading)
                return None
            except Unavailable as error:
                # A contestant that logs out is not kept waiting for a lost meter.
                self._told(session.session_id)
                if seconds_between(begun, now()) > LINK_PATIENCE_S:
                    return f"The meter could not be read at the end: {error}"
                self._pause(_LOOK_S)

    def _pause(self, seconds: float) -> None:
        if self._stopping.wait(seconds):
            raise _Stopped

    def _told(self, session_id: int) -> None:
        with self._progress:
            self._meter_told.add(session_id)
            self._progress.notify_all()

    def _judge(self, session: SessionRecord) -> EnergyResult:
        facts = session.facts
        if facts.started is None or facts.ended is None:
            raise Unavailable(f"Session {session.session_id} has no start or no end.")
        stored = readings_of(self._contest.database.connection, session.session_id)
        # Seconds of the session, which go on across a reboot, unlike the monotonic clock's.
        readings = [replace(r, monotonic_s=s) for s, r in sorted(stored, key=lambda pair: pair[0])]
        return judge_energy(
            readings,
            session_s=seconds_between(facts.started, facts.ended),
            settings=replace(self._metering.settings, timer_s=int(facts.length_s)),
            identity=self._metering.status.identity,
        )


def _length_s(session: SessionRecord) -> float:
    """Return for how long the session ran, in seconds; NaN while that is not known."""
    started, ended = session.facts.started, session.facts.ended
    return math.nan if started is None or ended is None else seconds_between(started, ended)


def _detail(result: EnergyResult, reasons: list[str]) -> dict[str, object]:
    return {
        "reasons": reasons,
        "findings": [
            {"code": f.code, "severity": f.severity.value, "text": f.text} for f in result.findings
        ],
        "integrator_wh": result.integrator_wh,
        "cross_check_wh": result.cross_check_wh,
        "integration_s": result.integration_s,
    }
