# SPDX-License-Identifier: Apache-2.0
"""Set and show the running order of an event.

The lottery is reproducible. Each team's number is the SHA-256 digest of the seed, a line feed and
the team's name, in UTF-8, and the teams run by ascending number:

  printf 'SEED\\nTeam Rocket' | sha256sum

Let the audience name the seed. Without --seed the referee makes one. Every order is on record.
'set' puts teams at the front; the others follow as before. A later order needs a reason.

  referee order lottery --seed '7 June, noon' --config event/contest.toml
  referee order set 'Team Rocket' 'bees' --reason 'bees have a train' --config event/contest.toml
  referee order show --config event/contest.toml
"""

from __future__ import annotations

import argparse
import secrets

from referee.commands.operators import add_operator, written
from referee.commands.options import add_config
from referee.core.text_cells import isolated
from referee.core.turns import draw_lots
from referee.formats.json_text import json_of
from referee.service.setup.config_file import load_config
from referee.service.setup.opened import opened_contest
from referee.service.teams.order import draw_order, set_order
from referee.service.teams.rehearsals import read_progress
from referee.service.teams.roster import Roster, read_roster
from referee.service.teams.roster_view import roster_text, shown_roster

_ACTIONS = {
    "lottery": (
        "draw the order of all active teams from a seed",
        "lottery --seed '7 June, noon'",
    ),
    "set": (
        "put teams at the front of the order by hand",
        "set 'Team Rocket' 'bees' --reason 'bees have a train'",
    ),
    "show": (
        "print the order: who ran, who is on, who is next",
        "show",
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="|".join(_ACTIONS))
    for name, (summary, words) in _ACTIONS.items():
        example = f"referee order {words} --config event/contest.toml"
        action = actions.add_parser(name, help=summary, example=example)
        if name == "lottery":
            action.add_argument("--seed", metavar="TEXT", help="the seed (default: a random one)")
        if name == "set":
            action.add_argument("team", nargs="+", metavar="TEAM", help="first, second, …")
        if name != "show":
            action.add_argument(
                "--reason",
                type=written,
                default="",
                help="why; required if there is an order already",
            )
            add_operator(action)
        action.add_argument("--json", action="store_true", help="print one JSON object")
        add_config(action)


def run(args: argparse.Namespace) -> int:
    """Set the order, and print it."""
    with opened_contest(load_config(args.config)) as contest:
        if args.action == "lottery":
            seed = secrets.token_hex(8) if args.seed is None else args.seed
            roster = draw_order(contest, seed, args.reason, args.by)
        elif args.action == "set":
            roster = set_order(contest, args.team, args.reason, args.by)
        else:
            roster = read_roster(contest)
        progress = read_progress(contest)
    if args.json:
        print(json_of(shown_roster(roster, progress)))
        return 0
    print(roster_text(roster, progress))
    if args.action == "lottery":
        print(_lots_text(roster))
    return 0


def _lots_text(roster: Roster) -> str:
    """Return the lots of a lottery that has just been drawn."""
    seed = "" if roster.order is None or roster.order.seed is None else roster.order.seed
    names = [team.name for team in roster.active if team.ordered]
    lots = draw_lots(names, seed)
    return "\n".join(["", *(f"{lot.digest[:16]}…  {isolated(lot.name)}" for lot in lots)])
