# SPDX-License-Identifier: Apache-2.0
"""Detection mAP as the ILSVRC development kit defines it."""

from __future__ import annotations

from referee.core.detections import Detections
from referee.core.ground_truth import GroundTruth
from referee.scoring.live import LiveScore, Mapped
from referee.scoring.result import IlsvrcResult
from referee.scoring.rules import DEVKIT, Rules


def evaluate(
    truth: GroundTruth, detections: Detections, rules: Rules = DEVKIT, mapped: Mapped = map
) -> IlsvrcResult:
    """Score detections against ground truth.

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
    unlisted image or class.
    """
    score = LiveScore(truth, rules, mapped)
    score.add(detections)
    return score.result()
