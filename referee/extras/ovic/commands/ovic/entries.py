# SPDX-License-Identifier: Apache-2.0
"""`referee ovic submit`, `queue`, `leaderboard` and `baselines`: the entries of a contest."""

from __future__ import annotations

import argparse
import csv
import json
import sys
import threading
import time
from pathlib import Path

from power.bounded_file import require_file
from referee.commands.options import add_config
from referee.core.logins import TeamWords
from referee.core.spreadsheet import plain_cell
from referee.errors import InputError
from referee.extras.ovic.commands.ovic.contest_site import (
    TeamSite,
    add_site,
    operators_site,
)
from referee.extras.ovic.commands.ovic.entry_text import (
    builds_text,
    entry_text,
    leaderboard_text,
    line_text,
    state_text,
    table,
)
from referee.extras.ovic.commands.ovic.options import add_action, add_json, add_task
from referee.extras.ovic.rules.documents import EntriesView, EntryDetail, EntryView
from referee.extras.ovic.submission.entries import load_entry
from referee.service.entry.team_list import registered_teams
from referee.service.setup.clock import SystemClock
from referee.service.setup.private_files import private_from_the_start
from referee.store.team_words import other_words

_QUEUE = """\
Print the entries and where each is: a team's own with --url, all with --config. --entry shows one
entry with everything that happened to it; an operator also sees what the referee itself found.

  referee ovic queue --url http://192.168.1.2:8000 --team ants
  referee ovic queue --entry 3 --config event/contest.toml
"""

_LEADERBOARD = """\
Print the best entry of each team, for each open task. All entries are scored with the frontier that
the contest has now. Teams with equal metrics share a rank. Teams whose entries are all too slow
follow without a rank. An entry that was measured on several builds of the referee has its best
valid score. --json lists its 'builds', and those of all entries. Teams read GET /ovic/leaderboard.

  referee ovic leaderboard --config event/contest.toml
"""

_BASELINES = """\
Print the entries of a contest that have a score as lines name,latency_ms,accuracy, for
'referee ovic frontier --baselines'. Each entry has the measurement that counts. Entries that are
too slow to be valid are baselines too. The name is the team's, with the entry's number.

  referee ovic baselines --task detection --config event/contest.toml > baselines.csv
"""

_SUBMIT = """\
Hand in a model for a team. The command returns when the contest has the model on its disk, and
prints the entry's number. The queue then validates and measures it; --wait follows it. Handing in
the same model again gives the same entry. Exit code 1: refused, failed, or no score within --wait.

  referee ovic submit model.tflite --task detection --url http://192.168.1.2:8000 --team ants
  referee ovic submit model.tflite --task detection --config event/contest.toml --team ants
"""

_LOOK_S = 1.0
_OVER = ("refused", "scored", "failed", "void")
_PIECE = 1 << 20


