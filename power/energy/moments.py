# SPDX-License-Identifier: Apache-2.0
"""To which moment an energy belongs: the course of a run's energy, with what stays unknown.

A reading has the moment when its reply was complete. The energy in it is older: the meter counts at
its updates alone. So the moment of an energy is that of its update, and comes from four things.

**The grid.** START begins a new row of updates: recorded rows of a real meter show the energy of
exactly one second at TIME 1. So update k of a run that began at s ends at s + kT. `s` lies between
the sending of START and the end of its writing. Where a reading shows an update that by this grid
was still to come, START did not begin the row. Then an energy may be a whole update old.

**The number k of a reading's update** is a whole number, and four bounds hold for it:

- the update is over when the reply is complete: s + kT <= t_i;
- the question went out after the reply before it: k >= the newest update at t_(i-1);
- TIME is whole seconds, cut off: TIME <= kT < TIME + 1. From T = 1 s on this tells k alone;
- an energy that changed is that of a later update: k_i >= k_(i-1) + 1.

The third bound needs no clock of ours, so a reply that was late by any time has its k again a
second later. A reading whose k is not sure is left out: its neighbours bound it.

**The drift.** The meter's clock and ours differ by up to 300 ppm. The recorder keeps its readings
at the same distance from the updates, so the least of t_i - TIME_i over some seconds follows the
drift. What it may have missed counts for each moment (`_drift_s`): in a run of minutes the drift is
seen, and so is what a minute of it is.

**Within an update** nobody knows the course of the power, but the update bounds it. Let e be its
energy, and `a` of its T seconds lie before a moment. If the power stayed between l and h, the
energy until then is at least max(la, e - h(T - a)) and at most min(ha, e - l(T - a)). Its standard
deviation is d at most, so it also is within dT sqrt(b(1 - b)) of eb, where b = a/T (Cauchy and
Schwarz). The meter tells h and d. Where the waveforms keep their shape, power goes with current:

- the crest factor of the current is c h / rms, where c is that of a steady load. c is at least the
  voltage's, so h/rms <= x, the quotient of the crest factors;
- rms/mean <= 1 over the power factor of the update, because that of a steady load is 1 at most;
- rms/mean <= x, for two powers and more.

So where the current has the crest factor of the voltage, or the power factor is 1, the energy grows
evenly, and only the time is unsure. A switching supply without a filter looks like a load of
bursts, and nobody can tell them apart within an update: there the ± says so. Where the meter shows
no peaks, the powers around stand for l and h.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from power.energy.accuracy import CLOCKS_SHARE
from power.energy.duration import Duration
from power.energy.measured_run import Run
from power.meter import SIGMA, InputMode, MeterSettings, Reading
from power.readings import Columns, Mask, Numbers

START_OFF_S = 0.01
"""How late a START may have been carried out, where nobody noted when it was written."""

# Clocks of the log and of TIME are cut off or rounded by less.
_ROUNDING_S = 1e-3
# The recorder looks for the updates each minute, and finds them to a hundredth of an interval.
_REALIGNED_S = 60.0
_ALIGNED_SHARE = 0.02
_ENVELOPE_S = 30.0
# From this length on a run shows by how much the clocks drift: twice that, and a little more, is
# what they may.
_SEEN_S, _DRIFTS, _LEAST_SHARE = 120.0, 2.0, 2e-5
# More readings than this share that contradict the grid mean that there is no such grid.
_MOST_ODD = 0.05
# The five digits of voltage, current and peak move their ratio by less.
_DIGITS = 3e-4
# A power whose crests exceed it by less is steady, and so are powers in a row that differ by less.
_STEADY, _ALIKE = 1e-3, 1e-2
# So many updates around stand for an update whose peaks are not known.
_AROUND = 2


@dataclass(frozen=True)
class Until:
    """The energy from the start of a run until a moment.

    `within_wh` is the limit of its error from the unknown course within an update. The power at the
    moment lies between `low_w` and `high_w`; the moment may be off by `off_s`.
    """

    energy_wh: float
    within_wh: float
    low_w: float
    high_w: float
    off_s: float


@dataclass(frozen=True)
class EnergyCourse:
    """The energy at the ends of updates, and what bounds the power between them.

    `at_s` are moments on the clock of the readings; the first is the start of the run, the last its
    end. `low_w`, `high_w` and `deviation_w` belong to the stretch that begins at a moment.
    `start_off_s` is common to all moments between, `off_s` is each one's own.
    """

    at_s: Numbers
    energy_wh: Numbers
    low_w: Numbers
    high_w: Numbers
    deviation_w: Numbers
    off_s: Numbers
    start_off_s: float

    def until(self, moment_s: float) -> Until:
        """Return the energy until a moment, which is clipped to the run."""
        if moment_s <= self.at_s[0]:
            return Until(0.0, 0.0, 0.0, 0.0, 0.0)
        if moment_s >= self.at_s[-1]:
            return Until(float(self.energy_wh[-1]), 0.0, 0.0, 0.0, 0.0)
        at = min(int(np.searchsorted(self.at_s, moment_s, side="right")), len(self.at_s) - 1) - 1
        span_s = float(self.at_s[at + 1] - self.at_s[at])
        passed_s = moment_s - float(self.at_s[at])
        least, most, likely = self._within(at, passed_s, span_s)
        low_w, high_w = self._around(at, passed_s, span_s)
        return Until(
            float(self.energy_wh[at]) + likely / 3600,
            max(most - likely, likely - least) / 3600,
            low_w,
            high_w,
            float(max(self.off_s[at], self.off_s[at + 1])),
        )

    def _within(self, at: int, passed_s: float, span_s: float) -> tuple[float, float, float]:
        """Return the least, the most and the likely energy of a stretch's first seconds, in Ws."""
        whole_ws = 3600 * float(self.energy_wh[at + 1] - self.energy_wh[at])
        low_w, high_w = float(self.low_w[at]), float(self.high_w[at])
        left_s, share = span_s - passed_s, passed_s / span_s
        even_ws = whole_ws * share
        far_ws = float(self.deviation_w[at]) * span_s * math.sqrt(share * (1 - share))
        least = max(low_w * passed_s, whole_ws - high_w * left_s, even_ws - far_ws)
        most = min(high_w * passed_s, whole_ws - low_w * left_s, even_ws + far_ws)
        least, most = min(least, even_ws), max(most, even_ws)
        return least, most, min(most, max(least, self._one_step_ws(at, passed_s, span_s)))

    def _one_step_ws(self, at: int, passed_s: float, span_s: float) -> float:
        """Return the energy of a stretch's first seconds if the power changed once, as around.

        A mark names what begins, so this is what happens most often. Otherwise it grew evenly.
        """
        whole_ws = 3600 * float(self.energy_wh[at + 1] - self.energy_wh[at])
        before_w, after_w = self._mean_w(at - 1), self._mean_w(at + 1)
        mean_w = whole_ws / span_s
        if before_w == after_w or not min(before_w, after_w) <= mean_w <= max(before_w, after_w):
            return whole_ws * passed_s / span_s
        step_s = (mean_w - after_w) / (before_w - after_w) * span_s
        return before_w * min(passed_s, step_s) + after_w * max(0.0, passed_s - step_s)

    def _around(self, at: int, passed_s: float, span_s: float) -> tuple[float, float]:
        """Return the bounds of the power at a moment, with those of a neighbour that is near."""
        near = [at]
        if passed_s < self.off_s[at] + self.start_off_s and at > 0:
            near.append(at - 1)
        if span_s - passed_s < self.off_s[at] + self.start_off_s and at + 2 < len(self.at_s):
            near.append(at + 1)
        return min(float(self.low_w[one]) for one in near), max(
            float(self.high_w[one]) for one in near
        )

    def _mean_w(self, at: int) -> float:
        """Return the mean power of a stretch; NaN, which compares with nothing, outside the run."""
        if not 0 <= at < len(self.at_s) - 1:
            return math.nan
        return float(
            3600
            * (self.energy_wh[at + 1] - self.energy_wh[at])
            / (self.at_s[at + 1] - self.at_s[at])
        )


