# SPDX-License-Identifier: Apache-2.0
"""The console's routes: the operators' actions, in words, and nobody else's.

It plays the actions of all modules of routes that the console registers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from flask.testing import FlaskClient
from gunicorn.http.errors import InvalidChunkSize
from werkzeug.test import TestResponse

from referee.service.board.board import Board
from referee.service.board.lane_view import ShownLane
from referee.service.desk.control_desk import ControlDesk
from referee.service.setup.contest import Contest
from referee.service.setup.extra import all_extras
from referee.service.setup.pages import static_folder
from referee.web.desk.auth import is_own_host
from referee.web.desk.broadcast import Broadcast
from referee.web.desk.console import console_app
from tests.support.contests import make_contest, no_room
from tests.support.doors import AWAY
from tests.support.fakes import FakeClock, running_desk
from tests.support.teams import give_password

VIEWERS = 2


@dataclass(frozen=True)
class Console:
    """The console's client, with the contest and the desk behind it."""

    client: FlaskClient
    contest: Contest
    desk: ControlDesk
    broadcast: Broadcast

    def post(self, path: str, **body: object) -> TestResponse:
        """Send an action as the page sends it."""
        key = self.client.get("/form-key").get_json()["key"]
        return self.client.post(path, json=body, headers={"X-Form-Key": key})

    def done(self, path: str, **body: object) -> dict[str, Any]:
        """Send an action that must succeed, and return the answer."""
        answer = self.post(path, **body)
        assert answer.status_code == 200, answer.get_data(as_text=True)
        return dict(answer.get_json())


@pytest.fixture(scope="module")
def teams(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return an event's file of one team; it is made once, because hashing is slow."""
    path = tmp_path_factory.mktemp("event") / "teams.csv"
    give_password(path, "ants")
    return path.read_bytes()


@pytest.fixture
def console(tmp_path: Path, teams: bytes) -> Iterator[Console]:
    """Return the console of an event with the team 'ants' and no meter."""
    contest = make_contest(tmp_path, FakeClock(), mode="event", seconds=600)
    contest.config.teams.write_bytes(teams)
    with running_desk(contest, None) as desk:
        board = Board(contest, [ShownLane(lambda: desk.lanes[0].metering.status)])
        broadcast = Broadcast(board.show, VIEWERS)
        app = console_app(contest, desk, board, broadcast)
        yield Console(app.test_client(), contest, desk, broadcast)
    contest.database.close()


# Who may ask


@pytest.mark.parametrize(
    ("header", "configured", "own"),
    [
        ("127.0.0.1:8001", "127.0.0.1", True),
        ("localhost:8001", "127.0.0.1", True),
        ("LOCALHOST", "127.0.0.1", True),
        ("[::1]:8001", "127.0.0.1", True),
        ("evil.example:8001", "127.0.0.1", False),
        ("127.0.0.1.evil.example", "127.0.0.1", False),
        ("evil.example", "0.0.0.0", False),
        ("192.168.1.5:8001", "127.0.0.1", False),
        ("192.168.1.5:8001", "192.168.1.5", True),
        ("192.168.1.5:8001", "0.0.0.0", True),
        ("[fd00::5]:8001", "::", True),
        ("desk.lan:8001", "desk.lan", True),
        ("127.0.0.1", "desk.lan", True),
        ("", "127.0.0.1", False),
        ("", "", False),
        ("[::1].evil.example", "127.0.0.1", False),
        ("[::1]evil.example:8001", "127.0.0.1", False),
        ("[::1", "127.0.0.1", False),
        ("::1", "127.0.0.1", False),
        ("[127.0.0.1]", "127.0.0.1", False),
        ("[desk.lan]", "desk.lan", False),
        ("127.0.0.1:8001@evil.example", "127.0.0.1", False),
        ("127.0.0.1:evil.example", "127.0.0.1", False),
        ("127.0.0.1:", "127.0.0.1", False),
        ("127.0.0.1:80:80", "127.0.0.1", False),
        ("localhost/evil.example", "127.0.0.1", False),
        ("localhost ", "127.0.0.1", False),
        ("localhost\n", "127.0.0.1", False),
        ("[fe80::1%25eth0]:8001", "::", False),
        ("[:::]:8001", "0.0.0.0", False),
    ],
)
def test_hosts_that_are_the_console(header: str, configured: str, own: bool) -> None:
    """Loopback and the configured host are the console; other and malformed hosts are not."""
    assert own == is_own_host(header, configured)


@pytest.mark.parametrize(
    "path", ["/", "/board", "/events", "/form-key", "/static/console/console.js"]
)
def test_no_other_host_is_answered(console: Console, path: str) -> None:
    """A site that points its own name at this machine reads nothing, and no form key."""
    answer = console.client.get(path, headers={"Host": "evil.example:8001"})
    assert (403, "host_unknown") == (answer.status_code, answer.get_json()["code"])


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://evil.example"},
        {"Origin": "http://localhost:9999"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://[::1"},
        {"Origin": "http://]"},
        {"Origin": "http://localhost@evil.example"},
        {"Origin": "http://localhost/path"},
        {"Origin": "ftp://localhost"},
        {"Origin": "évil"},
    ],
)
def test_no_other_site_acts_or_reads(console: Console, headers: dict[str, str]) -> None:
    """The console refuses a browser's request for another site, even with the right key."""
    key = console.client.get("/form-key").get_json()["key"]
    sent = headers | {"X-Form-Key": key}
    answer = console.client.post("/sessions", json={"team": "ants"}, headers=sent)
    assert (403, "other_site") == (answer.status_code, answer.get_json()["code"])
    assert 403 == console.client.get("/form-key", headers=headers).status_code
    assert [] == console.client.get("/board").get_json()["sessions"]


