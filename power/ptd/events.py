# SPDX-License-Identifier: Apache-2.0
"""What a session tells: lines on the console for people and checkers, and lines of the log file.

A console line is `TIME: TEXT`, or `TIME: ERROR: TEXT`. `compliance/check.py` of power-dev reads it.
The log has `Time,TIME,Watts,…,Mark,MARK` for each sample, and `Time,TIME,ERROR,TEXT` for the rest.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from power.append_file import AppendFile
from power.ptd.samples import PtdSample, log_line, stamp


class Events:
    """The console and the log of one session; several threads may use it.

    A disk that is full later ends nothing: the lines wait in memory, and the console says so.
    """

    def __init__(
        self, say: Callable[[str], None], now: Callable[[], datetime], path: Path | None
    ) -> None:
        """Open the log for appending; raise OSError if that is not possible."""
        self._say = say
        self._now = now
        self._file: AppendFile | None = None
        self._trouble = ""
        # An event and its line in the log belong together, and lines stay in order.
        self._lock = threading.RLock()
        if path is not None:
            path.open("ab").close()
            self._file = AppendFile(path)

    def notice(self, text: str) -> None:
        """Tell what has happened."""
        self._tell("NOTICE", "", text)

    def warn(self, text: str) -> None:
        """Tell what makes samples less certain."""
        self._tell("WARNING", "WARNING: ", text)

    def fail(self, text: str) -> None:
        """Tell what makes samples worthless."""
        self._tell("ERROR", "ERROR: ", text)

    def sample(self, sample: PtdSample) -> None:
        """Write a sample to the log, or to the console where there is no log."""
        line = log_line(sample)
        with self._lock:
            if self._file is None:
                self._say(line.removeprefix("Time,"))
            else:
                self._write(line)

    def asked(self, request: str) -> None:
        """Tell what a client asks."""
        self.notice(f"Request from client: {request[:80]!a}")

    def answered(self, lines: Sequence[str]) -> None:
        """Tell an answer, all of it on the console: the log has the samples already.

        The server of power-dev keeps the console's text, but reads it while the last 8 KiB are in
        a buffer of its own. Its checker finds the ranging phase because of these lines.
        """
        with self._lock:
            self.notice(f"Response to client sent: {lines[0]}")
            for line in lines[1:]:
                self._say(line)

    def close(self) -> None:
        """Write what waits, as far as the disk takes it, and close the log."""
        with self._lock:
            if self._file is not None:
                self._file.close()

    def _tell(self, kind: str, prefix: str, text: str) -> None:
        with self._lock:
            at = stamp(self._now())
            self._say(f"{at}: {prefix}{text}")
            self._write(f"Time,{at},{kind},{text}")

    def _write(self, line: str) -> None:
        if self._file is None:
            return
        self._file.append(f"{line}\n".encode())
        trouble, before = self._file.trouble, self._trouble
        self._trouble = trouble
        if trouble and not before:
            self._say(
                f"{stamp(self._now())}: ERROR: the log cannot be written ({trouble}); its lines "
                "wait in memory. Make room on the disk"
            )
