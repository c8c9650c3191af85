# SPDX-License-Identifier: Apache-2.0
"""Progress of long work on the terminal: one line on standard error, silent in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_bar", "status_line"]

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


def status_line(text: str) -> None:
    """Write a line over the one before; an empty text clears it. Nothing where nobody watches."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
