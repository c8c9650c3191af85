# SPDX-License-Identifier: Apache-2.0
"""The checks of images and ground truth: images that EXIF turns."""

from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from referee.service.preflight.material_checks import turned_images


def save(path: Path, orientation: int | None) -> Path:
    """Save an image with an orientation in its EXIF."""
    exif = Image.Exif()
    if orientation is not None:
        exif[0x0112] = orientation
    Image.new("RGB", (30, 20)).save(path, exif=exif)
    return path


@pytest.mark.parametrize("suffix", ["jpg", "png"])
@pytest.mark.parametrize("orientation", [2, 3, 4, 5, 6, 7, 8])
def test_each_orientation_but_the_upright_one_turns(tmp_path, orientation, suffix):
    """JPEG and PNG both have EXIF."""
    path = save(tmp_path / f"a.{suffix}", orientation)
    assert {path: orientation} == turned_images([path])


@pytest.mark.parametrize("orientation", [None, 0, 1, 9, 65535])
def test_upright_and_senseless_orientations_turn_nothing(tmp_path, orientation):
    """Decoders leave an image alone whose orientation is no number from 2 to 8."""
    assert {} == turned_images([save(tmp_path / "a.jpg", orientation)])


def test_exif_that_nobody_can_read_turns_nothing(tmp_path):
    """Damaged EXIF, a file that is no image, and one that is gone are other checks' business."""
    damaged = tmp_path / "a.jpg"
    Image.new("RGB", (30, 20)).save(damaged, exif=b"Exif\x00\x00II*\x00\xff\xff\xff\xff")
    (tmp_path / "b.jpg").write_bytes(b"no image")
    assert {} == turned_images([damaged, tmp_path / "b.jpg", tmp_path / "c.jpg"])
