# SPDX-License-Identifier: Apache-2.0
"""A thread that cannot die silently: its death is reported, and its work is restarted."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

_PAUSE_FIRST_S = 0.2
_PAUSE_MOST_S = 5.0
_STEADY_S = 30.0

_log = logging.getLogger(__name__)


class WatchedThread:
    """A thread that restarts its work when the work fails, until `stopping` is set.

    `run` must continue until `stopping` is set. If it raises or returns earlier, `tell` gets a
    sentence for the operators, and `run` is called again after a pause. The pause doubles from
    0.2 s to 5 s while failures follow each other. An error in `tell` is only logged.
    """

    def __init__(
        self,
        name: str,
        run: Callable[[], object],
        stopping: threading.Event,
        tell: Callable[[str], object],
    ) -> None:
        self._run_once = run
        self._stopping = stopping
        self._tell = tell
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def is_alive(self) -> bool:
        """Tell whether the thread was started and has not ended."""
        return self._thread.is_alive()

    def join(self, timeout_s: float) -> None:
        """Wait for the end of the thread, if it was started; the caller sets `stopping` first."""
        if self._thread.is_alive():
            self._thread.join(timeout_s)

    def _run(self) -> None:
        pause_s = _PAUSE_FIRST_S
        while not self._stopping.is_set():
            reason = "it ended without an error"
            begun_s = time.monotonic()
            try:
                self._run_once()
            except BaseException as error:  # noqa: B036
                # SystemExit would also end the thread silently.
                _log.exception("the thread '%s' died", self._thread.name)
                reason = f"{error!r}"
            if self._stopping.is_set():
                return
            self._tell_death(reason)
            if time.monotonic() - begun_s > _STEADY_S:
                pause_s = _PAUSE_FIRST_S
            self._stopping.wait(pause_s)
            pause_s = min(2 * pause_s, _PAUSE_MOST_S)

    def _tell_death(self, reason: str) -> None:
        try:
            self._tell(
                f"The desk's thread '{self._thread.name}' died ({reason}). The desk restarts it "
                "automatically. Keep logs/desk.log for the programmers."
            )
        except Exception:
            _log.exception("the death of the thread '%s' could not be told", self._thread.name)
