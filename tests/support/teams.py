# SPDX-License-Identifier: Apache-2.0
"""Teams of an event, in the file of their password hashes."""

from __future__ import annotations

from pathlib import Path

from referee.service.entry.passwords import make_passwords
from referee.service.entry.team_list import replace_hashes


def give_password(path: Path, team: str) -> str:
    """Give a team a password, in place of any that it had, and return the password."""
    password, stored = make_passwords([team])[team]
    replace_hashes(path, {team: stored})
    return password
