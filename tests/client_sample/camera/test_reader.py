# SPDX-License-Identifier: Apache-2.0
"""Photographs are read through a bad lens, never wrongly, and refused by name.

It tests all modules of the reader: a photograph goes through every one.
"""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from client_sample.camera.edges import edges_of
from client_sample.camera.frame import FrameLayout, unpack
from client_sample.camera.mapping import Mapping
from client_sample.camera.reader import read
from client_sample.camera.reading import Unread
from client_sample.camera.samples import Samples, pairs_of_cells
from referee.demo.lens import photograph
from referee.demo.severity import MEDIUM, MILD, SEVERITIES
from referee.tracks.camera.code import FrameLabel
from referee.tracks.camera.geometry import Screen
from tests.client_sample.camera.conftest import LABEL
from tests.support.frames import (
    chance_frame,
    chance_label,
    plain,
    says,
    source_errors,
    without_screen,
)
from tests.support.other_lens import other_photograph

pytestmark = pytest.mark.slow


def as_bgr(pixels):
    """Return RGB pixels as OpenCV has them."""
    return np.ascontiguousarray(pixels[..., ::-1])


@pytest.mark.parametrize("severity", SEVERITIES.values(), ids=lambda severity: severity.name)
@pytest.mark.parametrize("seed", range(2))
def test_frames_are_read_through_the_lens(severity, seed) -> None:
    """Frames of any id and size are read, and cut out to within three pixels of the source."""
    chance = np.random.default_rng((seed, 1))
    label = chance_label(chance)
    taken = photograph(chance_frame(label, chance), severity, chance)
    reading = read(as_bgr(taken.pixels))
    assert says(reading, label)
    assert source_errors(reading, taken.view, label).max() < 3


@pytest.mark.parametrize("seed", range(2))
def test_frames_are_read_through_another_lens(seed) -> None:
    """A camera that is simulated in another way is read as well."""
    chance = np.random.default_rng((seed, 99))
    label = chance_label(chance)
    assert says(read(other_photograph(chance_frame(label, chance), chance)), label)


@pytest.mark.parametrize("size", ["1280x1024", "1080x1920", "1000x1000", "2560x1080"])
def test_screens_of_any_shape_are_read(size) -> None:
    """The reader needs no word about the screen: the frame tells it."""
    chance = np.random.default_rng(5)
    label = FrameLabel(77, 1000, 700, 9)
    taken = photograph(chance_frame(label, chance, Screen.parse(size)), MILD, chance)
    reading = read(as_bgr(taken.pixels), tag=9)
    assert says(reading, label)
    errors = source_errors(reading, taken.view, label, Screen.parse(size))
    assert errors.max() < 3


@pytest.mark.parametrize("side", ["top", "bottom", "left", "right"])
def test_one_side_under_glare_is_survived(frame, side) -> None:
    """A frame is read when one whole side, with its two markers, is nothing but white."""
    lit = frame.copy()
    margin = slice(0, 125)
    whole = {
        "top": lit[margin],
        "bottom": lit[::-1][margin],
        "left": lit[:, margin],
        "right": lit[:, ::-1][:, margin],
    }
    whole[side][...] = 255
    taken = photograph(lit, MEDIUM, np.random.default_rng(0))
    reading = read(as_bgr(taken.pixels))
    assert says(reading, LABEL)
    assert source_errors(reading, taken.view, LABEL).max() < 3


def test_glare_over_both_copies_is_refused_by_name(frame) -> None:
    """A frame with light over both strips is not read; the reason says glare."""
    lit = frame.copy()
    lit[18:114, 222:480] = 255
    lit[-114:-18, 994:1260] = 255
    with pytest.raises(Unread, match="^glare over the code"):
        read(plain(lit))


@pytest.fixture(scope="module")
def corners(photo):
    """Return where the reader finds the image in the photograph as it was taken."""
    return read(photo).corners


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_turned_photograph_is_read(photo, label, corners, quarters) -> None:
    """A frame upside down or on its side is read, and the image's corners turn with it."""
    straight = corners
    turned = read(np.ascontiguousarray(np.rot90(photo, quarters)))
    assert says(turned, label)
    height, width = photo.shape[:2]
    for _ in range(quarters):
        straight = np.stack([straight[:, 1], width - straight[:, 0]], axis=1)
        height, width = width, height
    assert np.allclose(straight, turned.corners, atol=0.3)


