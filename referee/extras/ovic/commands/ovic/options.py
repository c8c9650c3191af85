# SPDX-License-Identifier: Apache-2.0
"""Options that several actions of `referee ovic` share, and the text of a score."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable

from referee.extras.ovic.rules.score import RULES, OvicScore


def add_action(
    actions: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    help_text: str,
    description: str,
    act: Callable[[argparse.Namespace], int],
) -> argparse.ArgumentParser:
    """Add the parser of an action, which `act` runs; its description keeps its lines."""
    parser = actions.add_parser(
        name,
        help=help_text,
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(act=act)
    return parser


def add_task(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """Declare `--task`, required if it has no default."""
    parser.add_argument(
        "--task",
        choices=sorted(RULES),
        required=default is None,
        default=default,
        help="the category" + (f" (default: {default})" if default else ""),
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    """Declare `--json`."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def percent(text: str) -> float:
    """Read an accuracy in percent, 0 to 100."""
    value = float(text)
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"{text} is not an accuracy: give percent, 0 to 100")
    return value


def milliseconds(text: str) -> float:
    """Read a latency in milliseconds, finite and above 0."""
    value = float(text)
    if not math.isfinite(value) or value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not a latency: give milliseconds above 0")
    return value


def score_text(score: OvicScore) -> str:
    """Return a score as lines of text for people."""
    metric = "none, the entry is invalid" if score.metric is None else f"{score.metric:+.4f}"
    lines = [
        ("rules", f"{score.rules.name}, {score.rules.task}"),
        (score.rules.accuracy, f"{score.accuracy:.4f} %"),
        ("latency", f"{score.latency_ms:.4f} ms, target {score.rules.target_ms:g} ms"),
        ("frontier", f"{score.frontier:.4f} % at {score.clamped_ms:g} ms"),
        ("metric, points", metric),
    ]
    return "\n".join([f"{label:<16}{value}" for label, value in lines] + list(score.reasons))
