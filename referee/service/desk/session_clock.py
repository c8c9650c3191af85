# SPDX-License-Identifier: Apache-2.0
"""The session clock: it ends each session at its deadline."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence

from referee.service.desk.logbook import Logbook
from referee.service.desk.session_steps import SessionSteps
from referee.service.desk.watched_thread import WatchedThread

# The clock reads the database at least this often; every session is longer.
_LOOK_S = 0.5
_CLOSE_S = 15.0

_log = logging.getLogger(__name__)


class SessionClock:
    """The thread `session-clock`: it ends each lane's session when the session's time is over.

    It reads the live sessions from the database each time, so a restart loses nothing.
    """

    def __init__(self, steps: Sequence[SessionSteps], logbook: Logbook) -> None:
        self._steps = steps
        self._logbook = logbook
        self._stopping = threading.Event()
        self._troubled: set[int] = set()
        self._thread = WatchedThread("session-clock", self._run, self._stopping, logbook.alarm)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """End the thread; sessions continue."""
        self._stopping.set()
        self._thread.join(_CLOSE_S)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._stopping.wait(min(self._look_after(steps) for steps in self._steps))

    def _look_after(self, steps: SessionSteps) -> float:
        """End the lane's session if its time is over; return the seconds until the next check."""
        lane = steps.lane.number
        try:
            left_s = steps.end_if_due()
        except Exception as error:
            # The disk fails or is full. The next check tries again.
            _log.exception("the clock could not look after lane %d", lane)
            if lane not in self._troubled:
                self._troubled.add(lane)
                self._logbook.alarm(f"The end of a session could not be recorded: {error}")
            return _LOOK_S
        self._troubled.discard(lane)
        return _LOOK_S if left_s is None else min(left_s, _LOOK_S)
