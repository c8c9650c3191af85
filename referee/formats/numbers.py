# SPDX-License-Identifier: Apache-2.0
"""The grammar of numbers and ids in lines, the same for posts and for files.

A number is written as C, Python and numpy print it: `7`, `-0.5`, `.5`, `5.`, `1e-05`, `nan`,
`inf`. It may begin with `+` or `-`. Underscores, hexadecimal digits and digits of other scripts
are not allowed.
"""

from __future__ import annotations

import re

from referee.formats.image_numbers import UNKNOWN_IMAGE

_NUMBER = re.compile(r"[-+.0-9A-Za-z]+")
_INTEGER = re.compile(r"([-+]?)0*([0-9]+)")
_PICTURE = re.compile(r"([-+]?[0-9]+(?:\.0*)?)\.jpe?g", re.IGNORECASE)
_INT64_LIMIT = 2**63
_INT64_DIGITS = 19
# A text of at most this many digits fits into 64 bits.
_PLAIN_DIGITS = 18


class TooLarge(ValueError):
    """The error of a whole number that is too large; its string says what may be given."""


def number(text: str) -> float:
    """Read a number, NaN and infinity included; raise ValueError for any other text."""
    # float() also reads underscores, digits of other scripts and blanks around the number.
    if not _NUMBER.fullmatch(text):
        raise ValueError(text)
    return float(text)


def whole_number(text: str) -> int:
    """Read a whole number of 64 bits, written `7`, `7.0` or `7e0`.

    Raises `TooLarge` for a larger whole number, and ValueError for any other text.
    """
    value = _whole(text)
    if value is None:
        raise TooLarge("is too large: a whole number has at most 64 bits")
    return value


def class_number(text: str) -> int:
    """Read a whole number; return `UNKNOWN_IMAGE` if it does not fit into 64 bits."""
    value = _whole(text)
    return UNKNOWN_IMAGE if value is None else value


def image_number(text: str) -> int:
    """Read an image id: a number as `class_number` reads it, or a file name such as `7.jpg`."""
    picture = None if text.isdigit() else _PICTURE.fullmatch(text)
    return class_number(picture.group(1) if picture else text)


def _whole(text: str) -> int | None:
    """Return a whole number, or None if it needs more than 64 bits; else raise ValueError."""
    if len(text) <= _PLAIN_DIGITS and text.isascii() and text.isdigit():
        return int(text)
    digits = _INTEGER.fullmatch(text)
    if digits is None:
        value = number(text)
        if not value.is_integer():
            raise ValueError(text)
        whole = int(value)
    elif len(digits.group(2)) > _INT64_DIGITS:
        # int() is slow for thousands of digits and refuses more than 4,300.
        return None
    else:
        whole = int(digits.group(1) + digits.group(2))
    return whole if -_INT64_LIMIT <= whole < _INT64_LIMIT else None
