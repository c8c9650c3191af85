# SPDX-License-Identifier: Apache-2.0
"""From a head's outputs to boxes in the input's pixels, or in the photograph's own."""

from __future__ import annotations

from typing import Any, Optional, Sequence, Tuple

import numpy as np

from client_sample.models.boxes import (
    Found,
    activated,
    are_fractions,
    best_class,
    corners_of,
    each_class,
)
from client_sample.models.heads import Dense, Listed, Pairs, Queries, Rows, is_whole
from client_sample.models.settings import ModelSettings

Size = Tuple[int, int]

_ROUNDING = 0.01  # Scores of half precision or quantized ones may be rounded up by less than this.


def decode(
    head: Any,
    outputs: Sequence[Any],
    size: Size,
    settings: ModelSettings,
    wanted: Optional[Sequence[int]] = None,
) -> Found:
    """Return what a model saw in its input of a size, the best first, suppression done.

    `wanted` are the classes that count, None for all. Raises ValueError if the scores are none.
    """
    if isinstance(head, Dense):
        found, dense = _dense(head, outputs[head.output], size, settings), True
    elif isinstance(head, Pairs):
        found, dense = _pairs(head, outputs, size, settings), head.dense
    else:
        found, dense = _done(head, outputs, size), False
    counts = np.isfinite(found.corners).all(axis=1)
    if wanted is not None:
        counts &= np.isin(found.classes, wanted)
    found = Found(*(part[counts] for part in found))
    if dense:
        ordered = found.best(settings.least_confidence, len(found.scores))
        return ordered.suppressed(settings.iou, settings.most_boxes)
    return found.best(settings.least_confidence, settings.most_boxes)


def _checked(scores: Any) -> Any:
    """Return scores from 0 to 1; raise ValueError for logits, and for columns of another kind."""
    if np.isnan(scores.min(initial=0)):  # Half precision overflows on a picture now and then.
        scores = np.nan_to_num(scores, nan=0.0)
    least, most = scores.min(initial=0), scores.max(initial=0)
    if not (least >= -_ROUNDING and most <= 1 + _ROUNDING):
        raise ValueError(
            f"its scores go from {least:.3g} to {most:.3g}, not from 0 to 1: give another --scores "
            "or --head, or export it with boxes, scores and classes in this order"
        )
    return scores


def _done(head: Any, outputs: Sequence[Any], size: Size) -> Found:
    if isinstance(head, Queries):
        table = _table(outputs[head.output])
        corners = corners_of(table[:, :4], "cxcywh")
        return best_class(_pixels(corners, size), _checked(table[:, 4:]))
    return _rows(head, outputs, size) if isinstance(head, Rows) else _listed(head, outputs, size)


def _table(values: Any) -> Any:
    """Return the rows of the one picture of a batch."""
    return values.reshape(values.shape[-2:]).astype(np.float32)


def _pixels(corners: Any, size: Size) -> Any:
    """Return corners in pixels, where they are fractions."""
    return corners * np.array(size * 2, np.float32) if are_fractions(corners) else corners


def _dense(head: Dense, values: Any, size: Size, settings: ModelSettings) -> Found:
    table = _table(values)
    if head.channels_first:
        table = table.T
    boxes, scores = table[:, :4], table[:, 4 + head.objectness :][:, : head.classes]
    if head.objectness:
        scores = scores * table[:, 4:5]
    if head.strides and _are_offsets(boxes, size, head.strides):
        boxes = _from_grid(boxes, size, head.strides)
    # The places of the grid lie all over the picture, so their centres tell the unit.
    elif are_fractions(boxes[:, :2]):
        boxes = boxes * np.array(size * 2, np.float32)
    near = _checked(scores).max(axis=1) >= settings.least_confidence
    return each_class(corners_of(boxes[near], "cxcywh"), scores[near], settings.least_confidence)


def _grid(size: Size, strides: Sequence[int]) -> Tuple[Any, Any]:
    """Return column and row of each place, and the stride of each."""
    corners, steps = [], []
    for stride in strides:
        columns, rows = -(-size[0] // stride), -(-size[1] // stride)
        x, y = np.meshgrid(np.arange(columns), np.arange(rows))
        corners.append(np.stack([x.ravel(), y.ravel()], axis=1))
        steps.append(np.full((columns * rows, 1), stride))
    return np.concatenate(corners), np.concatenate(steps).astype(np.float32)


def _are_offsets(boxes: Any, size: Size, strides: Sequence[int]) -> bool:
    """Tell whether centres are offsets from their places, or in pixels and near their places."""
    corners, step = _grid(size, strides)
    return bool(np.abs(boxes[:, :2]).mean() < np.abs(boxes[:, :2] / step - corners).mean())


def _from_grid(boxes: Any, size: Size, strides: Sequence[int]) -> Any:
    """Return YOLOX's boxes in pixels: offsets from a place, and logarithms of sides."""
    corners, step = _grid(size, strides)
    centres = (boxes[:, :2] + corners) * step
    return np.concatenate([centres, np.exp(np.clip(boxes[:, 2:], -20, 20)) * step], axis=1)


def _pairs(head: Pairs, outputs: Sequence[Any], size: Size, settings: ModelSettings) -> Found:
    boxes = _table(outputs[head.boxes_at])
    scores = _checked(activated(_table(outputs[head.scores_at]), head.scores))
    corners = _pixels(corners_of(boxes, head.boxes), size)
    if head.scores == "softmax":
        return best_class(corners, scores)
    return each_class(corners, scores, settings.least_confidence)


def _rows(head: Rows, outputs: Sequence[Any], size: Size) -> Found:
    rows = _table(outputs[head.output])
    if head.first and rows[:, 0].any():
        raise ValueError(
            "its rows of seven do not begin with the number of the picture, which is 0: rotated "
            "boxes are no upright ones, and others want another export"
        )
    table = rows[:, head.first :]
    # Empty rows fill the table up, and what they hold tells nothing.
    table = table[(table[:, :4] != 0).any(axis=1)]
    one, other = table[:, 4], table[:, 5]
    # A picture may have objects of class 0 alone, and scores that are all 1.
    is_class_first = is_whole(one) and not is_whole(other)
    scores, classes = (other, one) if is_class_first else (one, other)
    corners = _pixels(corners_of(table[:, :4], head.boxes), size)
    return Found(corners, _checked(scores), classes.astype(np.int64))


def _listed(head: Listed, outputs: Sequence[Any], size: Size) -> Found:
    table = _table(outputs[head.boxes_at])
    scores = table[:, 4] if head.scores_at < 0 else outputs[head.scores_at].reshape(-1)
    classes = outputs[head.classes_at].reshape(-1)
    count = len(table)
    if head.count_at is not None:
        count = int(min(max(float(outputs[head.count_at].reshape(-1)[0]), 0), count))
    corners = _pixels(corners_of(table[:count, :4], head.boxes), size)
    confidences = _checked(scores[:count].astype(np.float32))
    return Found(corners, confidences, classes[:count].round().astype(np.int64))
