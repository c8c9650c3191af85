# SPDX-License-Identifier: Apache-2.0
"""Overrides and acknowledgements by a command, with the rule and record of the page /check."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from referee.commands.operators import add_operator, written
from referee.errors import InputError
from referee.service.preflight.finding import Finding, Level
from referee.service.preflight.overrides import make_override, take_back
from referee.service.setup.config import Config
from referee.service.setup.opened import opened_contest

_Row = Mapping[str, Any]


def add_overrides(parser: argparse.ArgumentParser) -> None:
    """Declare the options of an override and of its end."""
    change = parser.add_mutually_exclusive_group()
    change.add_argument(
        "--override", metavar="ITEM", help="let sessions be armed although this check fails"
    )
    change.add_argument(
        "--acknowledge", metavar="ITEM", help="say that this warning is known and may stand"
    )
    change.add_argument(
        "--take-back", metavar="ITEM", help="end the override or the acknowledgement of this check"
    )
    parser.add_argument("--reason", type=written, default="", help="why; it stays on record")
    add_operator(parser)


def changes(args: argparse.Namespace) -> bool:
    """Tell whether the command changes an override; raise `InputError` if a reason is missing."""
    wanted = {args.override, args.acknowledge, args.take_back} != {None}
    if wanted and not args.reason.strip():
        raise InputError("An override, and its end, need --reason: it stays on record.")
    if args.reason and not wanted:
        raise InputError("--reason goes with --override, --acknowledge or --take-back.")
    return wanted


def change_override(config: Config, args: argparse.Namespace, rows: Sequence[_Row]) -> None:
    """Make or end an override of a finding in the list; a repeat changes nothing.

    Raises `InputError` if no finding, or more than one, has the name; `Refusal` if `--override`
    names no FAIL, or `--acknowledge` no WARN.
    """
    with opened_contest(config) as contest:
        now = contest.clock.now()
        if args.take_back is None:
            level = Level.WARN if args.override is None else Level.FAIL
            row = _named(args.acknowledge or args.override or "", rows)
            found = Finding(row["group"], row["item"], Level(row["level"]), row["text"])
            seen = (level, found.text)
            make_override(contest.database, now, found, seen, args.reason, args.by)
            return
        override = _named(args.take_back, rows)["override"]
        if override is not None:
            take_back(contest.database, now, override["number"], args.reason, args.by)


def _named(name: str, rows: Sequence[_Row]) -> _Row:
    """Return the finding with this name: its item, or its group and its item."""
    wanted = _plain(name)
    found = [row for row in rows if wanted in (_plain(row["item"]), _plain(_full(row)))]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(f"'{_full(row)}'" for row in found)
        raise InputError(f"Several checks are called '{name}'. Say which: {names}.")
    failing = [f"'{row['item']}'" for row in rows if row["level"] == Level.FAIL.value]
    told = f"These fail: {', '.join(failing)}." if failing else "None fails now."
    raise InputError(f"No check is called '{name}'. {told}")


def _full(row: _Row) -> str:
    return f"{row['group']}, {row['item']}"


def _plain(name: str) -> str:
    return " ".join(name.replace(":", " ").replace(",", " ").split()).casefold()