def add_parser(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parsers of the actions."""
    _add_submit(actions)
    _add_queue(actions)
    _add_leaderboard(actions)
    _add_baselines(actions)


def _add_submit(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_action(actions, "submit", "submit a model for a team", _SUBMIT, _submit)
    parser.add_argument("model", type=Path, metavar="MODEL", help="a .tflite file")
    add_task(parser)
    add_site(parser, team=True)
    parser.add_argument(
        "--wait",
        type=float,
        metavar="MINUTES",
        help="with --url: follow the entry for at most this long, and print each of its states",
    )
    add_json(parser)


def _submit(args: argparse.Namespace) -> int:
    """Hand the model in, and print the entry."""
    if args.url is None:
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


def _hand_in(args: argparse.Namespace) -> EntryView:
    """Put the model into the contest's folder itself."""
    from referee.extras.ovic.submission.entry_queries import EntryQueries
    from referee.extras.ovic.submission.intake import SubmissionIntake, database_commit

    with operators_site(args.config) as (config, database, tasks), private_from_the_start():
        known = TeamWords(registered_teams(config.teams), other_words(database.connection))
        team = known.find(args.team) or args.team
        if config.contest.mode == "event" and team not in registered_teams(config.teams):
            raise InputError(f"'{args.team}' is not registered: run 'referee team add' first.")
        intake = SubmissionIntake(config, SystemClock(), database, database_commit(database), tasks)
        try:
            require_file(args.model)
            task = intake.require_acceptable(args.task, args.model.stat().st_size)
            file = args.model.open("rb")
        except OSError as error:
            raise InputError(f"{args.model} cannot be read: {error.strerror}.") from None
        model = intake.new_model()
        try:
            with file:
                while piece := file.read(_PIECE):
                    model.add(piece)
            intake.require_place(team, task, model.sha256)
            stored = model.keep()
        finally:
            model.drop()
        received = intake.enter(team, task, stored, args.model.name, "operator")
        return EntryQueries(config, database, tasks).receipt(received)


def _follow(site: TeamSite, entry: EntryView, minutes: float) -> EntryView:
    """Print each change of an entry until it is over or the time is."""
    pause, until_s = threading.Event(), time.monotonic() + 60 * minutes
    last_line = None
    while entry["state"] not in _OVER and time.monotonic() < until_s:
        line = entry_text(entry)
        if line != last_line:
            print(line, file=sys.stderr, flush=True)
            last_line = line
        pause.wait(_LOOK_S)
        entry = site.entry(entry["entry"])
    return entry


def _add_queue(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_action(
        actions, "queue", "print the entries, and where each is", _QUEUE, _print_queue
    )
    add_site(parser)
    parser.add_argument("--entry", type=int, metavar="N", help="show this entry alone")
    add_json(parser)


def _print_queue(args: argparse.Namespace) -> int:
    """Print the entries."""
    if args.entry is not None:
        entry = _entry(args)
        print(json.dumps(entry) if args.json else _one_text(entry))
    else:
        entries = _entries(args)
        print(json.dumps(entries) if args.json else _all_text(entries))
    return 0


def _entry(args: argparse.Namespace) -> EntryDetail:
    from referee.extras.ovic.submission.views import entry_detail

    if args.url is not None:
        return TeamSite(args.url, args.team, args.password, args.ca_file).entry(args.entry)
    with operators_site(args.config) as (_config, database, tasks):
        entry = load_entry(database.connection, args.entry)
        return entry_detail(database.connection, entry, tasks, for_operators=True)


def _entries(args: argparse.Namespace) -> EntriesView:
    from referee.extras.ovic.submission.entry_queries import EntryQueries

    if args.url is not None:
        return TeamSite(args.url, args.team, args.password, args.ca_file).entries()
    with operators_site(args.config) as (config, database, tasks):
        entries = EntryQueries(config, database, tasks).all_entries()
        if args.team is not None:
            teams = {entry["team"] for entry in entries["entries"]}
            team = TeamWords(teams, other_words(database.connection)).find(args.team)
            entries["entries"] = [entry for entry in entries["entries"] if entry["team"] == team]
        return entries


def _one_text(entry: EntryDetail) -> str:
    lines = [entry_text(entry), f"  received {entry['received_utc']}, {entry['file']}"]
    lines += [f"  {text}" for text in builds_text(entry)]
    for event in entry["events"]:
        words = [event["utc"], event["kind"], event["text"]]
        detail = event.get("detail", {})
        if "error" in detail:
            words.append(f"({detail['error']})")
        lines.append("  " + " ".join(filter(None, words)))
    return "\n".join(lines)


def _all_text(entries: EntriesView) -> str:
    lines = [line_text(entries["line"])] if "line" in entries else []
    rows = [("entry", "task", "team", "state")]
    rows += [
        (str(entry["entry"]), entry["task"], entry["team"], state_text(entry))
        for entry in entries["entries"]
    ]
    lines += table(rows) if len(rows) > 1 else ["There is no entry yet."]
    if "left_today" in entries:
        left = ", ".join(f"{count} for {task}" for task, count in entries["left_today"].items())
        lines.append(f"Left today, until {entries['day_ends_utc']}: {left}")
    return "\n".join(lines)


def _add_leaderboard(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_action(
        actions,
        "leaderboard",
        "an operator: print the best entry of each team",
        _LEADERBOARD,
        _print_leaderboard,
    )
    add_config(parser)
    add_json(parser)


def _print_leaderboard(args: argparse.Namespace) -> int:
    """Print the leaderboard."""
    from referee.extras.ovic.submission.entry_queries import EntryQueries

    with operators_site(args.config) as (config, database, tasks):
        board = EntryQueries(config, database, tasks).leaderboard(for_operators=True)
    for task in board["tasks"]:
        if task["note"] and not args.json:
            print(f"referee ovic: {task['note']}", file=sys.stderr)
    print(json.dumps(board) if args.json else leaderboard_text(board))
    return 0


def _add_baselines(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_action(
        actions,
        "baselines",
        "an operator: print the entries as baselines of the next frontier",
        _BASELINES,
        _print_baselines,
    )
    add_task(parser)
    add_config(parser)


def _print_baselines(args: argparse.Namespace) -> int:
    """Print the baselines."""
    from referee.extras.ovic.submission.tasks import require_task
    from referee.extras.ovic.submission.views import baselines_of

    with operators_site(args.config) as (_, database, tasks):
        baselines = baselines_of(database.connection, require_task(tasks, args.task))
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(("name", "latency_ms", "accuracy"))
    for baseline in baselines:
        writer.writerow(
            (plain_cell(baseline.name), repr(baseline.latency_ms), repr(baseline.accuracy))
        )
    return 0
