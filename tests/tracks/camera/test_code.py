# SPDX-License-Identifier: Apache-2.0
"""The margins' bits say what they should, and guard it."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import InputError
from referee.tracks.camera.code import (
    CODE_BITS,
    FrameLabel,
    code_bits,
    id_bits,
    session_tag,
    white_cell,
)
from referee.tracks.camera.geometry import COLUMNS, COLUMNS_A_HALF, ROWS, Screen

FULL_HD = Screen(1920, 1080)
labels = st.builds(
    FrameLabel,
    st.integers(0, 2**20 - 1),
    st.integers(1, 2**14 - 1),
    st.integers(1, 2**14 - 1),
    st.integers(0, 2**16 - 1),
)


def crc_bit_by_bit(bits: str) -> int:
    """Return CCITT's CRC-16 by the textbook's long division."""
    register = 0xFFFF
    for bit in bits:
        carry = (register >> 15) ^ int(bit)
        register = (register << 1) & 0xFFFF
        if carry:
            register ^= 0x1021
    return register


@given(labels, st.booleans())
def test_the_code_is_as_the_page_says(label, enlarged) -> None:
    """The bits are the fields in their order, then the CRC of them after four zeros."""
    bits = "".join(str(int(bit)) for bit in code_bits(label, FULL_HD, enlarged=enlarged))
    payload = (
        f"{label.image_id:020b}{label.width_px:014b}{label.height_px:014b}"
        f"{1920:013b}{1080:013b}{enlarged:d}0{label.tag:016b}"
    )
    assert payload + f"{crc_bit_by_bit('0000' + payload):016b}" == bits


def test_the_id_has_its_most_significant_bit_first() -> None:
    """An id of one bit lights the first cell of the left side, or the last of the right side."""
    assert [0] == [n for n, bit in enumerate(id_bits(FrameLabel(2**19, 1, 1, 0))) if bit]
    assert [19] == [n for n, bit in enumerate(id_bits(FrameLabel(1, 1, 1, 0))) if bit]


def test_a_tag_is_the_start_of_a_digest() -> None:
    """A session's tag is the first two bytes of its text's SHA-256; no text has a tag too."""
    digest = hashlib.sha256("Größe".encode()).hexdigest()
    assert int(digest[:4], 16) == session_tag("Größe")
    assert 0xE3B0 == session_tag("")


@pytest.mark.parametrize("at_bottom", [False, True])
def test_each_pair_of_cells_says_one_bit(at_bottom) -> None:
    """The bits fill a strip: each pair of cells belongs to one bit, and its values differ."""
    pairs = set()
    for number in range(CODE_BITS):
        (column, one), (same, zero) = (
            white_cell(number, bit, at_bottom=at_bottom) for bit in (True, False)
        )
        assert column == same
        assert {0, 1} == {one % 2, zero % 2}
        assert one // 2 == zero // 2
        pairs.add((column, one // 2))
    assert COLUMNS * ROWS // 2 == CODE_BITS == len(pairs)


def test_the_copies_of_a_bit_lie_far_apart() -> None:
    """Glare over less than half the width, above and below, leaves one copy of each bit."""
    for number in range(CODE_BITS):
        above, _ = white_cell(number, True, at_bottom=False)
        below, _ = white_cell(number, True, at_bottom=True)
        assert COLUMNS_A_HALF == abs(above - below)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ((-1, 5, 5, 0), "image id is -1; a frame can say 0 to 1048575"),
        ((2**20, 5, 5, 0), "image id is 1048576"),
        ((1, 0, 5, 0), "width is 0; a frame can say 1 to 16383"),
        ((1, 5, 16384, 0), "height is 16384"),
        ((1, 5, 5, 65536), "tag is 65536"),
    ],
)
def test_what_a_frame_cannot_say_is_refused(fields, message) -> None:
    """A label beyond its bits is refused with the bounds."""
    with pytest.raises(InputError, match=message):
        FrameLabel(*fields)
