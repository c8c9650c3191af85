# SPDX-License-Identifier: Apache-2.0
"""Order of a class's detections, and average precision from the places of its true positives."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Keys = NDArray[np.complex128]


def sort_keys(confidence: Floats, image: Ints, row: Ints, image_count: int) -> Keys:
    """Return keys, shape (n,), whose ascending order is the devkit's order of detections.

    That is falling confidence, then image position, then row. numpy orders complex numbers by
    real part, then by imaginary part: the real part is minus the confidence, and the imaginary
    part an integer below 2^53 made of image position and row, so every key is exact and unique.
    """
    row_bits = _row_bits(image_count)
    if len(row) and int(row[-1]) >= 2**row_bits:
        raise OverflowError(f"more than 2^{row_bits} rows over {image_count} images")
    keys = np.empty(len(row), dtype=np.complex128)
    # 0.0 - x instead of -x: both zeros must give the same key, since -0.0 and 0.0 tie.
    keys.real = 0.0 - confidence
    keys.imag = image * 2.0**row_bits + row
    return keys


def images_of(keys: Keys, image_count: int) -> Ints:
    """Return the image positions that keys were made with, shape (n,)."""
    return (keys.imag // 2.0 ** _row_bits(image_count)).astype(np.int64)


def _row_bits(image_count: int) -> int:
    """Return how many of the 53 bits of a double's integer remain for the row."""
    return 53 - max(image_count - 1, 1).bit_length()


def sort(keys: Keys) -> Keys:
    """Return keys in ascending order, (n,).

    numpy sorts real numbers several times faster than complex ones; only what ties in its real
    part, which is little unless confidences are coarse, is sorted as complex numbers.
    """
    real = keys.real.copy()
    ordered: Keys = keys[np.argsort(real)]
    real = ordered.real
    ties = real[1:] == real[:-1]
    if ties.any():
        tied = np.flatnonzero(np.append(ties, False) | np.append(False, ties))
        ordered[tied] = np.sort(ordered[tied])
    return ordered


def merge(ordered: Keys, more: Keys) -> Keys:
    """Merge two ascending vectors of keys into a new one; linear in their length."""
    if not len(ordered):
        return more
    merged: Keys = np.insert(ordered, np.searchsorted(ordered, more), more)
    return merged


def average_precision(found: Ints, seen: Ints, truths: int) -> float:
    """Return the area under the precision-recall curve, all points (VOCap.m).

    `found` counts true positives and `seen` detections, up to and including each true positive,
    in the order of the detections, shapes (t,); `truths` is the number N > 0 of truth boxes. The
    curve rises in recall by 1/N at each true positive; precision found/seen is made
    non-increasing from the right, and the steps times that envelope are summed.
    """
    envelope = np.maximum.accumulate((found / seen)[::-1])
    return float(envelope.sum() / truths)


@dataclass(frozen=True, eq=False)
class Curve:
    """One class's precision-recall curve, one point per detection in the devkit's order.

    `confidence`, `recall` and `precision` have shape (n,); `recall` is NaN where the class has no
    truth box. Neither sentinels nor envelope are applied.
    """

    confidence: Floats
    recall: Floats
    precision: Floats


@dataclass(frozen=True, eq=False)
class ClassScore:
    """What one class's score is made of.

    `order` (n,) has the keys of its detections, ascending; `hits` (t,) those of its true
    positives, ascending; `truths` is the number of its truth boxes, 0 where it has none.
    """

    order: Keys
    hits: Keys
    truths: int

    def ap(self) -> float | None:
        """Return the devkit's AP, or None where the class has no truth box."""
        if not self.truths:
            return None
        found = np.arange(1, len(self.hits) + 1)
        return average_precision(found, np.searchsorted(self.order, self.hits) + 1, self.truths)

    def grouped_ap(self) -> float | None:
        """Return the AP in which detections of equal confidence enter together.

        A group of equal confidences gives one precision-recall point, so the value depends
        neither on the order of rows nor on that of images (matching inside one image still
        follows the rows); no order of the ties gives less.
        """
        if not self.truths:
            return None
        ends = self.hits.copy()
        ends.imag = math.inf
        found = np.searchsorted(self.hits, ends, side="right")
        return average_precision(
            found, np.searchsorted(self.order, ends, side="right"), self.truths
        )

    def curve(self) -> Curve:
        """Return the precision-recall curve, one point per detection."""
        hit = np.zeros(len(self.order), dtype=np.int64)
        hit[np.searchsorted(self.order, self.hits)] = 1
        found = np.cumsum(hit)
        seen = np.arange(1, len(hit) + 1)
        recall = found / self.truths if self.truths else np.full(len(hit), math.nan)
        return Curve(confidence=0.0 - self.order.real, recall=recall, precision=found / seen)
