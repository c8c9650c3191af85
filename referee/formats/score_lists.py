# SPDX-License-Identifier: Apache-2.0
"""The entries of a contest from a file: its results as JSON or CSV, or a table typed off a page."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from referee.errors import InputError
from referee.formats.json_fields import load_json, objects
from referee.formats.text import read_bytes

_YES = ("true", "1", "yes")


@dataclass(frozen=True)
class ListedEntry:
    """An entry's score as it is given, and its mAP and watt-hours; None is not known."""

    score: float | None
    mean_ap: float | None
    energy_wh: float | None


def read_entries(path: Path) -> list[ListedEntry]:
    """Read the entries of a contest, in the order of the file, without withdrawn teams.

    The file is what `referee results --json` or `--csv` prints, or any CSV whose header has
    `score`, or `mean_ap` and `energy_wh`. An energy that is INVALID is none. Raises InputError,
    which names file, line and field.
    """
    content = read_bytes(path)
    as_json = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{"
    entries = _of_json(path, content) if as_json else _of_csv(path, content)
    return [
        ListedEntry(
            score=_number(path, place, "score", entry.get("score")),
            mean_ap=_number(path, place, "mean_ap", entry.get("mean_ap")),
            energy_wh=None
            if entry.get("verdict") == "INVALID"
            else _number(path, place, "energy_wh", entry.get("energy_wh")),
        )
        for place, entry in entries
        if str(entry.get("withdrawn") or "").lower() not in _YES
    ]


def _of_json(path: Path, content: bytes) -> Iterator[tuple[str, Mapping[str, object]]]:
    value = load_json(path, content)
    if not isinstance(value, dict) or not isinstance(value.get("entries"), list):
        raise InputError(f"{path} has no list 'entries': give what 'referee results --json' prints")
    return objects(path, value, "entries")


def _of_csv(path: Path, content: bytes) -> Iterator[tuple[str, Mapping[str, object]]]:
    try:
        lines = content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{path} is not text: give CSV or JSON") from None
    rows = csv.DictReader(lines, skipinitialspace=True)
    names = set(rows.fieldnames or ())
    if "score" not in names and not {"mean_ap", "energy_wh"} <= names:
        raise InputError(
            f"{path}, line 1: no column 'score', nor 'mean_ap' and 'energy_wh': give a header"
        )
    return ((f"line {rows.line_num}", row) for row in rows)


def _number(path: Path, place: str, field: str, value: object) -> float | None:
    """Return a finite number that is not negative, or None for an empty cell."""
    if value is None or value == "":
        return None
    try:
        number = math.nan if isinstance(value, bool) else float(str(value))
    except ValueError:
        number = math.nan
    if not 0 <= number < math.inf:
        raise InputError(f"{path}, {place}, {field}: {value!r} is not a number, 0 or more")
    return number
