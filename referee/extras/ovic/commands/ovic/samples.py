# SPDX-License-Identifier: Apache-2.0
"""`referee ovic samples`: a table of the latencies of sample models on one device."""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import Any

from referee.errors import InputError
from referee.extras.ovic.commands.ovic.entry_text import figure, table
from referee.extras.ovic.commands.ovic.model_options import (
    add_board,
    add_limits,
    add_plan,
    limits_of,
    place_of,
    plan_of,
)
from referee.extras.ovic.commands.ovic.options import add_json, add_task
from referee.extras.ovic.judging.dataset import images_in
from referee.extras.ovic.judging.entry import measure_until_stable
from referee.extras.ovic.judging.machine import build_of
from referee.extras.ovic.rules.score import RULES
from referee.programs.progress import progress_bar

_DESCRIPTION = """\
Measure sample models one after the other, and print the table of their latencies that participants
choose their networks by. Name files, or folders of .tflite files. A measurement that is not stable,
and a model that fails, are told, and the others go on; the exit code is then 1.

  referee ovic samples mobilenets mnasnet.tflite --images photos --task classification
"""


def add_parser(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the action's parser."""
    parser = actions.add_parser(
        "samples",
        help="print a table of the latencies of sample models on this device",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "models", type=Path, nargs="+", metavar="MODEL", help=".tflite files, or folders of them"
    )
    add_task(parser)
    parser.add_argument(
        "--images", type=Path, required=True, metavar="DIR", help="images, which take turns"
    )
    add_json(parser)
    add_board(parser)
    add_plan(parser)
    add_limits(parser)
    parser.set_defaults(act=act)


def act(args: argparse.Namespace) -> int:
    """Measure and print; return 0, or 1 if a model has no stable latency."""
    images, place = images_in(args.images), place_of(args)
    plan, limits = plan_of(args), limits_of(args)
    rows = []
    for model in models_in(args.models):
        with progress_bar(model.name) as progress:
            try:
                found = measure_until_stable(
                    model, images, plan, limits, args.attempts, progress, place
                )
            except InputError as error:
                rows.append(_row(model, reasons=[str(error)]))
                continue
        reasons = list(found.stability.reasons)
        latency_ms = None if reasons else found.latency.mean
        rows.append(_row(model, latency_ms, build_of(found.machine), reasons))
    for row in rows:
        for reason in row["reasons"]:
            print(f"referee ovic: {row['name']}: {reason}", file=sys.stderr)
    report = {"task": args.task, "target_ms": RULES[args.task].target_ms, "models": rows}
    print(json.dumps(report) if args.json else _text(report))
    return 1 if any(row["latency_ms"] is None for row in rows) else 0


def models_in(paths: list[Path]) -> list[Path]:
    """Return the files, and those of folders by name; raise InputError for an empty folder."""
    found = []
    for path in paths:
        inside = sorted(path.glob("*.tflite")) if path.is_dir() else [path]
        if not inside:
            raise InputError(f"{path} has no .tflite file: name a folder with models")
        found += inside
    return found


def _row(
    model: Path,
    latency_ms: float | None = None,
    build: str | None = None,
    reasons: list[str] | None = None,
) -> dict[str, Any]:
    return {
        "name": model.stem,
        "latency_ms": latency_ms,
        "build": build,
        "reasons": reasons or [],
    }


def _text(report: dict[str, Any]) -> str:
    """Return the table by latency; the share of the target tells which models fit the task."""
    rows = [("latency ms", "of target", "model")]
    order = sorted(report["models"], key=lambda it: it["latency_ms"] or math.inf)
    for row in order:
        latency_ms = row["latency_ms"]
        share = None if latency_ms is None else latency_ms / report["target_ms"]
        rows.append((figure(latency_ms, ".3f"), figure(share, ".0%"), row["name"]))
    builds = {row["build"] for row in order if row["build"] is not None}
    return "\n".join([*table(rows), *sorted(builds)])
