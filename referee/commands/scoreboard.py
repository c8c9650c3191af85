# SPDX-License-Identifier: Apache-2.0
"""Freeze what the audience sees, or unfreeze it, on record with a name.

A freeze stops every public surface at once: page, charts, pages of the teams, and feed. Sessions go
on, and the operators see everything. After the unfreeze the public sees what has happened. A repeat
changes nothing. This works while the referee runs, and without it.

  referee scoreboard freeze --config event/contest.toml
  referee scoreboard unfreeze --by 'Ada Lovelace' --config event/contest.toml
  referee scoreboard show --config event/contest.toml
"""

from __future__ import annotations

import argparse

from referee.commands.operators import add_operator
from referee.commands.options import add_config
from referee.core.text_cells import isolated
from referee.service.people.audit import local_time
from referee.service.setup.config_file import load_config
from referee.service.setup.opened import opened_contest
from referee.store.publishing import Freeze


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "what",
        type=_word,
        choices=("freeze", "unfreeze", "show"),
        help="hide what happens from now on, show everything again, or say whether it is frozen",
    )
    add_config(parser)
    add_operator(parser)


def run(args: argparse.Namespace) -> int:
    """Freeze or unfreeze, and print how the scoreboard is now."""
    from referee.service.event.results import read_results
    from referee.service.scoreboard.freezing import (
        count_hidden,
        count_text,
        freeze,
        freeze_of,
        thaw,
    )

    config = load_config(args.config)
    hidden = ""
    with opened_contest(config) as contest:
        if args.what == "freeze":
            hidden = f" {count_text(count_hidden(read_results(contest).entries))}"
            freeze(contest, args.by)
        elif args.what == "unfreeze":
            thaw(contest, args.by)
        found = freeze_of(contest)
    print(f"{_sentence(found)}{hidden}")
    if config.server.scoreboard is None:
        print("This event has no scoreboard: contest.toml names no address in [server] scoreboard.")
    return 0


def _word(text: str) -> str:
    """Return what is meant; scripts of earlier releases say `thaw`."""
    return "unfreeze" if text == "thaw" else text


def _sentence(freeze: Freeze | None) -> str:
    if freeze is None:
        return "The scoreboard is not frozen, and never has been."
    by = f"by {isolated(freeze.operator)} at {local_time(freeze.utc)}."
    if freeze.kind == "frozen":
        return f"The scoreboard is frozen. It was frozen {by}"
    return f"The scoreboard is not frozen. It was unfrozen {by}"
