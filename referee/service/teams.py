# SPDX-License-Identifier: Apache-2.0
"""Teams and their passwords: generated at registration, kept only as argon2 hashes."""

from __future__ import annotations

import csv
import hashlib
import hmac
import os
import secrets
import threading
from pathlib import Path

import argon2

from referee.errors import ConfigError, InputError

__all__ = ["PRACTICE_PASSWORD", "EventTeams", "PracticeTeams", "register_team", "registered_teams"]

PRACTICE_PASSWORD = "practice"
"""The password that every user name has in a rehearsal."""

_HEADER = ["team", "password_hash"]
_MAX_NAME = 100


class PracticeTeams:
    """Let any user name in that comes with the practice password."""

    def admits(self, username: str, password: str) -> bool:
        """Tell whether this pair may log in."""
        good = hmac.compare_digest(_bytes(password), _bytes(PRACTICE_PASSWORD))
        return good and 0 < len(username) <= _MAX_NAME and username.isprintable()


class EventTeams:
    """Let registered teams in; the file is read again whenever it has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._hasher = argon2.PasswordHasher()
        # One hash at a time: it takes tens of milliseconds of a core on purpose, and a client
        # that hammers the login must not take the cores away from the others.
        self._one_at_a_time = threading.Lock()
        self._nobody = self._hasher.hash(secrets.token_hex(16))
        # Digests of pairs that were right, so that logging in again is cheap.
        self._known: set[bytes] = set()

    def admits(self, username: str, password: str) -> bool:
        """Tell whether this pair may log in; an unknown name takes as long as a wrong password."""
        stored = registered_teams(self._path).get(username, self._nobody)
        digest = hashlib.sha256(_bytes(f"{stored}\0{password}")).digest()
        with self._one_at_a_time:
            if digest in self._known:
                return True
            try:
                self._hasher.verify(stored, _bytes(password))
            except argon2.exceptions.VerificationError:
                return False
            except argon2.exceptions.InvalidHashError as error:
                raise ConfigError(
                    f"{self._path}: the password hash of '{username}' is damaged; "
                    "register the team again."
                ) from error
            if stored != self._nobody:
                self._known.add(digest)
        return stored != self._nobody


def registered_teams(path: Path) -> dict[str, str]:
    """Return team name → password hash; raises `ConfigError` for a damaged file."""
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
    """Add a team, or give it a new password; return the password, which is not kept.

    Raises `InputError` for a name that is empty, too long or not printable.
    """
    if not name.strip() or len(name) > _MAX_NAME or not name.isprintable():
        raise InputError(f"A team's name must be 1 to {_MAX_NAME} printable characters.")
    teams = registered_teams(path)
    password = secrets.token_urlsafe(9)
    teams[name] = argon2.PasswordHasher().hash(password)
    new = path.with_suffix(".new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(_HEADER)
        writer.writerows(teams.items())
    os.replace(new, path)
    return password


def _bytes(text: str) -> bytes:
    """Encode whatever was typed; what JSON can spell and UTF-8 cannot is simply never right."""
    return text.encode("utf-8", "surrogatepass")
