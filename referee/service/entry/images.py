# SPDX-License-Identifier: Apache-2.0
"""Images for contestants: the file behind an image number, and archives of a hundred images."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from referee.errors import InputError, RefereeError, Refusal
from referee.formats.image_numbers import requested_archive, requested_image
from referee.service.setup.contest import Contest
from referee.service.setup.image_files import image_alarm, read_image, require_unchanged
from referee.service.setup.session_images import image_behind
from referee.store.images import ImageEntry
from referee.store.sessions import SessionRecord
from referee.tracks.track import Delivery

Member = tuple[str, Callable[[], bytes]]
"""A member's name, and a function that reads its content."""

_LOCAL_HEADER = 30
_CENTRAL_HEADER = 46
_END = 22


class ImageMissing(RefereeError):
    """An image is missing or changed since the contest was prepared.

    The error's text is for the contestant, and `alarm` is for the operator.
    """

    def __init__(self, image_id: int, text: str, alarm: str) -> None:
        super().__init__(image_id, text, alarm)
        self.image_id = image_id
        self.text = text
        self.alarm = alarm

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class SentImages:
    """One image or one archive: its image numbers, and its bytes in pieces."""

    first: int
    count: int
    content: Iterable[bytes]
    length: int
    media_type: str
    file_name: str


Finder = Callable[[Contest, SessionRecord, str], SentImages]


"""A function that returns the images for the number in a contestant's request."""


def image_for(contest: Contest, session: SessionRecord, text: str) -> SentImages:
    """Return the image with the number that a contestant sent.

    Raises `Refusal` for a wrong number (see `referee.formats.image_numbers`), and with code
    `images_shown` in a track that shows its images. Raises `ImageMissing`.
    """
    _require_fetched(contest)
    number = requested_image(text, contest.image_count)
    entry = image_behind(contest, session, number)
    content = _read(number, entry)
    name = f"{number}{_suffix(entry)}"
    return SentImages(number, 1, (content,), len(content), entry.media_type, name)


def archive_for(contest: Contest, session: SessionRecord, text: str) -> SentImages:
    """Return the archive of up to 100 images that begins at number 1, 101, 201 and so on.

    Its members have their numbers as names, without a folder. The archive is made while it is sent,
    so a client that does not read costs the memory of one image.
    """
    _require_fetched(contest)
    numbers = requested_archive(text, contest.image_count)
    entries = [image_behind(contest, session, number) for number in numbers]
    names = [f"{number}{_suffix(entry)}" for number, entry in zip(numbers, entries, strict=True)]
    reads = [partial(_read, number, entry) for number, entry in zip(numbers, entries, strict=True)]
    for number, entry in zip(numbers, entries, strict=True):
        _require_there(number, entry)
    return SentImages(
        numbers.start,
        len(numbers),
        archive_pieces(zip(names, reads, strict=True)),
        archive_length(names, [entry.size_bytes for entry in entries]),
        "application/zip",
        f"{numbers.start}.zip",
    )


def _suffix(entry: ImageEntry) -> str:
    return ".jpg" if entry.media_type == "image/jpeg" else ".png"


def _require_fetched(contest: Contest) -> None:
    if contest.track.delivery is not Delivery.FETCHED:
        raise Refusal(
            "images_shown",
            "The images of this track are shown on a screen and never sent: ask /image_camera.",
        )


def _read(number: int, entry: ImageEntry) -> bytes:
    try:
        return read_image(entry)
    except InputError as error:
        raise _missing(number, entry, error) from error


def _require_there(number: int, entry: ImageEntry) -> None:
    try:
        require_unchanged(entry)
    except InputError as error:
        raise _missing(number, entry, error) from error


def _missing(number: int, entry: ImageEntry, fault: InputError) -> ImageMissing:
    return ImageMissing(
        entry.image_id,
        f"Image {number} is missing on the referee's disk: the operator is told.",
        image_alarm(entry, fault),
    )


def archive_pieces(members: Iterable[Member]) -> Iterator[bytes]:
    """Yield a zip archive in pieces: one piece for each member, then the directory.

    A member's content is read when the caller asks for its piece. Old clients expect the method
    "deflated". Level 0 costs no time, and a JPEG would not get smaller.
    """
    window = _Window()
    with zipfile.ZipFile(window, "w", zipfile.ZIP_DEFLATED, compresslevel=0) as archive:
        for name, read in members:
            archive.writestr(zipfile.ZipInfo(name), read(), 8, 0)
            yield window.take()
    yield window.take()


def archive_length(names: Sequence[str], sizes: Sequence[int]) -> int:
    """Return the length of an archive of members with these names and sizes, in bytes."""
    headers = sum(_LOCAL_HEADER + _CENTRAL_HEADER + 2 * len(name.encode()) for name in names)
    return headers + sum(map(_deflated, sizes)) + _END


@lru_cache(maxsize=65536)
def _deflated(size: int) -> int:
    """Return the deflated length of `size` bytes at level 0, which any content has."""
    compressor = zlib.compressobj(0, zlib.DEFLATED, -15)
    return len(compressor.compress(bytes(size))) + len(compressor.flush())


class _Window(io.BytesIO):
    """A file that keeps only the part written since the last `take`.

    Its positions are those of the whole file.
    """

    def __init__(self) -> None:
        super().__init__()
        self._taken = 0

    def take(self) -> bytes:
        """Return the part that was written, and drop it."""
        content = self.getvalue()
        self._taken += len(content)
        super().seek(0)
        self.truncate()
        return content

    def tell(self) -> int:
        """Return the position in the whole file."""
        return self._taken + super().tell()

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        """Go to a position in the whole file that `take` has not passed."""
        return self._taken + super().seek(place - self._taken if whence == 0 else place, whence)
