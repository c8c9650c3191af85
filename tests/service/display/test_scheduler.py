# SPDX-License-Identifier: Apache-2.0
"""The rules of a display: turns, dwell, the newest page, and reports that do not count.

It is long because the rule has many states, and each wrong report of a page is a case.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from referee.errors import Refusal
from referee.service.display.pages import PAGES_MOST
from referee.service.display.scheduler import (
    WAITING_MOST,
    Frame,
    FrameScheduler,
    ShowRequest,
    Truth,
)
from referee.service.display.screens import PageScreen

FULL_HD = PageScreen(1920, 1080, 1.0, 60.0, visible=True, fills=True)


def draw(width_px, height_px):
    """Return no pixels: the rules do not look at them."""
    return b""


@pytest.fixture
def scheduler():
    """Return a scheduler that expects session 3, with a dwell of a quarter of a second."""
    scheduler = FrameScheduler(0.25)
    scheduler.expect(3)
    return scheduler


def open_page(scheduler, screen=FULL_HD, name=""):
    """Open a page with this screen and return it."""
    page = scheduler.pages.add(name)
    page.screen = screen
    return page


def put(scheduler, show, now_s=10.0):
    """Put a show's frame on the screen and return it."""
    frame = Frame(show.session_id, scheduler.next_number(), draw)
    scheduler.put(show, frame, now_s)
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


def test_requests_take_turns_in_their_order(scheduler):
    """The oldest show is next; when it leaves, the one behind it is."""
    first, second = ShowRequest(3, 9.0), ShowRequest(3, 9.1)
    scheduler.join(first)
    scheduler.join(second)
    assert (True, False) == (scheduler.is_next(first), scheduler.is_next(second))
    scheduler.leave(first)
    assert scheduler.is_next(second)


def test_so_many_may_wait_and_no_more(scheduler):
    """A request beyond the bound is refused, and none before it is disturbed."""
    for _ in range(WAITING_MOST):
        scheduler.join(ShowRequest(3, 9.0))
    assert "display_failed" == code_of(scheduler.join, ShowRequest(3, 9.0))


@pytest.mark.parametrize(("live", "asked"), [(3, 4), (None, 4), (3, 0)])
def test_only_the_expected_session_is_shown(scheduler, live, asked):
    """Another session is refused, and so is a test of the display during a session."""
    if live is None:
        scheduler.clear("over")
    assert "token_invalid" == code_of(scheduler.join, ShowRequest(asked, 9.0))


def test_a_painted_frame_dwells(scheduler):
    """A frame stays for its dwell from its paint on, and one that was not painted for none."""
    page, show = open_page(scheduler), ShowRequest(3, 9.0)
    frame = put(scheduler, show)
    assert 0.0 == scheduler.dwell_left_s(10.0)
    scheduler.report_painted(report(page, frame), 10.5)
    assert [0.25, 0.125, 0.0, 0.0] == [
        scheduler.dwell_left_s(t) for t in (10.5, 10.625, 10.75, 99.0)
    ]


def test_consecutive_frames_differ_in_parity(scheduler):
    """Each frame on the screen has the next number, also after a frame that failed."""
    numbers = [put(scheduler, ShowRequest(3, 9.0)).number for _ in range(3)]
    assert [1, 2, 3] == numbers
    assert 8 == put(FrameScheduler(0.25, last_frame=7), ShowRequest(3, 9.0)).number


def test_a_paint_is_told_with_the_pages_own_times(scheduler):
    """The moments before the report are counted back from it, and never before the frame."""
    page, show = open_page(scheduler), ShowRequest(3, 9.0)
    frame = put(scheduler, show)
    scheduler.report_painted(report(page, frame, decode_ms=125, paint_ms=250), 10.5)
    assert (10.125, 10.25, 10.5) == (show.fetched_s, show.decoded_s, show.painted_s)
    assert 0.5 == scheduler.round_trip_s
    other = ShowRequest(3, 11.0)
    scheduler.report_painted(
        report(page, put(scheduler, other, 11.0), decode_ms=9e9, paint_ms=1), 11.5
    )
    assert (11.0, 11.499) == (other.fetched_s, other.decoded_s)
    third = ShowRequest(3, 12.0)
    scheduler.report_painted(report(page, put(scheduler, third, 12.0), paint_ms=10**400), 12.5)
    assert (12.0, 12.0) == (third.fetched_s, third.decoded_s)


@pytest.mark.parametrize("junk", [None, "1", True, float("nan"), -5, [1]])
def test_junk_times_count_as_nothing(scheduler, junk):
    """A report with a time that is no number still says that the frame is painted."""
    page, show = open_page(scheduler), ShowRequest(3, 9.0)
    scheduler.report_painted(
        report(page, put(scheduler, show), decode_ms=junk, paint_ms=junk), 10.5
    )
    assert (10.5, 10.5, 10.5) == (show.fetched_s, show.decoded_s, show.painted_s)


