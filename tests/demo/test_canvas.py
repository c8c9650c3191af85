# SPDX-License-Identifier: Apache-2.0
"""Painting records the visible part of each object."""

from __future__ import annotations

import random

import numpy as np
import pytest

from referee.demo.canvas import Canvas, Sprite
from referee.demo.pen import Pen
from referee.demo.shapes import KINDS


def block(size: int, foot: int, shadow: bool = False) -> Sprite:
    """Make a white square that stands on a row."""
    colour = np.full((size, size, 3), 255, dtype=np.float32)
    cover = np.ones((size, size), dtype=np.float32)
    return Sprite(1, colour, cover, foot, nearness=1.0, shadow=shadow)


def canvas() -> Canvas:
    """Make a black canvas of 40 x 30 pixels."""
    return Canvas(np.zeros((30, 40, 3), dtype=np.float32))


def test_what_is_painted_is_what_is_owned():
    """The changed pixels are the object's own."""
    board = canvas()
    assert board.add(block(10, foot=20), 5)
    expected = np.zeros((30, 40), dtype=bool)
    expected[10:20, 5:15] = True
    assert np.array_equal(expected, board.owner == 1)
    assert np.array_equal(expected, board.picture[:, :, 0] == 255)


@pytest.mark.parametrize(
    ("left", "foot"), [(-6, 20), (37, 20), (5, 4), (5, 36), (-50, 20), (5, 90)]
)
def test_an_object_that_is_mostly_outside_is_not_painted(left, foot):
    """An object that is mostly outside leaves the canvas untouched."""
    board = canvas()
    assert not board.add(block(10, foot), left)
    assert not board.owner.any()
    assert not board.picture.any()
    assert [] == board.class_ids


@pytest.mark.parametrize(("left", "foot"), [(-4, 20), (34, 20), (5, 6), (5, 34)])
def test_an_object_may_be_cut_by_the_frame(left, foot):
    """An object with sixty per cent inside is painted, and owns only that part."""
    board = canvas()
    assert board.add(block(10, foot), left)
    assert 60 == (board.owner == 1).sum()


def test_a_later_object_hides_a_part_but_not_most_of_an_earlier_one():
    """Objects may hide forty per cent of an earlier one together, but not seventy."""
    board = canvas()
    assert board.add(block(10, foot=20), 10)
    assert not board.add(block(10, foot=20), 13)
    assert board.add(block(10, foot=20), 16)
    assert [60, 100] == [(board.owner == number).sum() for number in (1, 2)]
    assert not board.add(block(10, foot=20), 6)
    assert [1, 1] == board.class_ids


def test_a_shadow_darkens_the_ground_and_owns_nothing():
    """Pixels of a shadow belong to the background."""
    board = Canvas(np.full((30, 40, 3), 100, dtype=np.float32))
    assert board.add(block(10, foot=20, shadow=True), 10)
    assert 100 == (board.owner == 1).sum()
    assert (board.picture[board.owner == 0] < 99).any()


@pytest.mark.parametrize("class_id", KINDS)
@pytest.mark.parametrize("height_px", [10, 25, 120])
def test_every_kind_can_be_drawn_at_every_size(class_id, height_px):
    """An upright, unmirrored object is about as tall and wide as requested."""
    kind = KINDS[class_id]
    pen = Pen(height_px, widen=kind.widen)
    kind.draw(pen, random.Random(1))
    solid = pen.pixels()[:, :, 3] >= 128
    rows, columns = np.flatnonzero(solid.any(axis=1)), np.flatnonzero(solid.any(axis=0))
    assert 0.75 * height_px - 2 <= np.ptp(rows) + 1 <= 1.05 * height_px + 1
    assert 0.3 * height_px <= np.ptp(columns) + 1 <= 1.05 * height_px * kind.widen + 2
    assert len(np.unique(pen.pixels()[solid][:, :3], axis=0)) > 3


def test_turning_and_mirroring_move_points_and_lose_none():
    """A turned pen has room for its corners, and a mirrored pen draws the mirror image."""
    pens = [Pen(40), Pen(40, mirror=True), Pen(40, turn_deg=90)]
    for pen in pens:
        pen.polygon([(-1, -1), (1, -1), (-1, 1)], (255, 0, 0))
    plain, mirrored, turned = (pen.pixels()[:, :, 3] > 127 for pen in pens)
    assert abs(int(plain.sum()) - int(mirrored.sum())) <= 40
    assert plain[1, 1] and not plain[-2, -2]
    assert mirrored[1, -2] and not mirrored[-2, 1]
    assert turned[1, -2] and not turned[-2, 1]
    diamond = Pen(40, turn_deg=45)
    diamond.box(-1, -1, 1, 1, (255, 0, 0))
    assert 56 <= max(diamond.pixels().shape) <= 60


def test_a_hole_shows_what_is_behind():
    """Pixels within an object's hole are not its own."""
    pen = Pen(40)
    pen.box(-1, -1, 1, 1, (255, 0, 0))
    pen.hole(0, 0, 0.5, 0.5)
    pixels = pen.pixels()
    assert 0 == pixels[pixels.shape[0] // 2, pixels.shape[1] // 2, 3]


def test_a_pen_that_drew_nothing_gives_one_clear_pixel():
    """A pen that drew nothing gives one clear pixel."""
    assert (1, 1, 4) == Pen(20).pixels().shape
