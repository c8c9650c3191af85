# SPDX-License-Identifier: Apache-2.0
"""Checks of a run on another meter than the WT300 series."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from power.energy import course_checks
from power.energy.measured_run import Run
from power.energy.verdict import Finding, invalid, suspect
from power.meter import Identity, MeterFlag, Sampling
from power.official import is_official

MOST_UNSEEN = 0.1
"""More than this share of a run without samples leaves no energy: nothing counted meanwhile."""


# Whatever else leaves a doubt about the energy of a rehearsal.
_DOUBTS = {
    MeterFlag.IMPOSSIBLE_POWER,
    MeterFlag.SAMPLES_MISSED,
    MeterFlag.SLOW_SAMPLES,
    MeterFlag.SAMPLING_CHANGED,
    MeterFlag.OVER_RANGE,
}
_CONTRADICTED = {
    MeterFlag.COUNTER_DIFFERS: suspect(
        "counter_differs",
        "The energy of the samples and the device's own energy counter differ by more than "
        "2 %, the counter's lag and its step.",
    ),
    MeterFlag.VOLT_AMPERES_DIFFER: suspect(
        "volt_amperes_differ",
        "Power and voltage times current do not fit together: they differ by more than 10 % and "
        "their steps, so one of them is wrong.",
    ),
}
_UNCONFIRMED = {
    MeterFlag.NO_WITNESS: suspect(
        "no_witness",
        "This energy has no second witness. The device shows no energy counter, and no voltage and "
        "current, but those of which the power was made. So nobody would notice a wrong power. "
        "Compare this meter with another one before you rely on it.",
    ),
    MeterFlag.WITNESS_COARSE: suspect(
        "witness_coarse",
        "This energy has no second witness that is fine enough. What the device's own counter, or "
        "its voltage and current, cannot tell in so short a run is more than half of the energy. "
        "Measure for longer.",
    ),
}
_HAPPENED = {
    MeterFlag.SAMPLES_LOST: suspect(
        "samples_lost",
        "Single samples were lost on the way, or were no numbers. A straight line stands in for "
        "each.",
    ),
    MeterFlag.COUNTER_RESTARTED: suspect(
        "counter_restarted",
        "The device's own energy counter began anew during the run, or jumped further than the "
        "device can count. So it confirms only the parts before and after.",
    ),
    MeterFlag.DEVICE_RESTARTED: suspect(
        "device_restarted",
        "The device started again during the run, and was set up again. Nobody measured "
        "meanwhile. Look at its supply.",
    ),
    MeterFlag.DEVICE_FAULT: suspect(
        "device_fault",
        "The device reported a fault of its own during the run. A warning of this program names "
        "it.",
    ),
}


def other_meter(run: Run, identity: Identity | None) -> Iterator[Finding]:
    """Find a meter that is not official, and samples that were missing, too rare, or wrong."""
    if is_official(identity, run.settings):
        return
    name = "an unknown meter" if identity is None else f"{identity.maker} {identity.model}"
    trusted = not run.final.flags & {*_CONTRADICTED, *_UNCONFIRMED, *_HAPPENED, *_DOUBTS}
    yield suspect(
        "not_official",
        f"This is not an official meter ({name}). Official energies come from a Yokogawa of the "
        "WT300 or WT300E series." + " For a rehearsal this one is good enough." * trusted,
    )
    if run.settings.sampling is not None:
        yield from _samples(run, run.settings.sampling)
        yield from _witnesses(run, run.settings.sampling)


def contradicted(flags: frozenset[MeterFlag]) -> bool:
    """Tell whether a second witness says otherwise, so that nobody knows how wrong an energy is."""
    return bool(flags & _CONTRADICTED.keys())


def _witnesses(run: Run, sampling: Sampling) -> Iterator[Finding]:
    for flag, finding in {**_CONTRADICTED, **_UNCONFIRMED, **_HAPPENED}.items():
        if flag in run.final.flags:
            yield finding
    if MeterFlag.IMPOSSIBLE_POWER in run.final.flags:
        rated = "" if sampling.most_w is None else f" ({sampling.most_w:g} W)"
        yield suspect(
            "impossible_power",
            f"Single powers were more than the device can measure{rated}. They were left out, and "
            "a straight line stands in for each.",
        )
    if sampling.machine_parts > 1:
        yield suspect(
            "one_part",
            f"This measures one of {sampling.machine_parts} processors of the machine. The others "
            "are no part of the energy.",
        )


def _samples(run: Run, sampling: Sampling) -> Iterator[Finding]:
    flags = run.final.flags
    rows = course_checks.after_the_blank(run)
    unseen = int(np.isnan(rows.numbers("power_w")).sum())
    if unseen > MOST_UNSEEN * len(rows):
        yield invalid(
            "samples_missing",
            f"{unseen} of {len(rows)} readings had no power, because no samples came. This "
            "meter's program integrates, so nothing counted meanwhile. Look at the link, and run "
            "again.",
        )
    elif MeterFlag.SAMPLES_MISSED in flags:
        yield suspect(
            "samples_missed",
            f"No sample shows a part of the run: more than {sampling.longest_gap_s:g} s passed "
            "between two of them, or single ones were lost or left out. A straight line stands in "
            "for the power of that time.",
        )
    if MeterFlag.SLOW_SAMPLES in flags:
        yield suspect(
            "slow_samples",
            f"The meter gave fewer than half of the samples that come each {sampling.interval_s:g}"
            " s. Look at the link, and at what else this computer does.",
        )
    if MeterFlag.SAMPLING_CHANGED in flags:
        yield suspect(
            "sampling_changed",
            "The device was opened again, and since then it measures in other steps or at another "
            "rate than at the start. So the uncertainty is not known. Run again.",
        )
