# SPDX-License-Identifier: Apache-2.0
"""What may be wrong with input that can be scored: sentences for the person at the command."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from referee.core.ground_truth import GroundTruth
from referee.formats.image_ids import Numbering, fits_both

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def of_image_ids(image_id: Ints, truth: GroundTruth, chosen: Numbering | None) -> list[str]:
    """Warn if the ids fit both numberings and nobody chose one; `image_id` is as in the file."""
    if chosen is not None or not fits_both(image_id, truth):
        return []
    return [
        "the detections' image ids fit two numberings, the ground truth's own ids and 1 to"
        f" {len(truth.image_ids)} of a contest, and are read as own ids: say which they are with"
        " --image-ids own or --image-ids contest"
    ]


def of_boxes(box: Floats, truth: GroundTruth) -> list[str]:
    """Warn if all boxes lie between 0 and 1, as fractions of an image do."""
    for corners, whose in ((truth.box, "ground truth"), (box, "detections")):
        if len(corners) and _are_fractions(corners):
            return [
                f"all boxes of the {whose} lie between 0 and 1, as fractions of the image do:"
                " boxes are pixels, so multiply x by the image's width and y by its height"
            ]
    return []


def _are_fractions(box: Floats) -> bool:
    """Tell whether all corners lie in 0..1, with one within: 0 and 1 alone may be pixels."""
    inside = all(bool(((column >= 0) & (column <= 1)).all()) for column in box.T)
    return inside and bool((box % 1 > 0).any())