def test_a_repeated_report_changes_nothing(scheduler):
    """A page that paints again after a reload does not move the first paint."""
    page, show = open_page(scheduler), ShowRequest(3, 9.0)
    frame = put(scheduler, show)
    scheduler.report_painted(report(page, frame), 10.5)
    scheduler.report_painted(report(page, frame), 20.0)
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
def test_a_stale_or_false_report_is_refused(scheduler, change, code):
    """Another frame, another session, another page and a wrong key prove no paint."""
    page, show = open_page(scheduler), ShowRequest(3, 9.0)
    frame = put(scheduler, show)
    assert code == code_of(scheduler.report_painted, report(page, frame) | change, 10.5)
    assert show.painted_s is None


def modes(scheduler, *pages):
    """Return what each of some pages must show."""
    return [scheduler.truth_for(page.number).mode for page in pages]


def test_between_sessions_the_newest_page_shows(scheduler):
    """A new page takes over while nothing is at stake; when it closes, the one before goes on."""
    scheduler.clear("over")
    old, new = open_page(scheduler), open_page(scheduler)
    assert ["other", "black"] == modes(scheduler, old, new)
    scheduler.pages.remove(new.number)
    assert ["black"] == modes(scheduler, old)


def test_a_live_sessions_page_keeps_its_screen(scheduler):
    """A page that is opened meanwhile waits for a click, with words; the other one shows on."""
    scheduler.clear("over")
    shows = open_page(scheduler)
    scheduler.expect(4)
    frame = put(scheduler, ShowRequest(4, 9.0))
    late = open_page(scheduler)
    assert ["frame", "waiting"] == modes(scheduler, shows, late)
    assert not scheduler.truth_for(late.number).live
    assert "page_old" == code_of(scheduler.report_painted, report(late, frame), 10.5)
    scheduler.report_painted(report(shows, frame), 10.5)
    scheduler.clear("over")
    assert ["other", "black"] == modes(scheduler, shows, late)


def test_a_page_that_painted_keeps_the_screen_of_a_session_from_before_the_desk(scheduler):
    """A desk that starts again in a session finds no page: the first that paints keeps it."""
    shows, frame = open_page(scheduler), put(scheduler, ShowRequest(3, 9.0))
    scheduler.report_painted(report(shows, frame), 10.5)
    assert ["frame", "waiting"] == modes(scheduler, shows, open_page(scheduler))


def test_a_click_takes_the_screen_and_is_told(scheduler):
    """The page that was clicked shows; operators hear of it only if it took a live screen."""
    first, other = open_page(scheduler), open_page(scheduler)
    scheduler.report_painted(report(first, put(scheduler, ShowRequest(3, 9.0))), 10.5)
    assert scheduler.take(other)
    assert not scheduler.take(other)
    assert ["waiting", "frame"] == modes(scheduler, first, other)
    assert scheduler.take(first)
    scheduler.clear("over")
    assert not scheduler.take(first)


@pytest.mark.parametrize("how", ["closed", "hidden"])
def test_an_open_page_gets_no_screen_without_a_click(scheduler, how):
    """A page on another monitor waits on when the page that shows is gone or hidden."""
    shows = open_page(scheduler)
    scheduler.report_painted(report(shows, put(scheduler, ShowRequest(3, 9.0))), 10.5)
    late = open_page(scheduler)
    if how == "closed":
        scheduler.pages.remove(shows.number)
        assert "is gone: open /display" in scheduler.pages.fault
    else:
        shows.screen = replace(FULL_HD, visible=False)
        assert "hidden" in scheduler.pages.fault
    assert ["waiting"] == modes(scheduler, late)
    scheduler.take(late)
    assert ["frame"] == modes(scheduler, late)


def test_a_page_that_opens_after_the_lost_one_shows(scheduler):
    """Opening the page again is the remedy for a page that is gone; nobody has to click."""
    shows = open_page(scheduler)
    put(scheduler, ShowRequest(3, 9.0))
    wrong = open_page(scheduler)
    scheduler.pages.remove(shows.number)
    assert ["waiting", "frame"] == modes(scheduler, wrong, open_page(scheduler))


def test_a_page_that_connects_again_is_the_same_page(scheduler):
    """It keeps the screen that it had, before the desk notices that the old line is dead."""
    open_page(scheduler, name="monitor")
    put(scheduler, ShowRequest(3, 9.0))
    wrong, again = open_page(scheduler, name="wrong"), scheduler.pages.add("monitor")
    assert ["frame", "waiting"] == modes(scheduler, again, wrong)
    assert "" == scheduler.pages.fault
    for page in (again, wrong):
        scheduler.pages.remove(page.number)
    wrong, again = open_page(scheduler, name="wrong"), open_page(scheduler, name="monitor")
    assert ["waiting", "frame"] == modes(scheduler, wrong, again)
    scheduler.take(wrong)
    scheduler.pages.remove(wrong.number)
    assert ["waiting"] == modes(scheduler, scheduler.pages.add("monitor"))


