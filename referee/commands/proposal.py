# SPDX-License-Identifier: Apache-2.0
"""Score sessions again as a proposal, then apply it or cancel it, whole.

A proposal scores the chosen sessions with the present program, and judges their energies again. It
shows old and new mAP, watt-hours, verdict and rank, and which sessions it skips and why. No score
changes before 'apply'. With --ground-truth or --blacklist the proposal uses corrected files. Once
it is applied, later sessions use them, too. Score all sessions with them, because results from
different files cannot be final.

  referee proposal make --reason 'new blacklist' --blacklist new.csv --config event/contest.toml
  referee proposal show 1 --config event/contest.toml
  referee proposal apply 1 --reason 'agreed by the committee' --config event/contest.toml
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from referee.commands.numbers import count
from referee.commands.operators import add_operator, record_refused, written
from referee.commands.options import add_config
from referee.core.actors import COMMAND_LINE, NO_LOGIN, Actor, Role
from referee.errors import Refusal
from referee.formats.json_text import json_of
from referee.programs.progress import progress_bar
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import Contest
from referee.service.setup.input_rule import INPUT_WORDS
from referee.service.setup.opened import opened_contest
from referee.store.inputs_in_force import inputs_in_force

_ACTIONS = {
    "make": (
        "score the chosen sessions again, and print what would change",
        "make --reason 'new blacklist' --blacklist new.csv",
    ),
    "list": (
        "print all proposals",
        "list",
    ),
    "show": (
        "print one proposal",
        "show 1",
    ),
    "apply": (
        "make all scores of a proposal count",
        "apply 1 --reason 'agreed by the committee'",
    ),
    "cancel": (
        "drop a proposal, so that it changes nothing",
        "cancel 1 --reason 'the old blacklist was right'",
    ),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="|".join(_ACTIONS))
    for name, (summary, words) in _ACTIONS.items():
        example = f"referee proposal {words} --config event/contest.toml"
        action = actions.add_parser(name, help=summary, example=example)
        if name == "make":
            _add_filter(action)
        elif name != "list":
            action.add_argument("number", type=count, metavar="N", help="number of the proposal")
        if name in ("make", "apply", "cancel"):
            action.add_argument(
                "--reason", type=written, required=True, help="why; it stays on record"
            )
            add_operator(action)
        if name == "make":
            # The desk runs this command for somebody at a page, whose role goes on record.
            action.add_argument(
                "--role",
                choices=(COMMAND_LINE, NO_LOGIN, Role.OPERATOR.value),
                default=COMMAND_LINE,
                help=argparse.SUPPRESS,
            )
        if name in ("make", "list", "show"):
            action.add_argument("--json", action="store_true", help="print one JSON object")
        add_config(action)


def _add_filter(action: argparse.ArgumentParser) -> None:
    add = action.add_argument
    add(
        "--session",
        type=count,
        action="append",
        metavar="N",
        help="only this session; may be repeated",
    )
    add(
        "--team", action="append", metavar="NAME", help="only this team's sessions; may be repeated"
    )
    add(
        "--verdict",
        action="append",
        choices=("VALID", "SUSPECT", "INVALID"),
        help="only sessions with this verdict; may be repeated",
    )
    add("--ground-truth", type=Path, metavar="PATH", help="ground truth instead of the event's")
    listed = action.add_mutually_exclusive_group()
    listed.add_argument(
        "--blacklist", type=Path, metavar="PATH", help="blacklist instead of the event's"
    )
    listed.add_argument("--no-blacklist", action="store_true", help="score without a blacklist")


def run(args: argparse.Namespace) -> int:
    """Make, print or decide; return 1 for a refusal, with every fault on standard error."""
    if args.action == "make":
        args.by = Actor(args.by, args.role)
    with opened_contest(load_config(args.config)) as contest:
        try:
            return _act(contest, args)
        except Refusal as refusal:
            if args.action in ("make", "apply", "cancel"):
                record_refused(args, refusal)
            print(f"referee proposal: {refusal}", file=sys.stderr)
            for fault in refusal.faults:
                print(f"  {fault}", file=sys.stderr)
            return 1


def _act(contest: Contest, args: argparse.Namespace) -> int:
    # They score, and so load numpy.
    from referee.service.event.proposal_view import all_proposals, proposal_text, shown_proposal
    from referee.service.event.proposals import apply_proposal, cancel_proposal, find_proposal

    if args.action == "list":
        proposals = all_proposals(contest)
        text = "\n\n".join(map(proposal_text, proposals)) or "There is no proposal."
        print(json_of({"proposals": proposals}) if args.json else text)
    elif args.action == "apply":
        apply_proposal(contest, args.number, args.by, args.reason)
        print(f"Proposal {args.number} is applied. {_in_force(contest)}".rstrip())
    elif args.action == "cancel":
        cancel_proposal(contest, args.number, args.by, args.reason)
        print(f"Proposal {args.number} is cancelled.")
    else:
        number = args.number if args.action == "show" else _make(contest, args)
        connection = contest.database.connection
        shown = shown_proposal(contest, connection, find_proposal(connection, number))
        print(json_of(shown) if args.json else proposal_text(shown))
    return 0


def _in_force(contest: Contest) -> str:
    """Return a sentence about the files that hold now."""
    in_force = inputs_in_force(contest.database.connection)
    if in_force is None:
        return ""
    files = [
        f"{INPUT_WORDS[name]} {file.path}"
        for name, file in in_force.inputs.items()
        if name != "blacklist"
    ]
    kept = ["a blacklist, which the referee has kept"] if "blacklist" in in_force.inputs else []
    return f"Later sessions are scored with {' and '.join([*files, *kept])}."


def _make(contest: Contest, args: argparse.Namespace) -> int:
    from referee.service.event.rescoring import Filter, make_proposal

    chosen = Filter(
        tuple(args.session or ()),
        tuple(args.team or ()),
        tuple(args.verdict or ()),
        args.ground_truth,
        args.blacklist,
        args.no_blacklist,
    )
    with progress_bar("sessions scored") as progress:
        return make_proposal(contest, chosen, args.by, args.reason, progress)