@pytest.mark.parametrize("axis", [0, 1])
def test_a_mirrored_photograph_is_refused_by_name(photo, axis) -> None:
    """A mirrored frame is never read: boxes in it would be wrong."""
    with pytest.raises(Unread, match="^mirrored"):
        read(np.ascontiguousarray(np.flip(photo, axis)))


@pytest.mark.parametrize("seed", range(2))
def test_a_mix_of_two_frames_is_refused_by_name(seed) -> None:
    """A photograph whose upper part shows one frame and the rest the next is never read."""
    chance = np.random.default_rng(seed)
    first = chance_frame(FrameLabel(5, 300, 200, 1), np.random.default_rng(1))
    second = chance_frame(FrameLabel(6, 400, 300, 1), np.random.default_rng(2))
    taken = photograph(first, MEDIUM, chance, other=second)
    with pytest.raises(Unread, match="^mixed frame"):
        read(as_bgr(taken.pixels))


def test_a_mix_side_by_side_is_refused_by_name() -> None:
    """A photograph whose left part shows one frame and the rest the next is never read."""
    first = chance_frame(FrameLabel(1, 640, 480, 1), np.random.default_rng(1))
    second = chance_frame(FrameLabel(5, 640, 480, 2), np.random.default_rng(2))
    for column, taken in ((900, as_bgr), (1000, plain)):
        mixed = first.copy()
        mixed[:, column:] = second[:, column:]
        with pytest.raises(Unread):
            read(taken(mixed))


def light_of(screen):
    """Return the light that pixels of a screen give, from 0 to 1."""
    return ((np.arange(256) / 255) ** 2.2).astype(np.float32)[screen]


def exposed(light):
    """Return the pixels that a camera makes of light."""
    return np.asarray(255 * np.clip(light, 0, 1) ** (1 / 2.2) + 0.5).astype(np.uint8)


@cache
def chance_photograph(*seed):
    """Return (label, photograph in BGR) of a chance frame, through a mild lens."""
    chance = np.random.default_rng(seed)
    label = chance_label(chance)
    return label, as_bgr(photograph(chance_frame(label, chance), MILD, chance).pixels)


@pytest.mark.parametrize("share", [0.5, 0.7, 0.8])
@pytest.mark.parametrize("image_id", [6, 700])
def test_two_frames_in_one_long_exposure_are_refused_by_name(share, image_id) -> None:
    """A frame through which the next one shines is never read, and nobody looks for a lamp."""
    first = chance_frame(FrameLabel(5, 300, 200, 1), np.random.default_rng(1))
    second = chance_frame(FrameLabel(image_id, 400, 300, 1), np.random.default_rng(2))
    mixed = exposed(share * light_of(first) + (1 - share) * light_of(second))
    for taken in (plain(mixed), as_bgr(photograph(mixed, MILD, np.random.default_rng(3)).pixels)):
        with pytest.raises(Unread, match="^mixed frame"):
            read(taken)


@pytest.mark.parametrize("black", [slice(0, 160), slice(-160, None)])
def test_a_frame_that_was_black_for_a_part_of_the_exposure_is_refused(frame, black) -> None:
    """The first frame after black, as a rolling shutter sees it, is not read: its image is cut."""
    part = frame.copy()
    part[black] = 0
    with pytest.raises(Unread, match="^dark band: the image is not whole"):
        read(plain(part))


def test_a_white_photograph_is_called_over_exposed() -> None:
    """Where nothing but white is left, the reason says what to change."""
    white = np.full((960, 1280, 3), 255, dtype=np.uint8)
    white[:300] = 180
    with pytest.raises(Unread, match="^over-exposed"):
        read(white)


