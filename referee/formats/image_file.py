# SPDX-License-Identifier: Apache-2.0
"""Images of strangers, opened in one place: bounded, and every fault names the file."""

from __future__ import annotations

import importlib
import io
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from PIL import Image, UnidentifiedImageError

from power.bounded_file import require_file
from referee.core.bounds import MOST_IMAGE_BYTES, MOST_PIXELS
from referee.errors import InputError

# Pillow reads dozens of formats, and hands some of them to other programs.
_FORMATS = ("JPEG", "PNG", "BMP", "GIF", "TIFF", "WEBP")
_READERS = ("Jpeg", "Png", "Bmp", "Gif", "Tiff", "WebP")
# A phone's MPO is a JPEG with further pictures behind it.
_MEDIA_TYPES = {"JPEG": "image/jpeg", "MPO": "image/jpeg", "PNG": "image/png"}
_BEGINNINGS = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n")
_LFS_POINTER = b"version https://git-lfs.github.com/"

# The number of EXIF's field that says how a viewer turns the image; 1 is not at all.
_ORIENTATION = 0x0112


@dataclass(frozen=True)
class ImageFacts:
    """What an image is: `kind` as Pillow names it, and its sides in pixels as they are stored.

    `media_type` is None for an image that is neither JPEG nor PNG.
    """

    kind: str
    width: int
    height: int

    @property
    def media_type(self) -> str | None:
        """The type under which the image is sent."""
        return _MEDIA_TYPES.get(self.kind)


def image_size(path: Path) -> tuple[int, int]:
    """Return an image's width and height as its header says; no pixel is decoded.

    Raises `InputError` naming the file.
    """
    with _opened(path, None) as image:
        return image.size


class ShownSize(NamedTuple):
    """An image's sides in pixels as a viewer shows it, and whether its EXIF data turn or flip it.

    `swapped` is true where width and height are those of the stored image the other way round.
    """

    width: int
    height: int
    turned: bool
    swapped: bool


def shown_size(path: Path) -> ShownSize:
    """Return an image's size as it is shown; no pixel is decoded.

    Raises `InputError` naming the file.
    """
    with _opened(path, None) as image:
        orientation = _orientation(image)
        swapped = orientation in (5, 6, 7, 8)
        width, height = image.size
    turned = orientation != 1
    return ShownSize(height if swapped else width, width if swapped else height, turned, swapped)


def _orientation(image: Image.Image) -> int:
    """Return how EXIF turns an image, 1 to 8; damaged data, of which Pillow warns, turn nothing.

    Filters of warnings belong to the whole process, so this changes none: a program sees Pillow's
    warning, and the referee's own processes leave it out (`referee/cli.py`).
    """
    try:
        # A PNG's own method would decode the pixels.
        orientation = Image.Image.getexif(image).get(_ORIENTATION, 1)
    except Exception:
        return 1
    return orientation if orientation in range(1, 9) else 1


def read_sound_image(path: Path) -> tuple[bytes, ImageFacts]:
    """Return the content of an image's file, and what it is, after a look at all of its data.

    Raises `InputError` naming the file.
    """
    content = _content(path)
    with _opened(path, content) as image:
        facts = ImageFacts(image.format or "", *image.size)
        # Decode the image, a JPEG at an eighth of its size. `verify` would not decode a JPEG.
        image.draft(image.mode, (1, 1))
        image.load()
        return content, facts


def open_image(path: Path) -> Image.Image:
    """Return an image with its pixels; raise `InputError` naming the file."""
    with _opened(path, None) as image:
        image.load()
        return image


@contextmanager
def _opened(path: Path, content: bytes | None) -> Iterator[Image.Image]:
    """Open an image within the bounds; its faults become an `InputError`, in the block too."""
    try:
        if content is None:
            require_file(path)
        _require_bounded(path, path.stat().st_size if content is None else len(content))
        with _identified(path, content) as image:
            if image.width * image.height > MOST_PIXELS:
                raise Image.DecompressionBombError
            yield image
    except InputError:
        raise
    except Image.DecompressionBombError:
        raise InputError(
            f"{path}: has too many pixels. An image has {MOST_PIXELS} at most: scale it down, and"
            " its boxes."
        ) from None
    # Pillow names no errors for damaged data: OSError, SyntaxError, ValueError, struct.error and
    # others have been seen.
    except Exception as error:
        raise InputError(f"{path}: {_fault(path, content, error)}") from error


def _content(path: Path) -> bytes:
    try:
        status = path.stat()
        # A pipe may have no end.
        if not S_ISREG(status.st_mode):
            raise InputError(f"{path}: is not a file.")
        _require_bounded(path, status.st_size)
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error


def _require_bounded(path: Path, size_bytes: int) -> None:
    if size_bytes > MOST_IMAGE_BYTES:
        raise InputError(
            f"{path}: has {size_bytes} bytes, and an image has {MOST_IMAGE_BYTES} at most."
        )


def _identified(path: Path, content: bytes | None) -> Image.Image:
    """Open an image with Pillow's reader of its format.

    `Image.open` does the same, and then warns of many pixels, or refuses them: a bound of ours
    follows. The warning could only be silenced for the whole process.
    """
    for reader in _READERS:  # Pillow itself loads those of 45 formats, in a tenth of a second.
        importlib.import_module(f"PIL.{reader}ImagePlugin")
    head = _head(path) if content is None else content[: len(_LFS_POINTER)]
    if head is None:
        return Image.open(path, formats=_FORMATS)
    for name in _FORMATS:
        read, accepts = Image.OPEN[name]
        if accepts is not None and accepts(head) is not True:
            continue
        try:
            # Pillow opens a path itself, and closes its file with the image.
            source = str(path) if content is None else io.BytesIO(content)
            return read(source, str(path))  # type: ignore[arg-type]
        except (SyntaxError, IndexError, TypeError, struct.error):  # As Pillow: another format.
            continue
    raise UnidentifiedImageError("cannot identify image file")


def _fault(path: Path, content: bytes | None, error: Exception) -> str:
    """Say in words why a file cannot be opened."""
    if content is None and isinstance(error, OSError) and error.strerror:
        return f"cannot be read: {error.strerror}."
    return f"is not an image that can be read ({_reason(path, content, error)})."


def _reason(path: Path, content: bytes | None, error: Exception) -> str:
    head = _head(path) if content is None else content
    if head == b"":
        return "the file is empty: copy it again"
    if head is not None and head.startswith(_LFS_POINTER):
        return "it is a pointer of Git LFS: run 'git lfs pull'"
    if isinstance(error, MemoryError):
        return "it needs more memory than there is"
    if isinstance(error, UnidentifiedImageError):
        # Pillow's own sentence names an object in memory, and hides what it met in the header.
        if head is not None and head.startswith(_BEGINNINGS):
            return "its header is damaged: save it again with another program"
        return "it has no format that the referee knows"
    return str(error) or type(error).__name__


def _head(path: Path) -> bytes | None:
    """Return a file's first bytes; None for a pipe, which is read once."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return file.read(len(_LFS_POINTER))
