# SPDX-License-Identifier: Apache-2.0
"""Outputs of detectors' heads with one known box, as each family of exporters writes them.

The photograph is 131 x 77 pixels, its box is that of `BOX`, and the input is 64 x 64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

PHOTOGRAPH = (131, 77)
BOX = (20.0, 10.0, 70.0, 60.0)
"""Left, upper, right and lower side."""
CLASS = 2
SCORE = 0.875
ROW = (CLASS, SCORE, 20.0, 10.0, 69.0, 59.0)
"""The row of an answer: the last pixel inside a box is one less than its side."""

STRETCHED = tuple(side * 64 / whole for side, whole in zip(BOX, PHOTOGRAPH * 2, strict=True))
# The photograph becomes 64 x 38, with 13 rows of grey above it.
LETTERBOXED = tuple(
    side * new / whole + above
    for side, whole, new, above in zip(BOX, PHOTOGRAPH * 2, (64, 38) * 2, (0, 13) * 2, strict=True)
)
CORNERED = tuple(
    side * new / whole for side, whole, new in zip(BOX, PHOTOGRAPH * 2, (64, 38) * 2, strict=True)
)

Arrays = list[tuple[str, np.ndarray]]


def centred(box: Sequence[float]) -> list[float]:
    """Return the centre and the sides of a box."""
    left, top, right, bottom = box
    return [(left + right) / 2, (top + bottom) / 2, right - left, bottom - top]


def _grid(rows: int, width: int, unit: float) -> np.ndarray:
    """Return rows whose boxes lie all over the input, with scores of nothing."""
    table = np.zeros((rows, width), np.float32)
    table[:, :4] = np.linspace([1, 1, 2, 2], [63, 63, 2, 2], rows) * unit
    return table


def yolo8(unit: float = 1.0, more: int = 0, box: Sequence[float] = LETTERBOXED) -> np.ndarray:
    """Return [1, 4+3, 84]; a second, worse box of the class nearly covers the first."""
    table = _grid(84, 7 + more, unit)
    table[40, :7] = [*np.array(centred(box)) * unit, 0, 0, SCORE]
    table[41, :7] = table[40, :7]
    table[41, 0] += 0.5 * unit
    table[41, 6] = 0.5
    return table.T[None]


def yolo5(rows: int = 252) -> np.ndarray:
    """Return [1, 252, 5+3], three anchors a place: the score is that of object and class."""
    table = _grid(rows, 8, 1.0)
    table[100 % rows] = [*centred(LETTERBOXED), SCORE, 0, 0, 1.0]
    return table[None]


def yolox() -> np.ndarray:
    """Return [1, 84, 5+3] of offsets and logarithms: the box is at the place 3, 2 of stride 16."""
    table = np.zeros((84, 8), np.float32)
    x, y, width, height = np.array(centred(CORNERED)) / 16
    place = 64 + 2 * 4 + 3
    table[place] = [x - 3, y - 2, np.log(width), np.log(height), SCORE, 0, 0, 1.0]
    return table[None]


def decoded() -> np.ndarray:
    """Return the same rows of a YOLOX or a version 6 whose boxes are in pixels already."""
    table = yolox()[0]
    strides = np.repeat([8, 16, 32], [64, 16, 4])
    places = [(k % side, k // side) for side in (8, 4, 2) for k in range(side * side)]
    table[:, :2] = (table[:, :2] + np.array(places)) * strides[:, None]
    table[:, 2:4] = np.exp(table[:, 2:4]) * strides[:, None]
    return table[None]


def rows_of_six(box: Sequence[float] = LETTERBOXED, class_first: bool = False) -> np.ndarray:
    """Return [1, 5, 6], rows of zeros behind the box."""
    table = np.zeros((5, 6), np.float32)
    table[0] = [*box, *((CLASS, SCORE) if class_first else (SCORE, CLASS))]
    return table[None]


def logits(softmax: bool) -> np.ndarray:
    """Return [1, 10, 3] with a logit for SCORE, or [1, 10, 4] with 'no object' at the end."""
    values = np.full((1, 10, 4 if softmax else 3), -20, np.float32)
    if softmax:
        values[:, :, 3] = 20
        values[0, 4] = [-20, -20, np.log(SCORE), np.log(1 - SCORE)]
    else:
        values[0, 4, CLASS] = np.log(SCORE / (1 - SCORE))
    return values


def queries(box: Sequence[float] = STRETCHED) -> np.ndarray:
    """Return [1, 10, 4] in fractions, centre and sides."""
    values = np.full((1, 10, 4), 0.5, np.float32)
    values[0, 4] = np.array(centred(box)) / 64
    return values


def listed(box: Sequence[float], dtype: Any = np.int64) -> Arrays:
    """Return boxes, labels and scores without a batch, as torchvision's."""
    boxes = np.array([[1, 1, 3, 3], box], np.float32)
    return [
        ("boxes", boxes),
        ("labels", np.array([1, CLASS], dtype)),
        ("scores", np.array([0.25, SCORE], np.float32)),
    ]


def tensorflow(box: Sequence[float] = STRETCHED) -> Arrays:
    """Return TensorFlow's four outputs: y before x, in fractions of the photograph.

    What is behind the count means nothing.
    """
    left, top, right, bottom = np.array(box) / 64
    boxes = np.full((1, 3, 4), [0.1, 0.1, 0.9, 0.9], np.float32)
    boxes[0, 0] = [top, left, bottom, right]
    return [
        ("detection_boxes", boxes),
        ("detection_classes", np.array([[CLASS, 0, 0]], np.float32)),
        ("detection_scores", np.array([[SCORE, 0.95, 0.95]], np.float32)),
        ("num_detections", np.array([1], np.float32)),
    ]


