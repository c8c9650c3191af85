# SPDX-License-Identifier: Apache-2.0
"""Who sent a request to the console: an operator, somebody at the laptop, or the public."""

from __future__ import annotations

import ipaddress
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TypeVar

from flask import Request, request

from referee.core.actors import NO_LOGIN, Actor, Role
from referee.errors import Refusal
from referee.service.people.logins import Logins, OperatorLogin
from referee.web.desk.arguments import PostedFields

T = TypeVar("T")

_NOBODY = "operator"
# A proxy sends one of them at least, and no browser does.
_PASSED_ON = ("X-Forwarded-For", "Forwarded", "Via", "X-Real-IP", "X-Forwarded-Host")


@dataclass(frozen=True)
class Visitor:
    """Who sent a request: `login` is None for the public, and while nobody is registered."""

    role: Role
    login: OperatorLogin | None = None

    @property
    def name(self) -> str:
        """Return the name of the login, or ''."""
        return "" if self.login is None else self.login.name


def visitor_of(logins: Logins, *, open_to_all: bool) -> Visitor:
    """Return who sent the present request.

    While no operator is registered, everybody at the laptop may do all; `open_to_all` extends
    that to other machines.
    """
    if not logins.needed:
        here = open_to_all or is_at_desk()
        return Visitor(Role.OPERATOR if here else Role.PUBLIC)
    login = logins.look(request.cookies.get(logins.cookie, ""))
    return Visitor(Role.PUBLIC) if login is None else Visitor(login.role, login)


class ConsoleRequest(Request):
    """A request to the console, and what its steps tell one another.

    `visitor` is the public before anybody has looked, and `posted` None before it is read.
    """

    visitor: Visitor = Visitor(Role.PUBLIC)
    posted: PostedFields | None = None


def present_request() -> ConsoleRequest:
    """Return the present request without Flask's proxy."""
    real: ConsoleRequest = request._get_current_object()  # type: ignore[attr-defined]
    return real


def while_let_in(logins: Logins, stream: Generator[T, None, None]) -> Iterator[T]:
    """Pass on a stream until its visitor's login is ended; a page that only rests keeps it."""
    login = present_request().visitor.login
    return _while_stands(logins, login, stream)


def _while_stands(
    logins: Logins, login: OperatorLogin | None, stream: Generator[T, None, None]
) -> Iterator[T]:
    with closing(stream):
        for event in stream:
            if login is not None and not logins.stands(login):
                return
            yield event


def acting_operator(posted: PostedFields, *, named: bool = False) -> Actor:
    """Return who acts: the login's name, or without logins the name that was typed.

    `named` raises `Refusal` (code `name_missing`) if nobody typed one.
    """
    visitor = present_request().visitor
    if visitor.login is not None:
        return Actor(visitor.login.name, visitor.login.role.value)
    name = " ".join(posted.text("operator").split())
    if not name and named:
        raise Refusal("name_missing", "This needs your name, which stays on record. Give it.")
    return Actor(name or _NOBODY, NO_LOGIN)


def is_at_desk() -> bool:
    """Tell whether the request came from a program on this laptop.

    What a proxy on this laptop passes on may come from anywhere, whatever it says.
    """
    if any(name in request.headers for name in _PASSED_ON):
        return False
    try:
        address = ipaddress.ip_address(request.remote_addr or "")
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)
