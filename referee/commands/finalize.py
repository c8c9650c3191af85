# SPDX-License-Identifier: Apache-2.0
"""Make the results of an event final, on record with the names of those who approve.

The command refuses while anything is open, and says what: sessions that are not over, teams that
have not run, energies that are not VALID and that nobody has reviewed, proposals of new scores.
Final results are stored as they are. Afterwards no session is made or voided, and no team or score
changes, until --reopen.

  referee finalize --approved-by 'Ada Lovelace' --config event/contest.toml
  referee finalize --reopen --reason 'wrong ranges' --by 'Ada Lovelace' --config event/contest.toml
"""

from __future__ import annotations

import argparse
import sys

from referee.commands.operators import add_operator, record_refused, written
from referee.commands.options import add_config
from referee.errors import InputError, Refusal
from referee.service.setup.config_file import load_config
from referee.service.setup.contest import Contest
from referee.service.setup.edited_config import edited_while_running
from referee.service.setup.opened import opened_contest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add(
        "--approved-by",
        action="append",
        metavar="NAME",
        help="who approves the results, once for each person; may be repeated",
    )
    add("--reopen", action="store_true", help="make final results provisional again")
    add("--reason", type=written, default="", help="why they are reopened; it stays on record")
    add_config(parser)
    add_operator(parser)


def run(args: argparse.Namespace) -> int:
    """Make the results final and print them, or print what is open and return 1."""
    from referee.service.event.finalizing import reopen

    if args.reopen == bool(args.approved_by):
        raise InputError("Give --approved-by NAME, or --reopen with a reason.")
    with opened_contest(load_config(args.config)) as contest:
        if args.reopen:
            reopen(contest, args.by, args.reason)
            print("The results are provisional.")
            return 0
        return _finalize(contest, args)


def _finalize(contest: Contest, args: argparse.Namespace) -> int:
    from referee.service.event.finalizing import finalize
    from referee.service.event.results import read_results
    from referee.service.event.results_table import results_text
    from referee.service.scoreboard.published_images import count_published

    if edited := edited_while_running(contest):
        raise InputError(f"Nothing is final. {edited}")
    try:
        finalize(contest, args.approved_by, args.by)
    except Refusal as refusal:
        record_refused(args, refusal)
        print(f"referee finalize: {refusal}", file=sys.stderr)
        for point in refusal.faults:
            print(f"  {point}", file=sys.stderr)
        return 1
    results = read_results(contest)
    print(results_text(results))
    if contest.config.publishes_images:
        shown = f"{count_published(contest, results.entries)} of {contest.image_count}"
        print(f"\nThe scoreboard shows {shown} images of the event to anybody.")
    return 0
