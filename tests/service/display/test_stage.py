# SPDX-License-Identifier: Apache-2.0
"""The rules of a display: turns, dwell, the newest page, and reports that do not count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.errors import Refusal
from referee.service.display.pages import PAGES_MOST
from referee.service.display.screens import PageScreen
from referee.service.display.stage import WAITING_MOST, Frame, Show, Stage

FULL_HD = PageScreen(1920, 1080, 1.0, 60.0, visible=True, fills=True)


def draw(width_px, height_px):
    """Return no pixels: the rules do not look at them."""
    return b""


@pytest.fixture
def stage():
    """Return a stage that expects session 3, with a dwell of a quarter of a second."""
    stage = Stage(0.25)
    stage.expect(3)
    return stage


def open_page(stage, screen=FULL_HD, name=""):
    """Open a page with this screen and return it."""
    page = stage.pages.add(name)
    page.screen = screen
    return page


def put(stage, show, now_s=10.0):
    """Put a show's frame on the screen and return it."""
    frame = Frame(show.session_id, stage.next_number(), draw)
    stage.put(show, frame, now_s)
    return frame


def report(page, frame, **times):
    """Return a page's report that it has painted a frame."""
    place = {"session": frame.session_id, "frame": frame.number}
    return {"page": page.number, "key": page.key, **place, **times}


def code_of(call, *arguments):
    """Return the code of the refusal that a call raises."""
    with pytest.raises(Refusal) as refused:
        call(*arguments)
    return refused.value.code


def test_requests_take_turns_in_their_order(stage):
    """The oldest show is next; when it leaves, the one behind it is."""
    first, second = Show(3, 9.0), Show(3, 9.1)
    stage.join(first)
    stage.join(second)
    assert (True, False) == (stage.is_next(first), stage.is_next(second))
    stage.leave(first)
    assert stage.is_next(second)


def test_so_many_may_wait_and_no_more(stage):
    """A request beyond the bound is refused, and none before it is disturbed."""
    for _ in range(WAITING_MOST):
        stage.join(Show(3, 9.0))
    assert "display_failed" == code_of(stage.join, Show(3, 9.0))


@pytest.mark.parametrize(("live", "asked"), [(3, 4), (None, 4), (3, 0)])
def test_only_the_expected_session_is_shown(stage, live, asked):
    """Another session is refused, and so is a test of the display during a session."""
    if live is None:
        stage.clear("over")
    assert "token_invalid" == code_of(stage.join, Show(asked, 9.0))


def test_a_painted_frame_dwells(stage):
    """A frame stays for its dwell from its paint on, and one that was not painted for none."""
    page, show = open_page(stage), Show(3, 9.0)
    frame = put(stage, show)
    assert 0.0 == stage.dwell_left_s(10.0)
    stage.report_painted(report(page, frame), 10.5)
    assert [0.25, 0.125, 0.0, 0.0] == [stage.dwell_left_s(t) for t in (10.5, 10.625, 10.75, 99.0)]


def test_consecutive_frames_differ_in_parity(stage):
    """Each frame on the screen has the next number, also after a frame that failed."""
    numbers = [put(stage, Show(3, 9.0)).number for _ in range(3)]
    assert [1, 2, 3] == numbers
    assert 8 == put(Stage(0.25, last_frame=7), Show(3, 9.0)).number


def test_a_paint_is_told_with_the_pages_own_times(stage):
    """The moments before the report are counted back from it, and never before the frame."""
    page, show = open_page(stage), Show(3, 9.0)
    frame = put(stage, show)
    stage.report_painted(report(page, frame, decode_ms=125, paint_ms=250), 10.5)
    assert (10.125, 10.25, 10.5) == (show.fetched_s, show.decoded_s, show.painted_s)
    assert 0.5 == stage.round_trip_s
    other = Show(3, 11.0)
    stage.report_painted(report(page, put(stage, other, 11.0), decode_ms=9e9, paint_ms=1), 11.5)
    assert (11.0, 11.499) == (other.fetched_s, other.decoded_s)
    third = Show(3, 12.0)
    stage.report_painted(report(page, put(stage, third, 12.0), paint_ms=10**400), 12.5)
    assert (12.0, 12.0) == (third.fetched_s, third.decoded_s)


@pytest.mark.parametrize("junk", [None, "1", True, float("nan"), -5, [1]])
def test_junk_times_count_as_nothing(stage, junk):
    """A report with a time that is no number still says that the frame is painted."""
    page, show = open_page(stage), Show(3, 9.0)
    stage.report_painted(report(page, put(stage, show), decode_ms=junk, paint_ms=junk), 10.5)
    assert (10.5, 10.5, 10.5) == (show.fetched_s, show.decoded_s, show.painted_s)


