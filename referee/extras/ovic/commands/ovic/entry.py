# SPDX-License-Identifier: Apache-2.0
"""`referee ovic run`: validate, benchmark and score a model in one go."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from power.commands.written_file import file_to_write
from referee.errors import InputError
from referee.extras.ovic.commands.ovic.benchmark import measurement_text
from referee.extras.ovic.commands.ovic.model_options import (
    add_board,
    add_model,
    add_plan,
    add_rules,
    place_of,
    plan_of,
    rules_of,
)
from referee.extras.ovic.commands.ovic.options import add_action, score_text
from referee.extras.ovic.commands.ovic.validate import overhang_report, validity
from referee.extras.ovic.rules.score import RULES
from referee.programs.progress import progress_bar

if TYPE_CHECKING:
    from referee.extras.ovic.judging.entry import JudgedEntry
    from referee.extras.ovic.judging.validation import Validated
    from referee.scoring import CocoResults

_DESCRIPTION = """\
Validate a model, measure its latency on the images, answer all images of the ground truth with it,
and score both. With --board the latency comes from a board, and the rest runs on this machine. The
exit code is 1 for a model that breaks a rule, for a measurement that is not stable, and for an
entry that is too slow to be valid.

  referee ovic run model.tflite --task detection --images photos --ground-truth annotations.json \\
    --results detections.json
"""


def add_parser(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the action's parser."""
    parser = add_action(
        actions, "run", "validate, benchmark and score a model in one go", _DESCRIPTION, act
    )
    add_model(parser)
    parser.add_argument(
        "--images", type=Path, required=True, metavar="DIR", help="folder of the images"
    )
    parser.add_argument(
        "--ground-truth",
        type=Path,
        required=True,
        metavar="PATH",
        help="detection: COCO instances JSON, or a folder of YOLO labels with the model's class"
        " indices. Classification: CSV file,label, where label 0 is the"
        " background and 1 the first class",
    )
    parser.add_argument(
        "--results",
        type=file_to_write,
        metavar="FILE",
        help="write a detector's answers as COCO results, for an evaluation server",
    )
    add_rules(parser)
    add_board(parser)
    add_plan(parser)


def act(args: argparse.Namespace) -> int:
    """Judge the model and print; return 0, or 1 without a valid score."""
    from referee.extras.ovic.judging.confined import Limits
    from referee.extras.ovic.judging.dataset import Dataset, images_in
    from referee.extras.ovic.judging.entry import Timing, Trial, judge_entry
    from referee.extras.ovic.judging.validation import validated

    rules, limits, place = rules_of(args), Limits(), place_of(args)
    if args.results is not None and args.task != "detection":
        raise InputError("--results are a detector's COCO results: give it with --task detection")
    scoring = RULES[args.task]
    images = images_in(args.images)
    found = validated(args.model, rules, limits, args.slower, images=images)
    if found.failures:
        return _refused(args, found)
    with progress_bar("images and runs") as progress:
        plan = plan_of(args)
        entry = judge_entry(
            Trial(args.model, rules, plan.central_share, limits, progress),
            Dataset(args.images, args.ground_truth),
            scoring,
            Timing(plan, limits),
            place,
            partial(_keep, args.results),
        )
    if scoring.note:
        print(f"referee ovic: {scoring.note}", file=sys.stderr)
    print(json.dumps(_report(args.task, entry, found)) if args.json else _text(entry))
    return 0 if entry.score is not None and entry.score.valid else 1


def _keep(path: Path | None, results: CocoResults) -> None:
    """Write a detector's answers where a file is asked for."""
    from referee.extras.ovic.judging.figures import write_coco_results

    if path is not None:
        write_coco_results(path, results)


def _refused(args: argparse.Namespace, found: Validated) -> int:
    """Print why there is no score."""
    reasons = [str(failure) for failure in found.failures]
    if args.json:
        print(json.dumps(_no_score(args.task, reasons) | {"validation": validity(found)}))
    else:
        print("\n".join([*reasons, f"{args.model.name} is not valid for {args.task}"]))
    return 1


def _no_score(task: str, reasons: Sequence[str]) -> dict[str, object]:
    figures = ("accuracy", "latency_ms", "clamped_ms", "frontier", "metric")
    return {"task": task, **dict.fromkeys(figures), "valid": False, "reasons": list(reasons)}


def _report(task: str, entry: JudgedEntry, found: Validated) -> dict[str, object]:
    from referee.extras.ovic.judging.figures import score_report

    if entry.score is not None:
        report = score_report(entry.score)
    else:
        report = _no_score(task, entry.measurement.stability.reasons)
        report["accuracy"] = entry.accuracy.percent
    return report | {
        "images": entry.accuracy.images,
        "right": entry.accuracy.right,
        "validation": validity(found),
        "benchmark": entry.measurement.report(),
        **overhang_report(entry.accuracy.overhang),
    }


def _text(entry: JudgedEntry) -> str:
    from referee.extras.ovic.rules.detections import Overhang, overhang_texts

    right = "" if entry.accuracy.right is None else f", {entry.accuracy.right} right"
    lines = [
        measurement_text(entry.measurement),
        f"{'images':<16}{entry.accuracy.images}{right}",
        *overhang_texts(entry.accuracy.overhang or Overhang()),
    ]
    if entry.score is not None:
        lines.append(score_text(entry.score))
    else:
        lines += [f"{'accuracy':<16}{entry.accuracy.percent:.4f} %"]
        lines += [*entry.measurement.stability.reasons, "There is no score: measure again."]
    return "\n".join(lines)
