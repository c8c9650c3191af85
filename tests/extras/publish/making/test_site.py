# SPDX-License-Identifier: Apache-2.0
"""A site shows what the scoreboard shows, never more, and writes no more than has changed."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import jsonschema_rs
import pytest

from referee.core.blocking import run_here
from referee.extras.publish.names import hash_of, is_hashed
from referee.extras.publish.section import PublishSection
from referee.service.event.finalizing import finalize, reopen
from referee.service.event.newest_charts import Charts
from referee.service.scoreboard.freezing import freeze, thaw
from referee.service.scoreboard.publisher import Publisher
from referee.service.scoreboard.team_sessions import TeamSessions
from referee.service.setup.config import ScoreboardSection
from referee.service.teams.registration_changes import withdraw
from referee.web.scoreboard.app import Show, scoreboard_app
from referee.web.scoreboard.streams import Streams
from tests.extras.publish.conftest import contents, handed, renewed


class Board:
    """The event's scoreboard as its own server shows it, with a publisher of its own."""

    def __init__(self, contest):
        self._streams = Streams(Publisher(contest), run_here)
        show = Show(self._streams, Charts(), TeamSessions(contest), run_here)
        self._client = scoreboard_app(show).test_client()

    def answers(self, *paths):
        """Return what the scoreboard answers now, None where it shows nothing."""
        self._streams.look()
        found = [self._client.get(path) for path in paths]
        return [one.data if one.status_code == 200 else None for one in found]


@pytest.fixture
def quick(monkeypatch):
    """Draw pictures that say what they are of, in no time."""
    draw = "referee.service.event.newest_charts._drawn"
    monkeypatch.setattr(draw, lambda name, ranking, narrow: f"{name} {narrow} {ranking}".encode())
    for what in ("_course", "_curves"):

        def picture(self, number, what=what, **wish):
            return f"{what} {number} {wish}".encode()

        monkeypatch.setattr(TeamSessions, what, picture)


def require_the_same(event):
    """Hold each file that the pointer leads to against the scoreboard's answer."""
    site, board = event.folder, Board(event.contest)
    pointer = json.loads((site / "state.json").read_bytes())
    view, now = (handed(site / pointer["files"][name]) for name in ("view", "now"))
    live, race, shown, feed = board.answers("/live", "/race", "/view", "/feed?stream=false")
    charts, teams = view.pop("charts"), view.pop("teams")
    assert view == json.loads(shown)
    assert still(now) == still({"live": json.loads(live), "race": json.loads(race)})
    assert (site / "feed.ndjson").read_bytes() == feed
    told = json.loads((site / "results.json").read_bytes())
    assert view["view"].items() <= told.items()
    assert pointer["state"] == view["view"]["state"] == told["state"]
    for name, pair in charts.items():
        wide, narrow = board.answers(f"/charts/{name}.svg", f"/charts/{name}.svg?narrow")
        assert [wide, narrow] == [(site / pair[width]).read_bytes() for width in ("wide", "narrow")]
    of_pages = [require_the_same_session(event, board, entry, teams) for entry in told["entries"]]
    files = {path for pages in of_pages for path in pages} | {*told["bundles"].values()}
    assert files == {name for name in contents(site) if name.startswith(("images/", "bundles/"))}
    for name, path in pointer["tables"].items():
        assert (site / name).read_bytes() == (site / path).read_bytes()
    return told


def still(now):
    """Return what goes on, without the figures that the meter moves between two looks."""
    moving = {"energy_wh", "power_w", "score", "score_text", "mean_ap", "old", "points"}

    def of(told):
        if isinstance(told, list):
            return [of(one) for one in told]
        if not isinstance(told, dict):
            return told
        return {name: of(value) for name, value in told.items() if name not in moving}

    return of(now)


