# SPDX-License-Identifier: Apache-2.0
"""The list of an event's teams: a file with a team's name and password hash on each line."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path

from referee.errors import ConfigError, InputError
from referee.formats.team_table import NAME_MOST, clean_name, same_name
from referee.service.entry.passwords import hash_password, new_password
from referee.service.setup.whole_files import replace_file

_HEADER = ["team", "password_hash"]


def registered_teams(path: Path) -> dict[str, str]:
    """Return the password hashes by team name; raise `ConfigError` for a damaged file."""
    if not path.exists():
        return {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
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


def register_team(path: Path, name: str) -> str:
    """Add a team; return its password, of which only the hash is stored.

    Blanks around the name are dropped, and several in a row become one. Raises `InputError` for a
    name that is empty, too long or not printable. Raises it also if a listed team has the same
    name, ignoring case and blanks.
    """
    teams = registered_teams(path)
    name = _free_name(teams, name)
    password = new_password()
    _write(path, teams | {name: hash_password(password)})
    return password


def replace_password(path: Path, name: str) -> str:
    """Give a team a new password and return it; the old one stops working.

    Raises `InputError` for a team that is not on the list.
    """
    teams = registered_teams(path)
    _require_registered(teams, name)
    password = new_password()
    _write(path, teams | {name: hash_password(password)})
    return password


def replace_hashes(path: Path, hashes: Mapping[str, str]) -> None:
    """Store new hashes by team name, in one step; the teams' old passwords stop working.

    A team without a line in the file gets one.
    """
    _write(path, {**registered_teams(path), **hashes})


def replace_list(path: Path, teams: Mapping[str, str]) -> None:
    """Replace the list by these password hashes by name, if it differs from them."""
    if registered_teams(path) != teams:
        _write(path, teams)


def _free_name(teams: Mapping[str, str], name: str) -> str:
    """Return the name in the form that is stored; raise `InputError` if it cannot be used."""
    kept = clean_name(name)
    if kept is None:
        raise InputError(f"A team's name must be 1 to {NAME_MOST} printable characters.")
    for team in teams:
        if same_name(team) == same_name(kept):
            raise InputError(
                f"'{team}' is registered already. 'referee team password' gives it a new password."
            )
    return kept


def _require_registered(teams: Mapping[str, str], name: str) -> None:
    if name in teams:
        return
    near = next((team for team in teams if same_name(team) == same_name(name)), None)
    hint = (
        f" Did you mean '{near}'?" if near is not None else " 'referee team list' shows them all."
    )
    raise InputError(f"No team is called '{name}'.{hint}")


def _write(path: Path, teams: Mapping[str, str]) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(_HEADER)
    writer.writerows(teams.items())
    # A running server reads the old file or the new one.
    replace_file(path, text.getvalue().encode("utf-8"), 0o600)
