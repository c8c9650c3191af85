# SPDX-License-Identifier: Apache-2.0
"""The bits that a frame's margins carry: the label of its image, and what guards it.

From the most significant bit: the image's id (20), width (14) and height (14), the screen's width
(13) and height (13), whether the image was enlarged (1), a zero (1), the session's tag (16), and
a CRC (16) of all these.
"""

from __future__ import annotations

import binascii
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from referee.errors import InputError
from referee.tracks.camera.geometry import COLUMNS, COLUMNS_A_HALF, WITNESSES, Screen

ID_BITS, SIZE_BITS, SCREEN_BITS, TAG_BITS, CRC_BITS = 20, 14, 13, 16, 16
CODE_BITS = ID_BITS + 2 * SIZE_BITS + 2 * SCREEN_BITS + 2 + TAG_BITS + CRC_BITS

_PAYLOAD_BYTES = 12  # 92 bits, after four leading zeros


def session_tag(text: str) -> int:
    """Return the tag of a session's text: the first 16 bits of its SHA-256."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[: TAG_BITS // 8], "big")


@dataclass(frozen=True)
class FrameLabel:
    """What the margins say of an image; width and height are those of the stored pixels."""

    image_id: int
    width_px: int
    height_px: int
    tag: int

    def __post_init__(self) -> None:
        _check("image id", self.image_id, 0, ID_BITS)
        _check("image's width", self.width_px, 1, SIZE_BITS)
        _check("image's height", self.height_px, 1, SIZE_BITS)
        _check("session's tag", self.tag, 0, TAG_BITS)


def id_bits(label: FrameLabel) -> tuple[bool, ...]:
    """Return the 20 bits of the id, most significant first."""
    return _bits(label.image_id, ID_BITS)


def code_bits(label: FrameLabel, screen: Screen, *, enlarged: bool = False) -> tuple[bool, ...]:
    """Return the 108 bits of the code, most significant first."""
    payload = 0
    for value, bits in (
        (label.image_id, ID_BITS),
        (label.width_px, SIZE_BITS),
        (label.height_px, SIZE_BITS),
        (screen.width_px, SCREEN_BITS),
        (screen.height_px, SCREEN_BITS),
        (int(enlarged), 1),
        (0, 1),  # A later version of the frame may set this bit.
        (label.tag, TAG_BITS),
    ):
        payload = payload << bits | value
    # CRC-16 of CCITT: x^16 + x^12 + x^5 + 1, which starts with ones.
    crc = binascii.crc_hqx(payload.to_bytes(_PAYLOAD_BYTES, "big"), 0xFFFF)
    return _bits(payload << CRC_BITS | crc, CODE_BITS)


def white_cell(number: int, bit: bool, *, at_bottom: bool) -> tuple[int, int]:
    """Return the column and the row of the white cell that says a bit; `number` counts from 0.

    Each bit has a pair of cells, one above the other, and one of the two is white. For an even
    number the upper one says 1, for an odd number the lower one: so long runs of equal bits still
    change from column to column. Bits 0 to 53 fill the upper two rows, the others the lower two.
    The strip at the bottom has its halves and its pairs exchanged, so glare over any one place of
    the screen leaves one copy of each bit.
    """
    pair, column = divmod(number, COLUMNS)
    if at_bottom:
        pair, column = 1 - pair, (column + COLUMNS_A_HALF) % COLUMNS
    upper = bit != bool(number % 2)
    return column, 2 * pair + (not upper)


def white_witnesses(bits: Sequence[bool], parity: int) -> tuple[bool, ...]:
    """Return for each pair of witnesses, from above, whether the left one is white.

    A pair stands at one height, one cell on each side of the image, and one of the two is white.
    So a dark band hides a white cell at any height, whatever the id. The pairs say the parity and
    the bits of the CRC in turn, so they show a change of the frame at any height.
    """
    return tuple(
        bool(bits[-CRC_BITS + number // 2]) if number % 2 else not (number // 2 + parity) % 2
        for number in range(WITNESSES)
    )


def _bits(value: int, count: int) -> tuple[bool, ...]:
    return tuple(bool(value >> shift & 1) for shift in range(count - 1, -1, -1))


def _check(what: str, value: int, least: int, bits: int) -> None:
    most = (1 << bits) - 1
    if not least <= value <= most:
        raise InputError(f"The {what} is {value}; a frame can say {least} to {most}.")
