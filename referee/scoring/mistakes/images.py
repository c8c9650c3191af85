# SPDX-License-Identifier: Apache-2.0
"""The readings of image numbers: the images that a contestant may have meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from referee.core.order import to_manifest_ids
from referee.scoring.mistakes.posted import Fault, Posted

Ints = NDArray[np.int64]

_NO_IMAGE = 0


@dataclass(frozen=True, eq=False)
class ImageReading:
    """One reading of the image numbers: the image id of each row, and the faults assumed."""

    faults: tuple[Fault, ...]
    image_id: Ints


def image_readings(posted: Posted) -> Iterator[ImageReading]:
    """Yield every reading of the image numbers; the first is the protocol's.

    A row whose number names no image gets an id outside the contest.
    """
    numbers, order = posted.detections.image_id, posted.order
    count = len(order)
    yield ImageReading((), _shown(numbers, order))
    low = (
        "images_off_by_one",
        f"The image numbers are one too low. The contest counts its images from 1 to {count}, "
        "not from 0.",
    )
    yield ImageReading((Fault(*low),), _shown(numbers + 1, order))
    high = (
        "images_off_by_one",
        f"The image numbers are one too high. The contest counts its images from 1 to {count}: "
        "send the number under which you asked for the image.",
    )
    yield ImageReading((Fault(*high),), _shown(numbers - 1, order))
    own = np.arange(1, count + 1)
    if not np.array_equal(posted.source_ids, own):
        source = (
            "image_ids_of_the_source",
            "The image ids are those of the ground truth's own file. The contest counts its images "
            f"from 1 to {count}: send the number under which you asked for the image.",
        )
        yield ImageReading((Fault(*source),), _by_source(numbers, posted.source_ids))
    if not np.array_equal(order, own):
        straight = (
            "image_order_ignored",
            "The answers follow the order of the ground truth, but this session showed the images "
            "in an order of its own. Answers that were stored beforehand cannot match: send for "
            "each number what your detector sees in the image that you got.",
        )
        yield ImageReading((Fault(*straight),), _shown(numbers, own))


def _shown(numbers: Ints, order: Ints) -> Ints:
    inside = (numbers >= 1) & (numbers <= len(order))
    return to_manifest_ids(np.where(inside, numbers, _NO_IMAGE), order)


def _by_source(numbers: Ints, source_ids: Ints) -> Ints:
    ranked = np.argsort(source_ids)
    place = np.searchsorted(source_ids[ranked], numbers).clip(max=len(ranked) - 1)
    candidate = ranked[place]
    return np.where(source_ids[candidate] == numbers, candidate + 1, _NO_IMAGE)
