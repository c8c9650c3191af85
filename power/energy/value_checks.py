# SPDX-License-Identifier: Apache-2.0
"""Checks of the values of a run: ranges, size and sign of power, agreement of both integrals."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from power.energy import course_checks
from power.energy.duration import Duration
from power.energy.measured_run import CrossCheck, Run, lacks_in_gaps, noise_floor_w
from power.energy.verdict import Finding, invalid, note, suspect
from power.meter import SIGMA, Identity, InputMode, MeterFlag
from power.quantities import DC_ALONE
from power.readings import Numbers, in_order

# Above the rated range the meter may cut crests without a flag. A real meter showed half the power
# at 128 % of its range. Recorded peaks tell more, so they allow a tenth above the range.
ABOVE_RANGE = 1.0
ABOVE_RANGE_WITH_PEAKS = 1.1
# The crest factor is the highest peak in ranges that the meter measures. The display goes on to
# 333 % (666 %), and cuts there (IM WT310E-01EN, page 5-12).
PEAK_LIMIT = {3: 10 / 3, 6: 20 / 3}
# If more readings than this have no power, because a range switches, the energy is an estimate.
MOST_UNSETTLED = 0.25
# A device that draws nothing for more of the run than this was off, or on another supply.
MOST_IDLE = 0.5


def ranges(run: Run) -> Iterator[Finding]:
    """Check for over-range, cut peaks, and ranges that changed."""
    kinds = run.rows.seen()
    flags = frozenset[MeterFlag]().union(*(kind.flags for kind in kinds))
    over = any("over" in reason for kind in kinds for reason in kind.missing.values())
    if over or MeterFlag.OVER_RANGE in flags:
        yield invalid(
            "over_range",
            "A value was more than the device can measure, so the energy is too low."
            if run.sampled
            else "A value was over its range. Choose a larger range and run again.",
        )
    for flag, name in (
        (MeterFlag.VOLTAGE_PEAK_OVER, "voltage"),
        (MeterFlag.CURRENT_PEAK_OVER, "current"),
    ):
        if flag in flags:
            yield invalid(
                "peak_over",
                f"Peaks of the {name} were cut off, so the energy is too low. Choose a larger "
                f"{name} range and run again.",
            )
    for name, unit in (("voltage_range_v", "V"), ("current_range_a", "A")):
        yield from _range_changes(run, name, unit)
    fixed = None not in (run.settings.voltage_range_v, run.settings.current_range_a)
    if fixed and flags & {MeterFlag.AUTO_RANGE, MeterFlag.RANGE_SWITCHED}:
        yield invalid(
            "range_changed",
            "Auto-range is on after a run on fixed ranges. Somebody switched it on, or the meter "
            "protected itself: far too much current on a range up to 200 mA switches it to 1 A and "
            "auto-range. Look at the currents in the log, and run again on a range that fits.",
        )
    elif MeterFlag.RANGE_SWITCHED in flags:
        yield suspect("range_switched", "The meter reports that a range switched during the run.")
    if not fixed and not run.sampled:
        yield from _auto_range(run)


def _auto_range(run: Run) -> Iterator[Finding]:
    """Tell of a run on auto-range, and of one on which it never settled."""
    late = course_checks.after_the_blank(run)
    blank = int(np.isnan(late.numbers("power_w")).sum())
    text = "The run was made on auto-range. While a range switches, the meter fills in estimates."
    settled = blank <= MOST_UNSETTLED * len(late)
    advice = f" {_fixed_ranges_for(run)}" if blank and settled else ""
    yield suspect("auto_range", text + advice)
    if not settled:
        yield invalid(
            "never_settled",
            f"Auto-range never settled: {blank} of {len(late)} readings had no power, so most of "
            f"the energy is an estimate. {_fixed_ranges_for(run)}",
        )


def _fixed_ranges_for(run: Run) -> str:
    """Return the advice to run on fixed ranges, with the peaks that these must hold."""
    peaks = [
        f"{most:.4g} {unit}"
        for name, unit in (("voltage_peak_v", "V"), ("current_peak_a", "A"))
        if (most := float(np.nanmax(np.abs(run.rows.numbers(name)), initial=0.0)))
    ]
    if not peaks:
        return "Run again on fixed ranges, as `python -m power range` proposes them."
    return (
        f"Run again on fixed ranges that hold the peaks seen, {' and '.join(peaks)}: "
        f"{run.settings.crest_factor} times a range at most. `python -m power range` proposes them."
    )


AFTER = (
    (
        MeterFlag.SCALING,
        True,
        "scaling",
        "Scaling is on after the run and was off before it. The meter multiplies power and energy "
        "by a factor that nobody recorded.",
    ),
    (
        MeterFlag.AVERAGING,
        False,
        "settings_changed",
        "Averaging is on after the run and was off before it, so the readings are smoothed.",
    ),
    (
        MeterFlag.MAX_HOLD,
        False,
        "settings_changed",
        "MAX hold is on after the run and was off before it, so the readings are maxima.",
    ),
    (
        MeterFlag.OTHER_LANGUAGE,
        False,
        "settings_changed",
        "Somebody switched the meter to the command mode WT200 during the run. Choose WT300E in "
        "the UTILITY menu.",
    ),
    (
        MeterFlag.SETTINGS_CHANGED,
        False,
        "settings_changed",
        "The meter has other settings after the run than before it: input mode, crest factor, "
        "filter, update interval, timer or wiring.",
    ),
)


"""What may be found after a run: its flag, whether the energy is wrong, its code, and a text."""


def settings_after(run: Run) -> Iterator[Finding]:
    """Check the settings that were read again after the run."""
    flags = frozenset[MeterFlag]().union(*(kind.flags for kind in run.rows.seen()))
    for flag, wrong, code, text in AFTER:
        if flag in flags:
            yield invalid(code, text) if wrong else suspect(code, text)
    if MeterFlag.UNCHECKED in run.final.flags:
        yield suspect(
            "unchecked",
            "Ranges and settings could not be read after the run. Look at the meter's panel.",
        )


def clipping(run: Run) -> Iterator[Finding]:
    """Check the peaks against what the ranges can measure, also after the end of the run.

    Peaks that are cut make the energy too low, so there is none.
    """
    factor = run.settings.crest_factor
    for name in ("voltage", "current"):
        unit = "v" if name == "voltage" else "a"
        range_name = f"{name}_range_{unit}"
        most = _most_of_range(run, f"{name}_peak_{unit}", range_name)
        if most > factor:
            cut = most > 0.99 * PEAK_LIMIT[factor]
            text = (
                f"Peaks of the {name} reached {100 * most:.0f} % of its range, where the meter "
                f"measures {factor * 100} %"
                + (" and cuts the rest. The energy is too low." if cut else ".")
                + f" Choose a larger {name} range, or crest factor 6, and run again."
            )
            yield invalid("clipping", text) if cut else suspect("clipping", text)


def _range_changes(run: Run, name: str, unit: str) -> Iterator[Finding]:
    fixed: float | None = getattr(run.settings, name)
    of_kinds = [getattr(kind, name) for kind in run.rows.seen()]
    seen = sorted({value for value in of_kinds if value is not None})
    word = name.split("_")[0]
    if fixed is None:
        if len(seen) > 1:
            listed = ", ".join(f"{value:g} {unit}" for value in seen)
            yield suspect("range_switched", f"The {word} range switched during the run: {listed}.")
        return
    others = [value for value in seen if not math.isclose(value, fixed, rel_tol=1e-3)]
    if others:
        yield invalid(
            "range_changed",
            f"The {word} range was set to {fixed:g} {unit} and changed to {others[-1]:g} {unit}.",
        )


def plausibility(
    run: Run,
    identity: Identity | None,
    flowed_wh: float | None,
    lasted: Duration | None,
    *,
    active: bool,
) -> Iterator[Finding]:
    """Check powers against sign, size, range, voltage and current.

    `flowed_wh` is the energy, or what flowed in both directions where power may be given back.
    """
    powers_w = run.running.numbers("power_w")
    floor_w = noise_floor_w(run, identity)
    negative = powers_w[powers_w < -floor_w]
    if len(negative) and not run.settings.both_ways:
        yield suspect(
            "negative_power",
            f"{len(negative)} readings had negative power, down to {min(negative):.3g} W. Check "
            "the wiring.",
        )
    if active and flowed_wh is not None and lasted is not None and lasted.seconds > 0:
        mean_w = 3600 * flowed_wh / lasted.seconds
        if mean_w < -floor_w:
            yield invalid(
                "negative_energy",
                f"The energy is negative, {mean_w:.3g} W on average. "
                + (
                    "The device gave power back, or the meter is wired the other way round."
                    if run.sampled
                    else "The wires of the current or of the voltage are reversed: swap the two "
                    "wires of one of them, and run again."
                ),
            )
        elif mean_w <= floor_w:
            yield invalid(
                "no_load",
                f"The device drew {mean_w:.3g} W on average, no more than the meter's own error. "
                "It was not connected through the meter, or it runs from a battery or a second "
                "cable.",
            )
    if active and not run.settings.both_ways:
        yield from _idle(run, floor_w)
    yield from _above_range(run)
    yield from clipping(run)
    if run.settings.mode is InputMode.DC:
        yield from _mean_of_alternating(run, floor_w)
        return
    if run.settings.element == SIGMA:
        # The voltage and the current of a sum are means, so their product means nothing.
        return
    power_w, product_va = _powers_and_products(run)
    odd = np.count_nonzero(np.abs(power_w) > 1.02 * product_va + 2 * floor_w)
    if odd:
        yield suspect("implausible", f"{odd} readings had more power than voltage times current.")


def _idle(run: Run, floor_w: float) -> Iterator[Finding]:
    """Check for a device that drew nothing for half of the run."""
    update_s = run.settings.update_interval_s
    powers_w = run.running.numbers("power_w")[1:]
    # Nobody knows what the device drew in a gap.
    seconds = np.minimum(np.diff(run.running.numbers("monotonic_s")), 2 * update_s)
    watched_s = in_order(seconds[~np.isnan(powers_w)])
    idle_s = in_order(seconds[np.abs(powers_w) <= floor_w])
    if watched_s and idle_s >= MOST_IDLE * watched_s:
        yield suspect(
            "no_load_half",
            f"The device drew nothing for {idle_s:.1f} of {watched_s:.1f} s, that is at most "
            f"{floor_w:.2g} W, the meter's error at zero. It was off, or it ran from a battery or "
            "a second cable.",
        )


def _above_range(run: Run) -> Iterator[Finding]:
    """Check voltage and current against their ranges, also after the end of the run."""
    for name, range_name in (("voltage_v", "voltage_range_v"), ("current_a", "current_range_a")):
        most = _most_of_range(run, name, range_name)
        known = run.rows.numbers(name.replace("_", "_peak_"))
        peaks = (known[~np.isnan(known)] != 0).any()
        if most > (ABOVE_RANGE_WITH_PEAKS if peaks else ABOVE_RANGE):
            word = name.split("_")[0]
            yield suspect(
                "above_range",
                f"The {word} reached {100 * most:.0f} % of its range. Crests may be cut off there "
                "without a sign. Choose a larger range.",
            )


def _most_of_range(run: Run, name: str, range_name: str) -> float:
    """Return the largest size of a value as a share of its range, 0 where nobody knows any."""
    fixed: float | None = getattr(run.settings, range_name)
    sizes = run.rows.each(lambda kind: getattr(kind, range_name) or fixed or None)
    shares = np.abs(run.rows.numbers(name)) / sizes
    return float(np.nanmax(shares, initial=0.0))


def _powers_and_products(run: Run) -> tuple[Numbers, Numbers]:
    """Return power, and voltage times current without sign, of the readings while it ran."""
    volts, amperes = run.running.numbers("voltage_v"), run.running.numbers("current_a")
    return run.running.numbers("power_w"), np.abs(volts * amperes)


def _mean_of_alternating(run: Run, floor_w: float) -> Iterator[Finding]:
    power_w, product_va = _powers_and_products(run)
    odd = ((power_w > 10 * floor_w) & (product_va < 0.1 * power_w)).any()
    if odd:
        yield note(
            "mode",
            "DC mode on an AC load: voltage and current are means near zero. Power and energy are "
            "right.",
        )


def far_off(compared: CrossCheck | None) -> bool:
    """Tell whether samples and integrator differ by far more than can be explained."""
    if compared is None:
        return False
    explained_wh = 3 * compared.allowance_wh + 0.1 * abs(compared.counted_wh)
    return abs(compared.difference_wh) > explained_wh


def agreement(run: Run, compared: CrossCheck | None) -> Iterator[Finding]:
    """Check the integrator against the sampled powers."""
    if compared is None:
        if len(run.running):
            yield suspect(
                "few_samples", "Too few readings have numbers to check the integrator against."
            )
        return
    difference = abs(compared.difference_wh)
    if difference <= compared.allowance_wh:
        return
    text = (
        f"Samples give {compared.sampled_wh:.6g} Wh where the integrator counted "
        f"{compared.counted_wh:.6g} Wh. Up to {compared.allowance_wh:.2g} Wh can be explained."
    )
    gap_s = course_checks.GAP_UPDATES * run.settings.update_interval_s
    lacks = compared.difference_wh > 0 and not run.sampled and not run.settings.both_ways
    # A display that was held shows the past, and is no gap in which crests were cut.
    display_held = any(True for _ in course_checks.clock(run))
    if lacks and not display_held and lacks_in_gaps(run, gap_s):
        text += (
            " The rest is missing where no reading came. Crests may have been cut off there, or "
            "the device drew less than at any reading; nobody can tell. Run again."
        )
        yield invalid("cross_check", text)
        return
    yield invalid("cross_check", text) if far_off(compared) else suspect("cross_check", text)


def quantities(run: Run) -> Iterator[Finding]:
    """Tell which of the chosen quantities never had a value."""
    empty = [name for name in run.rows.quantities if np.isnan(run.rows.quantity(name)).all()]
    direct = [name for name in empty if name in DC_ALONE and run.settings.mode is not InputMode.DC]
    if empty:
        yield note(
            "items_empty",
            f"The meter never showed a value for {', '.join(empty)}."
            + (f" It counts {' and '.join(direct)} in DC mode alone." if direct else ""),
        )
