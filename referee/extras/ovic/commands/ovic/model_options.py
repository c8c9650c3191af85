# SPDX-License-Identifier: Apache-2.0
"""Options of the actions that load a model: what may be relaxed, how and where to measure."""

from __future__ import annotations

import argparse
import math
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from referee.commands.numbers import count
from referee.errors import InputError
from referee.extras.ovic.commands.ovic.options import add_json, add_task
from referee.extras.ovic.judging.board.address import BoardAddress, parse_address
from referee.extras.ovic.judging.plan import Plan
from referee.extras.ovic.rules.model_rules import CENTRAL_SHARE, ModelRules
from referee.extras.ovic.rules.pace import SLOWER

if TYPE_CHECKING:
    from referee.extras.ovic.judging.benchmark import Place

_RULES = ModelRules("detection")
_PLAN = Plan()
_PYTHON = BoardAddress.python


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
        "--slower",
        type=_factor,
        default=SLOWER,
        metavar="X",
        help="how much slower than the contest's board this machine may be, before the validator"
        " calls a model too slow (default: %(default)g)",
    )


def add_plan(parser: argparse.ArgumentParser) -> None:
    """Declare how to measure."""
    group = parser.add_argument_group("measurement")
    add = group.add_argument
    add("--runs", type=count, default=_PLAN.runs, metavar="N", help=f"default: {_PLAN.runs}")
    add("--core", type=int, metavar="N", help="core to run on (default: the last one)")
    add(
        "--tolerance",
        type=_tolerance,
        default=_PLAN.tolerance,
        metavar="X",
        help="how far parts of the measurement may differ, and mean and median, as a share"
        " (default: %(default)s)",
    )


def add_board(parser: argparse.ArgumentParser) -> None:
    """Declare where the latency is measured."""
    group = parser.add_argument_group("where the model is measured")
    group.add_argument(
        "--board",
        metavar="[USER@]HOST[:PORT]",
        help="a board, over SSH; a name from ~/.ssh/config will do, which brings its key"
        " (default: this machine)",
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
        if args.board_python is not None:
            raise InputError("--board-python needs a board: add --board HOST")
        return here
    host, user, port = parse_address(args.board)
    address = BoardAddress(host, user, port, python=args.board_python or _PYTHON)
    return partial(on_board, address, _note)


def _note(text: str) -> None:
    print(f"referee ovic: {text}", file=sys.stderr)


def plan_of(args: argparse.Namespace) -> Plan:
    """Return the measurement that the options ask for."""
    return Plan(
        runs=args.runs,
        core=args.core,
        tolerance=args.tolerance,
        central_share=CENTRAL_SHARE[args.task],
    )


def rules_of(args: argparse.Namespace) -> ModelRules:
    """Return the rules that the options ask for."""
    return ModelRules(args.task, args.boxes, not args.no_background)


def _tolerance(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1000:
        raise argparse.ArgumentTypeError(f"{text} is not a tolerance: give 0 to 1000")
    return value


def _factor(text: str) -> float:
    value = float(text)
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError(f"{text} is too small: give more than 0")
    return value
