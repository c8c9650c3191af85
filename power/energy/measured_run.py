# SPDX-License-Identifier: Apache-2.0
"""The readings of one integration, prepared for the checks of its energy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from power.energy.accuracy import accuracy_of, power_uncertainty_w
from power.meter import Identity, IntegrationState, MeterSettings, Reading

ENDED = (IntegrationState.STOP, IntegrationState.TIMEUP)
_SECOND = 1.0


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
        """Return how far times may differ: one update, and one second because TIME is whole."""
        return self.settings.update_interval_s + _SECOND

    @property
    def power_range_w(self) -> float | None:
        """Return the largest voltage range times the largest current range in use, in watts."""
        volts = self._range("voltage_range_v")
        amperes = self._range("current_range_a")
        return None if volts is None or amperes is None else volts * amperes

    def _range(self, name: str) -> float | None:
        fixed: float | None = getattr(self.settings, name)
        seen = [value for row in self.readings if (value := getattr(row, name)) is not None]
        return max(seen) if seen else fixed


def noise_floor_w(run: Run, identity: Identity | None = None) -> float:
    """Return the power in watts that the meter may show without a load: its error at zero."""
    power_range_w = run.power_range_w
    if power_range_w is None:
        return 1e-3
    return power_uncertainty_w(accuracy_of(identity, run.settings.mode), 0.0, power_range_w)
