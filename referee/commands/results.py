# SPDX-License-Identifier: Apache-2.0
"""Print or write the results of an event: ranking, prizes, past champions, and what is open.

This works while the referee runs. The results are PROVISIONAL until 'referee finalize'. A team's
newest session that it has started and that is not void counts. Equal scores share a rank.

  referee results --config event/contest.toml
  referee results --json --config event/contest.toml
  referee results --html results.html --config event/contest.toml
"""

from __future__ import annotations

import argparse
import json
import os
from contextlib import suppress
from pathlib import Path

from referee.errors import InputError
from referee.service.event.results import read_results
from referee.service.event.results_table import (
    results_csv,
    results_json,
    results_latex,
    results_text,
)
from referee.service.setup.config_file import load_config
from referee.service.setup.opened import opened_contest


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument("--csv", action="store_true", help="print CSV with all digits")
    form.add_argument("--latex", action="store_true", help="print a table for LaTeX")
    form.add_argument("--html", type=Path, metavar="FILE", help="write a page that stands alone")
    parser.add_argument(
        "--config", type=Path, required=True, metavar="FILE", help="the event's contest.toml"
    )


def run(args: argparse.Namespace) -> int:
    """Print or write the results."""
    with opened_contest(load_config(args.config)) as contest:
        results = read_results(contest)
    if args.html is not None:
        # The library of charts is slow to import, and only the page has charts.
        from referee.service.event.results_page import results_page

        _write(args.html, results_page(results))
        print(f"Wrote {args.html}.")
    elif args.json:
        print(json.dumps(results_json(results), allow_nan=False))
    elif args.csv:
        print(results_csv(results), end="")
    elif args.latex:
        print(results_latex(results), end="")
    else:
        print(results_text(results))
    return 0


def _write(path: Path, text: str) -> None:
    """Write the page whole or not at all."""
    part = path.with_name(path.name + ".part")
    try:
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    except OSError as error:
        with suppress(OSError):  # On a read-only disk even this fails.
            part.unlink(missing_ok=True)
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
