# SPDX-License-Identifier: Apache-2.0
"""The progress of each team's rehearsal: what it has done against this referee before its turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from referee.core.logins import TeamWords
from referee.service.setup.contest import Contest
from referee.service.teams.roster import read_roster
from referee.store.database import Connection
from referee.store.rehearsals import rehearsed
from referee.store.team_words import other_words

STEPS = ("logged in", "fetched", "answered", "been scored")
"""The four steps of a rehearsal, in their order."""

LEGEND = "Rehearsal: L logged in, F fetched, A answered, S scored; a dot means not yet."
"""What the letters of `progress_text` mean."""


@dataclass(frozen=True)
class RehearsalProgress:
    """The steps that a team has done; a step that is done stays so."""

    logged_in: bool = False
    fetched: bool = False
    answered: bool = False
    scored: bool = False

    @property
    def done(self) -> tuple[bool, bool, bool, bool]:
        """Tell of each of `STEPS`, in that order, whether it is done."""
        return self.logged_in, self.fetched, self.answered, self.scored

    @property
    def all_done(self) -> bool:
        """Tell whether the team has rehearsed all of it."""
        return all(self.done)

    @property
    def missing(self) -> tuple[str, ...]:
        """Return the names of the steps that are not done yet."""
        return tuple(name for name, is_done in zip(STEPS, self.done, strict=True) if not is_done)


def progress_text(progress: RehearsalProgress) -> str:
    """Return the progress as four characters, for example LFA., see `LEGEND`."""
    return "".join(
        letter if is_done else "." for letter, is_done in zip("LFAS", progress.done, strict=True)
    )


def read_progress(
    contest: Contest, connection: Connection | None = None
) -> Mapping[str, RehearsalProgress]:
    """Return the progress of every team on the roster, by its present name.

    A rehearsal under the login or an earlier name of a team counts for the team. Raises
    `Unavailable` if the rehearsals cannot be read.
    """
    connection = connection or contest.database.connection
    rehearsals = rehearsed(contest.config.rehearsals / contest.config.database.name)
    roster = read_roster(contest, connection)
    present = {team.name for team in roster.teams}
    others = [(word, team) for word, team in other_words(connection) if team in present]
    known = TeamWords(present, others)
    steps_of: dict[str, list[tuple[bool, ...]]] = {team.name: [] for team in roster.teams}
    for name, steps in rehearsals.items():
        found = known.find(name)
        if found is not None:
            steps_of[found].append(steps)
    return {
        name: RehearsalProgress(*(any(step) for step in zip(*steps, strict=True)))
        for name, steps in steps_of.items()
    }