def require_the_same_session(event, board, entry, teams):
    """Hold a team's file against the scoreboard; return the paths of its mistakes."""
    own, number = handed(event.folder / teams[entry["team"]]["data"]), entry["session"]
    paths = {what: f"/sessions/{number}/{what}.svg" for what in ("course", "curves", "classes")}
    shown = dict(zip(paths, board.answers(*paths.values()), strict=True))
    found = {
        what: (event.folder / pair["wide"]).read_bytes() for what, pair in own["pictures"].items()
    }
    assert found == {what: picture for what, picture in shown.items() if picture is not None}
    (captions,) = board.answers(f"/sessions/{number}/misses")
    told = [] if captions is None else json.loads(captions)["captions"]
    assert told == [miss["caption"] for miss in own["misses"]]
    for place, miss in enumerate(own["misses"]):
        (picture,) = board.answers(f"/sessions/{number}/misses/{place}.png")
        assert picture == (event.folder / miss["picture"]).read_bytes()
    for part, path in own["links"].items():
        assert [(event.folder / path).read_bytes()] == board.answers(f"/sessions/{number}/{part}")
    return [miss["picture"] for miss in own["misses"]]


def open_images(event, *consenting):
    """Let the event publish images, and these teams' bundles."""
    config = event.contest.config
    opened = replace(
        config,
        server=replace(config.server, scoreboard="127.0.0.1:8002"),
        scoreboard=ScoreboardSection(publish_images=True),
        extras={"publish": PublishSection(bundles=consenting, licence="CC-BY-4.0")},
    )
    event.contest = replace(event.contest, config=opened)


@pytest.mark.slow
def test_a_site_never_shows_more_than_the_scoreboard(event, quick):
    """Through sessions, a freeze, a void, another run, final results, and their reopening."""
    open_images(event, "bees")
    event.register("ants", "bees", "wasps, é")
    site = event.site()
    renewed(event, site)
    require_the_same(event)
    ants = event.play("ants")
    running = event.begin("bees")
    event.answer(running, [1, 2])
    event.score()
    renewed(event, site)
    assert ["on now"] == [
        one["word"] for one in require_the_same(event)["entries"] if one["team"] == "bees"
    ]
    event.desk.steps_of(running).void(running, "Kim", "a loose cable")
    event.settle(running)
    freeze(event.contest, "Kim")
    renewed(event, site)
    frozen = require_the_same(event)
    hidden = event.play("bees", found=7)
    event.desk.steps_of(ants).void(ants, "Kim", "a wrong image")
    again = event.begin("ants")
    renewed(event, site)
    assert frozen == require_the_same(event)
    event.desk.steps_of(again).void(again, "Kim", "no answer")
    event.settle(again)
    thaw(event.contest, "Kim")
    renewed(event, site)
    told = require_the_same(event)
    assert [("bees", hidden), ("ants", None)] == [
        (one["team"], one["session"]) for one in told["entries"][:2]
    ]
    assert {} == told["bundles"]
    event.play("ants", found=5)
    withdraw(event.contest, "wasps, é", "ill", "Kim")
    finalize(event.contest, ["Ada"])
    renewed(event, site)
    told = require_the_same(event)
    assert ("FINAL", ["bees"]) == (told["state"], [*told["bundles"]])
    assert any(name.startswith("images/") for name in contents(event.folder))
    reopen(event.contest, "Ada", "a wrong box")
    renewed(event, site)
    assert ("PROVISIONAL", {}) == tuple(
        require_the_same(event)[name] for name in ("state", "bundles")
    )


def test_a_freeze_keeps_every_byte_of_the_site(event, quick):
    """While hidden sessions run and end, no file is written, and none is added."""
    event.register("ants", "bees")
    event.play("ants")
    freeze(event.contest, "Kim")
    site = event.site()
    renewed(event, site)
    before = contents(event.folder)
    hidden = event.begin("bees")
    event.answer(hidden, [1, 2])
    event.score()
    assert 0 == renewed(event, site).files
    event.desk.steps_of(hidden).void(hidden, "Kim", "a loose cable")
    event.play("bees", found=8)
    assert 0 == renewed(event, site).files
    assert before == contents(event.folder)
    assert 0 == renewed(event, event.site()).files


def test_a_team_that_takes_its_consent_back_is_gone_at_once(event, quick):
    """The bundle leaves with the next renewal, and no other file does."""
    open_images(event, "ants")
    event.register("ants")
    event.play("ants")
    finalize(event.contest, ["Ada"])
    renewed(event, event.site())
    (bundle,) = (event.folder / "bundles").iterdir()
    open_images(event)
    renewed(event, event.site())
    assert not bundle.exists()
    assert any(name.startswith("images/") for name in contents(event.folder))