def test_own_page_and_a_link_to_it(console: Console) -> None:
    """The page's own requests are served, and a link from another site opens the page."""
    own = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
    assert 200 == console.client.get("/form-key", headers=own).status_code
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    with console.client.get("/", headers=link) as page:
        assert 200 == page.status_code
    assert 403 == console.client.get("/board", headers=link).status_code


def test_host_that_is_no_host_reads_no_key(console: Console) -> None:
    """A `Host` that only begins like the console's gets no form key."""
    for host in ("[::1].evil.example", "127.0.0.1:8001@evil.example", "localhost:x"):
        answer = console.client.get("/form-key", headers={"Host": host})
        assert (403, "host_unknown") == (answer.status_code, answer.get_json()["code"])


@pytest.mark.parametrize("key", ["", "0" * 64, "ключ"])
def test_wrong_form_key(console: Console, key: str) -> None:
    """A missing, wrong or non-ASCII form key gets the advice to reload the page."""
    headers = {"X-Form-Key": key.encode().decode("latin-1")}
    answer = console.client.post("/sessions", json={"team": "ants"}, headers=headers)
    assert (409, "form_key_wrong") == (answer.status_code, answer.get_json()["code"])


def test_every_file_of_the_page_is_served(console: Console) -> None:
    """Each style and script of the page, and each import of these, is served with its type."""
    todo, served = ["/"], set()
    while todo:
        path = todo.pop()
        with console.client.get(path) as answer:
            assert 200 == answer.status_code, path
            served.add((path, answer.mimetype))
            text = answer.get_data(as_text=True)
        names = re.findall(r'(?:href|src)="([^"]+)"|from "([^"]+)"', text)
        paths = {urljoin(path, link or imported) for link, imported in names}
        # This link is hidden in a contest without display, and leads nowhere there.
        todo += sorted(paths - {"/display"} - {path for path, _ in served} - set(todo))
    assert {
        ("/static/shared/base.css", "text/css"),
        ("/static/shared/referee.svg", "image/svg+xml"),
        ("/static/console/wording.js", "text/javascript"),
        ("/static/shared/page.js", "text/javascript"),
    } <= served


def test_no_page_of_the_contest_names_a_guest() -> None:
    """A guest that has a box on the console brings its words and its link; the pages know none."""
    names = {extra.name for extra in all_extras() if extra.box is not None}
    pages = [path for path in static_folder().rglob("*.*") if path.parent.name not in names]
    assert [] == [
        path.name
        for path in pages
        if path.suffix in {".html", ".js", ".css"}
        and any(name in path.read_text().lower() for name in names)
    ]


def test_events_are_got_only(console: Console) -> None:
    """HEAD and OPTIONS of the stream are refused, and take no viewer's place."""
    for method in ("HEAD", "OPTIONS", "POST"):
        with console.client.open("/events", method=method) as answer:
            assert 405 == answer.status_code
    console.broadcast.start()
    streams = [console.broadcast.stream() for _ in range(VIEWERS)]
    assert all(b"event: board" in next(stream).plain for stream in streams)
    console.broadcast.close()


def test_policy_of_the_page(console: Console) -> None:
    """The policy lets scripts come from the desk alone, and forbids frames."""
    answer = console.client.get("/")
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'self'")
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert "nosniff" == answer.headers["X-Content-Type-Options"]
    answer.close()


# Actions of operators


