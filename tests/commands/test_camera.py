# SPDX-License-Identifier: Apache-2.0
"""`referee camera` writes frames and a test card, and refuses what it cannot show."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from referee.cli import main
from referee.tracks.camera.code import FrameLabel, session_tag
from referee.tracks.camera.compose import compose
from referee.tracks.camera.geometry import Screen


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    """Write a small image."""
    pixels = np.random.default_rng(3).integers(0, 256, (30, 40, 3), dtype=np.uint8)
    path = tmp_path / "photo.png"
    Image.fromarray(pixels).save(path)
    return path


def frame(photo: Path, *options: str) -> tuple[int, Path]:
    """Run the command; return its exit code and the file that it should write."""
    out = photo.with_name("frame.png")
    return main(["camera", "frame", "--image", str(photo), "--out", str(out), *options]), out


def test_a_frame_is_written_as_it_is_shown(photo: Path) -> None:
    """The file has exactly the pixels of the composed frame."""
    code, out = frame(photo, "--id", "17", "--screen", "1280x800", "--tag", "s 3", "--parity", "1")
    assert 0 == code
    label = FrameLabel(17, 40, 30, session_tag("s 3"))
    expected = compose(Image.open(photo), label, Screen(1280, 800), 1)
    with Image.open(out) as written:
        assert "PNG" == written.format
        assert np.array_equal(np.asarray(expected), np.asarray(written))


def test_without_options_the_screen_is_full_hd_and_the_tag_is_that_of_no_text(photo: Path) -> None:
    """The defaults are a screen of 1920x1080, parity 0, the empty text, and no enlarging."""
    _, out = frame(photo, "--id", "0")
    expected = compose(
        Image.open(photo), FrameLabel(0, 40, 30, session_tag("")), Screen(1920, 1080), 0
    )
    with Image.open(out) as written:
        assert np.array_equal(np.asarray(expected), np.asarray(written))


def test_a_test_card_is_written(tmp_path: Path) -> None:
    """`test-card` writes a picture of the screen's size."""
    out = tmp_path / "card.png"
    assert 0 == main(["camera", "test-card", "--screen", "800x600", "--out", str(out)])
    with Image.open(out) as card:
        assert (800, 600) == card.size


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--id", "1048576"), "image id is 1048576; a frame can say 0 to 1048575"),
        (("--id", "-1"), "image id is -1"),
        (("--id", "1", "--screen", "big"), "'big' is not a screen's size"),
        (("--id", "1", "--out", "/nowhere/frame.png"), "/nowhere/frame.png cannot be written"),
        (("--id", "1", "--image", "/nowhere.jpg"), "/nowhere.jpg: cannot be read: No such file"),
    ],
)
def test_bad_input_is_named(
    photo: Path, options: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Input that cannot be shown ends with exit code 2 and a sentence that names it."""
    assert 2 == frame(photo, *options)[0]
    assert message in capsys.readouterr().err


def test_a_file_that_is_no_image_is_named(photo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A damaged file is refused by its name."""
    photo.write_bytes(b"\x89PNG and no more")
    assert 2 == frame(photo, "--id", "1")[0]
    assert "photo.png: is not an image that can be read" in capsys.readouterr().err
