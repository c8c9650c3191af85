# SPDX-License-Identifier: Apache-2.0
"""The open display pages of a screen: one shows, the others stay black."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from referee.errors import Refusal
from referee.service.display.screens import PageScreen
from referee.service.setup.lane_words import display_path

PAGES_MOST = 4
"""How many display pages may be open at once, since each holds a thread of the server."""
_NO_PAGE = "No display page is open: open {} of the console on the second monitor."
_GONE = (
    "The display page that showed the images is gone: open {} of the console on its monitor again."
)
_MEASURING = "The display page is measuring its screen."


@dataclass
class Page:
    """One open page.

    `name` is what it calls itself; `key` goes with each of its reports, so that no other page can
    make them. `screen` is None until the page has reported one that can show frames; `unfit` says
    why the last reported one cannot.
    """

    number: int
    name: str = ""
    key: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    screen: PageScreen | None = None
    unfit: str = ""

    @property
    def fault(self) -> str:
        """Return a sentence that says why this page can show no frame now, or ''."""
        return self.unfit or _MEASURING if self.screen is None else self.screen.fault


class Pages:
    """The open pages of the display with this path. Not safe to use from several threads.

    The newest page shows. While the screen is held, one page keeps it, whatever page opens later:
    nobody takes the screen of a running session by opening an address. If that page has gone, the
    page that opens next gets the screen, and none that was open before.
    """

    def __init__(self, path: str = display_path(1)) -> None:
        self._path = path
        self._open: dict[int, Page] = {}
        self._last = 0
        self._held: int | None = None  # The page that keeps the screen; None: no page is held.
        self._waiting: set[str] = set()  # The names of pages that were there beside it.

    def __len__(self) -> int:
        return len(self._open)

    def __contains__(self, page: Page) -> bool:
        return self._open.get(page.number) is page

    @property
    def showing(self) -> Page | None:
        """Return the page that shows, or None."""
        newest = max(self._open, default=0)
        return self._open.get(newest if self._held is None else self._held)

    @property
    def fault(self) -> str:
        """Return a sentence that says why no page can show a frame now, or ''."""
        page = self.showing
        if page is None:
            return (_GONE if self._open else _NO_PAGE).format(self._path)
        return page.fault

    def hold(self) -> None:
        """Keep the screen with the page that shows now."""
        self._keep(self.showing)

    def take(self, page: Page) -> bool:
        """Hand the screen to a page; tell whether another page had it."""
        before = self.showing
        self._keep(page)
        return before is not None and before is not page

    def _keep(self, page: Page | None) -> None:
        self._held = 0 if page is None else page.number
        self._waiting = {other.name for other in self._open.values() if other is not page}

    def release(self) -> None:
        """Let the newest page show again."""
        self._held = None
        self._waiting = set()

    def add(self, name: str = "") -> Page | None:
        """Add a page and return it, or None if too many are open.

        `name` is what the page calls itself whenever it connects: a page that connects again is the
        same page, also before the desk notices that its old line is dead. So it keeps its screen.
        """
        before = next((other for other in self._open.values() if name and other.name == name), None)
        if before is not None:
            self.remove(before.number)
        if len(self._open) >= PAGES_MOST:
            return None
        self._last += 1
        page = Page(self._last, name)
        if before is not None:
            page.screen, page.unfit = before.screen, before.unfit
        self._open[page.number] = page
        if self._held in self._open:
            self._waiting.add(name)
        elif self._held is not None and (not name or name not in self._waiting):
            self._held = page.number
        return page

    def remove(self, number: int) -> None:
        """Remove a page; a repeat changes nothing."""
        self._open.pop(number, None)

    def find(self, number: object, key: object) -> Page:
        """Return the open page with this number and key; raise `Refusal` (code `page_unknown`)."""
        page = self._open.get(number) if isinstance(number, int) else None
        given = key if isinstance(key, str) and key.isascii() else ""
        if page is None or not secrets.compare_digest(page.key, given):
            raise Refusal("page_unknown", "This display page is not connected: it connects again.")
        return page