def test_session_from_new_to_void(console: Console) -> None:
    """New, armed, running, stopped and voided: each answer names the state that follows."""
    assert {"session": 1} == console.done("/sessions", team="ants")
    assert "ARMED" == console.done("/sessions/1/arm", seen_state="READY")["state"]
    console.desk.begin("ants", "10.0.0.2")
    assert "ENDED" == console.done("/sessions/1/stop", seen_state="RUNNING")["state"]
    voided = console.done("/sessions/1/void", reason="wrong device")
    assert {"session": 1, "state": "VOID"} == voided
    row = console.client.get("/board").get_json()["sessions"][0]
    assert ("VOID", "wrong device", "stop") == (row["state"], row["void_reason"], row["end_cause"])


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("/sessions", {"team": "bees"}, "team_unknown"),
        ("/sessions", {}, "team_unknown"),
        ("/sessions/9/arm", {}, "session_unknown"),
        ("/sessions/1/stop", {}, "state_conflict"),
        ("/sessions/1/stop", {"seen_state": "RUNNING"}, "state_moved"),
        ("/sessions/1/void", {}, "reason_missing"),
        ("/sessions/1/void", {"reason": "  "}, "reason_missing"),
    ],
)
def test_refusals_have_a_code_and_a_sentence(
    console: Console, path: str, body: object, code: str
) -> None:
    """An impossible action gets 409 with a code and one sentence for the operator."""
    console.done("/sessions", team="ants")
    key = console.client.get("/form-key").get_json()["key"]
    answer = console.client.post(path, json=body, headers={"X-Form-Key": key})
    assert (409, code) == (answer.status_code, answer.get_json()["code"])
    assert answer.get_json()["text"].endswith((".", "again"))


def test_details_and_power_of_any_session(console: Console) -> None:
    """An operator can look at each session of the list."""
    console.done("/sessions", team="ants")
    console.done("/sessions/1/void", reason="a mistake")
    console.done("/sessions", team="ants")
    assert 2 == console.client.get("/board").get_json()["lanes"][0]["current"]["id"]
    shown = console.client.get("/sessions/1").get_json()
    assert (1, "VOID", 600.0) == (shown["id"], shown["state"], shown["length_s"])
    assert {"samples": []} == console.client.get("/sessions/1/power?after=5").get_json()
    assert {"samples": []} == console.client.get("/sessions/1/power?after=x").get_json()
    assert 409 == console.client.get("/sessions/77").status_code


# Odd requests


@pytest.mark.parametrize(
    "number", [str(2**63), str(10**18), 30 * "9", 5000 * "9", "-1", "1.0", "1e3", "١", "x", "%00"]
)
def test_number_that_no_session_has(console: Console, number: str) -> None:
    """A number that no session has gets the same refusal everywhere, and changes nothing."""
    console.done("/sessions", team="ants")
    answers = [
        console.client.get(f"/sessions/{number}"),
        console.client.get(f"/sessions/{number}/power"),
        console.post(f"/sessions/{number}/arm"),
        console.post(f"/sessions/{number}/void", reason="wrong device"),
    ]
    for answer in answers:
        assert (409, "session_unknown") == (answer.status_code, answer.get_json()["code"])
        assert answer.get_json()["text"].startswith("There is no session")
    assert ["READY"] == [
        row["state"] for row in console.client.get("/board").get_json()["sessions"]
    ]


@pytest.mark.parametrize("after", [str(2**63), str(-(2**63) - 1), 5000 * "9", "-1", "1.5", "%00"])
def test_power_after_an_odd_number(console: Console, after: str) -> None:
    """A number that no reading has returns all readings."""
    console.done("/sessions", team="ants")
    answer = console.client.get(f"/sessions/1/power?after={after}")
    assert (200, {"samples": []}) == (answer.status_code, answer.get_json())


@pytest.mark.parametrize(
    ("body", "code", "status"),
    [
        (r'{"reason": "\ud800"}', "text_wrong", 400),
        (r'{"reason": "\u0000"}', "text_wrong", 400),
        (r'{"reason": "one\ntwo"}', "text_wrong", 400),
        (r'{"reason": "\u202eelpmaxe"}', "text_wrong", 400),
        ('{"reason": ["wrong device"]}', "text_wrong", 400),
        ('{"reason": "' + 201 * "x" + '"}', "text_wrong", 400),
        ('{"reason": null}', "reason_missing", 409),
        ('{"reason": ' + 5000 * "9" + "}", "json_wrong", 400),
        (8000 * "[", "json_wrong", 400),
        ("wrong device", "json_wrong", 400),
        ('{"seen_state": NaN, "reason": "wrong device"}', "json_wrong", 400),
        ('{"seen_state": ["READY"], "reason": "wrong device"}', "state_moved", 409),
    ],
)
def test_odd_body_is_refused_in_words(console: Console, body: str, code: str, status: int) -> None:
    """A malformed body is refused with a code, and voids nothing."""
    console.done("/sessions", team="ants")
    key = console.client.get("/form-key").get_json()["key"]
    answer = console.client.post(
        "/sessions/1/void", data=body, content_type="application/json", headers={"X-Form-Key": key}
    )
    assert (status, code) == (answer.status_code, answer.get_json()["code"])
    assert "READY" == console.client.get("/sessions/1").get_json()["state"]


