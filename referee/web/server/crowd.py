# SPDX-License-Identifier: Apache-2.0
"""Who may connect: one address has its share of the connections, and idle ones make room."""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

MOST_OF_ADDRESS = 128
"""Connections that one address may have with one worker; honest clients have had up to 32."""


class Guest(Protocol):
    """A connection: whether it waits for a request, since when, and a way to end that wait."""

    idle: bool
    idle_since_s: float

    def send_away(self) -> None:
        """End the wait for a request."""


G = TypeVar("G", bound=Guest)


class Crowd(Generic[G]):
    """The connections of one worker by their address.

    Where there is no room for a newcomer, the connection that has been idle longest makes room:
    one of the same address if that has its share, else one of the address that has most.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._count = 0
        self._of_address: dict[str, set[G]] = {}

    def enter(self, address: str, guest: G) -> bool:
        """Count a newcomer; False where all connections that could make room are busy."""
        if len(self._of_address.get(address, ())) >= MOST_OF_ADDRESS:
            if not self._make_room(address):
                return False
        elif self._count >= self._most and not self._make_room_anywhere():
            return False
        self._of_address.setdefault(address, set()).add(guest)
        self._count += 1
        return True

    def leave(self, address: str, guest: G) -> None:
        """Count a guest no longer; one that was sent away is not counted already."""
        guests = self._of_address.get(address, set())
        if guest in guests:
            guests.remove(guest)
            self._count -= 1
            if not guests:
                del self._of_address[address]

    def send_idle_away(self) -> None:
        """End the wait of all guests that wait for a request."""
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
