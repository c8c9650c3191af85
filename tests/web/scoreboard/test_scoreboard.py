# SPDX-License-Identifier: Apache-2.0
"""The scoreboard's server answers what is public, and nothing else, to everybody."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from urllib.parse import quote

import pytest

from referee.core.blocking import run_here
from referee.service.event.finalizing import finalize
from referee.service.event.newest_charts import Charts
from referee.service.scoreboard.feed import START
from referee.service.scoreboard.freezing import freeze, thaw
from referee.service.scoreboard.publisher import Publisher
from referee.service.scoreboard.team_sessions import TeamSessions
from referee.service.setup.config import ScoreboardSection
from referee.service.teams.registration_changes import withdraw
from referee.web.scoreboard import streams as streams_module
from referee.web.scoreboard.app import Show, scoreboard_app
from referee.web.scoreboard.streams import Streams
from tests.support.contests import make_contest
from tests.support.events import Event
from tests.support.fakes import FakeClock, FakeMeter, eventually, running_desk


@pytest.fixture
def event(tmp_path):
    """Return an event whose scoreboard has a client and a running thread."""
    clock = FakeClock()
    contest = make_contest(tmp_path, clock, images=8, mode="event", seconds=600)
    meter = FakeMeter(clock)
    with running_desk(contest, meter) as desk:
        found = Event(contest, desk, meter)
        found.streams = Streams(Publisher(contest), run_here)
        found.streams.start()
        found.client = scoreboard_app(
            Show(found.streams, Charts(), TeamSessions(contest), run_here)
        ).test_client()
        yield found
        found.streams.close()
    contest.database.close()


def shown(event, path="/view"):
    """Return a document."""
    return event.client.get(path).get_json()


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/view", "application/json"),
        ("/live", "application/json"),
        ("/race", "application/json"),
        ("/charts/energy.svg", "image/svg+xml"),
        ("/charts/speed.svg", "image/svg+xml"),
        ("/feed?stream=false", "application/x-ndjson"),
        ("/static/scoreboard/scoreboard.js", "text/javascript; charset=utf-8"),
        ("/static/shared/base.css", "text/css; charset=utf-8"),
    ],
)
def test_everything_public_is_there_without_a_login(event, path, kind):
    """Each address answers, and its page may load from here alone."""
    with event.client.get(path) as answer:
        assert (200, kind) == (answer.status_code, answer.content_type)
        assert "default-src 'self'" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "path",
    "/board /results/now /teams /form-key /sessions/1 /login /charts/x.svg "
    "/static/console/console.js /static/../setup.cfg /static/scoreboard/../../x".split(),
)
def test_nothing_else_is_there(event, path):
    """The operators' and the contestants' addresses are unknown here."""
    with event.client.get(path) as answer:
        assert 404 == answer.status_code
        assert answer.content_type.startswith("text/plain")


@pytest.mark.parametrize("method", ["post", "put", "delete", "patch"])
@pytest.mark.parametrize("path", ["/", "/view", "/feed", "/events", "/charts/energy.svg"])
def test_nothing_can_be_changed(event, method, path):
    """The scoreboard takes no posts."""
    assert 405 == getattr(event.client, method)(path).status_code


def test_a_freeze_keeps_every_address_as_it_is(event):
    """Page data, live data, charts and feed have the same bytes while hidden sessions run."""
    event.register("ants", "bees")
    event.play("ants")
    freeze(event.contest, "Kim")
    eventually(lambda: shown(event)["view"]["state"] == "FROZEN")
    paths = (
        "/view",
        "/live",
        "/race",
        "/charts/energy.svg",
        "/charts/speed.svg",
        "/feed?stream=false",
    )
    before = {path: event.client.get(path).data for path in paths}
    version = event.streams.snapshot().version
    hidden = event.begin("bees")
    event.answer(hidden, [1, 2])
    event.score()
    event.contest.clock.advance(30)
    eventually(lambda: event.streams.snapshot().version > version)
    assert before == {path: event.client.get(path).data for path in paths}
    event.desk.steps_of(hidden).void(hidden, "Kim", "a loose cable")
    version = event.streams.snapshot().version
    event.play("bees", found=8)
    eventually(lambda: event.streams.snapshot().version > version)
    assert before == {path: event.client.get(path).data for path in paths}
    thaw(event.contest, "Kim")
    eventually(lambda: shown(event)["view"]["state"] == "PROVISIONAL")
    assert 1 == next(e["rank"] for e in shown(event)["view"]["entries"] if e["team"] == "bees")


@pytest.mark.parametrize("query", ["since_token=9.0.00000000", "since_token=", "stream=maybe"])
def test_a_feed_that_cannot_be_given_is_refused(event, query):
    """A strange token or a strange wish is answered 400, in words."""
    answer = event.client.get(
        f"/feed?stream=false&{query}" if "since" in query else f"/feed?{query}"
    )
    assert 400 == answer.status_code
    assert answer.get_data(as_text=True).endswith(".\n")


def test_the_feed_goes_on_after_a_token(event):
    """A program asks again with its last token, and gets what is new; so may any site's page."""
    event.register("ants")
    answer = event.client.get("/feed?stream=false")
    assert "*" == answer.headers["Access-Control-Allow-Origin"]
    lines = answer.get_data(as_text=True).splitlines()
    token = quote(json.loads(lines[0])["token"])
    rest = event.client.get(f"/feed?stream=false&since_token={token}").get_data(as_text=True)
    assert lines[1:] == rest.splitlines()


