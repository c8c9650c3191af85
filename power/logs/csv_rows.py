# SPDX-License-Identifier: Apache-2.0
"""The rows of a power log as CSV: a reading as a line, and a line's fields as values.

An empty field is a missing value. Power factor, frequency and peaks are `nan` if the meter has no
number for them, such as the frequency of direct current; they are empty if it was not asked.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from datetime import UTC
from typing import Any

from power.logs.rows import ELEMENT_COLUMNS, element_values
from power.meter import MEASURED, QUALITIES, Reading

_TEXTS = ("utc", "state")
# An empty field of these is known: the meter had no value.
_ALWAYS_ASKED = ("elapsed_s", *MEASURED)
# No reading has the other columns: the limit of error, and those of later versions.
_NUMBERS = {*_ALWAYS_ASKED, *QUALITIES, *ELEMENT_COLUMNS}


def row_of(reading: Reading, start_s: float, uncertainty_w: float | None = None) -> list[str]:
    """Return a reading as the fields of `ALL_COLUMNS` and `ELEMENT_COLUMNS`.

    `uncertainty_w` is the limit of the error of the power; a reader computes it anew.
    """
    elements = element_values(reading)
    return [
        f"{reading.monotonic_s - start_s:.4f}",
        reading.utc.astimezone(UTC).isoformat(timespec="milliseconds"),
        *(_field(getattr(reading, name)) for name in MEASURED),
        reading.state.value,
        *(
            "nan" if name in reading.absent else _field(getattr(reading, name))
            for name in QUALITIES
        ),
        "" if uncertainty_w is None else f"{uncertainty_w:.4g}",
        *(_field(elements[name]) for name in ELEMENT_COLUMNS),
    ]


def csv_line(fields: Iterable[str]) -> bytes:
    """Return fields as one line."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(fields)
    return text.getvalue().encode()


def csv_values(header: list[str], row: list[str]) -> dict[str, Any]:
    """Return the values of a row as `reading_of` takes them; raise ValueError for a bad field."""
    if len(row) != len(header):
        raise ValueError(f"{len(row)} fields instead of {len(header)}")
    values: dict[str, Any] = {}
    for name, text in zip(header, row, strict=True):
        if name in _TEXTS:
            values[name] = text
        elif text == "nan" and name in QUALITIES:
            values[name] = None
        elif text and name in _NUMBERS:
            values[name] = float(text)
        elif name in _ALWAYS_ASKED:
            values[name] = None
    return values


def _field(value: float | None) -> str:
    return "" if value is None else repr(value)