def test_reason_in_any_language_is_kept(console: Console) -> None:
    """A reason may have any letters and any kind of blanks."""
    console.done("/sessions", team="ants")
    reason = "falsches\u00a0Gerät 🤦🏽\u200d♀️"
    console.done("/sessions/1/void", reason=reason)
    assert reason == console.client.get("/sessions/1").get_json()["void_reason"]


def test_body_beyond_all_measure(console: Console) -> None:
    """The desk leaves a body unread that is longer than any action."""
    answer = console.post("/sessions/1/void", reason=100_000 * "x")
    assert 413 == answer.status_code


@pytest.mark.parametrize("path", ["/login", "/image/1", "/result", "/nowhere", "/static/%00"])
def test_contestant_at_the_wrong_port_is_told_the_right_one(console: Console, path: str) -> None:
    """An unknown URL of the console gets one line of text that a client can print."""
    answer = console.client.get(path)
    assert (404, "text/plain") == (answer.status_code, answer.mimetype)
    text = answer.get_data(as_text=True)
    assert text.startswith("This is the operators' console")
    assert (1, True) == (text.count("\n"), "Contestants connect to " in text)


def test_practice_makes_its_own_sessions(tmp_path: Path) -> None:
    """In a rehearsal an operator cannot make a session, and is told why."""
    contest = make_contest(tmp_path, FakeClock(), mode="practice")
    with running_desk(contest, None) as desk:
        board = Board(contest, [ShownLane(lambda: desk.lanes[0].metering.status)])
        client = console_app(contest, desk, board, Broadcast(board.show, 2)).test_client()
        key = client.get("/form-key").get_json()["key"]
        answer = client.post("/sessions", json={"team": "ants"}, headers={"X-Form-Key": key})
        assert (409, "practice") == (answer.status_code, answer.get_json()["code"])
    contest.database.close()


class Chunks:
    """A body in chunks that are malformed."""

    def read(self, size: int = -1) -> bytes:
        """Fail as gunicorn's reader does."""
        raise InvalidChunkSize(b"zz")


@pytest.mark.parametrize("path", ["/login", "/sessions/1/stop"])
def test_malformed_chunks_are_refused(console: Console, path: str) -> None:
    """A body that cannot be read is the client's fault, with the page's key or without it."""
    key = console.client.get("/form-key").get_json()["key"]
    environ = {"wsgi.input": Chunks(), "HTTP_TRANSFER_ENCODING": "chunked"}
    for sent, status in (({"X-Form-Key": key}, 400), ({}, 409)):
        answer = console.client.post(
            path, headers=sent, content_type="application/json", environ_overrides=environ
        )
        assert status == answer.status_code
        assert answer.get_json()["text"].endswith(".")


def test_health_is_200_or_503_with_the_reasons(empty, monkeypatch):
    """A healthy referee has no reason; a disk without room is one, as in the list of obstacles."""
    watcher = empty.visitor()
    answer = watcher.get("/health")
    assert (200, True, []) == (answer.status_code, answer.json["healthy"], answer.json["obstacles"])
    no_room(monkeypatch)
    answer = watcher.get("/health")
    assert (503, False) == (answer.status_code, answer.json["healthy"])
    assert empty.event.desk.obstacles() == answer.json["obstacles"] != []


def test_an_alarm_is_not_healthy(empty):
    """What the red bar says stands in the answer."""
    empty.event.desk.logbook.alarm("the roof is open")
    empty.event.desk.logbook.flush()
    answer = empty.visitor().get("/health")
    assert (503, ["the roof is open"]) == (answer.status_code, answer.json["alarms"])


def test_metrics_follow_a_session(empty):
    """The running session's figures are those of the board, and another format has no type."""
    number = empty.event.begin("ants")
    empty.event.answer(number, [1, 2])
    answer = empty.visitor().get("/metrics")
    assert "text/plain; version=0.0.4; charset=utf-8" == answer.content_type
    lines = answer.text.splitlines()
    (found,) = [line for line in lines if line.startswith("referee_session_detections")]
    assert found.endswith(f'session="{number}",team="ants"}} 2.0')


@pytest.mark.parametrize("path", ["/health", "/metrics"])
def test_other_machines_need_a_login(door, path):
    """Programs on the laptop may ask; another machine's need an assistant's login at least."""
    assert door.visitor().get(path).status_code in (200, 503)
    assert 401 == door.visitor(**AWAY).get(path).status_code
    assert door.visitor("Sam", **AWAY).get(path).status_code in (200, 503)
