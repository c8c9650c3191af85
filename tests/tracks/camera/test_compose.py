# SPDX-License-Identifier: Apache-2.0
"""Frames show the image pixel for pixel, and the rules of 2016 hold."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from referee.errors import InputError
from referee.tracks.camera import card
from referee.tracks.camera.code import FrameLabel
from referee.tracks.camera.compose import black, compose
from referee.tracks.camera.geometry import Screen, image_rect

FULL_HD = Screen(1920, 1080)
SCREENS = [FULL_HD, Screen(1024, 768), Screen(1080, 1920), Screen(1000, 1000)]


def noise(width: int, height: int) -> Image.Image:
    """Return a picture without two equal places."""
    pixels = np.random.default_rng(1).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


def frame_of(picture: Image.Image, screen: Screen, image_id: int = 5, parity: int = 0) -> NDArray:
    """Return the frame of a picture as pixels."""
    label = FrameLabel(image_id, *picture.size, tag=77)
    return np.asarray(compose(picture, label, screen, parity))


def white_corners(total: NDArray, side: int) -> dict[tuple[bool, bool], tuple[int, int]]:
    """Return, for each quarter, the white square of this side that is nearest to its corner.

    `total` holds the number of white pixels above and to the left of each pixel.
    """
    height, width = (length - 1 for length in total.shape)
    count = (
        total[side:, side:] - total[:-side, side:] - total[side:, :-side] + total[:-side, :-side]
    )
    y, x = np.nonzero(count == side * side)
    edge = np.minimum(y, height - side - y) + np.minimum(x, width - side - x)
    found = {}
    for below in (False, True):
        for at_right in (False, True):
            here = np.flatnonzero((2 * y + side > height) == below)
            here = here[(2 * x[here] + side > width) == at_right]
            if len(here):
                best = here[edge[here].argmin()]
                found[below, at_right] = int(y[best]), int(x[best])
    return found


def read_as_in_2016(frame: NDArray) -> int:
    """Read an id by the rules of 2016 alone: four equal white squares, ten samples a side.

    It knows neither the markers' size nor anything that is newer: it looks for the largest squares
    that are white in each quarter of the frame, and there for those nearest to the corner.
    """
    white = (frame.mean(axis=2) > 128).astype(np.int64)
    total = np.pad(white.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
    least, most = 8, min(white.shape) // 4
    while most - least > 1:
        middle = (least + most) // 2
        if len(white_corners(total, middle)) == 4:
            least = middle
        else:
            most = middle
    side, corners = least, white_corners(total, least)
    value = 0
    for at_right in (False, True):
        upper, x = corners[False, at_right]
        lower, _ = corners[True, at_right]
        start, step = upper + side, (lower - upper - side) / 10
        for k in range(10):
            value = 2 * value + int(white[round(start + (k + 0.5) * step), x + side // 2])
    return value


@pytest.mark.slow
@pytest.mark.parametrize("screen", SCREENS, ids=str)
@pytest.mark.parametrize(
    "image_id", [0, 2**20 - 1, 0b1000000000_0000000001, 0b0110010111_1010011010]
)
def test_a_decoder_of_2016_reads_the_id(screen, image_id) -> None:
    """A decoder that knows only the rules of 2016 reads the id beside everything that is new."""
    picture = Image.new("RGB", (640, 480), (90, 120, 60))
    assert image_id == read_as_in_2016(frame_of(picture, screen, image_id, parity=image_id % 2))


@pytest.mark.parametrize("screen", SCREENS, ids=str)
def test_an_image_that_fits_is_shown_pixel_for_pixel(screen) -> None:
    """The frame has the screen's size and, in the image's rectangle, the image's own pixels."""
    picture = noise(300, 200)
    frame = frame_of(picture, screen)
    assert (screen.height_px, screen.width_px, 3) == frame.shape
    rect = image_rect(screen, 300, 200)
    assert np.array_equal(
        np.asarray(picture), frame[rect.top : rect.bottom, rect.left : rect.right]
    )


def test_all_around_the_image_is_black() -> None:
    """Between the margins there is nothing but the image."""
    frame = frame_of(Image.new("RGB", (100, 50), (255, 255, 255)), FULL_HD).copy()
    rect = image_rect(FULL_HD, 100, 50)
    frame[rect.top : rect.bottom, rect.left : rect.right] = 0
    assert 0 == frame[132:948, 132:1788].max()


