# SPDX-License-Identifier: Apache-2.0
"""The list of an event's teams: a file with a team's name and password hash on each line."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path

from power.bounded_file import file_bytes
from referee.errors import ConfigError
from referee.service.setup.whole_files import replace_file

_HEADER = ["team", "password_hash"]
_MOST_BYTES = 2**28


def registered_teams(path: Path) -> dict[str, str]:
    """Return the password hashes by team name; raise `ConfigError` for a damaged file."""
    if not path.exists():
        return {}
    try:
        text = file_bytes(path, _MOST_BYTES).decode("utf-8")
        rows = list(csv.reader(io.StringIO(text, newline="")))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise ConfigError(f"{path}: is not a table of text ({error}).") from error
    if not rows or rows[0] != _HEADER:
        raise ConfigError(f"{path}: the first line must be '{','.join(_HEADER)}'.")
    teams: dict[str, str] = {}
    for number, row in enumerate(rows[1:], 2):
        if len(row) != 2:
            raise ConfigError(f"{path}: line {number} must have 2 fields, not {len(row)}.")
        if row[0] in teams:
            raise ConfigError(f"{path}: line {number} names '{row[0]}' again; keep one line.")
        teams[row[0]] = row[1]
    return teams


def replace_hashes(path: Path, hashes: Mapping[str, str]) -> None:
    """Store new hashes by team name, in one step; the teams' old passwords stop working.

    A team without a line in the file gets one.
    """
    _write(path, {**registered_teams(path), **hashes})


def replace_list(path: Path, teams: Mapping[str, str]) -> None:
    """Replace the list by these password hashes by name, if it differs from them."""
    if registered_teams(path) != teams:
        _write(path, teams)


def _write(path: Path, teams: Mapping[str, str]) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(_HEADER)
    writer.writerows(teams.items())
    # A running server reads the old file or the new one.
    replace_file(path, text.getvalue().encode("utf-8"), 0o600)
