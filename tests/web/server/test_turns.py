# SPDX-License-Identifier: Apache-2.0
"""The turns of greenlets, and their places: one address keeps no other one waiting."""

from __future__ import annotations

import gevent
from gevent import socket
from gevent.event import Event

from referee.web.server import turns as module
from referee.web.server.turn_line import IN_A_ROW, Rank
from referee.web.server.turns import PRESENT, FirstAddresses, Party, Places, Turns, let_go_first

BOUND_S = 180.0


def look_of(turns: Turns) -> int:
    """Return the number of the present look at the sockets."""
    number: int = turns._hub.loop.iteration
    return number


def test_a_turn_is_had_at_once_where_nobody_waits() -> None:
    """The first turn of a look at the sockets costs no wait."""
    turns = Turns()
    before = look_of(turns)
    turns.take(Party("a"))
    assert before == look_of(turns)


def test_the_sockets_are_looked_at_between_two_turns() -> None:
    """What comes for another address during a turn is served after one more turn, at most."""
    turns, order = Turns(), list[str]()
    asking, serving = socket.socketpair()

    def serve() -> None:
        serving.recv(1)
        turns.take(Party("honest", FirstAddresses()))
        order.append("honest")

    def work(number: int) -> None:
        turns.take(Party("many", FirstAddresses()))
        order.append("many")
        if number == 0:
            asking.sendall(b"?")

    waiting = gevent.spawn(serve)
    gevent.idle()
    flood = [gevent.spawn(work, number) for number in range(20)]
    gevent.joinall([waiting, *flood], timeout=BOUND_S)
    asking.close()
    serving.close()
    assert 21 == len(order)
    assert order.index("honest") <= 2


def test_a_running_session_has_several_turns_between_two_looks() -> None:
    """Its connections need not wait for each other, but for everybody else after eight."""
    turns, team = Turns(), Party("a", FirstAddresses())
    team.go_first()
    before, looks = look_of(turns), list[int]()
    for _ in range(IN_A_ROW + 1):
        turns.take(team)
        looks.append(look_of(turns))
    assert [before] * IN_A_ROW == looks[:IN_A_ROW]
    assert before < looks[IN_A_ROW]


def test_who_is_killed_in_the_line_leaves_it() -> None:
    """A connection that ends while it waits takes nobody's turn."""
    turns, done = Turns(), list[int]()

    def work(number: int) -> None:
        turns.take(Party("a", FirstAddresses()))
        done.append(number)

    ones = [gevent.spawn(work, number) for number in range(3)]
    gevent.spawn(ones[1].kill)
    gevent.joinall(ones, timeout=BOUND_S)
    assert [0, 2] == done


def test_a_place_goes_to_another_address_first() -> None:
    """Work of one address that waits for a place lets the next address's work go before it."""
    places, go_on, order = Places(1), Event(), list[str]()

    def work(address: str) -> None:
        PRESENT.set(Party(address, FirstAddresses()))
        with places.held():
            order.append(address)
            go_on.wait(BOUND_S)

    ones = [gevent.spawn(work, address) for address in ("many", "many", "many", "honest")]
    gevent.idle()
    assert ["many"] == order
    go_on.set()
    gevent.joinall(ones, timeout=BOUND_S)
    assert "honest" in order[1:3]


def test_a_place_is_not_held_by_who_waits_for_long() -> None:
    """Work that outlasts its time gives its place to the next one, and its end gives none."""
    places, go_on, order = Places(1), Event(), list[str]()

    def wait() -> None:
        with places.held(0.001):
            go_on.wait(BOUND_S)

    def work() -> None:
        with places.held():
            order.append("held")

    waiting = gevent.spawn(wait)
    gevent.spawn(work).join(timeout=BOUND_S)
    assert ["held"] == order
    go_on.set()
    waiting.join(timeout=BOUND_S)
    assert 1 == places._free


def test_a_running_sessions_connection_and_address_go_first_for_a_while(monkeypatch) -> None:
    """They do from the session's first request on, and no more when none has come for long."""
    now_s = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now_s[0])
    first = FirstAddresses()
    team, neighbour = Party("a", first), Party("a", first)
    assert Rank.OTHERS is team.rank()

    class Link:
        party = team

    let_go_first({"gunicorn.socket": Link()})
    ranks = (team.rank(), neighbour.rank(), Party("b", first).rank())
    assert (Rank.SESSION, Rank.ITS_ADDRESS, Rank.OTHERS) == ranks
    now_s[0] = module.FIRST_S
    assert (Rank.OTHERS, Rank.OTHERS) == (team.rank(), neighbour.rank())


def test_a_connection_that_carries_another_sender_goes_first_no_more() -> None:
    """A trusted proxy's connection loses its rank when it passes on somebody else's request."""
    party = Party("198.51.100.4", FirstAddresses())
    party.go_first()
    party.belong_to("198.51.100.4")
    assert Rank.SESSION == party.rank()
    party.belong_to("198.51.100.9")
    assert ("198.51.100.9", Rank.OTHERS) == (party.address, party.rank())


def test_addresses_that_go_first_are_bounded() -> None:
    """A token that is used from many addresses fills no memory."""
    first = FirstAddresses()
    for number in range(1000):
        Party(str(number), first).go_first()
    assert len(first._until_s) <= module._MOST_FIRST
