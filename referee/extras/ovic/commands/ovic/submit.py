# SPDX-License-Identifier: Apache-2.0
"""`referee ovic submit`: hand in a model."""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

from referee.errors import InputError
from referee.extras.ovic.commands.ovic.contest_site import TeamSite, add_site, operators_site
from referee.extras.ovic.commands.ovic.entry_text import entry_text
from referee.extras.ovic.commands.ovic.options import add_json, add_task
from referee.extras.ovic.submission.entry_queries import EntryQueries
from referee.extras.ovic.submission.intake import SubmissionIntake, database_commit
from referee.service.entry.team_list import registered_teams
from referee.service.setup.clock import SystemClock
from referee.service.setup.private_files import private_from_the_start

_DESCRIPTION = """\
Hand in a model for a team. The command returns when the contest has the model on its disk, and
prints the entry's number. The queue then validates and measures it; --wait follows it. To hand in
the same model again is the same entry. Exit code 1: refused, failed, or no score within --wait.

  referee ovic submit model.tflite --task detection --url http://192.168.1.2:8000 --team ants
  referee ovic submit model.tflite --task detection --config event/contest.toml --team ants
"""

_LOOK_S = 1.0
_OVER = ("refused", "scored", "failed", "void")
_PIECE = 1 << 20


def add_parser(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the action's parser."""
    parser = actions.add_parser(
        "submit",
        help="hand in a model for a team",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", type=Path, metavar="MODEL", help="a .tflite file")
    add_task(parser)
    add_site(parser, team=True)
    parser.add_argument(
        "--wait",
        type=float,
        metavar="MINUTES",
        help="with --url: follow the entry for so long, and print each of its states",
    )
    add_json(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    """Hand the model in, and print the entry."""
    if args.config is not None:
        if args.wait is not None:
            raise InputError("--wait goes with --url; 'referee ovic queue' shows an operator all.")
        entry = _hand_in(args)
    else:
        site = TeamSite(args.url, args.team, args.password, args.ca_file)
        entry = site.submit(args.model, args.task)
        if args.wait is not None:
            entry = _follow(site, entry, args.wait)
    print(json.dumps(entry) if args.json else entry_text(entry))
    if entry["state"] in _OVER or args.wait is not None:
        return 0 if entry["state"] == "scored" and entry["valid"] else 1
    return 0


def _hand_in(args: argparse.Namespace) -> dict[str, Any]:
    """Put the model into the contest's folder itself."""
    with operators_site(args.config) as (config, database, tasks), private_from_the_start():
        if config.contest.mode == "event" and args.team not in registered_teams(config.teams):
            raise InputError(f"'{args.team}' is not registered: run 'referee team add' first.")
        intake = SubmissionIntake(config, SystemClock(), database, database_commit(database), tasks)
        try:
            task = intake.require_acceptable(args.task, args.model.stat().st_size)
            file = args.model.open("rb")
        except OSError as error:
            raise InputError(f"{args.model} cannot be read: {error.strerror}.") from None
        model = intake.new_model()
        try:
            with file:
                while piece := file.read(_PIECE):
                    model.add(piece)
            intake.require_place(args.team, task, model.sha256)
            stored = model.keep()
        finally:
            model.drop()
        received = intake.enter(args.team, task, stored, args.model.name, "operator")
        return EntryQueries(config, database, tasks).receipt(received)


def _follow(site: TeamSite, entry: dict[str, Any], minutes: float) -> dict[str, Any]:
    """Print each change of an entry until it is over or the time is."""
    pause, until_s = threading.Event(), time.monotonic() + 60 * minutes
    told = None
    while entry["state"] not in _OVER and time.monotonic() < until_s:
        line = entry_text(entry)
        if line != told:
            print(line, file=sys.stderr, flush=True)
            told = line
        pause.wait(_LOOK_S)
        entry = site.get(f"/ovic/entries/{entry['entry']}")
    return entry
