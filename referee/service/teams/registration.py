# SPDX-License-Identifier: Apache-2.0
"""Registration of teams: a table, or one team; all on record."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from referee.core.logins import LOGIN_RULE, clean_login
from referee.core.names import comparable
from referee.errors import InputError
from referee.formats.team_table import TeamLine, faults_text
from referee.service.entry import team_list
from referee.service.setup.config import Config
from referee.service.setup.contest import Contest
from referee.service.setup.finality import require_provisional
from referee.service.teams.lanes import declared_lane
from referee.service.teams.roster import Roster, read_roster
from referee.service.teams.team_words import (
    free_name,
    logins_for,
    logins_not_free,
    require_team,
    taken_words,
)
from referee.store.database import Connection
from referee.store.notices import insert_audit_of_teams
from referee.store.teams import (
    Registration,
    ensure_teams,
    insert_registrations,
    stored_teams,
    used_names,
)

_PROGRESS_STEP = 1000


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
        registrations = {
            it.name: Registration(it.organisation, it.prizes, it.sessions, bound[it.line])
            for it in lines
        }
        _register(contest, connection, registrations, logins, operator, progress)
    return list(registrations)


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
        _register(contest, connection, {name: registration}, {name: made}, operator)
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
    new: dict[str, Registration] = {}
    kept: dict[str, str] = {}
    for name, password_hash in hashes.items():
        team = teams.get(names.get(name, 0))
        present = name if team is None else team.name
        if team is None or team.kind is None:
            new[present] = Registration()
        if team is None or team.kind != "removed":
            kept[present] = password_hash
    _register(contest, connection, new, logins, operator)
    team_list.replace_list(contest.config.teams, kept)
    return read_roster(contest, connection)


def _register(
    contest: Contest,
    connection: Connection,
    registrations: Mapping[str, Registration],
    logins: Mapping[str, str],
    operator: str,
    progress: Callable[[int, int], object] | None = None,
) -> None:
    """Register teams by their present names; a team that is not new keeps a login that it has."""
    now = contest.clock.now()
    utc = now.utc.isoformat()
    names = list(registrations)
    ids = ensure_teams(connection, {name: logins.get(name, "") for name in names}, utc)
    for done in range(0, len(names), _PROGRESS_STEP):
        if progress is not None:
            progress(done, len(names))
        some = {ids[name]: name for name in names[done : done + _PROGRESS_STEP]}
        told = {team_id: registrations[name] for team_id, name in some.items()}
        insert_registrations(connection, "registered", told, operator=operator, utc=utc)
        insert_audit_of_teams(connection, now, operator, "register team", some)
    if progress is not None:
        progress(len(names), len(names))
