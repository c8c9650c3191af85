# SPDX-License-Identifier: Apache-2.0
"""The camera track's display in a real browser, with the real servers behind it."""

from __future__ import annotations

import csv
import io
import itertools
import json
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from selenium import webdriver
from selenium.webdriver.common.by import By

from referee.tracks.camera.code import FrameLabel, session_tag
from referee.tracks.camera.compose import black, compose
from referee.tracks.camera.geometry import Screen
from tests.e2e.conftest import Material, Rehearse
from tests.e2e.test_lifecycle import kill
from tests.support.browsing import be_screen, chromium, pixels_of, text_of, wait_text
from tests.support.running import Program, eventually, referee, request

pytestmark = [pytest.mark.slow, pytest.mark.browser]

SUCCESS = (200, b"Display success\n")
FAILED = (500, b"Display failed to start\n")
FULL_HD = Screen(1920, 1080)


@pytest.fixture(scope="module")
def one_chromium() -> Iterator[webdriver.Chrome]:
    """Return the whole browser: a display knows whether another tab hides it."""
    with chromium(whole=True) as driver:
        yield driver


@pytest.fixture
def browser(browser: webdriver.Chrome) -> Iterator[webdriver.Chrome]:
    """Return the browser as a full-HD screen with an empty page."""
    be_screen(browser)
    yield browser
    browser.get("about:blank")


@dataclass
class Session:
    """A contestant's session with a running referee."""

    running: Program
    token: str
    number: int
    tag: int

    def ask(self, route: str) -> tuple[int, bytes]:
        """Ask for an image on the screen, or for another route."""
        url = f"{self.running.contest}/{route}"
        return request(url, None, {"Authorization": f"Bearer {self.token}"})

    def show(self, image: int) -> tuple[int, bytes]:
        """Ask for an image on the screen."""
        return self.ask(f"image_camera?image_name={image}")

    def is_shown(self, image: int) -> None:
        """Ask until the image is on the screen: a busy machine may take longer than `paint_s`."""
        eventually(lambda: self.show(image) == SUCCESS, f"image {image} on the screen")

    def status(self) -> dict[str, Any]:
        """Return the session's status."""
        status: dict[str, Any] = json.loads(self.ask("status")[1])
        return status

    def end(self) -> None:
        """Log out."""
        assert 200 == self.ask("logout")[0]


def log_in(running: Program) -> Session:
    """Log in and return the session."""
    status, body = request(
        f"{running.contest}/login",
        b"username=me&password=practice",
        {"Accept": "application/json"},
    )
    assert 200 == status, body
    told = json.loads(body)
    return Session(running, told["token"], told["session"], told["frame_tag"])


def display_ready(running: Program) -> bool:
    """Tell whether the display can show frames."""
    return running.lane()["display"]["fault"] == ""


def open_display(running: Program, browser: webdriver.Chrome) -> None:
    """Open the display page, after the one before has gone; wait until the desk can use it."""
    browser.get("about:blank")
    eventually(lambda: not running.lane()["display"]["connected"], "the end of the page before")
    browser.get(f"{running.console}/display")
    eventually(lambda: display_ready(running), "the display")


def frame_of(
    session: Session, material: Material, image: int, parity: int, screen: Screen = FULL_HD
) -> Image.Image:
    """Return the frame that the screen must show."""
    with Image.open(material.images / f"{image}.jpg") as picture:
        return compose(picture, FrameLabel(image, *picture.size, session.tag), screen, parity)


def same(one: Image.Image, other: Image.Image) -> bool:
    """Tell whether two pictures are equal in every pixel."""
    return one.size == other.size and one.tobytes() == other.tobytes()


def parity_of(
    session: Session,
    material: Material,
    image: int,
    browser: webdriver.Chrome,
    screen: Screen = FULL_HD,
) -> int:
    """Return the parity of the frame on the screen, which must be this image's in each pixel."""
    shown = pixels_of(browser)
    found = [it for it in (0, 1) if same(frame_of(session, material, image, it, screen), shown)]
    assert 1 == len(found), "no frame of this image is on the screen"
    return found[0]


def wait_black(browser: webdriver.Chrome) -> None:
    """Wait until nothing of a frame is on the screen; the words of the operator may be."""
    corner = (60, 60)
    eventually(lambda: pixels_of(browser).getpixel(corner) == (0, 0, 0), "a black screen")
    assert "" == text_of(browser, "hint") or "session" in text_of(browser, "hint")


