# SPDX-License-Identifier: Apache-2.0
"""The option that says who acts, for the commands whose actions are on record."""

from __future__ import annotations

import argparse
import getpass

from referee.core.actors import COMMAND_LINE, Actor


def add_operator(parser: argparse.ArgumentParser) -> None:
    """Declare --by; without it the record has the name of the operating system's user."""
    parser.add_argument(
        "--by",
        type=_operator,
        default=_operator(_user()),
        metavar="NAME",
        help="who does this, for the record (default: %(default)s)",
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # A user without a name, as in some containers.
        return "operator"


def _operator(text: str) -> Actor:
    name = " ".join(text.split())
    if not name or len(name) > 100 or not name.isprintable():
        raise argparse.ArgumentTypeError("give the name of a person")
    return Actor(name, COMMAND_LINE)
