# SPDX-License-Identifier: Apache-2.0
"""Teams and their passwords: generated at registration, kept only as argon2 hashes."""

from __future__ import annotations

import hashlib
import hmac
import math
import threading
import time
from collections.abc import Callable
from pathlib import Path

import argon2

from referee.errors import ConfigError, Refusal
from referee.service.entry.team_list import NAME_MOST, registered_teams
from referee.store.writer import Aside, here

PRACTICE_PASSWORD = "practice"
"""The password that every user name has in a rehearsal."""

_WAITING = 2
_WRONG_S = 60.0
_WRONG_KEPT = 10_000


class PracticeTeams:
    """Let any user name in that comes with the practice password."""

    def admits(self, username: str, password: str) -> bool:
        """Tell whether this pair may log in."""
        good = hmac.compare_digest(_bytes(password), _bytes(PRACTICE_PASSWORD))
        return good and 0 < len(username) <= NAME_MOST and username.isprintable()


class EventTeams:
    """Let registered teams in; the file is read again whenever it is asked.

    Checking a password takes tens of milliseconds of a core on purpose, so a client that hammers
    the login must not take the cores away from the others: one is checked at a time, two wait,
    and what was judged before is not judged again.
    """

    def __init__(
        self, path: Path, aside: Aside = here, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._path = path
        self._aside = aside
        self._seconds = seconds
        self._hasher = argon2.PasswordHasher()
        self._one_at_a_time = threading.Lock()
        self._places = threading.BoundedSemaphore(1 + _WAITING)
        # Digests of pairs that were right, and of those that were wrong with the second until
        # which that is remembered: a client in a retry loop sends the same pair again and again.
        self._right: set[bytes] = set()
        self._wrong: dict[bytes, float] = {}

    def admits(self, username: str, password: str) -> bool:
        """Tell whether this pair may log in.

        A name that is not registered is refused at once: the names of an event are no secret.
        Raises `Refusal` with code `login_busy` when too many passwords wait to be checked.
        """
        stored = registered_teams(self._path).get(username)
        if stored is None:
            return False
        digest = hashlib.sha256(_bytes(f"{stored}\0{password}")).digest()
        if digest in self._right:
            return True
        if self._wrong.get(digest, -math.inf) > self._seconds():
            return False
        if not self._places.acquire(blocking=False):
            raise Refusal(
                "login_busy", "Too many passwords are being tried at this moment: log in again."
            )
        try:
            with self._one_at_a_time:
                return self._check(username, stored, password, digest)
        finally:
            self._places.release()

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
                f"{self._path}: the password hash of '{username}' is damaged; "
                "register the team again."
            ) from error
        self._right.add(digest)
        return True


def _bytes(text: str) -> bytes:
    """Encode whatever was typed; what JSON can spell and UTF-8 cannot is simply never right."""
    return text.encode("utf-8", "surrogatepass")
