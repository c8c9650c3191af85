# SPDX-License-Identifier: Apache-2.0
"""The recording program's side: send lines to the program that shows them, and never wait for it.

A process of its own shows the recording, because its work must not delay a reading: two threads of
one Python process share one lock.
"""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from power.live.records import message_line

_log = logging.getLogger(__name__)

# At the end the last lines get this long to leave, and a picture in the terminal to be finished.
_LAST_LINES_S = 0.5
_LAST_PICTURE_S = 2.0
_LOOK_S = 0.02


class LiveFeed:
    """The lines on their way to a program that shows a recording. Any thread may send.

    A line that finds the pipe full is left out, and the next one says how many were. A program that
    has ended gets no more lines; a warning says so once. Nothing here raises or waits, but `close`
    waits a bounded time.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        """Send to the standard input of this process."""
        if process.stdin is None:
            raise ValueError("the process needs a pipe as its standard input")
        self._process = process
        self._pipe = process.stdin.fileno()
        os.set_blocking(self._pipe, False)
        self._lock = threading.Lock()
        self._begun = b""  # what is left of a line that is partly in the pipe
        self._ended = False
        self.left_out = 0

    def send(self, line: bytes) -> None:
        """Send a line, or leave it out."""
        with self._lock:
            self._send(line)

    def close(self, *, finish: bool = False) -> None:
        """Let the program know that nothing more comes; with `finish` wait until it has ended.

        A program that does not read, or that does not end in time, is killed.
        """
        deadline_s = time.monotonic() + _LAST_LINES_S
        with self._lock:
            while not (read := self._flush()) and time.monotonic() < deadline_s:
                time.sleep(_LOOK_S)
            self._ended = True
            if not read:
                self._process.kill()
            if self._process.stdin is not None:
                with suppress(OSError):
                    self._process.stdin.close()
        if finish:
            try:
                self._process.wait(_LAST_PICTURE_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()

    def _send(self, line: bytes) -> None:
        if self._ended:
            return
        if not self._flush():
            self.left_out += 1
            return
        if self.left_out:
            word = "line was" if self.left_out == 1 else "lines were"
            line = message_line(f"{self.left_out} {word} left out here; the log has them") + line
            self.left_out = 0
        self._begun = line
        self._flush()

    def _flush(self) -> bool:
        """Send what is left of the last line; return whether all of it is in the pipe."""
        try:
            while self._begun and not self._ended:
                self._begun = self._begun[os.write(self._pipe, self._begun) :]
        except BlockingIOError:
            return False
        except OSError as error:
            self._ended = True
            _log.warning("nothing more is shown live (%s); the recording goes on", error)
        return True


def start_feed(arguments: Sequence[str], keep_open: Sequence[int] = ()) -> LiveFeed:
    """Start the program that shows a recording (`power.live`), and return the feed to it.

    `keep_open` lists descriptors that it inherits. It is no member of this program's process group,
    so Ctrl-C does not end it before the last line.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "power.live", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        pass_fds=tuple(keep_open),
        start_new_session=True,
    )
    return LiveFeed(process)