def test_a_repeated_report_changes_nothing(stage):
    """A page that paints again after a reload does not move the first paint."""
    page, show = open_page(stage), Show(3, 9.0)
    frame = put(stage, show)
    stage.report_painted(report(page, frame), 10.5)
    stage.report_painted(report(page, frame), 20.0)
    assert 10.5 == show.painted_s


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"frame": 0}, "frame_old"),
        ({"frame": "1"}, "frame_old"),
        ({"frame": True}, "frame_old"),
        ({"session": 2}, "frame_old"),
        ({"key": "another"}, "page_unknown"),
        ({"key": None}, "page_unknown"),
        ({"key": "\ud800"}, "page_unknown"),
        ({"page": 99}, "page_unknown"),
        ({"page": [1]}, "page_unknown"),
    ],
)
def test_a_stale_or_false_report_is_refused(stage, change, code):
    """Another frame, another session, another page and a wrong key prove no paint."""
    page, show = open_page(stage), Show(3, 9.0)
    frame = put(stage, show)
    assert code == code_of(stage.report_painted, report(page, frame) | change, 10.5)
    assert show.painted_s is None


def modes(stage, *pages):
    """Return what each of some pages must show."""
    return [stage.truth_for(page.number)["mode"] for page in pages]


def test_between_sessions_the_newest_page_shows(stage):
    """A new page takes over while nothing is at stake; when it closes, the one before goes on."""
    stage.clear("over")
    old, new = open_page(stage), open_page(stage)
    assert ["other", "black"] == modes(stage, old, new)
    stage.pages.remove(new.number)
    assert ["black"] == modes(stage, old)


def test_a_live_sessions_page_keeps_its_screen(stage):
    """A page that is opened meanwhile waits for a click, with words; the other one shows on."""
    stage.clear("over")
    shows = open_page(stage)
    stage.expect(4)
    frame = put(stage, Show(4, 9.0))
    late = open_page(stage)
    assert ["frame", "waiting"] == modes(stage, shows, late)
    assert not stage.truth_for(late.number)["live"]
    assert "page_old" == code_of(stage.report_painted, report(late, frame), 10.5)
    stage.report_painted(report(shows, frame), 10.5)
    stage.clear("over")
    assert ["other", "black"] == modes(stage, shows, late)


def test_a_page_that_painted_keeps_the_screen_of_a_session_from_before_the_desk(stage):
    """A desk that starts again in a session finds no page: the first that paints keeps it."""
    shows, frame = open_page(stage), put(stage, Show(3, 9.0))
    stage.report_painted(report(shows, frame), 10.5)
    assert ["frame", "waiting"] == modes(stage, shows, open_page(stage))


def test_a_click_takes_the_screen_and_is_told(stage):
    """The page that was clicked shows; operators hear of it only if it took a live screen."""
    first, other = open_page(stage), open_page(stage)
    stage.report_painted(report(first, put(stage, Show(3, 9.0))), 10.5)
    assert stage.take(other)
    assert not stage.take(other)
    assert ["waiting", "frame"] == modes(stage, first, other)
    assert stage.take(first)
    stage.clear("over")
    assert not stage.take(first)


@pytest.mark.parametrize("how", ["closed", "hidden"])
def test_an_open_page_gets_no_screen_without_a_click(stage, how):
    """A page on another monitor waits on when the page that shows is gone or hidden."""
    shows = open_page(stage)
    stage.report_painted(report(shows, put(stage, Show(3, 9.0))), 10.5)
    late = open_page(stage)
    if how == "closed":
        stage.pages.remove(shows.number)
        assert "is gone: open /display" in stage.pages.fault
    else:
        shows.screen = replace(FULL_HD, visible=False)
        assert "hidden" in stage.pages.fault
    assert ["waiting"] == modes(stage, late)
    stage.take(late)
    assert ["frame"] == modes(stage, late)


def test_a_page_that_opens_after_the_lost_one_shows(stage):
    """Opening the page again is the remedy for a page that is gone; nobody has to click."""
    shows = open_page(stage)
    put(stage, Show(3, 9.0))
    wrong = open_page(stage)
    stage.pages.remove(shows.number)
    assert ["waiting", "frame"] == modes(stage, wrong, open_page(stage))


