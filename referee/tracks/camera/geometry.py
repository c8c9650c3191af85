# SPDX-License-Identifier: Apache-2.0
"""The places of everything in a frame, in pixels of the screen.

All sizes derive from one unit, a 90th of the screen's shorter side: 12 pixels on 1920x1080. They
are counted in half units, and `px` says how they round. The lower and the right part mirror the
upper and the left part, so both have exactly the same sizes. `docs/camera.md` shows the figure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from referee.errors import InputError

# In half units, from the edge of the screen.
QUIET_EDGE = 3
MARKER_END = 19
IMAGE_EDGE = 22
ORIENTATION_START, PARITY_START = 23, 29
CODE_START = 37
ANCHOR_SIDE, ANCHOR_ROOM = 8, 16
ID_CELL_SIDE = 9
WITNESS_START, WITNESS_END = 17, 21
WITNESS_EDGE = 23  # from the upper edge, and from the lower one

ID_CELLS_A_SIDE = 10
COLUMNS_A_HALF = 27
COLUMNS = 2 * COLUMNS_A_HALF
ROWS = 4
WITNESSES = 32  # on each side

_SHORTEST_PX, _LONGEST_PX = 240, 8191  # 8191 is the most that the code's 13 bits can say
_MOST_ELONGATED = 4


@dataclass(frozen=True)
class Rect:
    """A rectangle of whole pixels; `right` and `bottom` are the first pixels beyond it."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def size(self) -> tuple[int, int]:
        """Return width and height."""
        return self.right - self.left, self.bottom - self.top


@dataclass(frozen=True)
class Screen:
    """A screen's size in its own pixels: 240 to 8191 a side, and at most 4:1."""

    width_px: int
    height_px: int

    def __post_init__(self) -> None:
        short, long = sorted((self.width_px, self.height_px))
        if short < _SHORTEST_PX or long > _LONGEST_PX:
            raise InputError(
                f"A screen of {self} pixels cannot show a frame: "
                f"each side must have {_SHORTEST_PX} to {_LONGEST_PX}."
            )
        if long > _MOST_ELONGATED * short:
            raise InputError(
                f"A screen of {self} pixels cannot show a frame: "
                f"one side may be at most {_MOST_ELONGATED} times the other."
            )

    def __str__(self) -> str:
        return f"{self.width_px}x{self.height_px}"

    @classmethod
    def parse(cls, text: str) -> Screen:
        """Read a size like 1920x1080."""
        sides = re.fullmatch(r"([1-9][0-9]{0,5})x([1-9][0-9]{0,5})", text.strip(), re.ASCII)
        if sides is None:
            raise InputError(f"{text!r} is not a screen's size: write it like 1920x1080.")
        return cls(int(sides[1]), int(sides[2]))

    def px(self, half_units: int) -> int:
        """Return a length in pixels, rounded to the nearest; a half rounds up."""
        return (half_units * min(self.width_px, self.height_px) + 90) // 180


def markers(screen: Screen) -> tuple[Rect, Rect, Rect, Rect]:
    """Return the four white squares, clockwise from the upper left."""
    near, far = screen.px(QUIET_EDGE), screen.px(MARKER_END)
    right, bottom = screen.width_px - far, screen.height_px - far
    side = far - near
    return (
        _square(near, near, side),
        _square(right, near, side),
        _square(right, bottom, side),
        _square(near, bottom, side),
    )


