# SPDX-License-Identifier: Apache-2.0
"""The limits of error of a reading's power and of a run's energy, term by term.

The terms are added as they are: each is a limit and no standard deviation, and nobody says that
they are independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TypeVar

import numpy as np

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
from power.energy.conditions import UNKNOWN, AmbientConditions
from power.meter import SIGMA, Identity, InputMode, MeterSettings, Reading, Sampling
from power.readings import Columns, Mask, Numbers, Readings, in_order

Terms = dict[str, float]
"""Terms by name, in W for a power and in Wh for an energy."""

RowTerms = dict[str, Numbers]
"""Terms by name in W, each for a number of readings."""

Number = TypeVar("Number", float, Numbers)

# Without a frequency in the readings (a log may lack it) RMS and VMEAN count as mains.
_ASSUMED_HZ = 50.0
# A stand-in for the row of 0.1 to 45 Hz.
_LOW_HZ = 10.0
# A voltage whose peak is this close to its rms value is direct, or as flat as a square wave.
_FLAT_CREST = 1.2

# Crystals of computers and boards are good to 100 ppm.
CLOCK_SHARE = 0.0001


@dataclass(frozen=True)
class Measuring:
    """Everything about a measurement, beside the readings, on which the limit of error depends."""

    identity: Identity | None
    settings: MeterSettings
    conditions: AmbientConditions = UNKNOWN

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

    def power_range_w(self, rows: Columns) -> Numbers:
        """Return voltage range times current range of each reading, or else of the settings."""
        volts, amperes = self.settings.voltage_range_v, self.settings.current_range_a
        return rows.each(
            lambda kind: volts if kind.voltage_range_v is None else kind.voltage_range_v
        ) * rows.each(
            lambda kind: amperes if kind.current_range_a is None else kind.current_range_a
        )


def frequencies(rows: Columns, mode: InputMode) -> tuple[Mask, Numbers]:
    """Return which loads may be direct current, and another frequency in Hz that each may have.

    It is NaN where there is no other. A meter that cannot tell the frequency measures direct
    current, or a frequency too low for its update interval. The voltage's peak tells the two apart.
    """
    hertz, volts = rows.numbers("frequency_hz"), rows.numbers("voltage_v")
    known = np.where(hertz > 0, hertz, np.nan)
    if mode is InputMode.DC:
        return np.full(len(rows), True), known
    peak = rows.numbers("voltage_peak_v")
    flat = (peak != 0) & (volts != 0) & (peak < _FLAT_CREST * np.abs(volts))
    asked = rows.having(lambda kind: any(name == "frequency_hz" for name, _ in kind.absent))
    assumed = np.isnan(hertz) & ~asked
    low = np.isnan(known) & ~assumed
    other = np.where(assumed, _ASSUMED_HZ, np.where(low & ~flat, _LOW_HZ, known))
    return (flat & ~assumed) | low, other


def all_frequencies(rows: Columns, mode: InputMode) -> set[float]:
    """Return each frequency in Hz that a load may have; 0 is direct current."""
    direct, other = frequencies(rows, mode)
    return {*np.unique(other[~np.isnan(other)]).tolist(), *([0.0] if direct.any() else [])}


@np.errstate(all="ignore")
def row_terms(rows: Columns, measuring: Measuring) -> RowTerms | None:
    """Return the limits of the error of each reading's power in W, NaN without power or range.

    Of several possible frequencies the one with the largest limit counts. A meter that is sampled
    has limits of its own; None if nobody specifies one.
    """
    if measuring.settings.sampling is not None:
        return sampled_terms(rows, measuring.settings.sampling)
    direct, other = frequencies(rows, measuring.settings.mode)
    low, high = _terms_at(np.zeros(len(rows)), rows, measuring), _terms_at(other, rows, measuring)
    # A NaN of `high`, where there is no other frequency, is larger than nothing.
    higher = ~direct | (total(high) > total(low))
    return {name: np.where(higher, high[name], low[name]) for name in low}


def power_terms(reading: Reading, measuring: Measuring) -> Terms | None:
    """Return the limits of the error of a reading's power in W, or None without power or range."""
    terms = row_terms(Readings([reading]).columns(), measuring)
    if terms is None or np.isnan(total(terms)[0]):
        return None
    return {name: float(watts[0]) for name, watts in terms.items()}


