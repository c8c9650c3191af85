# SPDX-License-Identifier: Apache-2.0
"""Let a session stand although its energy is doubtful, or although it was not run like the others.

A SUSPECT or EMULATED energy then counts as it is. An INVALID energy still gives no score. A session
of another length, with extra time or with another kind of meter counts, and stays marked. Look at
the reasons first: 'referee results' prints them. Otherwise void the session on the console, and run
it again.

  referee review 3 --reason 'the gap of 2.1 s lies before the load' --config event/contest.toml
"""

from __future__ import annotations

import argparse

from referee.commands.operators import add_operator, written
from referee.commands.options import add_config
from referee.service.setup.config_file import load_config
from referee.service.setup.opened import opened_contest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("session", type=int, metavar="SESSION", help="number of the session, from 1")
    add("--reason", type=written, required=True, help="why it may stand; it stays on record")
    add_config(parser)
    add_operator(parser)


def run(args: argparse.Namespace) -> int:
    """Record the review."""
    from referee.service.event.finalizing import review

    with opened_contest(load_config(args.config)) as contest:
        review(contest, args.session, args.by, args.reason)
    print(f"Session {args.session} is reviewed.")
    return 0
