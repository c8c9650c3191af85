# SPDX-License-Identifier: Apache-2.0
"""A picture that cannot be drawn is refused in words, whatever is wrong with its file."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from PIL import Image

from referee.errors import InputError
from referee.service.display.pictures import Pictures
from referee.tracks.camera.code import FrameLabel


def png(size: tuple[int, int] = (32, 24)) -> bytes:
    """Return a PNG file."""
    file = io.BytesIO()
    Image.new("RGB", size, (9, 90, 200)).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no picture",
        png()[:50],
        png().replace(b"IDAT", b"\xff\xff\xff\xff"),
        png((33, 24)),
    ],
    ids=["empty", "text", "cut off", "broken chunk", "another size"],
)
def test_a_damaged_picture_is_refused(tmp_path: Path, content: bytes) -> None:
    """A file that was changed in a session fails its own request, and says so."""
    path = tmp_path / "1.png"
    path.write_bytes(content)
    picture = Pictures().frame(path, FrameLabel(1, 32, 24, 0), 0)
    with pytest.raises(InputError):
        picture(640, 480)
