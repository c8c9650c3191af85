# SPDX-License-Identifier: Apache-2.0
"""Long texts of detections, read by pyarrow in threads of its own; the extra `fast` installs it.

pyarrow gives the bits of float() and of int(). It reads more than the grammar allows, and less. So
it gets only the characters of plain numbers, and what it refuses is left to the caller.
"""

from __future__ import annotations

import importlib.util

import numpy as np

from referee.core.detections import Detections

LONG = 2**22
"""Bytes of a text that numpy reads in the time in which pyarrow is loaded."""

_PLAIN = b"0123456789+-.eE\n"


def parse_long(content: bytes, fields: tuple[str, ...]) -> Detections | None:
    """Return the detections of plain lines, or None if they need another reader."""
    separator = "," if b"," in content else " "
    if content.translate(None, _PLAIN + separator.encode()) or not _is_installed():
        return None
    # Loaded here, because it takes as long as to read some megabytes.
    import pyarrow as arrow
    from pyarrow import csv

    kinds = {name: arrow.int64() if name.endswith("_id") else arrow.float64() for name in fields}
    try:
        table = csv.read_csv(
            arrow.py_buffer(content),
            csv.ReadOptions(column_names=fields),
            csv.ParseOptions(delimiter=separator, quote_char=False),
            csv.ConvertOptions(column_types=kinds, null_values=[]),
        )
    except arrow.ArrowInvalid:
        return None
    rows = len(table)
    box = np.empty((4, rows))
    for column, place in zip(table.columns[-4:], box, strict=True):
        place[:] = column.to_numpy()
    return Detections(
        table["image_id"].to_numpy(),
        table["class_id"].to_numpy(),
        table["confidence"].to_numpy() if "confidence" in fields else np.ones(rows),
        box.T,
    )


def _is_installed() -> bool:
    return importlib.util.find_spec("pyarrow") is not None
