# SPDX-License-Identifier: Apache-2.0
"""Whose request is served next."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from referee.web.server.lines import FairLines


def test_addresses_take_turns_and_keep_their_own_order():
    """A request waits for one of each other address, however long their lines are."""
    lines: FairLines[str] = FairLines(10)
    for request in ("a1", "a2", "a3", "b1", "c1", "c2"):
        lines.join(request[0], request)
    taken = [lines.take() for _ in range(6)]
    assert ["a1", "b1", "c1", "a2", "c2", "a3"] == taken
    assert (None, False) == (lines.take(), bool(lines))


def test_an_address_with_its_share_waits():
    """Until one of its requests is over, those of others are served."""
    lines: FairLines[str] = FairLines(2)
    for request in ("a1", "a2", "a3", "b1"):
        lines.join(request[0], request)
    assert ["a1", "b1", "a2", None] == [lines.take() for _ in range(4)]
    lines.leave("b")
    assert (False, None) == (bool(lines), lines.take())
    lines.leave("a")
    assert (True, "a3") == (bool(lines), lines.take())


def test_who_is_first_again_waits_for_the_share_only():
    """What is put at the head of its line comes before the rest of the line."""
    lines: FairLines[str] = FairLines(1)
    for request in ("a1", "a2", "b1"):
        lines.join(request[0], request)
    assert "a1" == lines.take()
    lines.leave("a")
    lines.join_first("a", "a1 again")
    assert ["b1", "a1 again", None] == [lines.take() for _ in range(3)]
    lines.leave("a")
    assert "a2" == lines.take()


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans())), st.integers(1, 4))
def test_every_request_is_served_once_and_none_beyond_the_share(steps, share):
    """Whatever joins and leaves, in whatever order."""
    lines: FairLines[int] = FairLines(share)
    waiting: dict[int, str] = {}
    served: list[str] = []
    for number, (address, leaves) in enumerate(steps):
        waiting[number] = address
        lines.join(address, number)
        free = bool(lines)
        taken = lines.take()
        assert free == (taken is not None)
        if taken is not None:
            served.append(waiting.pop(taken))
        else:
            assert all(served.count(each) >= share for each in waiting.values())
        assert all(served.count(each) <= share for each in served)
        if leaves and served:
            lines.leave(served.pop())
    while served:
        lines.leave(served.pop())
    while (taken := lines.take()) is not None:
        lines.leave(waiting.pop(taken))
    assert {} == waiting
