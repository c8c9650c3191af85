# SPDX-License-Identifier: Apache-2.0
"""Photographs of a frame are checked: what they say, how large they show it, and how alike."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from referee.cli import main
from referee.tracks.camera.code import FrameLabel

cv2 = pytest.importorskip("cv2", reason="needs the extra [camera]")

from referee.service.display.photograph import check_photograph, read_pixels  # noqa: E402
from referee.tracks.camera.compose import compose  # noqa: E402
from tests.support.frames import FULL_HD, chance_image, plain  # noqa: E402

LABEL = FrameLabel(724853, 800, 600, 0)
PHOTOGRAPHS = sorted((Path(__file__).parent / "photographs").glob("*.jpg"))


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Write an image, and a photograph of its frame."""
    folder = tmp_path_factory.mktemp("photographs")
    image = chance_image(LABEL, np.random.default_rng(5))
    image.save(folder / "image.png")
    photo = plain(np.asarray(compose(image, LABEL, FULL_HD, 0)))
    Image.fromarray(photo[..., ::-1]).save(folder / "photo.png")
    return folder / "image.png", folder / "photo.png"


def check(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """Run the command; return its exit code and what it prints."""
    code = main(["camera", "check", *map(str, arguments)])
    return code, capsys.readouterr().out


def test_a_photograph_says_what_was_shown(
    pictures: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    """Its number and size, the scale in the camera, and that the image is the file."""
    image, photo = pictures
    code, line = check(capsys, "--json", "--image", image, "--id", "724853", photo)
    told = json.loads(line)
    assert (0, True, 724853, [800, 600]) == (code, told["right"], told["image_id"], told["size"])
    assert told["likeness"] > 0.9
    frame = read_pixels(photo)
    assert 0.2 < told["scale"] < 1.5
    half = cv2.resize(frame, None, fx=0.75, fy=0.75, interpolation=cv2.INTER_AREA)
    smaller = check_photograph(half)
    assert smaller.scale == pytest.approx(0.75 * told["scale"], rel=0.02)
    assert smaller.column_px == pytest.approx(0.75 * told["column_px"], rel=0.02)


def test_another_number_and_another_image_are_told(
    pictures: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code is 1 for what was not shown; an image that is none of it is not alike."""
    _, photo = pictures
    other = tmp_path / "other.png"
    chance_image(LABEL, np.random.default_rng(6)).save(other)
    code, line = check(capsys, "--image", other, "--id", "17", photo)
    assert (1, True) == (code, "image 724853, 800x600, but 17 was shown" in line)
    assert abs(float(line.rpartition("likeness ")[2])) < 0.2


def test_a_wall_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A photograph without a screen has the reader's reason, and a file that is none its name."""
    wall = tmp_path / "wall.png"
    Image.new("RGB", (640, 480), (80, 80, 80)).save(wall)
    code, line = check(capsys, wall)
    assert (1, True) == (code, "not read: no screen" in line)
    assert 2 == main(["camera", "check", str(tmp_path / "none.jpg")])
    assert "none.jpg cannot be read: No such file" in capsys.readouterr().err


@pytest.mark.parametrize("path", PHOTOGRAPHS, ids=lambda path: path.stem)
def test_the_photographs_of_real_monitors_are_read(path: Path) -> None:
    """A photograph that somebody sends is named by its number, as 724853-laptop.jpg."""
    assert int(path.stem.partition("-")[0]) == check_photograph(read_pixels(path)).image_id
