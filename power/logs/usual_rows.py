# SPDX-License-Identifier: Apache-2.0
"""Rows of a CSV log that differ in their numbers and times alone, read column by column.

Nearly all rows of a log are such rows. What is not entirely usual is left to `RowReader.add`, which
reads row by row and names each fault. Both give the same readings, bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from power.logs.rows import COLUMNS, NO_NUMBER, STAND_IN, TEXTS, is_number
from power.meter import QUALITIES
from power.readings import Numbers

BLOCK = 256
"""So many rows are read together: a row that is not usual makes only its own block slow."""

_FLOATS = msgspec.json.Decoder(list[float])
# The time of a reading as `row_of` writes it; a 0 stands for any digit.
_USUAL_UTC = "0000-00-00T00:00:00.000+00:00"
_UTC_SIGNS = np.array([_USUAL_UTC]).view(np.uint32)
_DIGITS = np.flatnonzero(_UTC_SIGNS == ord("0"))[:17]
_OTHERS = np.setdiff1d(np.arange(len(_USUAL_UTC)), _DIGITS)
_WITHOUT_ZONE = "U23"


@dataclass(frozen=True)
class UsualRows:
    """The rows of a block: times in microseconds since 1970, and the numbers by column.

    A column in which no row has a number is left out.
    """

    utc_us: NDArray[np.int64]
    numbers: dict[str, Numbers]


def usual_rows(header: Sequence[str], rows: Sequence[Sequence[str]]) -> UsualRows | None:
    """Return a block of at least one row by columns, or None if it is not entirely usual.

    Of usual rows all are right if the first one is: they have its state, and numbers where it has
    numbers.
    """
    try:
        columns = dict(zip(header, zip(*rows, strict=True), strict=True))
    except ValueError:
        return None
    if len(columns) < len(header) or any(name not in columns for name in COLUMNS):
        return None
    if columns["state"].count(columns["state"][0]) < len(rows):
        return None
    utc_us = _microseconds(columns["utc"])
    if utc_us is None:
        return None
    found: dict[str, Numbers] = {}
    for name, texts in columns.items():
        if name in TEXTS or not is_number(name):
            continue
        if texts[0] == "" or (texts[0] == NO_NUMBER and name in QUALITIES):
            if texts.count(texts[0]) < len(texts):
                return None
            continue
        numbers = _numbers(texts)
        if numbers is None:
            return None
        found[name] = numbers
    return UsualRows(utc_us, found)


def _numbers(texts: Sequence[str]) -> Numbers | None:
    """Return texts as numbers, or None if one is no number of JSON, or no measured value."""
    try:
        numbers = np.array(_FLOATS.decode(f"[{','.join(texts)}]"), dtype=np.float64)
    except msgspec.DecodeError:
        return None
    if len(numbers) != len(texts) or not (np.abs(numbers) < STAND_IN).all():
        return None
    return numbers


def _microseconds(texts: Sequence[str]) -> NDArray[np.int64] | None:
    """Return times in microseconds since 1970, or None if one is not written as usual."""
    if len(max(texts, key=len)) != len(_USUAL_UTC):
        return None
    moments = np.array(texts)
    signs = moments.view(np.uint32).reshape(len(texts), -1)
    digits = signs[:, _DIGITS]
    if (
        (signs[:, _OTHERS] != _UTC_SIGNS[_OTHERS]).any()
        or (digits < ord("0")).any()
        or (digits > ord("9")).any()
        or (digits[:, 0] == ord("0")).any()  # Python's calendar begins in the year 1.
    ):
        return None
    try:
        return moments.astype(_WITHOUT_ZONE).astype("datetime64[us]").view(np.int64)
    except ValueError:  # no day of the calendar
        return None
