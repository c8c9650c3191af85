# SPDX-License-Identifier: Apache-2.0
"""A site of an event, made of what its scoreboard shows now."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC

from referee.extras.publish.making.asking import Scoreboard
from referee.extras.publish.making.bundles import BundleFiles
from referee.extras.publish.making.page_files import PageFiles
from referee.extras.publish.making.sessions import SessionFiles
from referee.extras.publish.names import DATA, hash_of
from referee.extras.publish.results_page import Beside, citation_of, results_page
from referee.extras.publish.section import publish_of
from referee.extras.publish.site_folder import SiteFolder, Taken, Written, script
from referee.extras.publish.tables import csv_schema, results_csv, results_json, schema_json
from referee.formats.json_text import json_of
from referee.service.scoreboard.live import LiveNews
from referee.service.scoreboard.publisher import PublicSnapshot
from referee.service.scoreboard.race import NO_RACE
from referee.service.scoreboard.view import PublicState
from referee.service.setup.contest import Contest
from referee.service.setup.signing_key import PUBLIC, station_key
from referee.store.publishing import change_nonces


@dataclass(frozen=True)
class _Steady:
    """What stays while only the figures of running sessions move: the view, and all beside it.

    `view` and `tables` are the paths of its contents, the latter by their usual names.
    """

    key: str
    view: str
    tables: Mapping[str, str]
    taken: Taken


class SiteMaker:
    """The maker of an event's site; `renew` brings it up to date.

    `every_s` is the time between two renewals, None for a site that is not renewed: it has no
    running sessions, whose figures would stand still. `tell` gets a sentence about each session
    whose bundle cannot be had.
    """

    def __init__(
        self,
        contest: Contest,
        folder: SiteFolder,
        every_s: float | None,
        tell: Callable[[str], object],
    ) -> None:
        self._contest, self._folder, self._every_s = contest, folder, every_s
        self._board = Scoreboard(contest)
        sessions = SessionFiles(contest, self._board, folder)
        self._pages = PageFiles(self._board, folder, sessions)
        self._bundles = BundleFiles(contest, folder, tell)
        self._steady: _Steady | None = None

    def renew(self) -> Written:
        """Bring the site up to date; return what was written.

        On an error the site stays as it was, and what was written for a new one leaves in time.
        """
        try:
            snapshot = self._board.look()
            steady = self._newest(snapshot)
            now = self._folder.put(DATA, "now", "js", script(self._now(snapshot)))
            return self._folder.commit(self._pointer(snapshot, steady, now))
        except BaseException:
            self._folder.drop()
            raise

    def _pointer(self, snapshot: PublicSnapshot, steady: _Steady, now: str) -> Mapping[str, object]:
        """Return the pointer: the old one, unless it names something else."""
        view = snapshot.publication.view
        fields = {
            "program": "lpirc-referee",
            "event": event_of(self._contest),
            "contest": view.contest,
            "state": view.state.value,
            "every_s": self._every_s,
            "files": {"view": steady.view, "now": now},
            "tables": steady.tables,
        }
        key = hash_of(json.dumps([steady.key, fields]).encode())
        old = self._folder.pointer()
        if old.get("key") == key:
            return old
        utc = self._contest.clock.now().utc.astimezone(UTC)
        return {
            "key": key,
            "utc": utc.isoformat(timespec="seconds").replace("+00:00", "Z"),
            **fields,
        }

    def _now(self, snapshot: PublicSnapshot) -> str:
        """Return what goes on at this moment, as the scoreboard tells it."""
        live, race = self._board.text("/live"), self._board.text("/race")
        if self._every_s is None:
            frozen = snapshot.publication.view.state is PublicState.FROZEN
            live, race = json_of(LiveNews(frozen=frozen)), NO_RACE
        return f'{{"live": {live}, "race": {race}}}'

    def _newest(self, snapshot: PublicSnapshot) -> _Steady:
        """Return the view and all beside it, made anew where something of it has changed."""
        view, feed = self._board.text("/view"), self._board.text("/feed?stream=false")
        section = publish_of(self._contest.config)
        shows = self._contest.config.publishes_images
        key = hash_of(f"{view}{feed}{section}{shows}".encode())
        if self._steady is None:
            self._remember()
        elif self._steady.key == key:
            self._folder.take(self._steady.taken)
            return self._steady
        path, tables = self._make(snapshot, view, feed)
        self._steady = _Steady(key, path, tables, self._folder.taken())
        return self._steady

    def _remember(self) -> None:
        """Take what an earlier run has drawn."""
        files = self._folder.pointer().get("files")
        view = files.get("view") if isinstance(files, dict) else None
        if isinstance(view, str):
            self._pages.remember(self._folder.read_json(view))

    def _make(
        self, snapshot: PublicSnapshot, view_text: str, feed: str
    ) -> tuple[str, Mapping[str, str]]:
        """Put the view and all beside it into the set; return the paths of view and tables."""
        view, folder = snapshot.publication.view, self._folder
        charts, teams = self._pages.charts(snapshot.key), self._pages.teams(snapshot)
        told = json.dumps({"charts": charts, "teams": teams})
        # The scoreboard's own text goes on with what a server would know by itself.
        path = folder.put(DATA, "view", "js", script(f"{view_text[:-1]}, {told[1:]}"))
        section = publish_of(self._contest.config)
        station = station_key(self._contest.config.path)
        beside = Beside(
            charts={name: pair["wide"] for name, pair in charts.items()},
            teams={name: team["page"] for name, team in teams.items()},
            bundles=self._bundles.of(view),
            station=station,
            licence=section.licence,
            citation=citation_of(view, station, section.citation),
        )
        page = results_page(view, snapshot.publication.objects, beside)
        folder.page("results.html", page.encode())
        folder.page("schema.json", schema_json())
        folder.page("results.csv-metadata.json", csv_schema(section.licence))
        public = self._contest.config.path.parent / PUBLIC
        if public.exists():
            folder.page(PUBLIC, public.read_bytes())
        return path, self._tables(snapshot, feed, beside)

    def _tables(self, snapshot: PublicSnapshot, feed: str, beside: Beside) -> Mapping[str, str]:
        """Put the tables into the set; return where each is under its hash."""
        told = {"key": snapshot.key} | {
            name: getattr(beside, name) for name in ("station", "licence", "citation", "bundles")
        }
        publication = snapshot.publication
        contents = {
            "results.json": results_json(snapshot.view, told),
            "results.csv": results_csv(publication.view, publication.objects),
            "feed.ndjson": feed.encode(),
        }
        paths = {}
        for name, content in contents.items():
            kind, _, end = name.partition(".")
            paths[name] = self._folder.put(DATA, kind, end, content)
            self._folder.page(name, content)
        return paths


def event_of(contest: Contest) -> str:
    """Return what tells an event's site from that of another one: its key, or its first change."""
    with contest.database.read() as connection:
        first = min(change_nonces(connection).items(), default=(0, ""))
    return station_key(contest.config.path) or first[1]
