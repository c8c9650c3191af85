# SPDX-License-Identifier: Apache-2.0
"""The lane that a team is bound to, for example because its device needs that mains voltage."""

from __future__ import annotations

from referee.core.names import find_name
from referee.errors import InputError, Refusal
from referee.service.setup.config import Config
from referee.service.teams.roster import Roster, RosterTeam


def declared_lane(config: Config, name: str) -> str:
    """Return the name of a lane as contest.toml writes it; '' stays '', which means any lane.

    Capitals and blanks do not matter. Raises `InputError` for a lane that is not declared.
    """
    if not name.strip():
        return ""
    names = [lane.name for lane in config.lanes if lane.name]
    declared = find_name(name, names)
    if declared is not None:
        return declared
    if not names:
        raise InputError(f"There is no lane '{name}': this event has one lane, without a name.")
    raise InputError(f"There is no lane '{name}': the lanes are {', '.join(names)}.")


def require_right_lane(roster: Roster, team: RosterTeam, lane: int) -> None:
    """Raise `Refusal` (code `lane_wrong`) if a team is bound to another lane than this one."""
    bound = team.bound_to(roster.lanes)
    if bound is None or bound == lane:
        return
    raise Refusal(
        "lane_wrong",
        f"'{team.name}' runs in lane '{team.registration.lane}' only: its registration says so "
        "('referee team amend --lane' changes that).",
    )
