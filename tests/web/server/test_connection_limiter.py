# SPDX-License-Identifier: Apache-2.0
"""The limits on connections: who gets in, and who must leave for it."""

from __future__ import annotations

import pytest

from referee.web.server import connection_limiter as module
from referee.web.server.connection_limiter import SENDER_UNKNOWN, ConnectionLimiter


class Connection:
    """A connection that remembers whether it was sent away."""

    def __init__(
        self,
        since_s: float = 0.0,
        idle: bool = True,
        receiving: bool = False,
        kept: bool = True,
    ) -> None:
        self.waits_since_s = since_s
        self.receiving = receiving
        self.idle = idle
        self.kept = kept
        self.gone = False

    def send_away(self) -> None:
        """Remember being sent away."""
        self.gone = True

    cut_off = send_away


def fill(
    limiter: ConnectionLimiter[Connection], address: str, count: int, idle: bool = True
) -> list[Connection]:
    """Let connections in, each idle for a shorter time than the one before."""
    connections = [Connection(number, idle) for number in range(count)]
    assert all(limiter.enter(address, connection) for connection in connections)
    return connections


def gone(connections: list[Connection]) -> list[bool]:
    """Return the numbers of the connections that were sent away."""
    return [connection.gone for connection in connections]


def test_there_is_room_up_to_the_most() -> None:
    """Nobody is sent away while there is room."""
    assert [False] * 3 == gone(fill(ConnectionLimiter(3), "a", 3))


def test_the_crowded_address_makes_room() -> None:
    """A newcomer takes the place of the largest address's longest idle connection."""
    limiter: ConnectionLimiter[Connection] = ConnectionLimiter(5)
    honest, many = fill(limiter, "honest", 1), fill(limiter, "many", 4)
    assert limiter.enter("new", Connection())
    assert [False] == gone(honest)
    assert [True, False, False, False] == gone(many)


def test_busy_connections_stay() -> None:
    """Busy connections stay: the next address makes room, or nobody does."""
    limiter: ConnectionLimiter[Connection] = ConnectionLimiter(5)
    busy, idle = fill(limiter, "busy", 3, idle=False), fill(limiter, "idle", 2)
    assert limiter.enter("new", Connection(idle=False))
    assert limiter.enter("new", Connection(idle=False))
    assert [True, True] == gone(idle)
    assert not limiter.enter("new", Connection())
    assert [False] * 3 == gone(busy)


def test_an_address_has_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """An address over its share makes room among its own connections, even in an empty server."""
    monkeypatch.setattr(module, "MOST_OF_ADDRESS", 2)
    limiter: ConnectionLimiter[Connection] = ConnectionLimiter(100)
    other, mine = fill(limiter, "b", 2), fill(limiter, "a", 2)
    assert limiter.enter("a", Connection(idle=False))
    assert [True, False] == gone(mine)
    assert [False, False] == gone(other)
    mine[1].idle = False
    assert not limiter.enter("a", Connection())


def test_who_leaves_makes_room_once() -> None:
    """A connection that was sent away does not make room a second time by leaving."""
    limiter: ConnectionLimiter[Connection] = ConnectionLimiter(2)
    first, second = fill(limiter, "a", 2)
    third = Connection(5, idle=False)
    assert limiter.enter("a", third)
    limiter.leave("a", first)
    second.idle = False
    assert not limiter.enter("b", Connection())
    limiter.leave("a", second)
    assert limiter.enter("b", Connection())


def test_at_the_end_all_idle_ones_go() -> None:
    """At the end all idle connections go, and busy ones may finish."""
    limiter: ConnectionLimiter[Connection] = ConnectionLimiter(10)
    idle, busy = fill(limiter, "a", 2), fill(limiter, "b", 2, idle=False)
    limiter.send_idle_away()
    assert [True] * 2 + [False] * 2 == gone(idle + busy)