def course_of(
    readings: Sequence[Reading],
    settings: MeterSettings,
    start_off_s: float,
    lasted: Duration,
) -> EnergyCourse | None:
    """Return the course of the run within the readings, whose clock began at its start.

    The meter began to integrate at most `start_off_s` later, and did so for the time `lasted`. None
    if the readings have no run, or no energy.
    """
    run = Run.of(readings, settings)
    if run is None:
        return None
    ended_s = (lasted.low_s, start_off_s + lasted.high_s)
    return energy_course(run, (0.0, start_off_s), ended_s)


def energy_course(
    run: Run, start_s: tuple[float, float], end_s: tuple[float, float]
) -> EnergyCourse | None:
    """Return the course of a run's energy, None if the run has none.

    The integration began between the two moments of `start_s`, and ended between those of `end_s`,
    all on the clock of the readings.
    """
    rows = run.running.where(~np.isnan(run.running.numbers("energy_wh")))
    final_wh = run.final.energy_wh
    if final_wh is None or not math.isfinite(final_wh) or end_s[0] <= start_s[0]:
        return None
    begun_s, start_off_s = (start_s[0] + start_s[1]) / 2, (start_s[1] - start_s[0]) / 2
    ended_s, end_off_s = (end_s[0] + end_s[1]) / 2, (end_s[1] - end_s[0]) / 2
    at_s, off_s, sure = _moments(rows, run, begun_s, start_off_s)
    sure &= (at_s > begun_s) & (at_s < ended_s)
    # Of readings that show the same update one is enough.
    sure[1:] &= ~(sure[:-1] & (at_s[1:] <= at_s[:-1] + 1e-6))
    kept = np.flatnonzero(sure)
    times_s = np.concatenate(([begun_s], at_s[kept], [ended_s]))
    energy_wh = np.concatenate(([0.0], rows.numbers("energy_wh")[kept], [final_wh]))
    low_w, high_w, deviation_w = _bounds(rows, run, kept, times_s, energy_wh)
    offs_s = np.concatenate(([0.0], off_s[kept], [end_off_s]))
    return EnergyCourse(times_s, energy_wh, low_w, high_w, deviation_w, offs_s, start_off_s)


