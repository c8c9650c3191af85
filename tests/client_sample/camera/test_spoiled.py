# SPDX-License-Identifier: Apache-2.0
"""What a hall does to photographs: neighbours, tears, bands, lenses, frames inside of images."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from PIL import Image

from client_sample.camera.frame import session_tag
from client_sample.camera.reader import read
from client_sample.camera.reading import Unread
from referee.tracks.camera.code import FrameLabel
from referee.tracks.camera.compose import compose
from referee.tracks.camera.geometry import image_rect
from tests.support.frames import FULL_HD, chance_image
from tests.support.hall import (
    UPRIGHT,
    Band,
    Camera,
    Glare,
    Pane,
    Shown,
    barrel,
    beside,
    brown,
    fisheye,
)
from tests.support.spoiled_trials import cut_off

pytestmark = pytest.mark.slow

WIDE = 1920, 1080


def frame(image_id, tag="own", parity=None, image=None):
    """Return the frame of an image of 1920x1440, as the display shows it."""
    label = FrameLabel(image_id, *(image.size if image else (1920, 1440)), session_tag(tag))
    image = image or chance_image(label, np.random.default_rng(image_id))
    parity = image_id % 2 if parity is None else parity
    return np.asarray(compose(image, label, FULL_HD, parity))


@pytest.mark.parametrize("own", [0.3, 1.0], ids=["dimmer", "as bright"])
@pytest.mark.parametrize("at_left", [True, False], ids=["left", "right"])
def test_a_neighbour_in_view_costs_nothing(own, at_left) -> None:
    """One's own frame is read beside a brighter one, and a neighbour's alone is stale."""
    places = [(0.03, 0.49), (0.51, 0.97)][:: 1 if at_left else -1]
    mine = beside(Shown(frame(1), light=own), *places[0], WIDE)
    theirs = beside(Shown(frame(700, "theirs")), *places[1], WIDE)
    camera = Camera(size=WIDE)
    assert 1 == read(camera.take([mine, theirs]), session_tag("own")).label.image_id
    with pytest.raises(Unread, match="^stale") as refusal:
        read(camera.take([theirs]), session_tag("own"))
    assert [700] == [label.image_id for label in refusal.value.others]


@pytest.mark.parametrize("image_id", [0, 1, 40, 0b1010101010_0101010101])
@pytest.mark.parametrize(("top", "height"), [(260, 40), (420, 90), (300, 330)])
def test_a_dark_band_is_refused_whatever_the_id(image_id, top, height) -> None:
    """A band of a rolling shutter is seen at any height, and by ids with no white cell at all."""
    photo = Camera().take([Shown(frame(image_id))], [Band(top, top + height)])
    with pytest.raises(Unread, match="^dark band: the image is not whole"):
        read(photo)


@pytest.mark.parametrize("x", [400, 900])
def test_a_dark_band_from_top_to_bottom_is_refused(x) -> None:
    """A camera on its side has its bands across both strips."""
    with pytest.raises(Unread, match="not whole"):
        read(Camera().take([Shown(frame(700))], [Band(x - 60, x + 60, upright=True)]))


@pytest.mark.parametrize("row", [235, 400, 600, 660])
@pytest.mark.parametrize("lamp", [None, Glare(640, 780, 500, 80)], ids=["free", "glare"])
def test_a_torn_frame_is_refused_at_every_height(row, lamp) -> None:
    """Two frames in one photograph are never read, though glare hides one strip."""
    torn = Shown(frame(4), after=frame(5), torn_at=row)
    with pytest.raises(Unread):
        read(Camera().take([torn], glares=[lamp] if lamp else []))


def test_frames_of_one_parity_are_told_apart() -> None:
    """Beside the image stand bits of the CRC too, so equal parities hide no tear."""
    torn = Shown(frame(4, parity=0), after=frame(700, parity=0), torn_at=520)
    with pytest.raises(Unread, match="^mixed frame"):
        read(Camera().take([torn], glares=[Glare(640, 780, 500, 80)]))


@pytest.mark.parametrize("lamp", [Glare(640, 780, 300, 60), Glare(200, 760, 150, 100)])
def test_glare_over_one_strip_is_still_read(lamp) -> None:
    """What a frame must prove costs no good picture: a lamp over one strip leaves the other."""
    assert 1 == read(Camera().take([Shown(frame(1))], glares=[lamp])).label.image_id


@pytest.mark.parametrize(
    "lamps",
    [
        (),
        (Glare(640, 205, 500, 40), Glare(640, 745, 500, 40)),
        (Glare(350, 205, 400, 40), Glare(950, 745, 400, 40)),
    ],
)
def test_a_frame_inside_a_shown_image_is_never_taken(lamps) -> None:
    """The outer frame is read, or nothing, though the inner one is clear and has the same tag."""
    outer = frame(99, image=Image.fromarray(frame(17)))
    try:
        reading = read(Camera().take([Shown(outer)], glares=lamps), session_tag("own"))
    except Unread:
        assert lamps
    else:
        assert 99 == reading.label.image_id


@pytest.mark.parametrize(
    "lens",
    [
        barrel(0.1, centre=(0.35, 0.6)),
        barrel(0.2, centre=(0.4, 0.5)),
        brown(-0.2, centre=(0.3, 0.4)),
        fisheye(80, centre=(0.4, 0.55)),
    ],
    ids=["barrel", "strong barrel", "Brown", "equidistant"],
)
def test_a_lens_with_its_centre_elsewhere_is_fitted(lens) -> None:
    """A wide angle beside its axis costs less than a pixel, and the reading says so."""
    middle = np.array([640, 480])
    corners = 0.9 * (np.array(Shown(frame(1)).corners) - middle) + middle
    shown = Shown(frame(1), tuple(map(tuple, corners)))
    camera = Camera(lens=lens)
    reading = read(camera.take([shown]))
    rect = image_rect(FULL_HD, 1920, 1440)
    place = (rect.left, rect.top, rect.right, rect.bottom)
    assert camera.source_error(reading.corners, shown, place) < 1
    assert reading.error_px < 2


def test_a_thing_over_a_marker_is_called_that() -> None:
    """A dark banner over a corner is no change of the screen."""
    covered = frame(700).copy()
    cv2.rectangle(covered, (1500, 20), (1900, 200), (40, 40, 40), -1)
    with pytest.raises(Unread, match="^covered"):
        read(Camera().take([Shown(covered)]))


@pytest.mark.parametrize("of_screen", [True, False])
def test_inverted_colours_are_called_that(of_screen) -> None:
    """A negative is no exposure that is too long."""
    if of_screen:
        photo = Camera().take([Shown(np.asarray(255 - frame(700)))])
    else:
        photo = 255 - Camera().take([Shown(frame(700))])
    with pytest.raises(Unread, match="^inverted colours"):
        read(photo)


def test_a_strong_lens_makes_the_estimate_larger() -> None:
    """What a lens of another form leaves of the error is in the estimate, not only the fit's."""
    shown = Shown(
        frame(1), tuple((0.8 * (x - 640) + 640, 0.8 * (y - 480) + 480) for x, y in UPRIGHT)
    )
    mild, strong = (read(Camera(lens=barrel(bend)).take([shown])) for bend in (0.0, 0.3))
    assert strong.error_px > max(0.2, mild.error_px)


