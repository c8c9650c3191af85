# SPDX-License-Identifier: Apache-2.0
"""Detection mAP as the ILSVRC development kit defines it."""

from __future__ import annotations

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.scoring.live import LiveScore
from referee.scoring.result import IlsvrcResult
from referee.scoring.rules import DEVKIT, Rules


def evaluate(truth: GroundTruth, detections: Detections, rules: Rules = DEVKIT) -> IlsvrcResult:
    """Score detections against ground truth.

    Per image, detections in order of falling confidence (ties: earlier row first) each take the
    truth box of their class with the largest IoU among those that are free and whose own
    threshold they reach (ties: first in the file); all others are false positives. Per class,
    detections of all images in order of falling confidence (ties: lower image id, then earlier
    row) give a precision-recall curve, and AP is the area under its envelope; mAP is the mean
    over classes. Detections and truth boxes of a blacklisted (image, class) pair count neither
    way, and rows of unlisted images or classes or with a confidence that is not finite are
    ignored and counted.

    Source: eval_detection.m and VOCap.m of the ILSVRC 2014/2015 development kit. Double
    precision throughout. Raises InputError where a truth box is of an unlisted image or class.
    """
    score = LiveScore(truth, rules)
    score.add(detections)
    return score.result()
