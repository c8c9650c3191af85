# SPDX-License-Identifier: Apache-2.0
"""Lists of output items: their numbers, and how CLEar and DELete change them (6-20 and 6-22)."""

from __future__ import annotations

from collections.abc import Mapping

from power.emulator import formats
from power.emulator.command_tree import Data
from power.emulator.commands_input import one
from power.emulator.errors import CommandRefused

Items = dict[int, str]


def in_list(number: int, most: int) -> int:
    """Return an item's number; refuse one outside 1 to `most`."""
    if not 1 <= number <= most:
        raise CommandRefused(114)
    return number


def count_of(data: Data, most: int) -> int:
    """Return how many items to send: a number, moved into 1 to `most`, or ALL."""
    text = one(data)
    count = most if text.upper() == "ALL" else formats.integer(text)
    return min(max(count, 1), most)


def cleared(items: Mapping[int, str], data: Data, most: int) -> Items:
    """Return the list without the items from the first number on, or from first to last."""
    if not data or data[0].upper() == "ALL":
        first, last = 1, most
    else:
        first, last = _bounds(data, most, alone=most)
    return dict(items) | {number: "NONE" for number in range(first, last + 1)}


def deleted(items: Mapping[int, str], data: Data, most: int) -> Items:
    """Return the list without one item, or those from first to last; the rest moves up.

    `items` must hold every number of the list.
    """
    if not data:
        raise CommandRefused(109)
    first, last = _bounds(data, most, alone=None)
    left = [items[number] for number in range(1, most + 1) if not first <= number <= last]
    left += ["NONE"] * (most - len(left))
    return dict(enumerate(left, 1))


def _bounds(data: Data, most: int, *, alone: int | None) -> tuple[int, int]:
    """Return the first and the last number; `alone` is the last if only the first is given."""
    if len(data) > 2:
        raise CommandRefused(108)
    first = in_list(formats.integer(data[0]), most)
    if len(data) == 2:
        return first, in_list(formats.integer(data[1]), most)
    return first, first if alone is None else alone
