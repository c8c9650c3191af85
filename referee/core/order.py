# SPDX-License-Identifier: Apache-2.0
"""The order in which a session hands out the images: the numbers it shows, and back again."""

from __future__ import annotations

import random

import numpy as np
from numpy.typing import NDArray


def image_order(count: int, seed: int | None) -> NDArray[np.int64]:
    """Return, for each number 1…count that a contestant asks for, the manifest's image id.

    Entry k-1 belongs to number k. A seed of None keeps the manifest's order; any other gives a
    permutation that is the same on every machine and Python since 3.2, whose Mersenne Twister
    and `sample` are documented as reproducible.
    """
    if seed is None:
        return np.arange(1, count + 1, dtype=np.int64)
    return np.asarray(random.Random(seed).sample(range(1, count + 1), count), dtype=np.int64)


def to_manifest_ids(numbers: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """Translate numbers that a contestant posted into image ids of the manifest.

    A number outside 1…count names no image; it stays as it is when that also names none in the
    manifest, which holds exactly the ids 1…count.
    """
    known = (numbers >= 1) & (numbers <= len(order))
    translated = numbers.copy()
    translated[known] = order[numbers[known] - 1]
    return translated
