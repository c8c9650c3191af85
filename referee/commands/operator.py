# SPDX-License-Identifier: Apache-2.0
"""Register the people who may use the console, and end their logins.

An operator may do everything; an assistant may watch and write notes. While nobody is registered,
everybody at this laptop may do everything, and the console takes no other address than this laptop.
A password is printed once. Passwords are stored as hashes only. A running referee uses every change
at once: a new password, or the removal of a name, ends all logins of that name.

  referee operator add Kim --role operator --config event/contest.toml
  referee operator add Sam --role assistant --config event/contest.toml
  referee operator list --config event/contest.toml
  referee operator password Kim --ask --config event/contest.toml
  referee operator remove Sam --config event/contest.toml
"""

from __future__ import annotations

import argparse
import getpass
import json
import sys

from referee.commands.operators import add_operator as add_by
from referee.commands.options import add_config
from referee.core.text_cells import isolated
from referee.errors import InputError
from referee.programs.terminal import say
from referee.service.people.audit import local_time
from referee.service.people.operators import (
    PASSWORD_LEAST,
    ROLES,
    add_operator,
    operators_of,
    remove_operator,
    replace_operator_password,
)
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import Contest
from referee.service.setup.opened import opened_contest

_ACTIONS = {
    "add": (
        "register somebody and print the password",
        "add Kim --role operator",
    ),
    "list": (
        "print who may log in",
        "list",
    ),
    "password": (
        "give a new password and end all logins of the name",
        "password Kim --ask",
    ),
    "remove": (
        "remove somebody and end all logins of the name",
        "remove Sam",
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="|".join(_ACTIONS))
    for name, (summary, words) in _ACTIONS.items():
        example = f"referee operator {words} --config event/contest.toml"
        action = actions.add_parser(name, help=summary, example=example)
        add = action.add_argument
        if name == "list":
            add("--json", action="store_true", help="print one JSON object")
        else:
            add("name", help="the name; it stands in the audit log beside what the person does")
        if name == "add":
            add("--role", choices=ROLES, required=True, help="what the person may do")
        if name in ("add", "password"):
            add(
                "--ask",
                action="store_true",
                help=f"type a password, at least {PASSWORD_LEAST} characters long",
            )
        add_config(action)
        if name != "list":
            add_by(action)


def run(args: argparse.Namespace) -> int:
    """Change the list, or print it."""
    with opened_contest(load_config(args.config)) as contest:
        if args.action == "list":
            _list(contest, args.json)
        elif args.action == "remove":
            _remove(contest, args)
        else:
            _with_password(contest, args)
    return 0


def _with_password(contest: Contest, args: argparse.Namespace) -> None:
    chosen = _asked() if args.ask else None
    if args.action == "add":
        name, password = add_operator(contest, args.name, args.role, args.by, chosen)
    else:
        name, password = replace_operator_password(contest, args.name, args.by, chosen)
    print(f"{name}: {'as typed' if chosen else password}")


def _asked() -> str:
    """Read a password twice from the terminal, without showing it."""
    try:
        first = getpass.getpass("New password: ")
        second = getpass.getpass("Once more: ")
    except EOFError as error:
        raise InputError("--ask needs a terminal.") from error
    if first != second:
        raise InputError("The two passwords differ, so nothing was changed.")
    return first


def _remove(contest: Contest, args: argparse.Namespace) -> None:
    name = remove_operator(contest, args.name, args.by)
    say(f"'{name}' may no longer log in.")
    if not operators_of(contest):
        print(
            "Nobody is registered now: anybody at this laptop may act, without a login.",
            file=sys.stderr,
        )


def _list(contest: Contest, as_json: bool) -> None:
    operators = operators_of(contest)
    if as_json:
        rows = [
            {"name": operator.name, "role": operator.role, "since": operator.utc}
            for operator in operators
        ]
        print(json.dumps({"operators": rows}))
    elif not operators:
        print("Nobody is registered: anybody at this laptop may act, without a login.")
    for operator in [] if as_json else operators:
        print(f"{operator.role:9}  {isolated(operator.name)}  (since {local_time(operator.utc)})")
