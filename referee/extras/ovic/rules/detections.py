# SPDX-License-Identifier: Apache-2.0
"""What a detector says of an image: the rows that its count covers, clipped to the image.

TFLite_Detection_PostProcess decodes boxes from anchors and does not clip them. Behind its count it
leaves what the memory held before, so nothing there is judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Output = NDArray[Any]

FARTHEST_SIDES, LONGEST_SIDES = 0.5, 10.0
"""A box that is farther from the image than this, or reaches farther out, is no box of the image.

Anchors of EfficientDet are up to 3.6 sides long and lie in the image, so a decoded box may reach
out by more than a side. Corners in pixels or in percent are far beyond both bounds.
"""

# The scores of a quantized model are rounded up by less than this.
_ROUNDING = 0.01


@dataclass(frozen=True)
class Overhang:
    """How far boxes reach beyond the image: how many of `of` do, and `most` as a share of a side.

    `outside` counts those with nothing in the image, and `above_one` the boxes whose classes have
    scores that sum to more than 1.
    """

    boxes: int = 0
    of: int = 0
    most: float = 0.0
    outside: int = 0
    above_one: int = 0

    def __add__(self, other: Overhang) -> Overhang:
        """Return what both say together."""
        return Overhang(
            self.boxes + other.boxes,
            self.of + other.of,
            max(self.most, other.most),
            self.outside + other.outside,
            self.above_one + other.above_one,
        )


def said(outputs: Sequence[Output]) -> list[Output]:
    """Return a detector's boxes, classes and scores as far as its count goes, then the count.

    The first three lose the dimension of the batch. A count that is no number covers nothing.
    """
    count = float(outputs[3].reshape(-1)[0])
    rows = int(min(max(count, 0.0), outputs[1].shape[1])) if np.isfinite(count) else 0
    return [*(output[0, :rows].astype(np.float64) for output in outputs[:3]), outputs[3]]


def clipped(boxes: Output) -> Output:
    """Return boxes, as shares of the image, without what lies beyond it."""
    return np.clip(boxes, 0.0, 1.0)


def beyond(boxes: Output) -> NDArray[np.float64]:
    """Return for each box how far it reaches beyond the image, as a share of its side."""
    reach: NDArray[np.float64] = np.maximum(-boxes, boxes - 1).max(axis=1, initial=0.0)
    return reach


def distance(boxes: Output) -> NDArray[np.float64]:
    """Return for each box how far all of it is from the image, as a share of its side."""
    away = np.concatenate([-boxes[:, 2:], boxes[:, :2] - 1], axis=1)
    farthest: NDArray[np.float64] = away.max(axis=1, initial=0.0)
    return farthest


def overhang_of(outputs: Sequence[Output]) -> Overhang:
    """Return what one image's outputs of a detector say of its boxes."""
    boxes, classes, scores, _ = said(outputs)
    reach = beyond(boxes)
    return Overhang(
        boxes=int((reach > 0).sum()),
        of=len(boxes),
        most=float(reach.max(initial=0.0)),
        outside=int((distance(boxes) > 0).sum()),
        above_one=_above_one(boxes, classes, scores),
    )


def overhang_of_all(runs: Iterable[Sequence[Output]]) -> Overhang:
    """Return what the outputs for several images say."""
    return sum(map(overhang_of, runs), Overhang())


def overhang_texts(overhang: Overhang) -> list[str]:
    """Return remarks for people about boxes that break no rule; none about ordinary ones."""
    texts = []
    if overhang.boxes:
        outside = f", {overhang.outside} with nothing in it" if overhang.outside else ""
        texts.append(
            f"{overhang.boxes} of {overhang.of} boxes reach beyond the image, by up to"
            f" {overhang.most:.3g} of its side{outside}. The score cuts them off there."
        )
    if overhang.above_one:
        texts.append(
            f"The scores of several classes sum to more than 1 in {overhang.above_one} of the "
            "boxes. The score takes them as they are. Core ML reads the sum as that of any object."
        )
    return texts


def _above_one(boxes: Output, classes: Output, scores: Output) -> int:
    """Count boxes that several classes share, with scores that sum to more than 1."""
    if not len(boxes):
        return 0
    rows, first = np.unique(np.column_stack([boxes, classes]), axis=0, return_index=True)
    which = np.unique(rows[:, :4], axis=0, return_inverse=True)[1].reshape(-1)
    several = np.bincount(which) > 1
    return int((several & (np.bincount(which, scores[first]) > 1 + _ROUNDING)).sum())
