# SPDX-License-Identifier: Apache-2.0
"""Checks of how certain an energy is: its limit of error, calibration, temperature, elements."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import numpy as np

from power.energy.accuracy import OPERATING_C, VALID_MONTHS, line_filter_share
from power.energy.measured_run import RELATIVE_ALLOWANCE, Run
from power.energy.uncertainty import EnergyLimit, Measuring, all_frequencies
from power.energy.verdict import Finding, note, suspect
from power.meter import SIGMA

SPEC_BOUND = 0.01
"""SPEC's power rules allow a meter this uncertainty of its readings."""

_HIGHEST_HZ = 100_000.0


def uncertainty(
    energy_wh: float | None, limit: EnergyLimit | None, *, sampled: bool = False
) -> Iterator[Finding]:
    """Note an uncertainty above the 1 % that SPEC asks for, or an unknown one."""
    if limit is None or energy_wh is None:
        what = "accuracy of this meter" if sampled else "ranges"
        verb = "is" if sampled else "are"
        yield note("uncertain", f"The {what} {verb} not known, so the uncertainty is not known.")
        return
    if energy_wh > 0 and limit.total_wh > SPEC_BOUND * energy_wh:
        yield note(
            "spec_1_percent",
            f"The uncertainty is {100 * limit.total_wh / energy_wh:.2f} % of the energy; SPEC asks "
            "for 1 % at most." + ("" if sampled else " Smaller ranges would lower it."),
        )
    if limit.over_one_percent > 0:
        yield note("readings_over_1_percent", _over_one_percent(limit))


def _over_one_percent(limit: EnergyLimit) -> str:
    """Say how long the power was less certain than 1 %; no power at all has no percentage."""
    over, without, worst = limit.over_one_percent, limit.without_power, limit.worst
    if worst is None:
        return "The meter showed no power at all, so no percentage is known of it."
    said = []
    if worst > SPEC_BOUND:
        said.append(
            f"The power alone was less certain than 1 % for {_of_time(over - without)}, up to "
            f"{100 * worst:.2f} % of it."
        )
    if without > 0:
        said.append(f"For {_of_time(without)} the meter showed no power.")
        if worst <= SPEC_BOUND:
            said.append(f"Otherwise the power alone was certain to {100 * worst:.2f} %.")
    return " ".join(said)


def _of_time(share: float) -> str:
    """Return a share of the time; what is more than nothing is no 0 %."""
    return "less than 1 % of the time" if share < 0.005 else f"{100 * share:.0f} % of the time"


def circumstances(run: Run, measuring: Measuring) -> Iterator[Finding]:
    """Check whether the accuracy table holds: calibration, temperature, filter, frequency."""
    if run.sampled:
        return  # these are pages of the WT310's manual
    yield from _calibration(run.rows.reading(0).utc.date(), measuring.conditions.calibrated)
    ambient_c, (least, most) = measuring.conditions.ambient_c, OPERATING_C
    if ambient_c is not None and not least <= ambient_c <= most:
        yield suspect(
            "unspecified",
            f"At {ambient_c:g} °C the manual gives no accuracy; it does from {least:g} to "
            f"{most:g} °C.",
        )
    known = ~np.isnan(run.running.numbers("frequency_hz"))
    frequencies_hz = all_frequencies(run.running.where(known), run.settings.mode)
    if run.settings.line_filter and any(
        line_filter_share(hertz) is None for hertz in frequencies_hz
    ):
        yield suspect(
            "unspecified",
            f"The manual gives no accuracy for the line filter at {max(frequencies_hz):g} Hz. "
            "Switch the filter off.",
        )
    if frequencies_hz and max(frequencies_hz) > _HIGHEST_HZ:
        yield suspect(
            "unspecified", f"The manual gives no accuracy for {max(frequencies_hz) / 1000:g} kHz."
        )


def _calibration(measured: date, calibrated: date | None) -> Iterator[Finding]:
    if calibrated is None:
        return
    if calibrated > measured:
        yield suspect(
            "calibration",
            f"The calibration of {calibrated} is later than the run of {measured}. Give the one "
            "before the run.",
        )
    elif _months_between(calibrated, measured) >= VALID_MONTHS:
        yield suspect(
            "calibration",
            f"The calibration of {calibrated} was {_months_between(calibrated, measured)} months "
            f"before the run. The manual's limits hold for {VALID_MONTHS} months.",
        )


def _months_between(first: date, last: date) -> int:
    """Return the whole months between two days; the day of the anniversary still belongs to 12."""
    months = 12 * (last.year - first.year) + last.month - first.month
    return months if last.day > first.day else months - 1


def elements(run: Run) -> Iterator[Finding]:
    """Say which element of several was measured, and check a sum against its parts."""
    settings, final = run.settings, run.final
    if settings.wiring is None and settings.element == "1":
        return
    wiring = f", wiring {settings.wiring}" if settings.wiring else ""
    if settings.element != SIGMA:
        yield note(
            "elements",
            f"Only element {settings.element} was measured{wiring}. What flows through the others "
            "is not in the energy.",
        )
        return
    parts = [(part.element, part.energy_wh) for part in final.elements]
    listed = ", ".join(
        f"{element}: {'none' if wh is None else f'{wh:.6g} Wh'}" for element, wh in parts
    )
    yield note("elements", f"The sum of all elements was measured{wiring} ({listed}).")
    known = [wh for _, wh in parts if wh is not None]
    if final.energy_wh is None or not known or len(known) < len(parts):
        return
    if abs(sum(known) - final.energy_wh) > RELATIVE_ALLOWANCE * sum(abs(wh) for wh in known):
        yield suspect(
            "elements_differ",
            f"The elements add up to {sum(known):.6g} Wh, but the meter's sum is "
            f"{final.energy_wh:.6g} Wh. Wiring {settings.wiring} leaves elements out.",
        )
