# SPDX-License-Identifier: Apache-2.0
"""The energy of a load that gives power back: what it took, what it gave, each with its limit.

The meter integrates both directions apart (WH+ and WH−, IM WT310E-01EN, page 5-1). What a run's
energy is compared with then is what flowed in both directions together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from power.energy.accuracy import INTEGRATION_SHARE, TIMER_SHARE
from power.energy.measured_run import Run
from power.energy.uncertainty import Measuring, power_limits_w, updates_s
from power.energy.verdict import Finding, suspect
from power.readings import Numbers

# The meter shows six digits of an energy (IM WT310E-17EN, page 6-19).
_DIGITS_SHARE = 1e-5


@dataclass(frozen=True)
class BothWays:
    """What a load took and what it gave back, in Wh, and the limits of the errors of both.

    `negative_wh` is zero or below. A limit is None where a range is not known. The charge is the
    meter's, None where it shows none.
    """

    positive_wh: float
    negative_wh: float
    positive_uncertainty_wh: float | None = None
    negative_uncertainty_wh: float | None = None
    charge_ah: float | None = None

    @property
    def flowed_wh(self) -> float:
        """Return what flowed in both directions together."""
        return self.positive_wh - self.negative_wh


def both_ways(run: Run, measuring: Measuring, duration_s: float) -> BothWays | None:
    """Return the energies of both directions of a run that lasted so long.

    None where they are not expected, or not known.
    """
    if not run.settings.both_ways:
        return None
    last = run.final.quantities
    positive_wh, negative_wh = last.get("WHP"), last.get("WHM")
    if positive_wh is None or negative_wh is None:
        return None
    return BothWays(
        positive_wh,
        negative_wh,
        _limit_wh(run, measuring, "WHP", positive_wh, duration_s),
        _limit_wh(run, measuring, "WHM", negative_wh, duration_s),
        last.get("AH"),
    )


def findings(run: Run, parts: BothWays | None) -> Iterator[Finding]:
    """Check that both directions are known, and that they add up to the meter's energy."""
    if not run.settings.both_ways:
        return
    if parts is None:
        yield suspect(
            "parts_missing",
            "The meter did not show WH+ and WH− at the end, so nobody knows how much went each "
            "way.",
        )
    elif run.final.energy_wh is not None:
        together_wh = parts.positive_wh + parts.negative_wh
        if abs(together_wh - run.final.energy_wh) > 2 * _DIGITS_SHARE * parts.flowed_wh:
            yield suspect(
                "parts_differ",
                f"WH+ and WH− add up to {together_wh:.6g} Wh, but the meter's energy is "
                f"{run.final.energy_wh:.6g} Wh.",
            )


def both_ways_to_json(parts: BothWays | None) -> dict[str, float | None]:
    """Return the energies as JSON values; null where there is none."""
    return {
        "energy_positive_wh": None if parts is None else parts.positive_wh,
        "uncertainty_positive_wh": None if parts is None else parts.positive_uncertainty_wh,
        "energy_negative_wh": None if parts is None else parts.negative_wh,
        "uncertainty_negative_wh": None if parts is None else parts.negative_uncertainty_wh,
        "charge_ah": None if parts is None else parts.charge_ah,
    }


def _limit_wh(
    run: Run, measuring: Measuring, name: str, energy_wh: float, duration_s: float
) -> float | None:
    """Return the limit of the error of one direction.

    The limit of a reading's power counts for the direction that grew since the reading before, and
    for both if both did. Integrator, timer and the last digit add their shares.
    """
    rows = run.running
    limits_w = power_limits_w(rows, measuring)
    seconds = updates_s(rows, run.settings.update_interval_s)
    known = ~np.isnan(limits_w)
    whole_s = float(seconds[known].sum())
    if not whole_s:
        return None
    grew = known & _grew(rows.quantity(name))
    mean_w = float((limits_w[grew] * seconds[grew]).sum()) / whole_s
    shares = INTEGRATION_SHARE + TIMER_SHARE + _DIGITS_SHARE
    return mean_w * duration_s / 3600 + shares * abs(energy_wh)


def _grew(counted_wh: Numbers) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return at which readings a count is another than at the reading before; unknown ones count.

    A direction that never grew, to the last digit, has no such reading.
    """
    steps = np.diff(counted_wh, prepend=0.0)
    return np.isnan(steps) | (np.abs(steps) > math.ulp(0.0))
