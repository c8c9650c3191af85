# SPDX-License-Identifier: Apache-2.0
"""A lane: a meter, the settling of its sessions, and at most one live session."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from power.emulated import is_emulated
from power.energy.conditions import conditions_to_json
from power.meter import IntegrationStart, Reading
from referee.core.devices import one_spelling
from referee.core.instant import Instant, seconds_between, shifted
from referee.core.states import SessionState, state_of
from referee.errors import Refusal, Unavailable
from referee.service.desk.logbook import Logbook, secure_wire_log
from referee.service.desk.metering import LinkState, Metering, MeterStatus
from referee.service.desk.session_runs import SessionRuns
from referee.service.desk.settling import Settling
from referee.service.desk.showing import Showing
from referee.service.display.display import Display
from referee.service.setup.contest import Contest
from referee.store.notices import Level, Subject
from referee.store.readings import (
    SessionMeter,
    energy_of,
    insert_session_meter,
)
from referee.store.session_addresses import insert_session_address
from referee.store.sessions import (
    SessionRecord,
    latest_started,
    live_session,
    load_session,
    record_event,
)
from referee.store.shows import last_frame
from referee.tracks.track import Delivery

NO_DISPLAY = "This contest has no display; fetch images with /image."
# If preparing the meter took this long, the desk refuses the login instead of starting the meter.
# The contest server waits 60 s for the desk, and must still be waiting when a session begins.
_LOGIN_S = 25.0


class MakeMetering(Protocol):
    """A factory for the owner of a lane's meter."""

    def __call__(
        self,
        *,
        on_reading: Callable[[Reading], None],
        on_link: Callable[[MeterStatus], None],
        on_death: Callable[[str], object],
    ) -> Metering:
        """Return an owner that reports each reading, each change of the link, and its death."""
        ...


