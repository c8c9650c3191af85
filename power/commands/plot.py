# SPDX-License-Identifier: Apache-2.0
"""`python -m power plot`: draw a log file."""

from __future__ import annotations

import argparse
from pathlib import Path

from power.logs.audit import audit
from power.logs.old_log import is_old_log, read_old_log
from power.logs.plot import draw, save_png, to_html, to_svg
from power.logs.power_log import read_power_log

_DESCRIPTION = """\
Draw power and energy of a log over time. The suffix chooses the form: .html (with the findings),
.svg, or .png. Places where the meter had no power value are marked red.
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command's parser."""
    parser = commands.add_parser("plot", help="draw a log file", description=_DESCRIPTION)
    parser.add_argument("log", metavar="LOG.csv", type=Path)
    parser.add_argument(
        "-o", "--out", metavar="FILE", type=Path, required=True, help="FILE.html, .svg or .png"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the drawing."""
    suffix = options.out.suffix.lower()
    if suffix not in (".html", ".svg", ".png"):
        raise ValueError(f"{options.out} must end in .html, .svg or .png")
    judged = audit(options.log)
    readings = read_old_log(options.log) if is_old_log(options.log) else read_power_log(options.log)
    result = judged.result
    energy = "no energy" if result.integrator_wh is None else f"{result.integrator_wh:.6g} Wh"
    title = f"{options.log.name}: {energy}, {result.verdict.value}"
    shapes = draw(readings, title)
    if suffix == ".png":
        save_png(shapes, options.out)
    elif suffix == ".svg":
        options.out.write_text(to_svg(shapes), encoding="utf-8")
    else:
        notes = [f"{finding.severity.value}: {finding.text}" for finding in result.findings]
        options.out.write_text(to_html(shapes, title, notes), encoding="utf-8")
    return 0
