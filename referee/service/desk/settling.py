# SPDX-License-Identifier: Apache-2.0
"""Settling: after a session's end it stops the meter, reads the final energy, and judges it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from power.emulated import is_emulated
from power.energy.conditions import conditions_from_json
from power.energy.judge import RunFacts, facts_from_json, facts_to_json, judge_run
from power.energy.judge_rules import RULE
from power.energy.verdict import (
    EnergyResult,
    Finding,
    finding_to_json,
    invalid,
    note,
    result_to_json,
    suspect,
)
from power.follow import LOST_METER_S
from power.meter import Identity, IntegrationStop, MeterSettings, Reading
from referee import __version__
from referee.core.instant import seconds_between
from referee.core.states import EndCause, ran_s
from referee.errors import Unavailable
from referee.service.desk.finding_words import (
    IMAGES_MISSING,
    JUDGE_RULE,
    JUDGED_BY,
    NOTICES_OF_1_0,
    judged_again_by,
)
from referee.service.desk.logbook import Logbook
from referee.service.desk.metering import LinkState, Metering
from referee.service.desk.stop_times import stopped_s
from referee.service.desk.unmeasured import unmeasured_times
from referee.service.desk.watched_thread import WatchedThread
from referee.service.setup.contest import Contest
from referee.service.setup.image_files import missing_images
from referee.store.notices import notices_of
from referee.store.readings import (
    Energy,
    SessionMeter,
    boots_of,
    insert_energy,
    readings_of,
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

# What the detail of an energy takes over from the judgement as it is.
_ADDED = ("budget_wh", "over_one_percent", "conditions", "element", "elements")

_log = logging.getLogger(__name__)


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


def judge_session(
    contest: Contest,
    session: SessionRecord,
    settings: MeterSettings,
    identity: Identity | None,
    findings: Sequence[Finding],
    slept_s: float = 0.0,
    between_s: tuple[float, float] | None = None,
    rule: int = RULE,
) -> tuple[EnergyResult, dict[str, Any]]:
    """Return a session's energy, and the detail for the database.

    `findings` holds the findings from reading the final energy. The laptop slept for `slept_s`. Our
    STOP ended the integration `between_s` after its START, at least and at most. The
    detail's `facts` hold everything that a second judgement needs beside the readings (see
    `RunFacts`). The detail's `emulated` says whether an emulator measured. A session without a
    meter has stored neither settings nor identity; `settings` and `identity` replace them.
    Conditions are those at the start, whatever the configuration says by now. `rule` is that of the
    judge.
    """
    connection, number = contest.database.connection, session.session_id
    configured = contest.config.lane(session.lane).meter
    meter = session_meter_of(connection, number)
    if meter is None:
        stand_in = replace(settings, timer_s=int(session.facts.length_s))
        emulated = is_emulated(configured.resource, identity)
        meter = SessionMeter(emulated, identity, stand_in)
    added = [*findings, *added_by_the_run(contest, session, meter)]
    facts = RunFacts(
        meter.identity,
        meter.settings,
        added=tuple(added),
        suspended_s=slept_s,
        conditions=(
            configured.conditions
            if meter.conditions is None
            else conditions_from_json(meter.conditions)
        ),
        stopped_s=between_s,
    )
    readings = _in_session_seconds(readings_of(connection, number))
    session_s = seconds_run(session)
    facts = (
        facts.ended(session_s, readings[-1]) if readings else replace(facts, session_s=session_s)
    )
    result = judge_run(readings, facts, rule=rule)
    told = _typed(contest, session, __version__, rule)
    return result, told | _detail(result, facts, meter.emulated)


def judge_again(
    contest: Contest, session: SessionRecord, energy: Energy
) -> tuple[EnergyResult, dict[str, Any]]:
    """Return a session's energy as the present judge sees it, and the detail for the database.

    The judge gets the stored readings, and the facts of the first judgement. Raises ValueError if
    the stored energy lacks these facts.
    """
    facts = facts_from_json(energy.detail.get("facts", {}))
    stored = readings_of(contest.database.connection, session.session_id)
    result = judge_run(_in_session_seconds(stored), facts)
    told = _typed(contest, session, judged_again_by(energy.detail), RULE)
    return result, told | _detail(result, facts, energy.emulated)


def seconds_run(session: SessionRecord) -> float:
    """Return the time that an ended session has run, in seconds."""
    seconds = ran_s(session.facts)
    if seconds is None:
        raise Unavailable(f"Session {session.session_id} has no start or no end.")
    return seconds


def added_by_the_run(
    contest: Contest, session: SessionRecord, meter: SessionMeter
) -> list[Finding]:
    """Return the findings that follow from a session's rows, and that the judge cannot know."""
    findings = []
    if boots_of(contest.database.connection, session.session_id) > 1:
        text = "The referee's laptop was started anew during the session."
        findings.append(suspect("rebooted", text))
    findings += [
        idle.finding()
        for idle in unmeasured_times(contest.database.connection, session.session_id, meter)
    ]
    lost = missing_images(notices_of(contest.database.connection, session.session_id))
    if lost:
        listed = ", ".join(map(str, lost))
        text = (
            f"The team could not get these images, by their ids: {listed}. They were gone or "
            "changed on the referee's disk. Leave them out or run again, by your rules."
        )
        findings.append(suspect("images_missing", text))
    if meter.emulated and contest.config.contest.mode == "event":
        text = "The meter was an emulator: this energy is not official."
        findings.append(note("emulated", text))
    return findings


def _in_session_seconds(stored: Sequence[tuple[float, Reading]]) -> list[Reading]:
    """Return the readings in order, with session time in place of the monotonic clock.

    Session time continues across a reboot. The monotonic clock does not.
    """
    in_order = sorted(stored, key=lambda pair: pair[0])
    return [replace(reading, monotonic_s=second) for second, reading in in_order]


def _typed(contest: Contest, session: SessionRecord, judged_by: str, rule: int) -> dict[str, Any]:
    """Return what an energy's detail tells beside the judgement, so that no text need tell it."""
    notices = notices_of(contest.database.connection, session.session_id)
    return {
        JUDGED_BY: judged_by,
        JUDGE_RULE: rule,
        IMAGES_MISSING: missing_images(notices),
        NOTICES_OF_1_0: sum(notice.subject is None for notice in notices),
    }


def _detail(result: EnergyResult, facts: RunFacts, emulated: bool) -> dict[str, Any]:
    judged = result_to_json(result)
    return {
        **{name: judged[name] for name in _ADDED},
        "reasons": [finding.text for finding in result.findings],
        "findings": [finding_to_json(finding) for finding in result.findings],
        "integrator_wh": result.integrator_wh,
        "cross_check_wh": result.cross_check_wh,
        "integration_s": result.integration_s,
        "session_s": result.session_s,
        "duration_s": result.duration_s,
        "duration_uncertainty_s": result.duration_uncertainty_s,
        "emulated": emulated,
        "facts": facts_to_json(facts),
    }
