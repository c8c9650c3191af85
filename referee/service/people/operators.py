# SPDX-License-Identifier: Apache-2.0
"""The operators of a contest: add, list, remove, and new passwords; each change is on record."""

from __future__ import annotations

import ipaddress

from referee.core.actors import Role
from referee.core.names import find_name
from referee.errors import InputError
from referee.formats.team_table import NAME_MOST, clean_name
from referee.service.entry.passwords import hash_password, new_password
from referee.service.setup.config import Config
from referee.service.setup.contest import Contest
from referee.store.database import Connection
from referee.store.notices import insert_audit
from referee.store.operators import (
    ChangeKind,
    OperatorRecord,
    has_operators,
    insert_operator_change,
    present_operators,
)

ROLES = (Role.OPERATOR.value, Role.ASSISTANT.value)
"""The roles that somebody can be registered for."""

PASSWORD_LEAST = 10
"""The fewest characters of a password that somebody chooses."""

_PASSWORD_MOST = 200


def operators_of(contest: Contest) -> list[OperatorRecord]:
    """Return everybody who may log in to the console, by name."""
    return present_operators(contest.database.connection)


def require_operators(config: Config, connection: Connection) -> None:
    """Raise `InputError` if other machines can reach the console of an event without operators.

    While nobody is registered, everybody who reaches the console may act. A rehearsal has nothing
    at stake, so its console may be anywhere.
    """
    away = not is_on_this_machine(config.server.console)
    if away and config.contest.mode == "event" and not has_operators(connection):
        raise InputError(
            f"{config.path}: other machines can reach the console at {config.server.console}, and "
            "no operator is registered, so anybody there could act. Run: referee operator add NAME "
            f"--role operator --config {config.path}. Or set [server] console to 127.0.0.1:8001."
        )


def is_on_this_machine(address: str) -> bool:
    """Tell whether only programs on this machine can reach an address `HOST:PORT`."""
    host = address.rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def find_operator(connection: Connection, name: str) -> OperatorRecord | None:
    """Return the operator with this name, however it is written, or None (see `find_name`)."""
    operators = {one.name: one for one in present_operators(connection)}
    found = find_name(name, operators)
    return None if found is None else operators[found]


def add_operator(
    contest: Contest, name: str, role: str, actor: str, password: str | None = None
) -> tuple[str, str]:
    """Register somebody; return the name as stored and the password, of which the hash is kept.

    Without `password` one is made. Raises `InputError` for a name that cannot be used or is in
    use, and for a password that is too short.
    """
    kept = clean_name(name)
    if kept is None:
        raise InputError(f"An operator's name must be 1 to {NAME_MOST} printable characters.")
    secret = _secret(password)
    stored = hash_password(secret)
    with contest.database.write() as connection:
        operator = find_operator(connection, kept)
        if operator is not None:
            raise InputError(
                f"'{operator.name}' is an {operator.role} already. 'referee operator password'"
                " gives a new password. For another role, remove the name and add it again."
            )
        _change(contest, connection, "added", kept, role, stored, actor)
        _audit(contest, connection, actor, "add operator", f"{kept}, {role}")
    return kept, secret


def replace_operator_password(
    contest: Contest, name: str, actor: str, password: str | None = None
) -> tuple[str, str]:
    """Give an operator a new password; return name and password. All logins of the name end."""
    secret = _secret(password)
    stored = hash_password(secret)
    with contest.database.write() as connection:
        operator = _require(connection, name)
        _change(contest, connection, "password", operator.name, operator.role, stored, actor)
        _audit(contest, connection, actor, "new password of operator", operator.name)
    return operator.name, secret


def remove_operator(contest: Contest, name: str, actor: str) -> str:
    """Remove an operator and end all logins of the name; return the name as it was stored."""
    with contest.database.write() as connection:
        operator = _require(connection, name)
        _change(contest, connection, "removed", operator.name, operator.role, "", actor)
        _audit(contest, connection, actor, "remove operator", f"{operator.name}, {operator.role}")
    return operator.name


def _secret(password: str | None) -> str:
    if password is None:
        return new_password()
    if not PASSWORD_LEAST <= len(password) <= _PASSWORD_MOST or not password.isprintable():
        raise InputError(
            f"A password must be {PASSWORD_LEAST} to {_PASSWORD_MOST} printable characters."
        )
    return password


def _require(connection: Connection, name: str) -> OperatorRecord:
    operator = find_operator(connection, name)
    if operator is None:
        raise InputError(f"No operator is called '{name}'. 'referee operator list' shows them all.")
    return operator


def _change(
    contest: Contest,
    connection: Connection,
    kind: ChangeKind,
    name: str,
    role: str,
    password_hash: str,
    actor: str,
) -> None:
    utc = contest.clock.now().utc.isoformat()
    insert_operator_change(connection, kind, name, role, password_hash, actor=actor, utc=utc)


def _audit(contest: Contest, connection: Connection, actor: str, action: str, detail: str) -> None:
    insert_audit(connection, contest.clock.now(), actor, action, None, detail)
