# SPDX-License-Identifier: Apache-2.0
"""The limits of error of a meter whose driver states its accuracy, because no table has it."""

from __future__ import annotations

import numpy as np

from power.meter import Sampling
from power.readings import Columns, Numbers, in_order

# Crystals of computers and boards are good to 100 ppm.
CLOCK_SHARE = 0.0001


def sampled_terms(rows: Columns, sampling: Sampling) -> dict[str, Numbers] | None:
    """Return the limits of the error of each power in W; None if no accuracy is specified."""
    if sampling.of_reading is None:
        return None
    return {
        "reading": sampling.of_reading * np.abs(rows.numbers("power_w")),
        "offset": sampling.offset_w
        + sampling.offset_a * np.abs(np.nan_to_num(rows.numbers("voltage_v"))),
    }


def sampling_ws(powers_w: Numbers, sampling: Sampling) -> float:
    """Return the limit in Ws of what the power may have done between two samples.

    Between two samples the true energy lies between that of the smaller and that of the larger
    power, if the power goes one way. So half the difference, times the interval, bounds the error
    of the trapezoid. A sample may be as old as the device's value, so a step may be seen that much
    too late: the whole difference, times the renewal. A device that averages without holes has
    neither.
    """
    steps_w = in_order(np.abs(np.diff(powers_w[~np.isnan(powers_w)])))
    return steps_w * (sampling.interval_s / 2 + sampling.renewal_s)


def energy_terms(
    running: Columns,
    energy_wh: float,
    sampling: Sampling,
    update_interval_s: float,
) -> dict[str, float]:
    """Return the limits in Wh that come on top of those of the single powers."""
    powers_w = running.numbers("power_w")
    return {
        "between samples": sampling_ws(powers_w, sampling) / 3600,
        "gaps": unseen_ws(powers_w, update_interval_s) / 3600,
        "clock": CLOCK_SHARE * abs(energy_wh),
    }


def unseen_ws(powers_w: Numbers, update_interval_s: float) -> float:
    """Return the limit in Ws of what readings without a power hide: any power that was seen."""
    known = np.flatnonzero(~np.isnan(powers_w))
    if not len(known):
        return 0.0
    # The first readings have none, because no update is complete yet.
    hidden = len(powers_w) - int(known[0]) - len(known)
    seen_w = powers_w[known]
    return float(seen_w.max() - seen_w.min()) * hidden * update_interval_s
