# SPDX-License-Identifier: Apache-2.0
"""The orders of a row's seven numbers: what a contestant may have meant by each column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from referee.core.detections import Detections
from referee.scoring.mistakes.posted import Posted, ProgramFault

Rows = NDArray[np.bool_]

# This share of the rows must be possible in an order; the other rows may be outliers.
_FITTING_SHARE = 0.95
# Beyond this a whole number is no id, and a float does not hold it exactly.
_MOST_ID = 2.0**53
_IMAGE, _CONFIDENCE = 0, 2

_RIGHT = "A row is image, class, confidence, xmin, ymin, xmax, ymax, in this order."
_LAST = ProgramFault(
    "confidence_last",
    f"The confidence is in the last column, behind the box. {_RIGHT}",
)
_SWAPPED = ProgramFault(
    "image_class_swapped",
    "Image and class are swapped: the image's number comes first, then the class id.",
)
_BOX_FIRST = ProgramFault(
    "box_before_class",
    f"The box comes before class and confidence, as many networks give it. {_RIGHT}",
)
# For each order: its faults, and where a row as sent has image, class, confidence and corners.
_ORDERS: tuple[tuple[tuple[ProgramFault, ...], tuple[int, ...]], ...] = (
    ((_LAST,), (0, 1, 6, 2, 3, 4, 5)),
    ((_SWAPPED,), (1, 0, 2, 3, 4, 5, 6)),
    ((_BOX_FIRST,), (0, 6, 5, 1, 2, 3, 4)),
    ((_BOX_FIRST,), (0, 5, 6, 1, 2, 3, 4)),
    ((_SWAPPED, _LAST), (1, 0, 6, 2, 3, 4, 5)),
)


@dataclass(frozen=True, eq=False)
class ColumnOrder:
    """A possible order of the columns: the faults that it assumes, and the rows that it changes."""

    faults: tuple[ProgramFault, ...]
    columns: tuple[int, ...]
    of_coco: bool

    def read(self, posted: Posted) -> Posted:
        """Return the rows as this order means them."""
        rows = posted.as_coco == self.of_coco
        table = _table(posted.detections)
        table[rows] = table[rows][:, self.columns]
        ids = np.nan_to_num(table[:, :2], nan=-1.0, posinf=-1.0, neginf=-1.0)
        whole = ids.clip(-_MOST_ID, _MOST_ID).astype(np.int64)
        kept = np.column_stack([posted.detections.image_id, posted.detections.class_id])
        whole = np.where(rows[:, np.newaxis], whole, kept)
        detections = Detections(
            whole[:, 0].copy(), whole[:, 1].copy(), table[:, 2].copy(), table[:, 3:].copy()
        )
        return replace(posted, detections=detections)


def column_orders(posted: Posted) -> Iterator[ColumnOrder]:
    """Yield the other orders in which nearly all rows are possible.

    The rows that came as COCO boxes have names, so of them only image and class may be swapped.
    """
    for of_coco in (False, True):
        rows = posted.as_coco == of_coco
        if not rows.any():
            continue
        table = _table(posted.detections)[rows]
        for faults, columns in _ORDERS:
            if of_coco and faults != (_SWAPPED,):
                continue
            if np.mean(_possible(table[:, columns], len(posted.order))) >= _FITTING_SHARE:
                yield ColumnOrder(faults, columns, of_coco)


def _possible(table: NDArray[np.float64], images: int) -> Rows:
    """Tell which rows have ids and a confidence where they should, the image off by one at most."""
    with np.errstate(invalid="ignore"):
        ids = (table[:, :2] == np.floor(table[:, :2])) & (np.abs(table[:, :2]) < _MOST_ID)
        sure = (table[:, _CONFIDENCE] >= 0) & (table[:, _CONFIDENCE] <= 1)
    possible: Rows = ids.all(axis=1) & sure & (table[:, _IMAGE] >= 0)
    return possible & (table[:, _IMAGE] <= images + 1)


def _table(detections: Detections) -> NDArray[np.float64]:
    """Return image, class, confidence and corners of each row as columns."""
    return np.column_stack(
        [detections.image_id, detections.class_id, detections.confidence, detections.box]
    ).astype(np.float64)
