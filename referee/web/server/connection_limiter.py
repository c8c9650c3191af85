# SPDX-License-Identifier: Apache-2.0
"""The limits on connections: each address has a share, and those that wait make room."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

from referee.core.open_files import SHARE

MOST_OF_ADDRESS = SHARE
"""The most connections of one address with one worker; honest clients have used up to 32."""

IDLE_FIRST_S = 5.0
"""A connection that is kept after a request makes room unless others have waited so much longer."""


class LimitedConnection(Protocol):
    """A connection that knows for what it waits and since when, and can end that.

    It is `idle` while it waits for a request, and `kept` if it has had one before. It is
    `receiving` while it takes what its client sends after the head.
    """

    idle: bool
    kept: bool
    receiving: bool
    waits_since_s: float

    def send_away(self) -> None:
        """End the wait."""


G = TypeVar("G", bound=LimitedConnection)


class ConnectionLimiter(Generic[G]):
    """The connections of one worker, by address.

    If a new connection finds no room, the one that has waited for the longest time is sent away. It
    waits for its first request, or for the rest of one, or is kept for another request; a kept one
    counts as if it had waited `IDLE_FIRST_S` longer. So a client that has just connected does not
    make room for one that has been sending for a while. It is one of the same address if that
    address has its full share. Otherwise it is one of the address with the most connections.
    Requests that are served stay.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._count = 0
        self._of_address: dict[str, set[G]] = {}

    def enter(self, address: str, connection: G) -> bool:
        """Add a new connection; return False if no connection can make room for it."""
        if len(self._of_address.get(address, ())) >= MOST_OF_ADDRESS:
            if not self._make_room(address):
                return False
        elif self._count >= self._most and not self._make_room_anywhere():
            return False
        self._of_address.setdefault(address, set()).add(connection)
        self._count += 1
        return True

    def leave(self, address: str, connection: G) -> None:
        """Remove a connection; one that was sent away has already been removed."""
        connections = self._of_address.get(address, set())
        if connection in connections:
            connections.remove(connection)
            self._count -= 1
            if not connections:
                del self._of_address[address]

    def send_idle_away(self) -> None:
        """Send away all connections that wait for a request."""
        for connections in self._of_address.values():
            for connection in connections:
                if connection.idle:
                    connection.send_away()

    def _make_room_anywhere(self) -> bool:
        crowded = sorted(self._of_address, key=lambda a: len(self._of_address[a]), reverse=True)
        return any(self._make_room(address) for address in crowded)

    def _make_room(self, address: str) -> bool:
        connections = self._of_address[address]
        waiting = [one for one in connections if one.idle or one.receiving]
        if not waiting:
            return False
        oldest = min(waiting, key=_order_of_leaving)
        self.leave(address, oldest)
        oldest.send_away()
        return True


def _order_of_leaving(connection: LimitedConnection) -> float:
    goes_first = connection.idle and connection.kept
    return connection.waits_since_s + (0.0 if goes_first else IDLE_FIRST_S)
