# SPDX-License-Identifier: Apache-2.0
"""The annotations of a COCO file as it has them, crowd regions and areas included."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CocoAnnotations:
    """m annotations in file order; what each column holds is said at `CocoTruth`."""

    image_id: Ints
    category_id: Ints
    box: Floats
    area: Floats
    crowd: NDArray[np.bool_]

    def objects(self) -> tuple[Ints, Ints, Floats]:
        """Return image, category and inclusive corners of those that are no crowd regions."""
        single = ~self.crowd
        corners = self.box[single]
        corners[:, 2:] += corners[:, :2] - 1
        return self.image_id[single], self.category_id[single], corners
