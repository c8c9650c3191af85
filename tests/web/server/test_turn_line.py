# SPDX-License-Identifier: Apache-2.0
"""The order of turns: each address has its own, and the running session goes first."""

from __future__ import annotations

import pytest

from referee.web.server.turn_line import IN_A_ROW, Rank, TurnLine


def order(line: TurnLine[str]) -> list[str]:
    """Return all who wait, in the order of their turns."""
    return [line.next() for _ in range(len(line))]


def test_each_address_has_its_turn() -> None:
    """Of a hundred that wait for one address, one goes before the only one of another."""
    line: TurnLine[str] = TurnLine()
    for number in range(100):
        line.join(f"many {number}", "many")
    line.join("honest", "honest")
    assert ["many 0", "honest", "many 1"] == order(line)[:3]


def test_an_address_keeps_its_own_order() -> None:
    """Those of one address go in the order in which they came."""
    line: TurnLine[str] = TurnLine()
    for one in "abc":
        line.join(one, "address")
    assert ["a", "b", "c"] == order(line)


def test_the_running_session_goes_first() -> None:
    """Its connections go before its address's others, and those before everybody else."""
    line: TurnLine[str] = TurnLine()
    line.join("other", "b")
    line.join("same router", "a", Rank.ITS_ADDRESS)
    line.join("session", "a", Rank.SESSION)
    assert ["session", "same router", "other"] == order(line)


def test_who_goes_first_keeps_nobody_out() -> None:
    """After eight turns in a row somebody behind has one."""
    line: TurnLine[str] = TurnLine()
    line.join("other", "b")
    for _ in range(3 * IN_A_ROW):
        line.join("session", "a", Rank.SESSION)
    assert IN_A_ROW == order(line).index("other")


def test_who_leaves_is_not_called() -> None:
    """Somebody who waits no more has no turn, and is not counted."""
    line: TurnLine[str] = TurnLine()
    for one in ("gone", "there"):
        line.join(one, one)
    line.leave("gone")
    line.leave("gone")
    assert (1, ["there"]) == (len(line), order(line))
    with pytest.raises(LookupError):
        line.next()
