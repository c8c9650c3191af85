# SPDX-License-Identifier: Apache-2.0
"""`referee ovic leaderboard`: the best entry of each team."""

from __future__ import annotations

import argparse
import json
import sys

from referee.extras.ovic.commands.ovic.contest_site import TeamSite, add_site, operators_site
from referee.extras.ovic.commands.ovic.entry_text import leaderboard_text
from referee.extras.ovic.commands.ovic.options import add_json
from referee.extras.ovic.submission.entry_queries import EntryQueries

_DESCRIPTION = """\
Print the best entry of each team, for each open task. All entries are scored with the frontier that
the contest has now. Teams with equal metrics share a rank. Teams whose entries are all too slow
follow without a rank. An entry that was measured on several builds of the referee has its best
valid score. --json lists its 'builds', and for an operator those of all entries.
"""


def add_parser(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the action's parser."""
    parser = actions.add_parser(
        "leaderboard",
        help="print the best entry of each team",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_site(parser)
    add_json(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    """Print the leaderboard."""
    if args.config is not None:
        with operators_site(args.config) as (config, database, tasks):
            board = EntryQueries(config, database, tasks).leaderboard(for_operators=True)
    else:
        board = TeamSite(args.url, args.team, args.password, args.ca_file).get("/ovic/leaderboard")
    for task in board["tasks"]:
        if task["note"] and not args.json:
            print(f"referee ovic: {task['note']}", file=sys.stderr)
    print(json.dumps(board) if args.json else leaderboard_text(board))
    return 0
