# SPDX-License-Identifier: Apache-2.0
"""Readings as columns: a day of updates each 100 ms takes 100 MB, as objects it takes 1.5 GB."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from types import MappingProxyType
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from power.meter import MEASURED, QUALITIES, ElementValues, IntegrationState, MeterFlag, Reading

NUMBERS = ("monotonic_s", *MEASURED, *QUALITIES)
"""The values of a reading that have a column each."""

Numbers = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Some dozen columns of a block fit into a processor's cache.
_BLOCK = 16_384
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""The begin of `Columns.utc_us`."""
_MICROSECOND = timedelta(microseconds=1)
_NO_QUANTITIES: Mapping[str, float | None] = MappingProxyType({})


@dataclass(frozen=True)
class RowKind:
    """What many readings have in common: everything but numbers and times.

    `none` are the columns that have no value; `elements` says which elements follow, and whether
    each has a power and an energy. `quantities` says which were chosen, and whether each has a
    number. `zone` is the time zone of `utc`.
    """

    state: IntegrationState
    none: tuple[str, ...] = ()
    absent: tuple[tuple[str, str], ...] = ()
    flags: frozenset[MeterFlag] = frozenset()
    voltage_range_v: float | None = None
    current_range_a: float | None = None
    elements: tuple[tuple[int, bool, bool], ...] = ()
    zone: tzinfo | None = UTC
    quantities: tuple[tuple[str, bool], ...] = ()

    @property
    def missing(self) -> dict[str, str]:
        """Return why one of `MEASURED` is missing, as `Reading.missing` does."""
        return {name: reason for name, reason in self.absent if name in MEASURED}


def kind_of(reading: Reading) -> RowKind:
    """Return the kind of a reading."""
    return RowKind(
        reading.state,
        tuple(name for name in NUMBERS if getattr(reading, name) is None),
        tuple(reading.absent.items()),
        reading.flags,
        reading.voltage_range_v,
        reading.current_range_a,
        tuple(
            (element.element, element.power_w is not None, element.energy_wh is not None)
            for element in reading.elements
        ),
        reading.utc.tzinfo,
        tuple((name, value is not None) for name, value in reading.quantities.items()),
    )


