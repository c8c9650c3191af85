# SPDX-License-Identifier: Apache-2.0
"""Print or write the results of an event: ranking, prizes, past champions, and what is open.

This works while the referee runs. The results are PROVISIONAL until 'referee finalize'. For each
team, the newest session that was started and is not void counts. Equal scores share a rank.

  referee results --config event/contest.toml
  referee results --json --config event/contest.toml
  referee results --html results.html --config event/contest.toml
  referee results --picture results.png --config event/contest.toml
  referee results --latex --figures figures --config event/contest.toml
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from power.commands.written_file import file_to_write
from referee.commands.options import add_config
from referee.errors import InputError, needing
from referee.service.setup.config_file import load_config
from referee.service.setup.opened import opened_contest

if TYPE_CHECKING:
    from referee.service.event.result_entry import Results


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument("--csv", action="store_true", help="print CSV with all digits")
    form.add_argument("--latex", action="store_true", help="print a table for LaTeX")
    form.add_argument(
        "--html", type=file_to_write, metavar="FILE", help="write a page that stands alone"
    )
    form.add_argument(
        "--picture",
        type=file_to_write,
        metavar="FILE",
        help="draw the best five teams as .png or .svg of 1200x630 pixels, to share",
    )
    parser.add_argument(
        "--figures",
        type=Path,
        metavar="DIR",
        help="with --latex: write both charts into DIR as PDF, and print their figures too",
    )
    add_config(parser)


def run(args: argparse.Namespace) -> int:
    """Print or write the results."""
    from referee.service.event.results import read_results
    from referee.service.event.results_table import (
        results_csv,
        results_json,
        results_latex,
        results_text,
    )

    if args.figures is not None and not args.latex:
        raise InputError("--figures belongs to --latex: the page of --html has its own charts.")
    with opened_contest(load_config(args.config)) as contest:
        results = read_results(contest)
    if args.html is not None:
        # The library of charts is slow to import, and only the page has charts.
        with needing("a chart", "matplotlib", "event"):
            from referee.service.event.results_page import results_page

        _write(args.html, results_page(results))
        print(f"Wrote {args.html}.")
    elif args.picture is not None:
        _draw(results, args.picture)
        print(f"Wrote {args.picture}.")
    elif args.json:
        print(json.dumps(results_json(results), allow_nan=False))
    elif args.csv:
        print(results_csv(results), end="")
    elif args.latex:
        figures = "" if args.figures is None else _latex_figures(results, args.figures)
        print(results_latex(results) + figures, end="")
    else:
        print(results_text(results))
    return 0


def _latex_figures(results: Results, folder: Path) -> str:
    """Draw the charts into a folder, and return them as figures for LaTeX."""
    with needing("a chart", "matplotlib", "event"):
        from referee.service.event.paper_figures import save_figures

    try:
        folder.mkdir(parents=True, exist_ok=True)
        figures, remarks = save_figures(results, folder)
    except OSError as error:
        raise InputError(f"{error.filename} cannot be written: {error.strerror}.") from error
    for remark in remarks:
        print(remark, file=sys.stderr)
    return figures


def _draw(results: Results, path: Path) -> None:
    # The library of charts is slow to import.
    with needing("a chart", "matplotlib", "event"):
        from referee.service.event.share_picture import save_picture

    try:
        remark = save_picture(results, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
    if remark is not None:
        print(remark, file=sys.stderr)


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
