# SPDX-License-Identifier: Apache-2.0
"""The display's routes: the page and its scripts, the stream, and who may ask for what."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from flask.testing import FlaskClient

from referee.service.board.board import Board
from referee.service.board.lane_view import ShownLane
from referee.web.desk.broadcast import Broadcast
from referee.web.desk.console import console_app
from tests.support.contests import make_contest
from tests.support.fakes import running_desk

SCREEN = {"width": 640, "height": 480, "ratio": 1, "visible": True, "fills": True}


@pytest.fixture(params=["camera", "network"])
def client(request: Any, tmp_path: Path) -> Iterator[FlaskClient]:
    """Return the console of a contest of one of the two tracks."""
    contest = make_contest(tmp_path, mode="practice", seconds=600, track=request.param)
    with running_desk(contest, None) as desk:
        board = Board(
            contest,
            [ShownLane(lambda: desk.lanes[0].metering.status, display=desk.lanes[0].display)],
        )
        app = console_app(contest, desk, board, Broadcast(board.show, 2))
        yield app.test_client()
        if desk.lanes[0].display is not None:
            desk.lanes[0].display.close()
    contest.database.close()


def event(text: str) -> tuple[str, dict[str, Any]]:
    """Return the name and the data of an event."""
    lines = dict(line.split(": ", 1) for line in text.strip().split("\n"))
    return lines["event"], json.loads(lines["data"])


@pytest.mark.parametrize("client", ["camera"], indirect=True)
def test_the_page_and_all_its_scripts_are_served(client: FlaskClient) -> None:
    """The page, its style and each import of its scripts are served."""
    todo, served = ["/display"], set()
    while todo:
        path = todo.pop()
        with client.get(path) as answer:
            assert 200 == answer.status_code, path
            served.add(path)
            text = answer.get_data(as_text=True)
        found = re.findall(r'(?:href|src)="([^"]+)"|from "([^"]+)"', text)
        todo += sorted({urljoin(path, a or b) for a, b in found} - served - set(todo))
    assert {"/static/display/painter.js", "/static/display/screen.js"} <= served


@pytest.mark.parametrize("client", ["network"], indirect=True)
@pytest.mark.parametrize(
    "path", ["/display", "/display/events", "/display/frames/1/1", "/display/card"]
)
def test_a_contest_without_a_display_says_so(client: FlaskClient, path: str) -> None:
    """A track that sends its images has no display."""
    answer = client.get(path)
    assert (409, "display_off") == (answer.status_code, answer.get_json()["code"])


@pytest.mark.parametrize("client", ["camera"], indirect=True)
def test_a_page_connects_and_is_told_the_truth(client: FlaskClient) -> None:
    """The stream greets a page, and its reports with that key are taken."""
    stream = client.get("/display/events", buffered=False).response
    lines = iter(stream)
    name, me = event(next(lines).decode())
    assert "hello" == name
    assert ("truth", {"mode": "black", "live": False}) == event(next(lines).decode())
    assert 200 == client.post("/display/screen", json=me | SCREEN).status_code
    board = client.get("/board").get_json()["lanes"][0]["display"]
    assert ("", 640, 480) == (board["fault"], board["width"], board["height"])
    assert 409 == client.post("/display/screen", json=me | SCREEN | {"key": "x"}).status_code
    assert 409 == client.post("/display/screen", json=me | SCREEN | {"width": 0}).status_code
    assert 200 == client.post("/display/bye", json=me).status_code
    assert "No display page" in client.get("/board").get_json()["lanes"][0]["display"]["fault"]


@pytest.mark.parametrize("client", ["camera"], indirect=True)
def test_the_card_has_the_screens_pixels(client: FlaskClient) -> None:
    """The test card comes as four bytes a pixel, and no size that cannot be is drawn."""
    answer = client.get("/display/card?width=640&height=480")
    assert (200, 640 * 480 * 4) == (answer.status_code, len(answer.get_data()))
    for size in ("?width=1&height=1", "", "?width=8191&height=8191"):
        answer = client.get(f"/display/card{size}")
        assert (409, "screen_wrong") == (answer.status_code, answer.get_json()["code"])
    assert 409 == client.post("/display/card", json={"on": True}).status_code  # without the key


@pytest.mark.parametrize("client", ["camera"], indirect=True)
@pytest.mark.parametrize("method", ["HEAD", "OPTIONS", "POST"])
def test_the_stream_is_got_only(client: FlaskClient, method: str) -> None:
    """No other method opens a stream and takes a page's place."""
    assert 405 == client.open("/display/events", method=method).status_code


@pytest.mark.parametrize("client", ["camera"], indirect=True)
def test_other_sites_reach_nothing(client: FlaskClient) -> None:
    """A page of another site can neither open the display nor read a frame."""
    for path in ("/display", "/display/events", "/display/frames/1/1", "/display/card"):
        headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
        assert 403 == client.get(path, headers=headers).status_code
        assert 403 == client.get(path, headers={"Host": "evil.example"}).status_code


@pytest.mark.parametrize("client", ["camera"], indirect=True)
@pytest.mark.parametrize("what", ["screen", "take", "painted", "bye"])
@pytest.mark.parametrize("body", [b"{", b"[]", b"null", b'{"page": NaN}', b"\xff\xfe"])
def test_a_report_that_is_no_json_object_is_refused(
    client: FlaskClient, what: str, body: bytes
) -> None:
    """What no display page sends is a 400 with a sentence, and no failure of the desk."""
    answer = client.post(f"/display/{what}", data=body, content_type="application/json")
    assert (400, "json_wrong") == (answer.status_code, answer.get_json()["code"])
    assert answer.get_json()["text"].endswith(".")
