# SPDX-License-Identifier: Apache-2.0
"""`/image_camera` for contestants: the old referee's texts, in its order, and the new facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from referee.errors import Unavailable
from referee.service.desk.control_desk import ControlDesk
from referee.service.display.display import Display
from referee.service.setup.clock import SystemClock
from referee.service.setup.session_images import frame_tag_of
from referee.store.sessions import all_sessions
from tests.support.contests import make_contest
from tests.support.display_page import PATIENT, Page, in_a_hurry, opened
from tests.web.conftest import DirectDesk, Site, serving

FAILED = (500, "Display failed to start\n")
LOGIN = {"username": "me", "password": "practice"}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Return a rehearsal of the camera track."""
    contest = make_contest(tmp_path, SystemClock(), mode="practice", seconds=600, track="camera")
    config = replace(contest.config, camera=PATIENT)
    contest = replace(contest, config=config)
    with serving(contest) as site:
        yield site
        display_of(site.desk).close()


def display_of(desk: ControlDesk) -> Display:
    """Return the desk's display."""
    assert desk.lanes[0].display is not None
    return desk.lanes[0].display


@pytest.fixture(autouse=True)
def page(site: Site) -> Page:
    """Return the display's page, without which no login would be accepted."""
    return opened(display_of(site.desk))


def ask(client: FlaskClient, **fields: str) -> tuple[int, str]:
    """Ask for an image on the screen with these fields."""
    answer = client.post("/image_camera", data=fields)
    return answer.status_code, answer.get_data(as_text=True)


def test_a_login_without_a_display_is_refused(site: Site, page: Page) -> None:
    """The clock does not start while the team could see nothing; a sentence says what to do."""
    display_of(site.desk).leave(page.me)
    answer = site.client.post("/login", data=LOGIN, headers={"Accept": "application/json"})
    assert 500 <= answer.status_code
    assert "open /display of the console" in answer.get_data(as_text=True)
    assert [] == list(all_sessions(site.contest.database.connection))


def test_the_answer_comes_after_the_paint(site: Site, page: Page) -> None:
    """A painted image is answered by the old text, and counts as fetched."""
    token = site.login()
    assert (200, "Display success\n") == ask(site.client, token=token, image_name="3")
    assert [1] == page.painted
    answer = site.client.get(f"/image_camera?token={token}&image_name=1")
    assert (200, "text/html") == (answer.status_code, answer.mimetype)
    status = site.client.get(f"/status?token={token}").get_json()
    assert 2 == status["images_fetched"]


@pytest.mark.parametrize(
    ("fields", "status", "text"),
    [
        ({"image_name": "1"}, 400, None),
        ({"token": "bad", "image_name": "1"}, 401, "Invalid Token\n"),
        ({"token": "good"}, 400, None),
        ({"token": "good", "image_name": "x"}, 406, "Invalid Image index\n"),
        ({"token": "good", "image_name": ""}, 500, "Invalid Image index\n"),
        ({"token": "good", "image_name": "0"}, 406, "Image index out of range\n"),
        ({"token": "good", "image_name": "5"}, 406, "Image index out of range\n"),
        ({"token": "good", "image_name": "1"}, *FAILED),
    ],
)
def test_refusals_are_the_old_ones(
    site: Site, page: Page, fields: dict[str, str], status: int, text: str | None
) -> None:
    """Token, then number, then display: each refusal has the old status and text."""
    token = site.login()
    display_of(site.desk).leave(page.me)
    if fields.get("token") == "good":
        fields = fields | {"token": token}
    with in_a_hurry(display_of(site.desk)):
        found = ask(site.client, **fields)
    assert status == found[0]
    assert text in (None, found[1])


def test_a_missing_image_has_the_old_text(site: Site) -> None:
    """A file that is gone is `Image not found`, also where it would be shown."""
    token = site.login()
    (site.contest.config.images.folder / "2.jpg").unlink()
    assert (500, "Image not found\n") == ask(site.client, token=token, image_name="2")


@pytest.mark.parametrize("path", ["/image/1", "/image?image_name=1", "/zipimages?image_name=1"])
def test_no_image_is_sent(site: Site, path: str) -> None:
    """The routes that send images refuse, and name the right one."""
    token = site.login()
    answer = site.client.get(path, headers={"Authorization": f"Bearer {token}"})
    assert (406, True) == (answer.status_code, "/image_camera" in answer.get_data(as_text=True))
    answer = site.client.get(path)
    assert 400 == answer.status_code


def test_the_sessions_tag_is_told(site: Site) -> None:
    """Login and status tell the tag of the session's frames; another session has another."""
    answer = site.client.post("/login", data=LOGIN, headers={"Accept": "application/json"})
    told = answer.get_json()
    assert frame_tag_of(site.contest, 1) == told["frame_tag"]
    status = site.client.get(f"/status?token={told['token']}").get_json()
    assert told["frame_tag"] == status["frame_tag"]
    assert len({frame_tag_of(site.contest, number) for number in range(1, 20)}) > 15


def test_help_and_description_say_what_a_camera_session_does(site: Site) -> None:
    """The help names `/image_camera` alone, and OpenAPI has its answers."""
    text = site.client.get("/help").get_data(as_text=True)
    assert text.startswith("\nValid URLs:\n")
    assert ("/image_camera" in text, "/zipimages" in text) == (True, False)
    described = site.client.get("/openapi.json").get_json()["paths"]["/image_camera"]
    assert {"200", "500", "401"} <= described["post"]["responses"].keys()


def test_a_desk_that_is_gone_is_a_failed_display(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the desk is being restarted, the old text says that the display failed."""
    token = site.login()

    def gone(self: DirectDesk, action: str, **arguments: object) -> dict[str, object]:
        raise Unavailable("The control desk does not answer.")

    monkeypatch.setattr(DirectDesk, "ask", gone)
    assert FAILED == ask(site.client, token=token, image_name="2")
