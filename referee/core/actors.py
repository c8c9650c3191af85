# SPDX-License-Identifier: Apache-2.0
"""Who acts: a name together with the role in which it acts."""

from __future__ import annotations

from enum import Enum


class Role(Enum):
    """What a visitor of the console may do; each role may do all that the one before may."""

    PUBLIC = "public"
    ASSISTANT = "assistant"
    OPERATOR = "operator"

    def may(self, least: Role) -> bool:
        """Tell whether this role may do what needs at least the other one."""
        order = list(Role)
        return order.index(self) >= order.index(least)


COMMAND_LINE = "command line"
"""The role of everybody who acts by a command on the laptop itself."""

NO_LOGIN = "no login"
"""The role of everybody at the laptop while no operator is registered."""

REFEREE = "referee"
"""The role of the program itself."""


class Actor(str):
    """A name that knows its role.

    Every action takes the name of its operator as a text and passes it on to the rows that it
    writes. The role is for the audit log alone, so it travels with the text.
    """

    role: str

    def __new__(cls, name: str, role: str) -> Actor:
        """Return the name, which equals a text of the same characters."""
        made = super().__new__(cls, name)
        made.role = role
        return made


def role_of(name: str) -> str:
    """Return the role of an actor; a plain text is a name by which the referee itself acts."""
    return name.role if isinstance(name, Actor) else REFEREE
