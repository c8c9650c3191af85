# SPDX-License-Identifier: Apache-2.0
"""Check whether an event is ready: images, truth, teams, disk, ports, meter, display, OVIC.

Each line says OK, WARN or FAIL, and what to do. Exit code 1 means that a check has failed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from power.connect import open_meter
from power.meter import Meter
from referee.programs.progress import progress_bar
from referee.service.desk.link import DeskClient, socket_path
from referee.service.preflight.checks import Check, Outcome, run_checks
from referee.service.setup.config import Config
from referee.service.setup.config_file import load_config
from referee.service.submission.checks import check_ovic


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--config",
        type=Path,
        default=Path("contest.toml"),
        metavar="FILE",
        help="the event's contest.toml (default: ./contest.toml)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Run the checks and print them; return 1 if a check fails."""
    config = load_config(args.config)
    resource = config.meter.resource
    opener: Callable[[], Meter] | None = partial(open_meter, resource)
    if resource in ("emulated", "none"):
        opener = None
    checks: list[Check] = []
    with progress_bar("images checked") as progress:
        found = run_checks(config, opener, partial(_display, config), progress=progress)
        for check in chain(found, check_ovic(config)):
            checks.append(check)
            if not args.json:
                print(_line(check), flush=True)
    failed = any(check.outcome is Outcome.FAIL for check in checks)
    if args.json:
        rows = [asdict(check) | {"outcome": check.outcome.value} for check in checks]
        print(json.dumps({"ready": not failed, "checks": rows}))
    return 1 if failed else 0


def _display(config: Config) -> Mapping[str, Any] | None:
    answer = DeskClient(socket_path(config.storage.folder)).ask("display")
    facts: Mapping[str, Any] | None = answer["display"]
    return facts


def _line(check: Check) -> str:
    text = f"{check.outcome.value:4}  {check.group}, {check.name}: {check.found}"
    return f"{text}\n      {check.remedy}" if check.remedy else text
