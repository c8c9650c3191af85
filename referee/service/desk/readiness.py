# SPDX-License-Identifier: Apache-2.0
"""The readiness of a running referee: its list of findings, its overrides and its slow checks."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from referee.core.instant import Instant
from referee.core.restored import NewerEvidence
from referee.core.states import SessionState, state_of
from referee.errors import Refusal, Unavailable
from referee.service.desk.lane import Lane
from referee.service.desk.watched_thread import WatchedThread
from referee.service.display.display import Display
from referee.service.display.facts import display_text
from referee.service.preflight.clock_rule import DateFacts
from referee.service.preflight.finding import CheckResult, Level, fail
from referee.service.preflight.input_watch import InputWatch
from referee.service.preflight.listing import (
    all_findings,
    require_none_standing,
    shown_list,
)
from referee.service.preflight.machine_watch import MachineWatch
from referee.service.preflight.meter_look import look_at_meter, look_findings, unanswered
from referee.service.preflight.overrides import make_override, overrides_of_today, take_back
from referee.service.preflight.shown import LaneReadiness, ReadinessNow, SlowProgress
from referee.service.preflight.slow import GOLDEN, checks_done, keep, order_of_checks
from referee.service.preflight.surroundings import DisplayState, LaneFacts, PortFacts, Surroundings
from referee.service.preflight.versions import program_stamp
from referee.service.preflight.wal_watch import WalWatch
from referee.service.setup.contest import Contest
from referee.service.setup.lane_config import MeterSection
from referee.store.finals import is_final
from referee.store.sessions import unsettled_sessions

# A page asks each second; the list is made anew this often, and less often during a session.
_KEPT_S = 5.0
_KEPT_IN_SESSION_S = 30.0
_CLOSE_S = 10.0

RunOutside = Callable[[threading.Event], str]
"""A function that makes the slow checks that need no meter, and stores what they find.

