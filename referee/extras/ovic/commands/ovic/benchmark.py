# SPDX-License-Identifier: Apache-2.0
"""`referee ovic benchmark`: measure a model's latency on this machine, or on a board."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from power.commands.written_file import file_to_write
from referee.errors import InputError
from referee.extras.ovic.commands.ovic.model_options import (
    add_board,
    add_model,
    add_plan,
    place_of,
    plan_of,
)
from referee.extras.ovic.commands.ovic.options import add_action
from referee.extras.ovic.judging.machine import JudgingMachine
from referee.programs.progress import progress_bar

if TYPE_CHECKING:
    from referee.extras.ovic.judging.benchmark import Measurement

_DESCRIPTION = """\
Measure how long the model runs for one image: one thread, batch 1, one core. The latency is the run
of the model alone, as OVIC's own program times it. Reading, resizing and copying are measured too
and stand beside it. A measurement that moves too much is refused with exit code 1: stop other
programs, and fix the clock of the core.

With --board the same code measures on a board, through its SSH server. The board needs Python and
three libraries; the referee sends the rest. docs/ovic.md says what to prepare.

  referee ovic benchmark model.tflite --images photos --out result.json
  referee ovic benchmark model.tflite --images photos --board pi@192.168.1.7
"""


def add_parser(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the action's parser."""
    parser = add_action(
        actions, "benchmark", "measure a model's latency, here or on a board", _DESCRIPTION, act
    )
    add_model(parser, "detection")
    parser.add_argument(
        "--images", type=Path, required=True, metavar="DIR", help="images, which take turns"
    )
    parser.add_argument(
        "--out", type=file_to_write, metavar="FILE", help="write the result as JSON"
    )
    add_board(parser)
    add_plan(parser)


def act(args: argparse.Namespace) -> int:
    """Measure and print; return 0, or 1 for a measurement that is not stable."""
    from referee.extras.ovic.judging.dataset import images_in
    from referee.extras.ovic.judging.entry import Timing, measure_until_stable

    place = place_of(args)
    with progress_bar("runs" if args.board is None else "files and runs") as progress:
        images = images_in(args.images)
        timing = Timing(plan_of(args))
        measurement = measure_until_stable(args.model, images, timing, progress, place)
    report = json.dumps(measurement.report())
    if args.out is not None:
        try:
            args.out.write_text(report + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError(f"{args.out} cannot be written: {error.strerror}") from None
    print(report if args.json else measurement_text(measurement))
    for reason in measurement.stability.reasons:
        print(f"referee ovic: {reason}", file=sys.stderr)
    return 0 if measurement.stability.stable else 1


def _machine(facts: JudgingMachine) -> str:
    where = f"{facts['board']}: " if "board" in facts else ""
    return f"{where}{facts['processor'] or facts['machine']}, core {facts['core']}"


def measurement_text(found: Measurement) -> str:
    """Return a measurement as lines of text for people."""
    latency, whole = found.latency, found.whole
    lines = [
        ("latency, mean", f"{latency.mean:.3f} ms, the run of the model alone"),
        ("  median", f"{latency.median:.3f} ms"),
        ("  least, most", f"{latency.least:.3f}, {latency.most:.3f} ms"),
        *((f"  {key} % below", f"{value:.3f} ms") for key, value in latency.percentiles.items()),
        ("whole image", f"{whole.median:.3f} ms, median, with reading, resizing and copying"),
        ("runs", f"{latency.runs} over {found.images} images, after {found.plan.warm_up}"),
        (
            "moved",
            f"{100 * found.stability.drift:.1f} % between parts, "
            f"tolerance {100 * found.plan.tolerance:.1f} %",
        ),
        ("machine", _machine(found.machine)),
        ("libraries", ", ".join(f"{k} {v}" for k, v in found.machine["libraries"].items())),
    ]
    return "\n".join(f"{label:<16}{value}" for label, value in lines)
