# SPDX-License-Identifier: Apache-2.0
"""Progress of long work on the terminal: one line on standard error, silent in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_WIDTH = 30
_SHOW_AFTER_S = 0.5
_EVERY_S = 0.1


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function of (done, total) that draws a bar for work of more than half a second."""
    begun = drawn = time.monotonic()
    shown = False

    def draw(done: int, total: int) -> None:
        nonlocal drawn, shown
        now = time.monotonic()
        if now - begun < _SHOW_AFTER_S or (now - drawn < _EVERY_S and done < total):
            return
        drawn, shown = now, True
        filled = _WIDTH * done // max(total, 1)
        status_line(f"[{'#' * filled}{'.' * (_WIDTH - filled)}] {done} of {total} {what}")

    try:
        yield draw
    finally:
        if shown:
            status_line("")


class StatusLine:
    """Show a text that changes often: over and over on a terminal, now and then in a log."""

    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self._due_s = 0.0

    def show(self, text: str) -> None:
        """Show the newest text."""
        if sys.stderr.isatty():
            status_line(text)
        elif time.monotonic() >= self._due_s:
            self._due_s = time.monotonic() + self._every_s
            print(text, file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Leave the terminal's line to what comes next."""
        status_line("")


def status_line(text: str) -> None:
    """Write a line over the one before; an empty text clears it. Nothing where nobody watches."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
