# SPDX-License-Identifier: Apache-2.0
"""The rows of a power log: its columns, a row as a reading, and both forms, CSV and JSON lines.

In CSV an empty field is a missing value. Power factor, frequency and peaks are `nan` if the meter
has no number for them, such as the frequency of direct current; they are empty if it was not asked.

In JSON lines an object is a reading, with the columns as its keys. A value of null means that the
meter had no number. A key that is left out means that the meter was not asked, or that the limit of
error is not known. docs/power.md has the table of the keys. A chosen quantity has a column of its
own after all others, as `item_UTHD`.
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from power.meter import MEASURED, QUALITIES, ElementValues, IntegrationState, Reading
from power.quantities import COLUMN, columns_of
from power.readings import NUMBERS, Numbers, Readings, kind_of

COLUMNS = ("elapsed_s", "utc", *MEASURED, "state")
"""The columns of every power log since the first version; the others come after them."""

ALL_COLUMNS = (*COLUMNS, *QUALITIES, "uncertainty_w")
"""The columns of a power log; `ELEMENT_COLUMNS` follow if the sum of all elements is measured."""

SUFFIX = ".jsonl"
"""The suffix of a log of JSON lines; a log of any other name is CSV."""

# The meter is always asked for these.
_ALWAYS = ("elapsed_s", *MEASURED)
TEXTS = ("utc", "state")
"""The columns that hold no number."""

NO_NUMBER = "nan"
"""In a quality's field: the meter was asked and had no number."""

# A single float of 9.91E+37, which means no data, decodes to a value slightly below 9.91e37.
STAND_IN = 9.8e37
"""From here on, with either sign, a number is no measured value."""

_OF_ELEMENTS = ("power_w", "energy_wh")
_ELEMENT_KEYS = {
    (number, name): f"element_{number}_{name}" for number in (1, 2, 3) for name in _OF_ELEMENTS
}
ELEMENT_COLUMNS = tuple(_ELEMENT_KEYS.values())
# A log counts from the start of its run.
_COLUMN_OF = {"monotonic_s": "elapsed_s"}
# No reading has the other columns: the limit of error, and those of later versions.
_NUMBERS = {*_ALWAYS, *QUALITIES, *ELEMENT_COLUMNS}


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
        quantities = _quantities(values)
        key = (
            values["state"],
            *[(name, value is None) for name, value in quantities.items()],
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
                quantities=quantities,
                **known,  # type: ignore[arg-type]
            )
            self._codes[key] = self.readings.code(kind_of(reading))
        try:
            self.readings.append_row(self._codes[key], utc, numbers, elements, quantities)
        except OverflowError:
            raise ValueError(f"{values['utc']} is no time of a reading") from None

    def add_alike(self, utc_us: NDArray[np.int64], numbers: Mapping[str, Numbers]) -> None:
        """Append rows that differ from the last one in their times and numbers alone.

        `utc_us` counts from 1970 in UTC. `numbers` has a column of values where the last row has a
        number.
        """
        self.readings.append_alike(
            utc_us,
            {
                name: numbers[_COLUMN_OF.get(name, name)]
                for name in NUMBERS
                if _COLUMN_OF.get(name, name) in numbers
            },
            {key: numbers[column] for key, column in _ELEMENT_KEYS.items() if column in numbers},
            {
                name.removeprefix(COLUMN): values
                for name, values in numbers.items()
                if name.startswith(COLUMN)
            },
        )


def _elements(values: Mapping[str, object]) -> tuple[ElementValues, ...]:
    """Return the elements of which a row has any value."""
    if not any(name in values for name in ELEMENT_COLUMNS):
        return ()
    elements = []
    for number in (1, 2, 3):
        names = [f"element_{number}_{name}" for name in _OF_ELEMENTS]
        power_w, energy_wh = (_measured(name, values.get(name)) for name in names)
        if (power_w, energy_wh) != (None, None):
            elements.append(ElementValues(number, power_w, energy_wh))
    return tuple(elements)


def _quantities(values: Mapping[str, object]) -> dict[str, float | None]:
    """Return the chosen quantities of a row by name."""
    return {
        column.removeprefix(COLUMN): _measured(column, value)
        for column, value in values.items()
        if column.startswith(COLUMN)
    }


