# SPDX-License-Identifier: Apache-2.0
"""The limits of error of a reading's power and of a run's energy, term by term.

The terms are added as they are: each is a limit and no standard deviation, and nobody says that
they are independent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from power.energy.accuracy import (
    INTEGRATION_SHARE,
    TIMER_SHARE,
    Series,
    base_accuracy,
    current_heating_share,
    fast_update_share,
    line_filter_share,
    power_factor_influence,
    temperature_share,
    voltage_heating_share,
)
from power.energy.conditions import UNKNOWN, Conditions
from power.energy.sampled_limits import energy_terms, sampled_terms
from power.meter import SIGMA, Identity, InputMode, MeterSettings, Reading

Terms = dict[str, float]
"""Terms by name, in W for a power and in Wh for an energy."""

# Without a frequency in the readings (logs of earlier versions) RMS and VMEAN count as mains.
_ASSUMED_HZ = 50.0
# A stand-in for the row of 0.1 to 45 Hz.
_LOW_HZ = 10.0
# A voltage whose peak is this close to its rms value is direct, or as flat as a square wave.
_FLAT_CREST = 1.2


@dataclass(frozen=True)
class Measuring:
    """Everything about a measurement, beside the readings, on which the limit of error depends."""

    identity: Identity | None
    settings: MeterSettings
    conditions: Conditions = UNKNOWN

    @property
    def series(self) -> Series:
        """Return the columns of the accuracy table; an unknown meter counts as the older series."""
        return Series.of(self.identity.model if self.identity is not None else "")

    @property
    def elements(self) -> int:
        """Return how many elements a power adds up; each has its own error of range."""
        if self.settings.element != SIGMA:
            return 1
        name = self.identity.model.upper() if self.identity is not None else ""
        return 2 if name.startswith("WT332") else 3

    def power_range_w(self, reading: Reading) -> float | None:
        """Return voltage range times current range of a reading, or else of the settings."""
        volts = _first(reading.voltage_range_v, self.settings.voltage_range_v)
        amperes = _first(reading.current_range_a, self.settings.current_range_a)
        return None if volts is None or amperes is None else volts * amperes


def frequencies(reading: Reading, mode: InputMode) -> tuple[float, ...]:
    """Return the frequencies in Hz that the load may have; 0 is direct current.

    A meter that cannot tell the frequency measures direct current, or a frequency too low for its
    update interval. The voltage's peak tells the two apart.
    """
    frequency = reading.frequency_hz
    known = () if frequency is None or frequency <= 0 else (frequency,)
    if mode is InputMode.DC:
        return (0.0, *known)
    peak, volts = reading.voltage_peak_v, reading.voltage_v
    flat = bool(peak and volts and peak < _FLAT_CREST * abs(volts))
    if known:
        return (0.0, *known) if flat else known
    if "frequency_hz" not in reading.absent and frequency is None:
        return (_ASSUMED_HZ,)
    return (0.0,) if flat else (0.0, _LOW_HZ)


def power_terms(reading: Reading, measuring: Measuring) -> Terms | None:
    """Return the limits of the error of a reading's power in W, or None without power or range.

    Of several possible frequencies the one with the largest limit counts. A meter that is sampled
    has limits of its own.
    """
    if measuring.settings.sampling is not None:
        return sampled_terms(reading, measuring.settings.sampling)
    power_range_w = measuring.power_range_w(reading)
    if reading.power_w is None or power_range_w is None:
        return None
    found = [
        _terms_at(frequency, reading, abs(_power_w(reading)), power_range_w, measuring)
        for frequency in frequencies(reading, measuring.settings.mode)
    ]
    return max(found, key=total)


def total(terms: Terms) -> float:
    """Return the sum of all terms."""
    return sum(terms.values())


def power_limit_w(reading: Reading, measuring: Measuring) -> float | None:
    """Return the limit of the error of a reading's power in W, or None if it is not known."""
    terms = power_terms(reading, measuring)
    return None if terms is None else total(terms)


def zero_limit_w(reading: Reading, measuring: Measuring) -> float | None:
    """Return the power in W that the meter may show without a load: the error of the range."""
    idle = replace(reading, power_w=0.0, current_a=None, power_factor=None, elements=())
    return power_limit_w(idle, measuring)


