# SPDX-License-Identifier: Apache-2.0
"""Ground truth as parallel arrays: the images of a contest and the boxes in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class GroundTruth:
    """The images, classes, boxes and blacklist against which detections are scored.

    `image_ids` (int64, ascending, unique) lists every image, also those without a box.
    `class_ids` (int64, ascending, unique) lists the classes; a detection of any other class is
    out of range. `box` (float64, shape (m, 4)) has xmin, ymin, xmax, ymax in file order, as
    inclusive pixels of the annotated image. `box_image_id` and `box_class_id` (int64, (m,)) name
    each box's image and class. `blacklist` (int64, shape (k, 2)) holds pairs (image id, class id)
    that count neither way. `class_names` maps class ids to names where the source has names.
    """

    image_ids: NDArray[np.int64]
    class_ids: NDArray[np.int64]
    box_image_id: NDArray[np.int64]
    box_class_id: NDArray[np.int64]
    box: NDArray[np.float64]
    blacklist: NDArray[np.int64]
    class_names: dict[int, str]
