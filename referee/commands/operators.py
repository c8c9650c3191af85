# SPDX-License-Identifier: Apache-2.0
"""Who acts by a command, and the record of what was refused to them."""

from __future__ import annotations

import argparse
import getpass

from referee.core.actors import COMMAND_LINE, Actor
from referee.core.written_text import character_name, unfit_character
from referee.errors import RefereeError
from referee.formats.team_table import clean_name
from referee.service.people.audit import record_refusal
from referee.service.setup.config_file import load_config
from referee.service.setup.opened import opened_contest


def add_operator(parser: argparse.ArgumentParser) -> None:
    """Declare --by; without it the record has the name of the operating system's user."""
    parser.add_argument(
        "--by",
        type=_operator,
        default=_operator(_user()),
        metavar="NAME",
        help="who does this, for the record (default: %(default)s)",
    )


def written(text: str) -> str:
    """Return a reason or a note as it was typed; the type of an option."""
    unfit = unfit_character(text)
    if unfit is not None:
        raise argparse.ArgumentTypeError(
            f"give one line of text, and leave {character_name(unfit)} out"
        )
    return text


def record_refused(args: argparse.Namespace, error: RefereeError) -> None:
    """Put a refused command into the audit of its event, if there is an event.

    A command that the desk runs for somebody at a page is left out: the desk records its refusals.
    """
    if args.by.role != COMMAND_LINE:
        return
    try:
        config = load_config(args.config)
        if not config.database.exists():
            return
        with opened_contest(config) as contest:
            record_refusal(
                contest,
                args.by,
                _words(args),
                str(error),
                session_id=getattr(args, "session", None) if args.command == "review" else None,
                detail=_object(args),
                reason=getattr(args, "reason", "") or "",
            )
    except (RefereeError, OSError):
        return  # The command itself tells what is wrong with the configuration or the database.


def _words(args: argparse.Namespace) -> str:
    """Return what the command does, as the audit calls a refused command."""
    action = getattr(args, "action", "")
    return f"{args.command} {action}" if isinstance(action, str) and action else args.command


def _object(args: argparse.Namespace) -> str:
    """Return what the command was about, as it was typed."""
    words: list[str] = []
    for name in ("name", "new_name", "number", "entry", "team", "override", "take_back"):
        value = getattr(args, name, None)
        words += value if isinstance(value, list) else [] if value is None else [str(value)]
    return ", ".join(words)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # A user without a name, as in some containers.
        return "operator"


def _operator(text: str) -> Actor:
    name = clean_name(text)
    if name is None:
        raise argparse.ArgumentTypeError("give the name of a person")
    return Actor(name, COMMAND_LINE)
