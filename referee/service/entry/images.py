# SPDX-License-Identifier: Apache-2.0
"""Images on their way to a contestant: which file a number means, and archives of a hundred."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from dataclasses import dataclass

from referee.errors import RefereeError, Refusal
from referee.formats.image_numbers import requested_archive, requested_image
from referee.service.setup.contest import Contest, order_of
from referee.store.images import ImageEntry
from referee.store.sessions import SessionRecord
from referee.tracks.track import Delivery


class ImageMissing(RefereeError):
    """Report that an image which was there when the contest was prepared is not any more.

    The error's text is for the contestant, `alarm` for the operator.
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
    """Hold the bytes of one image, or of one archive, and the numbers in it."""

    first: int
    count: int
    content: bytes
    media_type: str
    file_name: str


Finder = Callable[[Contest, SessionRecord, str], SentImages]
"""Finds what a contestant asks for by a number, in a session."""


def image_for(contest: Contest, session: SessionRecord, text: str) -> SentImages:
    """Return the image that a contestant asks for by its number.

    Raises `Refusal` for a number that is none (see `referee.formats.image_numbers`), and with
    code `images_shown` in a track that shows its images. Raises `ImageMissing`.
    """
    _require_fetched(contest)
    number = requested_image(text, contest.image_count)
    entry = _entry(contest, session, number)
    content = _read(contest, session, number, entry)
    return SentImages(number, 1, content, entry.media_type, f"{number}{_suffix(entry)}")


def archive_for(contest: Contest, session: SessionRecord, text: str) -> SentImages:
    """Return the archive of up to 100 images that begins at a number 1, 101, 201 and so on.

    Its members are named by their numbers, without a folder. They are marked as deflated, which
    old clients expect, at level 0: a JPEG does not get smaller, and level 0 costs no time.
    """
    _require_fetched(contest)
    numbers = requested_archive(text, contest.image_count)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=0) as archive:
        for number in numbers:
            entry = _entry(contest, session, number)
            content = _read(contest, session, number, entry)
            archive.writestr(zipfile.ZipInfo(f"{number}{_suffix(entry)}"), content, 8, 0)
    return SentImages(
        numbers.start, len(numbers), buffer.getvalue(), "application/zip", f"{numbers.start}.zip"
    )


def _require_fetched(contest: Contest) -> None:
    if contest.track.delivery is not Delivery.FETCHED:
        raise Refusal(
            "images_shown", "The images of this track are shown on a screen, and never sent."
        )


def _entry(contest: Contest, session: SessionRecord, number: int) -> ImageEntry:
    order = order_of(contest.image_count, session.order_seed)
    return contest.images[int(order[number - 1]) - 1]


def _suffix(entry: ImageEntry) -> str:
    return ".jpg" if entry.media_type == "image/jpeg" else ".png"


def _read(contest: Contest, session: SessionRecord, number: int, entry: ImageEntry) -> bytes:
    try:
        with open(entry.path, "rb") as file:
            content = file.read()
        fault = "" if len(content) == entry.size_bytes else "it has changed in size"
    except OSError as error:
        fault = str(error.strerror)
    if not fault:
        return content
    raise ImageMissing(
        entry.image_id,
        f"Image {number} is missing on the referee's disk: the operator is told.",
        f"Image {entry.image_id} ({entry.path}) cannot be sent: {fault}.",
    )