@pytest.mark.parametrize(
    "cut",
    [(0.05,) * 4, (0.1,) * 4, (0, 0.05, 0, 0.05)],
    ids=["all", "all but the rows inside", "above and below"],
)
def test_overscan_is_called_that(cut) -> None:
    """A screen that cuts the frame's border is told from a lens, from a change and from glare."""
    with pytest.raises(Unread, match="^overscan"):
        read(Camera().take([Shown(cut_off(frame(700), *cut))]))


@pytest.mark.parametrize(
    ("place", "level"),
    [
        ((760, 0, 1160, 110), 40),
        ((760, 60, 1160, 200), 40),
        ((0, 0, 420, 170), 255),
        ((1500, 910, 1920, 1080), 190),
        ((760, 60, 1160, 200), 255),
        ((0, 300, 150, 520), 235),
    ],
    ids=["dark strip", "dark strip and image", "corner", "grey corner", "strip and image", "side"],
)
def test_a_banner_is_called_covered(place, level) -> None:
    """A thing over the border may hide some of the image, though it is as bright as a lamp."""
    covered = frame(700).copy()
    left, top, right, bottom = place
    covered[top:bottom, left:right] = level
    with pytest.raises(Unread, match="^covered"):
        read(Camera().take([Shown(covered)]))


def test_a_light_round_button_is_called_covered() -> None:
    """Its edge is as sharp as the frame's own; it need not be straight."""
    covered = frame(700).copy()
    cv2.circle(covered, (1800, 980), 70, (255, 170, 60), -1)
    with pytest.raises(Unread, match="^covered"):
        read(Camera().take([Shown(covered)]))


@pytest.mark.parametrize(
    "light",
    [
        Glare(270, 200, 160, 40, 0.6),
        Glare(1000, 780, 230, 22, 14.0),
        Pane(100, 380, 260, 560, 5.0, 6.0),
        Glare(1132, 350, 140, 20, 3.0),
    ],
    ids=["dim", "slender and strong", "a window's", "over one cell of the id"],
)
def test_light_with_a_soft_edge_is_read_over(light) -> None:
    """A reflection comes slowly, however strong it is, and is no other frame's cell."""
    assert 700 == read(Camera().take([Shown(frame(700))], glares=[light])).label.image_id


@pytest.mark.parametrize("camera", [Camera(gain=8, blur_px=1.5), Camera(blur_px=1.3)])
def test_white_that_blooms_covers_nothing(camera) -> None:
    """The edges of the frame's own white are no window's, exposed too long or far away."""
    near = tuple((0.8 * (x - 640) + 640, 0.8 * (y - 480) + 480) for x, y in UPRIGHT)
    assert 700 == read(camera.take([Shown(frame(700), near)])).label.image_id
