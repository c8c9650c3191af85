# SPDX-License-Identifier: Apache-2.0
"""Report what other rules do to the rankings of a season that 'referee rescore' has scored again.

For each event it shows the ranking as published beside that under each set of new rules in the
file: which pairs of teams turn, how sure each difference is, and which ranks the intervals leave
open.

  referee season report season.jsonl
  referee season report season.jsonl --html season.html
  referee season report season.jsonl --csv > rankings.csv
  referee season report season.jsonl --csv pairs > pairs.csv
  referee season report season.jsonl --csv bundles > bundles.csv
  referee season report season.jsonl --xlsx season.xlsx
  referee season report season.jsonl --json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from power.commands.written_file import page_to_write, workbook_to_write
from referee.errors import needing
from referee.extras.season.choices import BY_MAP, BY_SCORE
from referee.extras.season.rows import Row, of_trusted_tracks, read_rows
from referee.formats.tables import Table, csv_of
from referee.programs.progress import progress_bar
from referee.service.setup.whole_files import replace_file
from referee.tracks.loading import TRACK_HELP, TRACK_OPTION

if TYPE_CHECKING:
    from referee.extras.season.rankings import SeasonEvent

_TABLES = ("rankings", "pairs", "bundles")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("what", choices=("report",), help="compare old and new rankings")
    parser.add_argument("file", type=Path, metavar="FILE", help="file that 'referee rescore' wrote")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument(
        "--csv",
        nargs="?",
        const="rankings",
        choices=_TABLES,
        help="print CSV with all digits: the rankings (default), the pairs, or the bundles",
    )
    form.add_argument(
        "--xlsx",
        type=workbook_to_write,
        metavar="FILE",
        help="write these three tables for a spreadsheet, as .xlsx",
    )
    form.add_argument(
        "--html", type=page_to_write, metavar="FILE", help="write a page that stands alone"
    )
    parser.add_argument(
        "--rank-by",
        choices=(BY_SCORE, BY_MAP),
        default=BY_SCORE,
        help="what ranks: the score, or the mAP without the energy (default: score)",
    )
    parser.add_argument(TRACK_OPTION, metavar="MODULE", help=TRACK_HELP)


def run(args: argparse.Namespace) -> int:
    """Print or write the report."""
    from referee.extras.season.rankings import events_of
    from referee.extras.season.report_text import report_json, report_text

    rows = of_trusted_tracks(read_rows(args.file), args.track)
    events = events_of(rows, args.rank_by)
    if args.html is not None:
        # The library of charts is slow to import, and only the page has charts.
        with needing("a chart", "matplotlib", "event"):
            from referee.extras.season.report_page import report_page

        with progress_bar("events drawn") as progress:
            page = report_page(args.file.name, args.rank_by, events, rows, progress)
        replace_file(args.html, page.encode(), 0o644)
        print(f"Wrote {args.html}.")
    elif args.xlsx is not None:
        replace_file(args.xlsx, _workbook(_tables(events, rows), events), 0o644)
        print(f"Wrote {args.xlsx}.")
    elif args.json:
        print(json.dumps(report_json(args.file.name, args.rank_by, events, rows), allow_nan=False))
    elif args.csv is not None:
        print(csv_of(_tables(events, rows)[args.csv]), end="")
    else:
        print(report_text(events, rows))
    return 0


def _tables(events: Sequence[SeasonEvent], rows: Sequence[Row]) -> dict[str, Table]:
    from referee.extras.season.report_tables import bundles_table, pairs_table, rankings_table

    made = (rankings_table(events), pairs_table(events), bundles_table(events, rows))
    return dict(zip(_TABLES, made, strict=True))


def _workbook(tables: Mapping[str, Table], events: Sequence[SeasonEvent]) -> bytes:
    """Return the workbook; its moment is that of the season's last event, so it stays the same."""
    from referee.formats.workbook import workbook_of

    utc = max((event.first_utc or "" for event in events), default="")
    with needing("a workbook", "xlsxwriter", "event"):
        return workbook_of(list(tables.values()), utc)
