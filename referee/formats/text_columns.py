# SPDX-License-Identifier: Apache-2.0
"""Columns of texts converted to arrays in few calls, for answers of about five boxes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

# Any number with fewer digits than this fits into 64 bits.
_PLAIN_DIGITS = 18


def to_ids(
    images: Sequence[str],
    classes: Sequence[str],
    image: Callable[[str], int],
    klass: Callable[[str], int],
) -> NDArray[np.int64] | None:
    """Return images and classes as two rows, or None when a text is not an id.

    All texts must be ASCII. `image` and `klass` read the texts of a column that is not all plain
    digits, and raise ValueError for a text that is not an id.
    """
    numbers = chain(_whole(images, image), _whole(classes, klass))
    try:
        return np.fromiter(numbers, np.int64, 2 * len(images)).reshape(2, len(images))
    except ValueError:
        return None


def _whole(texts: Sequence[str], convert: Callable[[str], int]) -> Iterator[int]:
    if "".join(texts).isdigit() and max(map(len, texts)) < _PLAIN_DIGITS:
        return map(int, texts)
    return map(convert, texts)


def to_floats(
    columns: Sequence[Sequence[str]], convert: Callable[[str], float] = float
) -> NDArray[np.float64] | None:
    """Return each column as a row, or None when a text is not a number."""
    rows = len(columns[0])
    # One call for all columns: with five boxes, a numpy call costs more than converting them.
    numbers = map(convert, chain.from_iterable(columns))
    try:
        table = np.fromiter(numbers, np.float64, len(columns) * rows)
    except ValueError:
        return None
    return table.reshape(len(columns), rows)
