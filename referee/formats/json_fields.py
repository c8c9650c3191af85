# SPDX-License-Identifier: Apache-2.0
"""Checked access to fields of parsed JSON; an error names file, object and field."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from referee.errors import InputError
from referee.formats.faults import FormatError
from referee.formats.json_text import parse_json_text, shown

_INT64_LIMIT = 2**63


def load_json(path: Path, content: bytes) -> Any:
    """Parse JSON; raise InputError naming the file, line and column of the first error."""
    try:
        return parse_json_text(content)
    except FormatError as error:
        raise InputError(f"{path}, {error}") from None


def objects(path: Path, content: Any, key: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the place, such as `annotations[0]`, and the object of each entry of a list."""
    entries = content.get(key) if isinstance(content, dict) else None
    if not isinstance(entries, list):
        raise InputError(f"{path} has no list '{key}': give COCO instances JSON")
    for index, entry in enumerate(entries):
        place = f"{key}[{index}]"
        if not isinstance(entry, dict):
            raise InputError(f"{path}, {place} is not an object")
        yield place, entry


def object_at(path: Path, place: str, entry: dict[str, object], field: str) -> Any:
    """Return a field's value; raise InputError if the field is missing."""
    if field not in entry:
        raise InputError(f"{path}, {place} has no {field}")
    return entry[field]


def whole(path: Path, place: str, entry: dict[str, object], field: str) -> int:
    """Return a field's whole number of 64 bits; raise InputError for any other value."""
    value = object_at(path, place, entry, field)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(f"{path}, {place}, {field}: {shown(value)} is not a whole number")
    if not -_INT64_LIMIT <= value < _INT64_LIMIT:
        raise InputError(f"{path}, {place}, {field}: {shown(value)} does not fit into 64 bits")
    return value


def number(path: Path, place: str, field: str, value: Any) -> float:
    """Return a value as a float; raise InputError if it is not a number or too large."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"{path}, {place}, {field}: {shown(value)} is not a number")
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{path}, {place}, {field}: {shown(value)} is too large") from None
