# SPDX-License-Identifier: Apache-2.0
"""A lane's sessions in this computer's journal of runs, which every program asks before a reset."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from power.errors import MeterHolds
from power.meter import HeldResult, IntegrationState, Meter
from power.wipe_guard import Guard, look
from power.wipe_rule import RunEntry, RunEvent, beginning, ending, last_of
from referee.errors import Unavailable
from referee.service.desk.metering import Metering
from referee.service.setup.contest import Contest
from referee.store.readings import energy_of, newest_reading, session_meter_of
from referee.store.sessions import latest_started, load_session

# START follows its note within the longest time of a command.
_START_S = 30.0
# The integrator counts whole seconds, and shows them after an update.
_SLACK_S = 6.0
_ENDED = (IntegrationState.STOP, IntegrationState.TIMEUP, IntegrationState.ERROR)


class SessionRuns:
    """What the journal learns of a lane's sessions, and what it says of the lane's meter.

    `begun` is noted before START, `fetched` when the final energy is in the database. A journal
    that cannot be written keeps no session from running: `warn` gets a sentence, this desk
    remembers, and the next one learns it from the database.
    """

    def __init__(
        self, contest: Contest, lane: int, metering: Metering, warn: Callable[[str], object]
    ) -> None:
        self._contest = contest
        self._lane = lane
        self._metering = metering
        self._runs = metering.runs
        self._resource = metering.resource
        self._warn = warn
        self._warned = ""

    def obstacle(self) -> str:
        """Return why no session could begin on the idle meter; '' if one could."""
        self.catch_up()
        try:
            self._metering.look(self._metering.leave)
        except Unavailable as error:
            return str(error) if isinstance(error.__cause__, MeterHolds) else ""
        return ""

    def refusal(self) -> str:
        """Return why the meter could not be reset now, whatever the reason; '' if it could."""
        self.catch_up()
        try:
            self._metering.look(self._metering.leave)
        except Unavailable as error:
            return str(error)
        return ""

    def begin(self, session_id: int) -> None:
        """Note that a session is about to start the meter."""
        identity = self._metering.status.identity
        if identity is not None:
            utc = self._contest.clock.now().utc
            self._note(beginning(identity, self._resource, self._name(session_id), utc))

    def catch_up(self) -> None:
        """Note what the database knows of the session that started last, and the journal does not.

        Its result is fetched when its energy is judged by readings after the end.
        """
        connection = self._contest.database.connection
        session_id = latest_started(connection, self._lane)
        meter = None if session_id is None else session_meter_of(connection, session_id)
        if session_id is None or meter is None or meter.identity is None:
            return
        name, started = self._name(session_id), load_session(connection, session_id).facts.started
        last = last_of(self._runs.entries(), meter.identity.serial)
        if started is not None and (last is None or (last.log != name and last.at < started.utc)):
            last = beginning(meter.identity, self._resource, name, started.utc)
            self._note(last)
        if last is None or (last.log, last.event) != (name, RunEvent.BEGUN):
            return
        reading = newest_reading(connection, session_id)
        if reading is not None and reading.state in _ENDED and energy_of(connection, session_id):
            self._note_fetched(name, self._with_charge(HeldResult.of(meter.identity, reading)))

    def end_lost_start(self, session_id: int) -> bool:
        """End and give up what a session has started that never began; tell if there was any.

        It is the session's own if the session began last on this meter, and if it began then.
        """
        return self._metering.look(lambda meter: self._end_lost_start(meter, session_id))

    def is_lost_start(self, session_id: int) -> bool:
        """Tell whether the meter holds what a session has started that never began."""
        return self._metering.look(lambda meter: self._lost_start(meter, session_id))

    def give_up(self, session_id: int) -> None:
        """Stop the meter and note that its energy is nobody's: no session has begun."""
        self._metering.stop()
        self._metering.look(lambda meter: self._guard(meter).give_up(self._name(session_id)))

    def _end_lost_start(self, meter: Meter, session_id: int) -> bool:
        if not self._lost_start(meter, session_id):
            return False
        meter.stop()
        self._guard(meter).give_up(self._name(session_id))
        return True

    def _lost_start(self, meter: Meter, session_id: int) -> bool:
        result, name = look(meter), self._name(session_id)
        if result is None:
            return False
        last = last_of(self._runs.entries(), result.identity.serial)
        if last is None or (last.log, last.event) != (name, RunEvent.BEGUN):
            return False
        return _began_then(result, (self._contest.clock.now().utc - last.at).total_seconds())

    def _guard(self, meter: Meter) -> Guard:
        return Guard(meter, self._runs, self._resource, utc=lambda: self._contest.clock.now().utc)

    def _name(self, session_id: int) -> str:
        folder = self._contest.config.storage.folder.resolve()
        return f"session {session_id} of {folder}"

    def _with_charge(self, stored: HeldResult) -> HeldResult:
        """Return a stored result with its charge, which the database does not keep."""
        with suppress(Unavailable):
            result = self._metering.look(look)
            if result is not None and replace(result, charge_ah=None) == stored:
                return result
        return stored

    def _note_fetched(self, name: str, result: HeldResult) -> None:
        utc = self._contest.clock.now().utc.isoformat(timespec="seconds")
        self._note(ending(RunEvent.FETCHED, result, self._resource, name, utc))

    def _note(self, entry: RunEntry) -> None:
        try:
            self._runs.append(entry)
        except OSError as error:
            if str(error) != self._warned:
                self._warned = str(error)
                self._warn(
                    f"The journal of runs is not written: {error}. Sessions go on. Other programs "
                    "cannot know whether the meter's energy is fetched, and will not reset it."
                )


def _began_then(result: HeldResult, passed_s: float) -> bool:
    """Tell whether an integration began so many seconds ago, as far as the meter tells."""
    counted_s = result.integration_s
    if counted_s is None:
        return True
    if counted_s > passed_s + _SLACK_S:
        return False
    return result.state is not IntegrationState.START or counted_s >= passed_s - _START_S
