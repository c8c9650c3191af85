# SPDX-License-Identifier: Apache-2.0
"""The crowd of connections: who gets in, and who must leave for it."""

from __future__ import annotations

import pytest

from referee.web.server import crowd as crowd_module
from referee.web.server.crowd import Crowd


class Guest:
    """A connection that remembers whether it was sent away."""

    def __init__(self, since_s: float = 0.0, idle: bool = True, receiving: bool = False) -> None:
        self.waits_since_s = since_s
        self.receiving = receiving
        self.idle = idle
        self.gone = False

    def send_away(self) -> None:
        """Remember being sent away."""
        self.gone = True


def fill(crowd: Crowd[Guest], address: str, count: int, idle: bool = True) -> list[Guest]:
    """Let guests in, each idle for a shorter time than the one before."""
    guests = [Guest(number, idle) for number in range(count)]
    assert all(crowd.enter(address, guest) for guest in guests)
    return guests


def gone(guests: list[Guest]) -> list[bool]:
    """Return the numbers of the guests that were sent away."""
    return [guest.gone for guest in guests]


def test_there_is_room_up_to_the_most() -> None:
    """Nobody is sent away while there is room."""
    assert [False] * 3 == gone(fill(Crowd(3), "a", 3))


def test_the_crowded_address_makes_room() -> None:
    """A newcomer takes the place of the largest address's longest idle connection."""
    crowd: Crowd[Guest] = Crowd(5)
    honest, many = fill(crowd, "honest", 1), fill(crowd, "many", 4)
    assert crowd.enter("new", Guest())
    assert [False] == gone(honest)
    assert [True, False, False, False] == gone(many)


def test_busy_connections_stay() -> None:
    """Busy connections stay: the next address makes room, or nobody does."""
    crowd: Crowd[Guest] = Crowd(5)
    busy, idle = fill(crowd, "busy", 3, idle=False), fill(crowd, "idle", 2)
    assert crowd.enter("new", Guest(idle=False))
    assert crowd.enter("new", Guest(idle=False))
    assert [True, True] == gone(idle)
    assert not crowd.enter("new", Guest())
    assert [False] * 3 == gone(busy)


def test_an_address_has_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address over its share makes room among its own connections, even in an empty server."""
    monkeypatch.setattr(crowd_module, "MOST_OF_ADDRESS", 2)
    crowd: Crowd[Guest] = Crowd(100)
    other, mine = fill(crowd, "b", 2), fill(crowd, "a", 2)
    assert crowd.enter("a", Guest(idle=False))
    assert [True, False] == gone(mine)
    assert [False, False] == gone(other)
    mine[1].idle = False
    assert not crowd.enter("a", Guest())


def test_who_leaves_makes_room_once() -> None:
    """A guest that was sent away does not make room a second time by leaving."""
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
    """At the end all idle connections go, and busy ones may finish."""
    crowd: Crowd[Guest] = Crowd(10)
    idle, busy = fill(crowd, "a", 2), fill(crowd, "b", 2, idle=False)
    crowd.send_idle_away()
    assert [True] * 2 + [False] * 2 == gone(idle + busy)


def test_a_body_that_trickles_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody is idle, the request that has been coming for longest is given up."""
    monkeypatch.setattr(crowd_module, "MOST_OF_ADDRESS", 3)
    crowd: Crowd[Guest] = Crowd(100)
    served, old, young = Guest(0, False), Guest(1, False, True), Guest(2, False, True)
    assert all(crowd.enter("a", guest) for guest in (served, young, old))
    assert crowd.enter("a", Guest(3, False, True))
    assert [False, True, False] == gone([served, old, young])
    assert crowd.enter("a", Guest(4, True))
    assert crowd.enter("a", Guest(5, False))
    assert [False, True, True] == gone([served, old, young])


def test_a_request_is_given_up_where_most_connections_are() -> None:
    """In a full server the address with the most connections gives up a request, and no other."""
    crowd: Crowd[Guest] = Crowd(3)
    honest = Guest(0, False, True)
    crowd.enter("honest", honest)
    many = [Guest(n, False, True) for n in (1, 2)]
    assert all(crowd.enter("many", guest) for guest in many)
    assert crowd.enter("new", Guest(9, False))
    assert [False, True, False] == gone([honest, *many])


def test_a_client_that_has_just_connected_stays_before_one_that_sends_for_long() -> None:
    """An operator's new connection is idle until its request is read, beside endless requests."""
    crowd: Crowd[Guest] = Crowd(2)
    endless, fresh = Guest(0.0, idle=False, receiving=True), Guest(20.0)
    assert crowd.enter("a", endless) and crowd.enter("a", fresh)
    assert crowd.enter("a", Guest(20.0, idle=False, receiving=True))
    assert [True, False] == gone([endless, fresh])
    assert crowd.enter("a", Guest(21.0, idle=False, receiving=True))
    assert [True] == gone([fresh])
