# SPDX-License-Identifier: Apache-2.0
"""After a session's end: stop the meter, fetch its final energy, and judge it."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from power.energy import EnergyResult, judge_energy
from power.meter import Reading
from referee.core.instant import seconds_between
from referee.core.states import EndCause
from referee.errors import RefereeError, Unavailable
from referee.service.contest import Contest
from referee.service.metering import LinkState, Metering
from referee.store.journal import Journal
from referee.store.notices import Level
from referee.store.readings import energy_of, insert_energy, insert_reading, readings_of
from referee.store.sessions import SessionRecord, load_session

__all__ = ["Settling"]

# The meter's own timer was set to the session's length: it is given this long past the deadline
# to end by itself, which is the more exact end.
_TIMER_GRACE_S = 0.3
# A meter that is lost at the end is waited for this long; its integrator keeps the energy.
_LINK_PATIENCE_S = 120.0
_RETRY_S = 1.0
_STOP_WAIT_S = 5.0

Notify = Callable[[int | None, Level, str], None]

_log = logging.getLogger(__name__)


class Settling:
    """Own the thread `settling`, which works off ended sessions one after the other."""

    def __init__(
        self, contest: Contest, metering: Metering, journal: Journal, notify: Notify
    ) -> None:
        self._contest = contest
        self._metering = metering
        self._journal = journal
        self._notify = notify
        self._queue: queue.Queue[int | None] = queue.Queue()
        self._stopping = threading.Event()
        self._known: set[int] = set()
        self._settled: set[int] = set()
        self._stopped: dict[int, threading.Event] = {}
        self._idle = threading.Condition()
        self._waiting = 0
        self._thread = threading.Thread(target=self._run, name="settling", daemon=True)

    def start(self) -> None:
        """Begin to work off what has been added."""
        self._thread.start()

    def close(self) -> None:
        """End the thread; what is not settled will be at the next start."""
        self._stopping.set()
        self._queue.put(None)
        if self._thread.is_alive():
            self._thread.join()

    def add(self, session_id: int) -> None:
        """Settle a session that has ended; a repeat changes nothing."""
        with self._idle:
            if session_id in self._known:
                return
            self._known.add(session_id)
            self._stopped[session_id] = threading.Event()
            self._waiting += 1
        self._queue.put(session_id)

    def add_if_unsettled(self, session: SessionRecord) -> None:
        """Settle a session that an earlier desk left without a judged energy."""
        if energy_of(self._contest.database.connection, session.session_id) is None:
            self.add(session.session_id)
        else:
            self._settled.add(session.session_id)

    def is_settled(self, session_id: int) -> bool:
        """Tell whether the session's energy has been judged, so that readings no longer count."""
        return session_id in self._settled

    def wait_for_stop(self, session_id: int) -> None:
        """Wait, some seconds at most, until the meter has been told to stop."""
        stopped = self._stopped.get(session_id)
        if stopped is not None:
            stopped.wait(_STOP_WAIT_S)

    def finish(self) -> None:
        """Wait until nothing is left to settle: the next session's reset would erase it.

        Raises `Unavailable` when that takes too long, which is when the meter is lost.
        """
        with self._idle:
            if not self._idle.wait_for(lambda: self._waiting == 0, timeout=20.0):
                raise Unavailable(
                    "The energy of the session before is still being fetched: the meter does "
                    "not answer. Check it, and arm again."
                )

    def _run(self) -> None:
        while (session_id := self._queue.get()) is not None:
            try:
                self._settle(session_id)
            except RefereeError as error:
                self._notify(session_id, "alarm", f"Session {session_id} is not settled: {error}")
            except Exception:
                _log.exception("settling session %d failed", session_id)
                self._notify(session_id, "alarm", f"Settling session {session_id} failed; see log.")
            finally:
                self._stopped[session_id].set()
                with self._idle:
                    self._waiting -= 1
                    self._idle.notify_all()

    def _settle(self, session_id: int) -> None:
        database = self._contest.database
        session = load_session(database.connection, session_id)
        if session.facts.end_cause is EndCause.DEADLINE:
            self._stopping.wait(_TIMER_GRACE_S)
        lost = self._stop_and_read(session)
        self._settled.add(session_id)
        self._journal.submit(lambda connection: None).result(30.0)
        result = self._judge(session)
        reasons = [finding.text for finding in result.findings]
        if lost is not None:
            reasons.insert(0, lost)
        with database.write() as connection:
            insert_energy(
                connection,
                session_id,
                utc=self._contest.clock.now().utc.isoformat(),
                energy_wh=result.energy_wh,
                uncertainty_wh=result.uncertainty_wh,
                verdict=result.verdict.value,
                detail={
                    "reasons": reasons,
                    "findings": [
                        {"code": f.code, "severity": f.severity.value, "text": f.text}
                        for f in result.findings
                    ],
                    "integrator_wh": result.integrator_wh,
                    "cross_check_wh": result.cross_check_wh,
                    "integration_s": result.integration_s,
                },
            )
        energy = "none" if result.energy_wh is None else f"{result.energy_wh:.6f} Wh"
        self._notify(session_id, "info", f"Energy {energy}, {result.verdict.value}.")

    def _stop_and_read(self, session: SessionRecord) -> str | None:
        """Stop the meter and store its final readings; return a text where that failed."""
        if self._metering.status.link is LinkState.NONE:
            return None
        now = self._contest.clock.now
        begun = now()
        while not self._stopping.is_set():
            try:
                self._metering.stop()
                self._stopped[session.session_id].set()
                self._final_readings(session)
                return None
            except Unavailable as error:
                # A contestant that logs out is not kept waiting for a lost meter.
                self._stopped[session.session_id].set()
                if seconds_between(begun, now()) > _LINK_PATIENCE_S:
                    return f"The meter could not be read at the end: {error}"
                self._stopping.wait(_RETRY_S)
        raise Unavailable("the desk was stopped meanwhile; it goes on at the next start.")

    def _final_readings(self, session: SessionRecord) -> None:
        """Read until the held energy comes twice, an update apart."""
        for reading in self._metering.read_final(self._stopping.wait):
            self._keep(session, reading)

    def _keep(self, session: SessionRecord, reading: Reading) -> None:
        started = session.facts.started
        if started is None:
            return
        elapsed = reading.monotonic_s - started.monotonic_s
        self._journal.submit(
            lambda connection: insert_reading(connection, session.session_id, elapsed, reading)
        )

    def _judge(self, session: SessionRecord) -> EnergyResult:
        facts = session.facts
        if facts.started is None or facts.ended is None:
            raise Unavailable("it has no start or no end.")
        status = self._metering.status
        stored = readings_of(self._contest.database.connection, session.session_id)
        readings = sorted((reading for _, reading in stored), key=_time_of)
        return judge_energy(
            readings,
            session_s=seconds_between(facts.started, facts.ended),
            settings=replace(self._metering.settings, timer_s=int(facts.length_s)),
            identity=status.identity,
        )


def _time_of(reading: Reading) -> datetime:
    return reading.utc
