# SPDX-License-Identifier: Apache-2.0
"""The pages of a site, with their scripts, sheets and charts."""

from __future__ import annotations

import json

from referee.extras.publish.making.asking import Scoreboard
from referee.extras.publish.making.sessions import SessionFiles
from referee.extras.publish.names import DATA, team_page
from referee.extras.publish.one_script import one_script
from referee.extras.publish.pages import page_of_team, scoreboard_page, script_of
from referee.extras.publish.site_folder import JsonObject, SiteFolder, script
from referee.service.event.newest_charts import CHARTS
from referee.service.scoreboard.publisher import PublicSnapshot
from referee.service.setup.pages import static_folder

Pair = dict[str, str]
"""The paths of a picture: `wide`, and `narrow` for a phone."""

_SCOREBOARD, _TEAM = "scoreboard/scoreboard.html", "scoreboard/team.html"


class PageFiles:
    """The pages of a site; `sessions` has the files of the teams' pages."""

    def __init__(self, board: Scoreboard, folder: SiteFolder, sessions: SessionFiles) -> None:
        self._board, self._folder, self._sessions = board, folder, sessions
        self._charts: tuple[object, dict[str, Pair]] = (None, {})

    def remember(self, view: JsonObject) -> None:
        """Take what the file of an earlier view says of its charts and teams."""
        if isinstance(view.get("charts"), dict):
            self._charts = view.get("key"), view["charts"]
        teams = view.get("teams")
        for team in teams.values() if isinstance(teams, dict) else ():
            if isinstance(team, dict) and isinstance(team.get("data"), str):
                self._sessions.remember(self._folder.read_json(team["data"]))

    def charts(self, key: str) -> dict[str, Pair]:
        """Put the charts of a view into the set; return where each is."""
        known, charts = self._charts
        if known != key or not all([self._folder.keep(one) for one in _paths(charts)]):
            charts = {name: pair for name in CHARTS if (pair := self._chart(name))}
            self._charts = key, charts
        return charts

    def _chart(self, name: str) -> Pair | None:
        wide = self._board.answer(f"/charts/{name}.svg")
        narrow = self._board.answer(f"/charts/{name}.svg?narrow")
        if wide is None or narrow is None:
            return None
        return {
            "wide": self._folder.put(DATA, name, "svg", wide),
            "narrow": self._folder.put(DATA, f"{name}-narrow", "svg", narrow),
        }

    def teams(self, snapshot: PublicSnapshot) -> dict[str, dict[str, str]]:
        """Make the pages of the scoreboard and of each team; return where the latter are."""
        page, own = self._page_and_script("scoreboard", _SCOREBOARD)
        self._folder.page("index.html", scoreboard_page(page, own, self._asset).encode())
        page, own = self._page_and_script("team-page", _TEAM)
        teams = {}
        for entry in snapshot.publication.view.entries:
            path = team_page(entry.team)
            self._folder.page(path, page_of_team(page, entry.team, own, self._asset).encode())
            number = None if entry.verdict is None else entry.session
            told = json.dumps(self._sessions.of(number, snapshot), sort_keys=True)
            teams[entry.team] = {
                "page": path,
                "data": self._folder.put(DATA, "team", "js", script(told)),
            }
        return teams

    def _page_and_script(self, kind: str, name: str) -> tuple[str, str]:
        page = _text(name)
        return page, self._folder.put(DATA, kind, "js", one_script(script_of(page), _text).encode())

    def _asset(self, name: str) -> str:
        kind, _, end = name.rpartition("/")[2].rpartition(".")
        return self._folder.put(DATA, kind, end, _text(name).encode())


def _text(name: str) -> str:
    return (static_folder() / name).read_text(encoding="utf-8")


def _paths(charts: JsonObject) -> list[str]:
    return [str(path) for pair in charts.values() for path in dict(pair).values()]