@pytest.fixture
def running(standing: Rehearse) -> Program:
    """Return a rehearsal of the camera track without a meter."""
    return standing("--track", "camera", "--meter", "none", "--seconds", "600")


def test_every_device_pixel_is_the_composed_frames(
    running: Program, browser: webdriver.Chrome, material: Material
) -> None:
    """The page shows the composed frame in every device pixel, at ratio 1 and 2."""
    open_display(running, browser)
    session = log_in(running)
    session.is_shown(3)
    parity = parity_of(session, material, 3, browser)
    be_screen(browser, 2560, 1440, ratio=2)
    larger = frame_of(session, material, 3, parity, Screen(2560, 1440))
    eventually(lambda: same(larger, pixels_of(browser)), "the frame at the new size")
    session.is_shown(3)
    assert 1 - parity == parity_of(session, material, 3, browser, Screen(2560, 1440))


def test_the_page_shows_what_the_command_writes(
    running: Program, browser: webdriver.Chrome, material: Material, tmp_path: Path
) -> None:
    """`referee camera frame` writes the frame of a session as the page shows it."""
    open_display(running, browser)
    session = log_in(running)
    session.is_shown(3)
    texts = (str(number) for number in itertools.count())
    tag = next(text for text in texts if session_tag(text) == session.tag)
    options = ["--image", str(material.images / "3.jpg"), "--id", "3", "--tag", tag]
    options += ["--parity", str(parity_of(session, material, 3, browser))]
    done = referee("camera", "frame", *options, "--out", "frame.png", cwd=tmp_path)
    assert 0 == done.returncode, done.stderr
    with Image.open(tmp_path / "frame.png") as written:
        assert same(written.convert("RGB"), pixels_of(browser))


def test_the_page_is_read_through_a_camera(running: Program, browser: webdriver.Chrome) -> None:
    """What the browser paints is read by the sample from a photograph of it."""
    pytest.importorskip("cv2", reason="needs the extra [camera]")
    from client_sample.camera.reader import read
    from tests.support.hall import Camera, Shown, barrel

    open_display(running, browser)
    session = log_in(running)
    session.is_shown(3)
    shown = Shown(np.asarray(pixels_of(browser).convert("RGB")))
    for camera in (Camera(), Camera(lens=barrel(0.05))):
        reading = read(camera.take([shown]), session.tag)
        assert (3, session.tag) == (reading.label.image_id, reading.label.tag)
        assert reading.error_px < 2


def test_a_screen_too_small_for_a_frame_says_so(
    running: Program, browser: webdriver.Chrome
) -> None:
    """A page that becomes too small is not called ready, by the console or by itself."""
    open_display(running, browser)
    be_screen(browser, 200, 200)
    words = "A screen of 200x200 pixels cannot show a frame"
    eventually(lambda: words in running.lane()["display"]["fault"], "the fault")
    wait_text(browser, "hint", words)
    be_screen(browser)
    eventually(lambda: display_ready(running), "the display")
    wait_text(browser, "hint", "The display is ready")


def test_a_whole_session(
    rehearse: Rehearse, browser: webdriver.Chrome, material: Material, tmp_path: Path
) -> None:
    """Login, images on the screen, answers, score and bundle; images are counted when painted."""
    running = rehearse("--track", "camera", "--seconds", "600", "--update-interval", "0.25")
    open_display(running, browser)
    session = log_in(running)
    answers = json.loads(material.answers.read_text())
    for image in (1, 2, 5):
        session.is_shown(image)
        rows = [row for row in answers if row["image_id"] == image]
        headers = {"Authorization": f"Bearer {session.token}", "Content-Type": "application/json"}
        body = json.dumps(rows).encode()
        assert 200 == request(f"{running.contest}/result", body, headers)[0]
    for route in ("image/1", "image?image_name=1", "zipimages?image_name=1"):
        status, text = session.ask(route)
        assert (406, True) == (status, b"ask /image_camera" in text)
    eventually(lambda: session.status()["images_fetched"] == 3, "all images to be counted")
    assert session.tag == session.status()["frame_tag"]
    session.end()
    wait_black(browser)
    assert running.scored()["score"] > 0
    done = referee("export", "1", "--out", "one.zip", "--data", "data", cwd=tmp_path)
    assert 0 == done.returncode, done.stderr
    with zipfile.ZipFile(tmp_path / "one.zip") as bundle:
        frames = list(csv.DictReader(io.TextIOWrapper(bundle.open("frames.csv"))))
    assert [("1", "painted"), ("2", "painted"), ("5", "painted")] == [
        (row["image"], row["outcome"]) for row in frames
    ]
    for row in frames:
        names = ("requested_s", "announced_s", "fetched_s", "decoded_s", "painted_s")
        times = [float(row[name]) for name in names]
        assert sorted(times) == times


