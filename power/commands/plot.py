# SPDX-License-Identifier: Apache-2.0
"""`python -m power plot`: draw a log file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from power.commands.written_file import plot_to_write

_DESCRIPTION = """\
Draw power and energy of a log over time, with the energy and its verdict. The suffix of FILE
chooses the form: .html (with the findings), .svg, or .png. Red marks show where the meter had no
value of the power, and grey lines what `mark` named. It needs matplotlib (the extra 'event').

  python -m power plot run.csv --out run.html
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's parser."""
    parser = commands.add_parser("plot", description=_DESCRIPTION)
    parser.add_argument("log", metavar="LOG", type=Path)
    parser.add_argument(
        "-o",
        "--out",
        metavar="FILE",
        type=plot_to_write,
        required=True,
        help="FILE.html, .svg or .png",
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the drawing."""
    from power.logs.audit import audit
    from power.logs.marks import read_marks
    from power.logs.plot import figure_of, headline, save_figure, save_page

    suffix = options.out.suffix.lower()
    if suffix not in (".html", ".svg", ".png"):
        raise ValueError(f"{options.out} must end in .html, .svg or .png")
    judged = audit(options.log)
    result = judged.result
    try:
        figure = figure_of(
            judged.readings,
            options.log.name,
            result,
            read_marks(options.log),
            settings=judged.facts.settings,
        )
    except ImportError as error:
        print(
            f"error: drawing needs matplotlib ({error}): "
            "pip install matplotlib (the extra 'event')",
            file=sys.stderr,
        )
        return 1
    if suffix == ".html":
        notes = [f"{finding.severity.value}: {finding.text}" for finding in result.findings]
        save_page(figure, options.out, f"{options.log.name}: {headline(result)}", notes)
    else:
        remark = save_figure(figure, options.out)
        if remark is not None:
            print(remark, file=sys.stderr)
    return 0