def total(terms: Mapping[str, Number]) -> Number:
    """Return the sum of all terms."""
    first, *others = terms.values()
    return reduce(add, others, first)


def power_limit_w(reading: Reading, measuring: Measuring) -> float | None:
    """Return the limit of the error of a reading's power in W, or None if it is not known."""
    terms = power_terms(reading, measuring)
    return None if terms is None else total(terms)


def power_limits_w(rows: Columns, measuring: Measuring) -> Numbers:
    """Return the limit of the error of each reading's power in W; NaN where it is not known."""
    limits_w = [np.empty(0)]
    for block in rows.blocks():
        terms = row_terms(block, measuring)
        limits_w.append(np.full(len(block), np.nan) if terms is None else total(terms))
    return np.concatenate(limits_w)


def zero_limit_w(reading: Reading, measuring: Measuring) -> float | None:
    """Return the power in W that the meter may show without a load: the error of the range."""
    idle = replace(reading, power_w=0.0, current_a=None, power_factor=None, elements=())
    return power_limit_w(idle, measuring)


def _terms_at(hertz: Numbers, rows: Columns, measuring: Measuring) -> RowTerms:
    settings, series = measuring.settings, measuring.series
    power_w = _power_w(rows)
    accuracy = {frequency: base_accuracy(series, frequency) for frequency in _distinct(hertz)}
    of_range = _by_value(lambda frequency: accuracy[frequency].of_range, hertz)
    ranges_w = measuring.power_range_w(rows) * measuring.elements
    voltage_share = _by_value(voltage_heating_share, np.nan_to_num(rows.numbers("voltage_v")))
    current_share = _by_value(current_heating_share, np.nan_to_num(rows.numbers("current_a")))
    ambient_c = measuring.conditions.ambient_c
    nothing = np.zeros(len(rows))
    return {
        "reading": _by_value(lambda frequency: accuracy[frequency].of_reading, hertz) * power_w,
        "range": of_range * ranges_w,
        # At crest factor 6 the error of range doubles (page 7-8).
        "crest factor": of_range * ranges_w if settings.crest_factor == 6 else nothing,
        "power factor": _by_value(
            lambda frequency: power_factor_influence(series, frequency), hertz
        )
        * _reactive_va(hertz, rows, power_w, settings),
        # Where no figure is given, the largest one stands in; `unspecified` makes it SUSPECT.
        "line filter": (
            _by_value(lambda frequency: line_filter_share(frequency) or 0.01, hertz) * power_w
            if settings.line_filter
            else nothing
        ),
        "temperature": nothing if ambient_c is None else temperature_share(ambient_c) * power_w,
        "update interval": power_w
        * _by_value(
            lambda frequency: fast_update_share(settings.update_interval_s, frequency), hertz
        ),
        "self-heating": (voltage_share + current_share) * power_w
        + np.where(hertz == 0, voltage_share * ranges_w, 0.0),
    }


def _distinct(values: Numbers) -> list[float]:
    """Return the values that occur; NaN is none."""
    distinct: list[float] = np.unique(values[~np.isnan(values)]).tolist()
    return distinct


def _by_value(rule: Callable[[float], float], values: Numbers) -> Numbers:
    """Return what a rule gives for each value; NaN for NaN. Most values occur many times."""
    distinct, at = np.unique(values, return_inverse=True)
    results = [math.nan if math.isnan(value) else rule(value) for value in distinct.tolist()]
    return np.array(results, dtype=np.float64)[at]


def _reactive_va(
    hertz: Numbers, rows: Columns, power_w: Numbers, settings: MeterSettings
) -> Numbers:
    """Return power times tan φ, the reactive power, on which the influence of page 7-8 acts.

    The formula of that page also divides the error of range by the apparent power in place of the
    power. That would make it smaller, so it keeps its full size here.
    """
    if settings.mode is InputMode.DC:
        return np.zeros(len(rows))
    factor = np.abs(rows.numbers("power_factor"))
    by_factor = power_w * _by_value(lambda size: math.sqrt(max(0.0, 1 - size**2)), factor) / factor
    apparent_va = rows.numbers("voltage_v") * rows.numbers("current_a")
    by_product = np.sqrt(np.maximum(0.0, _square(apparent_va) - _square(power_w)))
    if settings.element == SIGMA:
        by_product = np.zeros(len(rows))
    usable = (factor > 0) & (factor <= 1) & (power_w > 0)
    reactive_va = np.where(usable, by_factor, np.nan_to_num(by_product))
    return np.where(hertz == 0, 0.0, reactive_va)


