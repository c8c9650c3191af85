# SPDX-License-Identifier: Apache-2.0
"""Send the board to every open page: computed once, waited for by many."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["Broadcast"]

# The page's clock runs by itself between boards, so twice a second is smooth.
_INTERVAL_S = 0.5

_log = logging.getLogger(__name__)


class Broadcast:
    """Own the thread `board`, which publishes a board twice a second while somebody looks.

    `viewers_most` bounds the pages that may be open at a time, since each occupies a thread.
    """

    def __init__(self, compute: Callable[[], dict[str, Any]], viewers_most: int) -> None:
        self._compute = compute
        self._viewers_most = viewers_most
        self._viewers = 0
        self._changed = threading.Condition()
        self._number = 0
        self._text = ""
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="board", daemon=True)

    def start(self) -> None:
        """Begin to publish."""
        self._thread.start()

    def close(self) -> None:
        """End the thread and every open stream."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def publish_now(self) -> None:
        """Publish without waiting for the next turn, after an operator's action."""
        self._publish()

    def join(self) -> bool:
        """Take a viewer's place; False when all are taken. Every True wants one `stream`."""
        with self._changed:
            if self._viewers >= self._viewers_most:
                return False
            self._viewers += 1
            self._changed.notify_all()
            return True

    def stream(self) -> Iterator[str]:
        """Yield server-sent events until the page goes away, for a viewer that has joined."""
        seen = -1
        try:
            while True:
                with self._changed:
                    self._changed.wait_for(
                        lambda: self._stopping or self._number != seen, timeout=5.0  # noqa: B023
                    )
                    if self._stopping:
                        return
                    number, text = self._number, self._text
                if number == seen or not text:
                    yield ": still here\n\n"
                else:
                    yield f"id: {number}\nevent: board\ndata: {text}\n\n"
                seen = number
        finally:
            with self._changed:
                self._viewers -= 1

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._stopping or self._viewers > 0)
                if self._stopping:
                    return
            self._publish()
            with self._changed:
                self._changed.wait_for(lambda: self._stopping, timeout=_INTERVAL_S)

    def _publish(self) -> None:
        try:
            text = json.dumps(self._compute(), allow_nan=False)
        except Exception:
            # The pages go on showing the last board, and say so by its age.
            _log.exception("the board could not be computed")
            return
        with self._changed:
            self._number += 1
            self._text = text
            self._changed.notify_all()
