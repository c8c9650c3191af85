# SPDX-License-Identifier: Apache-2.0
"""How numbers and ids are written in lines: one grammar for what is posted and what is in files.

A number is what C, Python and numpy print: `7`, `-0.5`, `.5`, `5.`, `1e-05`, `nan`, `inf`. The
signs `+` and `-` may stand before it. Underscores, hexadecimal digits and the digits of other
scripts make no number.
"""

from __future__ import annotations

import re

from referee.formats.image_numbers import UNKNOWN_IMAGE

_NUMBER = re.compile(r"[-+.0-9A-Za-z]+")
_INTEGER = re.compile(r"([-+]?)0*([0-9]+)")
_PICTURE = re.compile(r"([-+]?[0-9]+(?:\.0*)?)\.jpe?g", re.IGNORECASE)
_INT64_LIMIT = 2**63
_INT64_DIGITS = 19
# A text of digits alone and of at most so many needs no further look.
_PLAIN_DIGITS = 18


def number(text: str) -> float:
    """Read a number, NaN and infinity included; raise ValueError for any other text."""
    # float() reads more than the grammar has: underscores, other scripts, blanks around.
    if not _NUMBER.fullmatch(text):
        raise ValueError(text)
    return float(text)


def whole_number(text: str) -> int:
    """Read a whole number of 64 bits, also one written `7.0` or `7e0`; raise ValueError else."""
    value = _whole(text)
    if value is None:
        raise ValueError(text)
    return value


def class_number(text: str) -> int:
    """Read a whole number; `UNKNOWN_IMAGE` stands for one that does not fit into 64 bits."""
    value = _whole(text)
    return UNKNOWN_IMAGE if value is None else value


def image_number(text: str) -> int:
    """Read an image id as `class_number` does, or the name of its file: `7.jpg`, `007.JPEG`."""
    picture = None if text.isdigit() else _PICTURE.fullmatch(text)
    return class_number(picture.group(1) if picture else text)


def _whole(text: str) -> int | None:
    """Return a whole number, None where it needs more than 64 bits; raise ValueError else."""
    if len(text) <= _PLAIN_DIGITS and text.isascii() and text.isdigit():
        return int(text)
    digits = _INTEGER.fullmatch(text)
    if digits is None:
        value = number(text)
        if not value.is_integer():
            raise ValueError(text)
        whole = int(value)
    elif len(digits.group(2)) > _INT64_DIGITS:
        # int() takes long for thousands of digits, and then refuses them.
        return None
    else:
        whole = int(digits.group(1) + digits.group(2))
    return whole if -_INT64_LIMIT <= whole < _INT64_LIMIT else None
