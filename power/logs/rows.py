# SPDX-License-Identifier: Apache-2.0
"""The columns of a power log, whatever its format, and its rows as readings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from power.meter import MEASURED, QUALITIES, ElementValues, IntegrationState, Reading
from power.readings import NUMBERS, Readings, kind_of

COLUMNS = ("elapsed_s", "utc", *MEASURED, "state")
"""The columns of every power log since the first version; the others come after them."""

ALL_COLUMNS = (*COLUMNS, *QUALITIES, "uncertainty_w")
"""The columns of a power log; `ELEMENT_COLUMNS` follow if the sum of all elements is measured."""

_ALWAYS = ("elapsed_s", *MEASURED)
# A single float of 9.91E+37, which means no data, decodes to a value slightly below 9.91e37.
_STAND_IN = 9.8e37
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


class RowReader:
    """A reader of a log's rows, one after the other, into `readings`.

    Rows that differ in their numbers alone have one `Kind`, which is made once.
    """

    def __init__(self) -> None:
        self.readings = Readings()
        self._codes: dict[tuple[object, ...], int] = {}

    def add(self, values: Mapping[str, Any]) -> None:
        """Append a row as a reading; its `monotonic_s` is the row's `elapsed_s`.

        `values` has a number or None for each column that the row knows: None means that the meter
        had no number. A quality that is left out was not asked for. Raises KeyError for a column of
        `COLUMNS` that is left out, and ValueError for what is no measured value.
        """
        numbers = [_measured(name, values[name]) for name in _ALWAYS]
        numbers += [_measured(name, values.get(name)) for name in QUALITIES]
        if numbers[0] is None:
            raise ValueError("elapsed_s is missing")
        utc, elements = datetime.fromisoformat(values["utc"]), _elements(values)
        key = (
            values["state"],
            utc.tzinfo,
            *[number is None for number in numbers],
            *[name in values for name in QUALITIES],
            *[(one.element, one.power_w is None, one.energy_wh is None) for one in elements],
        )
        if key not in self._codes:
            asked = (*MEASURED, *(name for name in QUALITIES if name in values))
            known = dict(zip(NUMBERS, numbers, strict=True))
            reading = Reading(
                utc=utc,
                state=IntegrationState(values["state"]),
                absent={name: "no data" for name in asked if known[name] is None},
                elements=elements,
                **known,  # type: ignore[arg-type]
            )
            self._codes[key] = self.readings.code(kind_of(reading))
        try:
            self.readings.append_row(self._codes[key], utc, numbers, elements)
        except OverflowError:
            raise ValueError(f"{values['utc']} is no time of a reading") from None


def _elements(values: Mapping[str, Any]) -> tuple[ElementValues, ...]:
    """Return the elements of which a row has any value."""
    if not any(name in values for name in ELEMENT_COLUMNS):
        return ()
    found = []
    for number in (1, 2, 3):
        names = [f"element_{number}_{name}" for name in _OF_ELEMENTS]
        power_w, energy_wh = (_measured(name, values.get(name)) for name in names)
        if (power_w, energy_wh) != (None, None):
            found.append(ElementValues(number, power_w, energy_wh))
    return tuple(found)


def _measured(name: str, value: Any) -> float | None:
    """Return a value as a number; a stand-in for a missing value is refused."""
    if value is None or (type(value) is float and -_STAND_IN < value < _STAND_IN):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} is {value!r}, not a number")
    # The comparison is true of infinity, and of whole numbers that no float can hold.
    if abs(value) >= _STAND_IN or math.isnan(value):
        raise ValueError(f"{value} is no measured value")
    return float(value)
