# SPDX-License-Identifier: Apache-2.0
"""Photographs after reports from the field: what is read, and what is refused by its true name."""

from __future__ import annotations

from pathlib import Path

import pytest

from client_sample.camera.frame import session_tag
from client_sample.camera.reader import read
from client_sample.camera.reading import Unread
from client_sample.camera.source import read_picture

pytestmark = pytest.mark.slow

TRACKS = Path(__file__).resolve().parents[4] / "shared" / "data" / "field" / "tracks"


def photograph(name):
    """Return a photograph of the field's folder; skip where it is absent."""
    if not (TRACKS / name).exists():
        pytest.skip("shared/data/field/tracks is not beside the project's folder")
    return read_picture(TRACKS / name)


@pytest.mark.parametrize(("tag", "image_id", "other"), [("s1", 40, 41), ("s2", 41, 40)])
def test_ones_own_frame_is_read_beside_a_neighbours(tag, image_id, other) -> None:
    """The tag chooses the frame, and the reading says what else is in view."""
    reading = read(photograph("neighbour_good_R.jpg"), session_tag(tag))
    assert image_id == reading.label.image_id
    assert [other] == [label.image_id for label in reading.others]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("tearglare_4_600_220_60.jpg", "^mixed frame: the image is not whole"),
        ("band_id1_0.5.jpg", "^dark band: the image is not whole"),
        ("invert_screen.jpg", "^inverted colours"),
    ],
)
def test_a_spoiled_photograph_is_refused_by_its_true_name(name, reason) -> None:
    """A tear under glare, a dark band beside an id without white, a negative."""
    with pytest.raises(Unread, match=reason):
        read(photograph(name))
