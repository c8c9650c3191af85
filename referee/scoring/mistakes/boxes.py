# SPDX-License-Identifier: Apache-2.0
"""The readings of a box: possible layouts and units of its four numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from referee.scoring.mistakes.posted import Posted, ProgramFault

Boxes = NDArray[np.float64]
Rows = NDArray[np.bool_]

# Sides, in pixels, of the usual square network inputs of detectors.
_INPUT_SIDES = (224, 300, 320, 384, 416, 448, 512, 608, 640)
# A box may reach beyond its image. Then its fractions exceed 1, or its pixels the network input.
_MOST_FRACTION = 2.0
_BEYOND_INPUT = 1.1
# In one post, where no score can tell, they must be nearer to 1.
_ABOUT_ONE = 1.5
# This share of the rows must fit a unit; the other rows may be outliers.
_FITTING_SHARE = 0.95


# What the four numbers should be, by their origin.
_RIGHT = {
    "corners": "A box is xmin, ymin, xmax, ymax, in this order.",
    "coco": "A COCO bbox is [x, y, width, height].",
    "converted": "They were converted as if they were COCO boxes, [x, y, width, height].",
}


@dataclass(frozen=True, eq=False)
class BoxReading:
    """One reading of the boxes: their corners in pixels, and the faults that it assumes.

    `corners` is a function of (width, height) of each row's image, shape (n, 2). It returns
    inclusive corners xmin, ymin, xmax, ymax, shape (n, 4).
    """

    faults: tuple[ProgramFault, ...]
    corners: Callable[[Boxes], Boxes]


@dataclass(frozen=True)
class _Layout:
    """A layout of a box's four numbers: y first or not, their conversion, and the fault."""

    y_first: bool
    to_corners: Callable[[Boxes], Boxes]
    fault: ProgramFault | None


@dataclass(frozen=True)
class _Unit:
    """A unit of length for boxes; `scale` turns image sizes into pixels per unit."""

    scale: Callable[[Boxes], Boxes]
    fault: ProgramFault | None
    fractions: bool = False


def box_readings(posted: Posted) -> Iterator[BoxReading]:
    """Yield every reading of the boxes; the first is the protocol's.

    A program may send COCO boxes and corners in one session. So each reading changes only the rows
    that came as COCO boxes, or only the others. The others may come from COCO boxes too, by a
    program that made corners of what it took for [x, y, width, height], as the sample client does.
    """
    kept = posted.detections.box
    yield BoxReading((), lambda sizes: kept)
    for as_coco, origin in ((False, "corners"), (False, "converted"), (True, "coco")):
        rows = posted.as_coco == as_coco
        if rows.any():
            sent = _as_sent(kept, coco=origin != "corners")
            # On a tie the first reading wins, so one with one fault comes before one with two.
            readings = list(product(_layouts(origin), _units(sent[rows])))
            for layout, unit in sorted(readings, key=lambda pair: len(_faults(*pair))):
                # Corners in a network's pixels stay so, whatever they were converted from.
                known = origin == "converted" and layout.fault is None and not unit.fractions
                if _faults(layout, unit) and not known:
                    yield _reading(kept, sent, rows, layout, unit)


def _reading(kept: Boxes, sent: Boxes, rows: Rows, layout: _Layout, unit: _Unit) -> BoxReading:
    def corners(sizes: Boxes) -> Boxes:
        # A coordinate that is not finite stays so, and the evaluation counts it.
        with np.errstate(invalid="ignore", over="ignore"):
            x_first = _swap(sent) if layout.y_first else sent
            pixels = layout.to_corners(x_first * np.tile(unit.scale(sizes), 2))
        return np.where(rows[:, np.newaxis], pixels, kept)

    return BoxReading(_faults(layout, unit), corners)


def _faults(layout: _Layout, unit: _Unit) -> tuple[ProgramFault, ...]:
    return tuple(fault for fault in (unit.fault, layout.fault) if fault is not None)


def _as_sent(kept: Boxes, *, coco: bool) -> Boxes:
    """Return the four numbers as sent: undo the conversion of COCO boxes to corners."""
    if not coco:
        return kept
    with np.errstate(invalid="ignore", over="ignore"):
        return np.concatenate([kept[:, :2], kept[:, 2:] - kept[:, :2] + 1], axis=1)


def _layouts(origin: str) -> Iterator[_Layout]:
    """Yield the layouts that programs use; the right one has no fault."""
    coco = origin != "corners"
    right = _RIGHT[origin]
    corners_sent = ProgramFault("corners_sent", f"The boxes are two corners. {right}")
    size_sent = ProgramFault(
        "width_height_sent",
        f"Width and height were sent instead of xmax and ymax. {right}",
    )
    swapped_corners = ProgramFault("x_y_swapped", f"The boxes are ymin, xmin, ymax, xmax. {right}")
    swapped_size = ProgramFault("x_y_swapped", f"The boxes are y, x, height, width. {right}")
    centre = ProgramFault(
        "centre_sent",
        f"The boxes are centre x, centre y, width, height, as YOLO writes them. {right}",
    )
    yield _Layout(False, _from_size, None if coco else size_sent)
    yield _Layout(False, _as_corners, corners_sent if coco else None)
    yield _Layout(True, _from_size, swapped_size)
    yield _Layout(True, _as_corners, swapped_corners)
    yield _Layout(False, _from_centre, centre)


def _units(sent: Boxes) -> Iterator[_Unit]:
    """Yield the units that fit the size of the numbers: fractions are small, pixels are large."""
    with np.errstate(invalid="ignore"):
        largest = np.nan_to_num(np.abs(sent), nan=0.0, posinf=0.0).max(axis=1)
    if np.mean(largest <= _MOST_FRACTION) >= _FITTING_SHARE:
        fractions = (
            "boxes_normalised",
            "The boxes are fractions of the image. Multiply x by its width and y by its height, "
            "in pixels.",
        )
        yield _Unit(lambda sizes: sizes, ProgramFault(*fractions), fractions=True)
        return
    yield _Unit(np.ones_like, None)
    for side in _INPUT_SIDES:
        if np.mean(largest <= _BEYOND_INPUT * side) >= _FITTING_SHARE:
            text = (
                f"The boxes are pixels of a network input of {side}x{side}. Scale them to the "
                "image as it was sent."
            )
            scaled = ProgramFault("boxes_in_network_input", text)
            yield _Unit(lambda sizes, side=side: sizes / side, scaled)  # type: ignore[misc]


def are_fractions(box: Boxes, *, coco: bool) -> bool:
    """Tell whether all numbers of the boxes, as sent, lie about between 0 and 1.

    No object has so few pixels, and a box may reach a little beyond its image. Rows that are not
    finite tell nothing.
    """
    # Nearly every answer shows by its first row that these are pixels, and whole arrays cost more.
    if not len(box) or max(box[0].tolist(), key=abs) > 2 * _ABOUT_ONE:
        return False
    sent = _as_sent(box, coco=coco)
    finite = sent[np.isfinite(sent).all(axis=1)]
    return bool(len(finite) and np.abs(finite).max() <= _ABOUT_ONE)


def _swap(box: Boxes) -> Boxes:
    return np.ascontiguousarray(box[:, [1, 0, 3, 2]])


def _as_corners(box: Boxes) -> Boxes:
    return box


def _from_size(box: Boxes) -> Boxes:
    return np.concatenate([box[:, :2], box[:, :2] + box[:, 2:] - 1], axis=1)


def _from_centre(box: Boxes) -> Boxes:
    half = box[:, 2:] / 2
    return np.concatenate([box[:, :2] - half, box[:, :2] + half - 1], axis=1)
