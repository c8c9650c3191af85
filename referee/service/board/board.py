# SPDX-License-Identifier: Apache-2.0
"""The operators' board: one JSON object that says what happens now and what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from itertools import zip_longest

from referee.core.instant import Instant
from referee.errors import RefereeError
from referee.service.board.alarms import AlarmRecord
from referee.service.board.lane_view import LaneView, ShownLane
from referee.service.board.session_view import session_row
from referee.service.board.shown import (
    AlarmText,
    Contestants,
    LaneOfBoard,
    SessionCard,
    SessionRow,
    ShownAlarm,
    ShownBoard,
    ShownNotice,
)
from referee.service.board.wording import newest_alarm
from referee.service.desk.control_desk import ControlDesk
from referee.service.desk.lane import Lane
from referee.service.desk.metering import MeterStatus
from referee.service.entry.teams import PRACTICE_PASSWORD
from referee.service.event.result_entry import TrackFigures
from referee.service.results.flag_counts import FlagCounts
from referee.service.setup.contest import Contest
from referee.service.setup.extra import ConsoleBox, present_extras
from referee.service.setup.sentences_of_1_0 import subject_of_1_0
from referee.service.teams.roster import Roster, read_roster
from referee.service.teams.roster_view import choices_of
from referee.store.database import Connection
from referee.store.finals import is_final
from referee.store.images import load_inputs
from referee.store.inputs_in_force import inputs_in_force
from referee.store.notices import Notice, recent_notices
from referee.store.proposals import stored_proposals
from referee.store.sessions import FIRST_LANE, SessionRecord, all_sessions, load_session
from referee.store.watching import recent_power

_SESSIONS_SHOWN = 50
# A chart is no wider, so of a longer session it shows one reading of each of so many times.
_SAMPLES_SHOWN = 3000

_SCORING_FILES = {
    "ground_truth": "ground truth",
    "sizes": "list of image sizes",
    "blacklist": "blacklist",
}


class Board:
    """The state that the console's pages show; its methods may be called from any thread.

    `lanes` are those of the contest, lane 1 first. `unstored` returns the notices that are not on
    the disk yet, the newest first. `alarms` keeps who has seen which alarm.
    """

    def __init__(
        self,
        contest: Contest,
        lanes: Sequence[ShownLane],
        *,
        unstored: Callable[[], Sequence[Notice]] = tuple,
        alarms: AlarmRecord | None = None,
    ) -> None:
        self._contest = contest
        self.alarms = alarms or AlarmRecord(contest.clock, partial(_store, contest))
        self._unstored = unstored
        flag_counts = FlagCounts(contest)
        self._lanes = [
            LaneView(contest, number, lane, flag_counts)
            for number, lane in enumerate(lanes, FIRST_LANE)
        ]

    def show(self) -> ShownBoard:
        """Return the whole board; the sessions and the meters contain their texts (`wording`)."""
        contest = self._contest
        connection = contest.database.connection
        now = contest.clock.now()
        sessions = all_sessions(connection, _SESSIONS_SHOWN)
        rows = [session_row(contest, session, now) for session in sessions]
        alone = len(self._lanes) == 1
        unstored = [_notice(notice, sessions, now, alone) for notice in self._unstored()]
        stored = [_notice(one, sessions, now, alone) for one in recent_notices(connection)]
        lanes = [lane.show(sessions, rows, unstored, stored, now) for lane in self._lanes]
        alarms = self.alarms.follow(self._alarms(lanes, rows, unstored, stored, now), now)
        teams, why_none = self._roster()
        return ShownBoard(
            settings=contest.config.contest,
            final=is_final(connection),
            scored_with=scored_with(connection),
            images=contest.image_count,
            classes=len(contest.classes),
            figures=TrackFigures(contest.track.accuracy, contest.track.score),
            utc=now.utc.isoformat(),
            contestants=self._contestants(),
            teams=[] if teams is None else _names(teams),
            choices={} if teams is None else choices_of(teams),
            next_teams={} if teams is None else teams.next_in_lanes,
            teams_text=why_none,
            lanes=lanes,
            guests=self._guests(connection),
            alarm=alarms[0] if alarms else None,
            alarms=alarms,
            sessions=rows,
            notices=[*unstored, *stored],
        )

    def session(self, session_id: int) -> SessionCard:
        """Return one session in the form of `current`; raise `Refusal` for an unknown number."""
        now = self._contest.clock.now()
        session = load_session(self._contest.database.connection, session_id)
        lanes = {lane.number: lane for lane in self._lanes}
        return lanes.get(session.lane, self._lanes[0]).session(session, now)

    def power(self, session_id: int, after: int = 0) -> list[list[float | int | None]]:
        """Return the session's newest readings above the number `after`: [number, second, watts].

        The second is the session time. The watts are None if the meter gave no number. A session
        with more than 3000 readings has one of each 3000th of its time.
        """
        contest = self._contest
        connection = contest.database.connection
        session = load_session(connection, session_id)
        step_s = session.facts.length_s / _SAMPLES_SHOWN
        if step_s <= contest.config.lane(session.lane).meter.update_interval_s:
            step_s = 0.0
        return [
            [sample.reading_id, round(sample.elapsed_s, 3), sample.power_w]
            for sample in recent_power(connection, session_id, after, 2 * _SAMPLES_SHOWN, step_s)
        ]

    def contestants_urls(self) -> list[str]:
        """Return the URLs for contestants; the list is empty while the machine has no network."""
        return [url for lane in self._lanes for url in lane.urls()]

    def _alarms(
        self,
        lanes: Sequence[LaneOfBoard],
        rows: Sequence[SessionRow],
        unstored: Sequence[ShownNotice],
        stored: Sequence[ShownNotice],
        now: Instant,
    ) -> list[ShownAlarm]:
        """Return the alarms of the lanes, each with its `lane`, and one that belongs to none."""
        alarms = [_alarm(lane.alarm, lane.name) for lane in lanes if lane.alarm is not None]
        common = [
            [
                notice
                for notice in notices
                if not any(lane.concerns(notice, _of_lane(rows, lane)) for lane in self._lanes)
            ]
            for notices in (unstored, stored)
        ]
        alarm = newest_alarm(common[1], now.utc, common[0])
        return alarms if alarm is None else [*alarms, _alarm(alarm, "")]

    def _guests(self, connection: Connection) -> list[ConsoleBox]:
        present = present_extras(self._contest.config)
        return [extra.box(connection) for extra in present if extra.box is not None]

    def _contestants(self) -> Contestants:
        anybody = self._contest.config.admits_anybody
        return Contestants(
            urls=self.contestants_urls(), password=PRACTICE_PASSWORD if anybody else None
        )

    def _roster(self) -> tuple[Roster | None, str | None]:
        """Return the teams of an event, or None and why they cannot be read."""
        if self._contest.config.contest.mode == "practice":
            return None, None
        try:
            return read_roster(self._contest), None
        except (RefereeError, OSError) as error:
            return None, str(error)


def _names(roster: Roster) -> list[str]:
    """Return the teams that run, in the running order if there is one."""
    names = [team.name for team in roster.runners]
    return sorted(names) if roster.order is None else names


def _alarm(alarm: AlarmText, lane: str) -> ShownAlarm:
    return ShownAlarm(text=alarm.text, detail=alarm.detail, lane=lane)


def board_of(contest: Contest, desk: ControlDesk, addresses: Sequence[str] = ()) -> Board:
    """Return the board of a desk; `addresses` are those of the lanes' contest servers."""
    lanes = [
        ShownLane(partial(_status_of, lane), address, lane.display)
        for lane, address in zip_longest(desk.lanes, addresses)
    ]
    alarms = AlarmRecord(contest.clock, desk.logbook.store)
    return Board(contest, lanes, unstored=desk.logbook.unstored_notices, alarms=alarms)