class Readings(Sequence[Reading]):
    """A sequence of readings that grows at its end, kept as one array for each of their values."""

    def __init__(self, readings: Iterable[Reading] = ()) -> None:
        self._columns = {name: array("d") for name in NUMBERS}
        self._elements: dict[tuple[int, str], array[float]] = {}
        self._quantities: dict[str, array[float]] = {}
        self._utc_us = array("q")
        self._codes = array("i")
        self._kinds: list[RowKind] = []
        self._code_by_kind: dict[RowKind, int] = {}
        for reading in readings:
            self.append(reading)

    @staticmethod
    def of(readings: Sequence[Reading]) -> Readings:
        """Return readings as columns; those that are columns already are not copied."""
        return readings if isinstance(readings, Readings) else Readings(readings)

    def append(self, reading: Reading) -> None:
        """Append one reading."""
        numbers = [getattr(reading, name) for name in NUMBERS]
        code = self.code(kind_of(reading))
        self.append_row(code, reading.utc, numbers, reading.elements, reading.quantities)

    def code(self, kind: RowKind) -> int:
        """Return the number under which the rows of a kind are kept."""
        code = self._code_by_kind.get(kind)
        if code is None:
            code = self._code_by_kind[kind] = len(self._kinds)
            self._kinds.append(kind)
        return code

    def append_row(
        self,
        code: int,
        utc: datetime,
        numbers: Sequence[float | None],
        elements: Sequence[ElementValues] = (),
        quantities: Mapping[str, float | None] = _NO_QUANTITIES,
    ) -> None:
        """Append one reading of a known kind; `numbers` are in the order of `NUMBERS`.

        Raises OverflowError for a time that has no equal in UTC.
        """
        moment = utc.replace(tzinfo=UTC) if utc.tzinfo is None else utc.astimezone(UTC)
        for column, value in zip(self._columns.values(), numbers, strict=True):
            column.append(np.nan if value is None else value)
        if elements or self._elements:
            self._append_elements(elements)
        if quantities or self._quantities:
            self._append_quantities(quantities)
        self._utc_us.append((moment - EPOCH) // _MICROSECOND)
        # A reader in another thread counts the codes, so they come last.
        self._codes.append(code)

    def append_alike(
        self,
        utc_us: NDArray[np.int64],
        numbers: Mapping[str, Numbers],
        elements: Mapping[tuple[int, str], Numbers],
        quantities: Mapping[str, Numbers],
    ) -> None:
        """Append readings of the kind of the last one, column by column.

        There is a column of values where the last reading has a value. Elements are by number and
        name, as in `Columns.element`.
        """
        none = np.full(len(utc_us), np.nan)
        for name, column in self._columns.items():
            column.frombytes(numbers.get(name, none).tobytes())
        for key, column in self._elements.items():
            column.frombytes(elements.get(key, none).tobytes())
        for name, column in self._quantities.items():
            column.frombytes(quantities.get(name, none).tobytes())
        self._utc_us.frombytes(utc_us.tobytes())
        self._codes.frombytes(np.full(len(utc_us), self._codes[-1], dtype=np.intc).tobytes())

    def _append_elements(self, elements: Sequence[ElementValues]) -> None:
        """Append the values of single elements; earlier readings and other elements have none."""
        rows = len(self._codes)
        for element in elements:
            for name in ("power_w", "energy_wh"):
                if (element.element, name) not in self._elements:
                    self._elements[element.element, name] = array("d", [np.nan]) * rows
        known = {element.element: element for element in elements}
        for (number, name), column in self._elements.items():
            value = getattr(known.get(number), name, None)
            column.append(np.nan if value is None else value)

    def _append_quantities(self, quantities: Mapping[str, float | None]) -> None:
        """Append the values of chosen quantities; earlier readings have none."""
        rows = len(self._codes)
        for name in quantities:
            if name not in self._quantities:
                self._quantities[name] = array("d", [np.nan]) * rows
        for name, column in self._quantities.items():
            value = quantities.get(name)
            column.append(np.nan if value is None else value)

    def copy(self) -> Readings:
        """Return the readings so far; the thread that appends to these may go on."""
        rows, twin = len(self), Readings()
        twin._columns = {name: column[:rows] for name, column in self._columns.items()}
        twin._elements = {key: column[:rows] for key, column in list(self._elements.items())}
        twin._quantities = {key: column[:rows] for key, column in list(self._quantities.items())}
        twin._utc_us, twin._codes = self._utc_us[:rows], self._codes[:rows]
        twin._kinds = list(self._kinds)
        twin._code_by_kind = {kind: code for code, kind in enumerate(twin._kinds)}
        return twin

    def ending_with(self, last: Reading) -> Readings:
        """Return these readings with the flags, reasons and ranges of `last` in the last one.

        The numbers are the same arrays, so neither sequence may grow any more.
        """
        twin = Readings([last])
        code = len(self._kinds)
        twin._columns, twin._elements, twin._utc_us = self._columns, self._elements, self._utc_us
        twin._quantities = self._quantities
        twin._kinds = [*self._kinds, *twin._kinds]
        twin._codes = self._codes[:]
        twin._codes[-1] = code
        return twin

    def __len__(self) -> int:
        return len(self._codes)

    @overload
    def __getitem__(self, index: int) -> Reading: ...
    @overload
    def __getitem__(self, index: slice) -> list[Reading]: ...
    def __getitem__(self, index: int | slice) -> Reading | list[Reading]:
        """Return a reading, the same in every bit as it was given."""
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        kind = self._kinds[self._codes[index]]
        values: dict[str, Any] = {
            name: None if name in kind.none else column[index]
            for name, column in self._columns.items()
        }
        utc = EPOCH + self._utc_us[index] * _MICROSECOND
        return Reading(
            utc=utc.replace(tzinfo=None) if kind.zone is None else utc.astimezone(kind.zone),
            state=kind.state,
            absent=dict(kind.absent),
            flags=kind.flags,
            voltage_range_v=kind.voltage_range_v,
            current_range_a=kind.current_range_a,
            elements=tuple(
                ElementValues(
                    number,
                    self._elements[number, "power_w"][index] if power else None,
                    self._elements[number, "energy_wh"][index] if energy else None,
                )
                for number, power, energy in kind.elements
            ),
            quantities={
                name: self._quantities[name][index] if known else None
                for name, known in kind.quantities
            },
            **values,
        )

    def __iter__(self) -> Iterator[Reading]:
        return (self[index] for index in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return NotImplemented if not isinstance(other, Sequence) else False
        return all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def columns(self, begin: int = 0) -> Columns:
        """Return the readings from one on as arrays; while those are in use, nothing may grow."""
        return Columns(self, slice(begin, len(self)))


class Columns:
    """Some of the readings of a sequence, in order, column by column."""

    def __init__(self, readings: Readings, chosen: slice | NDArray[np.intp]) -> None:
        self._readings = readings
        self._chosen = chosen
        self.kinds = readings._kinds
        self.codes: NDArray[np.intc] = _array(readings._codes, np.intc)[chosen]

    def __len__(self) -> int:
        return len(self.codes)

    def numbers(self, name: str) -> Numbers:
        """Return one of `NUMBERS`; NaN where there is none."""
        return _array(self._readings._columns[name], np.float64)[self._chosen]

    def rows(self, *names: str) -> Iterator[tuple[float, ...]]:
        """Yield the values of some of `NUMBERS`, reading by reading."""
        return zip(*(self.numbers(name).data for name in names), strict=True)

    def element(self, number: int, name: str) -> Numbers:
        """Return `power_w` or `energy_wh` of an element; NaN where there is none."""
        column = self._readings._elements.get((number, name))
        if column is None:
            return np.full(len(self), np.nan)
        return _array(column, np.float64)[self._chosen]

    def quantity(self, name: str) -> Numbers:
        """Return a chosen quantity; NaN where there is none."""
        column = self._readings._quantities.get(name)
        if column is None:
            return np.full(len(self), np.nan)
        return _array(column, np.float64)[self._chosen]

    @property
    def quantities(self) -> list[str]:
        """Return the names of the quantities that were chosen."""
        return list(self._readings._quantities)

    @property
    def elements(self) -> list[int]:
        """Return the numbers of the elements of which a reading has values."""
        return sorted({number for number, _ in self._readings._elements})

    @property
    def utc_us(self) -> NDArray[np.int64]:
        """Return the wall clock in microseconds since 1970."""
        return _array(self._readings._utc_us, np.int64)[self._chosen]

    def having(self, rule: Callable[[RowKind], bool]) -> Mask:
        """Return which readings are of a kind that the rule takes."""
        return np.array([rule(kind) for kind in self.kinds], dtype=np.bool_)[self.codes]

    def each(self, value: Callable[[RowKind], float | None]) -> Numbers:
        """Return a number for each reading that depends on its kind alone; NaN for None."""
        return np.array([value(kind) for kind in self.kinds], dtype=np.float64)[self.codes]

    def seen(self) -> list[RowKind]:
        """Return the kinds that occur."""
        return [self.kinds[code] for code in np.unique(self.codes)]

    def where(self, mask: Mask) -> Columns:
        """Return the readings for which the mask is true."""
        index = np.flatnonzero(mask)
        if len(index) and index[-1] - index[0] + 1 == len(index):
            return self._at(slice(int(index[0]), int(index[-1]) + 1))  # copies no column
        return self._at(index)

    def _at(self, places: slice | NDArray[np.intp]) -> Columns:
        """Return the readings at some places among these."""
        if not isinstance(self._chosen, slice):
            return Columns(self._readings, self._chosen[places])
        begin = self._chosen.start
        if isinstance(places, slice):
            return Columns(self._readings, slice(begin + places.start, begin + places.stop))
        return Columns(self._readings, places + begin)

    def blocks(self) -> Iterator[Columns]:
        """Yield the readings in blocks, for arithmetic that needs many columns at a time."""
        for begin in range(0, len(self), _BLOCK):
            yield self._at(slice(begin, min(begin + _BLOCK, len(self))))

    def reading(self, index: int) -> Reading:
        """Return one of the readings."""
        if isinstance(self._chosen, slice):
            return self._readings[range(len(self._readings))[self._chosen][index]]
        return self._readings[int(self._chosen[index])]


def _array(column: array[Any], kind: Any) -> NDArray[Any]:
    """Return an array that shares the memory of a column."""
    return np.frombuffer(column, dtype=kind) if len(column) else np.empty(0, dtype=kind)


def in_order(numbers: Numbers, before: float = 0.0) -> float:
    """Return a sum, added one by one, so its bits do not depend on the size of the blocks."""
    return float(np.add.accumulate(np.concatenate(([before], numbers)))[-1])
