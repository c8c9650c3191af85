# SPDX-License-Identifier: Apache-2.0
"""The open display pages of a screen: the newest shows, the others stay black."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field

from referee.errors import Refusal
from referee.service.display.screens import PageScreen

PAGES_MOST = 4
"""How many display pages may be open at once, since each holds a thread of the server."""
_NO_PAGE = "No display page is open: open /display of the console on the second monitor."
_MEASURING = "The display page is measuring its screen."


@dataclass
class Page:
    """One open page; `key` goes with each of its reports, so that no other page can make them.

    `screen` is None until the page has reported one that can show frames; `unfit` says why the
    last reported one cannot.
    """

    number: int
    key: str = field(default_factory=lambda: secrets.token_urlsafe(16))
    screen: PageScreen | None = None
    unfit: str = ""


class Pages:
    """The open pages. Not safe to use from several threads."""

    def __init__(self) -> None:
        self._open: dict[int, Page] = {}
        self._last = 0

    def __len__(self) -> int:
        return len(self._open)

    @property
    def newest(self) -> Page | None:
        """Return the page that shows, or None."""
        return self._open[max(self._open)] if self._open else None

    @property
    def fault(self) -> str:
        """Return a sentence that says why no page can show a frame now, or ''."""
        page = self.newest
        if page is None:
            return _NO_PAGE
        return page.unfit or _MEASURING if page.screen is None else page.screen.fault

    def add(self) -> Page | None:
        """Add a page and return it, or None if too many are open."""
        if len(self._open) >= PAGES_MOST:
            return None
        self._last += 1
        self._open[self._last] = page = Page(self._last)
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