def test_a_page_that_connects_again_is_the_same_page(stage):
    """It keeps the screen that it had, before the desk notices that the old line is dead."""
    open_page(stage, name="monitor")
    put(stage, Show(3, 9.0))
    wrong, again = open_page(stage, name="wrong"), stage.pages.add("monitor")
    assert ["frame", "waiting"] == modes(stage, again, wrong)
    assert "" == stage.pages.fault
    for page in (again, wrong):
        stage.pages.remove(page.number)
    wrong, again = open_page(stage, name="wrong"), open_page(stage, name="monitor")
    assert ["waiting", "frame"] == modes(stage, wrong, again)
    stage.take(wrong)
    stage.pages.remove(wrong.number)
    assert ["waiting"] == modes(stage, stage.pages.add("monitor"))


def test_a_page_that_was_there_before_arming_waits_too(stage):
    """The older page of two stays beside the session when it connects again."""
    stage.clear("over")
    old, shows = open_page(stage, name="old"), open_page(stage, name="new")
    stage.expect(4)
    for page in (old, shows):
        stage.pages.remove(page.number)
    assert ["waiting"] == modes(stage, stage.pages.add("old"))


def test_a_refused_request_leaves_nothing_of_an_earlier_image(stage):
    """A camera must not see the image before where its own request was refused."""
    page, seen, refused, other = open_page(stage), Show(3, 9.0), Show(3, 11.0), Show(3, 11.5)
    stage.join(seen)
    stage.report_painted(report(page, put(stage, seen)), 10.5)
    stage.leave(seen)
    assert ["frame"] == modes(stage, page)
    stage.join(other)
    frame = put(stage, other)
    stage.join(refused)
    stage.leave(refused)
    assert frame == stage.frame_on(3, frame.number)
    stage.report_painted(report(page, frame), 12.0)
    stage.leave(other)
    stage.leave(refused)
    assert ["black"] == modes(stage, page)


def test_a_lanes_page_is_named_by_its_own_address():
    """Who follows the sentence opens the page of this lane, and no other one."""
    assert "open /lanes/2/display of" in Stage(0.25, path="/lanes/2/display").pages.fault


def test_so_many_pages_and_no_more(stage):
    """A page beyond the bound gets no place until another closes."""
    pages = [stage.pages.add() for _ in range(PAGES_MOST)]
    assert stage.pages.add() is None
    stage.pages.remove(pages[0].number)
    assert stage.pages.add() is not None


@pytest.mark.parametrize(
    ("screen", "words"),
    [
        (None, "measuring"),
        (replace(FULL_HD, visible=False), "hidden"),
        (replace(FULL_HD, fills=False), "press F"),
    ],
)
def test_an_unfit_page_says_why(stage, screen, words):
    """A page that nobody can see well has a fault, and its report proves nothing."""
    assert "No display page" in stage.pages.fault
    page, show = open_page(stage, screen), Show(3, 9.0)
    frame = put(stage, show)
    assert words in stage.pages.fault
    stage.report_painted(report(page, frame), 10.5)
    assert show.painted_s is None


def test_the_end_of_a_session_makes_the_screen_black(stage):
    """Nothing of the session stays, every waiting show ends, and a late report is refused."""
    page, shown, waiting = open_page(stage), Show(3, 9.0), Show(3, 9.5)
    stage.join(shown)
    stage.join(waiting)
    frame = put(stage, shown)
    stage.clear("The session ended.")
    assert {"mode": "black", "live": False} == stage.truth_for(page.number)
    assert ["The session ended."] * 2 == [shown.over, waiting.over]
    assert "frame_old" == code_of(stage.report_painted, report(page, frame), 10.5)
    assert "frame_old" == code_of(stage.frame_on, 3, frame.number)


def test_a_new_session_takes_the_card_and_the_frame_of_another_away(stage):
    """The screen is black for the new session; to expect the same session again changes nothing."""
    page = open_page(stage)
    frame = put(stage, Show(3, 9.0))
    stage.expect(3)
    assert frame.number == stage.truth_for(page.number)["frame"]
    stage.expect(4)
    assert {"mode": "black", "live": True} == stage.truth_for(page.number)
    stage.clear("over")
    stage.card = True
    assert {"mode": "card", "live": False} == stage.truth_for(page.number)
    stage.expect(5)
    assert {"mode": "black", "live": True} == stage.truth_for(page.number)


def test_a_frame_that_nobody_painted_leaves_the_screen(stage):
    """A failed show is not on the screen afterwards, but a painted one stays for the camera."""
    page = open_page(stage)
    failed = Show(3, 9.0)
    put(stage, failed)
    stage.leave(failed)
    assert "black" == stage.truth_for(page.number)["mode"]
    painted = Show(3, 9.5)
    frame = put(stage, painted)
    stage.report_painted(report(page, frame), 10.5)
    stage.leave(painted)
    assert frame == stage.frame_on(3, frame.number)
