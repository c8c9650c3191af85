# SPDX-License-Identifier: Apache-2.0
"""The meter's accuracy tables, as the manuals print them; pure functions of their columns.

Pages 7-7 and 7-8 of IM WT310E-02EN (E series) and of IM WT310-02EN (older series) hold the figures
for active power, and everything that adds to them. They hold for 12 months after a calibration, at
23 ± 5 °C. All figures are limits of error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

# Integration adds 0.1 % of reading and the timer 0.02 %. Users of the series quote these two
# figures; the manuals that we have do not give them.
INTEGRATION_SHARE = 0.001
TIMER_SHARE = 0.0002

CLOCKS_SHARE = TIMER_SHARE + 0.0001
"""The meter's clock and ours differ by no more: crystals of computers are good to 100 ppm."""

NOT_ESTABLISHED = ("temperature", "update interval", "integration", "timer")
"""The terms of a budget whose figures no manual that we have gives."""

VALID_MONTHS = 12
"""The table holds for this long after a calibration (page 7-7)."""

TABLE_C = (18.0, 28.0)
"""The temperatures in °C at which the table holds: 23 ± 5 °C."""

OPERATING_C = (5.0, 40.0)
"""The temperatures in °C between which the temperature coefficient is given."""

# Per °C outside `TABLE_C`. Page 7-8 refers to the coefficient of voltage and current, on page 7-6.
# We have that page from users' quotations only; so is the figure for updates of 100 ms.
_TEMPERATURE_SHARE = 0.0003
_FAST_UPDATE_SHARE = 0.0005
FAST_UPDATE_S = 0.1
_FAST_UPDATE_MOST_HZ = 1000.0

# Self-heating: this share of the reading for each V² and each A². Page 7-7 has a smaller figure
# for the high current of WT310EH and WT310HC.
_VOLTAGE_HEATING = 1e-9
_CURRENT_HEATING = 1.3e-6

_MAINS_LEAST_HZ, _MAINS_MOST_HZ = 45.0, 66.0


@dataclass(frozen=True)
class PowerAccuracy:
    """The limits of the error of active power, as shares of the reading and of the range."""

    of_reading: float
    of_range: float


@dataclass(frozen=True)
class Series:
    """What tells the columns of the accuracy table apart.

    `e_series` tells the newer meters, `high_current` the direct current input of WT310EH and
    WT310HC.
    """

    e_series: bool
    high_current: bool

    @staticmethod
    def of(model: str) -> Series:
        """Return the columns for a model as it names itself; unknown models get the widest limits.

        An E meter in WT300 command mode names itself as the older one (IM WT310E-17EN, page 8-1).
        So the limit may be too wide, but never too narrow.
        """
        name = model.upper()
        return Series(name.endswith(("E", "EH")), name.endswith(("EH", "HC")))


def base_accuracy(series: Series, frequency_hz: float) -> PowerAccuracy:
    """Return the accuracy at power factor 1 and crest factor 3 (page 7-7); 0 Hz is direct current.

    Above 100 kHz there is none; the last row stands in.
    """
    kilohertz = frequency_hz / 1000
    if frequency_hz < _MAINS_LEAST_HZ:
        direct = frequency_hz <= 0 and not series.high_current
        return PowerAccuracy(0.001 if direct else 0.003, 0.002)
    if frequency_hz <= _MAINS_MOST_HZ:
        return PowerAccuracy(0.001, 0.0005 if series.e_series else 0.001)
    if kilohertz <= 1:
        return PowerAccuracy(0.002, 0.002)
    if series.high_current:
        return PowerAccuracy(0.0013 * kilohertz, 0.003 if kilohertz <= 10 else 0.005)
    if kilohertz <= 10:
        return PowerAccuracy(0.001 + 0.00067 * (kilohertz - 1), 0.003)
    return PowerAccuracy(0.005 + 0.0009 * (kilohertz - 10), 0.005)


def power_factor_influence(series: Series, frequency_hz: float) -> float:
    """Return the influence at power factor 0 as a share of the apparent power (page 7-8)."""
    least, rise = (0.001, 0.0015) if series.e_series else (0.002, 0.002)
    if frequency_hz <= _MAINS_MOST_HZ:
        return least
    return least + rise * frequency_hz / 1000


def line_filter_share(frequency_hz: float) -> float | None:
    """Return what the line filter adds, as a share of the reading (page 7-8); None if not given."""
    if frequency_hz < _MAINS_LEAST_HZ:
        return 0.01
    return 0.003 if frequency_hz <= _MAINS_MOST_HZ else None


def temperature_share(ambient_c: float) -> float:
    """Return what an ambient temperature adds, as a share of the reading (page 7-8)."""
    least, most = TABLE_C
    return _TEMPERATURE_SHARE * max(0.0, least - ambient_c, ambient_c - most)


def fast_update_share(update_interval_s: float, frequency_hz: float) -> float:
    """Return what updates of 100 ms add between 0.1 Hz and 1 kHz, as a share of the reading."""
    fast = math.isclose(update_interval_s, FAST_UPDATE_S)
    return _FAST_UPDATE_SHARE if fast and 0 < frequency_hz <= _FAST_UPDATE_MOST_HZ else 0.0


def voltage_heating_share(voltage_v: float) -> float:
    """Return what the voltage's own heat adds, as a share of the reading (page 7-7).

    Direct current gets the same share of the range too.
    """
    return _VOLTAGE_HEATING * voltage_v**2


def current_heating_share(current_a: float) -> float:
    """Return what the current's own heat adds, as a share of the reading (page 7-7)."""
    return _CURRENT_HEATING * current_a**2
