# SPDX-License-Identifier: Apache-2.0
"""The sample's reading of the specification is that of the referee."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from client_sample.camera import frame as sample
from client_sample.camera.frame import (
    BITS,
    COLUMNS,
    PLACES,
    FrameLayout,
    Label,
    pack,
    session_tag,
    unpack,
)
from referee.tracks.camera import code, geometry
from referee.tracks.camera.compose import ORIENTATION

SCREENS = [
    geometry.Screen(*size)
    for size in ((1920, 1080), (1366, 768), (1001, 777), (1080, 1920), (3840, 2160), (240, 960))
]
HALVES = (False, True)
CLOCKWISE = ((False, False), (False, True), (True, True), (True, False))

labels = st.builds(
    Label,
    st.integers(0, 2**20 - 1),
    st.integers(1, 2**14 - 1),
    st.integers(1, 2**14 - 1),
    st.integers(240, 8191),
    st.integers(240, 8191),
    st.booleans(),
    st.integers(0, 2**16 - 1),
)


def rect(corners) -> geometry.Rect:
    """Return the rectangle that four corners make."""
    return geometry.Rect(*(int(value) for value in (*corners[0], *corners[2])))


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_everything_is_where_the_referee_draws_it(screen) -> None:
    """Markers, anchors, cells, blocks and the image have the referee's pixels, on any screen."""
    frame = FrameLayout(screen.width_px, screen.height_px)
    assert list(geometry.markers(screen)) == [rect(corners) for corners in frame.markers()]
    assert list(geometry.anchors(screen)) == [rect(corners) for corners in frame.anchors()]
    assert list(geometry.id_cells(screen)) == [rect(corners) for corners in frame.id_cells()]
    left, right = frame.column_edges()
    for at_bottom in HALVES:
        rows = frame.row_edges(at_bottom)
        for column in range(COLUMNS):
            for row in range(4):
                drawn = geometry.code_cell(screen, at_bottom=at_bottom, column=column, row=row)
                assert drawn.size == (right[column] - left[column], rows[row + 1] - rows[row])
                assert (drawn.left, drawn.top) == (left[column], rows[row])
    for parity, start in ((False, geometry.ORIENTATION_START), (True, geometry.PARITY_START)):
        for corner, (at_bottom, at_right) in zip(frame.blocks(parity), CLOCKWISE, strict=True):
            for lower in HALVES:
                assert rect(corner[int(lower)]) == geometry.end_block(
                    screen, at_bottom=at_bottom, at_right=at_right, start=start, lower=lower
                )


@given(st.sampled_from(SCREENS), labels)
def test_the_image_is_where_the_referee_shows_it(screen, label) -> None:
    """The margins alone tell the image's rectangle to the pixel."""
    frame = FrameLayout(screen.width_px, screen.height_px)
    shown = geometry.image_rect(screen, label.width, label.height, enlarge=label.enlarged)
    assert shown == rect(frame.image(label))


@given(labels)
def test_the_bits_mean_the_same_to_both(label) -> None:
    """What the referee writes is what the sample reads; tags agree too."""
    short, long = sorted((label.screen_width, label.screen_height))
    if long <= 4 * short:
        bits = code.code_bits(
            code.FrameLabel(label.image_id, label.width, label.height, label.tag),
            geometry.Screen(label.screen_width, label.screen_height),
            enlarged=label.enlarged,
        )
        assert list(bits) == pack(label).tolist()
    assert label == unpack(pack(label))
    assert code.session_tag(str(label.tag)) == session_tag(str(label.tag))


@given(labels, st.lists(st.integers(0, BITS - 1), min_size=1, max_size=3, unique=True))
def test_up_to_three_wrong_bits_are_never_accepted(label, wrong) -> None:
    """The CRC finds any one, two or three wrong bits of a code."""
    bits = pack(label)
    bits[wrong] = ~bits[wrong]
    assert unpack(bits) is None


def test_a_later_version_of_the_frame_is_not_read() -> None:
    """A code with the reserved bit set is refused, even with a right CRC."""
    label = Label(1, 2, 3, 1920, 1080, False, 4)
    assert unpack(pack(label)) == label
    value = int("".join(map(str, pack(label).astype(int))), 2) >> 16 | 1 << 16
    crc = sample.binascii.crc_hqx(value.to_bytes(12, "big"), 0xFFFF)
    bits = np.array([bit == "1" for bit in f"{value << 16 | crc:0{BITS}b}"])
    assert unpack(bits) is None


def test_each_bit_has_the_referees_cells() -> None:
    """The places of the bits in both strips are the referee's, and so is the orientation mark."""
    for strip in (0, 1):
        for number in range(BITS):
            column, white = code.white_cell(number, True, at_bottom=bool(strip))
            assert column == PLACES["column"][strip][number]
            lower = PLACES["sign"][number] < 0
            assert white == PLACES["upper"][strip][number] + lower
    drawn = [ORIENTATION[corner] for corner in CLOCKWISE]
    assert drawn == [tuple(map(bool, corner)) for corner in sample.ORIENTATION]
