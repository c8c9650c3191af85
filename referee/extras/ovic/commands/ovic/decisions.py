# SPDX-License-Identifier: Apache-2.0
"""`referee ovic round`, `again`, `strike` and `void`: what an operator alone decides of entries."""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from referee.commands.operators import add_operator, written
from referee.commands.options import add_config
from referee.errors import InputError
from referee.extras.ovic.commands.ovic.contest_site import operators_site
from referee.extras.ovic.commands.ovic.entry_text import entry_text
from referee.extras.ovic.commands.ovic.options import add_action, add_json
from referee.extras.ovic.rules.documents import RoundView
from referee.extras.ovic.rules.entry_states import EventKind
from referee.extras.ovic.submission.entries import NewEvent, load_entry, record_entry_event, strike
from referee.programs.progress import progress_bar
from referee.service.setup.clock import SystemClock
from referee.service.setup.finality import require_provisional
from referee.store.database import Database
from referee.store.notices import insert_audit

if TYPE_CHECKING:
    from referee.extras.ovic.submission.rounds import RoundEntry
    from referee.extras.ovic.submission.tasks import Task

_AGAIN = """\
Put a finished entry into the queue again, for example after the referee's machine was repaired. It
does not count for the team's day again. An entry with a score is measured once more: its best valid
score counts, so nothing that comes of it takes a score away. 'referee ovic round' does this for all
entries.

  referee ovic again 3 --config event/contest.toml
"""
_STRIKE = """\
Take one measurement of an entry out, for example one on a wrong machine, with a reason that its
team sees. The best of those that stand counts; the last one stays. 'referee ovic queue --entry N'
shows their numbers. This cannot be undone; 'referee ovic again N' measures the entry once more.

  referee ovic strike 3 2 --reason 'the wrong board' --config event/contest.toml
"""
_VOID = """\
Take an entry out for good, with a reason that its team sees. If its model runs just now, what comes
of it is dropped. This cannot be undone.

  referee ovic void 3 --reason 'the team asked for it' --config event/contest.toml
"""

_WORDS: dict[EventKind, str] = {"again": "again", "struck": "strike", "voided": "void"}

_ROUND = """\
Measure all entries again, latency and accuracy, for example after a new version of LiteRT, and once
after the close. An entry keeps all its measurements, and its best valid score counts: a measurement
that fails or is slower takes nothing away.

While 'referee serve' runs, its queue measures and this command looks on. Otherwise this command
measures. The same command continues a round that was killed or stopped by Ctrl-C. Exit code 1: an
entry could not be measured.

  referee ovic round --config event/contest.toml
"""


def add_parser(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parsers of the actions."""
    _add_round(actions)
    _add_decisions(actions)


def _add_decisions(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    again = add_action(
        actions, "again", "an operator: put an entry into the queue again", _AGAIN, _decide
    )
    void = add_action(actions, "void", "an operator: remove an entry for good", _VOID, _decide)
    struck = add_action(
        actions, "strike", "an operator: remove one measurement of an entry", _STRIKE, _decide
    )
    for parser, kind in ((again, "again"), (struck, "struck"), (void, "voided")):
        parser.add_argument("entry", type=int, metavar="N", help="the entry's number")
        if kind == "struck":
            parser.add_argument(
                "measurement", type=int, metavar="N", help="the measurement's number, from 1"
            )
        parser.add_argument(
            "--reason",
            type=written,
            required=kind != "again",
            default="",
            metavar="TEXT",
            help="why",
        )
        add_config(parser)
        add_operator(parser)
        parser.set_defaults(kind=kind)


def _decide(args: argparse.Namespace) -> int:
    """Record the decision, and print the entry."""
    from referee.extras.ovic.submission.views import entry_view, places_of, standing_entries

    kind: EventKind = args.kind
    reason = " ".join(args.reason.split())
    if kind != "again" and not reason:
        raise InputError("--reason must say why; the team sees it.")
    with operators_site(args.config) as (_, database, tasks):
        with database.write() as connection:
            require_provisional(connection)
            now = SystemClock().now()
            utc = now.utc.isoformat()
            about = f"entry {args.entry} of {load_entry(connection, args.entry).team}"
            if kind == "struck":
                strike(connection, args.entry, args.measurement, utc, actor=args.by, text=reason)
                about += f", measurement {args.measurement}"
            else:
                record_entry_event(
                    connection, args.entry, NewEvent(kind, utc, actor=args.by, text=reason)
                )
            action = f"ovic {_WORDS[kind]}"
            insert_audit(connection, now, args.by, action, None, about, reason=reason)
        entry = load_entry(database.connection, args.entry)
        places = places_of(standing_entries(database.connection))
        print(entry_text(entry_view(entry, tasks, places)))
    return 0


def _add_round(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = add_action(
        actions, "round", "an operator: measure all entries again", _ROUND, _measure_round
    )
    add_config(parser)
    add_operator(parser)
    add_json(parser)


def _measure_round(args: argparse.Namespace) -> int:
    """Begin a round or go on with the open one, and print what came of it."""
    from referee.extras.ovic.submission.entry_queue import queue_of
    from referee.extras.ovic.submission.rounds import finish_round

    with operators_site(args.config) as (config, database, tasks):
        number, resumed = _open_or_new(database, tasks, args.by)
        how = "goes on" if resumed else "begins"
        print(f"referee ovic: round {number} {how}", file=sys.stderr)
        queue = queue_of(config, SystemClock(), database)
        with progress_bar("entries") as progress:
            pause = threading.Event().wait
            entries = finish_round(config, database, queue, number, progress, pause)
    views = [_round_view(entry, tasks) for entry in entries]
    if args.json:
        print(json.dumps({"round": number, "resumed": resumed, "entries": views}))
    else:
        print("\n".join([f"Round {number}:", *map(_round_text, views)]))
    return 0 if all(entry.outcome in ("scored", "voided") for entry in entries) else 1


def _open_or_new(database: Database, tasks: Mapping[str, Task], by: str) -> tuple[int, bool]:
    """Return the number of the open round, or of a new one, and whether it was open."""
    from referee.extras.ovic.submission.rounds import begin_round, open_round

    with database.write() as connection:
        require_provisional(connection)
        number = open_round(connection)
        if number is not None:
            return number, True
        now = SystemClock().now()
        number = begin_round(connection, tasks, by, now.utc.isoformat())
        insert_audit(connection, now, by, "ovic round", None, f"round {number}", reason="")
        return number, False


def _round_view(entry: RoundEntry, tasks: Mapping[str, Task]) -> RoundView:
    """Return an entry of the round: what came of it, and its measurements before and after."""
    from referee.extras.ovic.submission.views import entry_view

    view = entry_view(entry.entry, tasks, {})
    first = view["builds"][0] if view["builds"] else None
    submitted_ms = first["latency_ms"] if first and first["round"] is None else None
    return {
        **view,
        "outcome": entry.outcome,
        "outcome_text": entry.text,
        "measured_ms": None if entry.measured is None else entry.measured.latency_ms,
        "submitted_ms": submitted_ms,
    }


def _round_text(view: RoundView) -> str:
    """Return an entry with how its latency moved since its submission."""
    lines = [entry_text(view)]
    if view["measured_ms"] is None:
        lines.append(f"  not measured in this round ({view['outcome']})")
    elif view["submitted_ms"] is not None:
        moved = view["measured_ms"] / view["submitted_ms"] - 1
        lines.append(
            f"  {view['measured_ms']:.3f} ms in this round, {view['submitted_ms']:.3f} ms at its"
            f" submission ({100 * moved:+.1f} %): the better score counts"
        )
    return "\n".join(lines)
