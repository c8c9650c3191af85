# SPDX-License-Identifier: Apache-2.0
"""The display of a lane: it shows images on request, and knows when they are painted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from referee.errors import Refusal
from referee.service.display.pages import Page
from referee.service.display.scheduler import NO_SESSION, Frame, FrameScheduler, ShowRequest, Truth
from referee.service.display.screens import PageScreen, parse_screen, usable_screen
from referee.service.setup.clock import Clock
from referee.service.setup.config import CameraSection
from referee.service.setup.lane_words import display_path
from referee.store.notices import Level

if TYPE_CHECKING:
    from referee.service.display.pictures import Picture

T = TypeVar("T")

Tell = Callable[[int | None, Level, str], object]
"""A function that takes a session's number or None, a level and a sentence for the operators."""

# A page that hears nothing for longer than this goes black by itself (static/display/link.js).
_SIGN_OF_LIFE_S = 1.0
# A request looks at the clock this often, even if nothing happens.
_LOOK_S = 0.25


class _Trouble(Enum):
    """What the operators have been told about: a page that is lost, or a paint that failed."""

    NONE = "none"
    PAGE = "page"
    PAINT = "paint"


class Full(Struct, frozen=True):
    """What a page is told for which there is no place."""


class Welcome(Struct, frozen=True, kw_only=True):
    """What a page is told first: its number and key, and the name of its lane."""

    page: int
    key: str
    lane: str


@dataclass(frozen=True)
class DisplayStatus:
    """The display as the console and the checks see it; `fault` is '' while it can show frames.

    `page` is the path of its page on the console. `round_trip_s` is the time from the last
    announcement of a frame to the report of its paint.
    """

    page: str
    pages: int
    fault: str
    screen: PageScreen | None
    round_trip_s: float | None
    card: bool


