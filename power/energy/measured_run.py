# SPDX-License-Identifier: Apache-2.0
"""The readings of one integration, prepared for the checks: ranges, error, sum of the powers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from power.energy.uncertainty import Measuring, zero_limit_w
from power.meter import Identity, IntegrationState, MeterSettings, Reading
from power.readings import Columns, Readings, RowKind

ENDED = (IntegrationState.STOP, IntegrationState.TIMEUP)
_SECOND = 1.0
# The error at zero where the ranges are not known.
UNKNOWN_FLOOR_W = 1e-3

# Power and energy come from the same samples inside the meter. 1 % covers rounding, and the
# undocumented difference between the displayed power and the integrator's.
RELATIVE_ALLOWANCE = 0.01


@dataclass(frozen=True)
class Run:
    """The readings of one integration, its settings and its last reading; the first is not RESET.

    `running` are the readings while the integrator ran.
    """

    rows: Columns
    running: Columns
    settings: MeterSettings
    final: Reading

    @staticmethod
    def of(readings: Sequence[Reading], settings: MeterSettings) -> Run | None:
        """Return the run within the readings, or None if the integrator never ran."""
        known = Readings.of(readings)
        began = np.flatnonzero(known.columns().having(_is_not_reset))
        if not len(began):
            return None
        rows = known.columns(int(began[0]))
        running = rows.where(rows.having(lambda kind: kind.state is IntegrationState.START))
        return Run(rows, running, settings, rows.reading(-1))

    @property
    def sampled(self) -> bool:
        """Tell whether a program integrated: such a meter has no panel, no ranges and no manual."""
        return self.settings.sampling is not None

    @property
    def tolerance_s(self) -> float:
        """Return how far times may differ: TIME is as old as its update, and in whole seconds."""
        return self.settings.update_interval_s + _SECOND


def _is_not_reset(kind: RowKind) -> bool:
    return kind.state is not IntegrationState.RESET


def noise_floor_w(run: Run, identity: Identity | None = None) -> float:
    """Return the power in watts that the meter may show without a load: its error at zero."""
    with_voltage = np.flatnonzero(~np.isnan(run.running.numbers("voltage_v")))
    first = run.running.reading(int(with_voltage[0])) if len(with_voltage) else run.final
    limit_w = zero_limit_w(first, Measuring(identity, run.settings))
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
    update_interval_s = run.settings.update_interval_s
    measured = _measured(run)
    first_s, low_w, first_wh = next(measured, (0.0, 0.0, 0.0))
    high_w = low_w
    counted_wh = 0.0
    sampled_ws = flowed_ws = unseen_s = 0.0
    passed = rows = 0
    for at_s, power_w, energy_wh in measured:
        counted_wh = energy_wh - first_wh
        updates = round((at_s - first_s) / update_interval_s) - passed
        passed += updates
        sampled_ws += power_w * updates * update_interval_s
        flowed_ws += abs(power_w) * updates * update_interval_s
        unseen_s += max(0, updates - 1) * update_interval_s
        low_w, high_w = min(low_w, power_w), max(high_w, power_w)
        rows += 1
    if not rows:
        return None
    edge_ws = max(abs(low_w), abs(high_w)) * update_interval_s
    unseen_ws = (high_w - low_w) * unseen_s
    compared_wh = flowed_ws / 3600 if run.settings.both_ways else abs(counted_wh)
    allowance_wh = RELATIVE_ALLOWANCE * compared_wh + (edge_ws + unseen_ws) / 3600
    return CrossCheck(sampled_ws / 3600, counted_wh, allowance_wh)


def lacks_in_gaps(run: Run, gap_s: float) -> bool:
    """Tell whether the integrator counted less in a gap than the lowest power seen would give.

    Readings further apart than `gap_s` leave a gap. At its ends an update more or less may belong
    to it.
    """
    rows = list(_measured(run))
    low_w = min((power_w for _, power_w, _ in rows), default=0.0)
    return any(
        (later_s - at_s) > gap_s
        and 3600 * (later_wh - energy_wh)
        < (1 - RELATIVE_ALLOWANCE) * low_w * (later_s - at_s - run.settings.update_interval_s)
        for (at_s, _, energy_wh), (later_s, _, later_wh) in pairwise(rows)
    )


def switching_limit_wh(run: Run) -> float:
    """Return how far the energy may be off because the meter measured nothing while it switched.

    On auto-range it fills that time with the next power (IM WT310E-01EN, page 5-12). Any of the
    powers seen may have flowed instead.
    """
    settings, power_w = run.settings, run.running.numbers("power_w")
    fixed = None not in (settings.voltage_range_v, settings.current_range_a)
    known = np.flatnonzero(~np.isnan(power_w))
    if fixed or run.sampled or not len(known):
        return 0.0
    # The first updates after START have no data on any range, and are no switch.
    blank = int(np.isnan(power_w[known[0] :]).sum())
    span_w = float(power_w[known].max() - power_w[known].min())
    return span_w * blank * settings.update_interval_s / 3600


def _measured(run: Run) -> Iterator[tuple[float, float, float]]:
    """Yield time, power and energy of the running readings, except those that show the past."""
    begun_s: float | None = None
    kept_w = kept_wh = math.nan  # equal to nothing
    names = ("monotonic_s", "power_w", "energy_wh", "integration_s")
    for at_s, power_w, energy_wh, elapsed_s in run.running.rows(*names):
        if math.isnan(power_w) or math.isnan(energy_wh):
            continue
        if not math.isnan(elapsed_s):
            begun_s = at_s - elapsed_s if begun_s is None else begun_s
            if at_s - begun_s - elapsed_s > run.tolerance_s:
                continue
        # While power flows, each update has a new energy. Text and binary output round the same
        # value differently, so the comparison allows for rounding.
        if power_w > 0 and _same(kept_w, power_w) and _same(kept_wh, energy_wh):
            continue
        kept_w, kept_wh = power_w, energy_wh
        yield at_s, power_w, energy_wh


def _same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-5)
