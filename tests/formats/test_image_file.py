# SPDX-License-Identifier: Apache-2.0
"""An image of a stranger is opened within bounds, and every fault names the file."""

from __future__ import annotations

import io
import struct
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, PngImagePlugin

from referee.errors import InputError
from referee.formats import image_file
from referee.formats.image_file import (
    ImageFacts,
    image_size,
    open_image,
    read_sound_image,
    shown_size,
)


def written(kind: str, size: tuple[int, int] = (32, 24), **options: Any) -> bytes:
    """Return an image file of one of Pillow's formats."""
    file = io.BytesIO()
    Image.new("RGB", size, (9, 90, 200)).save(file, kind, **options)
    return file.getvalue()


def png() -> bytes:
    """Return a whole PNG."""
    return written("PNG")


def chunk(name: bytes, content: bytes) -> bytes:
    """Return a chunk of a PNG."""
    check = struct.pack(">I", zlib.crc32(name + content))
    return struct.pack(">I", len(content)) + name + content + check


def png_of(header: bytes) -> bytes:
    """Return a PNG with these bytes as the content of its first chunk, and one byte of data."""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"x")


def huge(width: int, height: int) -> bytes:
    """Return the beginning of a PNG of this size."""
    return png_of(struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))


DAMAGED = {
    "empty": (b"", "the file is empty"),
    "text": (b"these are words", "no format"),
    "cut in the first chunk": (png_of(b"\0\0\0"), "IHDR"),
    "cut in the data": (written("PNG")[:60], "not an image that can be read"),
    "a checksum that is wrong": (png()[:29] + b"????" + png()[33:], "its header is damaged"),
    "half a JPEG": (written("JPEG", (99, 99))[:-99], "truncated"),
    "no size": (huge(0, 9), "not an image that can be read"),
    "too many pixels": (huge(20000, 20000), "too many pixels"),
    "more pixels than a number holds": (huge(2**31 - 1, 2**31 - 1), "too many pixels"),
    "a broken chunk": (written("PNG").replace(b"IDAT", b"\xff\xff\xff\xff"), "not an image"),
    "PostScript, for another program": (written("EPS"), "no format"),
    "a pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "git lfs pull"),
    "a page": (b"<!DOCTYPE html><html>404</html>", "no format"),
}
WAYS: list[Callable[[Path], object]] = [
    open_image,
    read_sound_image,
]


@pytest.mark.parametrize("way", WAYS, ids=["pixels", "content"])
@pytest.mark.parametrize(("content", "reason"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_image_is_refused_by_name(
    tmp_path: Path, content: bytes, reason: str, way: Callable[[Path], object]
) -> None:
    """Whatever Pillow raises, the refusal is a sentence with the file's name."""
    path = tmp_path / "a.jpg"
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"a\.jpg: .*{reason}"):
        way(path)


def test_an_error_that_nobody_has_seen_names_the_file_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pillow lists no errors for damaged data, so any of them counts."""
    path = tmp_path / "a.png"
    path.write_bytes(written("PNG"))

    def fail(*args: object, **options: object) -> None:
        raise struct.error("unpack requires a buffer of 4 bytes")

    monkeypatch.setattr(PngImagePlugin.PngImageFile, "load", fail)
    with pytest.raises(InputError, match=r"a\.png: .*buffer of 4 bytes"):
        open_image(path)


def test_no_image_changes_the_filters_of_warnings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Filters of warnings are the whole process's, and other threads rely on them."""
    monkeypatch.setattr(warnings, "catch_warnings", None)
    monkeypatch.setattr(warnings, "simplefilter", None)
    for kind in ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP"):
        path = tmp_path / f"a.{kind.lower()}"
        path.write_bytes(written(kind))
        assert shown_size(path)[:2] == open_image(path).size
        assert read_sound_image(path)[1].kind == kind


def test_a_missing_file_and_a_folder_are_told(tmp_path: Path) -> None:
    """A path that cannot be read is refused in the system's words."""
    for path in (tmp_path / "none.jpg", tmp_path):
        with pytest.raises(InputError, match=f"{path.name}: cannot be read: "):
            open_image(path)


def test_a_large_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound in bytes holds before a file is opened."""
    path = tmp_path / "a.png"
    path.write_bytes(written("PNG"))
    monkeypatch.setattr(image_file, "MOST_IMAGE_BYTES", 10)
    for way in (*WAYS, image_size):
        with pytest.raises(InputError, match=r"a\.png: has .* bytes, and an image has 10 at most"):
            way(path)


def test_many_pixels_within_the_bound_are_no_warning(tmp_path: Path) -> None:
    """Pillow warns from half of its bound on; nothing of it reaches the terminal."""
    path = tmp_path / "a.png"
    path.write_bytes(huge(12000, 9000))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert (12000, 9000) == image_size(path)


@pytest.mark.parametrize(
    ("kind", "media_type"),
    [("JPEG", "image/jpeg"), ("MPO", "image/jpeg"), ("PNG", "image/png"), ("GIF", None)],
)
def test_facts_of_an_image(tmp_path: Path, kind: str, media_type: str | None) -> None:
    """Kind and size come from the content, and a phone's JPEG with two pictures is a JPEG."""
    more = (
        {"save_all": True, "append_images": [Image.new("RGB", (32, 24))]} if kind == "MPO" else {}
    )
    path = tmp_path / "a.jpg"
    path.write_bytes(written(kind, **more))
    content, facts = read_sound_image(path)
    assert (path.read_bytes(), ImageFacts(kind, 32, 24)) == (content, facts)
    assert media_type == facts.media_type
