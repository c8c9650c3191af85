# SPDX-License-Identifier: Apache-2.0
"""Sessions as one process last read them, read again whenever something has happened to them."""

from __future__ import annotations

from referee.store.database import Connection, Database
from referee.store.sessions import SessionRecord, load_session, session_version


class SessionCache:
    """Save the parsing of a session's rows at each request; safe to use from many threads.

    The database stays the truth: each look asks it, in one small query, whether a newer event or
    a scoring run exists.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[int, tuple[tuple[int, int], SessionRecord]] = {}

    def get(self, session_id: int, connection: Connection | None = None) -> SessionRecord:
        """Return the session as it is now; raises `Refusal` with code `session_unknown`.

        `connection` is one that is in a transaction, where the session is wanted as of that.
        """
        connection = connection or self._database.connection
        # The version is read first: an event between the two reads makes the next look read again.
        version = session_version(connection, session_id)
        known = self._known.get(session_id)
        if known is not None and known[0] == version:
            return known[1]
        session = load_session(connection, session_id)
        self._known[session_id] = (version, session)
        return session