class Display:
    """The screen of a lane; its methods may be called from any thread.

    `path` is the address of its page on the console.
    """

    def __init__(
        self,
        settings: CameraSection,
        clock: Clock,
        tell: Tell,
        last_frame: int = 0,
        lane: int = 1,
        lane_name: str = "",
    ) -> None:
        # Pillow comes with the first display: the desk of most contests has none.
        from referee.service.display.pictures import Pictures

        self.path = display_path(lane)
        self._lane_name = lane_name
        self.pictures = Pictures()
        self._paint_s = settings.paint_s
        self._clock = clock
        self._tell = tell
        self._scheduler = FrameScheduler(settings.dwell_ms / 1000, last_frame, self.path)
        self._changed = threading.Condition()
        self._closing = False
        self._trouble = _Trouble.NONE

    # What the desk asks

    def expect(self, session_id: int) -> None:
        """Get ready for a session that is armed or runs: black, and no words."""
        with self._changed:
            self._scheduler.expect(session_id)
            self._changed.notify_all()
        self._watch()

    def clear(self, session_id: int) -> None:
        """Take a session's frame off the screen, and end its waiting requests."""
        with self._changed:
            if self._scheduler.live == session_id:
                self._scheduler.clear("The session ended before the image was on the screen.")
                self._trouble = _Trouble.NONE
            self._changed.notify_all()

    def show_card(self, on: bool) -> None:
        """Show the test card, or take it away; raise `Refusal` (code `session_live`)."""
        with self._changed:
            if on and self._scheduler.live is not None:
                raise Refusal("session_live", "A session is armed or runs: no test card now.")
            self._scheduler.card = on
            self._changed.notify_all()

    def present(self, show: ShowRequest, picture_of: Callable[[int], Picture]) -> None:
        """Put a frame on the screen and return when the page has reported its paint.

        `picture_of` returns the picture of the frame with a given number. Shows take turns in the
        order of these calls. Raises `Refusal`: `display_failed` if the frame was not painted within
        `paint_s` of the request, `token_invalid` if the session ended. Raises `InputError` if the
        picture cannot be drawn. A frame that was not painted in time leaves the screen.
        """
        with self._changed:
            self._scheduler.join(show)
        try:
            show.screen = screen = self._wait(show, lambda: self._turn_of(show))
            number = self._scheduler.next_number()
            picture = picture_of(number)
            picture(screen.width_px, screen.height_px)  # Drawn while the frame before stays.
            self._wait(show, lambda: self._put(show, Frame(show.session_id, number, picture)))
            self._wait(show, lambda: show.painted_s is not None)
        except Refusal as refusal:
            if refusal.code == "display_failed" and show.session_id != NO_SESSION:
                self._alarm(show.session_id, _Trouble.PAINT, f"An image was not shown. {refusal}")
            raise
        finally:
            with self._changed:
                self._scheduler.leave(show)
                self._changed.notify_all()
        self._works(show.session_id)

    def probe(self) -> float:
        """Paint a black frame while no session is live; return the seconds until its report.

        Raises `Refusal` (code `display_failed`) if no page paints it in time.
        """
        show = ShowRequest(NO_SESSION, self._now_s())
        black = self.pictures.black()
        self.present(show, lambda number: black)
        if show.painted_s is None or show.announced_s is None:
            raise Refusal("display_failed", "The display did not report a paint.")
        return show.painted_s - show.announced_s

    def probed(self) -> DisplayStatus:
        """Return the status after a probe, if there can be one now."""
        if not self.status().fault:
            with suppress(Refusal):
                self.probe()
        return self.status()

    def status(self) -> DisplayStatus:
        """Return what is known about the screen now."""
        with self._changed:
            scheduler = self._scheduler
            page = scheduler.pages.showing
            return DisplayStatus(
                page=self.path,
                pages=len(scheduler.pages),
                fault=scheduler.pages.fault,
                screen=None if page is None else page.screen,
                round_trip_s=scheduler.round_trip_s,
                card=scheduler.card,
            )

    def close(self) -> None:
        """End the streams to the pages; a signal handler may call this."""
        self._closing = True

    # What the pages ask

    def stream(self, name: str = "") -> Iterator[tuple[str, Struct]]:
        """Yield (name, data) of events for one page until it goes away.

        The first event is `hello` with the page's number and key and the lane's name, or `full` if
        too many pages are open. The others are `truth`: what the page must show now, at each change
        and once a second. `name` is what the page calls itself at each connection.
        """
        with self._changed:
            page = self._scheduler.pages.add(name)
            self._changed.notify_all()
        if page is None:
            yield "full", Full()
            return
        try:
            yield "hello", Welcome(page=page.number, key=page.key, lane=self._lane_name)
            yield from self._truths(page)
        finally:
            self._leave(page.number)

    def leave(self, report: Mapping[str, object]) -> None:
        """Forget a page that says that it closes."""
        with self._changed:
            page = self._scheduler.pages.find(report.get("page"), report.get("key"))
        self._leave(page.number)

    def measured(self, report: Mapping[str, object]) -> None:
        """Take a page's report of its screen.

        Raises `Refusal` for one that cannot be used; then the display has a fault that says so.
        """
        with self._changed:
            page = self._scheduler.pages.find(report.get("page"), report.get("key"))
        try:
            screen, unfit = parse_screen(report), None
        except Refusal as refusal:
            screen, unfit = None, refusal
        with self._changed:
            page.screen, page.unfit = screen, str(unfit or "")
            self._changed.notify_all()
        self._watch()
        if unfit is not None:
            raise unfit

    def take(self, report: Mapping[str, object]) -> None:
        """Hand the screen to a page on which somebody has clicked.

        The operators are told if that page takes the screen of a session from another page.
        """
        with self._changed:
            page = self._scheduler.pages.find(report.get("page"), report.get("key"))
            live, taken = self._scheduler.live, self._scheduler.take(page)
            self._changed.notify_all()
        if taken:
            self._tell(
                live,
                "alarm",
                f"The display of session {live} has moved: somebody clicked on another page of "
                f"{self.path}. The page that showed the images before is black now. If that is "
                "wrong, click on it.",
            )
        self._watch()

    def painted(self, report: Mapping[str, object]) -> None:
        """Take a page's report that it has painted a frame: see `FrameScheduler`."""
        with self._changed:
            self._scheduler.report_painted(report, self._now_s())
            self._changed.notify_all()

    def pixels(self, session_id: int, number: int, width_px: int, height_px: int) -> bytes:
        """Return the pixels of the frame on the screen; raise `Refusal` for another one.

        A size that no page can have is refused with the code `screen_wrong`.
        """
        usable_screen(width_px, height_px)
        with self._changed:
            frame = self._scheduler.frame_on(session_id, number)
        return frame.draw(width_px, height_px)

    def card_pixels(self, width_px: int, height_px: int) -> bytes:
        """Return the pixels of the test card, with the milliseconds of this minute on it.

        A size that no page can have is refused with the code `screen_wrong`.
        """
        usable_screen(width_px, height_px)
        utc = self._clock.now().utc
        moment_ms = 1000 * utc.second + utc.microsecond // 1000
        return self.pictures.card(moment_ms)(width_px, height_px)

    def _truths(self, page: Page) -> Iterator[tuple[str, Struct]]:
        """Yield what the page must show, until a newer line of the same page replaces this one.

        A desk that was killed finds several lines of one page in its socket, in any order. Whoever
        listens at the replaced line connects again and gets the screen.
        """
        seen: Truth | None = None
        while not self._closing:
            with self._changed:
                self._changed.wait_for(
                    lambda: self._closing or self._scheduler.truth_for(page.number) != seen,  # noqa: B023
                    timeout=_SIGN_OF_LIFE_S,
                )
                if page not in self._scheduler.pages:
                    return
                seen = self._scheduler.truth_for(page.number)
            yield "truth", seen

    def _leave(self, number: int) -> None:
        with self._changed:
            self._scheduler.pages.remove(number)
            self._changed.notify_all()
        self._watch()

    # Waits

    def _turn_of(self, show: ShowRequest) -> PageScreen | None:
        page = self._scheduler.pages.showing
        if not self._scheduler.is_next(show) or self._scheduler.pages.fault or page is None:
            return None
        return page.screen

    def _put(self, show: ShowRequest, frame: Frame) -> bool:
        now_s = self._now_s()
        if self._scheduler.pages.fault or self._scheduler.dwell_left_s(now_s) > 0.0:
            return False
        self._scheduler.put(show, frame, now_s)
        self._changed.notify_all()
        return True

    def _wait(self, show: ShowRequest, look: Callable[[], T | None]) -> T:
        """Wait until `look` returns something true; it is called with the lock held."""
        give_up_s = show.requested_s + self._paint_s
        with self._changed:
            while True:
                if show.over:
                    raise Refusal("token_invalid", show.over)
                result = look()
                if result:
                    return result
                now_s = self._now_s()
                if now_s >= give_up_s:
                    raise Refusal("display_failed", self._why_not(show))
                dwell_s = self._scheduler.dwell_left_s(now_s)
                self._changed.wait(min(give_up_s - now_s, dwell_s or _LOOK_S, _LOOK_S))

    def _why_not(self, show: ShowRequest) -> str:
        fault = self._scheduler.pages.fault
        if fault:
            return fault
        if show.announced_s is None:
            return f"The images before this one took longer than {self._paint_s:g} s."
        return f"The display page did not paint the image within {self._paint_s:g} s."

    # What operators are told

    def _watch(self) -> None:
        """Tell that the display is lost while a session is live, and that it is back."""
        with self._changed:
            live, fault = self._scheduler.live, self._scheduler.pages.fault
        if live is not None and fault:
            self._alarm(live, _Trouble.PAGE, f"The display is lost. {fault}")
        elif live is not None and self._trouble is _Trouble.PAGE:
            self._works(live)

    def _alarm(self, session_id: int, trouble: _Trouble, text: str) -> None:
        """Raise an alarm, unless the same trouble has raised one."""
        if self._trouble is _Trouble.NONE:
            self._trouble = trouble
            self._tell(session_id, "alarm", text)

    def _works(self, session_id: int) -> None:
        if self._trouble is not _Trouble.NONE:
            self._trouble = _Trouble.NONE
            self._tell(session_id, "info", "The display works again.")

    def _now_s(self) -> float:
        return self._clock.now().monotonic_s
