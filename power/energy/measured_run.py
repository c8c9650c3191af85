# SPDX-License-Identifier: Apache-2.0
"""The readings of one integration, prepared for the checks: ranges, error, sum of the powers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from power.energy.uncertainty import Measuring, zero_limit_w
from power.meter import Identity, IntegrationState, MeterSettings, Reading

ENDED = (IntegrationState.STOP, IntegrationState.TIMEUP)
_SECOND = 1.0
# The error at zero where the ranges are not known.
UNKNOWN_FLOOR_W = 1e-3

# Power and energy come from the same samples inside the meter. 1 % covers rounding, and the
# undocumented difference between the displayed power and the integrator's.
RELATIVE_ALLOWANCE = 0.01


@dataclass(frozen=True)
class Run:
    """The readings of one integration and its settings; the first reading is not RESET."""

    readings: tuple[Reading, ...]
    settings: MeterSettings

    @staticmethod
    def of(readings: Sequence[Reading], settings: MeterSettings) -> Run | None:
        """Return the run within the readings, or None if the integrator never ran."""
        for index, reading in enumerate(readings):
            if reading.state is not IntegrationState.RESET:
                return Run(tuple(readings[index:]), settings)
        return None

    @property
    def final(self) -> Reading:
        """Return the last reading."""
        return self.readings[-1]

    @property
    def running(self) -> tuple[Reading, ...]:
        """Return the readings while the integrator ran."""
        return tuple(row for row in self.readings if row.state is IntegrationState.START)

    @property
    def tolerance_s(self) -> float:
        """Return how far times may differ: TIME is as old as its update, and in whole seconds."""
        return self.settings.update_interval_s + _SECOND


def noise_floor_w(run: Run, identity: Identity | None = None) -> float:
    """Return the power in watts that the meter may show without a load: its error at zero."""
    measuring = Measuring(identity, run.settings)
    rows = [row for row in run.running if row.voltage_v is not None] or [run.final]
    limit_w = zero_limit_w(rows[0], measuring)
    return UNKNOWN_FLOOR_W if limit_w is None else limit_w


@dataclass(frozen=True)
class CrossCheck:
    """The energy of the same part of a run, integrated in two ways.

    The part goes from the first to the last reading while the integrator ran. `sampled_wh` comes
    from the powers, `counted_wh` from the integrator. Without a fault they differ by at most
    `allowance_wh`.
    """

    sampled_wh: float
    counted_wh: float
    allowance_wh: float

    @property
    def difference_wh(self) -> float:
        """Return samples minus integrator."""
        return self.sampled_wh - self.counted_wh


def cross_check(run: Run) -> CrossCheck | None:
    """Return the comparison, or None if fewer than two running readings have numbers.

    Each power is the mean over the update before its reading. Its weight is the number of updates
    since the previous reading. Beside the relative allowance there are two more. First, nobody can
    tell whether one update more or less belongs to the ends. Second, an update without a reading
    may have had any power between the lowest and the highest seen. A reading of a held display
    shows the past, so it does not count.
    """
    rows = _measured(run)
    if len(rows) < 2:
        return None
    update_interval_s = run.settings.update_interval_s
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


def _measured(run: Run) -> list[tuple[float, float, float]]:
    """Return time, power and energy of the running readings, except those that show the past."""
    rows: list[tuple[float, float, float]] = []
    begun_s: float | None = None
    for reading in run.running:
        power, energy, elapsed_s = reading.power_w, reading.energy_wh, reading.integration_s
        if power is None or energy is None:
            continue
        if elapsed_s is not None:
            begun_s = reading.monotonic_s - elapsed_s if begun_s is None else begun_s
            if reading.monotonic_s - begun_s - elapsed_s > run.tolerance_s:
                continue
        # While power flows, each update has a new energy. Text and binary output round the same
        # value differently, so the comparison allows for rounding.
        if rows and power > 0 and _same(rows[-1][1], power) and _same(rows[-1][2], energy):
            continue
        rows.append((reading.monotonic_s, power, energy))
    return rows


def _same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-5)
