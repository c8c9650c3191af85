# SPDX-License-Identifier: Apache-2.0
"""The sessions that are on at this moment, as the audience may see them."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from referee.core.instant import Instant
from referee.core.marks import energy_marks
from referee.core.states import SessionState, elapsed_s, state_of
from referee.service.entry.status import status_of
from referee.service.results.score_text import score_text
from referee.service.setup.contest import Contest
from referee.store.database import Connection
from referee.store.publishing import Break
from referee.store.readings import (
    EnergyRecord,
    SessionMeter,
    energy_of,
    newest_reading,
    session_meter_of,
)
from referee.store.scores import newest_snapshot
from referee.store.sessions import SessionRecord, all_sessions

# Old sessions are never on: an operator would have to leave this many unsettled.
_LOOK_BACK = 50
# A session that has ended and is not scored yet is still on: its result is awaited.
_ON = (SessionState.ARMED, SessionState.RUNNING, SessionState.ENDED)


class LiveSession(Struct, frozen=True, kw_only=True):
    """A session that is on.

    `old` means that the meter's figures no longer change. Then there is no power and no score so
    far, because answers would go on without the energy that they cost.
    """

    session: int
    lane: int
    lane_name: str
    team: str
    state: str
    length_s: float
    remaining_s: float
    elapsed_s: float | None
    mean_ap: float | None
    energy_wh: float | None
    power_w: float | None
    score: float | None
    score_text: str
    old: bool
    marks: Sequence[str]
    images: int
    images_fetched: int
    answers: int


class StationWords(Struct, frozen=True, kw_only=True):
    """How a station of a joint board stands, in words."""

    name: str
    text: str
    live: bool


class LiveNews(Struct, frozen=True, kw_only=True, rename={"pause": "break"}):
    """What goes on at this moment: sessions and the break, or the stations of a joint board."""

    frozen: bool
    sessions: Sequence[LiveSession] = ()
    pause: Break | None | UnsetType = UNSET
    stations: Sequence[StationWords] | UnsetType = UNSET


def steady(session: LiveSession) -> LiveSession:
    """Return a session without what changes all the time while it runs."""
    return replace(
        session,
        remaining_s=0.0,
        elapsed_s=None,
        mean_ap=None,
        energy_wh=None,
        power_w=None,
        score=None,
        score_text="",
        images_fetched=0,
        answers=0,
    )


def live_sessions(contest: Contest, connection: Connection, now: Instant) -> list[LiveSession]:
    """Return the armed and running sessions, and those whose result is awaited, by lane."""
    sessions = [
        _live(contest, connection, session, now)
        for session in all_sessions(connection, _LOOK_BACK)
        if state_of(session.facts, now) in _ON
    ]
    return sorted(sessions, key=lambda one: (one.lane, one.session))


def _live(
    contest: Contest, connection: Connection, session: SessionRecord, now: Instant
) -> LiveSession:
    number = session.session_id
    state = state_of(session.facts, now)
    status = status_of(contest, session)
    snapshot, reading = newest_snapshot(connection, number), newest_reading(connection, number)
    energy = energy_of(connection, number)
    lane = contest.config.lane(session.lane)
    running = state is SessionState.RUNNING
    age_s = 0.0 if reading is None else now.monotonic_s - reading.monotonic_s
    old = running and age_s > lane.meter.old_after_s
    accuracy = None if snapshot is None else snapshot.accuracy
    energy_wh = None if reading is None else reading.energy_wh
    ran_s = elapsed_s(session.facts, now)
    score = None if old else contest.track.score_of(accuracy, energy_wh)
    return LiveSession(
        session=number,
        lane=session.lane,
        lane_name=lane.name,
        team=session.team,
        state=state.value,
        length_s=session.facts.length_s,
        remaining_s=round(status.remaining_s, 2),
        elapsed_s=None if ran_s is None else round(ran_s, 2),
        mean_ap=accuracy,
        energy_wh=energy_wh if energy is None else energy.energy_wh,
        power_w=None if reading is None or old or not running else reading.power_w,
        score=score,
        score_text=score_text(score),
        old=old,
        marks=_marks(energy, session_meter_of(connection, number)),
        images=contest.image_count,
        images_fetched=status.images_fetched,
        answers=status.answers,
    )


def _marks(energy: EnergyRecord | None, meter: SessionMeter | None) -> list[str]:
    """Return the marks of a score so far: those of its energy, or of the meter that measures it."""
    if energy is not None:
        return energy_marks(energy.verdict, emulated=energy.emulated)
    return energy_marks(None, emulated=meter is not None and meter.emulated)
