# SPDX-License-Identifier: Apache-2.0
"""What goes wrong in the threads of the code under test, so that a wait for them can end."""

from __future__ import annotations

import linecache
import logging
import sqlite3
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path

from power.errors import MeterError
from referee.errors import RefereeError

_TESTS = Path(__file__).resolve().parents[1]
# The disk, the meter and the network may fail, and people may be wrong: the code goes on then.
_EXPECTED = (RefereeError, MeterError, OSError, sqlite3.Error)
_SHOWN = 5


class Troubles(logging.Handler):
    """The newest warnings and errors of a test, and the first mistake of the code under test.

    A mistake is a logged exception that the code does not expect, and that no test raised. A thread
    that died of it is started again and dies again, so nobody should wait for its work.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._lines: list[str] = []
        self._mistake = ""

    def forget(self) -> None:
        """Begin anew, for the next test."""
        self._lines.clear()
        self._mistake = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Note a line of the log."""
        error = record.exc_info[1] if record.exc_info else None
        line = record.getMessage() + (f": {error!r}" if error is not None else "")
        self._lines.append(line)
        if not self._mistake and error is not None and _is_mistake(error):
            frame = traceback.extract_tb(error.__traceback__)[-1]
            self._mistake = f"{line} ({Path(frame.filename).name}:{frame.lineno})"

    def require_none(self) -> None:
        """Raise AssertionError with the first mistake, if there is one."""
        if self._mistake:
            raise AssertionError(f"nothing more to wait for: {self._mistake}")

    def report(self) -> str:
        """Return the newest lines of the log, and where each thread stands."""
        return "\n".join(["The log:", *self._lines[-_SHOWN:], "The threads:", *_threads()])


TROUBLES = Troubles()
"""The troubles of the test that runs in this process; tests/conftest.py clears them."""


def source_of(condition: Callable[[], object]) -> str:
    """Return the line where a condition begins, with its place."""
    code = getattr(condition, "__code__", None)
    if code is None:
        return repr(condition)
    line = linecache.getline(code.co_filename, code.co_firstlineno).strip()
    return f"{Path(code.co_filename).name}:{code.co_firstlineno}: {line}"


def _is_mistake(error: BaseException) -> bool:
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, _EXPECTED) or not frames:
        return False
    return not Path(frames[-1].filename).resolve().is_relative_to(_TESTS)


def _threads() -> list[str]:
    frames = sys._current_frames()
    found = []
    for thread in threading.enumerate():
        frame = frames.get(thread.ident or 0)
        if frame is not None and thread is not threading.current_thread():
            places = [it for it in traceback.extract_stack(frame) if "threading.py" not in it[0]]
            last = places[-1] if places else None
            at = "" if last is None else f"{Path(last.filename).name}:{last.lineno} {last.name}"
            found.append(f"{thread.name}: {at}")
    return found
