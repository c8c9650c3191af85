# SPDX-License-Identifier: Apache-2.0
"""Print who did what: actions of operators, of commands, and of the referee itself.

Refused actions are listed too, with the reason for the refusal. Times are stored in UTC and shown
in the zone of this laptop, with its offset. The rows only grow: nobody can change or delete one.
The newest action comes last. The filters match any part of a text, in upper or lower case.

Each stored row is tied by hashes to the rows before it. The command checks all of them. It names
each row that was edited, removed, added or moved past the referee, and then ends with exit code 1.

  referee audit --config event/contest.toml
  referee audit --person Kim --action void --config event/contest.toml
  referee audit --csv --config event/contest.toml > audit.csv

The last line names the end of the chain. Write it down, and give it the next time: yesterday's copy
is consistent in itself, and only this link shows that it is old.

  referee audit --expect 9f3a77c102de4b5a8c11 --config event/contest.toml
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from dataclasses import asdict

from msgspec import structs

from referee.commands.options import add_config
from referee.core.spreadsheet import plain_cell
from referee.formats.json_text import json_of
from referee.service.evidence.facts_check import FactsCheck, check_facts
from referee.service.people.audit import about, local_time, read_audit, result, shown_action
from referee.service.setup.config_file import load_config
from referee.service.setup.opened import opened_contest
from referee.store.audit import AuditRow

_LINK = re.compile("[0-9a-f]{20,64}")
_COLUMNS = tuple(
    "audit_id utc time who role action session_id team detail reason result refusal".split()
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add_config(parser)
    for name, what in (("person", "people"), ("action", "actions"), ("team", "teams")):
        add(f"--{name}", default="", metavar="TEXT", help=f"only {what} with this text")
    add(
        "--expect",
        type=_link,
        metavar="LINK",
        help="the end of the chain that an earlier audit printed, or its first 20 digits: a "
        "database without it is an older copy",
    )
    forms = parser.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help="print one JSON object")
    forms.add_argument("--csv", action="store_true", help="print CSV with a header")


def _link(text: str) -> str:
    """Read the beginning of a link in hex, as whole bytes."""
    digits = text.strip().lower()
    if not _LINK.fullmatch(digits):
        raise argparse.ArgumentTypeError(
            f"'{text}' is not a link: give 20 to 64 hex digits, as the audit prints them"
        )
    return digits[: len(digits) // 2 * 2]


def run(args: argparse.Namespace) -> int:
    """Print the actions that fit."""
    with opened_contest(load_config(args.config)) as contest:
        trail = read_audit(contest, person=args.person, action=args.action, team=args.team)
        checked = check_facts(contest, args.expect)
    rows = trail[::-1]
    if args.json:
        chain = asdict(checked) | {"holds": not checked.faults}
        print(json_of({"actions": [shown_action(row) for row in rows], "chain": chain}))
        return 1 if checked.faults else 0
    if args.csv:
        writer = csv.DictWriter(sys.stdout, _COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(_cells(row) for row in rows)
    else:
        for row in rows:
            print(_line(row))
    return _tell(checked)


def _tell(checked: FactsCheck) -> int:
    """Print what the check of the stored rows found; return the exit code."""
    sys.stdout.flush()
    for fault in checked.faults:
        print(fault, file=sys.stderr)
    print(checked.text, file=sys.stderr)
    return 1 if checked.faults else 0


def _cells(row: AuditRow) -> dict[str, object]:
    """Return a row whose texts no spreadsheet takes for a formula."""
    return {name: plain_cell(cell) for name, cell in structs.asdict(shown_action(row)).items()}


def _line(row: AuditRow) -> str:
    who = f"{row.who} ({row.role})" if row.role else row.who
    parts = [local_time(row.utc), who, row.action]
    parts += [about(row)] if about(row) else []
    parts += [f"because: {row.reason}"] if row.reason else []
    return "  ".join([*parts, result(row)])
