# SPDX-License-Identifier: Apache-2.0
"""Options of the actions that load a model: what an organiser may relax, and the limits."""

from __future__ import annotations

import argparse
import math
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from power.commands.seconds import some_seconds
from referee.commands.numbers import count
from referee.errors import InputError
from referee.extras.ovic.commands.ovic.options import add_json, add_task
from referee.extras.ovic.judging.board.address import BoardAddress, parse_address
from referee.extras.ovic.judging.confined import Limits
from referee.extras.ovic.judging.plan import Plan
from referee.extras.ovic.rules.model_rules import CENTRAL_SHARE, ModelRules
from referee.extras.ovic.rules.pace import SLOWER

if TYPE_CHECKING:
    from referee.extras.ovic.judging.benchmark import Place

_RULES = ModelRules("detection")
_LIMITS = Limits()
_PLAN = Plan()
_PYTHON = BoardAddress.python
# A smaller part of a small image would have no pixel.
_LEAST_PART = 0.1


def add_model(parser: argparse.ArgumentParser, task: str | None = None) -> None:
    """Declare the model, its task, which may have a default, and `--json`."""
    parser.add_argument("model", type=Path, metavar="MODEL", help="a .tflite file")
    add_task(parser, task)
    add_json(parser)


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Declare what an organiser may relax."""
    group = parser.add_argument_group("what an organiser may relax")
    group.add_argument(
        "--boxes",
        type=count,
        default=_RULES.boxes,
        metavar="N",
        help="detections of a detector (default: %(default)s)",
    )
    group.add_argument(
        "--no-background",
        action="store_true",
        help="a classifier has 1000 classes; its class 0 is label 1",
    )
    group.add_argument(
        "--overhang",
        type=_share,
        default=_RULES.overhang,
        metavar="X",
        help="how far a box may reach beyond the image, as a share of its side; 0 is the rules' own"
        " text (default: no bound, because the score cuts boxes off at the image)",
    )
    group.add_argument(
        "--slower",
        type=_factor,
        default=SLOWER,
        metavar="X",
        help="how much slower than the contest's board this machine may be, before the validator"
        " calls a model too slow (default: %(default)g)",
    )


def add_limits(parser: argparse.ArgumentParser) -> None:
    """Declare the limits of the model's process."""
    group = parser.add_argument_group("limits of the model's process")
    group.add_argument(
        "--memory-mb",
        type=count,
        default=_LIMITS.memory_bytes >> 20,
        metavar="N",
        help="address space in MB (default: %(default)s)",
    )
    group.add_argument(
        "--seconds",
        type=some_seconds,
        default=_LIMITS.seconds,
        metavar="DURATION",
        help="time of one process, without what it waits for its core: a validation, a measurement,"
        " or 250 answers (default: %(default)g)",
    )


def add_plan(parser: argparse.ArgumentParser) -> None:
    """Declare how to measure."""
    group = parser.add_argument_group("measurement")
    add = group.add_argument
    add("--runs", type=count, default=_PLAN.runs, metavar="N", help=f"default: {_PLAN.runs}")
    add(
        "--warm-up",
        type=count,
        default=_PLAN.warm_up,
        metavar="N",
        help="runs before them that do not count (default: %(default)s)",
    )
    add("--core", type=int, metavar="N", help="core to run on (default: the last one)")
    add(
        "--tolerance",
        type=_tolerance,
        default=_PLAN.tolerance,
        metavar="X",
        help="how far parts of the measurement may differ, and mean and median, as a share"
        " (default: %(default)s)",
    )
    add(
        "--attempts",
        type=count,
        default=3,
        metavar="N",
        help="measurements until one is stable (default: %(default)s)",
    )
    add(
        "--central-share",
        type=_part,
        metavar="X",
        help="share of each side of an image that the model sees; 1 is the whole image"
        " (default: 1 for detection, 0.875 for classification)",
    )


def add_board(parser: argparse.ArgumentParser) -> None:
    """Declare where the latency is measured."""
    group = parser.add_argument_group("where the model is measured")
    group.add_argument(
        "--board",
        metavar="[USER@]HOST[:PORT]",
        help="a board, over SSH; a name from ~/.ssh/config will do (default: this machine)",
    )
    group.add_argument(
        "--identity", type=Path, metavar="FILE", help="private key for the board, as of 'ssh -i'"
    )
    group.add_argument(
        "--known-hosts",
        type=Path,
        metavar="FILE",
        help="host keys to check the board by (default: those that ssh knows)",
    )
    group.add_argument(
        "--board-python",
        metavar="PATH",
        help=f"the board's Python, absolute or from the home folder there (default: {_PYTHON})",
    )


def place_of(args: argparse.Namespace) -> Place:
    """Return where the options ask to measure."""
    from referee.extras.ovic.judging.benchmark import here
    from referee.extras.ovic.judging.board.board import on_board

    if args.board is None:
        for option in ("identity", "known_hosts", "board_python"):
            if getattr(args, option) is not None:
                raise InputError(f"--{option.replace('_', '-')} needs a board: add --board HOST")
        return here
    host, user, port = parse_address(args.board)
    address = BoardAddress(
        host, user, port, args.identity, args.known_hosts, args.board_python or _PYTHON
    )
    return partial(on_board, address, _note)


def _note(text: str) -> None:
    print(f"referee ovic: {text}", file=sys.stderr)


def plan_of(args: argparse.Namespace) -> Plan:
    """Return the measurement that the options ask for."""
    share = args.central_share
    return Plan(
        warm_up=args.warm_up,
        runs=args.runs,
        core=args.core,
        tolerance=args.tolerance,
        central_share=CENTRAL_SHARE[args.task] if share is None else share,
    )


def rules_of(args: argparse.Namespace) -> ModelRules:
    """Return the rules that the options ask for."""
    return ModelRules(args.task, args.boxes, not args.no_background, args.overhang)


def limits_of(args: argparse.Namespace) -> Limits:
    """Return the limits that the options ask for."""
    return Limits(seconds=args.seconds, memory_bytes=args.memory_mb << 20)


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not a share: give 0 to 1")
    return value


def _tolerance(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1000:
        raise argparse.ArgumentTypeError(f"{text} is not a tolerance: give 0 to 1000")
    return value


def _part(text: str) -> float:
    value = _share(text)
    if value < _LEAST_PART:
        raise argparse.ArgumentTypeError(f"{text} is too small: give {_LEAST_PART} to 1")
    return value


def _factor(text: str) -> float:
    value = float(text)
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f"{text} is too small: give more than 0")
    return value
