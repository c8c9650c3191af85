# SPDX-License-Identifier: Apache-2.0
"""Print or write the results of an event: ranking, prizes, past champions, and what is open.

This works while the referee runs. The results are PROVISIONAL until 'referee finalize'. For each
team, the newest session that was started and is not void counts. Equal scores share a rank.

  referee results --config event/contest.toml
  referee results --json --config event/contest.toml
  referee results --html results.html --config event/contest.toml
  referee results --picture results.png --config event/contest.toml
  referee results --xlsx results.xlsx --config event/contest.toml
  referee results --latex --figures figures --config event/contest.toml
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from power.commands.written_file import page_to_write, picture_to_write, workbook_to_write
from referee.commands.options import add_config
from referee.errors import InputError, needing
from referee.service.setup.config_file import load_config
from referee.service.setup.edited_config import edited_while_running
from referee.service.setup.opened import opened_contest
from referee.service.setup.whole_files import replace_file

if TYPE_CHECKING:
    from referee.service.event.result_entry import Results

_RANKING = "ranking"
# LaTeX reads these as commands, also in a path.
_NOT_IN_A_PATH = frozenset('#%&$~^{}\\"')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument(
        "--csv",
        nargs="?",
        const=_RANKING,
        metavar="TABLE",
        help="print CSV with all digits: the ranking (default), or another table by its name",
    )
    form.add_argument(
        "--xlsx",
        type=workbook_to_write,
        metavar="FILE",
        help="write all tables for a spreadsheet, as .xlsx",
    )
    form.add_argument("--latex", action="store_true", help="print a table for LaTeX")
    form.add_argument(
        "--html", type=page_to_write, metavar="FILE", help="write a page that stands alone"
    )
    form.add_argument(
        "--picture",
        type=picture_to_write,
        metavar="FILE",
        help="draw the best five teams as .png or .svg of 1200x630 pixels, to share",
    )
    parser.add_argument(
        "--figures",
        type=Path,
        metavar="DIR",
        help="with --latex: write both charts into DIR as PDF, and print their figures too",
    )
    parser.add_argument(
        "--span",
        choices=("column", "page", "landscape"),
        help="with --latex: how wide the table is: a column of text (default), all columns of a "
        "page (table*), or a page on its side (sidewaystable*)",
    )
    add_config(parser)


def run(args: argparse.Namespace) -> int:
    """Print or write the results."""
    from referee.service.event.results import read_results
    from referee.service.event.results_table import results_json, results_text

    for option, value in (("figures", args.figures), ("span", args.span)):
        if value is not None and not args.latex:
            raise InputError(f"--{option} belongs to --latex.")
    with opened_contest(load_config(args.config)) as contest:
        results = read_results(contest)
        if edited := edited_while_running(contest):
            print(f"These results are by the file as it is now. {edited}", file=sys.stderr)
    if args.html is not None:
        # The library of charts is slow to import, and only the page has charts.
        with needing("a chart", "matplotlib", "event"):
            from referee.service.event.results_page import results_page

        _write(args.html, results_page(results))
        print(f"Wrote {args.html}.")
    elif args.picture is not None:
        _draw(results, args.picture)
        print(f"Wrote {args.picture}.")
    elif args.xlsx is not None:
        replace_file(args.xlsx, _workbook(results), 0o644)
        print(f"Wrote {args.xlsx}.")
    elif args.json:
        print(json.dumps(results_json(results), allow_nan=False))
    elif args.csv is not None:
        _print_csv(results, args.csv)
    elif args.latex:
        _print_latex(results, args.span, args.figures)
    else:
        print(results_text(results))
    return 0


def _print_csv(results: Results, name: str) -> None:
    """Print one table, and say on standard error which others there are."""
    from referee.service.event.results_table import results_csv, results_tables

    print(results_csv(results, name), end="")
    others = [f"--csv {shlex.quote(table.name)}" for table in results_tables(results)[1:]]
    if others and name == _RANKING:
        print(f"The results have more tables: {', '.join(others)}.", file=sys.stderr)


def _workbook(results: Results) -> bytes:
    from referee.formats.workbook import workbook_of
    from referee.service.event.results_table import results_tables

    with needing("a workbook", "xlsxwriter", "event"):
        return workbook_of(results_tables(results), results.approved_utc or results.utc)


def _print_latex(results: Results, span: str | None, folder: Path | None) -> None:
    """Print the tables, and say on standard error what a document needs for them."""
    from referee.service.event.results_latex import TableSpan, latex_with_needs

    figures = [] if folder is None else _figures(results, folder)
    text, needs = latex_with_needs(results, TableSpan(span or TableSpan.COLUMN), figures)
    print(text, end="")
    for need in needs:
        print(need, file=sys.stderr)


def _figures(results: Results, folder: Path) -> list[tuple[str, str]]:
    """Draw the charts into a folder; return the path of each for LaTeX, and its caption."""
    if strange := sorted(_NOT_IN_A_PATH.intersection(folder.as_posix())):
        raise InputError(
            f"LaTeX cannot read {folder}: its name has {' '.join(strange)}. Name another folder."
        )
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