def test_a_page_that_was_there_before_arming_waits_too(scheduler):
    """The older page of two stays beside the session when it connects again."""
    scheduler.clear("over")
    old, shows = open_page(scheduler, name="old"), open_page(scheduler, name="new")
    scheduler.expect(4)
    for page in (old, shows):
        scheduler.pages.remove(page.number)
    assert ["waiting"] == modes(scheduler, scheduler.pages.add("old"))


def test_a_refused_request_leaves_nothing_of_an_earlier_image(scheduler):
    """A camera must not see the image before where its own request was refused."""
    page, seen, refused, other = (
        open_page(scheduler),
        ShowRequest(3, 9.0),
        ShowRequest(3, 11.0),
        ShowRequest(3, 11.5),
    )
    scheduler.join(seen)
    scheduler.report_painted(report(page, put(scheduler, seen)), 10.5)
    scheduler.leave(seen)
    assert ["frame"] == modes(scheduler, page)
    scheduler.join(other)
    frame = put(scheduler, other)
    scheduler.join(refused)
    scheduler.leave(refused)
    assert frame == scheduler.frame_on(3, frame.number)
    scheduler.report_painted(report(page, frame), 12.0)
    scheduler.leave(other)
    scheduler.leave(refused)
    assert ["black"] == modes(scheduler, page)


def test_a_lanes_page_is_named_by_its_own_address():
    """Who follows the sentence opens the page of this lane, and no other one."""
    assert "open /lanes/2/display of" in FrameScheduler(0.25, path="/lanes/2/display").pages.fault


def test_so_many_pages_and_no_more(scheduler):
    """A page beyond the bound gets no place until another closes."""
    pages = [scheduler.pages.add() for _ in range(PAGES_MOST)]
    assert scheduler.pages.add() is None
    scheduler.pages.remove(pages[0].number)
    assert scheduler.pages.add() is not None


@pytest.mark.parametrize(
    ("screen", "words"),
    [
        (None, "measuring"),
        (replace(FULL_HD, visible=False), "hidden"),
        (replace(FULL_HD, fills=False), "press F"),
    ],
)
def test_an_unfit_page_says_why(scheduler, screen, words):
    """A page that nobody can see well has a fault, and its report proves nothing."""
    assert "No display page" in scheduler.pages.fault
    page, show = open_page(scheduler, screen), ShowRequest(3, 9.0)
    frame = put(scheduler, show)
    assert words in scheduler.pages.fault
    scheduler.report_painted(report(page, frame), 10.5)
    assert show.painted_s is None


def test_the_end_of_a_session_makes_the_screen_black(scheduler):
    """Nothing of the session stays, every waiting show ends, and a late report is refused."""
    page, shown, waiting = open_page(scheduler), ShowRequest(3, 9.0), ShowRequest(3, 9.5)
    scheduler.join(shown)
    scheduler.join(waiting)
    frame = put(scheduler, shown)
    scheduler.clear("The session ended.")
    assert Truth(mode="black", live=False) == scheduler.truth_for(page.number)
    assert ["The session ended."] * 2 == [shown.over, waiting.over]
    assert "frame_old" == code_of(scheduler.report_painted, report(page, frame), 10.5)
    assert "frame_old" == code_of(scheduler.frame_on, 3, frame.number)


def test_a_new_session_takes_the_card_and_the_frame_of_another_away(scheduler):
    """The screen is black for the new session; to expect the same session again changes nothing."""
    page = open_page(scheduler)
    frame = put(scheduler, ShowRequest(3, 9.0))
    scheduler.expect(3)
    assert frame.number == scheduler.truth_for(page.number).frame
    scheduler.expect(4)
    assert Truth(mode="black", live=True) == scheduler.truth_for(page.number)
    scheduler.clear("over")
    scheduler.card = True
    assert Truth(mode="card", live=False) == scheduler.truth_for(page.number)
    scheduler.expect(5)
    assert Truth(mode="black", live=True) == scheduler.truth_for(page.number)


def test_a_frame_that_nobody_painted_leaves_the_screen(scheduler):
    """A failed show is not on the screen afterwards, but a painted one stays for the camera."""
    page = open_page(scheduler)
    failed = ShowRequest(3, 9.0)
    put(scheduler, failed)
    scheduler.leave(failed)
    assert "black" == scheduler.truth_for(page.number).mode
    painted = ShowRequest(3, 9.5)
    frame = put(scheduler, painted)
    scheduler.report_painted(report(page, frame), 10.5)
    scheduler.leave(painted)
    assert frame == scheduler.frame_on(3, frame.number)
