# SPDX-License-Identifier: Apache-2.0
"""Progress of long work: drawn on standard error when that is a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SHOW_AFTER_S = 0.5


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function of (done, total) that draws a progress bar.

    The bar appears after half a second. Its last state stays on the terminal. Nothing goes to a
    file or a pipe.
    """
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    # Nobody sees the bar of a program that another one has started, so it does not load tqdm.
    from power.commands.progress import Bar

    with Bar(desc=what, unit="", delay=_SHOW_AFTER_S, file=sys.stderr) as bar:

        def draw(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield draw


@contextmanager
def progress_told(what: str, every_s: float = 5.0) -> Iterator[Callable[[int, int], None]]:
    """Yield a function as `progress_bar` does; a file or a pipe gets a line every `every_s`.

    So nobody takes a program for dead that starts in the background.
    """
    if sys.stderr.isatty():
        with progress_bar(what) as draw:
            yield draw
        return
    due_s = time.monotonic() + every_s

    def tell(done: int, total: int) -> None:
        nonlocal due_s
        if time.monotonic() >= due_s:
            due_s = time.monotonic() + every_s
            print(f"{what}: {done} of {total}", file=sys.stderr, flush=True)

    yield tell


class StatusLine:
    """A text that changes often.

    On a terminal each text overwrites the one before. Elsewhere one line is printed every
    `every_s` seconds.
    """

    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self._due_s = 0.0

    def show(self, text: str) -> None:
        """Show a new text."""
        if sys.stderr.isatty():
            _overwrite(text)
        elif time.monotonic() >= self._due_s:
            self._due_s = time.monotonic() + self._every_s
            print(text, file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Clear the terminal's line before other output."""
        if sys.stderr.isatty():
            _overwrite("")


def _overwrite(text: str) -> None:
    sys.stderr.write(f"\r\x1b[K{text}")
    sys.stderr.flush()
