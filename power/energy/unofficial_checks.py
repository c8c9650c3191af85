# SPDX-License-Identifier: Apache-2.0
"""Checks of a run on another meter than the WT300 series."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from power.energy import course_checks
from power.energy.measured_run import Run
from power.energy.verdict import Finding, invalid, suspect
from power.meter import Flag, Identity, Sampling
from power.official import is_official

MOST_UNSEEN = 0.1
"""More than this share of a run without samples leaves no energy: nothing counted meanwhile."""


def other_meter(run: Run, identity: Identity | None) -> Iterator[Finding]:
    """Find a meter that is not official, and samples that were missing, too rare, or wrong."""
    if is_official(identity, run.settings):
        return
    name = "an unknown meter" if identity is None else f"{identity.maker} {identity.model}"
    yield suspect(
        "not_official",
        f"This is not an official meter ({name}). Official energies come from a Yokogawa of the "
        "WT300 or WT300E series. For a rehearsal this one is good enough.",
    )
    if run.settings.sampling is not None:
        yield from _samples(run, run.settings.sampling)


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
    elif Flag.SAMPLES_MISSED in flags:
        yield suspect(
            "samples_missed",
            f"More than {sampling.longest_gap_s:g} s passed between two samples. A straight line "
            "stands in for the power of that time.",
        )
    if Flag.SLOW_SAMPLES in flags:
        yield suspect(
            "slow_samples",
            f"The meter gave fewer than half of the samples that come each {sampling.interval_s:g}"
            " s. Look at the link, and at what else this computer does.",
        )
    if Flag.COUNTER_DIFFERS in flags:
        yield suspect(
            "counter_differs",
            "The energy of the samples and the device's own energy counter differ by more than "
            "2 %, the counter's lag and its step.",
        )
    if Flag.SAMPLING_CHANGED in flags:
        yield suspect(
            "sampling_changed",
            "The device was opened again, and since then it measures in other steps or at another "
            "rate than at the start. So the uncertainty is not known. Run again.",
        )
