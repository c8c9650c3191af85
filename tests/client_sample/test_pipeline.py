# SPDX-License-Identifier: Apache-2.0
"""A channel hands items over, holds up fast givers, and ends when told."""

from __future__ import annotations

import threading

from client_sample.pipeline import Channel


def test_items_come_out_in_order_and_end_with_the_last_giver():
    """With two givers the end comes after both have finished."""
    channel: Channel[int] = Channel(5, givers=2)
    for item in range(3):
        assert channel.give(item)
    channel.finish()
    assert [0] == channel.take()
    assert [1, 2] == channel.take(most=10)
    assert channel.give(3)
    channel.finish()
    assert [3] == list(channel)
    assert [] == channel.take(most=10)


def test_a_giver_waits_for_room():
    """No more than `room` items wait, however fast the giver is."""
    channel: Channel[int] = Channel(2)
    most = []

    def give() -> None:
        for item in range(50):
            channel.give(item)
        channel.finish()

    giver = threading.Thread(target=give, name="giver")
    giver.start()
    taken = []
    for item in channel:
        most.append(len(channel))
        taken.append(item)
    giver.join()
    assert list(range(50)) == taken
    assert max(most) <= 2


def test_a_taker_waits_for_an_item_and_the_time_is_counted():
    """A taker that comes first gets the next item, and its wait is counted."""
    channel: Channel[str] = Channel(1)
    taken = []
    taker = threading.Thread(target=lambda: taken.extend(channel), name="taker")
    taker.start()
    channel.give("one")
    channel.give("two")
    channel.finish()
    taker.join()
    assert ["one", "two"] == taken
    assert channel.starved_s >= 0


def test_abandoning_wakes_both_sides_and_drops_what_waits():
    """A giver without room and a taker without items return at once."""
    full: Channel[int] = Channel(1)
    empty: Channel[int] = Channel(1)
    assert full.give(1)
    given: list[bool] = []
    taken: list[list[int]] = []
    threads = [
        threading.Thread(target=lambda: given.append(full.give(2)), name="giver"),
        threading.Thread(target=lambda: taken.append(empty.take()), name="taker"),
    ]
    for thread in threads:
        thread.start()
    full.abandon()
    empty.abandon()
    for thread in threads:
        thread.join()
    assert ([False], [[]]) == (given, taken)
    assert [] == full.take()
    assert not full.give(3)