def _measured(name: str, value: Any) -> float | None:
    """Return a value as a number; a stand-in for a missing value is refused."""
    if value is None or (type(value) is float and -STAND_IN < value < STAND_IN):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{name} is {value!r}, not a number")
    # The comparison is true of infinity, and of whole numbers that no float can hold.
    if abs(value) >= STAND_IN or math.isnan(value):
        raise ValueError(f"{value} is no measured value")
    return float(value)


def header_of(*, elements: bool = False, quantities: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the columns of a new log."""
    return (*ALL_COLUMNS, *(ELEMENT_COLUMNS if elements else ()), *columns_of(quantities))


def row_of(
    reading: Reading,
    start_s: float,
    uncertainty_w: float | None = None,
    header: Sequence[str] = ALL_COLUMNS,
) -> list[str]:
    """Return a reading as the fields of a header, which begins as `ALL_COLUMNS` does.

    `uncertainty_w` is the limit of the error of the power; a reader computes it anew.
    """
    single = element_values(reading)
    chosen = {f"{COLUMN}{name}": value for name, value in reading.quantities.items()}
    # A log that goes on may have fewer columns, in the same order.
    standard = [
        f"{reading.monotonic_s - start_s:.4f}",
        reading.utc.astimezone(UTC).isoformat(timespec="milliseconds"),
        *(_field(getattr(reading, name)) for name in MEASURED),
        reading.state.value,
        *(
            NO_NUMBER if name in reading.absent else _field(getattr(reading, name))
            for name in QUALITIES
        ),
        "" if uncertainty_w is None else f"{uncertainty_w:.4g}",
    ][: len(header)]
    return standard + [
        _field(single[name]) if name in single else _field(chosen.get(name))
        for name in header[len(ALL_COLUMNS) :]
    ]


def csv_line(fields: Iterable[str]) -> bytes:
    """Return fields as one line."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(fields)
    return text.getvalue().encode()


def is_number(column: str) -> bool:
    """Tell whether this version knows a column as one of numbers that a reading has."""
    return column in _NUMBERS or column.startswith(COLUMN)


def csv_values(header: list[str], row: list[str]) -> dict[str, object]:
    """Return the values of a row as `reading_of` takes them; raise ValueError for a bad field."""
    if len(row) != len(header):
        raise ValueError(f"{len(row)} fields instead of {len(header)}")
    values: dict[str, object] = {}
    for name, text in zip(header, row, strict=True):
        if name in TEXTS:
            values[name] = text
        elif text == NO_NUMBER and name in QUALITIES:
            values[name] = None
        elif text and is_number(name):
            values[name] = float(text)
        elif name in _ALWAYS or name.startswith(COLUMN):
            values[name] = None
    return values


def _field(value: float | None) -> str:
    return "" if value is None else repr(value)


def json_line(reading: Reading, start_s: float, uncertainty_w: float | None = None) -> bytes:
    """Return a reading as one line."""
    asked = {name: getattr(reading, name) for name in QUALITIES}
    values = {
        "elapsed_s": round(reading.monotonic_s - start_s, 4),
        "utc": reading.utc.astimezone(UTC).isoformat(timespec="milliseconds"),
        **{name: getattr(reading, name) for name in MEASURED},
        "state": reading.state.value,
        **{
            name: value
            for name, value in asked.items()
            if value is not None or name in reading.absent
        },
        **({} if uncertainty_w is None else {"uncertainty_w": float(f"{uncertainty_w:.4g}")}),
        **{name: value for name, value in element_values(reading).items() if value is not None},
        **{f"{COLUMN}{name}": value for name, value in reading.quantities.items()},
    }
    return json.dumps(values, allow_nan=False).encode() + b"\n"


def json_values(line: str) -> dict[str, object]:
    """Return the values of a line as `reading_of` takes them; raise ValueError for another line."""
    try:
        values = json.loads(line, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("the line is nested too deeply") from None
    if not isinstance(values, dict):
        raise ValueError("the line is no JSON object")
    missing = [name for name in COLUMNS if name not in values]
    if missing:
        raise ValueError(f"the key {missing[0]} is missing")
    strange = [name for name in TEXTS if not isinstance(values[name], str)]
    if strange:
        raise ValueError(f"{strange[0]} is {values[strange[0]]!r}, not a text")
    return values


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no measured value")
