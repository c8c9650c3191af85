# SPDX-License-Identifier: Apache-2.0
"""`referee score`: score a file of detections against ground truth, offline."""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path

from referee.commands.score_table import print_table
from referee.errors import InputError
from referee.scoring.ilsvrc import evaluate
from referee.service.inputs import in_own_ids, read_detections, read_ground_truth
from referee.service.score_report import energy_report, ilsvrc_report, images_with_detections

__all__ = ["add_arguments", "run"]

_GOOD, _NO_SCORE, _WRONG_USE = 0, 1, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `referee score`."""
    parser.add_argument(
        "--ground-truth",
        type=Path,
        required=True,
        metavar="PATH",
        help="COCO instances JSON, a folder of ILSVRC or PASCAL VOC XML, or CSV"
        " image_id,class_id,xmin,ymin,xmax,ymax",
    )
    parser.add_argument(
        "--detections",
        type=Path,
        required=True,
        metavar="PATH",
        help="COCO results JSON, or lines image_id class_id confidence xmin ymin xmax ymax",
    )
    parser.add_argument(
        "--images",
        type=Path,
        metavar="PATH",
        help="beside CSV ground truth: a list image_id,width,height, or a folder of 1.jpg, 2.jpg…",
    )
    parser.add_argument(
        "--blacklist",
        type=Path,
        metavar="PATH",
        help="CSV image_id,class_id that count neither way",
    )
    parser.add_argument(
        "--classes", type=int, metavar="N", help="the class list is 1 to N (default: the source's)"
    )
    parser.add_argument("--metric", choices=("ilsvrc",), default="ilsvrc", help="(default: ilsvrc)")
    parser.add_argument(
        "--energy-wh", type=_energy, metavar="X", help="energy of the session, for mAP per Wh"
    )
    parser.add_argument(
        "--images-processed",
        type=int,
        metavar="N",
        help="images sent to the contestant, for the normalised accuracy"
        " (default: those with a detection)",
    )
    parser.add_argument(
        "--image-ids",
        choices=("own", "contest"),
        help="the detections' image ids are the ground truth's own, or 1 to N in their ascending"
        " order (default: whichever explains more rows, own if equal)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Score, print, and return the exit code: 0, 1 without a score, 2 for input that is no use."""
    try:
        found = read_ground_truth(
            args.ground_truth, images=args.images, blacklist=args.blacklist, classes=args.classes
        )
        detections, numbering = in_own_ids(
            read_detections(args.detections), found.truth, args.image_ids
        )
    except InputError as error:
        print(f"referee score: {error}", file=sys.stderr)
        return _WRONG_USE
    result = evaluate(found.truth, detections)
    report = ilsvrc_report(result) | {"image_ids": numbering}
    if args.energy_wh is not None:
        processed = args.images_processed
        if processed is None:
            processed = images_with_detections(detections, found.truth)
        report |= energy_report(result, args.energy_wh, processed)
    if args.json:
        print(json.dumps(report))
    else:
        print_table(report, found.truth.class_names)
    if result.mean_ap is None:
        print("referee score: no class has ground truth, so there is no mAP", file=sys.stderr)
        return _NO_SCORE
    return _GOOD


def _energy(text: str) -> float:
    """Read watt-hours, finite and greater than 0."""
    value = float(text)
    if not math.isfinite(value) or value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not an energy: give watt-hours above 0")
    return value
