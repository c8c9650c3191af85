# SPDX-License-Identifier: Apache-2.0
"""Detections as parallel arrays, and as the bytes of a stored answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from referee.core.box_formats import Sizes, in_pixels, to_corners
from referee.core.columns import (
    four_columns,
    numbers,
    require_arrays,
    warn_of_fractions,
    whole_numbers,
)
from referee.core.shown import Shown, distinct
from referee.errors import ArgumentError


@dataclass(frozen=True, eq=False, repr=False)
class Detections(Shown):
    """The n detections of one or more answers, in order of arrival.

    `image_id` and `class_id` are int64 of shape (n,), `confidence` is float64 of shape (n,). `box`
    is float64 of shape (n, 4) with columns xmin, ymin, xmax, ymax. Corners are inclusive pixels:
    a box of one pixel has xmin == xmax. Contestants may send any value, also one that is negative
    or not finite, or an inverted box. The scorer judges them.

    `without_confidence` is known only of a post that was just parsed: it had no confidences, so
    each is 1.0.
    """

    image_id: NDArray[np.int64]
    class_id: NDArray[np.int64]
    confidence: NDArray[np.float64]
    box: NDArray[np.float64]
    without_confidence: bool = False

    def __post_init__(self) -> None:
        require_arrays(self, "image_id", "class_id", "confidence", "box")
        n = self.image_id.size
        if not (self.class_id.shape == self.confidence.shape == self.image_id.shape == (n,)):
            raise ArgumentError("image_id, class_id and confidence must be vectors of one length")
        if self.box.shape != (n, 4):
            raise ArgumentError(f"box must have shape ({n}, 4), not {self.box.shape}")

    def __len__(self) -> int:
        return len(self.image_id)

    def _facts(self) -> Mapping[str, object]:
        """Return what a notebook shows."""
        return {
            "rows": len(self),
            "images": distinct(self.image_id),
            "classes": distinct(self.class_id),
        }

    @classmethod
    def empty(cls) -> Detections:
        """Return detections without a row."""
        return cls.from_rows([])

    @classmethod
    def from_arrays(
        cls,
        image_id: ArrayLike,
        class_id: ArrayLike,
        confidence: ArrayLike,
        box: ArrayLike,
        *,
        box_format: str = "corners",
        sizes: Sizes | None = None,
    ) -> Detections:
        """Build from anything that numpy makes arrays of: (n,), (n,), (n,) and (n, 4).

        `box_format` names the form of the boxes, see `box_formats`. With `sizes`, width and height
        of each image by its id or of each row, boxes are fractions of the image. The arrays are
        copied. Raises ArgumentError for other shapes and names, and for ids that are not whole
        numbers of 64 bits. Without `sizes`, warns of boxes in fractions of the image.
        """
        detections = cls(
            whole_numbers(image_id, "image_id"),
            whole_numbers(class_id, "class_id"),
            numbers(confidence, "confidence"),
            four_columns(box),
        )
        given = detections.box
        if sizes is None:
            warn_of_fractions(given, "detections")
        else:
            given = in_pixels(given, detections.image_id, sizes, box_format)
        return replace(detections, box=to_corners(given, box_format))

    @classmethod
    def from_rows(cls, rows: Sequence[Sequence[float]]) -> Detections:
        """Build from rows `(image_id, class_id, confidence, xmin, ymin, xmax, ymax)`."""
        table = np.asarray(rows, dtype=np.float64).reshape(len(rows), 7)
        ids = np.asarray([row[:2] for row in rows], dtype=np.int64).reshape(len(rows), 2)
        return cls(ids[:, 0], ids[:, 1], table[:, 2], np.ascontiguousarray(table[:, 3:]))

    @classmethod
    def concatenate(cls, parts: Sequence[Detections]) -> Detections:
        """Join the rows of all parts, in the order given."""
        if len(parts) < 2:
            return parts[0] if parts else cls.empty()
        return cls(
            np.concatenate([part.image_id for part in parts]),
            np.concatenate([part.class_id for part in parts]),
            np.concatenate([part.confidence for part in parts]),
            np.concatenate([part.box for part in parts]),
        )

    def select(self, chosen: NDArray[np.bool_] | NDArray[np.int64] | slice) -> Detections:
        """Return the rows that a mask, an index array or a slice selects, in its order."""
        return Detections(
            self.image_id[chosen], self.class_id[chosen], self.confidence[chosen], self.box[chosen]
        )

    def with_image_ids(self, image_id: NDArray[np.int64]) -> Detections:
        """Return the same rows under other image ids."""
        return replace(self, image_id=image_id)


_ID = np.dtype("<i8")
_NUMBER = np.dtype("<f8")


def pack(detections: Detections) -> bytes:
    """Return the columns image id, class id, confidence, box one after the other, little-endian.

    Ids take 8 bytes each, confidence 8, a box 32: 56 bytes a row. Every bit of a float is kept.
    """
    # Arrays usually lie in memory as the blob wants them; these are copied only once.
    # Any: before Python 3.12 the types do not say that an array is a buffer.
    columns: tuple[Any, ...] = (
        np.ascontiguousarray(detections.image_id, _ID),
        np.ascontiguousarray(detections.class_id, _ID),
        np.ascontiguousarray(detections.confidence, _NUMBER),
        np.ascontiguousarray(detections.box, _NUMBER),
    )
    return b"".join(columns)


def unpack_all(blobs: Sequence[bytes]) -> Detections:
    """Return the rows of all these blobs, in the order given.

    Each column is joined as bytes: that takes a sixth of the time of many small arrays.
    """
    rows = [len(blob) // 56 for blob in blobs]
    columns = [
        b"".join([blob[start * n : end * n] for blob, n in zip(blobs, rows, strict=True)])
        for start, end in ((0, 8), (8, 16), (16, 24), (24, 56))
    ]
    return unpack(b"".join(columns))


def unpack(blob: bytes) -> Detections:
    """Return what `pack` was given."""
    n = len(blob) // 56
    return Detections(
        np.frombuffer(blob, _ID, n, 0).astype(np.int64),
        np.frombuffer(blob, _ID, n, 8 * n).astype(np.int64),
        np.frombuffer(blob, _NUMBER, n, 16 * n).astype(np.float64),
        np.frombuffer(blob, _NUMBER, 4 * n, 24 * n).astype(np.float64).reshape(n, 4),
    )