ULTRALYTICS = {
    "names": "{0: 'cat', 1: 'dog', 2: 'bird'}",
    "stride": "32",
    "task": "detect",
    "imgsz": "[64, 64]",
    "author": "Ultralytics",
    "description": "Ultralytics YOLO11n model",
}
RTDETR = ULTRALYTICS | {"description": "Ultralytics rtdetr-l model"}


def _rtdetr_rows() -> np.ndarray:
    table = np.concatenate([queries()[0], np.zeros((10, 3), np.float32)], axis=1)
    table[4, 4 + CLASS] = SCORE
    return table[None]


def _seven() -> np.ndarray:
    """Return version 7's rows: the number in the batch, box, class, score."""
    return np.array([[0, *LETTERBOXED, CLASS, SCORE]], np.float32)


def _nms_plugin() -> Arrays:
    boxes = np.zeros((1, 4, 4), np.float32)
    boxes[0, 0] = LETTERBOXED
    return [
        ("num_dets", np.array([[1]], np.int32)),
        ("det_boxes", boxes),
        ("det_scores", np.array([[SCORE, 0, 0, 0]], np.float32)),
        ("det_classes", np.array([[CLASS, 0, 0, 0]], np.int32)),
    ]


def _dets() -> Arrays:
    dets = np.zeros((1, 4, 5), np.float32)
    dets[0, 0] = [*STRETCHED, SCORE]
    return [("dets", dets), ("labels", np.array([[CLASS, 0, 0, 0]], np.int64))]


def split(background: bool) -> Arrays:
    """Return boxes and scores of a grid, as YOLO-NAS's; or of an SSD, with a background first."""
    table = yolo8(box=STRETCHED)[0].T
    corners = np.concatenate(
        [table[:, :2] - table[:, 2:4] / 2, table[:, :2] + table[:, 2:4] / 2], axis=1
    )
    scores = table[:, 4:]
    if background:
        corners, scores = np.tile(corners, (13, 1)), np.tile(scores, (13, 1))
        scores = np.concatenate([1 - scores.sum(axis=1, keepdims=True), scores], axis=1)
        corners = corners / 64
    return [("scores", scores[None]), ("boxes", corners[None])]


FAMILIES: dict[str, tuple[Callable[[], Arrays], dict[str, str], dict[str, Any]]] = {
    "yolo 8 to 13": (lambda: [("output0", yolo8())], ULTRALYTICS, {}),
    "yolo 8, fractions": (lambda: [("output0", yolo8(1 / 64))], ULTRALYTICS, {}),
    "yolo 8, turned": (lambda: [("output0", yolo8().transpose(0, 2, 1))], ULTRALYTICS, {}),
    "yolo 8, masks": (
        lambda: [("output0", yolo8(more=32)), ("output1", np.zeros((1, 32, 16, 16), np.float32))],
        ULTRALYTICS | {"task": "segment"},
        {},
    ),
    "yolo 8, without metadata": (
        lambda: [("output0", yolo8())],
        {},
        {"like": "ultralytics", "names": "order"},
    ),
    "yolo 5": (lambda: [("output", yolo5())], ULTRALYTICS, {}),
    "yolo 6": (
        lambda: [("outputs", yolo5(84))],
        {},
        {"like": "ultralytics", "head": "yolo5", "names": "order"},
    ),
    "yolox": (lambda: [("output", yolox())], {}, {"like": "yolox", "names": "order"}),
    "yolox, decoded": (lambda: [("output", decoded())], {}, {"like": "yolox", "names": "order"}),
    "yolox, told by its names": (
        lambda: [("output", yolox())],
        {"names": "cat,dog,bird"},
        {"like": "ultralytics", "fit": "corner"},
    ),
    "yolo 4, an axis in the middle": (
        lambda: [
            (name, values[:, :, None]) if name == "boxes" else (name, values)
            for name, values in split(False)
        ],
        {},
        {"like": "torchvision", "scores": "plain", "names": "order"},
    ),
    "suppression inside": (lambda: [("output0", rows_of_six())], ULTRALYTICS, {}),
    "suppression inside, class first": (
        lambda: [("output0", rows_of_six(class_first=True))],
        ULTRALYTICS,
        {},
    ),
    "yolo 7, suppression inside": (
        lambda: [("output", _seven())],
        {},
        {"like": "ultralytics", "boxes": "xyxy", "names": "order"},
    ),
    "suppression by TensorRT's plugin": (_nms_plugin, ULTRALYTICS, {}),
    "rt-detr of ultralytics": (lambda: [("output0", _rtdetr_rows())], RTDETR, {}),
    "rt-detr": (
        lambda: [("logits", logits(False)), ("pred_boxes", queries())],
        {},
        {"like": "rtdetr", "names": "order"},
    ),
    "detr": (
        lambda: [("logits", logits(True)), ("pred_boxes", queries())],
        {},
        {"like": "detr", "names": "order"},
    ),
    "rf-detr": (
        lambda: [("dets", queries()), ("labels", logits(False))],
        {},
        {"like": "rfdetr", "names": "order"},
    ),
    "torchvision": (lambda: listed(STRETCHED), {}, {"like": "torchvision", "names": "order"}),
    "retinanet of torchvision": (
        lambda: [listed(STRETCHED)[k] for k in (0, 2, 1)],
        {},
        {"like": "torchvision", "names": "order"},
    ),
    "tensorflow": (tensorflow, {}, {"like": "tensorflow", "names": "order"}),
    "yolo-nas": (
        lambda: split(False),
        {},
        {"like": "torchvision", "scores": "plain", "names": "order"},
    ),
    "mmdetection": (
        _dets,
        {},
        {"fit": "stretch", "pixels": "0-1", "colours": "rgb", "names": "order"},
    ),
}
"""Outputs, metadata and options by the name of a family."""
