# SPDX-License-Identifier: Apache-2.0
"""What a site has of each team's session: its pictures, and more once the results are final.

Drawing takes seconds for each session, so what was drawn is known again: each team's file says what
its parts were made of, also to the next run.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from referee import __version__
from referee.extras.publish.making.asking import Scoreboard
from referee.extras.publish.names import DATA, IMAGES, hash_of
from referee.extras.publish.site_folder import JsonObject, SiteFolder
from referee.service.evidence.completeness import own_name
from referee.service.scoreboard.publisher import PublicSnapshot
from referee.service.scoreboard.view import PublicState
from referee.service.setup.contest import Contest
from referee.service.setup.extra import all_extras
from referee.store.inputs_in_force import proposal_in_force

_PICTURES = ("course", "curves", "classes")
_NONE: JsonObject = {"pictures": {}, "misses": [], "links": {}}


class SessionFiles:
    """The files of the teams' sessions in a site."""

    def __init__(self, contest: Contest, board: Scoreboard, folder: SiteFolder) -> None:
        self._contest, self._board, self._folder = contest, board, folder
        self._known: dict[str, JsonObject] = {}

    def remember(self, told: JsonObject) -> None:
        """Take what a team's file of an earlier run says."""
        for part in (told.get("course"), told.get("final")):
            if isinstance(part, dict) and isinstance(part.get("of"), str):
                self._known[part["of"]] = part

    def of(self, number: int | None, snapshot: PublicSnapshot) -> JsonObject:
        """Return what a team's page needs of the session that counts; None is one without."""
        if number is None:
            return _NONE
        first = self._part(self._mark(number), lambda: {"pictures": self._pictures(number)})
        told = {"course": first, "pictures": first["pictures"], "misses": [], "links": {}}
        if snapshot.publication.view.state is not PublicState.FINAL:
            return told
        shown = str(self._contest.config.publishes_images)
        mark = self._mark(number, snapshot.key, shown)
        final = self._part(mark, lambda: self._final(number))
        return told | {"final": final, "misses": final["misses"], "links": final["links"]}

    def _part(self, mark: str, make: Any) -> JsonObject:
        known = self._known.get(mark)
        if known is None or not all([self._folder.keep(name) for name in _paths(known)]):
            known = self._known[mark] = {"of": mark, **make()}
        return known

    def _mark(self, number: int, *more: str) -> str:
        """Return what the parts of a session are made of, in some digits that tell nothing."""
        with self._contest.database.read() as connection:
            in_force = proposal_in_force(connection)
        of = (own_name(self._contest, number), str(in_force), __version__, *more)
        return hash_of(" ".join(of).encode())

    def _pictures(self, number: int) -> dict[str, dict[str, str]]:
        found = {}
        for what in _PICTURES:
            address = f"/sessions/{number}/{what}.svg"
            wide, narrow = self._board.answer(address), self._board.answer(f"{address}?narrow")
            if wide is not None and narrow is not None:
                found[what] = {
                    "wide": self._folder.put(DATA, what, "svg", wide),
                    "narrow": self._folder.put(DATA, f"{what}-narrow", "svg", narrow),
                }
        return found

    def _final(self, number: int) -> JsonObject:
        """Return the mistakes and the guests' pages that anybody may see of final results."""
        misses, links = [], {}
        address = f"/sessions/{number}/misses"
        for place, caption in enumerate(self._board.document(address).get("captions", ())):
            picture = self._board.answer(f"{address}/{place}.png")
            if picture is not None:
                name = self._folder.put(IMAGES, "mistake", "png", picture)
                misses.append({"caption": caption, "picture": name})
        for link in (guest.session_link for guest in all_extras()):
            page = link and self._board.answer(f"/sessions/{number}/{quote(link.part)}")
            if link and page:
                links[link.part] = self._folder.put(DATA, link.part, "html", page)
        return {"misses": misses, "links": links}


def _paths(part: JsonObject) -> Iterable[str]:
    for pair in part.get("pictures", {}).values():
        yield from pair.values()
    for miss in part.get("misses", ()):
        yield miss["picture"]
    yield from part.get("links", {}).values()
