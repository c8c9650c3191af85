# SPDX-License-Identifier: Apache-2.0
"""Note a game of chess, and print the games so far.

referee chess ants bees --config event/contest.toml
"""

from __future__ import annotations

import argparse

from chess_club.games import add_game, games
from referee.commands.options import add_config
from referee.service.setup.config_file import load_config
from referee.service.setup.opened import opened_contest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("players", nargs="*", metavar="PLAYER", help="white and black")
    add_config(parser)


def run(args: argparse.Namespace) -> int:
    """Note the game if there is one, and print all."""
    with opened_contest(load_config(args.config)) as contest:
        if args.players:
            with contest.database.write() as connection:
                add_game(connection, *args.players)
        for white, black in games(contest.database.connection):
            print(f"{white} against {black}")
    return 0