def test_a_closed_display_fails_within_the_bound_and_works_again(
    running: Program, browser: webdriver.Chrome
) -> None:
    """Without a page the old text comes, with an alarm; a page that opens again goes on."""
    open_display(running, browser)
    session = log_in(running)
    session.is_shown(1)
    browser.get("about:blank")
    eventually(lambda: not display_ready(running), "the loss of the display")
    assert FAILED == session.show(2)
    assert f"cannot show the images of session {session.number}" in running.board()["alarm"]["text"]
    open_display(running, browser)
    eventually(lambda: running.board()["alarm"] is None, "the end of the alarm")
    session.is_shown(2)
    eventually(lambda: session.status()["images_fetched"] == 2, "both images to be counted")
    texts = [notice["text"] for notice in running.board()["notices"]]
    assert any(text.startswith("The display is lost. No display page is open") for text in texts)
    assert "The display works again." in texts


def test_a_page_behind_another_tab_shows_nothing(
    running: Program, browser: webdriver.Chrome
) -> None:
    """A hidden page fails with the old text, and the detail says that it is hidden."""
    open_display(running, browser)
    session = log_in(running)
    page = browser.current_window_handle
    browser.switch_to.new_window("tab")
    eventually(lambda: "hidden" in running.lane()["display"]["fault"], "a hidden page")
    assert FAILED == session.show(1)
    browser.close()
    browser.switch_to.window(page)

    def in_front() -> bool:
        browser.execute_cdp_cmd("Page.bringToFront", {})
        return display_ready(running)

    eventually(in_front, "the page")
    session.is_shown(1)


@contextmanager
def reports(browser: webdriver.Chrome, how: str) -> Iterator[None]:
    """Let pages send their screen's facts in this way, by `send(url, options)`, and count them."""
    script = f"""
        const send = window.fetch.bind(window);
        window.done = window.sent = 0;
        window.fetch = async (url, options) => {{
            if (!url.endsWith("/screen")) return send(url, options);
            window.sent += 1;
            try {{ return await ({how})(url, options); }} finally {{ window.done += 1; }}
        }};"""
    added = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script})
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


def count(browser: webdriver.Chrome, which: str) -> int:
    """Return how many reports the page has sent, or how many are done."""
    return int(browser.execute_script(f"return window.{which}"))


def test_a_report_of_the_screen_that_is_lost_is_made_again(
    running: Program, browser: webdriver.Chrome
) -> None:
    """A display becomes ready though the first three reports of its screen break off."""
    lose = "(url, options) => sent < 4 ? Promise.reject(new TypeError()) : send(url, options)"
    with reports(browser, lose):
        open_display(running, browser)
        assert count(browser, "sent") > 3


def test_no_report_of_the_screen_overtakes_another(
    running: Program, browser: webdriver.Chrome
) -> None:
    """A page that was hidden for a moment is ready, also if the first report takes two seconds."""
    delay = """async (url, options) => {
        const late = options.body.includes('"visible":false');
        if (late) await new Promise((go) => setTimeout(go, 2000));
        return send(url, options);
    }"""
    with reports(browser, delay):
        open_display(running, browser)
        eventually(lambda: running.lane()["display"]["refresh_hz"], "the refresh, told at last")
        before = count(browser, "done")
        for state in ("hidden", "visible"):
            browser.execute_script(
                "Object.defineProperty(document, 'visibilityState',"
                f" {{value: '{state}', configurable: true}});"
                " document.dispatchEvent(new Event('visibilitychange'));"
            )
        eventually(lambda: count(browser, "done") >= before + 2, "both reports")
        assert display_ready(running)


