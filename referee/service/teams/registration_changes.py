# SPDX-License-Identifier: Apache-2.0
"""Changes of registered teams: amend, rename, withdraw, return, remove, a new password."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from referee.core.states import SessionState
from referee.errors import InputError
from referee.service.entry import team_list
from referee.service.entry.passwords import make_passwords
from referee.service.setup.contest import Contest
from referee.service.setup.extra import all_extras
from referee.service.setup.finality import require_provisional
from referee.service.teams.registration import adopt_teams
from referee.service.teams.roster import Roster, RosterTeam
from referee.service.teams.team_words import free_name, require_team
from referee.store.database import Connection
from referee.store.notices import insert_audit
from referee.store.teams import (
    Registration,
    RegistrationKind,
    insert_registration,
    insert_rename,
    used_names,
)

_LIVE = (SessionState.READY, SessionState.ARMED, SessionState.RUNNING)


def amend(
    contest: Contest,
    name: str,
    changes: Callable[[Registration], Registration],
    reason: str,
    operator: str,
) -> Registration:
    """Change what a team's registration says, and return it; a repeat changes nothing.

    `changes` makes the new registration from the present one. Raises `InputError` without a reason,
    for a team that has withdrawn, and for a team with a session that shall hand in models only.
    """
    _need_reason(reason)
    with contest.database.write() as connection:
        require_provisional(connection)
        team = require_team(adopt_teams(contest, connection, operator), name)
        if team.withdrawn:
            raise InputError(
                f"'{name}' has withdrawn ({team.reason}). Bring it back first: "
                "'referee team return'."
            )
        registration = changes(team.registration)
        if registration == team.registration:
            return registration
        kept = [one for one in team.attempts if one.state is not SessionState.VOID]
        if kept and not registration.sessions:
            raise InputError(
                f"'{name}' has session {kept[0].session_id}, so it does not hand in models only. "
                "Void the session first."
            )
        _record(
            contest,
            connection,
            replace(team, registration=registration),
            "registered",
            reason,
            operator,
        )
    return registration


def rename(contest: Contest, name: str, new_name: str, operator: str) -> str:
    """Give a team another name; return it as stored.

    The team keeps its login, its password, its place in the running order and its sessions. It logs
    in with its earlier names too, and its evidence has them all. A repeat changes nothing. Raises
    `InputError` if the name is in use, or was another team's, and while a session of the team is
    armed or runs.
    """
    with contest.database.write() as connection:
        require_provisional(connection)
        roster = adopt_teams(contest, connection, operator)
        names = used_names(connection)
        done = roster.find(new_name)
        if roster.find(name) is None and done is not None and names.get(name) == done.team_id:
            return new_name
        team = require_team(roster, name)
        _require_no_live_session(team, "renamed")
        new_name = free_name(contest, connection, new_name, owner=team.team_id)
        if new_name != team.name:
            detail = f"'{team.name}' is now '{new_name}'"
            now = contest.clock.now()
            insert_rename(
                connection, _id(team), new_name, operator=operator, utc=now.utc.isoformat()
            )
            insert_audit(connection, now, operator, "rename team", None, detail, team_id=_id(team))
    with contest.database.write() as connection:
        adopt_teams(contest, connection, operator)
    return new_name


def withdraw(contest: Contest, name: str, reason: str, operator: str) -> None:
    """Take a team out of the running order; its sessions stay on record, without a rank.

    A repeat changes nothing. Raises `InputError` without a reason, and while the team has a session
    that is READY, ARMED or RUNNING.
    """
    withdraw_all(contest, [name], reason, operator)


def withdraw_all(contest: Contest, names: Sequence[str], reason: str, operator: str) -> None:
    """Take several teams out of the running order for one reason, all or none."""
    _change(contest, names, "withdrawn", reason, operator)


def bring_back(contest: Contest, name: str, reason: str, operator: str) -> None:
    """Undo a withdrawal; a repeat changes nothing."""
    _change(contest, [name], "returned", reason, operator)


def remove(contest: Contest, name: str, operator: str) -> None:
    """Remove a registration that was a mistake; raise `InputError` if the team has a session."""
    with contest.database.write() as connection:
        require_provisional(connection)
        team = require_team(adopt_teams(contest, connection, operator), name)
        if team.attempts:
            raise InputError(
                f"'{name}' has session {team.attempts[0].session_id}, so the team stays on record. "
                "To take it out of the event, use 'referee team withdraw'."
            )
        for kept in (extra.kept_of(connection, team.name) for extra in all_extras()):
            if kept:
                raise InputError(
                    f"'{name}' has {kept}, so the team stays on record. "
                    "To take it out of the event, use 'referee team withdraw'."
                )
        _record(contest, connection, team, "removed", "", operator)
    with contest.database.write() as connection:
        adopt_teams(contest, connection, operator)


def new_passwords(
    contest: Contest,
    names: Iterable[str],
    operator: str,
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, str]:
    """Make new passwords for these teams, or for all active ones; return them by name.

    Earlier passwords of these teams stop working. Raises `InputError` for a team that is unknown
    or has withdrawn, and for one whose session is armed or runs. The hashes take seconds, so they
    are made while others may write; the teams are looked at again before the hashes are stored.
    """
    with contest.database.write() as connection:
        roster = adopt_teams(contest, connection, operator)
        wanted = list(names) or [team.name for team in roster.active]
        wanted = _require_passwords_free(roster, wanted)
    made = make_passwords(wanted, progress)
    with contest.database.write() as connection:
        if _require_passwords_free(adopt_teams(contest, connection, operator), wanted) != wanted:
            raise InputError(
                "A team was renamed while the passwords were made. Nothing was changed: try again."
            )
        hashes = {name: stored for name, (_, stored) in made.items()}
        team_list.replace_hashes(contest.config.teams, hashes)
        detail = f"for {', '.join(made)}"
        insert_audit(connection, contest.clock.now(), operator, "new passwords", None, detail)
    return {name: password for name, (password, _) in made.items()}


def _require_passwords_free(roster: Roster, names: Iterable[str]) -> list[str]:
    """Return the teams' stored names; raise `InputError` for one that can get no password now."""
    stored = []
    for name in names:
        team = require_team(roster, name)
        if team.withdrawn:
            raise InputError(f"'{team.name}' has withdrawn ({team.reason}).")
        _require_no_live_session(team, "given a new password")
        stored.append(team.name)
    return stored