def moments_of(run: Run, start_s: tuple[float, float]) -> tuple[Columns, Numbers, Numbers]:
    """Return the running readings with an energy, the moment of each energy, and its error.

    Where the update is not sure, the error is half of what is possible.
    """
    rows = run.running.where(~np.isnan(run.running.numbers("energy_wh")))
    begun_s, off_s = (start_s[0] + start_s[1]) / 2, (start_s[1] - start_s[0]) / 2
    at_s, own_s, _ = _moments(rows, run, begun_s, off_s)
    return rows, at_s, own_s + off_s


def likely_moment_s(passed_s: float, counted_s: float | None, update_s: float) -> float:
    """Return the moment of one reading's energy, told by this reading alone.

    `passed_s` is when its reply was complete, and `counted_s` its TIME, both since the start. It is
    that of the newest update, unless TIME tells another one.
    """
    number = math.floor(passed_s / update_s + _DIGITS)
    if counted_s is not None:
        least = math.ceil(counted_s / update_s - 1e-6)
        number = max(least, min(number, math.ceil((counted_s + 1.0) / update_s - 1e-6) - 1))
    return min(number * update_s, passed_s)


def _moments(
    rows: Columns, run: Run, begun_s: float, start_off_s: float
) -> tuple[Numbers, Numbers, Mask]:
    """Return the moment of each energy, its own error, and whether its update is sure."""
    update_s = run.settings.update_interval_s
    passed_s = rows.numbers("monotonic_s") - begun_s
    counted_s = rows.numbers("integration_s")
    if run.sampled:
        # A program counts whole updates from its start on, by our own clock.
        known = ~np.isnan(counted_s)
        return begun_s + np.where(known, counted_s, passed_s), np.zeros(len(rows)), known
    drift_s = _drift_s(passed_s, counted_s)
    off_s = _drift_off_s(passed_s, drift_s, update_s)
    slack_s = start_off_s + off_s + _ROUNDING_S
    least, most = update_numbers(
        passed_s - drift_s, counted_s, rows.numbers("energy_wh"), update_s, slack_s
    )
    odd = least > most
    if len(rows) and odd.mean() > _MOST_ODD:
        # There is no such grid: the energy of a reading is up to an update old.
        half_s = update_s / 2
        return begun_s + passed_s - half_s, np.full(len(rows), half_s), np.full(len(rows), True)
    middle = (least + most) / 2
    unsure_s = np.where(odd, 1.0, (most - least) / 2) * update_s
    return begun_s + middle * update_s + drift_s, off_s + unsure_s, least == most


