# SPDX-License-Identifier: Apache-2.0
"""A reply of the meter as a reading, and whether it has what a run needs."""

from __future__ import annotations

from datetime import datetime

from power.meter import MeterFlag, Reading
from power.scpi import Absent, split_values
from power.wt310 import output

_VALUE_NAMES = {
    "U": "voltage_v",
    "I": "current_a",
    "P": "power_w",
    "WH": "energy_wh",
    "TIME": "integration_s",
}


def reading_of(
    sample: output.ReadReply,
    monotonic_s: float,
    utc: datetime,
    flags: frozenset[MeterFlag],
    end_ranges: tuple[float | None, float | None],
) -> Reading:
    """Return a reply as a reading; ranges that it lacks are those at the end of the run."""
    values = {
        **{name: sample.values[item] for item, name in _VALUE_NAMES.items()},
        **output.qualities(sample),
    }
    numbers, reasons = split_values(list(values), list(values.values()))
    voltage_range, current_range = (
        _range_of(sample.values.get(item), end)
        for item, end in zip(("URANGE", "IRANGE"), end_ranges, strict=True)
    )
    return Reading(
        monotonic_s=monotonic_s,
        utc=utc,
        state=sample.state,
        absent=reasons,
        flags=flags,
        voltage_range_v=voltage_range,
        current_range_a=current_range,
        elements=output.elements(sample),
        quantities=output.quantities(sample),
        **numbers,
    )


def _range_of(value: float | Absent | None, end: float | None) -> float | None:
    return value if isinstance(value, (int, float)) else end


def not_ready(reading: Reading) -> str:
    """Return why a reading has no numbers in range, "" if it has."""
    over = ", ".join(sorted(flag.value.replace("_", " ") for flag in reading.flags))
    missing = sorted(set(reading.missing) & {"voltage_v", "current_a", "power_w"})
    return over or ", ".join(f"{name}: {reading.absent[name]}" for name in missing)
