# SPDX-License-Identifier: Apache-2.0
"""`referee ovic round`: measure all entries again."""

from __future__ import annotations

import argparse
import json
import sys
import threading
from collections.abc import Mapping
from typing import Any

from referee.commands.operators import add_operator
from referee.extras.ovic.commands.ovic.contest_site import add_operators_config, operators_site
from referee.extras.ovic.commands.ovic.entry_text import entry_text
from referee.extras.ovic.commands.ovic.options import add_json
from referee.extras.ovic.submission.entry_queue import queue_of
from referee.extras.ovic.submission.rounds import (
    RoundEntry,
    begin_round,
    finish_round,
    open_round,
)
from referee.extras.ovic.submission.tasks import Task
from referee.extras.ovic.submission.views import entry_view
from referee.programs.progress import progress_bar
from referee.service.setup.clock import SystemClock
from referee.service.setup.finality import require_provisional
from referee.store.database import Database
from referee.store.notices import insert_audit

_DESCRIPTION = """\
Measure all entries again, latency and accuracy, for example after a new version of LiteRT, and once
after the close. An entry keeps all its measurements, and its best valid score counts: a measurement
that fails or is slower takes nothing away.

While 'referee serve' runs, its queue measures and this command looks on. Else this command
measures. A round that was killed goes on with the same command. Ctrl-C leaves it open, too. Exit
code 1: an entry could not be measured.

  referee ovic round --config event/contest.toml
"""


def add_parser(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the action's parser."""
    parser = actions.add_parser(
        "round",
        help="an operator: measure all entries again",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_operators_config(parser)
    add_operator(parser)
    add_json(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    """Begin a round or go on with the open one, and print what came of it."""
    with operators_site(args.config) as (config, database, tasks):
        number, resumed = _round(database, tasks, args.by)
        how = "goes on" if resumed else "begins"
        print(f"referee ovic: round {number} {how}", file=sys.stderr)
        queue = queue_of(config, SystemClock(), database)
        with progress_bar("entries") as progress:
            pause = threading.Event().wait
            found = finish_round(config, database, queue, number, progress, pause)
    views = [_view(entry, tasks) for entry in found]
    if args.json:
        print(json.dumps({"round": number, "resumed": resumed, "entries": views}))
    else:
        print("\n".join([f"Round {number}:", *map(_text, views)]))
    return 0 if all(entry.outcome in ("scored", "voided") for entry in found) else 1


def _round(database: Database, tasks: Mapping[str, Task], by: str) -> tuple[int, bool]:
    """Return the number of the open round, or of a new one, and whether it was open."""
    with database.write() as connection:
        require_provisional(connection)
        number = open_round(connection)
        if number is not None:
            return number, True
        now = SystemClock().now()
        number = begin_round(connection, tasks, by, now.utc.isoformat())
        insert_audit(connection, now, by, "ovic round", None, f"round {number}", reason="")
        return number, False


def _view(found: RoundEntry, tasks: Mapping[str, Task]) -> dict[str, Any]:
    """Return an entry of the round: what came of it, and its measurements before and after."""
    view = entry_view(found.entry, tasks, {})
    first = view["builds"][0] if view["builds"] else None
    submitted_ms = first["latency_ms"] if first and first["round"] is None else None
    return view | {
        "outcome": found.outcome,
        "outcome_text": found.text,
        "measured_ms": None if found.measured is None else found.measured.latency_ms,
        "submitted_ms": submitted_ms,
    }


def _text(view: Mapping[str, Any]) -> str:
    """Return an entry with how its latency moved since its submission."""
    lines = [entry_text(view)]
    if view["measured_ms"] is None:
        lines.append(f"  not measured in this round ({view['outcome']})")
    elif view["submitted_ms"] is not None:
        moved = view["measured_ms"] / view["submitted_ms"] - 1
        lines.append(
            f"  {view['measured_ms']:.3f} ms in this round, {view['submitted_ms']:.3f} ms at its"
            f" submission ({moved:+.1%}): the better score counts"
        )
    return "\n".join(lines)
