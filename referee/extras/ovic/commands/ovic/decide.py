# SPDX-License-Identifier: Apache-2.0
"""`referee ovic again`, `strike` and `void`: what only an operator decides about an entry."""

from __future__ import annotations

import argparse

from referee.commands.operators import add_operator, written
from referee.errors import InputError
from referee.extras.ovic.commands.ovic.contest_site import add_operators_config, operators_site
from referee.extras.ovic.commands.ovic.entry_text import entry_text
from referee.extras.ovic.rules.entry_states import EventKind
from referee.extras.ovic.submission.entries import load_entry, record_entry_event, strike
from referee.extras.ovic.submission.views import entry_view, places_of, standing_entries
from referee.service.setup.clock import SystemClock
from referee.service.setup.finality import require_provisional
from referee.store.notices import insert_audit

_AGAIN = """\
Put an entry that is over into the line again, for example after the referee's machine was repaired.
It does not count for the team's day again. An entry with a score is measured once more: its best
valid score counts, so nothing that comes of it takes a score away. 'referee ovic round' does this
for all entries.
"""
_STRIKE = """\
Take one measurement of an entry out, for example one on a wrong machine, with a reason that its
team sees. The best of those that stand counts; the last one stays. 'referee ovic queue --entry N'
shows their numbers. This cannot be undone; 'referee ovic again N' measures the entry once more.
"""
_VOID = """\
Take an entry out for good, with a reason that its team sees. If its model runs just now, what comes
of it is dropped. This cannot be undone.
"""

_WORDS: dict[EventKind, str] = {"again": "again", "struck": "strike", "voided": "void"}


def add_parser(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the parsers of the three actions."""
    again = actions.add_parser(
        "again",
        help="an operator: put an entry into the line again",
        description=_AGAIN,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    void = actions.add_parser(
        "void",
        help="an operator: take an entry out for good",
        description=_VOID,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    struck = actions.add_parser(
        "strike",
        help="an operator: take one measurement of an entry out",
        description=_STRIKE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for parser, kind in ((again, "again"), (struck, "struck"), (void, "voided")):
        parser.add_argument("entry", type=int, metavar="N", help="the entry's number")
        if kind == "struck":
            parser.add_argument(
                "measurement", type=int, metavar="M", help="the measurement's number, from 1"
            )
        parser.add_argument(
            "--reason",
            type=written,
            required=kind != "again",
            default="",
            metavar="TEXT",
            help="why",
        )
        add_operators_config(parser)
        add_operator(parser)
        parser.set_defaults(act=act, kind=kind)


def act(args: argparse.Namespace) -> int:
    """Record the decision, and print the entry."""
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
                record_entry_event(connection, args.entry, kind, utc, actor=args.by, text=reason)
            action = f"ovic {_WORDS[kind]}"
            insert_audit(connection, now, args.by, action, None, about, reason=reason)
        entry = load_entry(database.connection, args.entry)
        places = places_of(standing_entries(database.connection))
        print(entry_text(entry_view(entry, tasks, places)))
    return 0
