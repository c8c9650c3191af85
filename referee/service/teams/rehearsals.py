# SPDX-License-Identifier: Apache-2.0
"""The rehearsal lights: what each team has done against this referee before its turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from referee.service.setup.contest import Contest
from referee.service.teams.roster import read_roster
from referee.store.database import Connection
from referee.store.rehearsals import rehearsed
from referee.store.teams import used_names

LIGHTS = ("logged in", "fetched", "answered", "been scored")
"""The four lights, in the order in which a rehearsal switches them on."""

LEGEND = "Rehearsal: L logged in, F fetched, A answered, S scored; a dot means not yet."
"""What the letters of `lights_text` mean."""


@dataclass(frozen=True)
class Lights:
    """The lights of a team; a light that is on never goes off."""

    logged_in: bool = False
    fetched: bool = False
    answered: bool = False
    scored: bool = False

    @property
    def on(self) -> tuple[bool, bool, bool, bool]:
        """Return the lights in the order of `LIGHTS`."""
        return self.logged_in, self.fetched, self.answered, self.scored

    @property
    def all_on(self) -> bool:
        """Tell whether the team has rehearsed all of it."""
        return all(self.on)

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the names of the lights that are off."""
        return tuple(name for name, is_on in zip(LIGHTS, self.on, strict=True) if not is_on)


def lights_text(lights: Lights) -> str:
    """Return the lights as four characters, for example LFA., see `LEGEND`."""
    return "".join(
        letter if is_on else "." for letter, is_on in zip("LFAS", lights.on, strict=True)
    )


def read_lights(contest: Contest, connection: Connection | None = None) -> Mapping[str, Lights]:
    """Return the lights of every team on the roster, by its present name.

    A rehearsal under an earlier name of a team counts for the team. Raises `Unavailable` if the
    rehearsals cannot be read.
    """
    connection = connection or contest.database.connection
    found = rehearsed(contest.config.rehearsals / contest.config.database.name)
    ids = used_names(connection)
    lights = {}
    for team in read_roster(contest, connection).teams:
        own = [
            done
            for name, done in found.items()
            if name == team.name or (team.team_id is not None and ids.get(name) == team.team_id)
        ]
        lights[team.name] = Lights(*(any(column) for column in zip(*own, strict=True)))
    return lights
