# SPDX-License-Identifier: Apache-2.0
"""Files of text and JSON, opened so that every failure is one clear sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from referee.errors import InputError

_Value = TypeVar("_Value")
_INT64_LIMIT = 2**63
_SEPARATOR = re.compile(r"\s*,\s*|\s+")
_SHOWN = 40


def read_bytes(path: Path) -> bytes:
    """Return a file's content; raise InputError where it cannot be read."""
    try:
        return path.read_bytes()
    except IsADirectoryError:
        raise InputError(f"{path} is a folder: name a file") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None


def load_json(path: Path, content: bytes) -> Any:
    """Parse JSON; raise InputError naming the line and column where it stops being JSON."""
    try:
        return json.loads(content)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{path}, line {error.lineno}, column {error.colno}: not JSON ({error.msg.lower()});"
            " is the file complete?"
        ) from None
    except (UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path} is not JSON ({error})") from None


def cells(path: Path, content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield number from 1 and cells of each line that is not empty.

    Cells are separated by a comma or by blanks; between two commas is an empty cell.
    """
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        bad = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {bad} is not text: give plain numbers") from None
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, _SEPARATOR.split(line.strip())


def parse_cell(
    path: Path, line: int, field: str, text: str, convert: Callable[[str], _Value], kind: str
) -> _Value:
    """Convert one cell; raise InputError naming file, line and field where it is not a `kind`."""
    try:
        return convert(text)
    except ValueError:
        shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
        raise InputError(f"{path}, line {line}, {field}: '{shown}' is not {kind}") from None


def require_width(path: Path, line: int, row: list[str], fields: tuple[str, ...]) -> None:
    """Raise InputError where a line has another number of cells than there are fields."""
    if len(row) != len(fields):
        raise InputError(
            f"{path}, line {line} has {len(row)} fields, not {len(fields)}:"
            f" give {','.join(fields)}"
        )


def whole_number(text: str) -> int:
    """Read a whole number of 64 bits, also when written `7.0`; raise ValueError for others."""
    try:
        number = int(text)
    except ValueError:
        value = float(text)
        if not value.is_integer():
            raise ValueError(text) from None
        number = int(value)
    if not -_INT64_LIMIT <= number < _INT64_LIMIT:
        raise ValueError(text)
    return number
