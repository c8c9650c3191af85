# SPDX-License-Identifier: Apache-2.0
"""Compare contests of several years: the mean score of all entries, and of the best five.

A file has the results of one year, and its name is the year's. It is what 'referee results --json'
or '--csv' prints, or CSV with a header 'score', or 'mean_ap,energy_wh', for a contest that was only
published. Name the oldest first. Entries without a score, and teams that have withdrawn, do not
count.

  referee history 2015.csv 2016.csv
  referee history --best 3 --json 2025.json 2026.json
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from referee.core.text_cells import lines_of
from referee.errors import InputError
from referee.formats.score_lists import read_entries
from referee.scoring import lpirc
from referee.scoring.history import Year, compare_years


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add = parser.add_argument
    add("files", type=Path, nargs="+", metavar="FILE", help="results of a year, the oldest first")
    add(
        "--best",
        type=int,
        default=5,
        metavar="N",
        help="entries with the highest scores whose mean stands beside that of all (default: 5)",
    )
    add("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Print the table."""
    if args.best < 1:
        raise InputError(f"--best {args.best} is not a number of entries: give 1 or more")
    years = compare_years([(path.stem, _scores(path)) for path in args.files], args.best)
    print(json.dumps({"years": [asdict(year) for year in years]}) if args.json else _text(years))
    return 0


def _scores(path: Path) -> list[float]:
    """Return the scores of a file: those that are given, else mAP per watt-hour."""
    scores = [
        lpirc.score(entry.mean_ap, entry.energy_wh) if entry.score is None else entry.score
        for entry in read_entries(path)
    ]
    known = [score for score in scores if score is not None]
    if not known:
        raise InputError(f"{path} has no entry with a score")
    return known


def _text(years: Sequence[Year]) -> str:
    """Return the years as lines; a year with fewer entries than the best has a mean of them all."""
    best = max(year.best for year in years)
    rows = [("year", "entries", "mean", "improved", f"best {best}", "improved")]
    rows += [
        (
            year.name,
            str(year.entries),
            f"{year.mean:.6f}",
            _times(year.improvement),
            f"{year.best_mean:.6f}",
            _times(year.best_improvement),
        )
        for year in years
    ]
    return "\n".join(lines_of(rows, [False] * len(rows[0])))


def _times(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio:.4f} x"
