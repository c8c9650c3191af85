# SPDX-License-Identifier: Apache-2.0
"""The encodings of a bundle's members: CSV, JSON and JSON lines, all in UTF-8."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence


def csv_bytes(header: Sequence[str] | None, rows: Iterable[Sequence[object]]) -> bytes:
    """Return rows as CSV, without a header line if `header` is None."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    if header is not None:
        writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue().encode("utf-8")


def json_bytes(value: object) -> bytes:
    """Return a value as indented JSON."""
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode("utf-8")


def json_lines_bytes(values: Iterable[object]) -> bytes:
    """Return the values as JSON, one line for each."""
    return "".join(json.dumps(value, allow_nan=False) + "\n" for value in values).encode("utf-8")
