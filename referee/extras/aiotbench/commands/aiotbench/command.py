# SPDX-License-Identifier: Apache-2.0
"""Read the logs, score them, and print the result."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from referee.commands.energy import energy_line, energy_of, energy_report
from referee.errors import InputError
from referee.extras.aiotbench.classification_log import read_logs
from referee.extras.aiotbench.device_configuration import read_configuration
from referee.extras.aiotbench.report import score_report, submission_report
from referee.extras.aiotbench.rules import DRAFT_1_1
from referee.extras.aiotbench.score import Score, score_device
from referee.extras.aiotbench.table import score_table

_GOOD, _NO_SCORE = 0, 1
_CHARTS = (".svg", ".png")


def run(args: argparse.Namespace) -> int:
    """Score and print; return 0, or 1 if no official workload is in the logs."""
    if args.chart is not None and args.chart.suffix.lower() not in _CHARTS:
        raise InputError(f"{args.chart} is no chart's name: let it end in .svg or .png")
    configuration = None if args.configuration is None else read_configuration(args.configuration)
    tallies = read_logs(args.logs, list(DRAFT_1_1.by_id()), DRAFT_1_1.spelling())
    score = score_device(tallies)
    energy = energy_of(args, sum(tally.images for tally in tallies.values()))
    if args.chart is not None:
        _draw(score, args.chart, ", ".join(path.name for path in args.logs))
    if args.json:
        report = score_report(score)
        if configuration is not None:
            report["submission"] = submission_report(score, configuration)
        if energy is not None:
            report["energy"] = energy_report(energy)
        print(json.dumps(report))
    else:
        print(score_table(score, configuration))
        if energy is not None:
            print(energy_line(energy))
    return _tell_missing_score(score)


def _tell_missing_score(score: Score) -> int:
    if score.vips is None:
        print(
            "referee aiotbench: no workload of the official set is in the logs, so there is no"
            " VIPS and no VOPS",
            file=sys.stderr,
        )
        return _NO_SCORE
    return _GOOD


def _draw(score: Score, path: Path, title: str) -> None:
    # The drawing library is slow to import, and only --chart needs it.
    from power.logs.plot import save_figure
    from referee.extras.aiotbench.chart import chart_of

    try:
        figure = chart_of(score, title)
    except ImportError:
        raise InputError("--chart needs matplotlib: pip install '.[plot]'") from None
    try:
        save_figure(figure, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
