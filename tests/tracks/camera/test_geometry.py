# SPDX-License-Identifier: Apache-2.0
"""Everything in a frame has its place, on screens of any size and shape."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import InputError
from referee.tracks.camera.geometry import (
    COLUMNS,
    IMAGE_EDGE,
    ORIENTATION_START,
    PARITY_START,
    ROWS,
    Rect,
    Screen,
    anchors,
    code_cell,
    end_block,
    id_cells,
    image_rect,
    markers,
)

FULL_HD = Screen(1920, 1080)
SCREENS = [
    *(FULL_HD, Screen(3840, 2160), Screen(1024, 768), Screen(1080, 1920), Screen(1000, 1000)),
    *(Screen(1366, 768), Screen(960, 240), Screen(240, 960), Screen(8191, 4321)),
]
HALVES = (False, True)


def whole_margin(screen: Screen) -> list[Rect]:
    """Return every place in the margins."""
    cells = [
        code_cell(screen, at_bottom=at_bottom, column=column, row=row)
        for at_bottom in HALVES
        for column in range(COLUMNS)
        for row in range(ROWS)
    ]
    blocks = [
        end_block(screen, at_bottom=at_bottom, at_right=at_right, start=start, lower=lower)
        for at_bottom in HALVES
        for at_right in HALVES
        for start in (ORIENTATION_START, PARITY_START)
        for lower in HALVES
    ]
    return [*markers(screen), *id_cells(screen), *anchors(screen), *blocks, *cells]


def mirrored(rect: Rect, screen: Screen, *, across: bool, down: bool) -> Rect:
    """Return a rectangle's mirror image on the screen."""
    left, right, top, bottom = rect.left, rect.right, rect.top, rect.bottom
    if across:
        left, right = screen.width_px - right, screen.width_px - left
    if down:
        top, bottom = screen.height_px - bottom, screen.height_px - top
    return Rect(left, top, right, bottom)


def test_full_hd_is_as_the_page_says() -> None:
    """On 1920x1080 the unit is 12 pixels, so all places are round numbers."""
    assert (
        Rect(18, 18, 114, 114),
        Rect(1806, 18, 1902, 114),
        Rect(1806, 966, 1902, 1062),
        Rect(18, 966, 114, 1062),
    ) == markers(FULL_HD)
    cells = id_cells(FULL_HD)
    assert (54, 54) == cells[0].size
    assert (39, 130) == (cells[0].left, cells[0].top)
    assert 1920 - 39 == cells[19].right
    assert Rect(936, 42, 984, 90) == anchors(FULL_HD)[0]
    assert Rect(222, 18, 248, 42) == code_cell(FULL_HD, at_bottom=False, column=0, row=0)
    assert 1920 - 222 == code_cell(FULL_HD, at_bottom=True, column=53, row=3).right


@pytest.mark.slow
@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_nothing_overlaps_and_nothing_leaves_the_screen(screen: Screen) -> None:
    """All places have room on the screen, and none shares a pixel with another or the image."""
    places = whole_margin(screen)
    margin = screen.px(IMAGE_EDGE)
    room = Rect(margin, margin, screen.width_px - margin, screen.height_px - margin)
    for rect in places:
        assert min(rect.size) >= 2
        assert 0 < rect.left < rect.right < screen.width_px
        assert 0 < rect.top < rect.bottom < screen.height_px
    for one, other in combinations([*places, room], 2):
        apart_x = one.right <= other.left or other.right <= one.left
        apart_y = one.bottom <= other.top or other.bottom <= one.top
        assert apart_x or apart_y


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_the_margins_are_symmetrical_to_the_pixel(screen: Screen) -> None:
    """A frame that is turned or mirrored has cells at the same places.

    An anchor's place is in the middle, so there an odd pixel may go to the right.
    """
    places = set(whole_margin(screen)) - set(anchors(screen))
    for across, down in ((True, False), (False, True), (True, True)):
        assert places == {mirrored(rect, screen, across=across, down=down) for rect in places}


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        ((300, 200), (300, 200)),
        ((1656, 816), (1656, 816)),
        ((1657, 816), (1656, 816)),
        ((1656, 817), (1654, 816)),
        ((4000, 3000), (1088, 816)),
        ((16383, 1), (1656, 1)),
        ((1, 16383), (1, 816)),
    ],
)
def test_an_image_is_reduced_only_if_it_does_not_fit(size, shown) -> None:
    """An image keeps its pixels if there is room; otherwise one side takes the whole room."""
    assert shown == image_rect(FULL_HD, *size).size


def test_an_image_is_enlarged_only_on_request() -> None:
    """`enlarge` makes a small image as large as the room allows."""
    assert Rect(552, 132, 1368, 948) == image_rect(FULL_HD, 60, 60, enlarge=True)
    assert Rect(930, 510, 990, 570) == image_rect(FULL_HD, 60, 60)


@given(st.sampled_from(SCREENS), st.integers(1, 16383), st.integers(1, 16383), st.booleans())
def test_every_image_stands_in_the_middle(screen, width, height, enlarge) -> None:
    """An image lies within its room, in the middle, and keeps its aspect within half a pixel."""
    rect = image_rect(screen, width, height, enlarge=enlarge)
    margin = screen.px(IMAGE_EDGE)
    spare_x = rect.left - margin, screen.width_px - margin - rect.right
    spare_y = rect.top - margin, screen.height_px - margin - rect.bottom
    for before, after in (spare_x, spare_y):
        assert 0 <= before <= after <= before + 1
    shown_x, shown_y = rect.size
    error_px = min(abs(shown_x - shown_y * width / height), abs(shown_y - shown_x * height / width))
    assert error_px <= 0.5 or 1 in rect.size
    if not enlarge:
        assert shown_x <= width and shown_y <= height


@pytest.mark.parametrize("text", ["", "1920", "1920*1080", "0x1080", "-1x5", "1920x1080x3", "axb"])
def test_nonsense_is_no_screen(text) -> None:
    """A text that is no size is refused with an example."""
    with pytest.raises(InputError, match="write it like 1920x1080"):
        Screen.parse(text)


@pytest.mark.parametrize("text", ["100x100", "8192x4320", "1920x239", "4000x900"])
def test_a_screen_that_cannot_show_a_frame_is_refused(text) -> None:
    """A screen that is too small, too large or too elongated is refused with the bound."""
    with pytest.raises(InputError, match="cannot show a frame"):
        Screen.parse(text)