def id_cells(screen: Screen) -> tuple[Rect, ...]:
    """Return the cells of the id's 20 bits, most significant first: left side, then right side.

    Ten equal steps divide the room between the markers. Each cell is a square in the middle of its
    step, and in the middle of the marker's width.
    """
    start, side = screen.px(MARKER_END), screen.px(ID_CELL_SIDE)
    room = screen.height_px - 2 * start
    near = screen.px(QUIET_EDGE)
    left = near + (start - near - side) // 2
    upper = [
        start + ((2 * k + 1) * room - ID_CELLS_A_SIDE * (side - 1)) // (2 * ID_CELLS_A_SIDE)
        for k in range(ID_CELLS_A_SIDE // 2)
    ]
    tops = [*upper, *(screen.height_px - top - side for top in reversed(upper))]
    columns = (left, screen.width_px - left - side)
    return tuple(_square(column, top, side) for column in columns for top in tops)


def witness_cell(screen: Screen, number: int, *, at_right: bool) -> Rect:
    """Return a cell of the witnesses beside the image; `number` counts from above.

    Equal cells fill the height between the strips, without room between them.
    """
    start = screen.px(WITNESS_EDGE)
    room = screen.height_px - 2 * start
    top, bottom = (
        start + (2 * edge * room + WITNESSES) // (2 * WITNESSES) for edge in (number, number + 1)
    )
    left, right = screen.px(WITNESS_START), screen.px(WITNESS_END)
    if at_right:
        left, right = screen.width_px - right, screen.width_px - left
    return Rect(left, top, right, bottom)


def code_cell(screen: Screen, *, at_bottom: bool, column: int, row: int) -> Rect:
    """Return a cell of the code; columns count from the left, rows from the strip's upper edge."""
    at_right = column >= COLUMNS_A_HALF
    place = COLUMNS - 1 - column if at_right else column
    start = screen.px(CODE_START)
    room = (screen.width_px - screen.px(ANCHOR_ROOM)) // 2 - start
    left, right = (
        start + (2 * edge * room + COLUMNS_A_HALF) // COLUMNS for edge in (place, place + 1)
    )
    if at_right:
        left, right = screen.width_px - right, screen.width_px - left
    top, bottom = _rows(screen, at_bottom, row, row + 1)
    return Rect(left, top, right, bottom)


def end_block(screen: Screen, *, at_bottom: bool, at_right: bool, start: int, lower: bool) -> Rect:
    """Return one half of a block beside a marker: of the orientation mark, or of the parity.

    `start` is `ORIENTATION_START` or `PARITY_START`; `lower` chooses the half.
    """
    width = PARITY_START - ORIENTATION_START
    left, right = screen.px(start), screen.px(start + width)
    if at_right:
        left, right = screen.width_px - right, screen.width_px - left
    top, bottom = _rows(screen, at_bottom, 2 * lower, 2 * lower + 2)
    return Rect(left, top, right, bottom)


def anchors(screen: Screen) -> tuple[Rect, Rect]:
    """Return the squares in the middle of the upper and of the lower strip."""
    side = screen.px(ANCHOR_SIDE)
    left = (screen.width_px - side) // 2
    top = screen.px(QUIET_EDGE) + (screen.px(MARKER_END) - screen.px(QUIET_EDGE) - side) // 2
    return _square(left, top, side), _square(left, screen.height_px - top - side, side)


def image_rect(screen: Screen, width: int, height: int, *, enlarge: bool = False) -> Rect:
    """Return the rectangle that an image of this size occupies.

    An image that fits between the margins is shown pixel by pixel, unless `enlarge` is set. Any
    other takes the whole width or height between the margins. Its other side is rounded to the
    nearest pixel, half up, and is at least 1. The image stands in the middle; an odd pixel goes to
    the right or below.
    """
    margin = screen.px(IMAGE_EDGE)
    room_x, room_y = screen.width_px - 2 * margin, screen.height_px - 2 * margin
    shown = width, height
    if enlarge or width > room_x or height > room_y:
        if room_x * height <= room_y * width:
            shown = room_x, max(1, (2 * height * room_x + width) // (2 * width))
        else:
            shown = max(1, (2 * width * room_y + height) // (2 * height)), room_y
    left, top = margin + (room_x - shown[0]) // 2, margin + (room_y - shown[1]) // 2
    return Rect(left, top, left + shown[0], top + shown[1])


def _square(left: int, top: int, side: int) -> Rect:
    return Rect(left, top, left + side, top + side)


def _rows(screen: Screen, at_bottom: bool, first: int, beyond: int) -> tuple[int, int]:
    """Return upper and lower edge of rows of a strip; the lower strip mirrors the upper one."""
    step = (MARKER_END - QUIET_EDGE) // ROWS
    if at_bottom:
        first, beyond = ROWS - beyond, ROWS - first
    top, bottom = screen.px(QUIET_EDGE + step * first), screen.px(QUIET_EDGE + step * beyond)
    if at_bottom:
        top, bottom = screen.height_px - bottom, screen.height_px - top
    return top, bottom
