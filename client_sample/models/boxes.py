# SPDX-License-Identifier: Apache-2.0
"""Boxes as rows of corners: other orders of their numbers, their scores, and suppression."""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import numpy as np

from client_sample.nms import pick_top

# Boxes that go into a suppression, as those of Ultralytics' own.
_MOST_SUPPRESSED = 30_000


class Found(NamedTuple):
    """What a model saw: corners x, y, x, y for each box, its score, and its class as an index."""

    corners: Any
    scores: Any
    classes: Any

    def best(self, least: float, most: int) -> Found:
        """Return the boxes from a score on, the best first, and no more than `most`."""
        order = np.argsort(-self.scores, kind="stable")
        order = order[self.scores[order] >= least][:most]
        return Found(self.corners[order], self.scores[order], self.classes[order])

    def suppressed(self, iou: float, most: int) -> Found:
        """Return the boxes without those that overlap a better one of their class.

        The boxes must be in falling order of their scores.
        """
        corners = self.corners[:_MOST_SUPPRESSED].astype(np.float64)
        if not len(corners):
            return self
        low, high = corners.min(), corners.max()
        # Boxes of different classes are moved apart, so that one pass serves all classes.
        apart = corners + self.classes[: len(corners), None] * (high - low + 1)
        boxes = np.concatenate(
            [(apart[:, :2] + apart[:, 2:]) / 2, np.maximum(apart[:, 2:] - apart[:, :2], 0)], axis=1
        )
        kept = pick_top(boxes, iou)[:most]
        return Found(self.corners[kept], self.scores[kept], self.classes[kept])


def corners_of(boxes: Any, order: str) -> Any:
    """Return boxes, N x 4, as corners x, y, x, y."""
    boxes = boxes.astype(np.float32)
    if order == "yxyx":
        return boxes[:, [1, 0, 3, 2]]
    if order == "cxcywh":
        half = boxes[:, 2:] / 2
        return np.concatenate([boxes[:, :2] - half, boxes[:, :2] + half], axis=1)
    return boxes


def activated(scores: Any, how: str) -> Any:
    """Return scores from 0 to 1; `softmax` also drops its last class, which is 'no object'."""
    scores = scores.astype(np.float32)
    if how == "sigmoid":
        return 1 / (1 + np.exp(-np.clip(scores, -80, 80)))
    if how == "softmax":
        grown = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return (grown / grown.sum(axis=-1, keepdims=True))[..., :-1]
    return scores


def each_class(corners: Any, scores: Any, least: float) -> Found:
    """Return a box for each class of each row whose score is high enough."""
    rows, classes = np.nonzero(scores >= max(least, 1e-9))
    return Found(corners[rows], scores[rows, classes], classes)


def best_class(corners: Any, scores: Any) -> Found:
    """Return a box for each row, of its best class."""
    classes = scores.argmax(axis=1)
    return Found(corners, scores[np.arange(len(scores)), classes], classes)


def are_fractions(points: Any) -> Optional[bool]:
    """Tell whether rows of coordinates are fractions of the input; None if there are none.

    Boxes of pixels that mostly lie within two pixels of the corner would be no picture's. A head
    without suppression may have a few rows far beyond 1, and rows of zeros fill a list up.
    """
    largest = np.abs(points).max(axis=1, initial=0)
    known = largest[np.isfinite(largest) & (largest > 0)]
    return bool(np.median(known) <= 2) if known.size else None
