# SPDX-License-Identifier: Apache-2.0
"""Arguments of the library's functions: what is none of the right kind ends in a sentence."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from numbers import Integral
from typing import Any, TypeVar

from referee.errors import ArgumentError

_Kind = TypeVar("_Kind")

_NO_NUMBERS = (str, bytes, bytearray, bool)
_MADE_BY = {
    "GroundTruth": "as load_ground_truth and GroundTruth.from_arrays return it",
    "Detections": "as load_detections and Detections.from_arrays return them",
    "CocoTruth": "as load_coco_truth and CocoTruth.from_arrays return it",
    "CocoResults": "as load_coco_results and CocoResults.from_arrays return them",
    "IlsvrcResult": "as evaluate and LiveScore.result return it",
    "MapUncertainty": "as measure_uncertainty returns it",
    "Comparison": "as compare returns it",
    "Energy": "such as Energy(0.25, 0.001), in watt-hours",
}


def told(value: object, most: int = 60) -> str:
    """Return a value as a sentence tells it: in one line, of so many characters at most."""
    return " ".join(repr(value).split())[:most]


def is_one_of(value: object, listed: Collection[Any]) -> bool:
    """Tell whether a value is one of these; an array is none, though numpy compares each number."""
    if hasattr(value, "__array__") and getattr(value, "ndim", None) != 0:
        return False
    try:
        return bool(value in listed)
    except (TypeError, ValueError):  # pandas' NA is neither equal nor unequal.
        return False


def require(name: str, value: object, kind: type[_Kind]) -> _Kind:
    """Return an argument that is of a kind; raise ArgumentError for any other."""
    if isinstance(value, kind):
        return value
    raise ArgumentError(_wrong_kind(name, value, kind.__name__))


def require_one_of(name: str, value: object, *kinds: type[Any]) -> None:
    """Raise ArgumentError for an argument that is of none of these kinds."""
    if not isinstance(value, kinds):
        raise ArgumentError(_wrong_kind(name, value, *(kind.__name__ for kind in kinds)))


def real_number(value: object, name: str) -> float:
    """Return a number as a float; raise ArgumentError for a text, None, and all else that is none.

    NaN and infinity are floats. True and False are no numbers: they are the answer to a question.
    """
    if value is not None and not isinstance(value, _NO_NUMBERS) and not _is_truth_of_numpy(value):
        try:
            return float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError, RuntimeError):
            pass
    raise ArgumentError(f"{name} is {told(value)}: give a number")


def _is_truth_of_numpy(value: object) -> bool:
    """Tell whether a value is numpy's True or False; numpy may not be loaded."""
    return getattr(getattr(value, "dtype", None), "kind", "") == "b"


def finite_number(value: object, name: str) -> float:
    """Return a finite number as a float; raise ArgumentError for anything else."""
    number = real_number(value, name)
    if not math.isfinite(number):
        raise ArgumentError(f"{name} is {number}: give a finite number")
    return number


def require_count(value: object, name: str, least: int, most: int | None = None) -> None:
    """Raise ArgumentError unless a value is a whole number, `least` or more, and `most` or less."""
    number = _whole(value)
    if number is None or number < least:
        raise ArgumentError(f"{name} is {told(value)}: give a whole number, {least} or more")
    if most is not None and number > most:
        raise ArgumentError(f"{name} is {told(value)}: give {most} at most")


def _whole(value: object) -> int | None:
    """Return a whole number of any library as Python's; None for all else, and for a truth."""
    if isinstance(value, bool) or not isinstance(value, int | Integral):
        return None
    return int(value)


def several(values: object, name: str) -> list[Any]:
    """Return the members of anything that has some; raise ArgumentError for a text or a number."""
    if not isinstance(values, (str, bytes)) and isinstance(values, Iterable):
        try:
            return list(values)
        except TypeError:  # An array without a dimension says that it has members, and has none.
            pass
    raise ArgumentError(f"{name} is {told(values)}: give several numbers, such as (0.5, 0.75)")


def _wrong_kind(name: str, value: object, *kinds: str) -> str:
    wanted = " or ".join(
        f"{kind}, {_MADE_BY[kind]}" if kind in _MADE_BY else kind for kind in kinds
    )
    given = repr(value) if value is None or isinstance(value, str) else type(value).__name__
    return f"{name} is {given:.60}: give {wanted}"
