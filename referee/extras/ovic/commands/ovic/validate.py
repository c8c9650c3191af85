# SPDX-License-Identifier: Apache-2.0
"""`referee ovic validate`: check a model before it is scored."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from referee.extras.ovic.commands.ovic.model_options import add_model, add_rules, rules_of
from referee.extras.ovic.commands.ovic.options import add_action

if TYPE_CHECKING:
    from referee.extras.ovic.judging.validation import Validated
    from referee.extras.ovic.rules.detections import Overhang

_DESCRIPTION = """\
Check a model against each rule that could stop it later: the file, its operators, its input, the
number, shapes, types and values of its outputs, equal outputs for equal images, and its time. The
model runs in a process of its own with limits, on made images and on some of --images. A detector's
boxes may reach beyond the image: the score cuts them off there, and this says how far they do. The
exit code is 0 for a valid model, else 1.

  referee ovic validate model.tflite --task detection
  referee ovic validate model.tflite --task detection --images photos
"""


def add_parser(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the action's parser."""
    parser = add_action(actions, "validate", "check a model before it is scored", _DESCRIPTION, act)
    add_model(parser)
    parser.add_argument(
        "--images",
        type=Path,
        metavar="DIR",
        help="photographs: eight of them are tried, too (default: made images alone)",
    )
    add_rules(parser)


def act(args: argparse.Namespace) -> int:
    """Validate and print; return 0, or 1 if the model breaks a rule."""
    from referee.extras.ovic.judging.dataset import images_in
    from referee.extras.ovic.judging.validation import validated
    from referee.extras.ovic.rules.detections import overhang_texts

    images = [] if args.images is None else images_in(args.images)
    found = validated(args.model, rules_of(args), slower=args.slower, images=images)
    if args.json:
        print(json.dumps(validity(found)))
    else:
        for line in [*map(str, found.failures), *overhang_texts(found.overhang)]:
            print(line)
        print(f"{args.model.name} is {'not ' if found.failures else ''}valid for {args.task}")
    return 1 if found.failures else 0


def validity(found: Validated) -> dict[str, object]:
    """Return the JSON object of a validation; `overhang` where there is something to remark."""
    report = {
        "valid": not found.failures,
        "failures": [vars(failure) for failure in found.failures],
    }
    return report | overhang_report(found.overhang)


def overhang_report(overhang: Overhang | None) -> dict[str, object]:
    """Return the field `overhang` of an overhang that is worth a remark, else nothing."""
    if overhang is None or not (overhang.boxes or overhang.above_one):
        return {}
    return {"overhang": asdict(overhang)}
