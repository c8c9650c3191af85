# SPDX-License-Identifier: Apache-2.0
"""`referee aiotbench score`: the score of one device."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from referee.commands.energy import add_energy, energy_line, energy_of, energy_report
from referee.errors import InputError
from referee.extras.aiotbench.classification_log import read_logs
from referee.extras.aiotbench.commands.aiotbench.drawing import require_chart, save_chart
from referee.extras.aiotbench.device_configuration import (
    configuration_beside,
    read_configuration,
)
from referee.extras.aiotbench.model_file import read_model
from referee.extras.aiotbench.networks import RanModel
from referee.extras.aiotbench.report import score_report, submission_report
from referee.extras.aiotbench.rules import DRAFT_1_1
from referee.extras.aiotbench.score import Score, score_device
from referee.extras.aiotbench.table import score_table

_GOOD, _NO_SCORE = 0, 1

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


def add_parser(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the action's parser."""
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
        help="the device: TOML with the tables [hardware], [software] and [models], as the sample"
        " writes it (default: board.toml beside board.csv); without it a result is no submission",
    )
    add(
        "--model",
        type=_model,
        action="append",
        default=[],
        metavar="WORKLOAD=FILE",
        help="the TensorFlow Lite file that a workload ran, to compare its input, its parameters"
        " and its multiply-accumulates with table 1, where [models] does not tell them; may stand"
        " several times",
    )
    add("--json", action="store_true", help="print one JSON object")
    add("--chart", type=Path, metavar="FILE", help="also draw the workloads: FILE.svg or .png")
    add_energy(score, "images that this energy was spent on (default: all lines of the logs)")
    score.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    """Score and print; return 0, or 1 if no official workload is in the logs."""
    require_chart(args.chart)
    device = (
        configuration_beside(args.logs, DRAFT_1_1)
        if args.configuration is None
        else read_configuration(args.configuration, DRAFT_1_1)
    )
    configuration = None if device is None else device.parts
    models = _models({} if device is None else device.models, args.model)
    tallies = read_logs(args.logs, list(DRAFT_1_1.by_id()), DRAFT_1_1.spelling())
    score = score_device(tallies, models=models)
    energy = energy_of(args, sum(tally.images for tally in tallies.values()))
    if args.chart is not None:
        # The drawing library is slow to import.
        from referee.extras.aiotbench.chart import chart_of

        title = ", ".join(path.name for path in args.logs)
        save_chart(lambda: chart_of(score, title), args.chart)
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


def _models(told: Mapping[str, RanModel], files: Sequence[tuple[str, Path]]) -> dict[str, RanModel]:
    """Return the models that ran: as the configuration tells them, and as their files are.

    Raises InputError for a file that is not the one of the configuration.
    """
    models = dict(told)
    for name, path in files:
        given = read_model(path)
        if name in told and told[name].sha256 != given.sha256:
            raise InputError(
                f"{path} is not the file that ran as {name}: the configuration has another SHA-256"
            )
        models[name] = given
    return models


def _model(text: str) -> tuple[str, Path]:
    name, _, file = text.partition("=")
    if name not in DRAFT_1_1.by_id() or not file:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not WORKLOAD=FILE, a workload as {DRAFT_1_1.spelling()}"
        )
    return name, Path(file)


def _tell_missing_score(score: Score) -> int:
    if score.vips is None:
        print(
            "referee aiotbench: no workload of the official set is in the logs, so there is no"
            " VIPS and no VOPS",
            file=sys.stderr,
        )
        return _NO_SCORE
    return _GOOD
