# SPDX-License-Identifier: Apache-2.0
"""The order in which a session hands out the images: from numbers to image ids and back."""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray


def image_order(count: int, seed: int | None) -> NDArray[np.int64]:
    """Return the manifest's image id for each number 1…count that a contestant may ask for.

    Entry k-1 is the image id of number k. Without a seed the order is the manifest's. A seed gives
    the same permutation on every machine and on every Python since 3.2, because Python documents
    its Mersenne Twister and `sample` as reproducible.
    """
    if seed is None:
        return np.arange(1, count + 1, dtype=np.int64)
    return np.asarray(random.Random(seed).sample(range(1, count + 1), count), dtype=np.int64)


def to_manifest_ids(numbers: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Translate the numbers that a contestant posted into the manifest's image ids.

    A number outside 1…count stays as it is. The manifest holds exactly the ids 1…count, so such a
    number names no image there either.
    """
    known = (numbers >= 1) & (numbers <= len(order))
    translated = numbers.copy()
    translated[known] = order[numbers[known] - 1]
    return translated
