# SPDX-License-Identifier: Apache-2.0
"""Score logs of AIoTBench: valid images per second (VIPS) and valid operations per second (VOPS).

For example:

  referee aiotbench score board.csv
  referee aiotbench score board.csv --configuration board.toml --chart board.svg
  referee aiotbench score part1.csv part2.csv --json
  referee aiotbench rank phone.csv tablet.csv board.csv --html ranking.html

'python -m client_sample.aiotbench' writes such logs on a board. docs/aiotbench.md shows all.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from power.commands.written_file import page_to_write, picture_to_write
from referee.errors import InputError, needing
from referee.extras.aiotbench.device_configuration import (
    DeviceConfiguration,
    configuration_beside,
    read_configuration,
)
from referee.extras.aiotbench.likely_mistakes import UNITS
from referee.extras.aiotbench.model_file import read_model
from referee.extras.aiotbench.networks import RanModel
from referee.extras.aiotbench.ranking import DeviceRanking, rank_devices
from referee.extras.aiotbench.ranking_forms import (
    ranking_csv,
    ranking_page,
    ranking_report,
    ranking_text,
)
from referee.extras.aiotbench.report import score_report, submission_report
from referee.extras.aiotbench.rules import DRAFT_1_1
from referee.extras.aiotbench.score import Score, Tally, score_device
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

  referee aiotbench score board.csv
  referee aiotbench score board.csv --configuration board.toml --power-log power.csv
"""

_RANK = """\
Rank devices by the sum of their VIPS, one log each, and compare models and frameworks across them.
Any program may have written a log: lines image_id,workload_id,real_label,predict_label,time, see
'referee aiotbench score --help'. A device's name is 'device' in the table [hardware] of the TOML
file beside its log (board.toml for board.csv), which the sample writes, else the log's own name.

  referee aiotbench rank phone.csv tablet.csv --csv > devices.csv
  referee aiotbench rank phone.csv tablet.csv --html devices.html
"""

_CHARTS = (".svg", ".png")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the actions and their options."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add_score(actions)
    _add_rank(actions)


def run(args: argparse.Namespace) -> int:
    """Run the action and return its exit code: 0, or 1 without an official workload."""
    code: int = args.act(args)
    return code


def _add_score(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    from referee.commands.energy import add_energy

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
        " and its multiply-accumulates with table 1, where [models] does not tell them; may be"
        " repeated",
    )
    _add_unit(score)
    add("--json", action="store_true", help="print one JSON object")
    add(
        "--chart",
        type=picture_to_write,
        metavar="FILE",
        help="also draw the workloads: FILE.svg or .png",
    )
    add_energy(score, "images that this energy was spent on (default: all lines of the logs)")
    score.set_defaults(act=_score)


def _add_unit(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--time-unit",
        choices=list(UNITS),
        default="s",
        help="unit of the times in the logs (default: s)",
    )


def _read(logs: Sequence[Path], unit: str) -> dict[str, Tally]:
    """Return the tally of each workload, with times in seconds whatever the unit of the logs."""
    from referee.extras.aiotbench.classification_log import read_logs

    tallies = read_logs(logs, list(DRAFT_1_1.by_id()), DRAFT_1_1.spelling())
    return {
        name: replace(tally, total_time_s=tally.total_time_s / UNITS[unit])
        for name, tally in tallies.items()
    }


def _score(args: argparse.Namespace) -> int:
    """Score and print; return 0, or 1 if no official workload is in the logs."""
    from referee.commands.energy import energy_line, energy_of, energy_report

    require_chart(args.chart)
    device = (
        configuration_beside(args.logs, DRAFT_1_1)
        if args.configuration is None
        else read_configuration(args.configuration, DRAFT_1_1)
    )
    configuration = None if device is None else device.parts
    models = _models({} if device is None else device.models, args.model)
    tallies = _read(args.logs, args.time_unit)
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


