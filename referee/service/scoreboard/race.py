# SPDX-License-Identifier: Apache-2.0
"""The race: how the score of each running session has grown, and the leader's at the same second.

A course is made of what is stored: the live accuracy by the second of the answer that it includes,
and the meter's energy. Both are read once in a step of the course, whatever the session's length.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from power.energy.moments import likely_moment_s
from power.meter import MeterSettings
from referee.core.states import ran_s
from referee.formats.json_text import json_of
from referee.service.scoreboard.live import LiveSession
from referee.service.scoreboard.view import PublicView
from referee.service.setup.contest import Contest
from referee.store.courses import accuracy_course, energy_course
from referee.store.database import Connection
from referee.store.readings import session_meter_of
from referee.store.sessions import load_session
from referee.tracks.track import Track

# A course has so many steps; a step lasts a second at least.
_STEPS = 120
_DIGITS = 5

Point = tuple[float, float]
"""A second of the session, and the score until then."""

NO_RACE = '{"leader": null, "courses": []}'
"""What the pages are told while nobody runs, and during a freeze."""


class RaceCourse(Struct, frozen=True, kw_only=True):
    """How the score of a running session has grown."""

    session: int
    points: Sequence[Point]


class Leader(Struct, frozen=True, kw_only=True):
    """The first of the ranking that the public has, and how its score grew."""

    team: str
    session: int
    points: Sequence[Point]


class RaceNews(Struct, frozen=True, kw_only=True):
    """The race: the leader, if there is one, and the courses of the running sessions."""

    leader: Leader | None
    courses: Sequence[RaceCourse]


class Race:
    """The maker of the race; one thread asks. It reads a course once in a step."""

    def __init__(self, contest: Contest) -> None:
        self._contest = contest
        # By session: until which step a course is known, and the course.
        self._known: dict[int, tuple[int, list[Point]]] = {}

    def told(self, connection: Connection, view: PublicView, live: Sequence[LiveSession]) -> str:
        """Return the race as JSON (see `RaceNews`); `live` has the sessions that are on."""
        running = [one for one in live if one.state == "RUNNING"]
        if not running:
            self._known.clear()
            return NO_RACE
        first = next((one for one in view.entries if one.rank == 1 and one.session), None)
        leader = None
        if first is not None and first.session is not None:
            points = self._course(connection, first.session, None)
            leader = Leader(team=first.team, session=first.session, points=points)
        courses = [
            RaceCourse(
                session=session.session,
                points=self._course(connection, session.session, session.elapsed_s),
            )
            for session in running
        ]
        return json_of(RaceNews(leader=leader, courses=courses))

    def _course(self, connection: Connection, number: int, until_s: float | None) -> list[Point]:
        """Return a session's course until a second, or a whole one; kept for the next question."""
        session = load_session(connection, number)
        step_s = max(1.0, session.facts.length_s / _STEPS)
        end_s = (ran_s(session.facts) or 0.0) if until_s is None else until_s
        step = int(end_s // step_s)
        known = self._known.get(number)
        if known is None or known[0] != step:
            accuracies = accuracy_course(connection, number, step_s)
            energies = energies_of(connection, number, step_s)
            made = course_of(self._contest.track, accuracies, energies, step_s, end_s)
            known = self._known[number] = (step, made)
        return known[1]


def energies_of(connection: Connection, number: int, step_s: float) -> list[Point]:
    """Return the energies of a session by the moment to which each belongs."""
    meter = session_meter_of(connection, number)
    settings = MeterSettings(timer_s=0) if meter is None else meter.settings
    update_s = settings.update_interval_s
    return [
        (likely_moment_s(came_s, counted_s, update_s), energy_wh)
        for came_s, energy_wh, counted_s in energy_course(connection, number, step_s)
    ]


def course_of(
    track: Track[Any],
    accuracies: Sequence[Point],
    energies: Sequence[Point],
    step_s: float,
    end_s: float,
) -> list[Point]:
    """Return the score at the end of each step in which accuracy or energy is news.

    Both are pairs of a second and a value, by rising seconds. A score needs both.
    """
    points: dict[float, float] = {}
    steps = sorted({int(second // step_s) for second, _ in (*accuracies, *energies)})
    at = [0, 0]
    for step in steps:
        if step * step_s > end_s:
            break
        upto = min((step + 1) * step_s, end_s)
        for which, values in enumerate((accuracies, energies)):
            while at[which] < len(values) and values[at[which]][0] <= upto:
                at[which] += 1
        if not all(at):
            continue
        score = track.score_of(accuracies[at[0] - 1][1], energies[at[1] - 1][1])
        if score is not None:
            points[round(upto, 1)] = float(f"{score:.{_DIGITS}g}")
    return list(points.items())
