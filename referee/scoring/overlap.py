# SPDX-License-Identifier: Apache-2.0
"""Geometry of inclusive pixel boxes: areas, thresholds, intersection over union."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from referee.scoring.rules import Rules

Floats = NDArray[np.float64]


def thresholds(box: Floats, rules: Rules) -> Floats:
    """Return the IoU that a detection must reach for each truth box (n, 4), shape (n,).

    The formula is that of eval_detection.m, with one division:
    `min(iou_cap, w*h / ((w+t) * (h+t)))`. Small boxes and thin boxes get a threshold below the cap.
    """
    width = box[:, 2] - box[:, 0] + 1
    height = box[:, 3] - box[:, 1] + 1
    scaled = (width * height) / ((width + rules.tolerance_px) * (height + rules.tolerance_px))
    return np.minimum(rules.iou_cap, scaled)


def columns(box: Floats) -> Floats:
    """Return boxes (n, 4) as four contiguous columns (4, n), on which `iou` is fast."""
    return np.ascontiguousarray(box.T)


def iou(first: Floats, second: Floats) -> Floats:
    """Return the IoU of paired boxes, both as columns (4, n), or 0 where they do not overlap.

    The order of operations is the devkit's, `i / (area + area - i)`. So integer boxes exactly at a
    threshold are decided as in the devkit. Boxes that are not finite overlap nothing, nor do boxes
    inverted by a pixel or more.
    """
    # A coordinate near the end of the float range overflows here; such a box overlaps nothing.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        width = np.minimum(first[2], second[2]) - np.maximum(first[0], second[0]) + 1
        height = np.minimum(first[3], second[3]) - np.maximum(first[1], second[1]) + 1
        shared = width * height
        ratio = shared / (_areas(first) + _areas(second) - shared)
    return np.where((width > 0) & (height > 0), ratio, 0.0)


def _areas(box: Floats) -> Floats:
    area: Floats = (box[2] - box[0] + 1) * (box[3] - box[1] + 1)
    return area
