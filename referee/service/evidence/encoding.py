# SPDX-License-Identifier: Apache-2.0
"""The encodings of a bundle's members: CSV, JSON and JSON lines, all in UTF-8, block by block."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from referee.formats.number_text import csv_lines

# Rows of a block: a few hundred kilobytes of text.
_ROWS = 2000


def csv_blocks(header: Sequence[str] | None, rows: Iterable[Sequence[object]]) -> Iterator[bytes]:
    """Yield rows as CSV, without a header line if `header` is None."""
    remaining = iter(rows)
    if header is not None:
        yield csv_lines([header])
    while block := list(islice(remaining, _ROWS)):
        yield csv_lines(block)


def json_bytes(value: object) -> bytes:
    """Return a value as indented JSON."""
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode("utf-8")


def json_line_blocks(values: Iterable[object]) -> Iterator[bytes]:
    """Yield the values as JSON, one line for each."""
    remaining = iter(values)
    while block := list(islice(remaining, _ROWS)):
        lines = (json.dumps(value, allow_nan=False) + "\n" for value in block)
        yield "".join(lines).encode("utf-8")
