# SPDX-License-Identifier: Apache-2.0
"""The check of team names and passwords at a login."""

from __future__ import annotations

import hashlib
import hmac
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import argon2

from referee.core.aside import Aside, here
from referee.errors import ConfigError, Refusal
from referee.formats.team_table import NAME_MOST
from referee.service.entry.team_list import registered_teams

PRACTICE_PASSWORD = "practice"
"""The password of every user name in a rehearsal."""

# How many tries of one address at one team may wait while another one is checked.
_WAITING = 2
# How long a wrong pair is remembered, and how many of them are.
_WRONG_S = 60.0
_WRONG_KEPT = 10_000
# After this many wrong passwords, each further try must come this much later.
_FREE_TRIES = 5
_CLOSED_S = 1.0
_DOORS = 10_000


class PracticeTeams:
    """The teams of a rehearsal: any user name with the practice password."""

    def admits(self, username: str, password: str, address: str = "") -> bool:
        """Tell whether this pair may log in, from any address."""
        good = hmac.compare_digest(_bytes(password), _bytes(PRACTICE_PASSWORD))
        return good and 0 < len(username) <= NAME_MOST and username.isprintable()


@dataclass
class _Door:
    """The tries of one address at one team's password: one at a time, slower after wrong ones."""

    # Made when it is needed: the contest server replaces `threading.Lock` after this is imported.
    turn: threading.Lock = field(default_factory=lambda: threading.Lock())
    inside: int = 0
    wrong: int = 0
    closed_until_s: float = -math.inf


class EventTeams:
    """The registered teams of an event; each login reads the file again.

    One check of a password deliberately costs tens of milliseconds of a core. So the result of a
    check is remembered. Guessing is slowed down: after five wrong passwords for one team, an
    address must wait a second before each further try at that team. Other addresses and other teams
    do not wait.
    """

    def __init__(
        self, path: Path, aside: Aside = here, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._path = path
        self._aside = aside
        self._seconds = seconds
        self._hasher = argon2.PasswordHasher()
        # By team and address. Only registered teams have entries, so the dictionary stays small.
        self._doors: dict[tuple[str, str], _Door] = {}
        # Digests of right pairs, and digests of wrong pairs with the time until which they are
        # remembered. A client in a retry loop sends the same pair again and again.
        self._right: set[bytes] = set()
        self._wrong: dict[bytes, float] = {}

    def admits(self, username: str, password: str, address: str = "") -> bool:
        """Tell whether this pair may log in.

        A name that is not registered is refused at once, since the names of teams are not secret.
        Raises `Refusal` (code `login_busy`) for an address that tries too many passwords.
        """
        stored = registered_teams(self._path).get(username)
        if stored is None:
            return False
        digest = hashlib.sha256(_bytes(f"{stored}\0{password}")).digest()
        known = self._known(digest)
        if known is not None:
            return known
        if len(self._doors) >= _DOORS:
            self._doors = {key: door for key, door in self._doors.items() if door.inside}
        door = self._doors.setdefault((username, address), _Door())
        if door.inside > _WAITING:
            raise _too_many(username)
        door.inside += 1
        try:
            with door.turn:
                known = self._known(digest)
                if known is not None:
                    return known
                if self._seconds() < door.closed_until_s:
                    raise _too_many(username)
                right = self._check(username, stored, password, digest)
                door.wrong = 0 if right else door.wrong + 1
                if door.wrong >= _FREE_TRIES:
                    door.closed_until_s = self._seconds() + _CLOSED_S
                return right
        finally:
            door.inside -= 1

    def _known(self, digest: bytes) -> bool | None:
        """Return the remembered result for a pair, or None if there is none."""
        if digest in self._right:
            return True
        return False if self._wrong.get(digest, -math.inf) > self._seconds() else None

    def _check(self, username: str, stored: str, password: str, digest: bytes) -> bool:
        try:
            self._aside(lambda: self._hasher.verify(stored, _bytes(password)))
        except argon2.exceptions.VerificationError:
            if len(self._wrong) >= _WRONG_KEPT:
                self._wrong.clear()
            self._wrong[digest] = self._seconds() + _WRONG_S
            return False
        except argon2.exceptions.InvalidHashError as error:
            raise ConfigError(
                f"{self._path}: the password hash of '{username}' is damaged; give the team a "
                "new password with 'referee team password'."
            ) from error
        self._right.add(digest)
        return True


def _too_many(username: str) -> Refusal:
    return Refusal(
        "login_busy",
        f"Too many passwords for '{username}' were tried from this address: wait a second, then "
        "log in again.",
    )


def _bytes(text: str) -> bytes:
    """Encode any text; JSON can contain characters that UTF-8 cannot, and they never match."""
    return text.encode("utf-8", "surrogatepass")
