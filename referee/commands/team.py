# SPDX-License-Identifier: Apache-2.0
"""Register a team for an event, or list those that are registered.

A registration prints the team's password, which is generated and kept only as a hash. Running it
again gives the team a new one.

  referee team add 'Team Rocket' --config event/contest.toml
  referee team list --config event/contest.toml
"""

from __future__ import annotations

import argparse
from pathlib import Path

from referee.service.entry.teams import register_team, registered_teams
from referee.service.setup.config_file import load_config


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="add|list")
    add = actions.add_parser("add", help="register a team and print its password")
    add.add_argument("name", help="one registration is one solution")
    for action in (add, actions.add_parser("list", help="print the registered teams")):
        action.add_argument(
            "--config", type=Path, required=True, metavar="FILE", help="the event's contest.toml"
        )


def run(args: argparse.Namespace) -> int:
    """Register or list."""
    config = load_config(args.config)
    if args.action == "add":
        print(f"{args.name}: {register_team(config.teams, args.name)}")
        return 0
    for name in registered_teams(config.teams):
        print(name)
    return 0
