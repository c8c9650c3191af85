# SPDX-License-Identifier: Apache-2.0
"""The roster: every team of an event in the running order, with its attempts and its turn."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace

from referee.core.instant import Instant
from referee.core.logins import TeamWords
from referee.core.states import SessionState, state_of
from referee.core.turns import (
    Attempt,
    Turn,
    WaitingTeam,
    next_in_lanes,
    next_team,
    started,
    turn_of,
)
from referee.service.entry.team_list import registered_teams
from referee.service.setup.contest import Contest
from referee.store.annotations import rehearsals
from referee.store.database import Connection
from referee.store.rehearsals import TeamsOfEvent, teams_at
from referee.store.sessions import SessionRecord, all_sessions
from referee.store.team_words import team_logins
from referee.store.teams import (
    OrderRecord,
    Registration,
    TeamRecord,
    stored_orders,
    stored_teams,
    used_names,
)


@dataclass(frozen=True)
class RosterTeam:
    """A team of an event; `team_id` is None for one that stands only in teams.csv.

    `ordered` is false for a team that the running order does not name; it comes after the others.
    `login` is '' until the team has an id.
    """

    team_id: int | None
    name: str
    registration: Registration
    withdrawn: bool
    reason: str
    has_password: bool
    ordered: bool
    attempts: tuple[Attempt, ...]
    login: str = ""

    @property
    def turn(self) -> Turn:
        """Return the team's turn."""
        return turn_of(self.attempts, withdrawn=self.withdrawn, sessions=self.registration.sessions)

    def bound_to(self, lanes: Sequence[str]) -> int | None:
        """Return the only lane where the team may run, of the lanes with these names.

        None means any. 0 means one that is not declared any more.
        """
        name = self.registration.lane
        if not name or len(lanes) == 1:
            return None
        return lanes.index(name) + 1 if name in lanes else 0

    @property
    def attempt_count(self) -> int:
        """Return how many sessions the team has started, void ones included."""
        return len(started(self.attempts))

    @property
    def void_reasons(self) -> tuple[str, ...]:
        """Return why started sessions of the team are void, the oldest first."""
        return tuple(one.reason for one in started(self.attempts) if one.reason is not None)


@dataclass(frozen=True)
class Roster:
    """The teams in the running order, and the record of that order (None: never set).

    `lanes` has the names of the lanes, lane 1 first; a single lane has the name ''.
    """

    teams: tuple[RosterTeam, ...]
    order: OrderRecord | None
    lanes: tuple[str, ...]

    @property
    def active(self) -> tuple[RosterTeam, ...]:
        """Return the teams that have not withdrawn."""
        return tuple(team for team in self.teams if not team.withdrawn)

    @property
    def runners(self) -> tuple[RosterTeam, ...]:
        """Return the active teams that run sessions; the others hand in models only."""
        return tuple(team for team in self.active if team.registration.sessions)

    @property
    def next(self) -> str | None:
        """Return the team that is next; None without a running order, or if nobody waits."""
        if self.order is None:
            return None
        turns = {team.name: team.turn for team in self.teams}
        return next_team([team.name for team in self.teams], turns)

    @property
    def next_in_lanes(self) -> dict[int, str]:
        """Return who is next in each lane where anybody is (see the rule of the same name).

        A team whose session is READY in a lane runs there. Nobody is next without a running order.
        """
        if self.order is None:
            return {}
        free, busy = self._lanes_now
        return next_in_lanes(self._waiting, free, busy)

    @property
    def on_deck(self) -> dict[int, str]:
        """Return who follows the next team in each lane where anybody does."""
        nexts = self.next_in_lanes
        free, busy = self._lanes_now
        left = [team for team in self._waiting if team.name not in nexts.values()]
        # Each lane is busy with its next team first.
        return next_in_lanes(left, (), [*free, *busy]) if nexts else {}

    @property
    def _lanes_now(self) -> tuple[list[int], list[int]]:
        """Return the free lanes, and the busy ones in the order in which they become free."""
        live = {
            attempt.lane: attempt.session_id
            for team in self.teams
            for attempt in team.attempts
            if attempt.state in (SessionState.ARMED, SessionState.RUNNING)
        }
        free = [lane for lane in range(1, len(self.lanes) + 1) if lane not in live]
        # Of two sessions that are on, the older one is over first, but for extra time.
        busy = sorted((lane for lane in live if lane <= len(self.lanes)), key=live.__getitem__)
        return free, busy

    @property
    def _waiting(self) -> list[WaitingTeam]:
        return [
            WaitingTeam(team.name, _ready_in(team) or team.bound_to(self.lanes))
            for team in self.teams
            if team.turn is Turn.WAITING
        ]

    def find(self, name: str) -> RosterTeam | None:
        """Return the team with this name or login, however it is written, or None.

        An earlier name of a team finds nobody: an operator who writes it may mean another team.
        """
        teams = {team.name: team for team in self.teams}
        found = TeamWords(teams, [(one.login, one.name) for one in self.teams]).find(name)
        return None if found is None else teams[found]


