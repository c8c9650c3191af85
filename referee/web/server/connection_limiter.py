# SPDX-License-Identifier: Apache-2.0
"""The limits on connections: each address has a share, and those that wait make room."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

from referee.core.open_files import SHARE

MOST_OF_ADDRESS = SHARE
"""The most connections of one address with one worker; honest clients have used up to 32."""

SENDER_UNKNOWN = ""
"""The address of a connection before its head has come, where a proxy speaks for many senders."""

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

    def cut_off(self) -> None:
        """End the connection whatever it does."""


G = TypeVar("G", bound=LimitedConnection)


class ConnectionLimiter(Generic[G]):
    """The connections of one worker, by address.

    If a new connection finds no room, the one that has waited for the longest time is sent away. It
    waits for its first request, or for the rest of one, or is kept for another request; a kept one
    counts as if it had waited `IDLE_FIRST_S` longer. So a client that has just connected does not
    make room for one that has been sending for a while. It is one of the same address if that
    address has its full share. Otherwise it is one of the address with the most connections.
    Requests that are served stay.

    `viewers` have no share by address, because a whole hall may stand behind one: only their number
    is bounded. Where there is no room left, an address with fewer viewers takes a place of the
    address with the most, and of that the newest goes.
    """

    def __init__(self, most: int, *, viewers: bool = False) -> None:
        self._most = most
        self._viewers = viewers
        self._count = 0
        self._of_address: dict[str, dict[G, None]] = {}

    def enter(self, address: str, connection: G) -> bool:
        """Add a new connection; return False if no connection can make room for it."""
        if self._has_its_share(address):
            if not self._make_room(address):
                return False
        elif self._count >= self._most and not self._make_room_anywhere(address):
            return False
        self._add(address, connection)
        return True

    def move(self, old: str, new: str, connection: G) -> bool:
        """Count a connection at the sender whose request it carries now.

        Return False if that address has its full share, and nothing of it can make room.
        """
        if old == new:
            return True
        if self._has_its_share(new) and not self._make_room(new):
            return False
        self.leave(old, connection)
        self._add(new, connection)
        return True

    def _has_its_share(self, address: str) -> bool:
        if self._viewers or address == SENDER_UNKNOWN:
            return False
        return len(self._of_address.get(address, ())) >= MOST_OF_ADDRESS

    def _add(self, address: str, connection: G) -> None:
        self._of_address.setdefault(address, {})[connection] = None
        self._count += 1

    def leave(self, address: str, connection: G) -> None:
        """Remove a connection; one that was sent away has already been removed."""
        connections = self._of_address.get(address, {})
        if connection in connections:
            del connections[connection]
            self._count -= 1
            if not connections:
                del self._of_address[address]

    def send_idle_away(self) -> None:
        """Send away all connections that wait for a request."""
        for connections in self._of_address.values():
            for connection in connections:
                if connection.idle:
                    connection.send_away()

    def _make_room_anywhere(self, newcomer: str) -> bool:
        crowded = sorted(self._of_address, key=lambda a: len(self._of_address[a]), reverse=True)
        if any(self._make_room(address) for address in crowded):
            return True
        return self._viewers and self._take_place(newcomer, crowded[0])

    def _take_place(self, newcomer: str, crowded: str) -> bool:
        """End the newest connection of the most crowded address for one that has fewer.

        Both then differ by no more than before, so two addresses do not take turns for ever.
        """
        viewers = self._of_address[crowded]
        if len(viewers) < len(self._of_address.get(newcomer, ())) + 2:
            return False
        newest = next(reversed(viewers))
        self.leave(crowded, newest)
        newest.cut_off()
        return True

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
