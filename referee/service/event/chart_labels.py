# SPDX-License-Identifier: Apache-2.0
"""Where the names of a chart's points stand, so that none covers another; lengths in points."""

from __future__ import annotations

from collections.abc import Sequence

# In points: the height of a name's line, and the width that one of its letters takes at most.
_LINE = 14.0
_LETTER = 6.6
# The lines beside a point where its name may stand, the best first.
LINES = (0, -1, 1, -2, 2, -3, 3, -4, 4, -5, 5, -6, 6)
# A rank among many stands at its point or nowhere: far away it would name another point.
NEAR = (0, -1, 1)

Box = tuple[float, float, float, float]
"""A rectangle in points: left, bottom, right, top."""


def free_place(
    spot: tuple[float, float],
    letters: int,
    lines: Sequence[int],
    taken: Sequence[Box],
    page: Box,
) -> tuple[tuple[float, float], Box] | None:
    """Return where the label of a point stands, from the point, and its box.

    It stands right of the point, or left of it, or some lines higher or lower: at the first place
    inside the page that nothing has taken. None: everything is taken.
    """
    width = _LETTER * letters
    for line in lines:
        for side in (1, -1):
            left = spot[0] + 8 if side > 0 else spot[0] - 8 - width
            bottom = spot[1] + 3 + _LINE * line
            box = (left, bottom, left + width, bottom + _LINE)
            inside = page[0] <= left and page[1] <= bottom and box[2] <= page[2]
            if inside and box[3] <= page[3] and not any(_meet(box, other) for other in taken):
                return (8.0 * side, 5.0 + _LINE * line), box
    return None


def mark_at(across: float, up: float) -> Box:
    """Return the box of a point's mark."""
    return (across - 5, up - 5, across + 5, up + 5)


def _meet(first: Box, second: Box) -> bool:
    return (
        first[0] < second[2]
        and second[0] < first[2]
        and first[1] < second[3]
        and second[1] < first[3]
    )
