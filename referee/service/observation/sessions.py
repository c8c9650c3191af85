# SPDX-License-Identifier: Apache-2.0
"""All sessions and notices of a contest, for a maintainer: what happened, and what became of it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from referee.core.states import state_of
from referee.service.setup.contest import Contest
from referee.store.notices import recent_notices
from referee.store.readings import energy_of
from referee.store.sessions import SessionRecord, all_sessions

_NOTICES_MOST = 10_000


def sessions_told(contest: Contest) -> dict[str, Any]:
    """Return the sessions with their moments and energies, and the notices, the newest first.

    The order of a session's images is a secret of the contest, and is left out.
    """
    connection = contest.database.connection
    return {
        "sessions": [_told(contest, session) for session in all_sessions(connection)],
        "notices": [asdict(it) for it in recent_notices(connection, _NOTICES_MOST)],
    }


def _told(contest: Contest, session: SessionRecord) -> dict[str, Any]:
    energy = energy_of(contest.database.connection, session.session_id)
    return {
        "session": session.session_id,
        "team": session.team,
        "lane": session.lane,
        "state": state_of(session.facts, contest.clock.now()).value,
        "facts": asdict(session.facts),
        "energy": None if energy is None else asdict(energy),
    }