def _models(
    configured: Mapping[str, RanModel], files: Sequence[tuple[str, Path]]
) -> dict[str, RanModel]:
    """Return the models that ran: as the configuration tells them, and as their files are.

    Raises InputError for a file that is not the one of the configuration.
    """
    models = dict(configured)
    for name, path in files:
        given = read_model(path)
        if name in configured and configured[name].sha256 != given.sha256:
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


def _add_rank(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = actions.add_parser(
        "rank",
        help="rank several devices",
        description=_RANK,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("logs", type=Path, nargs="+", metavar="LOG", help="the log of a device")
    _add_unit(parser)
    add("--by", choices=("vips", "vops"), default="vips", help="what ranks (default: vips)")
    add(
        "--chart",
        type=picture_to_write,
        metavar="FILE",
        help="also draw the devices: FILE.svg or .png",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument(
        "--csv", action="store_true", help="print a line for each device and workload, all digits"
    )
    form.add_argument(
        "--html", type=page_to_write, metavar="FILE", help="write a page that stands alone"
    )
    parser.set_defaults(act=_rank)


def _rank(args: argparse.Namespace) -> int:
    """Rank and print; return 0, or 1 if a device has no official workload."""
    require_chart(args.chart)
    devices = {log: configuration_beside([log], DRAFT_1_1) for log in args.logs}
    names = device_names(args.logs, devices)
    ranking = rank_devices(
        {
            name: score_device(
                _read([log], args.time_unit),
                models=None if (known := devices[log]) is None else known.models,
            )
            for name, log in zip(names, args.logs, strict=True)
        },
        args.by,
        {
            name: known.parts
            for name, log in zip(names, args.logs, strict=True)
            if (known := devices[log]) is not None
        },
    )
    if args.chart is not None:
        # The drawing library is slow to import.
        from referee.extras.aiotbench.chart import ranking_chart

        save_chart(lambda: ranking_chart(ranking), args.chart)
    _print_ranking(args, ranking)
    without = [device.device for device in ranking.devices if device.rank is None]
    for name in without:
        print(f"referee aiotbench: {name} has no workload of the official set", file=sys.stderr)
    return 1 if without else 0


def device_names(
    logs: Sequence[Path], devices: Mapping[Path, DeviceConfiguration | None]
) -> list[str]:
    """Return a name for each log, all different: equal ones get the path of the log.

    Raises InputError for a log that is given twice.
    """
    twice = [log for log, count in Counter(logs).items() if count > 1]
    if twice:
        raise InputError(f"{twice[0]} is given twice: give each device's log once")
    names = [
        log.stem
        if (known := devices[log]) is None
        else known.parts["hardware"].get("device", log.stem)
        for log in logs
    ]
    count = Counter(names)
    return [
        name if count[name] == 1 else f"{name} ({log})"
        for name, log in zip(names, logs, strict=True)
    ]


def _print_ranking(args: argparse.Namespace, ranking: DeviceRanking) -> None:
    if args.json:
        print(json.dumps(ranking_report(ranking, DRAFT_1_1)))
    elif args.csv:
        print(ranking_csv(ranking), end="")
    elif args.html is not None:
        try:
            args.html.write_text(ranking_page(ranking, DRAFT_1_1), encoding="utf-8")
        except OSError as error:
            raise InputError(f"{args.html} cannot be written: {error.strerror}") from None
        print(f"Wrote {args.html}.")
    else:
        print(ranking_text(ranking, DRAFT_1_1))


def require_chart(path: Path | None) -> None:
    """Raise InputError for a name that is no chart's, before the work begins."""
    if path is not None and path.suffix.lower() not in _CHARTS:
        raise InputError(f"{path} is not a chart's name: let it end in .svg or .png")


def save_chart(draw: Callable[[], Any], path: Path) -> None:
    """Draw and write a chart; raise InputError without matplotlib, or if it cannot be written."""
    # The drawing library is slow to import, and only --chart needs it.
    from power.logs.plot import save_figure

    with needing("a chart", "matplotlib", "event"):
        figure = draw()
    try:
        remark = save_figure(figure, path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
    if remark is not None:
        print(f"referee aiotbench: {remark}", file=sys.stderr)
