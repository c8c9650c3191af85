# SPDX-License-Identifier: Apache-2.0
"""The rows of a power log as JSON lines: one object a reading, with the columns as its keys.

A value of null means that the meter had no number. A key that is left out means that the meter was
not asked, or that the limit of error is not known. docs/power.md has the table of the keys.
"""

from __future__ import annotations

import json
from datetime import UTC
from typing import Any, NoReturn

from power.logs.rows import COLUMNS, element_values
from power.meter import MEASURED, QUALITIES, Reading

SUFFIX = ".jsonl"
"""The suffix of a log of JSON lines; a log of any other name is CSV."""


def json_line(reading: Reading, start_s: float, uncertainty_w: float | None = None) -> bytes:
    """Return a reading as one line."""
    asked = {name: getattr(reading, name) for name in QUALITIES}
    values = {
        "elapsed_s": round(reading.monotonic_s - start_s, 4),
        "utc": reading.utc.astimezone(UTC).isoformat(timespec="milliseconds"),
        **{name: getattr(reading, name) for name in MEASURED},
        "state": reading.state.value,
        **{
            name: value
            for name, value in asked.items()
            if value is not None or name in reading.absent
        },
        **({} if uncertainty_w is None else {"uncertainty_w": float(f"{uncertainty_w:.4g}")}),
        **{name: value for name, value in element_values(reading).items() if value is not None},
    }
    return json.dumps(values, allow_nan=False).encode() + b"\n"


def json_values(line: str) -> dict[str, Any]:
    """Return the values of a line as `reading_of` takes them; raise ValueError for another line."""
    try:
        values = json.loads(line, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("the line is nested too deeply") from None
    if not isinstance(values, dict):
        raise ValueError("the line is no JSON object")
    missing = [name for name in COLUMNS if name not in values]
    if missing:
        raise ValueError(f"the key {missing[0]} is missing")
    strange = [name for name in ("utc", "state") if not isinstance(values[name], str)]
    if strange:
        raise ValueError(f"{strange[0]} is {values[strange[0]]!r}, not a text")
    return values


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no measured value")