def test_a_body_that_trickles_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody is idle, the request that has been coming for longest is given up."""
    monkeypatch.setattr(module, "MOST_OF_ADDRESS", 3)
    limiter: ConnectionLimiter[Connection] = ConnectionLimiter(100)
    served, old, young = (
        Connection(0, False),
        Connection(1, False, True),
        Connection(2, False, True),
    )
    assert all(limiter.enter("a", connection) for connection in (served, young, old))
    assert limiter.enter("a", Connection(3, False, True))
    assert [False, True, False] == gone([served, old, young])
    assert limiter.enter("a", Connection(4, True))
    assert limiter.enter("a", Connection(5, False))
    assert [False, True, True] == gone([served, old, young])


def test_a_request_is_given_up_where_most_connections_are() -> None:
    """In a full server the address with the most connections gives up a request, and no other."""
    limiter: ConnectionLimiter[Connection] = ConnectionLimiter(3)
    honest = Connection(0, False, True)
    limiter.enter("honest", honest)
    many = [Connection(n, False, True) for n in (1, 2)]
    assert all(limiter.enter("many", connection) for connection in many)
    assert limiter.enter("new", Connection(9, False))
    assert [False, True, False] == gone([honest, *many])


def test_a_client_that_has_just_connected_stays_before_one_that_sends_for_long() -> None:
    """An operator's new connection is idle until its request is read, beside endless requests."""
    limiter: ConnectionLimiter[Connection] = ConnectionLimiter(2)
    endless = Connection(19.9, idle=False, receiving=True)
    fresh = Connection(20.0, kept=False)
    assert limiter.enter("a", endless) and limiter.enter("a", fresh)
    assert limiter.enter("a", Connection(20.1, idle=False, receiving=True))
    assert [True, False] == gone([endless, fresh])
    assert limiter.enter("a", Connection(20.2, idle=False, receiving=True))
    assert [True] == gone([fresh])


def test_a_kept_connection_makes_room_before_a_first_request() -> None:
    """Who has had an answer and waits leaves before those whose first request is awaited."""
    limiter: ConnectionLimiter[Connection] = ConnectionLimiter(2)
    fresh, kept = Connection(20.0, kept=False), Connection(24.9)
    assert limiter.enter("a", fresh) and limiter.enter("a", kept)
    assert limiter.enter("a", Connection(25.0, kept=False))
    assert [False, True] == gone([fresh, kept])


def test_viewers_of_one_address_have_no_share() -> None:
    """A hall of 500 viewers behind one router is let in, up to the number of all viewers."""
    limiter: ConnectionLimiter[Connection] = ConnectionLimiter(500, viewers=True)
    hall = fill(limiter, "router", 500, idle=False)
    assert not limiter.enter("router", Connection(idle=False))
    assert not any(gone(hall))


def test_a_viewer_of_another_address_takes_a_place_of_the_crowd() -> None:
    """One address keeps no other out: its newest viewer goes, as long as it has more than they."""
    limiter: ConnectionLimiter[Connection] = ConnectionLimiter(4, viewers=True)
    crowd = fill(limiter, "crowd", 4, idle=False)
    assert limiter.enter("a", Connection(idle=False))
    assert [False, False, False, True] == gone(crowd)
    assert limiter.enter("a", Connection(idle=False))
    assert not limiter.enter("a", Connection(idle=False))
    assert [False, False, True, True] == gone(crowd)


def test_a_connection_counts_for_whom_its_proxy_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many senders come through one proxy, and each of them has the share of an address."""
    monkeypatch.setattr(module, "MOST_OF_ADDRESS", 2)
    limiter: ConnectionLimiter[Connection] = ConnectionLimiter(100)
    links = [Connection(n, idle=False) for n in range(5)]
    assert all(limiter.enter(SENDER_UNKNOWN, link) for link in links)
    assert all(limiter.move(SENDER_UNKNOWN, "a", link) for link in links[:2])
    assert not limiter.move(SENDER_UNKNOWN, "a", links[2])
    assert limiter.move(SENDER_UNKNOWN, "b", links[2])
    assert limiter.move("a", "b", links[0])
    assert limiter.move("b", "b", links[0])
    assert limiter.move(SENDER_UNKNOWN, "a", links[3])
    assert not any(gone(links))
