# SPDX-License-Identifier: Apache-2.0
"""Integrate the samples beside the meter's own integrator, and say how far they may differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from power.meter import IntegrationState, Reading

# Power and energy come from the same samples inside the meter; 1 % covers rounding and the
# difference that its makers leave open between the displayed power and the integrator's.
RELATIVE_ALLOWANCE = 0.01


@dataclass(frozen=True)
class CrossCheck:
    """Compare both ways of integrating over the same part of a run.

    `sampled_wh` comes from the powers, `counted_wh` from the integrator, between the first and the
    last reading while it ran. `allowance_wh` is by how much honest figures may differ.
    """

    sampled_wh: float
    counted_wh: float
    allowance_wh: float

    @property
    def difference_wh(self) -> float:
        """Return samples minus integrator."""
        return self.sampled_wh - self.counted_wh


def cross_check(readings: Sequence[Reading], update_interval_s: float) -> CrossCheck | None:
    """Return the comparison, or None when fewer than two running readings have numbers.

    Each power is the mean over the update before its reading, so it is weighted with the number of
    updates since the reading before. One update more or less at the ends cannot be told apart, and
    updates that nobody read may have had any power between the lowest and the highest seen.
    """
    rows = [
        (reading.monotonic_s, reading.power_w, reading.energy_wh)
        for reading in readings
        if reading.state is IntegrationState.START
        and reading.energy_wh is not None
        and reading.power_w is not None
    ]
    if len(rows) < 2:
        return None
    first_s, _, first_wh = rows[0]
    powers = [power for _, power, _ in rows]
    spread_w = max(powers) - min(powers)
    sampled_ws = unseen_s = 0.0
    passed = 0
    for at_s, power, _ in rows[1:]:
        updates = round((at_s - first_s) / update_interval_s) - passed
        passed += updates
        sampled_ws += power * updates * update_interval_s
        unseen_s += max(0, updates - 1) * update_interval_s
    counted_wh = rows[-1][2] - first_wh
    edge_ws = max(abs(power) for power in powers) * update_interval_s
    allowance_wh = RELATIVE_ALLOWANCE * abs(counted_wh) + (edge_ws + spread_w * unseen_s) / 3600
    return CrossCheck(sampled_ws / 3600, counted_wh, allowance_wh)