class Lane:
    """A meter with the session that it measures, independent of other lanes.

    A caller must hold `lock` to arm, start, end or void a session of the lane.
    """

    def __init__(
        self, number: int, contest: Contest, logbook: Logbook, make_metering: MakeMetering
    ) -> None:
        self.number = number
        self.name = contest.config.lane(number).name
        self.lock = threading.RLock()
        self._contest = contest
        self._meter = contest.config.lane(number).meter
        self._logbook = logbook
        # The session whose readings are stored: from its start until its energy is judged. The
        # judge must see each stored reading, so `_keeping` guards it.
        self._measured: SessionRecord | None = None
        self._keeping = threading.Lock()
        self.metering = make_metering(
            on_reading=self._keep_reading, on_link=self._link_changed, on_death=self._alarm
        )
        self._runs = SessionRuns(contest, number, self.metering, self._warn)
        # A desk that takes over a running session counts its sleep from then on. What the laptop
        # slept before shows as a gap in the readings.
        self._asleep_before_s = contest.clock.asleep_s()
        self.settling = Settling(
            contest,
            number,
            self.metering,
            logbook,
            self._alarm,
            slept_s=self._slept_s,
            end_readings=self._end_readings,
            judged=self._runs.catch_up,
        )
        self.display: Display | None = None
        if contest.track.delivery is Delivery.SHOWN:
            last = last_frame(contest.database.connection)
            name = contest.config.lane(number).name
            settings = contest.config.camera
            self.display = Display(settings, contest.clock, self._tell, last, number, name)

    def start(self) -> None:
        """Continue the work of an earlier desk, and start the threads."""
        self._measured = self._to_measure()
        live = self.live()
        if live is not None:
            self.expect_images(live.session_id)
        self.metering.start_thread()
        self.settling.start()

    def close(self) -> None:
        """End the threads; a running session and the meter's integration continue."""
        self.settling.close()
        self.metering.close()

    def live(self) -> SessionRecord | None:
        """Return the lane's session that is recorded as armed or running, or None."""
        return live_session(self._contest.database.connection, self.number)

    def expect_images(self, session_id: int) -> None:
        """Make the lane's display, if it has one, black for a session."""
        if self.display is not None:
            self.display.expect(session_id)

    def clear_display(self, session_id: int) -> None:
        """Take a session that is over off the lane's display, if it has one."""
        if self.display is not None:
            self.display.clear(session_id)

    def require_display(self) -> None:
        """Raise `Refusal` (code `display_failed`) if the lane has a display that cannot paint.

        The proof is a black frame that the display's page paints and reports.
        """
        if self.display is not None:
            self.display.probe()

    def require_open_display(self) -> None:
        """Raise `Refusal` (code `display_failed`) if the lane's display cannot show frames now."""
        fault = "" if self.display is None else self.display.status().fault
        if fault:
            raise Refusal("display_failed", fault)

    def show(self, session: SessionRecord, image: int, requested: Instant) -> float:
        """Show an image on the lane's display (see `Showing.show`).

        Raises `Refusal` (code `display_off`) if the lane has no display.
        """
        if self.display is None:
            raise Refusal("display_off", NO_DISPLAY)
        return Showing(self._contest, self.display, self._logbook).show(session, image, requested)

    def finish_sessions(self) -> None:
        """Wait until the lane's ended sessions are settled, so that its meter may be prepared.

        Raises `Unavailable` if one cannot be settled.
        """
        self.settling.finish()
        self._runs.catch_up()

    def obstacle(self) -> str:
        """Return why no session could begin on the lane's meter; '' if one could, or has."""
        status = self.metering.status
        if status.link is LinkState.NONE:
            return ""
        if status.link is not LinkState.OK:
            return f"The power meter does not answer yet. {status.text}".strip()
        if not self.lock.acquire(blocking=False):  # A session is being armed or begins.
            return ""
        try:
            if self.live() is not None or self.settling.unsettled():
                return ""
            return self._runs.obstacle()
        finally:
            self.lock.release()

    def refusal_of_login(self) -> str:
        """Return why the meter would refuse a login now; '' if it would not.

        It waits as a login does: for whoever has the lane, and until ended sessions are settled.
        """
        status = self.metering.status
        if status.link is not LinkState.OK:
            return self.obstacle()
        with self.lock:
            live = self.live()
            state = None if live is None else state_of(live.facts, self._contest.clock.now())
            if live is not None and state is SessionState.RUNNING:
                return ""  # Its team may log in again.
            if live is not None and state is not SessionState.ARMED:
                return f"Session {live.session_id} is over, and its end is being recorded."
            try:
                self.settling.finish()
                if live is not None and self._runs.is_lost_start(live.session_id):
                    return ""  # The login of its team ends that run.
            except Unavailable as error:
                return str(error)
            return self._runs.refusal()

    def stop_lost_start(self, session_id: int) -> None:
        """Stop an integration that runs for an armed session that has not begun, and give it up.

        A desk that was killed between START and its record leaves one, and so does a link that
        failed there. Raises `Unavailable` as any command does.
        """
        if self.metering.prepared is not None or self.metering.status.link is LinkState.NONE:
            return
        self.settling.finish()
        if self._runs.end_lost_start(session_id):
            text = (
                "The meter integrated already, because a login had failed after START. It was "
                "stopped, and will be reset: no session had begun."
            )
            self._tell(session_id, "warning", text)

    def begin(
        self, session: SessionRecord, asked: Instant, address: str
    ) -> IntegrationStart | None:
        """Start the meter, then record the start; return None for a contest without a meter.

        `asked` is the time of the login, and `address` is where it came from. Raises `Unavailable`
        if the meter does not start, or if preparing it took longer than the contest server would
        wait.
        """
        clock, session_id = self._contest.clock, session.session_id
        settings = self.metering.prepared
        if settings is None:
            self.stop_lost_start(session_id)
            self.finish_sessions()
            settings = self.metering.prepare(int(session.facts.length_s))
        if seconds_between(asked, clock.now()) > _LOGIN_S:
            raise Unavailable("Preparing the power meter took too long; log in again.")
        identity = self.metering.status.identity
        conditions = conditions_to_json(self._meter.conditions)
        emulated = is_emulated(self._meter.resource, identity)
        meter = SessionMeter(emulated, identity, settings, conditions)
        self._runs.begin(session_id)
        self._asleep_before_s = clock.asleep_s()
        integration = self.metering.start()
        started = now = clock.now()
        if integration is not None:
            started = shifted(now, integration.written_s - now.monotonic_s)
            secure_wire_log(self._contest.config.wire_log_of(self.number))
        try:
            with self._contest.database.write() as connection:
                record_event(connection, session_id, "started", started, actor=session.team)
                if address:
                    utc = now.utc.isoformat()
                    insert_session_address(connection, session_id, one_spelling(address), utc)
                if integration is not None:
                    insert_session_meter(connection, session_id, now.utc.isoformat(), meter)
        except Exception:
            # No session has begun. Stop the meter, so that the next login can prepare it.
            with suppress(Unavailable):
                self._runs.give_up(session_id)
            raise
        self._measured = load_session(self._contest.database.connection, session_id)
        return integration

    def _to_measure(self) -> SessionRecord | None:
        """Return the session that started last, if its energy is not judged yet."""
        connection = self._contest.database.connection
        newest = latest_started(connection, self.number)
        if newest is None or energy_of(connection, newest) is not None:
            return None
        return load_session(connection, newest)

    def _keep_reading(self, reading: Reading) -> None:
        with self._keeping:
            if self._measured is not None:
                self._logbook.keep(self._measured, reading)

    def _end_readings(self, session_id: int) -> None:
        """Store no further reading of a session, because its energy is about to be judged."""
        with self._keeping:
            if self._measured is not None and self._measured.session_id == session_id:
                self._measured = None

    def _link_changed(self, status: MeterStatus) -> None:
        measured = self._measured
        session_id = None if measured is None else measured.session_id
        if status.link is LinkState.OK and status.text:
            text = f"The power meter cannot be read until the session ends: {status.text}"
            self._tell(session_id, "alarm", text)
            return
        if status.link is LinkState.OK:
            self._tell(session_id, "info", "The power meter answers.")
            return
        self._tell(session_id, "alarm", f"The power meter is lost: {status.text}")

    def _alarm(self, text: str) -> None:
        self._tell(None, "alarm", text)

    def _warn(self, text: str) -> None:
        self._tell(None, "warning", text)

    def _tell(self, session_id: int | None, level: Level, text: str) -> None:
        """Add a notice; one that belongs to no session is about the lane."""
        lane = self.name if session_id is None else ""
        self._logbook.notify(session_id, level, text, Subject(lane=lane or None))

    def _slept_s(self) -> float:
        return max(0.0, self._contest.clock.asleep_s() - self._asleep_before_s)
