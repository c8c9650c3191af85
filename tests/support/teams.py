# SPDX-License-Identifier: Apache-2.0
"""Teams of an event, in the file of their password hashes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import argon2
import pytest

from referee.service.entry.passwords import make_passwords
from referee.service.entry.team_list import replace_hashes


@contextmanager
def free_hashes() -> Iterator[None]:
    """Let the hash of a password cost nothing in the tests' own process.

    Programs that the tests start make hashes at full cost, and check each by what it says of its
    own cost.
    """
    cheap = partial(argon2.PasswordHasher, time_cost=1, memory_cost=8, parallelism=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(argon2, "PasswordHasher", cheap)
        yield


def give_password(path: Path, team: str) -> str:
    """Give a team a password, in place of any that it had, and return the password."""
    password, stored = make_passwords([team])[team]
    replace_hashes(path, {team: stored})
    return password
