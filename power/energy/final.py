# SPDX-License-Identifier: Apache-2.0
"""Read the result of a run: twice the same, one update apart."""

from __future__ import annotations

from collections.abc import Callable

from power.meter import Reading

# A meter may show the final energy only with the update after the end, so the first reading can
# still be old; the one after that must agree. Some updates without data are outlasted.
_MOST_READINGS = 10
# Slightly more than one update, so that two readings never show the same one.
_APART = 1.1


def read_final(
    read: Callable[[], Reading], update_interval_s: float, sleep: Callable[[float], object]
) -> list[Reading]:
    """Return the readings after the end of a run; the last two agree unless the meter never does.

    `read` gives one reading of the meter. Takes two to ten of them, one update apart;
    `judge_energy` sees to it if they disagree.
    """
    readings = [read()]
    while len(readings) < _MOST_READINGS:
        sleep(_APART * update_interval_s)
        readings.append(read())
        last, before = readings[-1], readings[-2]
        same = (last.energy_wh, last.integration_s) == (before.energy_wh, before.integration_s)
        if same and last.energy_wh is not None and last.integration_s is not None:
            break
    return readings
