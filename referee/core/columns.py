# SPDX-License-Identifier: Apache-2.0
"""Columns of ids, of numbers and of boxes from whatever numpy makes arrays of.

Each column is a copy, so a caller may use its own arrays again. Raises `ArgumentError`, with the
name of the column, for anything else than what is asked for.
"""

from __future__ import annotations

import warnings
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from referee.errors import ArgumentError

Floats = NDArray[np.float64]

_INT64_LIMIT = 2**63


def whole_numbers(values: ArrayLike, name: str) -> NDArray[np.int64]:
    """Return int64 of shape (n,).

    Floats count if each is a whole number, as a table with gaps gives them.
    """
    vector = array_of(values, name, "must be a vector, not rows of several lengths")
    if vector.ndim != 1:
        raise ArgumentError(f"{name} must be a vector, not of shape {vector.shape}")
    if not len(vector):
        return np.empty(0, dtype=np.int64)
    kind = vector.dtype.kind
    if kind == "O" and all(type(value) is int for value in vector):
        kind = "i"  # Python's whole numbers beyond 64 bits.
    elif kind not in "iuf" or (kind == "f" and not (np.floor(vector) == vector).all()):
        raise ArgumentError(f"{name} must be whole numbers")
    if not bool(((vector >= -_INT64_LIMIT) & (vector < _INT64_LIMIT)).all()):
        raise ArgumentError(f"{name} must be whole numbers of 64 bits: one is larger")
    return vector.astype(np.int64)


def numbers(values: ArrayLike, name: str) -> Floats:
    """Return float64 of the shape that the values have; texts, dates and gaps are no numbers."""
    given = array_of(values, name)
    if given.dtype.kind == "O":
        strange = [value for value in given.flat if not isinstance(value, (Real, Decimal))]
        if strange:
            raise ArgumentError(f"{name} must be numbers: one is {strange[0]!r:.40}")
    elif given.dtype.kind not in "biuf":
        raise ArgumentError(f"{name} must be numbers, not of the type {given.dtype}")
    try:
        return given.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ArgumentError(f"{name} must be numbers that fit into 64 bits") from None


def four_columns(values: ArrayLike) -> Floats:
    """Return boxes as float64 of shape (n, 4), in whatever form they are."""
    boxes = numbers(values, "box")
    if not boxes.size:
        return np.empty((0, 4))
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise ArgumentError(
            "box must have four columns, such as the columns xmin, ymin, xmax, ymax, not the shape"
            f" {boxes.shape}"
        )
    return boxes


def fractions_fault(box: Floats, whose: str) -> str | None:
    """Return what to say if all corners (n, 4) lie in 0..1, as fractions of an image do.

    One must lie within: 0 and 1 alone may be pixels.
    """
    inside = all(bool(((column >= 0) & (column <= 1)).all()) for column in box.T)
    if not len(box) or not inside or not bool((box % 1 > 0).any()):
        return None
    return (
        f"all boxes of the {whose} lie between 0 and 1, as fractions of the image do:"
        " boxes are pixels, so multiply x by the image's width and y by its height"
    )


def warn_of_fractions(box: Floats, whose: str) -> None:
    """Warn the caller of the library's function that was called with such boxes."""
    fault = fractions_fault(box, whose)
    if fault:
        warnings.warn(fault, stacklevel=3)


def array_of(
    values: object, name: str, ragged: str = "must be numbers, in rows of one length"
) -> NDArray[Any]:
    """Return an array of whatever numpy makes one of; a masked value is no value."""
    if any(kind.__module__.startswith("numpy.ma") for kind in type(values).__mro__):
        masked = int(np.count_nonzero(getattr(values, "mask", False)))
        if masked:
            raise ArgumentError(
                f"{name} has {masked} masked values: fill them, or leave these rows out of all"
                " columns"
            )
    try:
        return np.asarray(values)
    except ValueError:
        raise ArgumentError(f"{name} {ragged}") from None
    except Exception as error:  # What a tensor raises that numpy cannot have is its library's.
        raise ArgumentError(f"{name} cannot become an array of numpy: {error}") from None


def require_arrays(record: object, *names: str) -> None:
    """Raise ArgumentError unless these fields of a record are arrays of numpy."""
    for name in names:
        value = getattr(record, name)
        if not isinstance(value, np.ndarray):
            kind = type(record).__name__
            raise ArgumentError(
                f"{name} is {type(value).__name__}, and must be an array of numpy: use"
                f" {kind}.from_arrays, which takes lists too"
            )
