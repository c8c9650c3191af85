# SPDX-License-Identifier: Apache-2.0
"""The options of `referee aiotbench`."""

from __future__ import annotations

import argparse
from pathlib import Path

from referee.commands.energy import add_energy

_SCORE = """\
Score one log or more as one. A log has lines

  image_id,workload_id,real_label,predict_label,time

with the time of an image in seconds: reading, preprocessing and prediction. The first line may be
this header. A workload is MODEL_IMPLEMENTATION: re in de sq mo mn, and py ca tfc tfn; 'ort' (ONNX
Runtime) is shown, and never enters a figure.

  VIPS = sum of accuracy / mean time           accuracy as a fraction
  VOPS = sum of accuracy x FLOPs / mean time   FLOPs of the specification's table 1

The average runs over the workloads in the logs. The command names missing workloads.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the action and its options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    score = actions.add_parser(
        "score",
        help="score one log or more",
        description=_SCORE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = score.add_argument
    add("logs", type=Path, nargs="+", metavar="LOG", help="a log, or several that belong together")
    add(
        "--configuration",
        type=Path,
        metavar="FILE",
        help="the device: TOML with the tables [hardware] and [software], as the sample writes it;"
        " without it a result is no submission",
    )
    add("--json", action="store_true", help="print one JSON object")
    add("--chart", type=Path, metavar="FILE", help="also draw the workloads: FILE.svg or .png")
    add_energy(score, "images that this energy was spent on (default: all lines of the logs)")
