# SPDX-License-Identifier: Apache-2.0
"""Registration of teams: import, add, amend, rename, withdraw, return, remove; all on record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from referee.core.logins import LOGIN_RULE, clean_login
from referee.core.names import comparable
from referee.core.states import SessionState
from referee.errors import InputError
from referee.formats.team_table import TeamLine, faults_text
from referee.service.entry import team_list
from referee.service.entry.passwords import make_passwords
from referee.service.setup.config import Config
from referee.service.setup.contest import Contest
from referee.service.setup.extra import all_extras
from referee.service.setup.finality import require_provisional
from referee.service.teams.lanes import declared_lane
from referee.service.teams.roster import Roster, RosterTeam, read_roster
from referee.service.teams.team_words import (
    free_name,
    logins_for,
    logins_not_free,
    require_team,
    taken_words,
)
from referee.store.database import Connection
from referee.store.notices import insert_audit
from referee.store.team_words import insert_login, newest_login
from referee.store.teams import (
    Registration,
    RegistrationKind,
    ensure_team,
    insert_registration,
    insert_rename,
    stored_teams,
    used_names,
)

_PROGRESS_STEP = 100
_LIVE = (SessionState.READY, SessionState.ARMED, SessionState.RUNNING)


def import_teams(
    contest: Contest,
    lines: Sequence[TeamLine],
    source: str,
    operator: str,
    progress: Callable[[int, int], object] | None = None,
) -> list[str]:
    """Register every team of a table, or none; return the names.

    Raises one `InputError` that names each line whose team is registered already, whose name or
    login is a word of another team, or whose lane is not declared. The teams get no password:
    `new_passwords` makes them. `progress` gets how many teams are in, and of how many.
    """
    with contest.database.write() as connection:
        require_provisional(connection)
        taken = taken_words(contest, connection)
        faults = [
            f"line {line.line}: {taken[comparable(line.name)][0].text}"
            for line in lines
            if comparable(line.name) in taken
        ]
        not_free = logins_not_free(contest, connection, lines)
        faults += [f"line {line.line}: {text}" for line, text in not_free]
        bound: dict[int, str] = {}
        for line in lines:
            try:
                bound[line.line] = declared_lane(contest.config, line.lane)
            except InputError as error:
                faults.append(f"line {line.line}: {error}")
        if faults:
            raise InputError(faults_text(source, faults))
        logins = logins_for(contest, connection, lines)
        for done, line in enumerate(lines):
            if progress is not None and done % _PROGRESS_STEP == 0:
                progress(done, len(lines))
            lane = bound[line.line]
            registration = Registration(line.organisation, line.prizes, line.sessions, lane)
            _register(contest, connection, line.name, registration, operator, logins[line.name])
    if progress is not None:
        progress(len(lines), len(lines))
    return [line.name for line in lines]


def add_team(
    contest: Contest, name: str, registration: Registration, operator: str, login: str = ""
) -> str:
    """Register one team and return its name as stored.

    Without a `login` it gets one that is made from the name. Raises `InputError` for a name or a
    login that is in use, or cannot be one.
    """
    with contest.database.write() as connection:
        require_provisional(connection)
        name = free_name(contest, connection, name)
        line = TeamLine(0, name, login=_login_of(login))
        for _, text in logins_not_free(contest, connection, [line]):
            raise InputError(f"{text[:1].upper()}{text[1:]}.")
        made = logins_for(contest, connection, [line])[name]
        _register(contest, connection, name, registration, operator, made)
    return name


def login_of(contest: Contest, name: str) -> str:
    """Return the login of the team with this name."""
    return require_team(read_roster(contest), name).login


def _login_of(login: str) -> str:
    kept = clean_login(login) if login.strip() else ""
    if kept is None:
        raise InputError(f"'{login}' is no login. {LOGIN_RULE}")
    return kept


def registration_of(
    contest: Contest, organisation: str, lane: str, *, prizes: bool, sessions: bool
) -> Registration:
    """Return what a team's registration says; raise `InputError` for a lane not declared."""
    lane = declared_lane(contest.config, lane)
    return Registration(" ".join(organisation.split()), prizes, sessions, lane)


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


def require_list(config: Config) -> None:
    """Raise `InputError` in a rehearsal, which has no list of teams of its own."""
    if config.contest.mode == "practice":
        text = f"{config.path}: in practice any user name may log in; there is no list."
        raise InputError(text, path=config.path)


def models_only(name: str) -> str:
    """Return the sentence about a team that runs no session."""
    return f"'{name}' hands in models only ('referee team amend --sessions yes' changes that)."


def adopt_teams(contest: Contest, connection: Connection, operator: str) -> Roster:
    """Bring the database and teams.csv in line, and return the roster.

    teams.csv holds the passwords only. A team that is only there is registered. A name that a team
    had before a renaming becomes its present name, and a removed team's line goes.
    So whatever a killed command left behind is completed by the next one.
    """
    names = used_names(connection)
    teams = {team.team_id: team for team in stored_teams(connection)}
    hashes = team_list.registered_teams(contest.config.teams)
    strangers = [TeamLine(0, name) for name in hashes if name not in names]
    logins = logins_for(contest, connection, strangers) if strangers else {}
    kept: dict[str, str] = {}
    for name, password_hash in hashes.items():
        team = teams.get(names.get(name, 0))
        if team is None:
            _register(contest, connection, name, Registration(), operator, logins[name])
        elif team.kind is None:
            _register(contest, connection, team.name, Registration(), operator)
        if team is None or team.kind != "removed":
            kept[name if team is None else team.name] = password_hash
    team_list.replace_list(contest.config.teams, kept)
    return read_roster(contest, connection)


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
            utc = contest.clock.now().utc.isoformat()
            insert_rename(connection, _id(team), new_name, operator=operator, utc=utc)
            detail = f"'{team.name}' is now '{new_name}'"
            _audit(contest, connection, operator, "rename team", detail, team_id=_id(team))
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
        listed = ", ".join(made)
        _audit(contest, connection, operator, "new passwords", f"for {listed}")
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


def _register(
    contest: Contest,
    connection: Connection,
    name: str,
    registration: Registration,
    operator: str,
    login: str = "",
) -> None:
    utc = contest.clock.now().utc.isoformat()
    team_id = ensure_team(connection, name, utc, login)
    if login not in ("", newest_login(connection, team_id)):
        insert_login(connection, team_id, login)
    insert_registration(connection, team_id, "registered", registration, operator=operator, utc=utc)
    _audit(contest, connection, operator, "register team", name, team_id=team_id)


def _record(
    contest: Contest,
    connection: Connection,
    team: RosterTeam,
    kind: RegistrationKind,
    reason: str,
    operator: str,
) -> None:
    utc = contest.clock.now().utc.isoformat()
    registration = team.registration
    insert_registration(
        connection, _id(team), kind, registration, operator=operator, utc=utc, reason=reason
    )
    action = f"team {kind}"
    _audit(contest, connection, operator, action, team.name, team_id=_id(team), reason=reason)


def _audit(
    contest: Contest,
    connection: Connection,
    operator: str,
    action: str,
    detail: str,
    *,
    team_id: int | None = None,
    reason: str = "",
) -> None:
    now = contest.clock.now()
    insert_audit(connection, now, operator, action, None, detail, reason=reason, team_id=team_id)


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
