# SPDX-License-Identifier: Apache-2.0
"""Queries between an event and its rehearsals, which have a database each.

The event asks what the teams did in rehearsals, and a rehearsal how the event registered them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from referee.errors import Unavailable
from referee.store.readable import readable
from referee.store.team_words import has_logins, other_words, team_logins
from referee.store.teams import Registration, stored_teams

_WAIT_S = 2.0

T = TypeVar("T")


def rehearsed(path: Path) -> Mapping[str, tuple[bool, bool, bool, bool]]:
    """Return by team whether it logged in, fetched, answered in time, and was scored.

    The first name of a team in the rehearsals names it. A rehearsal that scored no answer is not
    scored. The database is only read; without the file the map is empty.
    """
    rows = _ask(path, "The rehearsals", _lights)
    return {
        str(name): (bool(begun), bool(fetched), bool(answered), bool(scored))
        for name, begun, fetched, answered, scored in rows or ()
    }


@dataclass(frozen=True)
class TeamsOfEvent:
    """An event's teams by their present names: how they are registered, and by which words meant.

    `logins` has no team of an event that no command of this version has opened yet. `words` has
    each login and earlier name with its team's present name.
    """

    registrations: Mapping[str, Registration]
    logins: Mapping[str, str]
    words: Sequence[tuple[str, str]]


def teams_at(path: Path) -> TeamsOfEvent:
    """Return the teams of the event with this database.

    The database is only read; without the file there is no team.
    """
    return _ask(path, "The event's teams", _teams) or TeamsOfEvent({}, {}, ())


def _teams(connection: sqlite3.Connection) -> TeamsOfEvent:
    teams = stored_teams(connection)
    logins = team_logins(connection) if has_logins(connection) else {}
    return TeamsOfEvent(
        {team.name: team.registration for team in teams},
        {team.name: logins[team.team_id] for team in teams if team.team_id in logins},
        other_words(connection),
    )


def _ask(path: Path, what: str, query: Callable[[sqlite3.Connection], T]) -> T | None:
    """Ask the database of another contest; return None if there is none."""
    if not path.exists():
        return None
    try:
        with (
            readable(path) as file,
            closing(
                sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True, timeout=_WAIT_S)
            ) as connection,
        ):
            return query(connection)
    except sqlite3.Error as error:
        raise Unavailable(f"{what} in {path} cannot be read: {error}.") from error


def _lights(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
    return connection.execute("""
        select t.name, 1,
            max(exists (select 1 from fetched_images as f
                where f.session_id = s.session_id)
                or exists (select 1 from shows as w
                where w.session_id = s.session_id and w.painted_s is not null)),
            max(exists (select 1 from answers as a
                where a.session_id = s.session_id and a.late = 0)),
            max(exists (select 1 from scoring_runs as r
                where r.session_id = s.session_id and r.upto_answer_id > 0))
        from sessions as s join teams as t using (team_id)
        where exists (select 1 from session_events as e
            where e.session_id = s.session_id and e.kind = 'started')
        group by t.team_id
        """).fetchall()
