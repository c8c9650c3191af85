# SPDX-License-Identifier: Apache-2.0
"""The frame as `docs/camera.md` specifies it: where everything is, and what its bits mean.

Points are pixels of the screen, as (x, y); 0, 0 is the upper left corner of the first pixel.
"""

from __future__ import annotations

import binascii
import hashlib
from dataclasses import dataclass
from typing import Any, Dict, Optional, Tuple

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]

COLUMNS, BITS, WITNESSES = 54, 108, 32
_CRC_BITS = 16
# Lengths in half units from the edge of the screen. A half unit is a 180th of the shorter side.
_EDGE, _MARKER_END, _IMAGE = 3, 19, 22
_ORIENTATION, _PARITY, _CODE = 23, 29, 37
_BLOCK, _ROW = 6, 4
_ID_SIDE, _ANCHOR_SIDE, _ANCHOR_ROOM = 9, 8, 16
_WITNESS_START, _WITNESS_END, _WITNESS_EDGE = 17, 21, 23

# The white halves (upper, lower) of the mark beside the markers, clockwise from the upper left.
ORIENTATION = np.array([[1, 1], [0, 0], [1, 0], [0, 1]], dtype=bool)


def session_tag(text: str) -> int:
    """Return the tag of a session's text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:2], "big")


@dataclass(frozen=True)
class Label:
    """What the code of a frame says."""

    image_id: int
    width: int
    height: int
    screen_width: int
    screen_height: int
    enlarged: bool
    tag: int


def unpack(bits: NDArray[np.bool_]) -> Optional[Label]:
    """Return what 108 bits say, or None if their CRC is wrong or they make no sense."""
    value = int("".join("1" if bit else "0" for bit in bits), 2)
    payload, crc = value >> 16, value & 0xFFFF
    if binascii.crc_hqx(payload.to_bytes(12, "big"), 0xFFFF) != crc:
        return None
    fields = []
    for size in (16, 1, 1, 13, 13, 14, 14, 20):  # from the last field to the first
        fields.append(payload & ((1 << size) - 1))
        payload >>= size
    tag, later, enlarged, screen_height, screen_width, height, width, image_id = fields
    if later or not (width and height) or min(screen_width, screen_height) < 240:
        return None
    return Label(image_id, width, height, screen_width, screen_height, bool(enlarged), tag)


def pack(label: Label) -> NDArray[np.bool_]:
    """Return the 108 bits that say this."""
    payload = 0
    for value, size in (
        (label.image_id, 20),
        (label.width, 14),
        (label.height, 14),
        (label.screen_width, 13),
        (label.screen_height, 13),
        (int(label.enlarged), 1),
        (0, 1),
        (label.tag, 16),
    ):
        payload = payload << size | value
    value = payload << 16 | binascii.crc_hqx(payload.to_bytes(12, "big"), 0xFFFF)
    return np.array([bit == "1" for bit in f"{value:0{BITS}b}"])


def white_witnesses(bits: NDArray[np.bool_], parity: bool) -> NDArray[np.bool_]:
    """Return which cells of the witnesses beside the image are white: (pair, left and right)."""
    number = np.arange(WITNESSES)
    at_left = np.where(number % 2, bits[-_CRC_BITS + number // 2], (number // 2 + parity) % 2 == 0)
    return np.stack([at_left, ~at_left], axis=1)


@dataclass(frozen=True)
class FrameLayout:
    """The places in the frame of a screen of this size.

    Only the shape matters until a code has told the size in pixels: `of_shape` makes a screen so
    large that rounding does not matter.
    """

    width: int
    height: int

    @classmethod
    def of_shape(cls, width: float, height: float) -> FrameLayout:
        """Return the frame of a screen whose size in pixels is not known yet."""
        scale = 90_000 / min(width, height)
        return cls(round(scale * width), round(scale * height))

    def px(self, half_units: float) -> int:
        """Return a length in pixels, rounded half up."""
        return int((2 * half_units * min(self.width, self.height) + 180) // 360)

    def markers(self) -> Points:
        """Return the corners of the markers (4, 4, 2), all clockwise from the upper left."""
        return self._four(_square(self.px(_EDGE), self.px(_EDGE), self.px(19) - self.px(3)))

    def anchors(self) -> Points:
        """Return the corners of the squares in the middle of the upper and the lower strip."""
        side = self.px(_ANCHOR_SIDE)
        left = (self.width - side) // 2
        top = self.px(_EDGE) + (self.px(_MARKER_END) - self.px(_EDGE) - side) // 2
        return np.array([_square(left, top, side), _square(left, self.height - top - side, side)])

    def id_cells(self) -> Points:
        """Return the corners of the 20 cells of the id, most significant bit first."""
        start, side, near = self.px(_MARKER_END), self.px(_ID_SIDE), self.px(_EDGE)
        room = self.height - 2 * start
        left = near + (start - near - side) // 2
        tops = [start + ((2 * k + 1) * room - 10 * (side - 1)) // 20 for k in range(5)]
        tops += [self.height - top - side for top in reversed(tops)]
        lefts = (left, self.width - left - side)
        return np.array([_square(x, top, side) for x in lefts for top in tops])

    def id_gaps(self) -> Points:
        """Return the middles of the black before, between and after the id's cells: (2, 11, 2)."""
        cells = self.id_cells().reshape(2, 10, 4, 2)
        x, y = cells[..., 0].mean(axis=-1), cells[..., 1].mean(axis=-1)
        step = (y[:, -1:] - y[:, :1]) / 9
        between = y[:, :1] + step * (np.arange(11) - 0.5)
        return np.stack([np.repeat(x[:, :1], 11, axis=1), between], axis=-1)

    def id_sides(self) -> Points:
        """Return places in the black between each cell of the id and the screen's edge: (20, 2)."""
        cells = self.id_cells()
        x = np.where(np.arange(20) < 10, self.px(_EDGE), self.width - self.px(_EDGE))
        return np.stack([x, cells[:, :, 1].mean(axis=1)], axis=-1)

    def witnesses(self) -> Points:
        """Return the corners of the witnesses beside the image: (pair, left and right, 4, 2)."""
        start, near, far = (self.px(n) for n in (_WITNESS_EDGE, _WITNESS_START, _WITNESS_END))
        room = self.height - 2 * start
        edges = start + (2 * np.arange(WITNESSES + 1) * room + WITNESSES) // (2 * WITNESSES)
        sides = ((near, far), (self.width - far, self.width - near))
        return np.array(
            [
                [_rectangle(left, top, right, bottom) for left, right in sides]
                for top, bottom in zip(edges[:-1].tolist(), edges[1:].tolist())
            ]
        )

    def column_edges(self) -> Tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the left and the right edges of the code's 54 columns."""
        start, half = self.px(_CODE), COLUMNS // 2
        room = (self.width - self.px(_ANCHOR_ROOM)) // 2 - start
        edges = start + (2 * np.arange(half + 1) * room + half) // COLUMNS
        left = np.concatenate([edges[:-1], self.width - edges[:0:-1]])
        right = np.concatenate([edges[1:], self.width - edges[-2::-1]])
        return left.astype(float), right.astype(float)

    def row_edges(self, at_bottom: bool) -> NDArray[np.float64]:
        """Return the five edges of a strip's four rows, from above."""
        edges = np.array([self.px(_EDGE + _ROW * row) for row in range(5)], dtype=float)
        return self.height - edges[::-1] if at_bottom else edges

    def code_cells(self) -> Points:
        """Return the middles of the code's cells: (strip, row, column, 2)."""
        left, right = self.column_edges()
        x = (left + right) / 2
        rows = [self.row_edges(at_bottom) for at_bottom in (False, True)]
        y = np.array([(edges[:-1] + edges[1:]) / 2 for edges in rows])
        return np.stack(np.broadcast_arrays(x[None, None, :], y[..., None]), axis=-1)

    def blocks(self, parity: bool) -> Points:
        """Return the corners of the halves of the blocks beside the markers: (4, 2, 4, 2).

        The blocks go clockwise from the upper left, their halves from above. They are those of the
        parity, or those of the orientation mark.
        """
        start = _PARITY if parity else _ORIENTATION
        left, right = float(self.px(start)), float(self.px(start + _BLOCK))
        blocks = []
        for at_bottom, at_right in ((0, 0), (0, 1), (1, 1), (1, 0)):
            x = (self.width - right, self.width - left) if at_right else (left, right)
            edges = self.row_edges(bool(at_bottom))
            halves = ((edges[0], edges[2]), (edges[2], edges[4]))
            blocks.append([_rectangle(x[0], top, x[1], bottom) for top, bottom in halves])
        return np.array(blocks)

    def image(self, label: Label) -> Points:
        """Return the four corners of the image, clockwise from its upper left."""
        margin = self.px(_IMAGE)
        room_x, room_y = self.width - 2 * margin, self.height - 2 * margin
        width, height = label.width, label.height
        if label.enlarged or width > room_x or height > room_y:
            if room_x * height <= room_y * width:
                width, height = room_x, max(1, (2 * height * room_x + width) // (2 * width))
            else:
                width, height = max(1, (2 * width * room_y + height) // (2 * height)), room_y
        left, top = margin + (room_x - width) // 2, margin + (room_y - height) // 2
        return _rectangle(left, top, left + width, top + height)

    def outline(self) -> Points:
        """Return the corners of the whole screen."""
        return _rectangle(0, 0, self.width, self.height)

    def _four(self, upper_left: Points) -> Points:
        """Mirror a square into the other three corners of the screen."""
        (left, top), _, (right, bottom), _ = upper_left
        xs = ((left, right), (self.width - right, self.width - left))
        ys = ((top, bottom), (self.height - bottom, self.height - top))
        return np.array(
            [
                _rectangle(xs[i][0], ys[j][0], xs[i][1], ys[j][1])
                for i, j in ((0, 0), (1, 0), (1, 1), (0, 1))
            ]
        )


def _places() -> Dict[str, NDArray[Any]]:
    """Return, for each strip and bit, the pair of rows, the column, and the row that says 1."""
    number = np.arange(BITS)
    pair, column = number // COLUMNS, number % COLUMNS
    pairs = np.array([pair, 1 - pair])
    columns = np.array([column, (column + COLUMNS // 2) % COLUMNS])
    return {"upper": 2 * pairs, "column": columns, "sign": np.where(number % 2, -1.0, 1.0)}


PLACES = _places()


def _rectangle(left: float, top: float, right: float, bottom: float) -> Points:
    return np.array([[left, top], [right, top], [right, bottom], [left, bottom]], dtype=float)


def _square(left: float, top: float, side: float) -> Points:
    return _rectangle(left, top, left + side, top + side)
