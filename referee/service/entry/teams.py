# SPDX-License-Identifier: Apache-2.0
"""The check of team names and passwords at a login."""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from referee.core.blocking import BlockingRunner, run_here
from referee.core.logins import TeamWords
from referee.errors import ConfigError, InputError
from referee.formats.team_table import NAME_MOST, clean_name
from referee.service.entry.hash_turns import HashTurns
from referee.service.entry.passwords import PasswordCheck, encoded, stays
from referee.service.entry.team_list import registered_teams

PRACTICE_PASSWORD = "practice"
"""The password of every user name in a rehearsal."""


class PracticeTeams:
    """The teams of a rehearsal: any user name with the practice password."""

    advice = (
        f"This is a rehearsal: the password is '{PRACTICE_PASSWORD}', with any user name of 1 to "
        f"{NAME_MOST} printable characters."
    )

    def admitted(
        self,
        username: str,
        password: str,
        address: str = "",
        waits: Callable[[], bool] = stays,
    ) -> str | None:
        """Return the name as a registration would store it, from any address; None if refused."""
        good = hmac.compare_digest(encoded(password), encoded(PRACTICE_PASSWORD))
        return clean_name(username) if good else None


class EventTeams:
    """The registered teams of an event; each login reads the file again."""

    advice = (
        "User name or password is wrong. Check both for typing errors, and check that the "
        "password is for this event."
    )

    def __init__(
        self,
        path: Path,
        run_blocking: BlockingRunner = run_here,
        seconds: Callable[[], float] = time.monotonic,
        turns: HashTurns | None = None,
        others: Callable[[], Iterable[tuple[str, str]]] = tuple,
    ) -> None:
        """`others` tells logins and earlier names, each with its team's present name."""
        self._path = path
        self._others = others
        self._check = PasswordCheck(run_blocking, seconds, turns)

    def admitted(
        self,
        username: str,
        password: str,
        address: str = "",
        waits: Callable[[], bool] = stays,
    ) -> str | None:
        """Return the team's registered name if this pair may log in, or None.

        The user name is the team's login, its name or one that it had, written in any way that
        `TeamWords` knows. `waits` tells whether the client is still there. A word that means no
        team is refused at once, since names and logins are not secret.
        Raises `Refusal` (code `login_busy`) for an address that tries too many passwords.
        """
        teams = registered_teams(self._path)
        known = TeamWords(teams, () if username in teams else self._others())
        team = known.find(username)
        if team is None or team not in teams:
            return None
        try:
            good = self._check.admits(team, teams[team], password, address, waits)
            return team if good else None
        except InputError as error:
            raise ConfigError(
                f"{self._path}: the password hash of '{team}' is damaged; give the team a "
                "new password with 'referee team password'."
            ) from error