def spread(light, sigma_px):
    """Return light that a Gaussian spreads; a wide one is made of a reduced picture."""
    scale = max(1, sigma_px // 4)
    height, width = light.shape[:2]
    size = (width // scale, height // scale)
    small = cv2.resize(light, size, interpolation=cv2.INTER_AREA)
    return cv2.resize(cv2.GaussianBlur(small, (0, 0), sigma_px / scale), (width, height))


def over_exposed(pixels, stops, bloom):
    """Return a photograph exposed so many stops too long, its light run over what is beside it."""
    light = light_of(pixels) * 2**stops
    over = np.maximum(light - 1, 0)
    for sigma_px, share in ((3, bloom), (12, bloom / 2), (50, bloom / 4)):
        if share:
            light += share * spread(over, sigma_px)
    return (255 * np.clip(light, 0, 1) ** (1 / 2.2)).astype(np.uint8)


@pytest.mark.parametrize("bloom", [0, 0.15, 0.6])
@pytest.mark.parametrize("stops", [1, 2, 3])
def test_an_exposure_that_is_too_long_never_gives_a_wrong_label(stops, bloom) -> None:
    """White that is clipped and blooms is read as it was, or not at all; one stop does no harm."""
    label, photo = chance_photograph(stops, 21)
    try:
        assert says(read(over_exposed(photo, stops, bloom)), label)
    except Unread:
        assert stops > 1 and bloom > 0


@pytest.mark.parametrize("seed", range(3))
def test_markers_that_bloom_are_called_over_exposed(seed) -> None:
    """Where the light has hidden the markers, the reason is the exposure, and not the screen."""
    _, photo = chance_photograph(seed, 22)
    with pytest.raises(Unread, match="^over-exposed"):
        read(over_exposed(photo, 4, 0.6))


def test_a_strip_without_any_edge_is_read_over() -> None:
    """A strip under one even light has no edges to fit, and the others are kept."""
    frame = FrameLayout(1920, 1080)
    even = np.zeros((2, 2, 54))
    edges = edges_of(frame, even, np.zeros(20, dtype=bool), (True, True))
    assert edges.middle.shape == edges.along.shape == edges.normal.shape
    assert 2 == edges.middle.shape[1] and len(edges.middle) >= 16


def test_another_sessions_frame_is_refused_by_name(photo, label) -> None:
    """With a tag, a frame of another tag is stale; its own and none are taken."""
    assert says(read(photo, label.tag), label)
    assert says(read(photo), label)
    with pytest.raises(Unread, match="^stale: another session's frame"):
        read(photo, label.tag ^ 1)


@pytest.mark.parametrize("sigma_px", [7, 9, 12, 20, 40])
def test_a_blurred_photograph_is_refused_by_name(photo, sigma_px) -> None:
    """A photograph out of focus is called blurred, whatever the blur makes of its squares."""
    with pytest.raises(Unread, match="^blurred"):
        read(np.asarray(cv2.GaussianBlur(photo, (0, 0), sigma_px), dtype=np.uint8))


def test_a_frame_that_is_too_small_is_refused_by_name(photo) -> None:
    """A screen far away has cells too small to read, and the reason says so."""
    small = np.full_like(photo, 12)
    small[300:435, 400:580] = cv2.resize(photo, (180, 135), interpolation=cv2.INTER_AREA)
    with pytest.raises(Unread, match="^(too small|no screen).*nearer"):
        read(small)


@pytest.mark.parametrize("quarters", [0, 1, 2, 3])
def test_half_a_screen_is_called_partly_outside(photo, quarters) -> None:
    """Where one side of the screen is in the photograph, the reason says how to hold the camera."""
    turned = np.rot90(photo, quarters)
    half = (
        turned[:, turned.shape[1] // 2 :] if quarters % 2 == 0 else turned[turned.shape[0] // 2 :]
    )
    with pytest.raises(Unread, match="^partly outside"):
        read(np.ascontiguousarray(half))


def test_an_image_that_is_whole_is_read_without_the_frames_lower_half(frame) -> None:
    """Cells of the id that are not in the photograph say nothing about the image."""
    label = FrameLabel(0b1011001110_0111101011, 200, 100, 5)
    small = plain(chance_frame(label, np.random.default_rng(3)))
    assert says(read(small[:600]), label)


@pytest.mark.parametrize("shift", [-330, 330])
def test_a_frame_partly_outside_is_never_read_wrongly(photo, label, shift) -> None:
    """A photograph that lacks a part of the screen is read rightly or not at all."""
    try:
        reading = read(np.ascontiguousarray(np.roll(photo, shift, axis=1)[:, 330:-330]))
    except Unread:
        return
    assert says(reading, label)


# Seeds of each kind of picture.
NO_SCREENS = {
    "squares-on-black": 11,
    "chessboard": 21,
    "house-front": 1,
    "squares-in-a-hall": 4,
    "hall": 0,
}


@pytest.mark.parametrize("seed", NO_SCREENS.values(), ids=NO_SCREENS)
def test_pictures_without_a_screen_are_never_read(seed) -> None:
    """Chessboards, fronts of houses and four squares on black are no frames."""
    with pytest.raises(Unread):
        read(without_screen(np.random.default_rng(seed)))


@pytest.mark.parametrize("shape", [(1, 1), (3, 2000), (40, 40), (960, 1280)])
def test_pictures_with_nothing_in_them_are_refused(shape) -> None:
    """An even picture of any size has no screen."""
    with pytest.raises(Unread, match="^no screen"):
        read(np.full((*shape, 3), 90, dtype=np.uint8))


@pytest.fixture(scope="module")
def straight():
    """Return the map from the frame to itself, without a camera."""
    # A photograph of 2x2 pixels has its middle at 1, 1 and half a diagonal of the root of 2.
    to_photo = np.diag([np.sqrt(0.5), np.sqrt(0.5), 1.0])
    to_photo[:2, 2] = -np.sqrt(0.5)
    return Mapping(to_photo, (0.0, 0.0, 0.0), (2, 2))


@pytest.fixture(scope="module")
def clean(frame, straight):
    """Return the samples of the frame itself."""
    gray = cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY)
    return Samples.of(gray, FrameLayout(1920, 1080), straight)


def test_cells_of_a_frame_alternate_and_others_do_not(frame, straight) -> None:
    """A frame has a share of 2 at any contrast; noise and a smooth picture are far below."""
    noise = np.random.default_rng(0).integers(0, 256, (1080, 1920), dtype=np.uint8)
    smooth = np.asarray(cv2.resize(noise[:9, :16], (1920, 1080)), dtype=np.uint8)
    gray = np.asarray(cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY), dtype=np.uint8)
    shares = [
        pairs_of_cells(pixels, FrameLayout(1920, 1080), straight, (True, True))[1]
        for pixels in (gray, gray // 8 + 90, noise, smooth)
    ]
    assert np.allclose([2, 2], shares[:2], atol=0.01)
    assert max(shares[2:]) < 1.3


@settings(max_examples=60)
@given(
    cells=st.lists(
        st.tuples(st.integers(0, 1), st.integers(0, 3), st.integers(0, 53)), min_size=1, max_size=2
    )
)
def test_one_or_two_wrong_cells_never_give_a_wrong_label(clean, label, cells) -> None:
    """Nothing is read wrongly, and the copy in the other strip is enough.

    A cell in each strip may hit the two copies of one bit: then nothing may be read at all.
    """
    before = clean.cells.copy()
    try:
        for cell in cells:
            clean.cells[cell] = 255 - clean.cells[cell]
        both = clean.copies()
        right = unpack(clean.copies().sum(axis=0) > 0)
        alone = [unpack(copy > 0) for copy in both]
    finally:
        clean.cells[...] = before
    for found in [right, *alone]:
        assert found is None or (found.image_id, found.width) == (label.image_id, label.width_px)
    if len({strip for strip, _, _ in cells}) == 1:
        assert any(found is not None for found in [right, *alone])


@pytest.mark.parametrize("strip", [0, 1])
def test_a_strip_of_pure_light_is_an_erasure(clean, label, strip) -> None:
    """A strip whose cells are all white says nothing, so the other one decides."""
    before = clean.cells.copy()
    try:
        clean.cells[strip] = 255
        found = unpack(clean.copies().sum(axis=0) > 0)
    finally:
        clean.cells[...] = before
    assert found is not None
    assert label.image_id == found.image_id
