# SPDX-License-Identifier: Apache-2.0
"""The rules of a display: which frame is on, which request is next, and which report counts.

All times are seconds of the monotonic clock, and callers pass them in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from msgspec import UNSET, Struct, UnsetType

from referee.errors import Refusal
from referee.service.display.pages import Page, Pages
from referee.service.display.screens import PageScreen
from referee.service.setup.lane_words import display_path

WAITING_MOST = 16
"""How many requests may wait for the display, since each holds a thread of the desk."""
NO_SESSION = 0
"""The session number of the frames with which the referee itself tests the display."""
_STEP_MOST_MS = 60_000  # No step of a page lasts longer, since its request has failed by then.

DrawFrame = Callable[[int, int], bytes]
"""A function that returns a frame's pixels for a screen of this width and height."""


@dataclass(frozen=True)
class Frame:
    """One picture on the screen; `number` is new each time, and its last bit the frame's parity."""

    session_id: int
    number: int
    draw: DrawFrame = field(compare=False)


@dataclass
class ShowRequest:
    """One request for a frame: who asked, since when, and what has happened to it so far.

    `over` says why the show can no longer happen, for example that its session has ended.
    """

    session_id: int
    requested_s: float
    screen: PageScreen | None = None
    frame: Frame | None = None
    announced_s: float | None = None
    fetched_s: float | None = None
    decoded_s: float | None = None
    painted_s: float | None = None
    over: str = ""


class Truth(Struct, frozen=True, kw_only=True):
    """What a page must show now: its `mode`, and the frame if there is one.

    `live` tells whether a session is armed or runs: then the page that shows has no word of its
    own. But any other has to say that it waits for a click.
    """

    mode: str
    live: bool
    session: int | UnsetType = UNSET
    frame: int | UnsetType = UNSET


class FrameScheduler:
    """A screen: its open pages, the frame on it, and the requests in their order of arrival.

    `dwell_s` is how long a painted frame stays before another may replace it. Not safe to use from
    several threads.
    """

    def __init__(self, dwell_s: float, last_frame: int = 0, path: str = display_path(1)) -> None:
        self.pages = Pages(path)
        self.card = False
        self.live: int | None = None
        self._dwell_s = dwell_s
        self._last_frame = last_frame
        self._shows: deque[ShowRequest] = deque()
        self._on: ShowRequest | None = None
        self.round_trip_s: float | None = None

    def expect(self, session_id: int) -> None:
        """Make the screen black and ready for a session; the test card goes.

        The page that shows now keeps the screen until the session's end (see `Pages` and `take`).
        """
        if self.live != session_id:
            self.clear("Another session has begun.")
            self.live = session_id
            self.pages.hold()

    def take(self, page: Page) -> bool:
        """Hand the screen to a page on which somebody has clicked.

        Tell whether a session is live and another page had its screen: the operators must know.
        """
        return self.pages.take(page) and self.live is not None

    def clear(self, why: str) -> None:
        """Make the screen black, and end every show that waits."""
        self.card = False
        self.live = None
        self._on = None
        self.pages.release()
        for show in self._shows:
            show.over = show.over or why

    def join(self, show: ShowRequest) -> None:
        """Let a show wait for its turn.

        Raises `Refusal`, code `display_failed` if too many wait, `token_invalid` for a session that
        is not expected.
        """
        if self.live not in (None, show.session_id) or (self.live is None and show.session_id):
            raise Refusal("token_invalid", "The display expects no images of this session.")
        if len(self._shows) >= WAITING_MOST:
            raise Refusal(
                "display_failed",
                f"{WAITING_MOST} images wait for the display already: ask for one at a time.",
            )
        self._shows.append(show)

    def is_next(self, show: ShowRequest) -> bool:
        """Tell whether it is the show's turn."""
        return bool(self._shows) and self._shows[0] is show

    def next_number(self) -> int:
        """Return the number of the next frame."""
        return self._last_frame + 1

    def dwell_left_s(self, now_s: float) -> float:
        """Return how much longer the frame on the screen has to stay."""
        if self._on is None or self._on.painted_s is None:
            return 0.0
        return max(0.0, self._on.painted_s + self._dwell_s - now_s)

    def put(self, show: ShowRequest, frame: Frame, now_s: float) -> None:
        """Put a show's frame on the screen: from now on pages are told to paint it."""
        self._last_frame = frame.number
        show.frame, show.announced_s = frame, now_s
        self._on = show

    def leave(self, show: ShowRequest) -> None:
        """Forget a show that has ended.

        Nothing is left on the screen after one that failed: neither its own frame nor that of an
        earlier request. Only the frame of another request that is still on its way stays.
        """
        if show in self._shows:
            self._shows.remove(show)
        failed = show.painted_s is None or show.session_id == NO_SESSION
        if failed and self._on not in self._shows:
            self._on = None

    def frame_on(self, session_id: int, number: int) -> Frame:
        """Return the frame on the screen; raise `Refusal` (code `frame_old`) for any other."""
        frame = None if self._on is None else self._on.frame
        if frame is None or (frame.session_id, frame.number) != (session_id, number):
            raise Refusal(
                "frame_old", f"Frame {number} of session {session_id} is not on the screen now."
            )
        return frame

    def report_painted(self, report: Mapping[str, object], now_s: float) -> None:
        """Take a page's report that it has painted a frame; a repeat changes nothing.

        `fetch_ms` and `decode_ms` are how long that took, and `paint_ms` the time from then to the
        second animation frame.
        Raises `Refusal`: `page_unknown`, `page_old` for a page that does not show, `frame_old` for
        a frame that is not on the screen.
        """
        page = self.pages.find(report.get("page"), report.get("key"))
        if page is not self.pages.showing:
            raise Refusal("page_old", "Another display page shows the images.")
        self.frame_on(_whole(report.get("session")), _whole(report.get("frame")))
        show = self._on
        if show is None or show.painted_s is not None or self.pages.fault:
            return
        show.painted_s = now_s
        announced_s = show.requested_s if show.announced_s is None else show.announced_s
        paint_s, decode_s = (_seconds(report.get(name)) for name in ("paint_ms", "decode_ms"))
        # The page's clock is another one, so its durations are counted back from the report.
        show.decoded_s = max(announced_s, now_s - paint_s)
        show.fetched_s = max(announced_s, now_s - paint_s - decode_s)
        self.round_trip_s = now_s - announced_s

    def truth_for(self, number: int) -> Truth:
        """Return what a page must show now."""
        live, showing = self.live is not None, self.pages.showing
        if showing is None or showing.number != number:
            return Truth(mode="waiting" if live else "other", live=False)
        if self._on is not None and self._on.frame is not None:
            frame = self._on.frame
            return Truth(mode="frame", live=live, session=frame.session_id, frame=frame.number)
        return Truth(mode="card" if self.card else "black", live=live)


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def _seconds(value: object) -> float:
    """Return milliseconds from a report in seconds; anything but a sane number counts as 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0.0
    return min(value, _STEP_MOST_MS) / 1000 if value >= 0 else 0.0  # NaN is not: it counts as 0.
