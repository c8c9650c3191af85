# SPDX-License-Identifier: Apache-2.0
"""Passwords: made for people, stored as hashes, and checked slowly for whoever guesses."""

from __future__ import annotations

import hashlib
import math
import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import argon2

from referee.core.blocking import BlockingRunner, run_here
from referee.errors import InputError, Refusal
from referee.service.entry.hash_turns import HashTurns

# People read passwords from paper, so no two of these characters look alike.
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
_GROUPS, _OF_GROUP = 4, 4

# How many tries of one address at one name may wait while another one is checked.
_WAITING = 2
# How long a wrong pair is remembered, and how many of them are.
_WRONG_S = 60.0
_WRONG_KEPT = 10_000
# After this many wrong passwords, each further try must come this much later.
_FREE_TRIES = 5
_CLOSED_S = 1.0
_TRIES_MOST = 10_000


def new_password() -> str:
    """Return a password of 79 bits that is easy to read aloud and to type from paper."""
    groups = ("".join(secrets.choice(_LETTERS) for _ in range(_OF_GROUP)) for _ in range(_GROUPS))
    return "-".join(groups)


def hash_password(password: str) -> str:
    """Return the salted hash (argon2id) that is stored instead of a password."""
    return argon2.PasswordHasher().hash(password)


def make_passwords(
    names: Iterable[str], progress: Callable[[int, int], object] | None = None
) -> dict[str, tuple[str, str]]:
    """Make a password for each name; return passwords and hashes by name.

    A hash takes long on purpose, so `progress` gets how many are made, and of how many. One is made
    at a time: argon2 itself works on four threads, and on two cores two hashes at once gained
    hardly anything.
    """
    made: dict[str, tuple[str, str]] = {}
    wanted = list(dict.fromkeys(names))
    for name in wanted:
        password = new_password()
        made[name] = (password, hash_password(password))
        if progress is not None:
            progress(len(made), len(wanted))
    return made


def has_password(stored: str, password: str) -> bool:
    """Tell whether a stored hash is that of a password; a damaged hash is that of none."""
    try:
        return argon2.PasswordHasher().verify(stored, password)
    except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
        return False


@dataclass
class _Tries:
    """The tries of one address at one name's password, slower after wrong ones."""

    inside: int = 0
    wrong: int = 0
    closed_until_s: float = -math.inf


def stays() -> bool:
    """Tell that whoever tries a password still waits: the answer of callers that never leave."""
    return True


class PasswordCheck:
    """The check of passwords against stored hashes, slow for whoever guesses.

    One check of a password deliberately costs tens of milliseconds of a core. So the result of a
    check is remembered, and `turns` says who is next. After five wrong passwords for one name, an
    address must wait a second before each further try at that name. Other addresses and other
    names do not wait.
    """

    def __init__(
        self,
        run_blocking: BlockingRunner = run_here,
        seconds: Callable[[], float] = time.monotonic,
        turns: HashTurns | None = None,
    ) -> None:
        self._run_blocking = run_blocking
        self._seconds = seconds
        self._turns = turns or HashTurns(seconds)
        self._hasher = argon2.PasswordHasher()
        # By name and address. Only registered names have entries, so the dictionary stays small.
        self._tries: dict[tuple[str, str], _Tries] = {}
        # Digests of right pairs, and digests of wrong pairs with the time until which they are
        # remembered. A client in a retry loop sends the same pair again and again.
        self._right: set[bytes] = set()
        self._wrong: dict[bytes, float] = {}

    def admits(
        self,
        name: str,
        stored: str,
        password: str,
        address: str,
        waits: Callable[[], bool] = stays,
    ) -> bool:
        """Tell whether a password fits the stored hash of a registered name.

        `waits` tells whether the client still waits for the answer. Nothing is computed for a
        client that has gone. Raises `Refusal` (code `login_busy`) for an address that tries too
        many passwords, and `InputError` for a hash that is damaged.
        """
        digest = hashlib.sha256(encoded(f"{stored}\0{password}")).digest()
        known = self._known(digest)
        if known is not None:
            return known
        if len(self._tries) >= _TRIES_MOST:
            self._tries = {key: tries for key, tries in self._tries.items() if tries.inside}
        tries = self._tries.setdefault((name, address), _Tries())
        if tries.inside > _WAITING or self._seconds() < tries.closed_until_s:
            raise _too_many(name)
        tries.inside += 1
        try:
            with self._turns.turn(address, name):
                known = self._known(digest)
                if known is not None:
                    return known
                if self._seconds() < tries.closed_until_s or not waits():
                    raise _too_many(name)
                right = self._check(stored, password, digest)
                tries.wrong = 0 if right else tries.wrong + 1
                if not right:
                    self._run_blocking(partial(self._turns.note_wrong, address))
                if tries.wrong >= _FREE_TRIES:
                    tries.closed_until_s = self._seconds() + _CLOSED_S
                return right
        finally:
            tries.inside -= 1

    def _known(self, digest: bytes) -> bool | None:
        """Return the remembered result for a pair, or None if there is none."""
        if digest in self._right:
            return True
        return False if self._wrong.get(digest, -math.inf) > self._seconds() else None

    def _check(self, stored: str, password: str, digest: bytes) -> bool:
        try:
            self._run_blocking(lambda: self._hasher.verify(stored, encoded(password)))
        except argon2.exceptions.VerificationError:
            if len(self._wrong) >= _WRONG_KEPT:
                self._wrong.clear()
            self._wrong[digest] = self._seconds() + _WRONG_S
            return False
        except argon2.exceptions.InvalidHashError as error:
            raise InputError("The stored hash is damaged.") from error
        self._right.add(digest)
        return True


def encoded(text: str) -> bytes:
    """Encode any text; JSON can contain characters that UTF-8 cannot, and they never match."""
    return text.encode("utf-8", "surrogatepass")


def _too_many(name: str) -> Refusal:
    return Refusal(
        "login_busy",
        f"Too many passwords for '{name}' were tried from this address: wait a second, then "
        "log in again.",
    )
