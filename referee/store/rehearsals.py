# SPDX-License-Identifier: Apache-2.0
"""Queries for what teams did in the rehearsals of an event, from the rehearsals' own database."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from referee.errors import Unavailable

_WAIT_S = 2.0


def rehearsed(path: Path) -> Mapping[str, tuple[bool, bool, bool, bool]]:
    """Return by team whether it logged in, fetched, answered in time, and was scored.

    The first name of a team in the rehearsals names it. A rehearsal that scored no answer is not
    scored. The database is only read; without the file the map is empty.
    """
    if not path.exists():
        return {}
    try:
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=_WAIT_S)
        try:
            rows = connection.execute("""
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
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise Unavailable(f"The rehearsals in {path} cannot be read: {error}.") from error
    return {
        str(name): (bool(begun), bool(fetched), bool(answered), bool(scored))
        for name, begun, fetched, answered, scored in rows
    }