def test_a_window_smaller_than_its_screen_shows_nothing(
    running: Program, browser: webdriver.Chrome
) -> None:
    """A page that does not fill its screen says how to, and the desk does not use it."""
    metrics = {"width": 800, "height": 600, "screenWidth": 1920, "screenHeight": 1080}
    metrics |= {"deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get(f"{running.console}/display")
    eventually(lambda: "press F" in running.lane()["display"]["fault"], "the fault")
    assert "press F" in text_of(browser, "hint")
    status, told = request(f"{running.contest}/login", b"username=me&password=practice", {})
    assert FAILED == (status, told)


@pytest.mark.parametrize(
    ("page", "window", "zoom", "fills"),
    [
        ((1745, 982), (1920, 1080), 1.1, True),
        ((960, 540), (1920, 1080), 2.0, True),
        ((1920, 1080), (960, 540), 0.5, False),
        ((1745, 900), (1920, 1080), 1.1, False),
    ],
    ids=["110 %", "200 %", "a quarter at 50 %", "a bar above at 110 %"],
)
def test_the_zoom_of_the_browser_changes_nothing(
    running: Program,
    browser: webdriver.Chrome,
    page: tuple[int, int],
    window: tuple[int, int],
    zoom: float,
    fills: bool,
) -> None:
    """A page that fills its screen is used at any zoom, and one that covers a part at none."""
    browser.set_window_size(*window)
    metrics = {"width": page[0], "height": page[1], "screenWidth": 1920, "screenHeight": 1080}
    metrics |= {"deviceScaleFactor": zoom, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get(f"{running.console}/display")
    expected = "" if fills else "press F"
    eventually(
        lambda: (found := running.lane()["display"])["width"] and expected in found["fault"],
        "the screen to be measured",
    )
    assert ("press F" in running.lane()["display"]["fault"]) is not fills


def test_a_running_sessions_screen_is_taken_by_a_click_alone(
    running: Program, browser: webdriver.Chrome
) -> None:
    """A page that is opened meanwhile stays apart; a click moves the display, with an alarm."""
    open_display(running, browser)
    session = log_in(running)
    session.is_shown(1)
    with chromium(whole=True) as other:
        be_screen(other)
        other.get(f"{running.console}/display")
        wait_text(other, "hint", "this page shows none of its images")
        session.is_shown(2)
        assert (255, 255, 255) == pixels_of(browser).getpixel((60, 60))
        # Without a monitor full-screen mode has a size of its own; this window fills its screen.
        other.execute_script("document.documentElement.requestFullscreen = async () => {}")
        other.find_element(By.TAG_NAME, "body").click()
        eventually(lambda: text_of(other, "hint") == "", "the page to take the screen")
        session.is_shown(3)
        assert (255, 255, 255) == pixels_of(other).getpixel((60, 60))
        assert "moved" in running.board()["alarm"]["text"]
        eventually(lambda: pixels_of(browser).getpixel((60, 60)) == (0, 0, 0), "the first page")


@pytest.mark.parametrize("move", ["void", "stop"])
def test_an_operator_clears_the_screen(
    running: Program, browser: webdriver.Chrome, material: Material, move: str
) -> None:
    """After void or stop the frame goes, its requests are refused, and a new session is black."""
    open_display(running, browser)
    session = log_in(running)
    session.is_shown(1)
    assert (255, 255, 255) == pixels_of(browser).getpixel((60, 60))
    running.act(f"sessions/{session.number}/{move}", reason="a test")
    wait_black(browser)
    assert (401, b"Invalid Token\n") == session.show(2)
    log_in(running)
    wait_black(browser)
    eventually(lambda: same(black(FULL_HD), pixels_of(browser)), "a screen without a word")


def test_a_reloaded_page_shows_the_frame_of_its_session_only(
    running: Program, browser: webdriver.Chrome, material: Material
) -> None:
    """A reload brings the present frame back; after the session a reload is black."""
    open_display(running, browser)
    first = log_in(running)
    first.is_shown(1)
    frame = frame_of(first, material, 1, parity_of(first, material, 1, browser))
    browser.refresh()
    eventually(lambda: same(frame, pixels_of(browser)), "the frame after a reload")
    first.end()
    log_in(running)
    browser.refresh()
    eventually(lambda: display_ready(running), "the display")
    eventually(lambda: same(black(FULL_HD), pixels_of(browser)), "a black screen")


def test_two_requests_at_once_are_shown_one_after_the_other(
    running: Program, browser: webdriver.Chrome
) -> None:
    """Requests that come together are all painted, one at a time, each for its dwell."""
    open_display(running, browser)
    session = log_in(running)
    answers: list[tuple[int, bytes]] = []
    threads = [
        threading.Thread(target=lambda k=k: answers.append(session.show(k))) for k in (1, 2, 3, 4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [SUCCESS] * 4 == answers
    eventually(lambda: session.status()["images_fetched"] == 4, "all images to be counted")


def test_the_same_image_twice_is_another_frame(
    running: Program, browser: webdriver.Chrome, material: Material
) -> None:
    """An image that is asked for again is shown again, with the other parity."""
    open_display(running, browser)
    session = log_in(running)
    parities = []
    for _ in range(3):
        session.is_shown(4)
        parities.append(parity_of(session, material, 4, browser))
    assert parities in ([0, 1, 0], [1, 0, 1])


def test_stale_and_false_paints_are_refused(running: Program, browser: webdriver.Chrome) -> None:
    """A report without the page's key and a fetch of an old frame are refused, in words."""
    open_display(running, browser)
    session = log_in(running)
    session.is_shown(1)
    session.is_shown(2)
    report = {"page": 1, "key": "guessed", "session": session.number, "frame": 2}
    headers = {"Content-Type": "application/json"}
    body = json.dumps(report).encode()
    status, text = request(f"{running.console}/display/painted", body, headers)
    assert (409, "page_unknown") == (status, json.loads(text)["code"])
    own, next_one = session.number, session.number + 1

    def fetched(path: str) -> int:
        url = f"{running.console}/display/frames/{path}?width=1920&height=1080"
        return request(url, None, {})[0]

    # Frames are counted from the first one of the referee; only the present one can be fetched.
    answers = [fetched(f"{own}/{number}") for number in range(1, 100)]
    assert [200] + [409] * 98 == sorted(answers)
    present = answers.index(200) + 1
    for old in (f"{next_one}/{present}", f"{own}/x"):
        assert 409 == fetched(old)


@pytest.mark.parametrize("site", ["http://evil.example", "null"])
def test_other_sites_get_nothing_of_the_display(
    running: Program, browser: webdriver.Chrome, site: str
) -> None:
    """A page of another site neither reads a frame nor reports a paint."""
    for path in ("display/events", "display/frames/1/1?width=1920&height=1080", "display"):
        assert 403 == request(f"{running.console}/{path}", None, {"Origin": site})[0]
    headers = {"Origin": site, "Content-Type": "application/json"}
    assert 403 == request(f"{running.console}/display/painted", b"{}", headers)[0]


def test_a_killed_desk_comes_back_with_its_display(
    running: Program, browser: webdriver.Chrome, material: Material
) -> None:
    """After kill -9 of the desk the page goes black, connects again, and the session goes on."""
    open_display(running, browser)
    session = log_in(running)
    session.is_shown(1)
    kill(running, "desk")
    wait_black(browser)
    assert "" == text_of(browser, "hint")

    def shown() -> bool:
        return session.show(2) == SUCCESS

    eventually(shown, "an image after the crash")
    assert "RUNNING" == session.status()["state"]


def test_a_page_may_show_the_card_by_itself(running: Program, browser: webdriver.Chrome) -> None:
    """`/display?card=1` shows the test card until a session begins, and again after it."""
    browser.get(f"{running.console}/display?card=1")
    eventually(lambda: pixels_of(browser).getpixel((60, 60)) == (255, 255, 255), "the card")
    eventually(lambda: display_ready(running), "the display")
    session = log_in(running)
    eventually(lambda: same(black(FULL_HD), pixels_of(browser)), "a black screen")
    session.end()
    eventually(lambda: pixels_of(browser).getpixel((60, 60)) == (255, 255, 255), "the card again")


def test_a_test_card_is_for_the_time_between_sessions(
    running: Program, browser: webdriver.Chrome
) -> None:
    """The operator's test card is shown, and a session takes it away."""
    open_display(running, browser)
    running.act("display/card", on=True)
    eventually(lambda: pixels_of(browser).getpixel((60, 60)) == (255, 255, 255), "the card")
    log_in(running)
    eventually(lambda: same(black(FULL_HD), pixels_of(browser)), "a black screen")
    key = json.loads(request(f"{running.console}/form-key", None, {})[1])["key"]
    headers = {"Content-Type": "application/json", "X-Form-Key": key}
    status, text = request(f"{running.console}/display/card", b'{"on": true}', headers)
    assert (409, "session_live") == (status, json.loads(text)["code"])