def _store(contest: Contest, write: Callable[[Connection], object]) -> None:
    with contest.database.write() as connection:
        write(connection)


def _status_of(lane: Lane) -> MeterStatus:
    return lane.metering.status


def _of_lane(rows: Sequence[SessionRow], lane: LaneView) -> list[SessionRow]:
    return [row for row in rows if row.lane == lane.number]


def _notice(
    notice: Notice, sessions: Sequence[SessionRecord], now: Instant, alone: bool
) -> ShownNotice:
    """Return a notice with its session and the session time.

    With one lane alone, a notice without a session gets the session that ran when it was made.
    """
    at = datetime.fromisoformat(notice.utc)
    session_id, second = notice.session_id, None
    for session in sessions:
        started, ended = session.facts.started, session.facts.ended
        if started is None or session_id not in (None, session.session_id):
            continue
        if session_id is None and not alone:
            continue
        if session_id is not None or started.utc <= at <= (ended or now).utc:
            session_id, second = session.session_id, (at - started.utc).total_seconds()
            break
    return ShownNotice(
        id=notice.notice_id,
        session=session_id,
        at_s=second,
        utc=notice.utc,
        level=notice.level,
        text=notice.text,
        lane=(notice.subject or subject_of_1_0(notice)).lane,
    )


def scored_with(connection: Connection) -> str:
    """Return which files will score what comes, '' while they are those of the preparation."""
    in_force = inputs_in_force(connection)
    if in_force is None:
        return ""
    prepared = {role: file.sha256 for role, file in load_inputs(connection).items()}
    others = [
        words
        for role, words in _SCORING_FILES.items()
        if in_force.sha256.get(role) != prepared.get(role)
    ]
    if not others:
        return ""
    (reason,) = (
        proposal.reason
        for proposal in stored_proposals(connection)
        if proposal.proposal_id == in_force.proposal_id
    )
    return (
        f"The {' and the '.join(others)} of proposal {in_force.proposal_id} ({reason}) will score "
        "it, as the sessions before it are scored since the proposal was applied."
    )
