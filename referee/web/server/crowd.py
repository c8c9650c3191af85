# SPDX-License-Identifier: Apache-2.0
"""The limits on connections: each address has a share, and idle connections make room."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

MOST_OF_ADDRESS = 128
"""The most connections of one address with one worker; honest clients have used up to 32."""


class Guest(Protocol):
    """A connection that knows whether it waits for a request and since when, and can end that."""

    idle: bool
    idle_since_s: float

    def send_away(self) -> None:
        """End the wait for a request."""


G = TypeVar("G", bound=Guest)


class Crowd(Generic[G]):
    """The connections of one worker, by address.

    If a new connection finds no room, the longest idle connection is sent away. It is one of the
    same address if that address has its full share. Otherwise it is one of the address with the
    most connections.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._count = 0
        self._of_address: dict[str, set[G]] = {}

    def enter(self, address: str, guest: G) -> bool:
        """Add a new connection; return False if no idle connection can make room for it."""
        if len(self._of_address.get(address, ())) >= MOST_OF_ADDRESS:
            if not self._make_room(address):
                return False
        elif self._count >= self._most and not self._make_room_anywhere():
            return False
        self._of_address.setdefault(address, set()).add(guest)
        self._count += 1
        return True

    def leave(self, address: str, guest: G) -> None:
        """Remove a connection; one that was sent away has already been removed."""
        guests = self._of_address.get(address, set())
        if guest in guests:
            guests.remove(guest)
            self._count -= 1
            if not guests:
                del self._of_address[address]

    def send_idle_away(self) -> None:
        """Send away all connections that wait for a request."""
        for guests in self._of_address.values():
            for guest in guests:
                if guest.idle:
                    guest.send_away()

    def _make_room_anywhere(self) -> bool:
        crowded = sorted(self._of_address, key=lambda a: len(self._of_address[a]), reverse=True)
        return any(self._make_room(address) for address in crowded)

    def _make_room(self, address: str) -> bool:
        idle = [guest for guest in self._of_address[address] if guest.idle]
        if not idle:
            return False
        oldest = min(idle, key=lambda guest: guest.idle_since_s)
        self.leave(address, oldest)
        oldest.send_away()
        return True
