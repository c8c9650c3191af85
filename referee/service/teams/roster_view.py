# SPDX-License-Identifier: Apache-2.0
"""The roster as pages and programs get it, and as a table of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from referee.core.states import SessionState
from referee.core.text_cells import columns_of, left_in
from referee.core.turns import LOTTERY_RULE, Attempt, Turn, counted_attempt
from referee.service.teams.order import order_text
from referee.service.teams.rehearsals import LEGEND, RehearsalProgress, progress_text
from referee.service.teams.roster import Roster, RosterTeam
from referee.store.teams import OrderRecord


class ShownAttempt(Struct, frozen=True, kw_only=True):
    """A session of a team, and why it is void, if it is."""

    session: int
    state: str
    reason: str | None


class ShownTeam(Struct, frozen=True, kw_only=True):
    """A team of the roster.

    `login` is what it types as its user name; it may type its name, too. `lane` is the only one
    where it runs, '' for any. `attempts` counts the started sessions, void ones included.
    """

    place: int
    team: str
    login: str
    organisation: str
    prizes: bool
    runs_sessions: bool
    lane: str
    turn: str
    withdrawn: bool
    reason: str
    has_password: bool
    ordered: bool
    attempts: int
    rehearsal: RehearsalProgress
    sessions: Sequence[ShownAttempt]


class ShownOrder(Struct, frozen=True, kw_only=True):
    """How the running order was made, and by whom."""

    method: str
    seed: str | None
    reason: str
    operator: str
    utc: str


class NextInLane(Struct, frozen=True, kw_only=True):
    """Who is next in a lane, and who after that."""

    lane: int
    name: str
    next: str | None
    on_deck: str | None


class ShownRoster(Struct, frozen=True, kw_only=True):
    """The roster in the running order; `next` is the first team that waits, or None."""

    order: ShownOrder | None
    order_text: str
    lottery_rule: str
    next: str | None
    lanes: Sequence[NextInLane]
    teams: Sequence[ShownTeam]


def shown_roster(roster: Roster, progress: Mapping[str, RehearsalProgress]) -> ShownRoster:
    """Return the roster as pages and programs get it."""
    order = roster.order
    return ShownRoster(
        order=None if order is None else _order(order),
        order_text=order_text(roster),
        lottery_rule=LOTTERY_RULE,
        next=roster.next,
        lanes=next_in_lanes(roster),
        teams=[
            _team(place, team, progress[team.name]) for place, team in enumerate(roster.teams, 1)
        ],
    )


def _order(order: OrderRecord) -> ShownOrder:
    return ShownOrder(
        method=order.method,
        seed=order.seed,
        reason=order.reason,
        operator=order.operator,
        utc=order.utc,
    )


def next_in_lanes(roster: Roster) -> list[NextInLane]:
    """Return who is next in each lane."""
    nexts, after = roster.next_in_lanes, roster.on_deck
    return [
        NextInLane(lane=number, name=name, next=nexts.get(number), on_deck=after.get(number))
        for number, name in enumerate(roster.lanes, 1)
    ]


class Choice(Struct, frozen=True, kw_only=True):
    """What somebody who makes a team's next session must know.

    `turn` is '' for a team that waits. `lane` is the name of the only lane where it runs, '' for
    any. `counted` is the number of the session whose result a new one would replace, or None, and
    `replaces` says so.
    """

    turn: str
    lane: str
    counted: int | None
    replaces: str


def choices_of(roster: Roster) -> dict[str, Choice]:
    """Return, by team, what somebody who makes the next session must know."""
    return {team.name: _choice(roster, team) for team in roster.runners}


def _choice(roster: Roster, team: RosterTeam) -> Choice:
    counted = counted_attempt(team.attempts)
    bound = team.bound_to(roster.lanes) is not None
    return Choice(
        turn=_state_of_choice(roster, team),
        lane=team.registration.lane if bound else "",
        counted=None if counted is None else counted.session_id,
        replaces="" if counted is None else _replaces(team, counted),
    )


def _state_of_choice(roster: Roster, team: RosterTeam) -> str:
    """Return why a team is not simply the next one: its latest session that is on or counts."""
    for attempt in reversed(team.attempts):
        if attempt.state in (SessionState.READY, SessionState.ARMED, SessionState.RUNNING):
            state = str(attempt.state.value)
            names = roster.lanes if len(roster.lanes) > 1 else ()
            return (
                f"{state} in lane {names[attempt.lane - 1]}"
                if attempt.lane <= len(names)
                else state
            )
    return "has run" if team.turn is Turn.RAN else ""


def _replaces(team: RosterTeam, counted: Attempt) -> str:
    said = "RUNNING" if counted.state is SessionState.RUNNING else "over, and its result counts"
    return (
        f"Session {counted.session_id} of '{team.name}' is {said}. A new session takes its place "
        "in the ranking when the team logs in, even if it is worse."
    )


def roster_text(roster: Roster, progress: Mapping[str, RehearsalProgress]) -> str:
    """Return the roster as lines of text, in the running order."""
    if not roster.teams:
        return "No team is registered: run 'referee team import' or 'referee team add'."
    width = max(columns_of(team.name) for team in roster.teams)
    lines = [
        f"{place:>3}  {left_in(team.name, width)}  {progress_text(progress[team.name])}"
        f"  {_said(roster, team)}"
        for place, team in enumerate(roster.teams, 1)
    ]
    return "\n".join([*lines, "", LEGEND, order_text(roster)])


def _team(place: int, team: RosterTeam, progress: RehearsalProgress) -> ShownTeam:
    return ShownTeam(
        place=place,
        team=team.name,
        login=team.login,
        organisation=team.registration.organisation,
        prizes=team.registration.prizes,
        runs_sessions=team.registration.sessions,
        lane=team.registration.lane,
        turn=team.turn.value,
        withdrawn=team.withdrawn,
        reason=team.reason,
        has_password=team.has_password,
        ordered=team.ordered,
        attempts=team.attempt_count,
        rehearsal=progress,
        sessions=[
            ShownAttempt(
                session=attempt.session_id, state=attempt.state.value, reason=attempt.reason
            )
            for attempt in team.attempts
        ],
    )


def _said(roster: Roster, team: RosterTeam) -> str:
    said = [_turn_text(roster, team)]
    if team.turn is Turn.WITHDRAWN:
        said[0] += f" ({team.reason})"
    if team.login not in ("", team.name):
        said.append(f"logs in as {team.login}")
    if team.registration.organisation:
        said.append(team.registration.organisation)
    if team.attempt_count:
        voids = "".join(f"; {reason}" for reason in team.void_reasons)
        word = "attempt" if team.attempt_count == 1 else "attempts"
        said.append(f"{team.attempt_count} {word}{voids}")
    if team.registration.lane:
        said.append(f"runs in lane {team.registration.lane} only")
    if not team.registration.prizes:
        said.append("declines prizes")
    if not team.has_password:
        said.append("no password yet")
    return ", ".join(said)


def _turn_text(roster: Roster, team: RosterTeam) -> str:
    """Return the team's turn; of the next teams, where they run if there are several lanes."""
    lane = next((number for number, name in roster.next_in_lanes.items() if name == team.name), 0)
    if not lane:
        return team.turn.value
    return f"NEXT in lane {roster.lanes[lane - 1]}" if len(roster.lanes) > 1 else "NEXT"