It returns a sentence if it could not, else ''. It ends soon after the event is set.
"""


@dataclass(frozen=True)
class Outside:
    """What the desk cannot see from inside; without a function the list has no such findings."""

    machine: MachineWatch | None = None
    ports: Callable[[], tuple[PortFacts, ...]] = lambda: ()
    urls: Callable[[int], tuple[str, ...]] = lambda lane: ()
    console_urls: Callable[[], tuple[str, ...]] = lambda: ()
    dates: Callable[[], DateFacts | None] = lambda: None
    run: RunOutside | None = None
    newer: tuple[NewerEvidence, ...] = ()


class Readiness:
    """The list of findings, and the threads that feed it and watch what it is about.

    They are `machine-watch`, `slow-checks`, `wal-watch` and `input-watch`.
    """

    def __init__(
        self,
        contest: Contest,
        lanes: Sequence[Lane],
        outside: Outside,
        alarm: Callable[[str], object],
    ) -> None:
        self._contest = contest
        self._lanes = lanes
        self._outside = outside
        self._program = program_stamp()
        self._configuration = _digest(contest)
        self._lock = threading.Lock()
        self._made: tuple[float, list[CheckResult]] | None = None
        self._asked = threading.Event()
        self._running = False
        self._since = contest.clock.now()
        self._stopping = threading.Event()
        self._inputs = InputWatch(contest, alarm)
        watching = partial(self._inputs.run, self._stopping)
        self._threads = [
            WatchedThread("slow-checks", self._work, self._stopping, alarm),
            self._log_watch(alarm),
            WatchedThread("input-watch", watching, self._stopping, alarm),
        ]
        machine = outside.machine
        if machine is not None:
            watch = partial(machine.run, self._stopping)
            self._threads.append(WatchedThread("machine-watch", watch, self._stopping, alarm))

    def _log_watch(self, alarm: Callable[[str], object]) -> WatchedThread:
        watch = WalWatch(self._contest.config.database, alarm)
        return WatchedThread("wal-watch", partial(watch.run, self._stopping), self._stopping, alarm)

    def start(self) -> None:
        """Start the threads."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End the threads, and a slow check that runs."""
        self._stopping.set()
        self._asked.set()
        for thread in self._threads:
            thread.join(_CLOSE_S)

    def show(self) -> ReadinessNow:
        """Return the list, and what else forbids arming now."""
        contest = self._contest
        overrides = overrides_of_today(contest.database, contest.clock)
        connection, now = contest.database.connection, contest.clock.now()
        running, final = self._running, is_final(connection)
        shown = shown_list(self._findings(kept=True), overrides, now, final=final)
        return ReadinessNow(
            ready=shown.ready and not running,
            final=final,
            findings=shown.findings,
            running=running,
            progress=self._progress(now) if running else None,
            lanes=[
                LaneReadiness(number=lane.number, name=lane.name, waits=self._waits_for(lane, now))
                for lane in self._lanes
            ],
        )

    def _progress(self, now: Instant) -> SlowProgress:
        lanes = [self._facts_of(lane) for lane in self._lanes]
        order = order_of_checks(self._contest, self._program, lanes)
        done = checks_done(self._contest.database.connection, order, self._since.utc)
        return SlowProgress(
            done=done,
            total=len(order),
            item=order[done][1] if done < len(order) else "",
            for_s=int(now.monotonic_s - self._since.monotonic_s),
        )

    def _waits_for(self, lane: Lane, now: Instant) -> str:
        """Return which session of a lane must be over before another one is armed, or ''."""
        live = lane.live()
        if live is not None:
            return f"Session {live.session_id} is {state_of(live.facts, now).value}"
        unsettled = unsettled_sessions(self._contest.database.connection, lane.number)
        if unsettled:
            return f"The energy of session {unsettled[0].session_id} is not fetched yet"
        return ""

    def require(self, lane: int) -> None:
        """Raise `Refusal` if a FAIL stands for a lane, or if slow checks run; the list is new."""
        if self._running:
            raise Refusal(
                "checks_running",
                "The slow checks run and would disturb a session. Wait a minute, and try again.",
            )
        contest = self._contest
        overrides = overrides_of_today(contest.database, contest.clock)
        require_none_standing(self._findings(), overrides, contest.clock.now(), lane)

    def override(
        self, key: tuple[str, str], seen: tuple[Level, str], reason: str, operator: str
    ) -> None:
        """Let sessions be armed despite a FAIL, or acknowledge a WARN (see `make_override`)."""
        contest = self._contest
        by_key = {finding.key: finding for finding in self._findings()}
        finding = by_key.get(key)
        make_override(contest.database, contest.clock.now(), finding, seen, reason, operator)

    def take_back(self, number: int, reason: str, operator: str) -> None:
        """End an override (see `overrides.take_back`)."""
        take_back(self._contest.database, self._contest.clock.now(), number, reason, operator)

    def check_again(self) -> None:
        """Begin the slow checks; while they run a repeat changes nothing.

        Raises `Refusal` (code `session_live`) while a session is armed, runs or is not settled.
        """
        if self._contest.config.contest.mode == "practice":
            raise Refusal("practice", "A rehearsal has no slow checks.")
        with ExitStack() as stack:
            for lane in self._lanes:  # Nobody arms meanwhile.
                stack.enter_context(lane.lock)
            if self._running:
                return
            for lane in self._lanes:
                self._require_idle(lane)
            self._since = self._contest.clock.now()
            self._running = True
        self._asked.set()

    def _require_idle(self, lane: Lane) -> None:
        connection = self._contest.database.connection
        live = lane.live()
        if live is not None:
            state = state_of(live.facts, self._contest.clock.now()).value
            raise Refusal(
                "session_live",
                f"Session {live.session_id} of '{live.team}' is {state}. Slow checks would disturb "
                "it: wait for its end.",
            )
        unsettled = unsettled_sessions(connection, lane.number)
        if unsettled:
            raise Refusal(
                "session_live",
                f"The energy of session {unsettled[0].session_id} is not fetched yet, so the meter "
                "is left alone. Wait for it.",
            )

    def _work(self) -> None:
        while not self._stopping.is_set():
            self._asked.wait()
            self._asked.clear()
            if self._stopping.is_set():
                return
            try:
                self._check_slowly()
            finally:
                # Who reads the list holds the lock, and must not see it vanish half-way.
                with self._lock:
                    self._made = None
                self._running = False

    def _check_slowly(self) -> None:
        for lane in self._lanes:
            section = self._section_of(lane)
            if section.resource not in ("none", "emulated"):
                self._look_at_meter(lane, section)
        if self._outside.run is None:
            return
        fault = self._outside.run(self._stopping)
        if fault and not self._stopping.is_set():
            remedy = "Look into data/logs/checks.log, then run the slow checks again."
            self._keep([fail(*GOLDEN, fault, remedy)], self._program)

    def _look_at_meter(self, lane: Lane, section: MeterSection) -> None:
        with lane.lock:
            self._require_idle(lane)
            try:
                look = lane.metering.look(look_at_meter)
                findings = look_findings(look, lane.name)
            except Unavailable as error:
                findings = list(unanswered(error, section.resource, lane.name))
        self._keep(findings, section.resource)

    def _keep(self, findings: Sequence[CheckResult], basis: str) -> None:
        pairs = [(finding, basis) for finding in findings]
        keep(self._contest.database, self._contest.clock.now(), pairs)

    def _findings(self, *, kept: bool = False) -> list[CheckResult]:
        """Return the findings; `kept` allows those of some seconds ago."""
        with self._lock:
            now_s = self._contest.clock.now().monotonic_s
            if kept and self._made is not None and now_s - self._made[0] < self._kept_s():
                return self._made[1]
            findings = all_findings(self._contest, self._surroundings(), self._program)
            self._made = (now_s, findings)
            return findings

    def _kept_s(self) -> float:
        live = [lane.live() for lane in self._lanes]
        now = self._contest.clock.now()
        runs = any(
            session is not None and state_of(session.facts, now) is SessionState.RUNNING
            for session in live
        )
        return _KEPT_IN_SESSION_S if runs else _KEPT_S

    def _surroundings(self) -> Surroundings:
        machine = self._outside.machine
        return Surroundings(
            runs=True,
            lanes=tuple(self._facts_of(lane) for lane in self._lanes),
            ports=self._outside.ports(),
            machine=None if machine is None else machine.facts,
            jumps=None if machine is None else machine.jumps,
            changed=self._changed(),
            newer=self._outside.newer,
            console_urls=self._outside.console_urls(),
            dates=self._outside.dates(),
            inputs=self._inputs.faults,
        )

    def _facts_of(self, lane: Lane) -> LaneFacts:
        status = lane.metering.status
        return LaneFacts(
            lane=lane.number,
            address=self._contest.config.lane(lane.number).contest,
            urls=self._outside.urls(lane.number),
            meter=self._section_of(lane),
            link=status.link.value,
            link_text=status.text,
            identity=status.identity,
            name=lane.name,
            display=None if lane.display is None else _display_facts(lane, lane.display),
        )

    def _section_of(self, lane: Lane) -> MeterSection:
        return self._contest.config.lane(lane.number).meter

    def _changed(self) -> tuple[str, ...]:
        changed = []
        if _digest(self._contest) != self._configuration:
            changed.append("contest.toml")
        if program_stamp() != self._program:
            changed.append("the program itself")
        return tuple(changed)


def _digest(contest: Contest) -> str:
    """Return a digest of the configuration's file, '' if it cannot be read."""
    try:
        return hashlib.sha256(contest.config.path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _display_facts(lane: Lane, display: Display) -> DisplayState:
    """Return the facts of a lane's display; one that has never painted is asked to."""
    status = display.status()
    if status.round_trip_s is None and lane.live() is None:
        status = display.probed()
    return DisplayState(fault=status.fault, text=display_text(status))
