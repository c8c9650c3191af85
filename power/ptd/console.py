# SPDX-License-Identifier: Apache-2.0
"""The console of a session: lines for whoever reads them, and no wait for whoever does not."""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from contextlib import suppress

_MOST_LINES = 1000
# A line that is read is written in far less. So a client's next request finds it on the console.
_READ_S = 0.2


class Console:
    """A writer of lines to a descriptor, in a thread of its own; any thread may `say`.

    A pipe that nobody reads fills, and then each write waits. So `say` waits for its line once, and
    not again until all lines are out. Of many lines that wait the later ones are left out, and a
    line says how many.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lines: deque[str] = deque()
        self._changed = threading.Condition()
        self._stalled = self._closed = False
        self._left_out = 0
        self._thread = threading.Thread(target=self._run, name="ptd-console", daemon=True)
        self._thread.start()

    def say(self, text: str) -> None:
        """Write a line, or leave it out; a reader that is gone ends no measurement."""
        with self._changed:
            if len(self._lines) >= _MOST_LINES:
                self._left_out += 1
                return
            if self._left_out:
                self._lines.append(f"{self._left_out} lines are left out here: nobody read them")
                self._left_out = 0
            self._lines.append(text)
            self._changed.notify_all()
            if not self._stalled:
                self._stalled = not self._changed.wait_for(lambda: not self._lines, _READ_S)

    def close(self) -> None:
        """Write what waits, as far as somebody reads it soon."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(_READ_S)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._lines) or self._closed)
                if not self._lines:
                    return
                left = f"{self._lines[0]}\n".encode("utf-8", "backslashreplace")
            with suppress(OSError):
                while left:
                    left = left[os.write(self._descriptor, left) :]
            with self._changed:
                self._lines.popleft()
                if not self._lines:
                    self._stalled = False
                    self._changed.notify_all()


class ConsoleHandler(logging.Handler):
    """The program's own warnings, on a console."""

    def __init__(self, console: Console) -> None:
        super().__init__(logging.WARNING)
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        """Write a warning."""
        self._console.say(self.format(record))
