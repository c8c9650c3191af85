# SPDX-License-Identifier: Apache-2.0
"""The display with its pages and waits, in threads and without a browser."""

from __future__ import annotations

import threading

import pytest
from PIL import Image

from referee.errors import InputError, Refusal
from referee.service.display.display import Display
from referee.service.display.pictures import Picture
from referee.service.display.scheduler import ShowRequest
from referee.service.setup.clock import SystemClock
from tests.support.display_page import PATIENT, SCREEN, in_a_hurry, opened
from tests.support.fakes import BOUND_S, eventually


def grey(screen):
    """Return a grey picture of a screen's size."""
    return Image.new("RGB", (screen.width_px, screen.height_px), (9, 9, 9))


def picture_of(number):
    """Return the same grey picture for each frame."""
    return Picture(grey, threading.Lock())


@pytest.fixture
def said():
    """Return the list of what operators were told."""
    return []


@pytest.fixture
def display(said):
    """Return a display that expects session 3."""
    display = Display(PATIENT, SystemClock(), lambda *told: said.append(told))
    display.expect(3)
    yield display
    display.close()


def show(display, session_id=3):
    """Show a frame now, and return its request."""
    asked = ShowRequest(session_id, SystemClock().now().monotonic_s)
    display.present(asked, picture_of)
    return asked


def test_a_frame_is_presented_when_it_is_painted(display):
    """The call returns after the page's report, with the times in order."""
    page = opened(display)
    shown = show(display)
    assert shown.requested_s <= shown.announced_s <= shown.decoded_s <= shown.painted_s
    assert [1] == page.painted
    assert display.status().round_trip_s is not None


def test_a_line_ends_that_a_newer_one_of_its_page_replaces(display):
    """A desk that was killed may take a page's live line before a dead one of the same page.

    The page must connect again: otherwise its line would call it another page for ever.
    """
    line = display.stream("monitor")
    assert ["hello", "truth"] == [next(line)[0], next(line)[0]]
    dead = display.stream("monitor")
    next(dead)
    assert next(line, None) is None
    dead.close()
    again = display.stream("monitor")
    assert [("hello", None), ("truth", "black")] == [
        (name, getattr(data, "mode", None)) for name, data in (next(again), next(again))
    ]
    again.close()


def test_requests_at_once_are_all_painted_in_turn(display):
    """Each of several requests has a frame of its own."""
    page = opened(display)
    shows = []
    threads = [
        threading.Thread(target=lambda: shows.append(show(display)), daemon=True) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(BOUND_S)
    assert [1, 2, 3, 4] == sorted(one.frame.number for one in shows) == page.painted


def test_without_a_page_the_request_fails_with_one_alarm(display, said):
    """A display without a page fails in its bound; the alarm comes once, and the end of it too."""
    for _ in range(2):
        with in_a_hurry(display), pytest.raises(Refusal, match="No display page is o") as refused:
            show(display)
        assert "display_failed" == refused.value.code
    assert ["alarm"] == [level for _, level, _ in said]
    opened(display)
    eventually(lambda: ["alarm", "info"] == [level for _, level, _ in said])
    show(display)
    assert 2 == len(said)


def test_a_page_that_does_not_paint_fails_the_request(display, said):
    """A slow page fails within the bound, and its frame leaves the screen."""
    page = opened(display, paints=False)
    said.clear()
    with in_a_hurry(display), pytest.raises(Refusal, match="did not paint the image within 0.5 s"):
        show(display)
    assert [(3, "alarm")] == [told[:2] for told in said]
    with pytest.raises(Refusal):
        display.pixels(3, 1, 640, 480)
    page.paints = True
    assert 2 == show(display).frame.number


def test_the_end_of_a_session_ends_its_waiting_request(display):
    """A request that waits when its session ends is refused at once as over."""
    opened(display, paints=False)
    codes = []

    def ask():
        try:
            show(display)
        except Refusal as refusal:
            codes.append(refusal.code)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    eventually(lambda: display._scheduler._on is not None)
    display.clear(3)
    thread.join(BOUND_S)
    assert ["token_invalid"] == codes


def test_an_image_that_cannot_be_drawn_blocks_nobody(display):
    """A picture that fails is its request's fault alone; the next one is shown."""
    opened(display)

    def broken(number):
        raise InputError("gone.jpg cannot be shown.")

    with pytest.raises(InputError, match="gone.jpg"):
        display.present(ShowRequest(3, SystemClock().now().monotonic_s), broken)
    show(display)


def test_a_screen_that_fits_no_frame_is_a_fault(display, said):
    """A page whose window becomes too small for a frame is not used, and the alarm says why."""
    page = opened(display)
    with pytest.raises(Refusal, match="200x200"):
        display.measured(page.me | SCREEN | {"width": 200, "height": 200})
    assert "200x200" in display.status().fault
    assert "200x200" in said[-1][2]
    with in_a_hurry(display), pytest.raises(Refusal, match="200x200"):
        show(display)
    display.measured(page.me | SCREEN)
    assert "" == display.status().fault


def test_a_probe_is_for_the_time_between_sessions(display):
    """A probe paints black and leaves nothing; during a session it is refused."""
    opened(display)
    with pytest.raises(Refusal, match="expects no images of this session"):
        display.probe()
    display.clear(3)
    assert display.probe() >= 0.0
    with pytest.raises(Refusal):
        display.pixels(0, 1, 640, 480)
    assert display.probed().round_trip_s is not None


def test_a_card_is_refused_during_a_session(display):
    """The card is for the time between sessions, and the next session takes it away."""
    with pytest.raises(Refusal, match="no test card now"):
        display.show_card(True)
    display.clear(3)
    display.show_card(True)
    assert display.status().card
    display.expect(4)
    assert not display.status().card
