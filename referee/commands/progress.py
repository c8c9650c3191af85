# SPDX-License-Identifier: Apache-2.0
"""A progress bar for people, on standard error."""

from __future__ import annotations

import sys
from typing import TextIO

__all__ = ["ProgressBar"]

_WIDTH = 40


class ProgressBar:
    """Draw how much of a long job is done; where nobody watches (no terminal), draw nothing."""

    def __init__(self, label: str, stream: TextIO | None = None) -> None:
        self._label = label
        self._stream = sys.stderr if stream is None else stream
        self._shown = -1

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` parts are done."""
        filled = _WIDTH * done // total
        if not self._stream.isatty() or filled == self._shown:
            return
        self._shown = filled
        bar = "#" * filled + "." * (_WIDTH - filled)
        end = "\n" if done == total else ""
        self._stream.write(f"\r[{bar}] {done}/{total} {self._label}{end}")
        self._stream.flush()
