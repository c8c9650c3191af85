# SPDX-License-Identifier: Apache-2.0
"""`referee score`: score a file of detections against ground truth, offline."""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from referee.commands.score_table import print_table
from referee.errors import InputError
from referee.scoring.coco_boxes import CocoTruth
from referee.scoring.ilsvrc import evaluate
from referee.scoring.result import IlsvrcResult
from referee.service.inputs import (
    GroundTruthFile,
    in_own_ids,
    own_image_ids,
    read_coco_results,
    read_detections,
    read_ground_truth,
)
from referee.service.score_report import (
    Report,
    coco_report,
    energy_report,
    ilsvrc_report,
    images_with_detections,
)

if TYPE_CHECKING:  # Importing pycocotools takes time that only its own metric needs.
    from referee.scoring.coco import CocoResult

__all__ = ["add_arguments", "run"]

Ints = NDArray[np.int64]

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
    parser.add_argument(
        "--metric", choices=("ilsvrc", "coco"), default="ilsvrc", help="(default: ilsvrc)"
    )
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
        score = _score_coco if args.metric == "coco" else _score_ilsvrc
        result, report, image_id = score(args, found)
    except InputError as error:
        print(f"referee score: {error}", file=sys.stderr)
        return _WRONG_USE
    if args.energy_wh is not None:
        processed = args.images_processed
        if processed is None:
            processed = images_with_detections(image_id, found.truth)
        report |= energy_report(result, args.energy_wh, processed)
    if args.json:
        print(json.dumps(report))
    else:
        print_table(report, found.truth.class_names)
    if result.mean_ap is None:
        print("referee score: no class has ground truth, so there is no mAP", file=sys.stderr)
        return _NO_SCORE
    return _GOOD


def _score_ilsvrc(
    args: argparse.Namespace, found: GroundTruthFile
) -> tuple[IlsvrcResult, Report, Ints]:
    """Return result, report, and the detections' image ids in the ground truth's own numbering."""
    detections, numbering = in_own_ids(
        read_detections(args.detections), found.truth, args.image_ids
    )
    result = evaluate(found.truth, detections)
    return result, ilsvrc_report(result) | {"image_ids": numbering}, detections.image_id


def _score_coco(
    args: argparse.Namespace, found: GroundTruthFile
) -> tuple[CocoResult, Report, Ints]:
    """Do the same for COCO's metric, which has no blacklist."""
    from referee.scoring import coco

    if args.blacklist is not None:
        raise InputError(f"{args.blacklist} cannot be used: COCO's metric knows no blacklist")
    results = read_coco_results(args.detections)
    image_id, numbering = own_image_ids(results.image_id, found.truth, args.image_ids)
    truth = found.coco or CocoTruth.from_ground_truth(found.truth)
    truth = replace(truth, category_ids=found.truth.class_ids)
    result = coco.evaluate(truth, replace(results, image_id=image_id))
    return result, coco_report(result) | {"image_ids": numbering}, image_id


def _energy(text: str) -> float:
    """Read watt-hours, finite and greater than 0."""
    value = float(text)
    if not math.isfinite(value) or value <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not an energy: give watt-hours above 0")
    return value