def _square(values: Numbers) -> Numbers:
    """Return squares with the bits of Python's own, which numpy rounds differently now and then."""
    return np.array([value**2 for value in values.data], dtype=np.float64)


def _power_w(rows: Columns) -> Numbers:
    """Return powers without sign; elements that give back power have errors of their own."""
    known = sum(
        (np.abs(np.nan_to_num(rows.element(number, "power_w"))) for number in rows.elements),
        start=np.zeros(len(rows)),
    )
    return np.maximum(np.abs(rows.numbers("power_w")), known)


@dataclass(frozen=True)
class EnergyLimit:
    """The limit of the error of an energy, term by term, in Wh.

    `over_one_percent` is the share of the time in which the limit of the power alone was above 1 %
    of it; `worst` is the largest such share of the power, None if no power was above zero.
    `without_power` is the share of the time in which the meter showed exactly zero: no share of
    that is known, so the limit counts as above 1 %.
    """

    terms_wh: Terms
    over_one_percent: float
    worst: float | None
    without_power: float = 0.0

    @property
    def total_wh(self) -> float:
        """Return the sum of all terms."""
        return total(self.terms_wh)


def energy_limit(
    running: Sequence[Reading] | Columns, energy_wh: float, duration_s: float, measuring: Measuring
) -> EnergyLimit | None:
    """Return the limit of error of an energy from the readings of its run, or None if not known.

    The limits of the powers are integrated over the run, each for the time since the reading
    before. The time before the first reading and after the last gets their mean. Integrator and
    timer add their own, or samples and a program's clock.
    """
    rows = running if isinstance(running, Columns) else Readings.of(running).columns()
    update_s = measuring.settings.update_interval_s
    sums: Terms = {}
    weights_s = over_s = zero_s = 0.0
    worst: float | None = None
    passed_s, at = updates_s(rows, update_s), 0
    for block in rows.blocks():
        at += len(block)
        terms = row_terms(block, measuring)
        if terms is None:
            return None
        limit_w = total(terms)
        known = ~np.isnan(limit_w)
        power_w, limit_w = np.abs(block.numbers("power_w")[known]), limit_w[known]
        seconds = passed_s[at - len(block) : at][known]
        weights_s = in_order(seconds, weights_s)
        over_s = in_order(seconds[limit_w > 0.01 * power_w], over_s)
        zero_s = in_order(seconds[power_w == 0], zero_s)
        for name, watts in terms.items():
            sums[name] = in_order(watts[known] * seconds, sums.get(name, 0.0))
        if (power_w > 0).any():
            share = float((limit_w[power_w > 0] / power_w[power_w > 0]).max())
            worst = max(worst or 0.0, share)
    if not weights_s:
        return None
    hours = duration_s / 3600
    settings = measuring.settings
    of_counter = {
        "integration": INTEGRATION_SHARE * abs(energy_wh),
        "timer": TIMER_SHARE * abs(energy_wh),
    }
    if settings.sampling is not None:
        of_counter = energy_terms(rows, energy_wh, settings.sampling, settings.update_interval_s)
    return EnergyLimit(
        {**{name: watts / weights_s * hours for name, watts in sums.items()}, **of_counter},
        over_s / weights_s,
        worst,
        zero_s / weights_s,
    )


def updates_s(rows: Columns, update_interval_s: float) -> Numbers:
    """Return the whole updates since the reading before each, in seconds.

    Whole updates give the same sum from a log, whose times are rounded.
    """
    at_s = rows.numbers("monotonic_s")
    updates = np.rint(np.diff(at_s) / update_interval_s)
    return np.concatenate(([1.0] * min(1, len(at_s)), np.maximum(0.0, updates))) * update_interval_s


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
