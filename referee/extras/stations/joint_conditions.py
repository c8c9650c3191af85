# SPDX-License-Identifier: Apache-2.0
"""What was not alike among the sessions of a joint board, and the remarks that name them.

The rule is that of one event (`referee/core/conditions.py`), over the sessions of all stations.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from referee.core.conditions import UNKNOWN, Conditions, Difference
from referee.extras.stations.joint_rows import JointSession, JointTeam, Station
from referee.extras.stations.notification import moment_of
from referee.service.event.conditions import compared, difference_text
from referee.service.event.told_conditions import not_told_text, read_conditions, some_of

Marks = Mapping[tuple[str, str], tuple[Difference, ...]]
"""What differs of a session that counts, by its station's key and its team."""


def marks_of(stations: Sequence[Station]) -> Marks:
    """Return what is not alike of each session that is ranked.

    Of as many sessions on each side the one that began first is the rule.
    """
    ranked = [
        (station.key, team.name, session)
        for station in stations
        for team in station.teams
        for session in _ranked(team)
    ]
    ranked.sort(key=lambda one: _began(one[2]))
    found = compared({place: _conditions(session) for place, (*_, session) in enumerate(ranked)})
    return {(key, team): found[place] for place, (key, team, _) in enumerate(ranked)}


def remarks_of(station: Station, marks: Marks) -> list[str]:
    """Return words about a station's sessions that are ranked, each with its bundle's name."""
    ranked = [(team, session) for team in station.teams for session in _ranked(team)]
    not_alike = [
        f"{_named(session)} ({'; '.join(map(difference_text, differs))})"
        for team, session in ranked
        if (differs := marks.get((station.key, team.name), ()))
    ]
    not_told: dict[str, list[str]] = {}
    for _, session in ranked:
        not_told.setdefault(not_told_text(_conditions(session)), []).append(_named(session))
    return [
        *([f"not alike: {some_of(not_alike)}"] if not_alike else []),
        *(f"not told by {some_of(names)}: {what}" for what, names in not_told.items() if what),
    ]


def tells_lengths(station: Station) -> bool:
    """Tell whether a station's sessions that are ranked tell how long they were."""
    ranked = [session for team in station.teams for session in _ranked(team)]
    return bool(ranked) and all(_conditions(one).length_s != UNKNOWN for one in ranked)


def _ranked(team: JointTeam) -> list[JointSession]:
    """Return the session of a team that counts, if it takes part in the ranking."""
    newest = team.played[-1] if team.played and not team.withdrawn else None
    judgement = None if newest is None else newest.judgement
    if newest is None or judgement is None or judgement.judgement_type_id is None:
        return []
    return [newest]


def _conditions(session: JointSession) -> Conditions:
    judgement = session.judgement
    return read_conditions(None if judgement is None else judgement.conditions)


def _began(session: JointSession) -> tuple[float, int]:
    began_s = moment_of(session.begun).timestamp() if session.begun else math.inf
    return began_s, session.session


def _named(session: JointSession) -> str:
    return session.file or f"session {session.session}"
