# SPDX-License-Identifier: Apache-2.0
"""How many detections a session may have, so that a flood of them cannot fill a scorer's memory."""

from __future__ import annotations

from referee.errors import Refusal
from referee.store.answers import count_stored_detections
from referee.store.database import Connection

MAX_DETECTIONS = 10_000_000
"""Most detections of a session, late ones too: 500 for each of 20,000 images."""

# Counting takes a look at every answer of the session: only after so many more of one's own.
_COUNT_AFTER = 100_000


class DetectionLimit:
    """Refuse answers beyond the limit; belongs to the thread that writes at the time.

    The count is exact for one process. Of what other processes store it learns after 100,000
    detections of its own, so several may go beyond the limit by that much each.
    """

    def __init__(self) -> None:
        # Session → detections when last counted, and those stored here since then.
        self._counted: dict[int, tuple[int, int]] = {}

    def require(self, connection: Connection, session_id: int, rows: int) -> None:
        """Take note of rows that are about to be stored in the present transaction.

        Raises `Refusal` with code `too_many_rows`. A transaction that is undone counts all the
        same until the next count.
        """
        counted, since = self._counted.get(session_id, (0, _COUNT_AFTER))
        # Nothing is ever deleted, so a session that was full once need not be counted again.
        if counted + rows <= MAX_DETECTIONS and (
            since + rows > _COUNT_AFTER or counted + since + rows > MAX_DETECTIONS
        ):
            counted, since = count_stored_detections(connection, session_id), 0
        if counted + rows > MAX_DETECTIONS:
            self._counted[session_id] = counted, since
            raise Refusal(
                "too_many_rows",
                f"Nothing was stored: the session has {counted} detections, and at most "
                f"{MAX_DETECTIONS} are taken.",
            )
        self._counted[session_id] = counted, since + rows