def test_a_stream_tells_each_change(event):
    """A page gets the view at once and again when it has changed; the feed gets the lines."""
    flushed = threading.Event()
    events = event.streams.events(flushed.set)
    assert b"retry" in next(events)
    first = next(events)
    assert first.startswith(b"event: view") and b"\n\nevent: live" in first
    assert flushed.is_set()
    feed = event.streams.feed(START, flushed.set)
    assert '"type": "contest"' in next(feed)
    event.register("ants")
    assert b'"team": "ants"' in next(events)
    assert '"name": "ants"' in next(feed)


def sent(stream):
    """Return the name and the data of a stream's next event."""
    lines = dict(line.split(": ", 1) for line in next(stream).plain.decode().strip().split("\n"))
    return lines["event"], json.loads(lines["data"])


def test_a_page_that_says_what_it_holds_gets_differences(event):
    """The whole document comes once; a page that was away goes on from the state that it holds."""
    event.register("ants")
    eventually(lambda: shown(event)["view"]["entries"])
    stream = event.streams.differences("", lambda: None)
    assert b"retry" in next(stream).plain
    name, whole = sent(stream)
    assert ("whole", {"view", "live", "race"}) == (name, set(whole["document"]))
    event.register("bees")
    name, change = sent(stream)
    assert ("change", whole["number"]) == (name, change["from"])
    assert ["view"] == list(change["change"]["fields"])
    event.register("wasps")
    eventually(lambda: len(shown(event)["view"]["entries"]) == 3)
    back = event.streams.differences(whole["number"], lambda: None)
    next(back)
    name, change = sent(back)
    assert ("change", whole["number"]) == (name, change["from"])
    strange = event.streams.differences("7.00000000", lambda: None)
    next(strange)
    assert "whole" == sent(strange)[0]


def test_what_a_browser_holds_counts_when_it_connects_again_by_itself(event):
    """It asks the address of its first connection, and says the newest number in a header."""
    with event.client.get("/events?since=", buffered=False) as first:
        text = next(first.response) + next(first.response)
    number = text.split(b"id: ")[1].split(b"\n")[0].decode()
    headers = {"Last-Event-ID": number}
    with event.client.get("/events?since=", buffered=False, headers=headers) as again:
        text = next(again.response) + next(again.response)
    assert b"event: alive" in text and number.encode() in text


@pytest.mark.parametrize("path", ["/view", "/events", "/events?since="])
def test_the_board_is_packed_for_those_who_take_it(event, path):
    """A browser gets gzip, and a client that does not ask for it plain text."""
    with event.client.get(path, headers={"Accept-Encoding": "gzip"}, buffered=False) as packed:
        assert "gzip" == packed.headers["Content-Encoding"]
        assert b"\x1f\x8b" == next(packed.response)[:2]
    with event.client.get(path, buffered=False) as plain:
        assert "Content-Encoding" not in plain.headers
        assert next(plain.response)[:1] in (b"{", b"r")


def test_a_silent_feed_sends_a_newline(event, monkeypatch):
    """A reader knows that the feed lives although nothing happens."""
    monkeypatch.setattr(streams_module, "_FEED_ALIVE_S", 0.0)
    feed = event.streams.feed(START, lambda: None)
    next(feed)
    assert "\n" == next(feed)


def test_streams_end_with_the_server(event):
    """A stream that is open when the server stops ends by itself."""
    events = event.streams.events(lambda: None)
    next(events)
    event.streams.stop()
    assert len(list(events)) <= 3


def test_records_that_cannot_be_read_are_told(event, monkeypatch):
    """Pages keep what they have and say that there is trouble; later they get the news."""
    monkeypatch.setattr(streams_module, "_ALIVE_S", 0.0)
    broken = threading.Event()

    class Broken:
        def refresh(self):
            broken.set()
            raise OSError("disk")

    failing = Streams(Broken(), run_here)
    failing.start()
    try:
        assert failing.snapshot() is None
        events = failing.events(lambda: None)
        next(events)
        assert b"trouble" in next(events)
        client = scoreboard_app(
            Show(failing, Charts(), TeamSessions(event.contest), run_here)
        ).test_client()
        answer = client.get("/view")
        assert (503, "2") == (answer.status_code, answer.headers["Retry-After"])
    finally:
        failing.close()


def test_pages_of_teams(event):
    """Each listed team has a page with its charts.

    Pictures of mistakes wait for final results, and for the organisers to publish them.
    """
    event.register("ants/bees", "wasps")
    number = event.play("ants/bees", found=2)
    eventually(lambda: any(one["score"] for one in shown(event)["view"]["entries"]))
    for path in (f"/team/{quote('ants/bees')}", "/team/wasps"):
        with event.client.get(path) as page:
            assert 200 == page.status_code
    assert 404 == event.client.get("/team/hornets").status_code
    for what in ("course", "curves"):
        assert 200 == event.client.get(f"/sessions/{number}/{what}.svg").status_code
        assert 404 == event.client.get(f"/sessions/{number + 1}/{what}.svg").status_code
    pictures = (f"/sessions/{number}/misses", f"/sessions/{number}/misses/0.png")
    assert {404} == {event.client.get(path).status_code for path in pictures}
    withdraw(event.contest, "wasps", "ill", "Kim")
    finalize(event.contest, ["Ada"])
    eventually(lambda: shown(event)["view"]["state"] == "FINAL")
    assert [] == shown(event, pictures[0])["captions"]
    assert 404 == event.client.get(pictures[1]).status_code
    config = event.contest.config
    server = replace(config.server, scoreboard="127.0.0.1:8002")
    opened = replace(config, server=server, scoreboard=ScoreboardSection(publish_images=True))
    sessions = TeamSessions(replace(event.contest, config=opened))
    client = scoreboard_app(Show(event.streams, Charts(), sessions, run_here)).test_client()
    assert 6 == len(client.get(pictures[0]).get_json()["captions"])
    assert "image/png" == client.get(pictures[1]).content_type
