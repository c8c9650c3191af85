# SPDX-License-Identifier: Apache-2.0
"""Places in a ranking."""

from __future__ import annotations

import random

import pytest

from referee.core.places import shared_places


@pytest.mark.parametrize(
    ("values", "highest", "lowest"),
    [
        ([], [], []),
        ([None], [None], [None]),
        ([0.5], [1], [1]),
        ([0.1, 0.4, None, 0.4, 0.9], [4, 2, None, 2, 1], [1, 2, None, 2, 4]),
        ([0.0, -0.0, 0], [1, 1, 1], [1, 1, 1]),
        ([float("inf"), 1.0], [1, 2], [2, 1]),
        ([1, 1.0000000000000002], [2, 1], [1, 2]),
    ],
)
def test_places(values: list[float | None], highest: list[int], lowest: list[int]) -> None:
    """Equal values share a place, to the last bit, and a missing one has none."""
    assert highest == shared_places(values)
    assert lowest == shared_places(values, highest_first=False)


def test_a_place_is_one_more_than_the_number_of_better_ones() -> None:
    """The fast way gives what counting gives."""
    chance = random.Random(41)
    values = [chance.choice([None, round(chance.random(), 2)]) for _ in range(500)]
    known = [value for value in values if value is not None]
    counted = [None if it is None else 1 + sum(other > it for other in known) for it in values]
    assert counted == shared_places(values)
