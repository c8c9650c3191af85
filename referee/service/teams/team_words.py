# SPDX-License-Identifier: Apache-2.0
"""The words of teams: which names and logins are free, and which team an operator means."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from referee.core.logins import FreeLogins
from referee.core.names import comparable, look_alike_text, look_alikes
from referee.errors import InputError
from referee.formats.team_table import NAME_MOST, TeamLine, clean_name
from referee.service.entry.team_list import registered_teams
from referee.service.setup.contest import Contest
from referee.service.teams.roster import Roster, RosterTeam, read_roster
from referee.store.database import Connection
from referee.store.team_words import team_logins, word_owners
from referee.store.teams import stored_teams, used_names

_LOOK_ALIKES_TOLD = 20


class TakenWord(NamedTuple):
    """A word that a team on the roster has: a name of today or before, or its login."""

    word: str
    team: RosterTeam
    is_login: bool

    @property
    def text(self) -> str:
        """Return whose word it is."""
        if self.is_login:
            return f"'{self.word}' is the login of '{self.team.name}'"
        return f"'{self.word}' is registered already, or was"


TakenWords = Mapping[str, Sequence[TakenWord]]
"""Taken words by what `comparable` makes of them."""


def taken_words(contest: Contest, connection: Connection) -> TakenWords:
    """Return the words that no new team may take.

    A team that was removed before it had a session leaves its name free.
    """
    roster = read_roster(contest, connection)
    of_id = {team.team_id: team for team in roster.teams if team.team_id is not None}
    taken = [TakenWord(team.name, team, is_login=False) for team in roster.teams]
    taken += [
        TakenWord(name, of_id[owner], is_login=False)
        for name, owner in used_names(connection).items()
        if owner in of_id
    ]
    taken += [TakenWord(team.login, team, is_login=True) for team in roster.teams if team.login]
    words: dict[str, list[TakenWord]] = {}
    for in_use in taken:
        words.setdefault(comparable(in_use.word), []).append(in_use)
    return words


def free_name(contest: Contest, connection: Connection, name: str, owner: int | None = None) -> str:
    """Return the name as it is stored; a team may take back its own name, however written."""
    kept = clean_name(name)
    if kept is None:
        raise InputError(f"A team's name must be 1 to {NAME_MOST} printable characters.")
    for in_use in taken_words(contest, connection).get(comparable(kept), ()):
        if owner is None or in_use.team.team_id != owner:
            raise InputError(_in_use(in_use))
    return kept


def _in_use(taken: TakenWord) -> str:
    """Return why nobody else may have a name, and what to do."""
    if taken.is_login:
        return f"{taken.text}: choose another name."
    if taken.team.withdrawn and taken.word == taken.team.name:
        return (
            f"'{taken.word}' has withdrawn. To bring the team back, run: "
            f"referee team return {shlex.quote(taken.word)} --reason 'why'"
        )
    return (
        f"{taken.text}: evidence may hold the name. Choose another. "
        f"'referee team password' gives a registered team a new password."
    )


def logins_not_free(
    contest: Contest, connection: Connection, lines: Sequence[TeamLine]
) -> Iterator[tuple[TeamLine, str]]:
    """Yield each line whose login another team has as a word, and whose it is."""
    chosen = [line for line in lines if line.login]
    taken = taken_words(contest, connection) if chosen else {}
    owners = word_owners(connection) if chosen else {}
    ids = used_names(connection)
    for line in chosen:
        team_id = ids.get(line.name)
        others = [
            in_use
            for in_use in taken.get(line.login, ())
            if in_use.team.team_id != team_id or not team_id
        ]
        if others:
            yield line, f"{others[0].text}. Choose another login"
        elif owners.get(line.login, team_id) != team_id:
            yield line, f"the login '{line.login}' was another team's. Choose another"


def logins_for(
    contest: Contest, connection: Connection, lines: Sequence[TeamLine]
) -> dict[str, str]:
    """Return the logins of the teams of these lines by name; a team keeps the one that it has.

    Chosen ones are taken as they are. The others are made so that each differs from every word of
    another team, the other lines included.
    """
    ids, has = used_names(connection), team_logins(connection)
    owners: dict[str, int | str] = {**word_owners(connection)}
    for name in (*registered_teams(contest.config.teams), *(line.name for line in lines)):
        owners.setdefault(comparable(name), ids.get(name, name))
    owners |= {line.login: ids.get(line.name, line.name) for line in lines if line.login}
    free, logins = FreeLogins(owners), {}
    for line in lines:
        owner = ids.get(line.name, line.name)
        login = line.login or (has.get(owner, "") if isinstance(owner, int) else "")
        if login:
            free.give(login, owner)
        logins[line.name] = login or free.made(line.name, owner)
    return logins


def require_team(roster: Roster, name: str) -> RosterTeam:
    """Return the team with this name or login; raise `InputError`, with the nearest name."""
    team = roster.find(name)
    if team is not None:
        return team
    near = [one.name for one in roster.teams if comparable(one.name) == comparable(name)]
    hint = "'referee team list' shows them all."
    if near:
        hint = f"Write one of these exactly: {', '.join(map(repr, near))}."
    else:
        alike = look_alikes([name], [one.name for one in roster.teams])
        if alike and alike[0].other is not None:
            hint = f"Did you mean '{alike[0].other}'? {look_alike_text(alike[0])}"
    raise InputError(f"No team is called '{name}'. {hint}")


def look_alike_warnings(contest: Contest, names: Collection[str]) -> list[str]:
    """Return a sentence for each of these registered names that looks like another one.

    Nothing is refused for its looks: a name of another alphabet may be a good name.
    """
    new = frozenset(names)
    others = [team.name for team in stored_teams(contest.database.connection)]
    found = look_alikes(names, [name for name in others if name not in new])
    warnings = [look_alike_text(one) for one in found[:_LOOK_ALIKES_TOLD]]
    if len(found) > len(warnings):
        warnings.append(f"{len(found) - len(warnings)} more names look like others.")
    return warnings
