# SPDX-License-Identifier: Apache-2.0
"""A wish to end a run: its deadline, and what the meter is told."""

from __future__ import annotations

import math
from typing import Any, cast

from power.bench.wish import HASTY_S, Wish
from power.meter import Meter


class Hurried:
    """A meter that remembers how it was hurried."""

    def __init__(self) -> None:
        self.told: list[tuple[float, float]] = []

    def hasten(self, timeout_s: float, end_s: float) -> None:
        """Remember the call."""
        self.told.append((timeout_s, end_s))


def wish_on(meter: Any) -> Wish:
    """Return a wish about this meter, with a second of grace."""
    return Wish(cast(Meter, meter), 1.0)


def test_only_the_first_wish_counts() -> None:
    """The deadline follows from the first wish, and the meter learns it at once."""
    meter = Hurried()
    wish = wish_on(meter)
    assert (False, math.inf) == (wish.look(lambda: False, lambda: 4.0), wish.end_s)
    assert wish.look(lambda: True, lambda: 5.0)
    wish.make(7.0)
    assert wish.look(lambda: False, lambda: 9.0)
    assert (5.0, 6.0) == (wish.asked_s, wish.end_s)
    assert [(HASTY_S, 6.0)] == meter.told


def test_the_deadline_only_becomes_later() -> None:
    """A meter that answers gets more time, and only after a wish."""
    meter = Hurried()
    wish = wish_on(meter)
    wish.allow(8.0)
    assert math.inf == wish.end_s
    wish.make(5.0)
    wish.allow(5.5)
    wish.allow(6.5)
    assert 6.5 == wish.end_s
    assert [(HASTY_S, 6.0), (HASTY_S, 6.5)] == meter.told


def test_a_meter_that_cannot_hurry_is_left_alone() -> None:
    """A meter without `hasten` has a deadline all the same."""
    wish = wish_on(object())
    wish.make(5.0)
    assert 6.0 == wish.end_s
