# SPDX-License-Identifier: Apache-2.0
"""The limits of error of a meter whose power is sampled and integrated by a program."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from power.meter import Reading, Sampling

# Crystals of computers and boards are good to 100 ppm.
CLOCK_SHARE = 0.0001


def sampled_terms(reading: Reading, sampling: Sampling) -> dict[str, float] | None:
    """Return the limits of the error of a power in W; None if no accuracy is specified."""
    if sampling.of_reading is None or reading.power_w is None:
        return None
    return {
        "reading": sampling.of_reading * abs(reading.power_w),
        "offset": sampling.offset_w + sampling.offset_a * abs(reading.voltage_v or 0.0),
    }


def sampling_ws(running: Sequence[Reading], sampling: Sampling) -> float:
    """Return the limit in Ws of what the power may have done between two samples.

    Between two samples the true energy lies between that of the smaller and that of the larger
    power, if the power goes one way. So half the difference, times the interval, bounds the error
    of the trapezoid. A device that averages without holes has none.
    """
    known = [row.power_w for row in running if row.power_w is not None]
    steps_w = sum(abs(after - before) for before, after in pairwise(known))
    return steps_w / 2 * sampling.interval_s


def energy_terms(
    running: Sequence[Reading],
    energy_wh: float,
    sampling: Sampling,
    update_interval_s: float,
) -> dict[str, float]:
    """Return the limits in Wh that come on top of those of the single powers."""
    return {
        "between samples": sampling_ws(running, sampling) / 3600,
        "gaps": unseen_ws(running, update_interval_s) / 3600,
        "clock": CLOCK_SHARE * abs(energy_wh),
    }


def unseen_ws(running: Sequence[Reading], update_interval_s: float) -> float:
    """Return the limit in Ws of what readings without a power hide: any power that was seen."""
    powers = [row.power_w for row in running]
    known = [power for power in powers if power is not None]
    if not known:
        return 0.0
    # The first readings have none, because no update is complete yet.
    begin = next(index for index, power in enumerate(powers) if power is not None)
    hidden = len(powers) - begin - len(known)
    return (max(known) - min(known)) * hidden * update_interval_s
