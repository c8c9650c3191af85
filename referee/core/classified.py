# SPDX-License-Identifier: Apache-2.0
"""What the log of a classifier's answers adds up to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tally:
    """The answers of one classifier: images, right answers, and the time for all images.

    `images` is at least 1, `right` is between 0 and `images`, and `total_time_s` is above 0.
    """

    images: int
    right: int
    total_time_s: float
