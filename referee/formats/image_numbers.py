# SPDX-License-Identifier: Apache-2.0
"""Image numbers as contestants write them in requests and in answers."""

from __future__ import annotations

import re

from referee.errors import Refusal
from referee.formats.faults import quoted

ARCHIVE_SIZE = 100
"""Images in one archive of `/zipimages`; the last archive may hold fewer."""

UNKNOWN_IMAGE = -1
"""Replaces a number that is too large to store; it names no image."""

_DIGITS = re.compile(r"[0-9]+")
_POSTED = re.compile(r"([+-]?)([0-9]+)(?:\.0*)?(?:\.jpe?g)?", re.IGNORECASE)
_INT64_DIGITS = 18


def requested_image(text: str, count: int) -> int:
    """Return the image number, 1…count, in a request for an image.

    The text may hold only the digits 0-9; leading zeros are allowed. Raises `Refusal` with code
    `image_index_invalid` for any other text, and `image_index_out_of_range` outside 1…count.
    """
    if not _DIGITS.fullmatch(text):
        raise Refusal(
            "image_index_invalid",
            f"{quoted(text)} is not an image number: send digits, 1 to {count}.",
        )
    # int() is slow for thousands of digits, and such a number is out of range anyway.
    digits = text.lstrip("0")
    number = int(digits) if 0 < len(digits) <= _INT64_DIGITS else 0
    if not 1 <= number <= count:
        raise Refusal(
            "image_index_out_of_range",
            f"There is no image {text[:40]}: the images are numbered 1 to {count}.",
        )
    return number


def requested_archive(text: str, count: int) -> range:
    """Return the image numbers of an archive; the request names its first image.

    Archives begin at 1, 101, 201 …. Raises `Refusal` as `requested_image` does, and with code
    `archive_index_invalid` for an image at which no archive begins.
    """
    first = requested_image(text, count)
    if (first - 1) % ARCHIVE_SIZE:
        raise Refusal(
            "archive_index_invalid",
            f"No archive begins at image {first}: ask for 1, {ARCHIVE_SIZE + 1}, "
            f"{2 * ARCHIVE_SIZE + 1} and so on.",
        )
    return range(first, min(first + ARCHIVE_SIZE, count + 1))


def parse_posted_image(text: str) -> int:
    """Return the number in a posted image name: `7`, `007`, `7.0`, `7.jpg` or `7.JPEG`.

    The number may be any integer, also one that names no image. A number of more than 18 digits
    becomes `UNKNOWN_IMAGE`. Raises ValueError for any other text.
    """
    match = _POSTED.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{quoted(text)} is not an image number")
    # int() is slow for thousands of digits.
    digits = match.group(2).lstrip("0")
    if len(digits) > _INT64_DIGITS:
        return UNKNOWN_IMAGE
    return int(f"{match.group(1)}{digits or 0}")
