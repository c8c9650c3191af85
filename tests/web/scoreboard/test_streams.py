# SPDX-License-Identifier: Apache-2.0
"""Many readers wait for the newest value, and wake only for another one."""

from __future__ import annotations

import threading

from referee.web.scoreboard.streams import Newest


def test_an_equal_value_wakes_nobody():
    """Readers keep the object that they have seen, so nothing is sent twice."""
    newest = Newest()
    first, equal = [1], [1]
    newest.put(first)
    newest.put(equal)
    assert newest.other_than(None, 0.0) is first
    assert newest.other_than(first, 0.0) is first
    newest.put([2])
    assert [2] == newest.other_than(first, 0.0)


def test_all_who_wait_get_the_next_value():
    """One `put` wakes every reader."""
    newest, got = Newest(), []
    readers = [
        threading.Thread(
            target=lambda: got.append(newest.other_than(None, 180.0)), name=f"reader-{n}"
        )
        for n in range(5)
    ]
    for one in readers:
        one.start()
    newest.put("news")
    for one in readers:
        one.join(180)
    assert ["news"] * 5 == got


def test_nobody_waits_after_the_end():
    """A server that ends waits for no reader."""
    newest = Newest()
    newest.put("last")
    newest.close()
    assert "last" == newest.other_than("last", 3600.0)
