# SPDX-License-Identifier: Apache-2.0
"""Energy beside scores whose rules have none: watt-hours per 1,000 images."""

from __future__ import annotations


def wh_per_1000_images(energy_wh: float, images: int) -> float:
    """Return the energy of a run for 1,000 of its images; `images` is at least 1."""
    return 1000 * energy_wh / images
