# SPDX-License-Identifier: Apache-2.0
"""A cache of sessions for one process, which reads a session again after each new event."""

from __future__ import annotations

from referee.store.database import Connection, Database
from referee.store.sessions import SessionRecord, load_session, session_version


class SessionCache:
    """A cache of parsed sessions; safe to use from many threads.

    Each look asks the database, in one small query, whether there is a newer event or a scoring
    run. So the result is always up to date.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[int, tuple[tuple[int, int], SessionRecord]] = {}

    def get(self, session_id: int, connection: Connection | None = None) -> SessionRecord:
        """Return the present session; raise `Refusal` (code `session_unknown`).

        A caller inside a transaction gives its `connection` to read the session within it.
        """
        connection = connection or self._database.connection
        # Read the version first: an event between the two reads makes the next look read again.
        version = session_version(connection, session_id)
        known = self._known.get(session_id)
        if known is not None and known[0] == version:
            return known[1]
        session = load_session(connection, session_id)
        self._known[session_id] = (version, session)
        return session
