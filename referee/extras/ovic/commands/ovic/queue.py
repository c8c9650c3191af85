# SPDX-License-Identifier: Apache-2.0
"""`referee ovic queue`: the entries, and where each is."""

from __future__ import annotations

import argparse
import json
from typing import Any

from referee.extras.ovic.commands.ovic.contest_site import TeamSite, add_site, operators_site
from referee.extras.ovic.commands.ovic.entry_text import (
    builds_text,
    entry_text,
    line_text,
    state_text,
    table,
)
from referee.extras.ovic.commands.ovic.options import add_json
from referee.extras.ovic.submission.entries import load_entry
from referee.extras.ovic.submission.entry_queries import EntryQueries
from referee.extras.ovic.submission.views import entry_detail

_DESCRIPTION = """\
Print the entries and where each is: a team's own with --url, all with --config. --entry shows one
entry with everything that happened to it; an operator also sees what the referee itself found.
"""


def add_parser(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the action's parser."""
    parser = actions.add_parser(
        "queue",
        help="print the entries, and where each is",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_site(parser)
    parser.add_argument("--entry", type=int, metavar="N", help="show this entry alone")
    add_json(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    """Print the entries."""
    found = _of_operator(args) if args.config is not None else _of_team(args)
    if args.json:
        print(json.dumps(found))
    elif args.entry is not None:
        print(_one_text(found))
    else:
        print(_all_text(found))
    return 0


def _of_team(args: argparse.Namespace) -> dict[str, Any]:
    site = TeamSite(args.url, args.team, args.password, args.ca_file)
    return site.get("/ovic/entries" + (f"/{args.entry}" if args.entry is not None else ""))


def _of_operator(args: argparse.Namespace) -> dict[str, Any]:
    with operators_site(args.config) as (config, database, tasks):
        if args.entry is not None:
            entry = load_entry(database.connection, args.entry)
            return entry_detail(database.connection, entry, tasks, for_operators=True)
        found = EntryQueries(config, database, tasks).all_entries()
        if args.team is not None:
            found["entries"] = [it for it in found["entries"] if it["team"] == args.team]
        return found


def _one_text(entry: dict[str, Any]) -> str:
    lines = [entry_text(entry), f"  received {entry['received_utc']}, {entry['file']}"]
    lines += [f"  {text}" for text in builds_text(entry)]
    for event in entry["events"]:
        words = [event["utc"], event["kind"], event["text"]]
        if "error" in event.get("detail", {}):
            words.append(f"({event['detail']['error']})")
        lines.append("  " + " ".join(filter(None, words)))
    return "\n".join(lines)


def _all_text(found: dict[str, Any]) -> str:
    lines = [line_text(found["line"])] if "line" in found else []
    rows = [("entry", "task", "team", "state")]
    rows += [(str(it["entry"]), it["task"], it["team"], state_text(it)) for it in found["entries"]]
    lines += table(rows) if len(rows) > 1 else ["There is no entry yet."]
    if "left_today" in found:
        left = ", ".join(f"{count} for {task}" for task, count in found["left_today"].items())
        lines.append(f"Left today, until {found['day_ends_utc']}: {left}")
    return "\n".join(lines)
