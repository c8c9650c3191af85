# SPDX-License-Identifier: Apache-2.0
"""Register a team for an event, and keep the list of teams.

A registration prints the team's password. The password is generated, and kept only as a hash.
A running referee takes up every change at once.

  referee team add 'Team Rocket' --config event/contest.toml
  referee team password 'Team Rocket' --config event/contest.toml
  referee team rename 'Team Rocket' 'Rocket II' --config event/contest.toml
  referee team remove 'Rocket II' --config event/contest.toml
  referee team list --config event/contest.toml
"""

from __future__ import annotations

import argparse
from contextlib import closing
from pathlib import Path

from referee.errors import InputError
from referee.service.entry.team_list import (
    register_team,
    registered_teams,
    remove_team,
    rename_team,
    replace_password,
)
from referee.service.setup.config import Config
from referee.service.setup.config_file import load_config
from referee.store.database import Database
from referee.store.sessions import all_sessions

_ACTIONS = {
    "add": "register a team and print its password",
    "password": "give a team a new password and print it; the old one is no longer good",
    "rename": "give a team without sessions another name; its password stays",
    "remove": "take a team without sessions off the list",
    "list": "print the registered teams",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="|".join(_ACTIONS))
    for name, summary in _ACTIONS.items():
        action = actions.add_parser(name, help=summary, description=summary)
        if name != "list":
            action.add_argument("name", help="the team; one registration is one solution")
        if name == "rename":
            action.add_argument("new_name", help="its new name")
        action.add_argument(
            "--config", type=Path, required=True, metavar="FILE", help="the event's contest.toml"
        )


def run(args: argparse.Namespace) -> int:
    """Change the list, or print it."""
    config = load_config(args.config)
    if args.action == "list":
        for name in registered_teams(config.teams):
            print(name)
        return 0
    print(_change(config, args))
    return 0


def _change(config: Config, args: argparse.Namespace) -> str:
    """Do what is asked, and return the line that says so."""
    if args.action == "add":
        password = register_team(config.teams, args.name)
        return f"{list(registered_teams(config.teams))[-1]}: {password}"
    if args.action == "password":
        return f"{args.name}: {replace_password(config.teams, args.name)}"
    _require_no_session(config, args.name)
    if args.action == "rename":
        return f"'{args.name}' is now '{rename_team(config.teams, args.name, args.new_name)}'."
    remove_team(config.teams, args.name)
    return f"'{args.name}' is no longer registered."


def _require_no_session(config: Config, name: str) -> None:
    """Refuse to change a name that stands in the evidence already."""
    if not config.database.exists():
        return
    with closing(Database(config.database)) as database:
        database.migrate()
        sessions = [s.session_id for s in all_sessions(database.connection) if s.team == name]
    if sessions:
        raise InputError(
            f"'{name}' has session {min(sessions)}, whose evidence has this name: the team stays "
            "on the list. To keep it out, give it a new password with 'referee team password'."
        )
