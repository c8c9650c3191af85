# SPDX-License-Identifier: Apache-2.0
"""The display pages of two lanes in a real browser: each lane has its own, whatever is opened."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By

from referee.core.states import EndCause
from referee.errors import Refusal
from referee.service.setup.clock import SystemClock
from referee.service.setup.contest import Contest
from referee.service.setup.lane_config import LaneSection
from referee.service.setup.session_images import frame_tag_of
from referee.tracks.camera.code import FrameLabel
from referee.tracks.camera.compose import compose
from referee.tracks.camera.geometry import Screen
from tests.support.browsing import be_screen, pixels_of, text_of, wait_text
from tests.support.contests import make_contest
from tests.support.events import Event
from tests.support.fakes import FakeClock, FakeMeter, eventually, running_desk
from tests.support.hits import misses
from tests.support.lane_console import PLACES, begin, served
from tests.support.teams import give_password

pytestmark = [pytest.mark.slow, pytest.mark.browser]


@pytest.fixture
def showing(tmp_path: Path, browser: webdriver.Chrome) -> Iterator[Event]:
    """Return an event of two lanes of the camera track, whose clock is the real one."""
    contest = make_contest(tmp_path, SystemClock(), mode="event", seconds=600, track="camera")
    lanes = [LaneSection(name, f"127.0.0.1:80{n}0", contest.config.meter) for n, name in PLACES[:2]]
    contest = replace(contest, config=replace(contest.config, declared_lanes=tuple(lanes)))
    for team in ("ants", "bees"):
        give_password(contest.config.teams, team)
    first = browser.current_window_handle
    with running_desk(contest, None, None) as desk, served(contest, desk) as url:
        event = Event(contest, desk, FakeMeter(FakeClock()))
        event.url = url
        yield event
        for window in {*browser.window_handles} - {first}:
            browser.switch_to.window(window)
            browser.close()
        browser.switch_to.window(first)
        browser.get("about:blank")
        be_screen(browser, 1366, 768)
        for lane in desk.lanes:
            lane.display.close()
    contest.database.close()


def open_display(event: Event, browser: webdriver.Chrome, path: str, lane: int) -> str:
    """Open a display page in a window of its own, and return the window when the page is used."""
    browser.switch_to.new_window("window")
    be_screen(browser)
    browser.get(f"{event.url}/{path}")
    display = event.desk.lanes[lane - 1].display
    eventually(lambda: display.status().fault == "")
    assert [] == misses(browser)
    return browser.current_window_handle


def begin_showing(event: Event, team: str, lane: int, image: int) -> int:
    """Let a team's session run in a lane, and show an image of it."""
    number = begin(event, team, lane)
    event.desk.show(number, image, event.contest.clock.now())
    return number


def test_each_lane_has_a_display_of_its_own(showing: Event, browser: webdriver.Chrome) -> None:
    """Two windows show the images of two sessions; the end of one leaves the other as it is."""
    windows = [
        open_display(showing, browser, path, lane)
        for lane, path in enumerate(("display", "lanes/2/display"), 1)
    ]
    sessions = [begin_showing(showing, team, n, 1 + n) for n, team in ((1, "ants"), (2, "bees"))]
    contest = showing.contest
    for lane, window in enumerate(windows, 1):
        browser.switch_to.window(window)
        assert shows(browser, contest, sessions[lane - 1], 1 + lane)
    showing.desk.steps_of(sessions[0]).end(sessions[0], EndCause.STOP, "Kim")
    browser.switch_to.window(windows[0])
    eventually(lambda: not shows(browser, contest, sessions[0], 2))
    browser.switch_to.window(windows[1])
    assert shows(browser, contest, sessions[1], 3)


def test_the_wrong_page_leaves_a_lanes_monitor_as_it_is(
    showing: Event, browser: webdriver.Chrome
) -> None:
    """A page of lane 1 on lane 2's monitor says whose it is, and shows nothing without a click.

    Not even when lane 1's own page is loaded again, or closed.
    """
    monitor = open_display(showing, browser, "display", 1)
    session = begin_showing(showing, "ants", 1, 2)
    display = showing.desk.lanes[0].display
    wrong = open_display(showing, browser, "display", 1)
    wait_text(browser, "hint", "display of lane left. A session runs, and this page shows none")
    browser.switch_to.window(monitor)
    assert shows(browser, showing.contest, session, 2)
    browser.refresh()
    eventually(lambda: shows(browser, showing.contest, session, 2))
    browser.close()
    browser.switch_to.window(wrong)
    eventually(lambda: "is gone: open /display of the console" in display.status().fault)
    assert "shows none" in text_of(browser, "hint")
    browser.execute_script("document.documentElement.requestFullscreen = async () => {}")
    browser.find_element(By.TAG_NAME, "body").click()
    eventually(lambda: shows(browser, showing.contest, session, 2))


def test_every_sentence_names_the_page_of_its_lane(
    showing: Event, browser: webdriver.Chrome
) -> None:
    """Who follows the check, the refusal, the card or the alarm of lane 2 opens its page."""
    page = "/lanes/2/display"
    number = showing.desk.new_session("bees", "Kim", 2)
    with pytest.raises(Refusal, match=f"open {page} of the console"):
        showing.desk.steps_of(number).arm(number, "Kim")
    window = open_display(showing, browser, page.lstrip("/"), 2)
    showing.desk.steps_of(number).arm(number, "Kim")
    showing.desk.begin("bees", "10.0.0.2", 2)
    browser.switch_to.new_window("window")
    be_screen(browser, 1366, 768)
    browser.get(showing.url)
    wait_text(browser, "display-state-2", "ready")
    link = browser.find_element(By.ID, "display-page-2")
    assert link.get_attribute("href") == f"{showing.url}{page}"
    console = browser.current_window_handle
    browser.switch_to.window(window)
    browser.close()
    browser.switch_to.window(console)
    wait_text(browser, "alarm-text", f"Open the console's page {page} on the second monitor")
    wait_text(browser, "display-text-2", f"open {page} of the console")


def shows(browser: webdriver.Chrome, contest: Contest, session: int, image: int) -> bool:
    """Tell whether the page shows an image of a session in each pixel."""
    shown = pixels_of(browser)
    with Image.open(contest.images[image - 1].path) as picture:
        label = FrameLabel(image, *picture.size, frame_tag_of(contest, session))
        frames = [compose(picture, label, Screen(1920, 1080), parity) for parity in (0, 1)]
    return any(frame.tobytes() == shown.tobytes() for frame in frames)
