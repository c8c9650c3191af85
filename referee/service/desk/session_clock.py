# SPDX-License-Identifier: Apache-2.0
"""The session clock: it ends each session at its deadline."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from referee.core.states import remaining_s
from referee.service.desk.lane import Lane
from referee.service.desk.logbook import Logbook
from referee.service.desk.watched_thread import WatchedThread
from referee.service.setup.clock import Clock

# The clock reads the database at least this often.
_LOOK_S = 0.5
_CLOSE_S = 15.0

_log = logging.getLogger(__name__)


class SessionClock:
    """The thread `session-clock`: it ends each lane's session when the session's time is over.

    It reads the live sessions from the database each time, so a restart loses nothing.
    """

    def __init__(
        self, clock: Clock, lanes: Sequence[Lane], end: Callable[[int], None], logbook: Logbook
    ) -> None:
        self._clock = clock
        self._lanes = lanes
        self._end = end
        self._logbook = logbook
        self._changed = threading.Event()
        self._stopping = threading.Event()
        self._troubled: set[int] = set()
        self._thread = WatchedThread("session-clock", self._run, self._stopping, logbook.alarm)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def look_now(self) -> None:
        """Check at once, because a session has begun."""
        self._changed.set()

    def close(self) -> None:
        """End the thread; sessions continue."""
        self._stopping.set()
        self._changed.set()
        self._thread.join(_CLOSE_S)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._changed.clear()
            self._changed.wait(min(self._look_after(lane) for lane in self._lanes))

    def _look_after(self, lane: Lane) -> float:
        """End the lane's session if its time is over; return the seconds until the next check."""
        try:
            wait_s = self._end_if_due(lane)
        except Exception as error:
            # The disk fails or is full. The next check tries again.
            _log.exception("the clock could not look after lane %d", lane.number)
            if lane.number not in self._troubled:
                self._troubled.add(lane.number)
                self._logbook.alarm(f"The end of a session could not be recorded: {error}")
            return _LOOK_S
        self._troubled.discard(lane.number)
        return wait_s

    def _end_if_due(self, lane: Lane) -> float:
        live = lane.live()
        if live is None or live.facts.started is None:
            return _LOOK_S
        left = remaining_s(live.facts, self._clock.now())
        if left <= 0.0:
            self._end(live.session_id)
            return _LOOK_S
        return min(left, _LOOK_S)
