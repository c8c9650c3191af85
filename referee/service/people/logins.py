# SPDX-License-Identifier: Apache-2.0
"""The logins of operators: begun with a password, kept by use, ended by rest or by hand.

A login is a row, and its seal is the row's number with the time of the last use, signed with the
row's nonce. So a restarted desk knows every login, and a look at the page writes nothing. A seal
from after a backup opens nothing where the backup was restored, and the number is given again.
"""

from __future__ import annotations

import hmac
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256

from referee.core.actors import Actor, Role
from referee.errors import InputError, Refusal, Unavailable
from referee.service.entry.hash_turns import HashTurns
from referee.service.entry.machine_turn import MachineTurn
from referee.service.entry.passwords import PasswordCheck, stays
from referee.service.people.audit import record_refusal
from referee.service.people.operators import find_operator
from referee.service.setup.contest import Contest
from referee.store.nonces import nonce_of
from referee.store.notices import insert_audit
from referee.store.operators import (
    OperatorRecord,
    has_operators,
    insert_login,
    insert_logout,
    standing_login,
)

# A login ends when nobody has used its page for so long. An assistant's page is for watching, and
# hangs on a wall for a day. An operator's page can void a session.
_IDLE_S = {Role.OPERATOR: 3600.0, Role.ASSISTANT: 43_200.0}
# A seal that was renewed less than this ago is not renewed again.
_RENEW_S = 60.0
# How many logins wait for their turn. Each holds a thread that the console's pages need.
_WAITING = 6
# How many refused logins of one address, and of all, are recorded in a minute.
_WRONG_RECORDED, _WRONG_RECORDED_ALL = 5, 50
_WRONG = "Name or password is wrong. Check both for typing errors."
_SEAL = re.compile(r"([1-9][0-9]{0,15})\.([0-9]{1,12})\.([0-9a-f]{64})")


@dataclass(frozen=True)
class OperatorLogin:
    """A login that stands; `used_s` is the time of its last use, in seconds since 1970."""

    login_id: int
    name: str
    role: Role
    used_s: int


class Logins:
    """The logins of the console: passwords in, seals out; safe to use from many threads."""

    def __init__(self, contest: Contest, check: PasswordCheck | None = None) -> None:
        self._contest = contest
        # One check at a time: each takes 64 MiB and a core, and the desk has the meter to watch.
        machine = MachineTurn(contest.config.storage.folder, contest.secrets.token_key)
        self._check = check or PasswordCheck(turns=HashTurns(machine=machine, most=_WAITING))
        self._wrong_minute, self._wrong_of = 0, Counter[str]()
        key = contest.secrets.console_key
        self._key = hmac.digest(key, b"console logins", "sha256")
        # A browser sends the cookies of one host to all its ports, so each contest has its own.
        self.cookie = f"referee-{hmac.new(key, b'cookie name', sha256).hexdigest()[:8]}"

    @property
    def needed(self) -> bool:
        """Tell whether anybody is registered, so that acting needs a login."""
        return has_operators(self._contest.database.connection)

    def begin(
        self, name: str, password: str, address: str, waits: Callable[[], bool] = stays
    ) -> str:
        """Check a password and return the seal of a new login.

        `waits` tells whether the client still waits for the answer. Raises `Refusal`
        (`login_invalid`, `login_busy`). An unknown name is refused at once.
        """
        operator = find_operator(self._contest.database.connection, name)
        try:
            good = operator is not None and self._check.admits(
                operator.name, operator.password_hash, password, address, waits
            )
        except InputError as error:
            raise Unavailable(
                f"The password of '{name}' is damaged: give a new one with 'referee operator "
                "password'."
            ) from error
        if operator is None or not good:
            self._record_wrong(operator, address)
            raise Refusal("login_invalid", _WRONG)
        now = self._contest.clock.now()
        with self._contest.database.write() as connection:
            utc = now.utc.isoformat()
            login_id = insert_login(connection, operator.change_id, address, utc)
            actor = Actor(operator.name, operator.role)
            insert_audit(connection, now, actor, "log in", None, f"from {address}")
        return self._sealed(login_id, int(now.utc.timestamp()))

    def look(self, seal: str) -> OperatorLogin | None:
        """Return the login of a seal, or None if the seal is not ours or its login has ended."""
        parts = _SEAL.fullmatch(seal)
        if parts is None:
            return None
        login_id, used_s = int(parts[1]), int(parts[2])
        if not hmac.compare_digest(seal, self._sealed(login_id, used_s)):
            return None
        row = standing_login(self._contest.database.connection, login_id)
        if row is None:
            return None
        login = OperatorLogin(login_id, row.operator.name, Role(row.operator.role), used_s)
        return login if self._now_s() - used_s < _IDLE_S[login.role] else None

    def renewed(self, login: OperatorLogin) -> str | None:
        """Return a new seal for a login that is in use, or None if its own is young enough."""
        now_s = int(self._now_s())
        return self._sealed(login.login_id, now_s) if now_s - login.used_s >= _RENEW_S else None

    def stands(self, login: OperatorLogin) -> bool:
        """Tell whether nobody has ended the login meanwhile; its page may have rested."""
        return standing_login(self._contest.database.connection, login.login_id) is not None

    def end(self, login: OperatorLogin) -> None:
        """End a login; every seal of it is void from now on."""
        now = self._contest.clock.now()
        with self._contest.database.write() as connection:
            if insert_logout(connection, login.login_id, now.utc.isoformat()):
                actor = Actor(login.name, login.role.value)
                insert_audit(connection, now, actor, "log out", None)

    def _record_wrong(self, operator: OperatorRecord | None, address: str) -> None:
        """Record a refused login, but not each one of a program that guesses.

        A name that nobody has may be a password in the wrong field, so it is not written.
        """
        minute = int(self._now_s() // 60)
        if self._wrong_minute != minute:
            self._wrong_minute, self._wrong_of = minute, Counter()
        self._wrong_of[address] += 1
        if (
            self._wrong_of[address] > _WRONG_RECORDED
            or self._wrong_of.total() > _WRONG_RECORDED_ALL
        ):
            return
        who = Actor("unknown name" if operator is None else operator.name, Role.PUBLIC.value)
        record_refusal(self._contest, who, "log in", _WRONG, detail=f"from {address}")

    def _sealed(self, login_id: int, used_s: int) -> str:
        text = f"{login_id}.{used_s}"
        nonce = nonce_of(self._contest.database.connection, "login", login_id) or b""
        signed = text.encode("ascii") + b" " + nonce
        return f"{text}.{hmac.new(self._key, signed, sha256).hexdigest()}"

    def _now_s(self) -> float:
        return self._contest.clock.now().utc.timestamp()
