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
  referee season report season.jsonl --json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from power.commands.written_file import file_to_write
from referee.errors import needing
from referee.extras.season.choices import BY_MAP, BY_SCORE
from referee.extras.season.rows import Row, of_trusted_tracks, read_rows
from referee.programs.progress import progress_bar
from referee.service.setup.whole_files import replace_file
from referee.tracks.loading import TRACK_HELP, TRACK_OPTION

if TYPE_CHECKING:
    from referee.extras.season.rankings import SeasonEvent


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
        choices=("rankings", "pairs", "bundles"),
        help="print CSV with all digits: the rankings (default), the pairs, or the bundles",
    )
    form.add_argument(
        "--html", type=file_to_write, metavar="FILE", help="write a page that stands alone"
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
    elif args.json:
        print(json.dumps(report_json(args.file.name, args.rank_by, events, rows), allow_nan=False))
    elif args.csv is not None:
        print(_csv(args.csv, events, rows), end="")
    else:
        print(report_text(events, rows))
    return 0


def _csv(what: str, events: Sequence[SeasonEvent], rows: Sequence[Row]) -> str:
    from referee.extras.season.report_text import bundles_csv, pairs_csv, rankings_csv

    if what == "bundles":
        return bundles_csv(events, rows)
    return pairs_csv(events) if what == "pairs" else rankings_csv(events)