def read_roster(contest: Contest, connection: Connection | None = None) -> Roster:
    """Return the roster; raise `ConfigError` if teams.csv is damaged.

    `connection` is that of the caller's transaction. A team is on the roster if it is registered
    and not removed, if it has a password, or if it has a session. A rehearsal knows its teams from
    the event: the roster has what the event registered of them, and their logins.
    """
    connection = connection or contest.database.connection
    now = contest.clock.now()
    hashes = registered_teams(contest.config.teams)
    orders = stored_orders(connection)
    order = orders[-1] if orders else None
    attempts = _attempts(all_sessions(connection), rehearsals(connection), now)
    records = stored_teams(connection)
    known = used_names(connection)
    logins = team_logins(connection)
    teams = [
        _team(record, hashes, order, attempts.get(record.name, ()), logins[record.team_id])
        for record in records
    ]
    teams = [team for team, record in zip(teams, records, strict=True) if _belongs(team, record)]
    teams += [
        RosterTeam(None, name, Registration(), False, "", True, False, ())
        for name in hashes
        if name not in known
    ]
    event = contest.config.event_database
    if event is not None:
        teams = _as_registered(teams, teams_at(event))
    lanes = tuple(lane.name for lane in contest.config.lanes)
    return Roster(tuple(_in_order(teams, order)), order, lanes)


def _as_registered(teams: Sequence[RosterTeam], event: TeamsOfEvent) -> list[RosterTeam]:
    """Return the teams of a rehearsal with what the event has of them."""
    known = TeamWords(event.registrations, event.words)
    named = [known.find(team.name) or "" for team in teams]
    return [
        replace(
            team,
            registration=event.registrations.get(name, team.registration),
            login=event.logins.get(name, team.login),
        )
        for name, team in zip(named, teams, strict=True)
    ]


def _team(
    record: TeamRecord,
    hashes: dict[str, str],
    order: OrderRecord | None,
    attempts: tuple[Attempt, ...],
    login: str,
) -> RosterTeam:
    return RosterTeam(
        team_id=record.team_id,
        name=record.name,
        registration=record.registration,
        withdrawn=record.kind == "withdrawn",
        reason=record.reason,
        has_password=record.name in hashes,
        ordered=order is not None and record.team_id in order.team_ids,
        attempts=attempts,
        login=login,
    )


def _belongs(team: RosterTeam, record: TeamRecord) -> bool:
    registered = record.kind is not None and record.kind != "removed"
    return registered or team.has_password or bool(team.attempts)


def _attempts(
    sessions: Sequence[SessionRecord], aside: Set[int], now: Instant
) -> dict[str, tuple[Attempt, ...]]:
    """Return each team's attempts, the oldest first; `sessions` has the newest first."""
    of_team: dict[str, list[Attempt]] = {}
    for session in reversed(sessions):
        attempt = Attempt(
            session.session_id,
            state_of(session.facts, now),
            session.facts.started is not None,
            session.void_reason,
            session.session_id in aside,
            session.lane,
        )
        of_team.setdefault(session.team, []).append(attempt)
    return {team: tuple(attempts) for team, attempts in of_team.items()}


def _ready_in(team: RosterTeam) -> int | None:
    """Return the lane in which a session of the team is READY, or None."""
    lanes = [one.lane for one in team.attempts if one.state is SessionState.READY]
    return lanes[0] if lanes else None


def _in_order(teams: list[RosterTeam], order: OrderRecord | None) -> list[RosterTeam]:
    """Sort the teams by the running order; those outside it keep the order of registration."""
    places = {} if order is None else {team_id: n for n, team_id in enumerate(order.team_ids)}
    last = len(places)
    return sorted(teams, key=lambda team: places.get(team.team_id or 0, last))
