# SPDX-License-Identifier: Apache-2.0
"""The order of a class's detections, and average precision from its true positives' places.

The devkit orders detections by falling confidence, then by image, then by row. Here each detection
has a key, and the order is that of ascending keys. A key is two numbers in one, a pair:

- first minus the confidence;
- then its place among equal confidences, an integer below 2^53 made of image position and row.

numpy has one type of pairs that it sorts, searches and merges at full speed: complex numbers, which
it orders by real part, then by imaginary part. So a vector of keys is a complex vector, here and
nowhere else: other modules compare keys, and ask this one for what is in them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from referee.core.sealed import seal
from referee.core.shown import Shown

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
KEY = np.complex128
"""The type of one key."""

Keys = NDArray[np.complex128]
"""A vector of keys, (n,). All keys of a score differ."""

NO_KEYS: Keys = np.empty(0, dtype=KEY)


def sort_keys(confidence: Floats, image: Ints, row: Ints, image_count: int) -> Keys:
    """Return the keys of detections in the order of their rows, exact and unique, (n,).

    `image` has their images' positions, below `image_count`.
    """
    row_bits = _row_bits(image_count)
    if len(row) and int(row[-1]) >= 2**row_bits:
        raise OverflowError(f"more than 2^{row_bits} rows over {image_count} images")
    keys = np.empty(len(row), dtype=KEY)
    # 0.0 - x and not -x, because confidences -0.0 and 0.0 tie and must give the same key.
    keys.real = 0.0 - confidence
    keys.imag = image * 2.0**row_bits + row
    return keys


def confidences_of(keys: Keys) -> Floats:
    """Return the confidences within keys, shape (n,)."""
    return 0.0 - keys.real


def images_of(keys: Keys, image_count: int) -> Ints:
    """Return the image positions within keys, shape (n,)."""
    return (keys.imag // 2.0 ** _row_bits(image_count)).astype(np.int64)


def _behind_equals(keys: Keys) -> Keys:
    """Return for each key one behind all keys of the same confidence."""
    behind = keys.copy()
    behind.imag = math.inf
    return behind


def _row_bits(image_count: int) -> int:
    """Return how many of a double's 53 integer bits the image position leaves for the row."""
    return 53 - max(image_count - 1, 1).bit_length()


def sort(keys: Keys) -> Keys:
    """Return keys in ascending order, (n,).

    numpy sorts single numbers several times faster than pairs. So this sorts by the confidences,
    and sorts only keys of equal confidence as pairs. These are few unless confidences are coarse.
    """
    falling = keys.real.copy()
    ordered: Keys = keys[np.argsort(falling)]
    falling = ordered.real
    ties = falling[1:] == falling[:-1]
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

    At each of t true positives, in the order of the detections, `found` counts the true positives
    and `seen` the detections up to and including it. `truths` is the number N > 0 of truth boxes.
    Recall rises by 1/N at each true positive. The envelope is the highest precision found/seen
    from that true positive on. The area is the sum of envelope times 1/N.
    """
    envelope = np.maximum.accumulate((found / seen)[::-1])
    return float(envelope.sum() / truths)


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Shown):
    """One class's precision-recall curve, one point per detection in the devkit's order.

    `confidence`, `recall` and `precision` have shape (n,). `recall` is NaN if the class has no
    truth box. The curve is raw, without the end points and the envelope of VOCap.m.
    """

    confidence: Floats
    recall: Floats
    precision: Floats

    def __post_init__(self) -> None:
        seal(self)

    def _facts(self) -> Mapping[str, object]:
        return {"points": len(self.recall), "recall": float(max(self.recall, default=0.0))}


@dataclass(frozen=True, eq=False)
class ClassScore:
    """The detections of one class, from which its AP and its curve follow.

    `order` (n,) has the keys of its detections, ascending. `hits` (t,) has the keys of its true
    positives, ascending. `truths` is the number of its truth boxes and may be 0.
    """

    order: Keys
    hits: Keys
    truths: int

    def __post_init__(self) -> None:
        seal(self)

    def ap(self) -> float | None:
        """Return the devkit's AP, or None if the class has no truth box."""
        if not self.truths:
            return None
        hits_seen = np.arange(1, len(self.hits) + 1)
        return average_precision(hits_seen, np.searchsorted(self.order, self.hits) + 1, self.truths)

    def grouped_ap(self) -> float | None:
        """Return the AP when detections of equal confidence enter together.

        A group of equal confidences gives one precision-recall point. So the value does not depend
        on the order of images, nor on the order of rows, except for the matching inside an image.
        No order of the images gives a lower AP. Within an image the earlier of two equal
        detections matches first, so another order of rows may match otherwise, and give less.
        """
        if not self.truths:
            return None
        ends = _behind_equals(self.hits)
        hits_seen = np.searchsorted(self.hits, ends, side="right")
        return average_precision(
            hits_seen, np.searchsorted(self.order, ends, side="right"), self.truths
        )

    def curve(self) -> Curve:
        """Return the precision-recall curve, one point per detection."""
        hit = np.zeros(len(self.order), dtype=np.int64)
        hit[np.searchsorted(self.order, self.hits)] = 1
        hits_seen = np.cumsum(hit)
        seen = np.arange(1, len(hit) + 1)
        recall = hits_seen / self.truths if self.truths else np.full(len(hit), math.nan)
        return Curve(
            confidence=confidences_of(self.order), recall=recall, precision=hits_seen / seen
        )
