# SPDX-License-Identifier: Apache-2.0
"""What a command took, and how much of it is above what the idle device takes.

One integration covers idle time, the command, and idle time again. The window goes from the last
reading before the command to the first one whose update surely lies after its end, so no edge of
the command falls between two updates. In that window the device takes its idle power, and the rest
is the command's: the net energy. How the command's edges lie to the updates does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from power.energy.measured_run import Run
from power.energy.uncertainty import Measuring, Terms, energy_limit, power_limits_w, total
from power.energy.verdict import Finding, suspect
from power.meter import MeterSettings, Reading
from power.readings import Columns, Numbers

IDLE_LEAST = 3
"""The idle power needs so many readings on one side of the command at least."""

# A reading may be late by so much, beside the update that it shows.
_LATE_S = 0.1
_LATE_UPDATES = 1.5
# When the readings around it tell how late a reading is, it counts as early from this share of an
# update on: a busy computer makes readings late and none early.
_EARLY = 0.8
# So many readings before and after it tell how late a reading is.
_NEIGHBOURS = 20
# The scatter of the idle power counts with two standard errors.
_STANDARD_ERRORS = 2.0
_MOST_ALIKE = 0.95
# The meter shows six digits of an energy (IM WT310E-17EN, page 6-19).
_DIGITS_SHARE = 1e-5
# The two idle powers may differ by this share of the net power.
_MOST_DRIFT = 0.1


@dataclass(frozen=True)
class Span:
    """When a command ran, on the clock of the readings."""

    begun_s: float
    ended_s: float

    @property
    def seconds(self) -> float:
        """Return its length."""
        return self.ended_s - self.begun_s


@dataclass(frozen=True)
class NetEnergy:
    """The energy of a command with and without the idle power.

    `energy_wh` is the net energy and the idle energy of the command's own `seconds`. `terms_wh` are
    the terms of `net_uncertainty_wh`, which is None where the accuracy of the powers is not known.
    The idle power before or after the command is None if it was not measured.
    """

    seconds: float
    energy_wh: float
    idle_w: float
    net_energy_wh: float
    net_uncertainty_wh: float | None
    idle_before_w: float | None
    idle_after_w: float | None
    terms_wh: Terms = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


def settling_s(settings: MeterSettings) -> float:
    """Return how long after an event a reading surely shows an update that lies after it."""
    sampling = settings.sampling
    device_s = 0.0 if sampling is None else sampling.interval_s + sampling.renewal_s
    return _LATE_UPDATES * settings.update_interval_s + _LATE_S + device_s


def net_energy(readings: Sequence[Reading], span: Span, measuring: Measuring) -> NetEnergy | None:
    """Return the energy of a command; None without readings around it, or without an idle power.

    `readings` are those of one integration, which began before the command and ended after it.
    """
    run = Run.of(readings, measuring.settings)
    if run is None:
        return None
    names = ("power_w", "energy_wh")
    rows = run.running.where(
        ~np.logical_or.reduce([np.isnan(run.running.numbers(name)) for name in names])
    )
    at_s = rows.numbers("monotonic_s")
    first = int(np.searchsorted(at_s, span.begun_s, side="right")) - 1
    last = int(np.searchsorted(at_s, span.ended_s + settling_s(measuring.settings)))
    if first < 0 or last >= len(rows):
        return None
    if measuring.settings.sampling is None:
        first, last = _on_time(at_s / measuring.settings.update_interval_s, first, last)
    places = np.arange(len(rows))
    before, after = rows.where(places <= first), rows.where(places > last)
    sides = [side for side in (before, after) if len(side) >= IDLE_LEAST]
    if not sides:
        return None
    within = rows.where((places > first) & (places <= last))
    window_s, edges_s = _length_s(at_s, first, last, measuring.settings)
    energy_wh = rows.numbers("energy_wh")
    window_wh = float(energy_wh[last] - energy_wh[first])
    means_w = [float(side.numbers("power_w").mean()) for side in sides]
    idle_w = sum(means_w) / len(means_w)
    net_wh = window_wh - idle_w * window_s / 3600
    terms_wh = _limits(within, sides, window_wh, window_s, measuring)
    hours = window_s / 3600
    scatter_w = _scatter_w([side.numbers("power_w") for side in sides], len(within))
    others = {
        "idle drift": abs(means_w[0] - means_w[-1]) / 2 * hours,
        "idle scatter": scatter_w * hours,
        "edges": abs(idle_w) * edges_s / 3600,
        "digits": _DIGITS_SHARE * abs(float(energy_wh[last])),
    }
    terms = {} if terms_wh is None else {**terms_wh, **others}
    limit_wh = total(terms) if terms else None
    return NetEnergy(
        seconds=span.seconds,
        energy_wh=net_wh + idle_w * span.seconds / 3600,
        idle_w=idle_w,
        net_energy_wh=net_wh,
        net_uncertainty_wh=limit_wh,
        idle_before_w=_mean(before),
        idle_after_w=_mean(after),
        terms_wh=terms,
        findings=tuple(_findings(net_wh, limit_wh, others, before, after)),
    )


def _on_time(at_updates: Numbers, first: int, last: int) -> tuple[int, int]:
    """Return the nearest edges further out that came about an update after the reading before them.

    A reply that was a whole update or more under way shows an older update than its time tells.
    """
    gaps = np.diff(at_updates, prepend=at_updates[0] - 1.0)
    fit = np.flatnonzero((gaps > 0.5) & (gaps < 1.5))
    before, after = fit[fit <= first], fit[fit >= last]
    return (
        int(before[-1]) if len(before) else first,
        int(after[0]) if len(after) else last,
    )


def _length_s(at_s: Numbers, first: int, last: int, settings: MeterSettings) -> tuple[float, float]:
    """Return the time between two updates by that of their readings, and how unsure it is.

    With a WT310 these are whole updates. A late reading shows its own update all the same, so first
    its delay goes off. How far the rest is from whole updates, and how much the delays scatter, is
    not sure.
    """
    seconds = float(at_s[last] - at_s[first])
    if settings.sampling is not None:
        return seconds, 0.0
    update_s = settings.update_interval_s
    begin, end = (_delay(at_s / update_s, place) for place in (first, last))
    updates = seconds / update_s - end[0] + begin[0]
    whole = round(updates)
    scatter = max(begin[1], end[1])
    return whole * update_s, (abs(updates - whole) + scatter) * update_s


def _delay(at_updates: Numbers, place: int) -> tuple[float, float]:
    """Return by how much of an update a reading is later than those around it, and their scatter.

    The scatter is 0 where all are equally late, and 1 where nobody can tell.
    """
    around = at_updates[max(0, place - _NEIGHBOURS) : place + _NEIGHBOURS + 1]
    mean = np.exp(2j * np.pi * (around - at_updates[place])).mean()
    ahead = -float(np.angle(mean)) / (2 * np.pi) % 1.0
    return ahead - (ahead > _EARLY), 1.0 - abs(mean)


def _mean(side: Columns) -> float | None:
    return float(side.numbers("power_w").mean()) if len(side) >= IDLE_LEAST else None


def _limits(
    within: Columns,
    sides: Sequence[Columns],
    window_wh: float,
    window_s: float,
    measuring: Measuring,
) -> Terms | None:
    """Return the limits of the meter's error in the window and in the idle power, or None.

    The two are added, because nobody says that the errors of two powers on one range are equal.
    """
    command = energy_limit(within, window_wh, window_s, measuring)
    idle_w = np.concatenate([power_limits_w(side, measuring) for side in sides])
    idle_w = idle_w[~np.isnan(idle_w)]
    if command is None or not len(idle_w):
        return None
    return {"command": command.total_wh, "idle": float(idle_w.mean()) * window_s / 3600}


def _scatter_w(sides: Sequence[Numbers], updates: int) -> float:
    """Return two standard errors of the idle power in the window, told by that on its sides.

    Neighbouring powers that are alike count for less: by their correlation, as for a series of
    first order.
    """
    residues = [side - side.mean() for side in sides]
    squares = sum(float((residue**2).sum()) for residue in residues)
    freedom = sum(len(residue) - 1 for residue in residues)
    if squares <= 0:
        return 0.0
    products = sum(float((residue[1:] * residue[:-1]).sum()) for residue in residues)
    alike = min(max(products / squares, 0.0), _MOST_ALIKE)
    worth = (1 - alike) / (1 + alike)
    of_means = sum(1 / (worth * len(side)) for side in sides) / len(sides) ** 2
    of_window = 1 / max(1.0, worth * updates)
    return _STANDARD_ERRORS * math.sqrt(squares / freedom * (of_means + of_window))


def _findings(
    net_wh: float, limit_wh: float | None, others: Terms, before: Columns, after: Columns
) -> list[Finding]:
    findings = []
    for side, word in ((before, "before"), (after, "after")):
        if len(side) < IDLE_LEAST:
            findings.append(
                suspect(
                    "idle_once",
                    f"The idle power {word} the command is not known, so nobody can tell whether "
                    "it stayed the same.",
                )
            )
    drift_wh = others["idle drift"]
    if drift_wh > max(_MOST_DRIFT / 2 * abs(net_wh), others["idle scatter"]):
        first_w, last_w = (float(side.numbers("power_w").mean()) for side in (before, after))
        findings.append(
            suspect(
                "idle_moved",
                f"The idle power was {first_w:.4g} W before the command and {last_w:.4g} W after "
                "it. Something else ran, or the device had not settled: give a longer --idle.",
            )
        )
    if limit_wh is not None and net_wh < -limit_wh:
        findings.append(
            suspect(
                "net_negative",
                f"The device took {-net_wh:.3g} Wh less than when it was idle. Something else ran "
                "during the idle time, or the wires of the current or of the voltage are reversed.",
            )
        )
    elif limit_wh is not None and net_wh <= limit_wh:
        findings.append(
            suspect(
                "net_below_error",
                f"The command took {net_wh:.2g} Wh above idle, and the ± is {limit_wh:.2g} Wh. "
                "Repeat the work within the command, so that it lasts longer; or the command's "
                "device is not the one behind the meter.",
            )
        )
    return findings