def test_what_did_not_change_is_not_written(event, quick):
    """Figures of a running session take three small files, and nothing at all takes none."""
    event.register("ants", "bees")
    event.play("ants")
    site = event.site()
    renewed(event, site)
    assert 0 == renewed(event, site).files
    number = event.begin("bees")
    renewed(event, site)
    before = contents(event.folder)
    event.answer(number, [1])
    event.score()
    written = renewed(event, site)
    assert (3, True) == (written.files, written.bytes < 4000)
    changed = {
        name for name, content in contents(event.folder).items() if before.get(name) != content
    }
    now = json.loads((event.folder / "state.json").read_bytes())["files"]["now"]
    assert {"state.json", "state.js", now} == changed


def test_another_run_draws_nothing_again(event, quick, monkeypatch):
    """What an earlier run has drawn is known by what it was made of."""
    event.register("ants")
    event.play("ants")
    renewed(event, event.site())
    asked = []
    site = event.site()
    answer = site._board.answer
    monkeypatch.setattr(site._board, "answer", lambda path: asked.append(path) or answer(path))
    assert 0 == renewed(event, site).files
    assert [] == [path for path in asked if ".svg" in path]


def test_a_site_that_is_not_renewed_has_no_running_session(event, quick):
    """Its figures would stand still."""
    event.register("ants")
    event.begin("ants")
    renewed(event, event.site(None))
    pointer = json.loads((event.folder / "state.json").read_bytes())
    now = handed(event.folder / pointer["files"]["now"])
    assert (None, []) == (pointer["every_s"], now["live"]["sessions"])


def test_each_content_has_the_hash_of_its_name(event, quick):
    """So a cache may keep it for ever, and no host mixes up two names."""
    event.register("ants", "ANTS 2", "東京", "x" * 60)
    event.play("ants")
    renewed(event, event.site())
    names = contents(event.folder)
    assert len(names) == len({name.casefold() for name in names})
    assert all(name.isascii() and name == name.lower() for name in names)
    hashed = {
        name: content for name, content in names.items() if is_hashed(name.rpartition("/")[2])
    }
    assert {name: name.split(".")[1] for name in hashed} == {
        name: hash_of(content) for name, content in hashed.items()
    }


@pytest.mark.parametrize("final", [False, True])
def test_results_and_feed_are_as_the_schema_says(event, quick, final):
    """Programs may rely on it."""
    open_images(event, "ants")
    event.register("ants", "bees", organisation="Institute, of <Bees>")
    event.play("ants")
    event.play("bees", found=3)
    if final:
        finalize(event.contest, ["Ada"])
    renewed(event, event.site())
    schema = json.loads((event.folder / "schema.json").read_bytes())
    jsonschema_rs.meta.validate(schema)
    jsonschema_rs.validator_for(schema).validate(
        json.loads((event.folder / "results.json").read_bytes())
    )
    line = jsonschema_rs.validator_for({"$ref": "#/$defs/FeedLine", "$defs": schema["$defs"]})
    lines = (event.folder / "feed.ndjson").read_text().splitlines()
    assert lines and all([line.validate(json.loads(one)) is None for one in lines])


def test_the_table_has_the_columns_that_its_schema_names(event, quick):
    """Each cell reads as its column says; the names of teams stand as they are."""
    event.register("ants, é", "東京")
    event.play("ants, é")
    renewed(event, event.site())
    schema = json.loads((event.folder / "results.csv-metadata.json").read_bytes())
    rows = [*csv.DictReader(io.StringIO((event.folder / "results.csv").read_text()))]
    columns = schema["tableSchema"]["columns"]
    assert [one["name"] for one in columns] == [*rows[0]]
    assert ["ants, é", "東京"] == [row["team"] for row in rows]
    assert ["PROVISIONAL", "1"] == [rows[0][name] for name in ("marks", "team_id")]
    for column in columns:
        for row in rows:
            read = {"integer": int, "number": float}.get(str(column["datatype"]), str)
            assert row[column["name"]] == "" or read(row[column["name"]]) is not None
