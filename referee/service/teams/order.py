# SPDX-License-Identifier: Apache-2.0
"""The running order of an event: by lottery or by hand, each on record."""

from __future__ import annotations

from collections.abc import Sequence

from referee.core.dates import moment_text
from referee.core.turns import draw_lots, rearranged
from referee.errors import InputError
from referee.service.setup.contest import Contest
from referee.service.teams.registration import adopt_teams, models_only
from referee.service.teams.roster import Roster, RosterTeam, read_roster
from referee.service.teams.team_words import require_team
from referee.store.database import Connection
from referee.store.notices import insert_audit
from referee.store.teams import insert_order

SEED_MOST = 200
"""The most characters in the seed of a lottery."""


def draw_order(contest: Contest, seed: str, reason: str, operator: str) -> Roster:
    """Draw the running order of all teams that run sessions by lottery, and record the seed.

    A later order needs a reason; a repeat changes nothing. Raises `InputError` without teams, and
    for a seed that nobody could type again.
    """
    if not seed or len(seed) > SEED_MOST or not seed.isprintable() or seed != seed.strip():
        raise InputError(
            f"A seed is 1 to {SEED_MOST} printable characters without blanks at its ends."
        )
    with contest.database.write() as connection:
        roster = _roster_to_order(contest, connection, reason, operator)
        names = [lot.name for lot in draw_lots([team.name for team in roster.runners], seed)]
        _record(contest, connection, roster, names, seed=seed, reason=reason, operator=operator)
    return read_roster(contest)


def set_order(contest: Contest, first: Sequence[str], reason: str, operator: str) -> Roster:
    """Put teams at the front of the running order, in this order; the others follow as before.

    A later order needs a reason; a repeat changes nothing. Raises `InputError` for an unknown or
    withdrawn team, and for one that is named twice.
    """
    with contest.database.write() as connection:
        roster = _roster_to_order(contest, connection, reason, operator)
        placed: list[str] = []
        for name in first:
            team = _with_a_place(roster, name)
            if team.name in placed:
                raise InputError(f"'{name}' is named twice.")
            placed.append(team.name)
        names = rearranged([team.name for team in roster.runners], placed)
        _record(contest, connection, roster, names, seed=None, reason=reason, operator=operator)
    return read_roster(contest)


def put_off(contest: Contest, name: str, reason: str, operator: str) -> Roster:
    """Move a team to the end of the running order; a repeat changes nothing.

    It needs a reason once there is an order. Raises `InputError` as `set_order` does.
    """
    with contest.database.write() as connection:
        roster = _roster_to_order(contest, connection, reason, operator)
        last = _with_a_place(roster, name).name
        runners = [team.name for team in roster.runners]
        names = [*(one for one in runners if one != last), last]
        if names != runners:
            _record(contest, connection, roster, names, seed=None, reason=reason, operator=operator)
    return read_roster(contest)


def _with_a_place(roster: Roster, name: str) -> RosterTeam:
    """Return the team of a name; raise `InputError` for one without a place in the order."""
    team = require_team(roster, name)
    if team.withdrawn:
        raise InputError(f"'{name}' has withdrawn, so it has no place in the order.")
    if not team.registration.sessions:
        raise InputError(f"{models_only(name)} It has no place in the order.")
    return team


def order_text(roster: Roster) -> str:
    """Return in one line how the present running order came about."""
    order = roster.order
    if order is None:
        return "No running order has been set. The teams stand in the order of registration."
    how = f"Lottery with the seed '{order.seed}'" if order.seed is not None else "Set by hand"
    because = f", because: {order.reason}" if order.reason else ""
    return f"{how} by {order.operator} at {moment_text(order.utc)}{because}."


def _roster_to_order(
    contest: Contest, connection: Connection, reason: str, operator: str
) -> Roster:
    roster = adopt_teams(contest, connection, operator)
    if not roster.runners:
        who = "Every team hands in models only" if roster.active else "No team is registered"
        raise InputError(f"{who}, so there is nothing to put in order.")
    if roster.order is not None and not reason.strip():
        raise InputError(
            "There is a running order already. A new one needs a reason, which stays on record."
        )
    return roster


def _record(
    contest: Contest,
    connection: Connection,
    roster: Roster,
    names: Sequence[str],
    *,
    seed: str | None,
    reason: str,
    operator: str,
) -> None:
    teams: dict[str, RosterTeam] = {team.name: team for team in roster.teams}
    ids = [teams[name].team_id or 0 for name in names]
    last = roster.order
    if last is not None and (list(last.team_ids), last.seed, last.reason) == (ids, seed, reason):
        return  # The same press once more.
    now = contest.clock.now()
    insert_order(connection, ids, seed=seed, reason=reason, operator=operator, at=now)
    how = "running order by hand" if seed is None else f"running order by lottery, seed '{seed}'"
    insert_audit(connection, now, operator, how, None, ", ".join(names), reason=reason)
