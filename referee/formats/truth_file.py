# SPDX-License-Identifier: Apache-2.0
"""What a ground-truth file holds, however it is written."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from referee.core.coco_boxes import CocoTruth
from referee.core.ground_truth import GroundTruth

NO_BLACKLIST: NDArray[np.int64] = np.empty((0, 2), dtype=np.int64)
"""The blacklist of a source without one."""


@dataclass(frozen=True, eq=False)
class GroundTruthFile:
    """Ground truth in the source's own image ids, and what else the source tells.

    `file_names` and `sizes` (width, height in pixels) map own image ids to what the source says;
    both are empty where it says nothing. `coco` has the source's annotations as COCO needs them,
    crowd regions included, where the source is COCO JSON.
    """

    truth: GroundTruth
    file_names: dict[int, str] = field(default_factory=dict)
    sizes: dict[int, tuple[int, int]] = field(default_factory=dict)
    coco: CocoTruth | None = None
