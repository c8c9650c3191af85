# SPDX-License-Identifier: Apache-2.0
"""The configuration of a measured device: a TOML file with the tables `hardware` and `software`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from referee.errors import InputError
from referee.formats.text import read_bytes

_PARTS = ("hardware", "software")


def read_configuration(path: Path) -> dict[str, dict[str, str]]:
    """Read `hardware` and `software`, each with one entry or more, as texts.

    The names of the entries are free: the specification of AIoTBench prescribes none. Numbers,
    true and false become texts. Raises InputError for any other content.
    """
    try:
        table = tomllib.loads(read_bytes(path).decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not TOML: {error}") from None
    strange = sorted(table.keys() - set(_PARTS))
    if strange:
        raise InputError(f"{path}, {strange[0]}: give only the tables [hardware] and [software]")
    return {part: _entries(path, part, table.get(part)) for part in _PARTS}


def _entries(path: Path, part: str, entries: Any) -> dict[str, str]:
    if not isinstance(entries, dict) or not entries:
        raise InputError(f'{path}, [{part}]: give one line or more, as name = "text"')
    return {name: _text(path, f"{part}.{name}", value) for name, value in entries.items()}


def _text(path: Path, name: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, (str, int, float)) or not str(value).strip():
        raise InputError(f"{path}, {name}: give a text or a number")
    return str(value)
