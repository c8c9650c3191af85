# SPDX-License-Identifier: Apache-2.0
"""How often and where a model's latency is measured."""

from __future__ import annotations

from dataclasses import dataclass

from referee.extras.ovic.rules.model_rules import CENTRAL_SHARE


@dataclass(frozen=True)
class Plan:
    """How to measure: runs that are not counted, runs that are, the core, and the tolerance.

    `tolerance` is the share of the median by which blocks may differ, and the mean from the median.
    `central_share` is the part of each image that the model sees.
    """

    warm_up: int = 20
    runs: int = 300
    core: int | None = None
    tolerance: float = 0.05
    central_share: float = CENTRAL_SHARE["detection"]
