# SPDX-License-Identifier: Apache-2.0
"""A small detector that really looks at pixels: it learns the colours of each class.

It learns how often a colour lies in a box of a class, and paints that share over a picture
(histogram back-projection, Swain and Ballard, 1991). Connected bright areas become boxes. It
knows no shapes, so it suits pictures such as those of `referee.demo.signs` alone. Whatever a camera
does to colours and edges costs it accuracy.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
Row = tuple[int, float, float, float, float, float]
"""A detection: class id, confidence, and the inclusive corners xmin, ymin, xmax, ymax."""

_BITS = 4  # of each colour's value: 4,096 colours
_PRIOR = 30.0  # pixels that a colour must outweigh, so that rare colours prove nothing
_BLUR_PX = 7
_LEVEL = 0.25  # of the share of a class
_SMALLEST_PX = 60  # pixels of an area
_MOST = 40  # boxes of a picture


@dataclass(frozen=True, eq=False)
class ColourDetector:
    """A detector with the share of each class in each colour (classes, colours)."""

    class_ids: tuple[int, ...]
    shares: NDArray[np.float32]

    def __call__(self, pixels: Pixels) -> list[Row]:
        """Return the detections in a picture (height, width, RGB), the surest first."""
        maps = self.shares[:, _colours(pixels)]
        rows = [
            row
            for class_id, share in zip(self.class_ids, maps, strict=True)
            for row in _areas(class_id, share)
        ]
        return sorted(rows, key=lambda row: -row[1])[:_MOST]


def learn(images: Path, ground_truth: Path) -> ColourDetector:
    """Learn from a folder of pictures and its COCO ground truth."""
    truth = json.loads(ground_truth.read_text(encoding="utf-8"))
    class_ids = tuple(sorted(category["id"] for category in truth["categories"]))
    inside = np.zeros((len(class_ids), 1 << 3 * _BITS))
    seen = np.zeros(1 << 3 * _BITS)
    boxes: dict[int, list[tuple[int, list[float]]]] = {}
    for row in truth["annotations"]:
        boxes.setdefault(row["image_id"], []).append((row["category_id"], row["bbox"]))
    for image in truth["images"]:
        colours = _colours(_read(images / image["file_name"]))
        seen += np.bincount(colours.ravel(), minlength=len(seen))
        for class_id, (x, y, width, height) in boxes.get(image["id"], ()):
            part = colours[round(y) : round(y + height), round(x) : round(x + width)]
            inside[class_ids.index(class_id)] += np.bincount(part.ravel(), minlength=len(seen))
    return ColourDetector(class_ids, (inside / (seen + _PRIOR)).astype(np.float32))


def _areas(class_id: int, share: NDArray[np.float32]) -> Iterator[Row]:
    """Yield a box for each connected area whose colours speak for the class."""
    smooth = cv2.blur(share, (_BLUR_PX, _BLUR_PX))
    mask = (smooth > _LEVEL).astype(np.uint8)
    _, _, areas, _ = cv2.connectedComponentsWithStats(mask)
    for x, y, width, height, size in areas[1:].tolist():
        if size < _SMALLEST_PX:
            continue
        part = smooth[y : y + height, x : x + width]
        sure = float(part.mean()) * min(1.0, size / (0.5 * width * height))
        yield class_id, min(1.0, sure), x, y, x + width - 1, y + height - 1


def _colours(pixels: Pixels) -> NDArray[np.int32]:
    parts = (pixels >> (8 - _BITS)).astype(np.int32)
    return (parts[..., 0] << 2 * _BITS) | (parts[..., 1] << _BITS) | parts[..., 2]


def _read(path: Path) -> Pixels:
    pixels = cv2.imread(str(path), cv2.IMREAD_COLOR_RGB)
    if pixels is None:
        raise OSError(f"{path} is no picture.")
    return np.asarray(pixels, dtype=np.uint8)


def coco_rows(image_id: int, rows: Iterable[Row]) -> list[dict[str, object]]:
    """Return detections of an image as COCO results."""
    return [
        {
            "image_id": image_id,
            "category_id": class_id,
            "bbox": [xmin, ymin, xmax - xmin + 1, ymax - ymin + 1],
            "score": sure,
        }
        for class_id, sure, xmin, ymin, xmax, ymax in rows
    ]