def update_numbers(
    passed_s: Numbers, counted_s: Numbers, energy_wh: Numbers, update_s: float, slack_s: Numbers
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the least and the largest number that the update of each reading can have.

    `passed_s` is when the replies were complete, and `counted_s` the meter's TIME, both since the
    start. The least is above the largest where a reading contradicts the grid.
    """
    before_s = np.concatenate(([0.0], passed_s[:-1]))
    most = np.floor((passed_s + slack_s) / update_s)
    least = np.maximum(0.0, np.floor((before_s - slack_s) / update_s))
    timed = ~np.isnan(counted_s)
    whole_s = np.where(timed, counted_s, 0.0)
    of_time = np.ceil(whole_s / update_s - 1e-6)
    below = np.ceil((whole_s + 1.0) / update_s - 1e-6) - 1.0
    least = np.where(timed, np.maximum(least, of_time), least)
    most = np.where(timed, np.minimum(most, below), most)
    grew = np.diff(energy_wh, prepend=0.0) != 0
    growths = np.cumsum(grew)
    least = np.maximum(least, growths)
    least = np.maximum.accumulate(least - growths) + growths if len(least) else least
    most = (np.minimum.accumulate((most - growths)[::-1])[::-1]) + growths if len(most) else most
    return least.astype(np.int64), most.astype(np.int64)


def _drift_s(passed_s: Numbers, counted_s: Numbers) -> Numbers:
    """Return by how much our clock has run ahead of the meter's, as the quickest replies show."""
    late_s = passed_s - counted_s
    known = ~np.isnan(late_s)
    if not known.any() or passed_s[-1] < 2 * _ENVELOPE_S:
        return np.zeros(len(passed_s))
    window = np.floor(passed_s[known] / _ENVELOPE_S).astype(np.int64)
    first = np.flatnonzero(np.diff(window, prepend=-1))
    least_s = np.minimum.reduceat(late_s[known], first)
    middle_s = (window[first] + 0.5) * _ENVELOPE_S
    limit_s = CLOCKS_SHARE * passed_s
    drift_s: Numbers = np.interp(passed_s, middle_s, least_s - least_s[0])
    return np.minimum(np.maximum(drift_s, -limit_s), limit_s)


def _drift_off_s(passed_s: Numbers, drift_s: Numbers, update_s: float) -> Numbers:
    """Return what the followed drift may miss.

    Between two looks at the updates a reply moves away from its update by the drift of a minute.
    """
    length_s = float(passed_s[-1]) if len(passed_s) else 0.0
    share = CLOCKS_SHARE
    if length_s >= _SEEN_S:
        share = min(share, _DRIFTS * float(np.abs(drift_s).max()) / length_s + _LEAST_SHARE)
    return np.minimum(
        CLOCKS_SHARE * np.maximum(passed_s, 0.0), share * _REALIGNED_S + _ALIGNED_SHARE * update_s
    )


def _bounds(
    rows: Columns,
    run: Run,
    kept: NDArray[np.intp],
    times_s: Numbers,
    energy_wh: Numbers,
) -> tuple[Numbers, Numbers, Numbers]:
    """Return the least and the greatest power of each stretch, and its greatest deviation."""
    spans_s = np.diff(times_s)
    means_w = 3600 * np.diff(energy_wh) / np.maximum(spans_s, 1e-9)
    last = [np.nan]  # what the meter shows after the end is no update of the run
    of_rms, of_mean = (np.concatenate((excess[kept], last)) for excess in _excess(rows, run))
    update_s = run.settings.update_interval_s
    whole = np.abs(spans_s - update_s) < 0.01 * update_s
    known = whole & ~np.isnan(of_rms)
    sizes_w = np.abs(means_w)
    # A little more than nothing is due to the last digits.
    high_w = np.where(known, sizes_w * (of_rms * of_mean + _DIGITS), means_w)
    floor_w = -high_w if run.settings.both_ways else np.minimum(0.0, means_w)
    steady = high_w - sizes_w <= _STEADY * sizes_w
    low_w = np.where(known & steady, means_w - _STEADY * sizes_w, floor_w)
    near_low_w, near_high_w = _of_those_around(means_w, low_w, high_w, floor_w, known)
    low_w, high_w = np.where(known, low_w, near_low_w), np.where(known, high_w, near_high_w)
    deviation_w = np.where(known, sizes_w * np.sqrt(of_mean**2 - 1 + _DIGITS), np.inf)
    return low_w, high_w, deviation_w


def _of_those_around(
    means_w: Numbers, low_w: Numbers, high_w: Numbers, floor_w: Numbers, known: Mask
) -> tuple[Numbers, Numbers]:
    """Return bounds of a stretch without peaks from those around, wider by their spread.

    Where those around are not alike, it may have had any power up to the highest of the run.
    """
    lows_w, highs_w = means_w.copy(), means_w.copy()
    for step in range(1, _AROUND + 1):
        for ahead in (step, -step):
            there = np.clip(np.arange(len(means_w)) + ahead, 0, len(means_w) - 1)
            lows_w = np.minimum(lows_w, np.where(known[there], low_w[there], means_w[there]))
            highs_w = np.maximum(highs_w, np.where(known[there], high_w[there], means_w[there]))
    spread_w = highs_w - lows_w
    alike = spread_w <= _ALIKE * np.abs(means_w)
    most_w = np.maximum(highs_w, high_w.max()) + spread_w
    return (
        np.where(alike, lows_w - spread_w, floor_w),
        np.where(alike, highs_w + spread_w, most_w),
    )


def _excess(rows: Columns, run: Run) -> tuple[Numbers, Numbers]:
    """Return by how much peak and rms of each update's power may exceed its mean; NaN if unknown.

    The first is the highest power over the rms, by the crest factor of the current: that of a
    steady load is at least that of the voltage. The second is the rms over the mean.
    """
    volts, amperes = rows.numbers("voltage_v"), np.abs(rows.numbers("current_a"))
    watts = np.abs(rows.numbers("power_w"))
    peak_v, peak_a = rows.numbers("voltage_peak_v"), rows.numbers("current_peak_a")
    usable = (amperes > 0) & (volts > 0) & (peak_a > 0) & (peak_v > 0) & (watts > 0)
    # In DC mode on an alternating load voltage and current are means, and so are those of a sum.
    usable &= watts <= 1.02 * volts * amperes
    usable &= run.settings.element != SIGMA and run.settings.mode is not InputMode.VMEAN
    nothing = np.full(len(rows), np.nan)
    if not usable.any():
        return nothing, nothing
    crest = np.divide(peak_a, amperes, out=nothing.copy(), where=usable)
    of_voltage = float(np.median(peak_v[usable] / volts[usable]))
    steady = max(1.0, min(of_voltage, float(np.nanmin(crest))))
    of_rms: Numbers = np.maximum(1.0, crest / steady)
    inverse_factor = np.divide(volts * amperes, watts, out=nothing.copy(), where=usable)
    of_mean: Numbers = np.maximum(1.0, np.minimum(of_rms, inverse_factor))
    return of_rms, of_mean
