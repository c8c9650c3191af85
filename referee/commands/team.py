# SPDX-License-Identifier: Apache-2.0
"""Register the teams of an event, and edit their list.

A registration prints the team's new password. Only a hash of the password is stored.
A running referee uses every change at once.

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
    "password": "give a team a new password and print it; the old one stops working",
    "rename": "give a team without sessions another name; its password stays",
    "remove": "remove a team without sessions from the list",
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
    """Change the list, and return a line that confirms the change."""
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
    """Raise `InputError` if the team has sessions, because the evidence contains its name."""
    if not config.database.exists():
        return
    with closing(Database(config.database)) as database:
        database.migrate()
        sessions = [s.session_id for s in all_sessions(database.connection) if s.team == name]
    if sessions:
        raise InputError(
            f"'{name}' has session {min(sessions)}, and its evidence contains this name, so the "
            "team stays on the list. To keep the team out, give it a new password with 'referee "
            "team password'."
        )
