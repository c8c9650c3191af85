# SPDX-License-Identifier: Apache-2.0
"""The LPIRC score: mAP per watt-hour, and accuracy normalised by the images processed.

Source: K. Gauen et al., "Low-Power Image Recognition Challenge", ASP-DAC 2017.
"""

from __future__ import annotations

import math

__all__ = ["normalized_accuracy", "score"]


def score(mean_ap: float | None, energy_wh: float | None) -> float | None:
    """Return mAP / E in 1/Wh, mAP a fraction and E the energy of the session in watt-hours.

    None where there is no mAP, or no finite energy greater than 0: such a session has no score.
    """
    if mean_ap is None or energy_wh is None:
        return None
    if not math.isfinite(mean_ap) or not math.isfinite(energy_wh) or energy_wh <= 0:
        return None
    return mean_ap / energy_wh


def normalized_accuracy(
    mean_ap: float | None, images_processed: int, set_size: int
) -> float | None:
    """Return mAP times set size / images processed, or None where no image was processed.

    The paper's formula has the set size 20,000 fixed; here it is the number of images of the
    contest at hand. It estimates the mAP that the solution would have had with time for all of
    them, so it may exceed mAP but, on one contest, it is not bounded by 1.
    """
    if mean_ap is None or images_processed <= 0:
        return None
    return mean_ap * set_size / images_processed
