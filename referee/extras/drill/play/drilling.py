# SPDX-License-Identifier: Apache-2.0
"""The course of a drill: it looks around, lets faults come as planned, and obeys the hands."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from referee.core.states import SessionState, elapsed_s, state_of
from referee.errors import RefereeError
from referee.extras.drill.play.effects import PASSED, Effect, begin
from referee.extras.drill.play.scene import DrillScene
from referee.extras.drill.play.trainee_actions import ASK, QUIT, Keyboard, understand, words_text
from referee.extras.drill.rules.plan import Planned, due
from referee.extras.drill.rules.record import (
    Act,
    Injection,
    Record,
    read_sessions,
    read_shown_and_acts,
)
from referee.store.readings import energy_of
from referee.store.sessions import SessionRecord, all_sessions

_LOOK_S = 0.2
# After the last session people look at the results, review them, and write notes.
_REVIEW_S = 60.0

_LIVE = (SessionState.ARMED, SessionState.RUNNING)


@dataclass(frozen=True)
class DrillLimits:
    """How long a drill lasts: so many new sessions, so many seconds at most."""

    sessions: int
    seconds: float
    length_s: float
    seed: int


class TrainersLog:
    """What came when, one JSON object a line; `tell` gets it in words if a trainer watches."""

    def __init__(self, path: Path, tell: Callable[[str], None] | None) -> None:
        self.path = path
        self._tell = tell

    def write(self, what: str, **more: object) -> None:
        """Add a line."""
        row = {"utc": datetime.now(UTC).isoformat(), "what": what, **more}
        with self.path.open("a", encoding="utf-8") as log:
            log.write(json.dumps(row, ensure_ascii=False) + "\n")
        if self._tell is not None:
            details = ", ".join(f"{key} {value}" for key, value in more.items())
            self._tell(f"TRAINER {datetime.now():%H:%M:%S} {what}: {details}")


class Drill:
    """A drill that runs; `say` gets what people in the room would hear."""

    def __init__(
        self,
        scene: DrillScene,
        plan: Sequence[Planned],
        limits: DrillLimits,
        keyboard: Keyboard,
        log: TrainersLog,
        say: Callable[[str], None],
    ) -> None:
        self._scene, self._plan, self._limits = scene, plan, limits
        self._keyboard, self._log, self._say = keyboard, log, say
        self._lanes = {str(number): number for number in scene.meters}
        lanes = scene.contest.config.lanes
        self._lanes |= {lane.name.lower(): n for n, lane in enumerate(lanes, 1) if lane.name}
        self._begun_s = time.time()
        self._begun = time.monotonic()
        self._injections: list[Injection] = []
        self._acts: list[Act] = []
        self._effect: Effect | None = None
        self._failures: list[str] = []
        self._turns: list[int] = []
        self._come = 0
        self._quiet_since: float | None = None
        self._is_up = True

    def run(self) -> None:
        """Go on until the plan is done and all is quiet, the time is over, or somebody quits."""
        while not self._is_over():
            for line in self._keyboard.lines(_LOOK_S):
                if self._obey(line):
                    return
            self.look()

    def look(self) -> None:
        """Look around once: teams, the end of a fault, and the next fault."""
        sessions = all_sessions(self._scene.contest.database.connection)
        self._count_turns(sessions)
        self._scene.teams.look(sessions)
        self._tell_of_laptop()
        if self._effect is not None:
            self._watch_effect(self._effect)
        else:
            self._inject(sessions)

    def record(self) -> Record:
        """Return what is on record of the drill by now."""
        contest = self._scene.contest
        shown, acts = read_shown_and_acts(contest)
        return Record(
            injections=tuple(self._injections),
            shown=tuple(shown),
            acts=tuple(sorted([*acts, *self._acts], key=lambda act: act.at_s)),
            sessions=tuple(read_sessions(contest)),
            stops=tuple(self._scene.teams.stops),
            begun_s=self._begun_s,
            ended_s=time.time(),
            seed=self._limits.seed,
            length_s=self._limits.length_s,
            notes=tuple(self._notes()),
        )

    def _notes(self) -> list[str]:
        left = [planned.fault.name for planned in self._plan[self._come :]]
        text = f"There was no time left for these faults: {', '.join(left)}."
        return [*self._failures, *([text] if left else [])]

    @property
    def failed(self) -> bool:
        """Tell whether the drill itself could not do what was planned."""
        return bool(self._failures)

    def _obey(self, line: str) -> bool:
        """Do what was typed; return True if the drill shall end."""
        typed = understand(line, self._lanes)
        if typed.wrong or typed.what == ASK:
            self._say(typed.wrong or words_text())
        elif typed.what == QUIT:
            return True
        else:
            at_s = time.time()
            session = None if self._effect is None else self._effect.session.session_id
            self._acts.append(Act(at_s, "", typed.what, session))
            self._log.write("hands", did=typed.what.removeprefix("hand "))
            self._say(self._scene.do(typed.what, typed.lane))
        return False

    def _count_turns(self, sessions: Sequence[SessionRecord]) -> None:
        """Remember the new sessions in the order of their starts; a re-run of a team is not new."""
        known = {s.team for s in sessions if s.session_id in self._turns}
        started = [s for s in sessions if s.facts.started is not None]
        for session in sorted(started, key=lambda one: one.session_id):
            if session.session_id not in self._turns and session.team not in known:
                known.add(session.team)
                self._turns.append(session.session_id)

    def _inject(self, sessions: Sequence[SessionRecord]) -> None:
        """Let the next fault come, if its session has run long enough."""
        if not self._turns or not self._scene.host.is_up:
            return
        session = next(s for s in sessions if s.session_id == self._turns[-1])
        now = self._scene.contest.clock.now()
        if state_of(session.facts, now) is not SessionState.RUNNING:
            return
        ran_share = (elapsed_s(session.facts, now) or 0.0) / session.facts.length_s
        planned = due(self._plan, self._come, len(self._turns), ran_share)
        if planned is None:
            return
        name = planned.fault.name
        injection = Injection(name, time.time(), session.session_id)
        self._log.write("fault", fault=name, session=session.session_id)
        try:
            self._effect = begin(planned.fault, self._scene, session)
        except (RefereeError, OSError) as error:
            # The drill's own failure is not the trainees': say so, and go on with the next fault.
            self._failures.append(f"The drill could not let '{name}' come: {error}")
            self._log.write("failed", fault=name, why=str(error))
            return
        finally:
            self._come += 1
        self._injections.append(injection)

    def _watch_effect(self, effect: Effect) -> None:
        how = effect.over()
        if not how and effect.is_worn_out:
            effect.end()
            how = "nobody ended it, so the drill did" if effect.fault.deeds else PASSED
        if how:
            last = self._injections[-1]
            self._injections[-1] = replace(last, over_s=time.time(), ended_by=how)
            self._log.write("over", fault=effect.fault.name, how=how)
            self._effect = None

    def _tell_of_laptop(self) -> None:
        up = self._scene.host.is_ready
        if up is not self._is_up:
            self._is_up = up
            self._say("The laptop is on again." if up else "The laptop's screen is black.")

    def _is_over(self) -> bool:
        if time.monotonic() - self._begun > self._limits.seconds:
            self._say("The time of the drill is over.")
            return True
        if self._effect is not None or len(self._turns) < self._limits.sessions:
            return False
        if not self._is_quiet():
            self._quiet_since = None
            return False
        if self._quiet_since is None:
            self._quiet_since = time.monotonic()
            self._say(
                "All sessions have run. Look at the results as after an event. The report comes "
                f"in {_REVIEW_S:.0f} s, or when you type 'quit'."
            )
        return time.monotonic() - self._quiet_since > _REVIEW_S

    def _is_quiet(self) -> bool:
        """Tell whether no session is armed or runs, or waits for its energy."""
        contest = self._scene.contest
        now = contest.clock.now()
        try:
            for session in all_sessions(contest.database.connection):
                state = state_of(session.facts, now)
                unread = energy_of(contest.database.connection, session.session_id) is None
                if state in _LIVE or (state is SessionState.ENDED and unread):
                    return False
        except RefereeError:
            return False
        return True
