# SPDX-License-Identifier: Apache-2.0
"""Who may connect, and who has to go for it."""

from __future__ import annotations

import pytest

from referee.web.server import crowd as crowd_module
from referee.web.server.crowd import Crowd


class Guest:
    """A connection that remembers whether it was sent away."""

    def __init__(self, since_s: float = 0.0, idle: bool = True) -> None:
        self.idle_since_s = since_s
        self.idle = idle
        self.gone = False

    def send_away(self) -> None:
        """Remember it."""
        self.gone = True


def fill(crowd: Crowd[Guest], address: str, count: int, idle: bool = True) -> list[Guest]:
    """Let guests in, each idle for a shorter time than the one before."""
    guests = [Guest(number, idle) for number in range(count)]
    assert all(crowd.enter(address, guest) for guest in guests)
    return guests


def gone(guests: list[Guest]) -> list[bool]:
    """Tell which guests were sent away."""
    return [guest.gone for guest in guests]


def test_there_is_room_up_to_the_most() -> None:
    """Nobody goes while there is room."""
    assert [False] * 3 == gone(fill(Crowd(3), "a", 3))


def test_the_crowded_address_makes_room() -> None:
    """A newcomer is let in; the longest idle connection of the largest address goes."""
    crowd: Crowd[Guest] = Crowd(5)
    honest, many = fill(crowd, "honest", 1), fill(crowd, "many", 4)
    assert crowd.enter("new", Guest())
    assert [False] == gone(honest)
    assert [True, False, False, False] == gone(many)


def test_busy_connections_stay() -> None:
    """Where the largest address is busy, the next one makes room; where all are, nobody does."""
    crowd: Crowd[Guest] = Crowd(5)
    busy, idle = fill(crowd, "busy", 3, idle=False), fill(crowd, "idle", 2)
    assert crowd.enter("new", Guest(idle=False))
    assert crowd.enter("new", Guest(idle=False))
    assert [True, True] == gone(idle)
    assert not crowd.enter("new", Guest())
    assert [False] * 3 == gone(busy)


def test_an_address_has_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond it an address makes room among its own, though there is room for others."""
    monkeypatch.setattr(crowd_module, "MOST_OF_ADDRESS", 2)
    crowd: Crowd[Guest] = Crowd(100)
    other, mine = fill(crowd, "b", 2), fill(crowd, "a", 2)
    assert crowd.enter("a", Guest(idle=False))
    assert [True, False] == gone(mine)
    assert [False, False] == gone(other)
    mine[1].idle = False
    assert not crowd.enter("a", Guest())


def test_who_leaves_makes_room_once() -> None:
    """A guest that was sent away has left already."""
    crowd: Crowd[Guest] = Crowd(2)
    first, second = fill(crowd, "a", 2)
    third = Guest(5, idle=False)
    assert crowd.enter("a", third)
    crowd.leave("a", first)
    second.idle = False
    assert not crowd.enter("b", Guest())
    crowd.leave("a", second)
    assert crowd.enter("b", Guest())


def test_at_the_end_all_idle_ones_go() -> None:
    """Those that are being served are left to finish."""
    crowd: Crowd[Guest] = Crowd(10)
    idle, busy = fill(crowd, "a", 2), fill(crowd, "b", 2, idle=False)
    crowd.send_idle_away()
    assert [True] * 2 + [False] * 2 == gone(idle + busy)