def test_parity_changes_all_four_corners_and_cells_at_every_height() -> None:
    """The two frames of an image differ in a block beside each marker, and beside the image."""
    picture = noise(300, 200)
    changed = np.argwhere(
        (frame_of(picture, FULL_HD) != frame_of(picture, FULL_HD, parity=1))[..., 0]
    )
    strips = changed[(changed[:, 0] < 132) | (changed[:, 0] >= 948)]
    assert 4 * 2 * 36 * 48 == len(strips)
    assert {174, 1920 - 174 - 1} == {strips[:, 1].min(), strips[:, 1].max()}
    sides = changed[(changed[:, 0] >= 138) & (changed[:, 0] < 942)]
    assert {102, 1920 - 102 - 1} == {sides[:, 1].min(), sides[:, 1].max()}
    # Every second pair says the parity.
    assert 16 == round(len(sides) / (2 * 24 * 804 / 32))


@pytest.mark.parametrize("screen", SCREENS, ids=str)
@pytest.mark.parametrize("image_id", [0, 1, 2**20 - 1])
def test_something_is_white_beside_the_image_at_every_height(screen, image_id) -> None:
    """Whatever the id, a dark band hides white: one of the two cells of each height is."""
    frame = frame_of(Image.new("RGB", (640, 480)), screen, image_id)[..., 0]
    start = screen.px(23)
    column = (screen.px(17) + screen.px(21)) // 2
    beside = frame[start:-start, [column, screen.width_px - 1 - column]] > 0
    assert beside.any(axis=1).all()
    assert not beside.all(axis=1).any()


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "LA", "CMYK", "1"])
def test_pictures_of_any_kind_are_shown(mode) -> None:
    """A picture that is not RGB is shown in RGB."""
    picture = Image.new("L", (40, 30), 255).convert(mode)
    frame = frame_of(picture, FULL_HD)
    rect = image_rect(FULL_HD, 40, 30)
    assert frame[rect.top : rect.bottom, rect.left : rect.right].min() >= 250


def test_sixteen_bits_are_shown_with_their_upper_eight() -> None:
    """A picture of 16 bits keeps its greys; nothing of it is cut off at white."""
    levels = np.array([[0, 257, 128 * 257, 254 * 257, 65535]], dtype=np.uint16)
    frame = compose(Image.fromarray(levels), FrameLabel(1, 5, 1, 0), Screen(640, 480), 0)
    left, top, right, bottom = vars(image_rect(Screen(640, 480), 5, 1)).values()
    shown = np.asarray(frame)[top:bottom, left:right]
    assert [[0, 1, 128, 254, 255]] == shown[..., 0].tolist() == shown[..., 2].tolist()


def test_what_is_transparent_is_black() -> None:
    """The black of the frame shows through a picture's transparent places."""
    frame = frame_of(Image.new("RGBA", (40, 30), (255, 255, 255, 0)), FULL_HD)
    rect = image_rect(FULL_HD, 40, 30)
    assert 0 == frame[rect.top : rect.bottom, rect.left : rect.right].max()


def test_the_stored_pixels_count_and_not_the_cameras_orientation() -> None:
    """A picture whose EXIF data ask for a turn is shown as its pixels are stored."""
    picture = noise(60, 40)
    picture.getexif()[0x0112] = 6
    rect = image_rect(FULL_HD, 60, 40)
    frame = frame_of(picture, FULL_HD)
    assert np.array_equal(
        np.asarray(picture), frame[rect.top : rect.bottom, rect.left : rect.right]
    )


def test_a_label_of_another_size_is_refused() -> None:
    """A frame whose label does not fit its image is never made."""
    with pytest.raises(InputError, match="says 300x200, but the image has 60x40"):
        compose(noise(60, 40), FrameLabel(1, 300, 200, 0), FULL_HD, 0)


def test_a_parity_is_one_bit() -> None:
    """A parity of 2 is refused, so a count of frames is never passed by mistake."""
    with pytest.raises(InputError, match="0 or 1, not 2"):
        compose(noise(60, 40), FrameLabel(1, 60, 40, 0), FULL_HD, 2)


def test_a_black_frame_is_black() -> None:
    """The frame between sessions has the screen's size and no light."""
    assert (1080, 1920, 3) == np.asarray(black(FULL_HD)).shape
    assert 0 == np.asarray(black(FULL_HD)).max()


@pytest.mark.parametrize("screen", [*SCREENS, Screen(240, 960), Screen(960, 240)], ids=str)
def test_a_test_card_shows_markers_and_the_moment(screen) -> None:
    """The card has the frame's markers, and another moment is another card."""
    first, second = (np.asarray(card.test_card(screen, moment)) for moment in (0, 1))
    assert (screen.height_px, screen.width_px, 3) == first.shape
    frame = frame_of(Image.new("RGB", (1, 1)), screen, image_id=0)
    near, far = screen.px(3), screen.px(19)
    assert np.array_equal(frame[near:far, near:far], first[near:far, near:far])
    assert (first != second).any()
