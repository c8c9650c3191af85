# SPDX-License-Identifier: Apache-2.0
"""`referee aiotbench rank`: several devices in one ranking."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from referee.errors import InputError
from referee.extras.aiotbench.classification_log import read_logs
from referee.extras.aiotbench.commands.aiotbench.drawing import require_chart, save_chart
from referee.extras.aiotbench.device_configuration import (
    DeviceConfiguration,
    configuration_beside,
)
from referee.extras.aiotbench.ranking import Ranking, rank_devices
from referee.extras.aiotbench.ranking_forms import ranking_csv, ranking_report, ranking_text
from referee.extras.aiotbench.ranking_page import ranking_page
from referee.extras.aiotbench.rules import DRAFT_1_1
from referee.extras.aiotbench.score import score_device

_DESCRIPTION = """\
Rank devices by the sum of their VIPS, one log each, and compare models and frameworks across them.
Any program may have written a log: lines image_id,workload_id,real_label,predict_label,time, see
'referee aiotbench score --help'. A device's name is 'device' in the table [hardware] of the TOML
file beside its log (board.toml for board.csv), which the sample writes, else the log's own name.

  referee aiotbench rank phone.csv tablet.csv --csv > devices.csv
  referee aiotbench rank phone.csv tablet.csv --html devices.html
"""


def add_parser(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the action's parser."""
    parser = actions.add_parser(
        "rank",
        help="rank several devices",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("logs", type=Path, nargs="+", metavar="LOG", help="the log of a device")
    add("--by", choices=("vips", "vops"), default="vips", help="what ranks (default: vips)")
    add("--chart", type=Path, metavar="FILE", help="also draw the devices: FILE.svg or .png")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument(
        "--csv", action="store_true", help="print a line for each device and workload, all digits"
    )
    form.add_argument("--html", type=Path, metavar="FILE", help="write a page that stands alone")
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    """Rank and print; return 0, or 1 if a device has no official workload."""
    require_chart(args.chart)
    ids, spelling = list(DRAFT_1_1.by_id()), DRAFT_1_1.spelling()
    devices = {log: configuration_beside([log], DRAFT_1_1) for log in args.logs}
    names = device_names(args.logs, devices)
    ranking = rank_devices(
        {
            name: score_device(
                read_logs([log], ids, spelling),
                models=None if (known := devices[log]) is None else known.models,
            )
            for name, log in zip(names, args.logs, strict=True)
        },
        args.by,
    )
    if args.chart is not None:
        # The drawing library is slow to import.
        from referee.extras.aiotbench.chart import ranking_chart

        save_chart(lambda: ranking_chart(ranking), args.chart)
    _print(args, ranking)
    without = [it.device for it in ranking.devices if it.rank is None]
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


def _print(args: argparse.Namespace, ranking: Ranking) -> None:
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
