# SPDX-License-Identifier: Apache-2.0
"""The columns of a power log, whatever its format, and a row's values as a reading."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from power.meter import MEASURED, QUALITIES, ElementValues, IntegrationState, Reading

COLUMNS = ("elapsed_s", "utc", *MEASURED, "state")
"""The columns of every power log since the first version; the others come after them."""

ALL_COLUMNS = (*COLUMNS, *QUALITIES, "uncertainty_w")
"""The columns of a power log; `ELEMENT_COLUMNS` follow if the sum of all elements is measured."""

_OF_ELEMENTS = ("power_w", "energy_wh")
ELEMENT_COLUMNS = tuple(f"element_{number}_{name}" for number in (1, 2, 3) for name in _OF_ELEMENTS)


def element_values(reading: Reading) -> dict[str, float | None]:
    """Return power and energy of the elements 1 to 3 by column; None where there is none."""
    single = {element.element: element for element in reading.elements}
    return {
        f"element_{number}_{name}": getattr(single.get(number), name, None)
        for number in (1, 2, 3)
        for name in _OF_ELEMENTS
    }


def reading_of(values: Mapping[str, Any]) -> Reading:
    """Return a row as a reading; its `monotonic_s` is the row's `elapsed_s`.

    `values` has a number or None for each column that the row knows: None means that the meter had
    no number. A quality that is left out was not asked for. Raises KeyError for a column of
    `COLUMNS` that is left out, and ValueError for what is no measured value.
    """
    measured: dict[str, Any] = {name: _measured(name, values[name]) for name in MEASURED}
    asked: dict[str, Any] = {
        name: _measured(name, values[name]) for name in QUALITIES if name in values
    }
    elapsed_s = _measured("elapsed_s", values["elapsed_s"])
    if elapsed_s is None:
        raise ValueError("elapsed_s is missing")
    return Reading(
        monotonic_s=elapsed_s,
        utc=datetime.fromisoformat(values["utc"]),
        **measured,
        state=IntegrationState(values["state"]),
        absent={name: "no data" for name, value in (measured | asked).items() if value is None},
        elements=_elements(values),
        **asked,
    )


def _elements(values: Mapping[str, Any]) -> tuple[ElementValues, ...]:
    """Return the elements of which a row has any value."""
    found = []
    for number in (1, 2, 3):
        names = [f"element_{number}_{name}" for name in _OF_ELEMENTS]
        power_w, energy_wh = (_measured(name, values.get(name)) for name in names)
        if (power_w, energy_wh) != (None, None):
            found.append(ElementValues(number, power_w, energy_wh))
    return tuple(found)


def _measured(name: str, value: Any) -> float | None:
    """Return a value as a number; a stand-in for a missing value is refused."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} is {value!r}, not a number")
    # A single float of 9.91E+37, which means no data, decodes to a value slightly below 9.91e37.
    # The comparison is true of infinity, and of whole numbers that no float can hold.
    if abs(value) >= 9.8e37 or math.isnan(value):
        raise ValueError(f"{value} is no measured value")
    return float(value)