def _change(
    contest: Contest, names: Sequence[str], kind: RegistrationKind, reason: str, operator: str
) -> None:
    _need_reason(reason)
    with contest.database.write() as connection:
        require_provisional(connection)
        roster = adopt_teams(contest, connection, operator)
        for team in {
            team.name: team for team in (require_team(roster, one) for one in names)
        }.values():
            _change_one(contest, connection, team, kind, reason, operator)


def _change_one(
    contest: Contest,
    connection: Connection,
    team: RosterTeam,
    kind: RegistrationKind,
    reason: str,
    operator: str,
) -> None:
    if team.withdrawn == (kind == "withdrawn"):
        return
    waiting = [one for one in team.attempts if one.state in _LIVE]
    if waiting:
        raise InputError(
            f"Session {waiting[0].session_id} of '{team.name}' is {waiting[0].state.value}. Void "
            "it, or let it end, before the team withdraws."
        )
    _record(contest, connection, team, kind, reason, operator)


def _record(
    contest: Contest,
    connection: Connection,
    team: RosterTeam,
    kind: RegistrationKind,
    reason: str,
    operator: str,
) -> None:
    now, team_id = contest.clock.now(), _id(team)
    utc, registration = now.utc.isoformat(), team.registration
    insert_registration(
        connection, team_id, kind, registration, operator=operator, utc=utc, reason=reason
    )
    action = f"team {kind}"
    insert_audit(connection, now, operator, action, None, team.name, reason=reason, team_id=team_id)


def _need_reason(reason: str) -> None:
    if not reason.strip():
        raise InputError("This needs a reason, which stays on record. Give one.")


def _require_no_live_session(team: RosterTeam, done: str) -> None:
    live = [one for one in team.attempts if one.state in _LIVE[1:]]
    if live:
        raise InputError(
            f"Session {live[0].session_id} of '{team.name}' is {live[0].state.value}, so the team "
            f"cannot be {done} now. Wait until the session is over."
        )


def _id(team: RosterTeam) -> int:
    if team.team_id is None:
        raise ValueError(f"'{team.name}' was not adopted")
    return team.team_id
