# SPDX-License-Identifier: Apache-2.0
"""The evidence bundles that a site offers: of final results, and of teams that agree."""

from __future__ import annotations

from collections.abc import Callable

from referee.core.names import find_name
from referee.core.text_cells import isolated
from referee.errors import InputError, RefereeError
from referee.extras.publish.names import BUNDLES
from referee.extras.publish.section import publish_of
from referee.extras.publish.site_folder import PART, SiteFolder
from referee.service.evidence.bundle import write_bundle
from referee.service.scoreboard.view import PublicState, PublicView
from referee.service.setup.contest import Contest
from referee.store.replay import strands_of
from referee.store.teams import used_names


class BundleFiles:
    """The bundles in a site; `tell` gets a sentence about each session that has none, once."""

    def __init__(self, contest: Contest, folder: SiteFolder, tell: Callable[[str], object]) -> None:
        self._contest, self._folder, self._tell = contest, folder, tell
        self._known: dict[int, tuple[str, str]] = {}
        self._refused: set[int] = set()

    def of(self, view: PublicView) -> dict[str, str]:
        """Return the path of each team's bundle; there is none before the results are final."""
        if view.state is not PublicState.FINAL:
            return {}
        agree = self._consenting()
        found = {
            entry.team: self._path(entry.session)
            for entry in view.entries
            if entry.team in agree and entry.session is not None and entry.verdict is not None
        }
        return {team: path for team, path in found.items() if path is not None}

    def _consenting(self) -> set[str]:
        """Return the names of the teams that agree, whatever they were called then."""
        with self._contest.database.read() as connection:
            ids = used_names(connection)
        named = publish_of(self._contest.config).bundles
        agree = {ids[name] for one in named if (name := find_name(one, ids)) is not None}
        return {name for name, number in ids.items() if number in agree}

    def _path(self, number: int) -> str | None:
        with self._contest.database.read() as connection:
            newest = strands_of(connection, number)[-1]
        known = self._known.get(number)
        if known is not None and known[0] == newest and self._folder.keep(known[1]):
            return known[1]
        part = self._folder.path / BUNDLES / f"session{number}{PART}"
        try:
            write_bundle(self._contest, number, part)
        except InputError:  # The disk is full, or takes no writes.
            raise
        except RefereeError as error:
            if number not in self._refused:
                self._tell(f"Session {number} has no bundle in the site: {isolated(str(error))}")
            self._refused.add(number)
            return None
        path = self._folder.put_file(BUNDLES, f"session{number}", "zip", part)
        self._known[number] = (newest, path)
        return path
