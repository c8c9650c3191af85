# SPDX-License-Identifier: Apache-2.0
"""The answers about the meter itself: who it is, and its ranges; pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date

from power.meter import Identity, MeterSettings, Reading
from power.ptd.device import VERSION
from power.ptd.protocol import RequestRefused
from power.ptd.samples import FAILED, QUANTITIES

GREETING = "Hello, PTDaemon here!"

NO_RANGES = "Ranges,-1,-1.000000,-1,-1.000000"
"""The answer of a meter whose ranges are not known: -1 stands for unknown."""


def identify_line(
    driver: str,
    identity: Identity,
    update_interval_s: float,
    *,
    measured: Collection[str],
    sets_ranges: bool,
    system: str,
    calibrated: date | None,
) -> str:
    """Return the 19 fields of `Identify`; the harness of SPEC CPU 2017 names 15 in a comment.

    They tell: driver, interval in ms, whether it measures watts, volts, amperes, power factor,
    energy and frequency, whether SPEC accepts it (no), version, system, mode, whether it estimates
    errors and sets ranges, and the channels. The meaning of two zeros is not established. Day of
    calibration and identity follow.
    """
    return ",".join(
        (
            driver,
            f"{round(1000 * update_interval_s)}",
            *(str(int(quantity in measured)) for quantity in QUANTITIES),
            "0",
            "0",
            "0",
            f"version={VERSION}",
            f"OS={system}",
            "mode=power",
            "1",
            str(int(sets_ranges)),
            "1",
            "0",
            "0",
            "no_cal_date" if calibrated is None else calibrated.isoformat(),
            ";".join((identity.maker, identity.model, identity.serial, identity.firmware)),
        )
    )


def ranges_line(settings: MeterSettings, reading: Reading | None) -> str:
    """Return for current, then voltage: 1 for auto-range or 0, and the range or -1.

    `reading` tells the ranges that auto-range has chosen.
    """
    chosen = (None, None) if reading is None else (reading.current_range_a, reading.voltage_range_v)
    fixed = (settings.current_range_a, settings.voltage_range_v)
    return "Ranges," + ",".join(
        f"{int(size is None)},{_first(now, size):.6f}"
        for size, now in zip(fixed, chosen, strict=True)
    )


def range_for(size: float, legal: Sequence[float], unit: str) -> float:
    """Return the smallest range that holds a value; raise `RequestRefused` above the largest."""
    fitting = [choice for choice in sorted(legal) if choice >= size * (1 - 1e-6)]
    if not fitting:
        raise RequestRefused(
            f"Error in parameter 2: {size:g} {unit} is above the meter's largest range, "
            f"{max(legal):g} {unit}"
        )
    return fitting[0]


def _first(*sizes: float | None) -> float:
    return next((size for size in sizes if size is not None), FAILED)