def _terms_at(
    frequency_hz: float,
    reading: Reading,
    power_w: float,
    power_range_w: float,
    measuring: Measuring,
) -> Terms:
    settings, series = measuring.settings, measuring.series
    accuracy = base_accuracy(series, frequency_hz)
    ranges_w = power_range_w * measuring.elements
    voltage_share = voltage_heating_share(reading.voltage_v or 0.0)
    ambient_c = measuring.conditions.ambient_c
    return {
        "reading": accuracy.of_reading * power_w,
        "range": accuracy.of_range * ranges_w,
        # At crest factor 6 the error of range doubles (page 7-8).
        "crest factor": accuracy.of_range * ranges_w if settings.crest_factor == 6 else 0.0,
        "power factor": power_factor_influence(series, frequency_hz)
        * _reactive_va(frequency_hz, reading, power_w, settings),
        # Where no figure is given, the largest one stands in; `unspecified` makes it SUSPECT.
        "line filter": (
            (line_filter_share(frequency_hz) or 0.01) * power_w if settings.line_filter else 0.0
        ),
        "temperature": 0.0 if ambient_c is None else temperature_share(ambient_c) * power_w,
        "update interval": fast_update_share(settings.update_interval_s, frequency_hz) * power_w,
        "self-heating": (voltage_share + current_heating_share(reading.current_a or 0.0)) * power_w
        + (voltage_share * ranges_w if frequency_hz == 0 else 0.0),
    }


def _reactive_va(
    frequency_hz: float, reading: Reading, power_w: float, settings: MeterSettings
) -> float:
    """Return power times tan φ, the reactive power, on which the influence of page 7-8 acts.

    The formula of that page also divides the error of range by the apparent power in place of the
    power. That would make it smaller, so it keeps its full size here.
    """
    if frequency_hz == 0 or settings.mode is InputMode.DC:
        return 0.0
    factor = reading.power_factor
    if factor is not None and 0 < abs(factor) <= 1 and power_w > 0:
        return power_w * math.sqrt(1 - factor**2) / abs(factor)
    if settings.element == SIGMA or reading.voltage_v is None or reading.current_a is None:
        return 0.0
    return math.sqrt(max(0.0, (reading.voltage_v * reading.current_a) ** 2 - power_w**2))


def _power_w(reading: Reading) -> float:
    """Return a reading's power; elements that give back power have errors of their own."""
    powers = [element.power_w for element in reading.elements]
    known = [abs(power) for power in powers if power is not None]
    return max(abs(reading.power_w or 0.0), sum(known))


@dataclass(frozen=True)
class EnergyLimit:
    """The limit of the error of an energy, term by term, in Wh.

    `over_one_percent` is the share of the time in which the limit of the power alone was above 1 %
    of it; `worst` is the largest such share of the power, None if no power was above zero.
    """

    terms_wh: Terms
    over_one_percent: float
    worst: float | None

    @property
    def total_wh(self) -> float:
        """Return the sum of all terms."""
        return total(self.terms_wh)


def energy_limit(
    running: Sequence[Reading], energy_wh: float, duration_s: float, measuring: Measuring
) -> EnergyLimit | None:
    """Return the limit of error of an energy from the readings of its run, or None if not known.

    The limits of the powers are integrated over the run, each for the time since the reading
    before. The time before the first reading and after the last gets their mean. Integrator and
    timer add their own, or samples and a program's clock.
    """
    sums: Terms = {}
    weights = over = 0.0
    worst: float | None = None
    for seconds, reading in _weighted(running, measuring.settings.update_interval_s):
        terms = power_terms(reading, measuring)
        if terms is None:
            continue
        weights += seconds
        for name, watts in terms.items():
            sums[name] = sums.get(name, 0.0) + watts * seconds
        power_w, limit_w = abs(reading.power_w or 0.0), total(terms)
        if limit_w > 0.01 * power_w:
            over += seconds
        if power_w > 0:
            worst = max(worst or 0.0, limit_w / power_w)
    if not weights:
        return None
    hours = duration_s / 3600
    settings = measuring.settings
    own = {
        "integration": INTEGRATION_SHARE * abs(energy_wh),
        "timer": TIMER_SHARE * abs(energy_wh),
    }
    if settings.sampling is not None:
        own = energy_terms(running, energy_wh, settings.sampling, settings.update_interval_s)
    return EnergyLimit(
        {**{name: watts / weights * hours for name, watts in sums.items()}, **own},
        over / weights,
        worst,
    )


def _weighted(
    running: Iterable[Reading], update_interval_s: float
) -> Iterable[tuple[float, Reading]]:
    """Yield each reading with the whole updates since the one before, in seconds.

    Whole updates give the same sum from a log, whose times are rounded.
    """
    before_s: float | None = None
    for reading in running:
        passed_s = update_interval_s if before_s is None else reading.monotonic_s - before_s
        before_s = reading.monotonic_s
        yield max(0, round(passed_s / update_interval_s)) * update_interval_s, reading


def _first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)
