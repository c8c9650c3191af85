# SPDX-License-Identifier: Apache-2.0
"""Detection mAP as the ILSVRC development kit defines it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from referee.core.arguments import several
from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.scoring.live import LiveScore, Mapped
from referee.scoring.result import IlsvrcResult
from referee.scoring.rules import DEVKIT, Rules, rules_of


def evaluate(
    truth: GroundTruth, detections: Detections, rules: Rules | str = DEVKIT, mapped: Mapped = map
) -> IlsvrcResult:
    """Score detections against ground truth; `rules` may be a name of `RULE_SETS`.

    Matching goes image by image. The detections of an image take turns by falling confidence; on
    a tie the earlier row goes first. Each takes a truth box of its class that is still free and
    whose threshold it reaches: the one with the largest IoU, on a tie the first in the file. A
    detection that takes no box is a false positive.

    AP goes class by class. The detections of all images, by falling confidence (ties: lower image
    id, then earlier row), give a precision-recall curve. AP is the area under its envelope; mAP is
    the mean over classes.

    Detections and truth boxes of a blacklisted (image, class) pair count neither way. Rows of
    unlisted images or classes, and rows whose confidence is not finite, are ignored and counted.

    Source: eval_detection.m and VOCap.m of the ILSVRC 2014/2015 development kit. Double
    precision throughout. `mapped` is as in `LiveScore`. Raises InputError if a truth box is of an
    unlisted image or class, and ArgumentError for rules that are none.
    """
    score = LiveScore(truth, rules, mapped)
    score.add(detections)
    return score.result()


def evaluate_at(
    truth: GroundTruth,
    detections: Detections,
    ious: Iterable[float],
    rules: Rules | str = DEVKIT,
) -> dict[float, IlsvrcResult]:
    """Score detections at several IoUs, each in place of the `iou_cap` of the rules.

    Small boxes keep their lower threshold where the rules have a tolerance. Raises ArgumentError
    for an IoU that is not above 0 and at most 1.
    """
    base = rules_of(rules)
    return {
        iou: evaluate(truth, detections, replace(base, iou_cap=iou))
        for iou in several(ious, "ious")
    }
