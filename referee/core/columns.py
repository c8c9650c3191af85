# SPDX-License-Identifier: Apache-2.0
"""Columns of ids and of boxes from whatever numpy makes arrays of."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray


def whole_numbers(values: ArrayLike, name: str) -> NDArray[np.int64]:
    """Return int64 of shape (n,); raise ValueError, with the name, for anything else.

    Floats count if each is a whole number, as a table with gaps gives them.
    """
    found = np.asarray(values)
    if found.ndim != 1:
        raise ValueError(f"{name} must be a vector, not of shape {found.shape}")
    if not len(found):
        return np.empty(0, dtype=np.int64)
    if found.dtype.kind not in "iuf" or (found.dtype.kind == "f" and (found % 1 != 0).any()):
        raise ValueError(f"{name} must be whole numbers")
    return np.asarray(found, dtype=np.int64)


def corners(values: ArrayLike) -> NDArray[np.float64]:
    """Return float64 of shape (n, 4), the columns xmin, ymin, xmax, ymax.

    Raises ValueError for any other shape.
    """
    found = np.asarray(values, dtype=np.float64)
    if not found.size:
        return np.empty((0, 4))
    if found.ndim != 2 or found.shape[1] != 4:
        raise ValueError(
            f"box must have the columns xmin, ymin, xmax, ymax, not the shape {found.shape}"
        )
    return found
